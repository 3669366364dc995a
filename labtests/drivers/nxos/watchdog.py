"""The PFC watchdog: a lossless queue that pauses keep from sending for too long is shut.

It works where it is on for the switch and at the port. Its times are the switch's; `show queuing
pfc-queue` tells them, and which queues are shut. What stands at a port is in its configuration.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities import settings as s
from labtests.capabilities.device import WatchdogTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PortWatchdog, WatchdogTimes
from labtests.capabilities.settings import Commands
from labtests.drivers.displays import PortDisplay, Unfit, read_one
from labtests.drivers.nxos.configuration import NxosPortSetting
from labtests.drivers.nxos.session import NXOS, NxosPart, NxosSetting, line, show
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

_PASSED = re.compile(r"[-+=\s]*")
_PFC = "priority-flow-control"
_TIMES = {
    "interval_ms": ("watch-dog", "interval"),
    "shutdown_multiplier": ("watch-dog", "shutdown-multiplier"),
    "auto_restore_multiplier": ("auto-restore", "multiplier"),
    "fixed_restore_multiplier": ("fixed-restore", "multiplier"),
}
_RANGES = {
    "interval_ms": range(100, 1001, 100),
    "shutdown_multiplier": range(1, 11),
    "auto_restore_multiplier": range(101),
    "fixed_restore_multiplier": range(101),
}
"""And steps: NX-OS 10.3(1)."""
_AT_A_PORT = NXOS.shape("priority-flow-control watch-dog-interval <mode:on|off>")


# -- what it shows ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedPort:
    """A port, and which of its queues are shut."""

    on: bool
    shut: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchdogView:
    """The whole display."""

    times: WatchdogTimes
    ports: dict[str, WatchedPort]


def _port(port: str, state: str, bitmap: str, shut: str) -> tuple[str, WatchedPort]:
    watched = {n for n in range(8) if int(bitmap, 16) >> n & 1}
    states = dict(zip(range(7, -1, -1), shut.split(), strict=True))
    if {queue for queue, told in states.items() if told != "-"} != watched:
        raise Unfit("shows states of other queues than its bitmap has")
    closed = frozenset(queue for queue, told in states.items() if told == "Y")
    return port, WatchedPort(on=state == "Enabled", shut=closed)


def _view(ports: tuple[tuple[str, WatchedPort], ...], state: str, **times: int) -> WatchdogView:
    return WatchdogView(times=WatchdogTimes(on=state == "Enabled", **times), ports=dict(ports))


_VIEW = NXOS.record(
    "",
    NXOS.line(r"Global watch-dog interval \[<state:Enabled|Disabled>\]"),
    NXOS.line("Global PFC watchdog configuration details"),
    NXOS.line("PFC watch-dog poll interval : <interval_ms:number> ms"),
    NXOS.line("PFC watch-dog shutdown multiplier : <shutdown_multiplier:number>"),
    NXOS.line("PFC watch-dog auto-restore multiplier : <auto_restore_multiplier:number>"),
    NXOS.line("PFC watch-dog fixed-restore multiplier : <fixed_restore_multiplier:number>"),
    NXOS.maybe("PFC watchdog internal-interface multiplier : <:number>"),
    NXOS.line(r"\| Port PFC Watchdog \(VL bmap\) State \(Shutdown\) \|"),
    NXOS.record(
        r"<port:port> <state:Enabled|Disabled> \(\s*0x<bitmap:[0-9a-f]{1,2}>\s*\) "
        r"<shut:([-YN]\s+){7}[-YN]>",
        make=_port,
        into="ports",
        order="unique",
    ),
    make=_view,
)


def parse_pfc_queue(reply: Reply) -> WatchdogView:
    """`show queuing pfc-queue`."""
    return read_one(reply, _VIEW, skip=_PASSED)


_COUNTED: dict[str, str] = {
    "Shutdown": c.WATCHDOG_SHUTDOWNS,
    "Restored": c.WATCHDOG_RESTORED,
    "Total pkts drained": "",
    "Total pkts dropped": "",
    r"Total pkts drained \+ dropped": c.WATCHDOG_LAST_DROPPED_PACKETS,
    "Aggregate pkts dropped": c.WATCHDOG_DROPPED_OUT_PACKETS,
    "Total Ingress pkts dropped": c.WATCHDOG_LAST_DROPPED_IN_PACKETS,
    "Aggregate Ingress pkts dropped": c.WATCHDOG_DROPPED_IN_PACKETS,
}
"""What the switch calls it -> name here. "Total" is of the last time that the queue was shut."""


def _group(queue: int, **numbers: int) -> tuple[int, dict[str, int]]:
    drained, dropped, both = numbers["n2"], numbers["n3"], numbers["n4"]
    if drained + dropped != both:
        raise Unfit(f"has {drained} drained and {dropped} dropped, and {both} of both")
    return queue, {name: numbers[f"n{n}"] for n, name in enumerate(_COUNTED.values()) if name}


PFC_QUEUE_DETAIL = PortDisplay(
    command="show queuing pfc-queue interface <port> detail",
    shows=NXOS.record(
        r"<port:port> Interface PFC watchdog: \[(Enabled|Disabled)\]",
        NXOS.record(
            r"\| QOS GROUP <queue:0-7> \[(Active|Inactive|Shutdown)\] PFC \[(YES|NO)\] "
            r"PFC-COS \[[0-7-]\]\s*\|?",
            NXOS.line(r"\| \| Stats \|"),
            *(
                NXOS.line(rf"\| {words}\s*\|\s*<n{number}:number>\|")
                for number, words in enumerate(_COUNTED)
            ),
            make=_group,
            into="groups",
            times=(0, 8),
            order="unique",
        ),
        make=lambda port, groups: (port, dict(groups)),
        order="unique",
    ),
    skip=_PASSED,
)
"""Of each queue, its counters."""


# -- settings --------------------------------------------------------------------------------------


class NxosWatchdogTimes(NxosSetting[WatchdogTimes]):
    """Whether the watchdog works at all, and its times."""

    kind = s.WATCHDOG_TIMES
    wide = True

    def read(self, port: str) -> Asking[WatchdogTimes]:
        """As in force."""
        return parse_pfc_queue((yield from show("queuing", "pfc-queue"))).times

    def commands(
        self, port: str, earlier: WatchdogTimes, wanted: WatchdogTimes, around: Any = None
    ) -> Commands:
        """One line for each that differs; switched on last and off first. Raises CommandRejected
        for a time that the switch does not take."""
        for name, taken in _RANGES.items():
            if (value := getattr(wanted, name)) not in taken:
                words = " ".join((_PFC, *_TIMES[name]))
                problem = f"{value} is not in {taken[0]}..{taken[-1]}, steps of {taken.step}"
                raise self.reject(words, problem, "choose another time")
        switch = line(_PFC, "watch-dog-interval", "on" if wanted.on else "off")
        lines = tuple(
            line(_PFC, *words, getattr(wanted, name))
            for name, words in _TIMES.items()
            if getattr(wanted, name) != getattr(earlier, name)
        )
        if earlier.on == wanted.on:
            return lines
        return (*lines, switch) if wanted.on else (switch, *lines)


class NxosWatchdog(NxosPortSetting[PortWatchdog]):
    """What a port says of it. One that says nothing is not watched (from memory)."""

    kind = s.PFC_WATCHDOG

    def read(self, port: str) -> Asking[PortWatchdog]:
        """From the port's configuration."""
        mode: PortWatchdog = _AT_A_PORT.first((yield from self.told(port))).get("mode", "unset")
        return mode

    def lines(self, port: str, earlier: PortWatchdog, wanted: PortWatchdog) -> Iterator[CliLine]:
        """One line."""
        words = (_PFC, "watch-dog-interval")
        yield line("no", *words, earlier) if wanted == "unset" else line(*words, wanted)


class NxosWatchdogCounters(NxosPart, WatchdogTelemetry):
    """What it did to the queues of a port."""

    def watchdog_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """See WatchdogTelemetry."""
        reply, groups = yield from self.shown(PFC_QUEUE_DETAIL, port)
        sources = {
            name: f"show queuing pfc-queue: {words}" for words, name in _COUNTED.items() if name
        }

        def counted(queue: int, counter: str) -> tuple[int | None, str]:
            return groups.get(queue, {}).get(counter), "no block of this group"

        return Answered(reply, port, "priority").of_eight(sources, counted)
