"""What a switch does about pauses that last too long: the PFC watchdog, which shuts a queue that
they keep from sending; and the pause time-out of FCoE edge ports, which drops all that leaves one.

The watchdog works where it is on for the switch and at the port. Its times are the switch's; `show
queuing pfc-queue` tells them, and which queues are shut. The time-out is the whole switch's, and
works at ports that an F port (`interface vfc`) is bound to, which labtests makes at none. No
display is known that tells of it: a suite looks at what was dropped.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from labtests.capabilities import counters as c
from labtests.capabilities import settings as s
from labtests.capabilities.device import WatchdogTelemetry
from labtests.capabilities.facts import Lacking
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PortPauseTimeout, PortWatchdog, WatchdogTimes
from labtests.drivers.displays import Nested, PortDisplay, Section, Unfit, read_one
from labtests.drivers.nxos.configuration import NxosPortSetting, configured, parse_configuration
from labtests.drivers.nxos.queuing import NO_BLOCK
from labtests.drivers.nxos.session import CLI, NXOS, NxosPart, NxosSetting, full_name, show_ended
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

_PASSED = re.compile(r"[-+=\s]*")
_PFC = ("priority-flow-control", "watch-dog-interval")
_AT_A_PORT = NXOS.shape(f"{' '.join(_PFC)} <mode:on|off>")


# -- what it shows ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedPort:
    """A port, and which of its queues are shut."""

    on: bool
    shut: frozenset[int]


def _port(port: str, state: str, bitmap: str, shut: str) -> tuple[str, WatchedPort]:
    watched = {n for n in range(8) if int(bitmap, 16) >> n & 1}
    states = dict(zip(range(7, -1, -1), shut.split(), strict=True))
    if {queue for queue, told in states.items() if told != "-"} != watched:
        raise Unfit("shows states of other queues than its bitmap has")
    closed = frozenset(queue for queue, told in states.items() if told == "Y")
    return port, WatchedPort(on=state == "Enabled", shut=closed)


WatchdogView = tuple[WatchdogTimes, dict[str, WatchedPort]]


def _view(ports: tuple[tuple[str, WatchedPort], ...], state: str, **times: Any) -> WatchdogView:
    return WatchdogTimes(on=state == "Enabled", **times), dict(ports)


_TIMES = {
    "interval_ms": ("poll interval", "watch-dog interval", range(100, 1001, 100)),
    "shutdown_multiplier": ("shutdown multiplier", "watch-dog shutdown-multiplier", range(1, 11)),
    "auto_restore_multiplier": ("auto-restore multiplier", "auto-restore multiplier", range(101)),
    "fixed_restore_multiplier": (*("fixed-restore multiplier",) * 2, range(101)),
}
"""How it is shown and set, and what is taken (NX-OS 10.3(1))."""
_VIEW = NXOS.record(
    "",
    *NXOS.lines(
        r"Global watch-dog interval \[<state:Enabled|Disabled>\]",
        "Global PFC watchdog configuration details",
        *(
            f"PFC watch-dog {shown} : <{name}:number>{' ms' * name.endswith('_ms')}"
            for name, (shown, _, _) in _TIMES.items()
        ),
        r"\| Port PFC Watchdog \(VL bmap\) State \(Shutdown\) \|",
    ),
    NXOS.maybe("PFC watchdog internal-interface multiplier : <:number>"),
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


_SHOWN = {
    "Shutdown": c.WATCHDOG_SHUTDOWNS,
    "Restored": c.WATCHDOG_RESTORED,
    "Total pkts drained": "drained",
    "Total pkts dropped": "dropped",
    r"Total pkts drained \+ dropped": c.WATCHDOG_LAST_DROPPED_PACKETS,
    "Aggregate pkts dropped": c.WATCHDOG_DROPPED_OUT_PACKETS,
    "Total Ingress pkts dropped": c.WATCHDOG_LAST_DROPPED_IN_PACKETS,
    "Aggregate Ingress pkts dropped": c.WATCHDOG_DROPPED_IN_PACKETS,
}
"""What the switch calls it (a regular expression) -> name here. "Total" is of the last time that
the queue was shut."""
_SOURCES = {
    name: f"show queuing pfc-queue: {words}".replace("\\", "")
    for words, name in _SHOWN.items()
    if name not in ("drained", "dropped")
}


def _group(queue: int, drained: int, dropped: int, **counts: int) -> tuple[int, dict[str, int]]:
    both = counts[c.WATCHDOG_LAST_DROPPED_PACKETS]
    if drained + dropped != both:
        raise Unfit(f"has {drained} drained and {dropped} dropped, and {both} of both")
    return queue, counts


PFC_QUEUE_DETAIL = PortDisplay(
    command="show queuing pfc-queue interface <port> detail",
    shows=NXOS.record(
        r"<port:port> Interface PFC watchdog: \[(Enabled|Disabled)\]",
        NXOS.up_to(
            8,
            r"\| QOS GROUP <queue:0-7> \[(Active|Inactive|Shutdown)\] PFC \[(YES|NO)\] "
            r"PFC-COS \[[0-7-]\]\s*\|?",
            NXOS.line(r"\| \| Stats \|"),
            *NXOS.lines(*(rf"\| {w}\s*\|\s*<{name}:number>\|" for w, name in _SHOWN.items())),
            make=_group,
            into="groups",
        ),
        make=lambda port, groups: (port, dict(groups)),
        order="unique",
    ),
    skip=_PASSED,
)
"""Of each queue, its counters."""


class NxosWatchdogCounters(NxosPart, WatchdogTelemetry):
    """What it did to the queues of a port."""

    def watchdog_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """See WatchdogTelemetry."""
        reply, groups = yield from self.shown(PFC_QUEUE_DETAIL, port)
        return Answered(reply, port, "priority").of_blocks(_SOURCES, groups, NO_BLOCK)


class NxosWatchdog(NxosPortSetting[PortWatchdog]):
    """What a port says of it. One that says nothing is not watched (from memory)."""

    kind = s.PFC_WATCHDOG

    def read(self, port: str) -> Asking[PortWatchdog]:
        """From the port's configuration."""
        said: dict[str, PortWatchdog] = _AT_A_PORT.first((yield from self.told(port)))
        return said.get("mode", "unset")

    def lines(self, port: str, earlier: PortWatchdog, wanted: PortWatchdog) -> Iterator[CliLine]:
        """One line."""
        yield CLI.line("no", *_PFC, earlier) if wanted == "unset" else CLI.line(*_PFC, wanted)


# -- what is the whole switch's --------------------------------------------------------------------


Timed = TypeVar("Timed", WatchdogTimes, PortPauseTimeout)


class _Times(NxosSetting[Timed]):
    """Something of the whole switch that is on or off, and has times."""

    wide = True
    switch: ClassVar[Mapping[bool, CliLine]]
    """The lines by which it is on, and off."""
    times: ClassVar[Mapping[str, tuple[str, Collection[Any]]]]
    """The line of each time, and what it takes; and of what is always as it is."""

    def commands(self, port: str, earlier: Timed, wanted: Timed, around: Any = None) -> s.Commands:
        """One line for each time that differs; switched on last and off first, so that it never
        works with somebody else's. Raises CommandRejected for a time that it does not take."""
        lines = list(self.each_that_differs(earlier, wanted, self.times))
        if wanted.on != earlier.on:
            lines.insert(len(lines) if wanted.on else 0, self.switch[wanted.on])
        return tuple(lines)


class NxosWatchdogTimes(_Times[WatchdogTimes]):
    """Whether the watchdog works at all, and its times."""

    kind = s.WATCHDOG_TIMES
    switch: ClassVar = {on: CLI.line(*_PFC, word) for on, word in ((True, "on"), (False, "off"))}
    times: ClassVar = {
        name: (f"priority-flow-control {words} {{}}", taken)
        for name, (_, words, taken) in _TIMES.items()
    } | {"action": ("the action {}", ("drop",))}

    def read(self, port: str) -> Asking[WatchdogTimes]:
        """As in force."""
        return parse_pfc_queue((yield from CLI.show("show", "queuing", "pfc-queue")))[0]


_PAUSE = "system default interface pause"
_EDGE = NXOS.shape(f"{_PAUSE} mode edge")
_TIMEOUT = NXOS.shape(f"{_PAUSE} timeout <ms:number> mode edge")
_USUAL_MS = 500


def parse_timeout(reply: Reply) -> PortPauseTimeout:
    """The lines of the running configuration that begin so; without any it is off."""
    heads = tuple(each.head for each in parse_configuration(reply))
    Section(head="it", lines=heads).expect_known(reply, _PAUSE, _EDGE, _TIMEOUT)
    timeout_ms = _TIMEOUT.first(heads).get("ms", _USUAL_MS)
    return PortPauseTimeout(on=_EDGE.text in heads, timeout_ms=timeout_ms)


class NxosPauseTimeout(_Times[PortPauseTimeout]):
    """`system default interface pause`."""

    kind = s.PAUSE_TIMEOUT
    switch: ClassVar = {on: CLI.switched(on, *_EDGE.text.split()) for on in (True, False)}
    times: ClassVar = {"timeout_ms": (f"{_PAUSE} timeout {{}} mode edge", range(100, 501, 100))}

    def read(self, port: str) -> Asking[PortPauseTimeout]:
        """As configured."""
        only = _PAUSE.replace(" ", ".")
        return parse_timeout((yield from show_ended("running-config", only=only)))


class NxosFcoe(NxosPart, Lacking):
    """Whether the ports of the testbed are edge ports."""

    def lacks(self) -> Asking[dict[str, str]]:
        """See Lacking."""
        edges = {port for each in (yield from configured()).virtual if (port := bound_to(each))}
        others = [port for port in map(self.port, self.ports) if port not in edges]
        if not others:
            return {}
        problem = f"{', '.join(others)}: no FCoE edge port (`bind interface` of a vfc)"
        return {s.PAUSE_TIMEOUT.name: f"{problem}, so no pause time-out works there"}


def bound_to(vfc: Nested) -> str | None:
    """The port of an F port that is not shut down; it is, until somebody says otherwise (guide)."""
    modes = [text for text in vfc.lines if text.startswith("switchport mode")]
    bound = [text.rpartition(" ")[2] for text in vfc.lines if text.startswith("bind interface ")]
    edge = all(text.lower().endswith(" f") for text in modes) and "no shutdown" in vfc.lines
    return full_name(bound[0]) if edge and bound else None
