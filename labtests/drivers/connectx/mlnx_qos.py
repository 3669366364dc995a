"""`mlnx_qos -i IF`: what it prints, and what its refusals mean.

Grammar in print order, from the tool's own source (Mellanox/mlnx-tools, python/mlnx_qos, versions
of 2018 to 2024) and recordings back to MLNX_OFED 3.x:

    ****** WARNING: lldpad service is running ...     first, when lldpad runs
    ... not supported on your system                  what this kernel cannot tell
    DCBX mode: OS controlled|Firmware controlled      } all three, or (MLNX_OFED 3.x) none
    Priority trust state: pcp|dscp|none               }
    dscp2prio mapping:                                only when trust is dscp
        prio:N dscp:NN,NN,                            at most 8 a line; more wrap, none = no line
    default priority:                                 newer tools; then zero or more `prio:N`
    Receive buffer size (bytes): 8 values             then max_buffer_size=N or total_size=N, glued
    Cable len: N                                      } (see above)
    PFC configuration:
        priority, enabled, buffer                     8 columns each; buffer may be missing
    tc: N ratelimit: R, tsa: A[, bw: P%]              any order; then `priority: N` (skprio) rows
"""

import re
from dataclasses import dataclass, field
from typing import Literal, cast

from labtests.capabilities.records import NicQos, TrafficClass, TrustSetting
from labtests.core.units import Bytes, gbit_per_second
from labtests.drivers.answers import Complaint, Tool, expect_success, reject
from labtests.drivers.parsing import BLANK, incomplete, numbered_matches, refuse
from labtests.transport.protocol import Reply

PRIORITIES = range(8)
_EIGHT = r"((?:\s+[0-9]+){8})"
_BUG = "this is a defect of labtests: report it with the run's journal"
_NO_DCB = (
    "use an mlx5 port with DCB support: the physical function of a ConnectX-4 or newer, "
    "with a kernel built with CONFIG_MLX5_CORE_EN_DCB"
)

MLNX_QOS = Tool(
    name="mlnx_qos",
    install="install mlnx-tools (part of MLNX_OFED and DOCA-OFED) on this host",
    complaints=(
        Complaint(says=r"^ETS features are not supported on your system", remedy=_NO_DCB),
        Complaint(
            says=r"^dscp2prio command failed|^defltprio command failed",
            remedy="set the trust state to dscp first, and stop lldpad if it runs",
        ),
        Complaint(
            says=r"^Buffers commands error",
            remedy="buffer sizes must be within max_buffer_size and above xoff; see `dmesg`",
        ),
        Complaint(
            says=r"Netlink error: Bad value|^mlnx_qos: Error setting|can only concatenate str",
            remedy="the kernel refused the value: `dmesg` on the host says why",
        ),
        Complaint(
            says=r"has no attribute 'tostring'",  # gone from Python's array in 3.9
            remedy="this mlnx_qos is too old for the host's Python: update mlnx-tools",
        ),
        Complaint(
            says=r"list must have 8 items|ratelimit must have 8 items|^Too many items|^Bad value"
            r"|^\(?'?Bad TSA value|^ETS BW for a|^Invalid .* command|^Bad arguments"
            r"|^Interface name is required|cannot be used at the same time"
            r"|^pfc index must be|^Usage: mlnx_qos|mlnx_qos: error:",
            remedy=_BUG,
        ),
        Complaint(
            says=r"not supported on your system",  # printed on success too, before the rest
            remedy=_NO_DCB,
            only_failed=True,
        ),
        Complaint(
            says=r"No module named|ImportError",
            remedy="the installation of mlnx-tools is broken: install it again",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _LineRule:
    """A line of the grammar: where it stands in the print order, and whether it may repeat."""

    stage: int
    name: str
    pattern: re.Pattern[str]
    repeats: bool = False


def _rule(stage: int, name: str, pattern: str, *, repeats: bool = False) -> _LineRule:
    return _LineRule(stage, name, re.compile(rf"^\s*(?:{pattern})\s*$"), repeats)


_RULES = (
    _rule(0, "lldpad", r"\*+ WARNING: lldpad service is running(?:.*\S)?"),
    _rule(
        0,
        "unsupported",
        r"(Priority trust state is|Buffers commands are|Rate limit is) "
        r"not supported on your system!?",
        repeats=True,
    ),
    _rule(1, "dcbx", r"DCBX mode: (OS controlled|Firmware controlled)"),
    _rule(2, "trust", r"Priority trust state: (pcp|dscp|none)"),
    _rule(3, "mapping", r"dscp2prio mapping:"),
    _rule(4, "dscp", r"prio:([0-7]) dscp:((?:[0-9]{2},)+)", repeats=True),
    _rule(5, "defaults", r"default priority:"),
    _rule(6, "default", r"prio:([0-7])", repeats=True),
    _rule(
        7,
        "buffers",
        r"Receive buffer size \(bytes\): ((?:[0-9]+,){8})(?:(?:max_buffer|total)_size=([0-9]+))?",
    ),
    _rule(8, "cable", r"Cable len: ([0-9]+)"),
    _rule(9, "pfc", r"PFC configuration:"),
    _rule(10, "columns", r"priority\s+0\s+1\s+2\s+3\s+4\s+5\s+6\s+7"),
    _rule(11, "enabled", r"enabled((?:\s+[01]){8})"),
    _rule(12, "buffer", rf"buffer{_EIGHT}"),
    _rule(
        13,
        "tc",
        r"tc: ([0-7]) ratelimit: (unlimited|[0-9]+(?:\.[0-9]+)? Gbps), tsa: "
        r"(?:(ets), bw: ([0-9]+)%|(strict|vendor|unknown))",
        repeats=True,
    ),
    # the tool leaves `tc: N ratelimit: …, tsa: ` out when it could not read the rate limits
    _rule(13, "unnumbered", r"ets, bw: [0-9]+%|strict|vendor|unknown", repeats=True),
    _rule(13, "priority", r"priority:\s+([0-7])", repeats=True),
    _rule(13, "skprio", r"skprio: [0-9]+(?: \(.*\))?", repeats=True),  # MLNX_OFED 3.x
)
_RULE_OF = {rule.pattern: rule for rule in _RULES}


@dataclass(slots=True)
class _FoundLines:
    """The lines of one output by the name of their rule; those of stage 13 also in their order."""

    reply: Reply
    lines: dict[str, list[re.Match[str]]] = field(default_factory=dict)
    classes: list[tuple[str, re.Match[str]]] = field(default_factory=list)

    def one(self, name: str) -> re.Match[str] | None:
        """The only line of this rule, None when it was not printed."""
        return self.lines.get(name, [None])[0]

    def every(self, name: str) -> list[re.Match[str]]:
        """All lines of this rule."""
        return self.lines.get(name, [])

    def integers(self, name: str) -> tuple[int, ...] | None:
        """The numbers of the first group of the only line of this rule."""
        line = self.one(name)
        return None if line is None else tuple(int(n) for n in re.findall(r"[0-9]+", line[1]))


def parse_mlnx_qos(reply: Reply) -> NicQos:
    """The QoS state of one port. Refuses an output that is cut, mixed up or has a new line."""
    expect_success(reply, MLNX_QOS)
    found = _read(reply)
    _expect_whole(found)
    trust, cable, limit = found.one("trust"), found.one("cable"), found.one("buffers")
    dcbx = found.one("dcbx")
    sizes = found.integers("buffers")
    enabled = found.integers("enabled") or ()
    return NicQos(
        dcbx_mode=None if dcbx is None else dcbx[1],
        trust=None if trust is None else _trust(trust[1]),
        dscp_to_priority=_dscp_map(found),
        receive_buffer_bytes=None if sizes is None else tuple(Bytes(size) for size in sizes),
        max_buffer_bytes=None if limit is None or limit[2] is None else Bytes(int(limit[2])),
        cable_length_m=None if cable is None else int(cable[1]),
        pfc_enabled=tuple(bool(flag) for flag in enabled),
        priority_to_buffer=found.integers("buffer"),
        traffic_classes=_traffic_classes(found),
        lldpad_warning=bool(found.every("lldpad")),
        default_priorities=_default_priorities(found),
    )


def _read(reply: Reply) -> _FoundLines:
    found = _FoundLines(reply)
    stage = 0
    patterns = [rule.pattern for rule in _RULES]
    for number, line in numbered_matches(reply, *patterns, skip=BLANK):
        rule = _RULE_OF[line.re]
        if rule.stage < stage:
            refuse(reply, f"line {number} is out of order: {line[0]!r}")
        if rule.name in found.lines and not rule.repeats:
            refuse(reply, f"line {number} is there twice: {line[0]!r}")
        stage = rule.stage
        found.lines.setdefault(rule.name, []).append(line)
        if rule.stage == _RULES[-1].stage:
            found.classes.append((rule.name, line))
    return found


def _expect_whole(found: _FoundLines) -> None:
    head = {name for name in ("dcbx", "trust", "cable") if found.one(name)}
    tail = {name for name in ("pfc", "columns", "enabled") if found.one(name)}
    if unsupported := [line for line in found.every("unsupported") if len(tail) < 3]:
        reject(found.reply, unsupported[0][0].strip(), _NO_DCB)
    if len(tail) < 3:
        incomplete(found.reply, "it has no complete PFC configuration")
    if len(head) not in (0, 3):
        incomplete(found.reply, f"of its first lines only {', '.join(sorted(head))} are there")
    if found.every("dscp") and not found.one("mapping"):
        incomplete(found.reply, "'dscp2prio mapping:' is missing")
    if found.every("default") and not found.one("defaults"):
        incomplete(found.reply, "'default priority:' is missing")
    if found.one("buffers") and not found.one("buffer"):
        incomplete(found.reply, "it has buffer sizes, but no row 'buffer'")


def _trust(word: str) -> TrustSetting:
    source = {"pcp": "dot1p", "dscp": "dscp", "none": "none"}[word]
    return TrustSetting(source=cast(Literal["dot1p", "dscp", "none"], source))


def _dscp_map(found: _FoundLines) -> tuple[tuple[int, int], ...] | None:
    if not found.one("mapping"):
        return None
    priorities: dict[int, int] = {}
    for line in found.every("dscp"):
        for dscp in (int(value) for value in line[2].split(",") if value):
            if dscp > 63 or dscp in priorities:
                problem = "is no DSCP" if dscp > 63 else "has two priorities"
                refuse(found.reply, f"DSCP {dscp} {problem}")
            priorities[dscp] = int(line[1])
    if not priorities:
        incomplete(found.reply, "the dscp2prio mapping is empty")
    return tuple(sorted(priorities.items()))


def _traffic_classes(found: _FoundLines) -> tuple[TrafficClass, ...] | None:
    """None when no classes were printed, or (rate limits unreadable) only without numbers."""
    rows = _class_rows(found)
    if not rows:
        return None
    mapped = sorted(priority for _, priorities in rows for priority in priorities)
    if mapped != list(PRIORITIES):
        incomplete(found.reply, f"its traffic classes hold priorities {mapped}, not 0 to 7")
    if found.every("unnumbered"):
        limits_unread = any("Rate limit" in line[0] for line in found.every("unsupported"))
        if found.every("tc") or not limits_unread:
            refuse(found.reply, "a traffic class has no number")
        return None
    classes = sorted((_traffic_class(*row) for row in rows), key=lambda tc: tc.number)
    if len({tc.number for tc in classes}) != len(classes):
        refuse(found.reply, "a traffic class is there twice")
    return tuple(classes)


def _default_priorities(found: _FoundLines) -> tuple[int, ...] | None:
    if not found.one("defaults"):
        return None
    return tuple(int(line[1]) for line in found.every("default"))


def _class_rows(found: _FoundLines) -> list[tuple[re.Match[str], list[int]]]:
    rows: list[tuple[re.Match[str], list[int]]] = []
    for name, line in found.classes:
        if name in ("tc", "unnumbered"):
            rows.append((line, []))
        elif not rows:
            refuse(found.reply, f"{line[0].strip()!r} comes before any traffic class")
        elif name == "priority":
            rows[-1][1].append(int(line[1]))
    return rows


def _traffic_class(line: re.Match[str], priorities: list[int]) -> TrafficClass:
    limit = None if line[2] == "unlimited" else gbit_per_second(float(line[2].split()[0]))
    return TrafficClass(
        number=int(line[1]),
        ratelimit_bits_per_s=limit,
        algorithm=cast(Literal["ets", "strict", "vendor", "unknown"], line[3] or line[5]),
        bandwidth_percent=None if line[4] is None else int(line[4]),
        priorities=tuple(sorted(priorities)),
    )
