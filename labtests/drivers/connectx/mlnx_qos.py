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
from itertools import chain
from typing import Any, Literal, cast

from labtests.capabilities.nic import NicQos, TrafficClass
from labtests.capabilities.records import TrustSetting
from labtests.core.units import BitsPerSecond, gbit_per_second
from labtests.drivers.answers import Complaint, Tool, expect_success, reject
from labtests.drivers.displays import ANY, Line, Notation, ValueKind, read_one
from labtests.drivers.parsing import BLANK, incomplete, refuse
from labtests.transport.protocol import Reply

_BUG = "this is a defect of labtests: report it with the run's journal"
_NO_DCB = (
    "use an mlx5 port with DCB support: the physical function of a ConnectX-4 or newer, "
    "with a kernel built with CONFIG_MLX5_CORE_EN_DCB"
)

MLNX_QOS = Tool(
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


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall("[0-9]+", text))


def _bits_per_s(text: str) -> BitsPerSecond | None:
    return None if text == "unlimited" else gbit_per_second(float(text.removesuffix(" Gbps")))


def _trust(text: str) -> TrustSetting:
    source = {"pcp": "dot1p", "dscp": "dscp", "none": "none"}[text]
    return TrustSetting(source=cast(Literal["dot1p", "dscp", "none"], source))


_SHOWN = Notation().also(
    trust=ValueKind("pcp|dscp|none", _trust),
    dscps=ValueKind("(?:[0-9]{2},)+", _integers),
    sizes=ValueKind("(?:[0-9]+,){8}", _integers),
    eight=ValueKind(r"[0-9]+(?:\s+[0-9]+){7}", _integers),
    flags=ValueKind(r"[01](?:\s+[01]){7}", lambda text: tuple(map(bool, _integers(text)))),
    ets=ValueKind("ets"),
    limit=ValueKind(r"unlimited|[0-9]+(?:\.[0-9]+)? Gbps", _bits_per_s),
)
line, maybe, many, record = _SHOWN.line, _SHOWN.maybe, _SHOWN.many, _SHOWN.record
_IN_A_CLASS = (
    many("priority: <priority:0-7>", into="priorities"),
    many(r"skprio: [0-9]+( \(.*\))?"),  # MLNX_OFED 3.x
)
_ALGORITHM = "(<ets:ets>, bw: <percent:number>%|<other:strict|vendor|unknown>)"
_QOS: Line[dict[str, Any]] = record(
    "",
    maybe(r"<lldpad:\*+ WARNING: lldpad service is running.*>"),
    many(
        "<what:(?:Priority trust state is|Buffers commands are|Rate limit is)"
        " not supported on your system!?>",
        into="unsupported",
    ),
    maybe("DCBX mode: <dcbx_mode:OS controlled|Firmware controlled>", stage=1),
    maybe("Priority trust state: <trust:trust>", stage=2),
    maybe(
        "dscp2prio mapping:",
        record(
            "prio: <priority:0-7> dscp: <dscps:dscps>",
            make=lambda priority, dscps: [(dscp, priority) for dscp in dscps],
            into="mapped",
        ),
        stage=3,
    ),
    maybe("default priority:", many("prio: <priority:0-7>", into="default_priorities"), stage=4),
    maybe(
        r"Receive buffer size \(bytes\): <receive_buffer_bytes:sizes>"
        "((?:max_buffer|total)_size=<max_buffer_bytes:number>)?",
        stage=5,
    ),
    maybe("Cable len: <cable_length_m:number>", stage=6),
    maybe(
        "PFC configuration:",
        line("priority 0 1 2 3 4 5 6 7"),
        line("enabled <pfc_enabled:flags>", stage=1),
        maybe("buffer <priority_to_buffer:eight>", stage=2),
        stage=7,
    ),
    *(
        record(shape, *_IN_A_CLASS, make=dict, into="classes", times=ANY, stage=8)
        for shape in (
            f"tc: <number:0-7> ratelimit: <limit:limit>, tsa: {_ALGORITHM}",
            # the tool leaves the beginning out when it could not read the rate limits
            _ALGORITHM,
        )
    ),
    many("(priority|skprio): .*", refused="a priority comes before any traffic class", stage=8),
    make=dict,
)
_AS_SHOWN = (
    *("dcbx_mode", "trust", "receive_buffer_bytes", "max_buffer_bytes", "cable_length_m"),
    *("pfc_enabled", "priority_to_buffer", "default_priorities"),
)


def parse_mlnx_qos(reply: Reply) -> NicQos:
    """The QoS state of one port. Refuses an output that is cut, mixed up or has a new line."""
    expect_success(reply, MLNX_QOS)
    found = read_one(reply, _QOS, skip=BLANK)
    _expect_whole(reply, found)
    shown: dict[str, Any] = {name: found.get(name) for name in _AS_SHOWN}
    return NicQos(
        **shown,
        dscp_to_priority=_dscp_map(reply, found) if "mapped" in found else None,
        traffic_classes=_traffic_classes(reply, found),
        lldpad_warning="lldpad" in found,
    )


def _expect_whole(reply: Reply, found: dict[str, Any]) -> None:
    head = {"dcbx_mode", "trust", "cable_length_m"} & found.keys()
    if "pfc_enabled" not in found:
        if found["unsupported"]:
            reject(reply, found["unsupported"][0], _NO_DCB)
        incomplete(reply, "it has no complete PFC configuration")
    if len(head) not in (0, 3):
        incomplete(reply, f"of its first lines only {', '.join(sorted(head))} are there")
    if "receive_buffer_bytes" in found and "priority_to_buffer" not in found:
        incomplete(reply, "it has buffer sizes, but no row 'buffer'")


def _dscp_map(reply: Reply, found: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    priorities: dict[int, int] = {}
    for dscp, priority in chain.from_iterable(found["mapped"]):
        if dscp > 63 or dscp in priorities:
            problem = "is not a DSCP" if dscp > 63 else "has two priorities"
            refuse(reply, f"DSCP {dscp} {problem}")
        priorities[dscp] = priority
    return tuple(sorted(priorities.items()))


def _traffic_classes(reply: Reply, found: dict[str, Any]) -> tuple[TrafficClass, ...] | None:
    """None when no classes were printed, or (rate limits unreadable) only without numbers."""
    rows = found["classes"]
    if not rows:
        return None
    mapped = sorted(priority for row in rows for priority in row["priorities"])
    if mapped != list(range(8)):
        incomplete(reply, f"its traffic classes hold priorities {mapped}, not 0 to 7")
    numbers = [row["number"] for row in rows if "number" in row]
    if len(numbers) < len(rows):
        if numbers or not any("Rate limit" in each for each in found["unsupported"]):
            refuse(reply, "a traffic class has no number")
        return None
    if len(set(numbers)) != len(numbers):
        refuse(reply, "a traffic class appears twice")
    return tuple(sorted(map(_traffic_class, rows), key=lambda each: each.number))


def _traffic_class(row: dict[str, Any]) -> TrafficClass:
    return TrafficClass(
        number=row["number"],
        ratelimit_bits_per_s=row["limit"],
        algorithm=row.get("ets") or row["other"],
        bandwidth_percent=row.get("percent"),
        priorities=tuple(sorted(row["priorities"])),
    )
