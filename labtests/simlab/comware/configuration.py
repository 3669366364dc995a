"""The switch's running configuration, how it reads as text, and what it does to the network.

Refusals of the real switch that no manual words are worded here, and marked so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from labtests.network import Schedule, Switch, WredCurve
from labtests.simlab.comware.parameters import QUEUE_NAMES, priority_list

QUEUES = range(8)
DEFAULT_TABLE = "Default"  # our name; that there is one, unchangeable, is in the command reference


class Refused(Exception):
    """The switch understood and will not do it. The text is what it prints."""


@dataclass(slots=True)
class QueueCurves:
    """One queue of a WRED table: (low, high, percent) for green, yellow and red packets.

    Defaults: HPE 5130 HI and FlexFabric 11900 ACL and QoS command references.
    """

    colours: list[tuple[int, int, int]] = field(default_factory=lambda: [(100, 1000, 10)] * 3)
    exponent: int = 9
    ecn: bool = False

    def lines(self, queue: int) -> Iterator[str]:
        """As the running configuration has it: only what differs from the defaults."""
        default = QueueCurves()
        for level, colour in enumerate(self.colours):
            if colour != default.colours[level]:
                low, high, percent = colour
                yield (
                    f"queue {queue} drop-level {level} low-limit {low} high-limit {high} "
                    f"discard-probability {percent}"
                )
        if self.exponent != default.exponent:
            yield f"queue {queue} weighting-constant {self.exponent}"
        if self.ecn:
            yield f"queue {queue} ecn"

    def curve(self) -> WredCurve:
        """What the network does with it. Nothing here colours packets, so all are green."""
        low, high, percent = self.colours[0]
        return WredCurve(
            low_limit=low,
            high_limit=high,
            probability_percent=percent,
            weighting_exponent=self.exponent,
            ecn=self.ecn,
        )


@dataclass(slots=True)
class WredTable:
    """A queue-based WRED table."""

    name: str
    queues: list[QueueCurves] = field(default_factory=lambda: [QueueCurves() for _ in QUEUES])

    def lines(self) -> list[str]:
        """Its body in the running configuration."""
        return [line for queue, curves in enumerate(self.queues) for line in curves.lines(queue)]


PfcMode = Literal["off", "on", "auto"]
_PFC_LINES: dict[PfcMode, list[str]] = {
    "off": [],
    "on": ["priority-flow-control enable"],
    "auto": ["priority-flow-control auto"],
}


@dataclass(slots=True)
class PortConfiguration:
    """What is configured on one port."""

    schedule: Schedule
    description: str | None = None
    shutdown: bool = False
    pfc: PfcMode = "off"
    no_drop: frozenset[int] = frozenset()
    trust: Literal["dscp", "dot1p", "none"] = "none"
    override: bool = False
    wred: str | None = None  # the table's name; DEFAULT_TABLE for `qos wred apply` alone
    lldp: set[str] = field(default_factory=set)  # lines that change nothing in the simulation
    jumbo: int | None = None  # longest frame; 0: denied. Remembered: the network has no limit
    headroom: dict[int, int] = field(default_factory=dict)  # cells by priority


class Configuration:
    """All of it. Every change goes to the network at once."""

    def __init__(self, name: str, ports: Sequence[str], network: Switch) -> None:
        self.sysname = name
        self._network = network
        self.default_schedule = Schedule()  # as the network delivers it
        self.globals: set[str] = set()  # lines in system view that change nothing in the simulation
        self._headroom: dict[str, int | None] = {}  # what the network has been told
        self.ignoring: set[str] = set()  # ports for which trust is no more than a word
        self.usual_headroom: dict[str, int] = {}  # of ports that are not as the network delivers
        self.ports = {port: PortConfiguration(self.default_schedule) for port in ports}
        self.tables = {DEFAULT_TABLE: WredTable(DEFAULT_TABLE)}
        self.default_dscp_dot1p = tuple(network.dscp_dot1p)
        self.default_dot1p_lp = tuple(network.dot1p_lp)
        for port in ports:
            self.apply(port)

    # -- reading -------------------------------------------------------------------------------

    def port_lines(self, port: str) -> list[str]:
        """The body of `interface …` in the running configuration (order as in document 000)."""
        settings = self.ports[port]
        lines = ["port link-mode bridge"]
        if settings.description is not None:
            lines.append(f"description {settings.description}")
        lines += ["shutdown"] if settings.shutdown else []
        lines += _PFC_LINES[settings.pfc]
        if settings.no_drop:
            lines.append(f"priority-flow-control no-drop dot1p {priority_list(settings.no_drop)}")
        lines += [
            f"priority-flow-control dot1p {priority} headroom {cells}"
            for priority, cells in sorted(settings.headroom.items())
        ]
        lines += _jumbo_lines(settings.jumbo)
        lines += sorted(settings.lldp)
        if settings.trust != "none":
            lines.append(f"qos trust {settings.trust}" + " override" * settings.override)
        lines += self._schedule_lines(port)
        if settings.wred is not None:
            name = "" if settings.wred == DEFAULT_TABLE else f" {settings.wred}"
            lines.append(f"qos wred apply{name}")
        return lines

    def map_lines(self, name: str) -> list[str]:
        """The body of `qos map-table …`: entries that differ from the default."""
        current, default = self.map(name), self.default_map(name)
        return [
            f"import {value} export {current[value]}"
            for value in range(len(current))
            if current[value] != default[value]
        ]

    def map(self, name: str) -> tuple[int, ...]:
        """A map as it is now. dscp-lp is the way through both others."""
        dscp_dot1p, dot1p_lp = tuple(self._network.dscp_dot1p), tuple(self._network.dot1p_lp)
        if name == "dscp-lp":
            return tuple(dot1p_lp[dot1p] for dot1p in dscp_dot1p)
        return dscp_dot1p if name == "dscp-dot1p" else dot1p_lp

    def default_map(self, name: str) -> tuple[int, ...]:
        """A map as it was at the start."""
        return self.default_dscp_dot1p if name == "dscp-dot1p" else self.default_dot1p_lp

    def table(self, name: str) -> WredTable:
        """The WRED table of this name."""
        if name not in self.tables:
            raise Refused("The WRED table does not exist.")  # our words
        return self.tables[name]

    # -- changing ------------------------------------------------------------------------------

    def apply(self, port: str) -> None:
        """The network treats the port as configured. What is as it was is not touched: setting a
        WRED curve again would forget its average. A port without a cable has only settings."""
        if port not in self._network.ports:
            return
        settings, network = self.ports[port], self._network
        if network.pfc(port) != (settings.pfc, settings.no_drop):
            network.set_pfc(port, settings.pfc, settings.no_drop)
        trust = "none" if port in self.ignoring else settings.trust
        if network.trust(port) != trust:
            network.set_trust(port, trust)
        self._apply_headroom(port)
        if network.schedule(port) != settings.schedule:
            network.set_schedule(port, settings.schedule)
        table = None if settings.wred is None else self.tables[settings.wred]
        for queue, before in enumerate(network.wred(port)):
            curve = None if table is None else table.queues[queue].curve()
            if curve != before:
                network.set_wred(port, queue, curve)

    def _apply_headroom(self, port: str) -> None:
        """The network has one headroom for all lossless groups of a port: the largest counts."""
        usual = self.usual_headroom.get(port)
        cells = max(self.ports[port].headroom.values(), default=usual)
        if self._headroom.get(port) != cells:
            self._headroom[port] = cells
            self._network.set_headroom(port, cells)

    def create_table(self, name: str) -> None:
        """The table exists; as it was, if it did before."""
        if name == DEFAULT_TABLE:
            raise Refused("The default WRED table cannot be modified.")  # our words
        self.tables.setdefault(name, WredTable(name))

    def remove_table(self, name: str) -> None:
        """The table is gone. One that a port applies is refused (command reference)."""
        self.table(name)
        if name == DEFAULT_TABLE:
            raise Refused("The default WRED table cannot be deleted.")  # our words
        if any(port.wred == name for port in self.ports.values()):
            raise Refused("The WRED table is in use and cannot be deleted.")  # our words
        del self.tables[name]

    def table_changed(self, name: str) -> None:
        """Ports that apply the table follow it."""
        for port, settings in self.ports.items():
            if settings.wred == name:
                self.apply(port)

    def set_map(self, name: str, value: int, export: int) -> None:
        """An entry of dscp-dot1p or dot1p-lp is changed, for the whole switch."""
        if name == "dscp-dot1p":
            self._network.set_dscp_dot1p(value, export)
        else:
            self._network.set_dot1p_lp(value, export)

    def _schedule_lines(self, port: str) -> list[str]:
        schedule = self.ports[port].schedule
        if schedule == self.default_schedule:
            return []
        if schedule.discipline == "sp":
            return ["qos sp"]
        word = f"qos {schedule.discipline}"
        lines = [f"{word} {schedule.unit}"]
        for name, (group, weight) in zip(QUEUE_NAMES, schedule.queues, strict=True):
            if group == "sp":
                lines.append(f"{word} {name} group sp")
            elif (group, weight) != ("1", 1):
                lines.append(f"{word} {name} group {group} {schedule.unit} {weight}")
        return lines


def _jumbo_lines(jumbo: int | None) -> list[str]:
    if jumbo is None:
        return []
    return [f"jumboframe enable {jumbo}" if jumbo else "undo jumboframe enable"]
