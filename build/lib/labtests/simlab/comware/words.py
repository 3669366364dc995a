"""Comware's words: sentences, the pager, names of interfaces and of queues."""

from labtests.simlab.switch_cli import CliWords, CountingRules, Pager, Problem

WORDS = CliWords(
    # "syntax error messages" in H3C's Fundamentals Configuration Guide; the padding of the caret's
    # line is that of a recording (captures of some releases have a blank before the `%`)
    problems={
        Problem.UNRECOGNIZED: "% Unrecognized command found at '^' position.",
        Problem.INCOMPLETE: "% Incomplete command found at '^' position.",
        Problem.AMBIGUOUS: "% Ambiguous command found at '^' position.",
        Problem.TOO_MANY: "% Too many parameters found at '^' position.",
        Problem.WRONG: "% Wrong parameter found at '^' position.",
    },
    caret_padded=True,
    show="display",
    comment="#",
    # every role may enter and leave the system view; an operator can do nothing there (HPE 5710
    # Fundamentals Configuration Guide: RBAC; each command's predefined user roles)
    denied="Permission denied.",
    operators_may=frozenset(
        ("display", "system-view", "quit", "return", "screen-length", "terminal", "ping")
    ),
    help_title="{view} view commands:\n",
    port_description="{port} Interface",
)

MORE = "  ---- More ----"  # driver facts have the words; blanks and what erases it are from memory
PAGER = Pager(
    banner="""\
******************************************************************************
* Copyright (c) 2004-2024 New H3C Technologies Co., Ltd. All rights reserved.*
* Without the owner's prior written consent,                                 *
* no decompiling or reverse-engineering shall be allowed.                    *
******************************************************************************

""",
    more=MORE,
    erase=f"\x1b[{len(MORE)}D{' ' * len(MORE)}\x1b[{len(MORE)}D",
    lines=24,  # the default `screen-length` of a VTY line
)

SYSTEM_VIEW = "System View: return to User View with Ctrl+Z.\n"
LOGS = "The current terminal is {} to display logs.\n"  # from memory; none is displayed
SAVE = "The current configuration will be written to the device. Are you sure? [Y/N]:"
SAVE_TO = """\
Please input the file name(*.cfg)[flash:/startup.cfg]
(To leave the existing filename unchanged, press the enter key):"""
SAVED = """\
Validating file. Please wait...
Saved the current configuration to mainboard device successfully.
"""  # the dialogue is from memory

TYPES = {
    # GE, XGE, WGE, HGE and FGE are in the recordings; the others from H3C's guides
    "GigabitEthernet": "GE",
    "Ten-GigabitEthernet": "XGE",
    "Twenty-FiveGigE": "WGE",
    "FortyGigE": "FGE",
    "FiftyGigE": "50GE",
    "HundredGigE": "HGE",
    "TwoHundredGigE": "200GE",
    "FourHundredGigE": "400GE",
    "Bridge-Aggregation": "BAGG",
}

QUEUE_NAMES = ("be", "af1", "af2", "af3", "af4", "ef", "cs6", "cs7")
"""Keywords for queues 0..7 (H3C ACL and QoS command reference)."""

COUNTING = CountingRules(
    # Preamble and gap count as forwarded bytes, not as dropped ones. Exact in all queues of
    # document 000: 1106 = 1086 + 20 for RoCE frames.
    overhead_bytes=20,
    growing={
        "Input dropped": "input_buffer_drops",
        "Output dropped": "output_buffer_drops",
        "Packets of WRED dropped": "wred_drops",
        "Packets of ECN marked": "ecn_marked",
        "CRC": "crc_errors",
    },
)
