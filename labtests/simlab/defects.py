"""What a pre-flight check looks for, as faults of an emulated device (fault_forms.py).

They change what a device says of itself, not what packets do; but for `background`, which sends,
and `dscp-map`, which is how the device was set up and no defect by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

LAB_EPOCH = datetime(2024, 5, 29, 8, 0, 0, tzinfo=UTC)
"""What every emulated clock shows at the lab's start: the date of the lab's source document."""

Setter = Callable[["Defects", Mapping[str, Any]], None]


@dataclass(slots=True)
class Defects:
    """What one device shows other than it would."""

    mtus: dict[str, int] = field(default_factory=dict)
    speeds_mbit_per_s: dict[str, int] = field(default_factory=dict)
    firmware: str = ""
    driver: str = ""
    perftest: str = ""
    ofed: str = ""
    fecs: dict[str, str] = field(default_factory=dict)
    without_roce_v2: set[str] = field(default_factory=set)
    broken_per_s: dict[str, int] = field(default_factory=dict)
    clock_ahead_s: float = 0.0
    role: str = ""
    neighbours: dict[str, str] = field(default_factory=dict)
    rdma_down: set[str] = field(default_factory=set)
    log_lines: dict[str, str] = field(default_factory=dict)  # what is found, and what is written
    on_willing: list[Callable[[str], None]] = field(default_factory=list)
    on_mtu: list[Callable[[str, int], None]] = field(default_factory=list)
    on_leftover: list[Callable[[str, str], None]] = field(default_factory=list)
    on_map: list[Callable[[tuple[int, ...]], None]] = field(default_factory=list)
    on_egress_map: list[Callable[[str, str], None]] = field(default_factory=list)
    on_background: list[Callable[[str, int, float, float | None], None]] = field(
        default_factory=list
    )

    def broken_frames(self, port: str, now_ns: int) -> int:
        """How many there have been since the lab's start."""
        return self.broken_per_s.get(port, 0) * now_ns // 1_000_000_000


def _tell(listeners: str, **readings: Callable[[Any], Any]) -> Setter:
    """Who listens is called with these of the fault's entries."""

    def tell(defects: Defects, fault: Mapping[str, Any]) -> None:
        told = [read(fault.get(key)) for key, read in readings.items()]  # None: may be left out
        for listener in getattr(defects, listeners):
            listener(*told)

    return tell


def _mtu(defects: Defects, fault: Mapping[str, Any]) -> None:
    defects.mtus[fault["port"]] = int(fault["bytes"])
    for change in defects.on_mtu:
        change(fault["port"], int(fault["bytes"]))


def _version(of: str) -> Setter:
    return lambda defects, fault: setattr(defects, of, str(fault["version"]))


SETTERS: Mapping[str, Setter] = {
    "mtu": _mtu,
    "link-speed": lambda d, f: d.speeds_mbit_per_s.__setitem__(f["port"], int(f["mbit_per_s"])),
    **{what: _version(what) for what in ("firmware", "driver", "perftest", "ofed")},
    "fec": lambda d, f: d.fecs.__setitem__(f["port"], str(f["encoding"])),
    "no-roce-v2": lambda d, f: d.without_roce_v2.add(f["port"]),
    "role": lambda d, f: setattr(d, "role", str(f["role"])),
    "background": _tell(
        "on_background",
        to=str,
        tos=int,
        mbit_per_s=lambda rate: 1e6 * float(rate),
        milliseconds=lambda time: None if time is None else float(time),
    ),
    "broken-frames": lambda d, f: d.broken_per_s.__setitem__(f["port"], int(f["per_s"])),
    "clock": lambda d, f: setattr(d, "clock_ahead_s", float(f["seconds"])),
    "cabling": lambda d, f: d.neighbours.__setitem__(f["port"], str(f["neighbour"])),
    "rdma-down": lambda d, f: d.rdma_down.add(f["port"]),
    "willing-dcbx": _tell("on_willing", port=str),
    "leftover": _tell("on_leftover", command=str, run=str),
    "egress-map": _tell("on_egress_map", port=str, map=str),
    "dscp-map": _tell("on_map", classes=lambda classes: tuple(map(int, classes))),
}
