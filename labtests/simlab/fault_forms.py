"""Which faults there are, what each needs to be told, and who can suffer it.

A fault is a JSON object with "kind" and "device"; the other keys depend on the kind. How a device
suffers one is faults.py's, with defects.py and losses.py. docs/simulated-lab.md has this list as a
table (a test holds the two equal).

Nothing here needs the packet network: a command line is checked before any process is started.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOMENT = ("at", "after_s")
"""Keys of any fault: it comes when the progress of a run says so, so many simulated seconds later;
without them at once."""
NUMBERS = frozenset(
    {
        "after_s",
        "by",
        "bytes",
        "dscp",
        "frames",
        "mbit_per_s",
        "microseconds",
        "milliseconds",
        "one_in",
        "per_million",
        "per_s",
    }
    | {"priority", "queue", "seconds", "serves", "share", "shuts", "tos"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultForm:
    """One kind: keys that it needs (of `a|b` one), keys that it may have, and on whose devices
    ("host", "switch"; "": any) it acts."""

    needs: tuple[str, ...]
    may: tuple[str, ...]
    only: str
    meaning: str

    @property
    def keys(self) -> tuple[str, ...]:
        """All that it takes."""
        return (*(key for need in self.needs for key in need.split("|")), *self.may)


def _of(meaning: str, needs: str = "", *, may: str = "", only: str = "") -> FaultForm:
    return FaultForm(needs=tuple(needs.split()), may=tuple(may.split()), only=only, meaning=meaning)


_COUNTERS = (
    'of a host by its own name, of a switch "queue-drops", "pfc", "packet-drop", or missing only '
    '"queue-0" to "queue-7"'
)
_THEN = (
    "; with `command` when it is next given a command with this text: before it obeys, or with "
    "`after` true when it has obeyed and not yet answered"
)

FORMS: Mapping[str, FaultForm] = {
    "dead-counter": _of(f"the counter stays at its next reading: {_COUNTERS}", "port counter"),
    "missing-counter": _of("it disappears from the output", "port counter"),
    "reset-counters": _of("all counters of the device start from zero"),
    "kill": _of("kill -9 of the emulated processes of this name", "process", only="host"),
    "lie": _of("configuration is accepted and not made"),
    "truncate": _of("outputs of commands that begin so end in the middle", "command"),
    "drop-packets": _of(
        "silent random loss at an egress queue", "port queue per_million", only="switch"
    ),
    "remove-tool": _of("the program is not installed (a Linux box)", "tool"),
    "no-ecn-folder": _of("the NIC's driver has no ecn/ folder in sysfs", only="host"),
    "read-only": _of("no file can be made, changed or removed (a Linux box)"),
    "lldpad": _of("the service runs and mlnx_qos warns of it", only="host"),
    "cut": _of(f"the SSH connections break{_THEN}", may="command after"),
    "reboot": _of(
        "sessions and processes end, settings are those of the start again, nobody can log in for "
        f"so many (simulated) seconds{_THEN}",
        may="seconds command after",
    ),
    "hang": _of("a command with this text does not end", "command"),
    "heal": _of(
        "lies, hangs and truncations end, what was to happen, and what acts on packets; counters "
        "keep what they have"
    ),
    "mtu": _of("the MTU of a host's port, or the longest frame of a switch's", "port bytes"),
    "link-speed": _of(
        "the link runs at this speed, by its own account", "port mbit_per_s", only="host"
    ),
    "firmware": _of("of all NICs of the host", "version", only="host"),
    "driver": _of("of the host's mlx5 driver", "version", only="host"),
    "perftest": _of("of the host's perftest", "version", only="host"),
    "ofed": _of("the host has this OFED; without the fault it has none", "version", only="host"),
    "fec": _of('"RS", "BaseR" or "None" is in force at the port', "port encoding", only="host"),
    "no-roce-v2": _of("the port's address has no RoCEv2 GID", "port", only="host"),
    "background": _of(
        "the host sends such UDP datagrams to this address, for so many `milliseconds` (0.2 is a "
        "microburst) or without end",
        "to tos mbit_per_s",
        may="milliseconds",
        only="host",
    ),
    "tunnel": _of(
        'VXLAN of the host loses what it should copy: "dscp" to the outer header, whatever `tos` '
        'says, or "marks" (CE) from it',
        "loses",
        only="host",
    ),
    "broken-frames": _of("so many frames a second arrive with a wrong CRC", "port per_s"),
    "clock": _of("the device's clock is so far ahead", "seconds"),
    "log-line": _of(
        "the switch writes `instead` into its log where the text `find` was to stand; without it, "
        "the line is lost",
        "find",
        may="instead",
        only="switch",
    ),
    "cabling": _of(
        'LLDP shows this neighbour ("Host:interface") at the port, "" for nobody',
        "port neighbour",
        only="switch",
    ),
    "rdma-down": _of("the RDMA link is not active", "port", only="host"),
    "willing-dcbx": _of(
        "DCBX is in the NIC's firmware, which takes over what its switch tells", "port", only="host"
    ),
    "leftover": _of("a process of this dead run is still there", "command run", only="host"),
    "role": _of("who logs in has this role, such as network-operator", "role", only="switch"),
    "dscp-map": _of(
        "the device has this map, 64 classes; its ports trust DSCP (no defect by itself)",
        "classes",
    ),
    "egress-map": _of(
        'the VLAN interface of this port has this egress-qos-map, such as "4:3 6:5"',
        "port map",
        only="host",
    ),
    "nic-discards": _of(
        "that share of the packets that arrive (with this priority; without one, with any) reach "
        "the NIC, are counted by rx_prioN_packets and discarded: `counted` as "
        '"rx_discards_phy" (with rx_prioN_discards), as "rx_out_of_buffer" (with out_of_buffer), '
        'or as "nothing"',
        "port per_million",
        may="priority counted",
        only="host",
    ),
    "lossy-cable": _of(
        "that share of the frames on their way *to* this port, and to this port only, is lost, or "
        "the next so many `frames`; the port counts them as "
        '"fcs" errors, as "symbol" errors or as what "fec" could not correct (hosts only), or as '
        '"nothing". The other direction of '
        "the cable is the fault of the port at its other end",
        "port per_million|frames",
        may="counted",
    ),
    "carrier-flap": _of(
        "the cable is unplugged for so long: what was on it is lost; what UDP programs of this "
        "host write meanwhile is its tx_dropped",
        "port milliseconds",
    ),
    "ignores-dscp": _of(
        "the port puts all that arrives into the queue of priority 0 and says that it trusts what "
        "it was told to",
        "port",
        only="switch",
    ),
    "ignores-udp-port": _of(
        "where a policy of the port asks for a UDP port and a DSCP, the DSCP alone is enough",
        "port",
        only="switch",
    ),
    "ignores-rate-limits": _of(
        "the port holds none of its queues to a rate, and says that it does", "port", only="switch"
    ),
    "late-marks": _of(
        "RED of the port begins and is certain at twice the lengths that it was told",
        "port",
        only="switch",
    ),
    "mistimed-watchdog": _of(
        "the port's PFC watchdog takes so many times what it was told until it shuts a queue "
        "(`shuts`), or without pauses until it serves it again (`serves`)",
        "port",
        may="shuts serves",
        only="switch",
    ),
    "lingering-timeout": _of(
        "the port's pause time-out drops on for so long behind the last pause frame",
        "port milliseconds",
        only="switch",
    ),
    "ignores-remarks": _of(
        "a policy of the port gives no packet another DSCP, and says that it does",
        "port",
        only="switch",
    ),
    "misplaces-roce": _of(
        "a policy of the port puts packets to UDP port 4791 with this DSCP into this queue, "
        "whatever it says",
        "port dscp queue",
        only="switch",
    ),
    "polarised-hash": _of(
        "the switch sends all flows to a host by one of the equally short ways", only="switch"
    ),
    "mistakes-pauses": _of(
        '`how` is "heeds any": 802.3x pauses and pauses for no class hold the port, in PFC mode, '
        'too; or "wants a source": pauses from the address 0 hold nothing',
        "port how",
        only="switch",
    ),
    "cnp-interval": _of(
        "the NIC leaves so many us between two CNPs of a flow, whatever min_time_between_cnps says",
        "port microseconds",
        only="host",
    ),
    "forgets-cnps": _of(
        "the NIC sends no CNP to the host with this address", "port to", only="host"
    ),
    "heeds-few-cnps": _of(
        "the NIC counts every CNP as handled, and slows down on the last of each `one_in`",
        "port one_in",
        only="host",
    ),
    "cnp-dscp": _of(
        "the NIC's CNPs have this DSCP, whatever cnp_dscp says", "port dscp", only="host"
    ),
    "freeze": _of(
        "the programs of the host send nothing, as after a SIGSTOP, and do not make up for it; "
        "what they receive is taken all the same",
        "seconds",
        only="host",
    ),
    "cpu-limit": _of(
        "the programs of the host send in so much (above 0, below 1) of each 20 ms only",
        "share",
        only="host",
    ),
    "slow-counters": _of(
        "what the switch shows of its counters is as it was when the lab's clock last was a "
        "multiple of this",
        "seconds",
        only="switch",
    ),
    "growing-counter": _of(
        "a counter, in the device's own word, has grown by so much: of a host, one of `ethtool "
        '-S`, hw_counters or statistics/, or with port "" one of /proc/net/snmp as nstat calls '
        "it; of a Comware switch, what stands before the colon in `display packet-drop`, or "
        '"CRC"; of a switch with a command line of its own, "queue-0 drops" to "queue-7 drops"',
        "port counter by",
    ),
    "stream": _of(
        "what the switch streams (`telemetry:` of the testbed file): the server is `gone` (back in "
        "`seconds`), its `certificate` is a stranger's, the next message is `half` of one, the "
        "last one comes as a `flood` (as often as `seconds` says, or 10 000 times), values are "
        "`frozen`, each message comes `twice`, or `late` (by `seconds`, or 5); `heal` ends it. "
        "For a clock that is off: `clock`",
        "how",
        may="seconds",
        only="switch",
    ),
    "somebody": _of(
        "somebody who is logged in gives this command; nobody sees what it prints", "command"
    ),
}


def mistake_in(fault: Mapping[str, Any], kinds: Mapping[str, str]) -> str:
    """Why no lab of these devices ("host" or "switch" by name) can have it; "" when one can."""
    return next(_mistakes(fault, kinds), "")


def _mistakes(fault: Mapping[str, Any], kinds: Mapping[str, str]) -> Iterator[str]:
    yield from _named(fault, "kind", FORMS)
    yield from _named(fault, "device", kinds)
    form, kind, device = FORMS[fault["kind"]], fault["kind"], fault["device"]
    if form.only not in ("", kinds[device]):
        plural = "es" if form.only == "switch" else "s"
        yield f"{kind!r} applies to {form.only}{plural} only; {device} is a {kinds[device]}"
    for need in form.needs:
        if not any(key in fault for key in need.split("|")):
            either = '" or "'.join(need.split("|"))
            yield f'{kind!r} needs "{either}"'
    for key, value in fault.items():
        if key not in ("kind", "device", *MOMENT, *form.keys):
            takes = ", ".join(form.keys) or "none"
            yield f'{kind!r} has no key "{key}"; its keys: {takes}'
        if key in NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float)):
            yield f'"{key}" is a number, not {value!r}'
    if not isinstance(fault.get("at", ""), str):
        yield f'"at" is the beginning of a line of progress, not {fault["at"]!r}'


def _named(fault: Mapping[str, Any], key: str, known: Mapping[str, Any]) -> Iterator[str]:
    there = ", ".join(known)
    if key not in fault:
        yield f'"{key}" is missing (one of {there})'
    elif not isinstance(fault[key], str) or fault[key] not in known:
        yield f'"{key}" is {fault[key]!r}, which is none of {there}'


def table() -> Iterator[str]:
    """The lines of docs/simulated-lab.md."""
    yield "| kind | keys | of | what happens |"
    yield "|---|---|---|---|"
    for kind, form in sorted(FORMS.items()):
        needs = [" or ".join(f"`{key}`" for key in need.split("|")) for need in form.needs]
        keys = ", ".join([*needs, *(f"[`{key}`]" for key in form.may)])
        of = {"host": "hosts", "switch": "switches"}.get(form.only, "any")
        yield f"| `{kind}` | {keys} | {of} | {form.meaning.replace('|', chr(92) + '|')} |"
