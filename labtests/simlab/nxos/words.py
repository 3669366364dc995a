"""The words of NX-OS: sentences, the pager, names of interfaces, counters that faults may grow."""

from labtests.simlab.switch_cli import CliWords, CountingRules, Pager, Problem

_INVALID = "% Invalid command at '^' marker."  # recorded (Nexus 9000)
WORDS = CliWords(
    problems={
        **dict.fromkeys((Problem.UNRECOGNIZED, Problem.WRONG, Problem.TOO_MANY), _INVALID),
        Problem.INCOMPLETE: "% Incomplete command at '^' marker.",  # in a capture (Nexus 9000)
        Problem.AMBIGUOUS: "% Ambiguous command at '^' marker.",  # from memory
    },
    show="show",
    comment="!",
    denied="% Permission denied for the role",  # in a capture (NX-OS 9.3(12))
    operators_may=frozenset({"show", "terminal", "exit", "end", "ping"}),
    chain=" ; ",
)
# The pager from memory. That a login begins with such a block is from memory, too (foreign programs
# wait for a prompt behind the end of a line); the block is that of `show version`, recorded.
PAGER = Pager(
    banner="""\

Cisco Nexus Operating System (NX-OS) Software
TAC support: http://www.cisco.com/tac
Copyright (C) 2002-2017, Cisco and/or its affiliates.
All rights reserved.
""",
    more="\x1b[7m--More--\x1b[27m",
    erase="\r\x1b[K",
    lines=0,
)
CONFIGURING = "Enter configuration commands, one per line. End with CNTL/Z.\n"  # in a capture
SAVED = "[########################################] 100%\nCopy complete.\n"  # the bar: in a capture
TYPES = {"Ethernet": "Eth", "port-channel": "Po"}

# -- refusals: that there is one is in the guides or follows from them, the sentences are ours -----

NO_POLICY = "ERROR: the policy-map does not exist"
NO_CLASS_MAP = "ERROR: the class-map does not exist"
NO_SUCH_CLASS = "ERROR: the class is not in the policy-map"
POLICY_USED = "ERROR: the policy-map is in use by a service-policy"
CLASS_MAP_USED = "ERROR: the class-map is in use by a policy-map"
OTHER_COS = "ERROR: the simulated switch pauses the CoS of a class's own qos-group only"

COUNTING = CountingRules(
    growing={"Ingress Overflow Drop Pkts": "input_buffer_drops", "CRC": "crc_errors"}
)
