"""Links of a Comware switch: `display interface`, its neighbours, and its clock."""

from labtests.capabilities import counters as c
from labtests.capabilities.facts import (
    ClockReading,
    LinkErrors,
    LinkFacts,
    LinkState,
    Neighbour,
    Neighbours,
    OwnClock,
    PortTelemetry,
)
from labtests.capabilities.records import Reading
from labtests.core.errors import UnreadableOutput
from labtests.drivers.comware.clock import parse_clock
from labtests.drivers.comware.interfaces import (
    COUNTED,
    InterfaceCount,
    InterfaceDisplay,
    parse_interface,
)
from labtests.drivers.comware.lldp import parse_lldp_neighbors
from labtests.drivers.comware.names import wrong_port
from labtests.drivers.comware.session import ComwarePart, show
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_ERRORS = frozenset({c.RX_ERRORS, c.RX_CRC_ERRORS, c.TX_ERRORS})
_NEIGHBOURS = ("display", "lldp", "neighbor-information", "verbose")


class ComwareLinks(LinkState, LinkErrors, PortTelemetry, Neighbours, OwnClock):
    """Links, what ports count, LLDP neighbours and the clock of one switch."""

    def __init__(self, switch: ComwarePart) -> None:
        self.switch = switch

    def link(self, port: str) -> Asking[LinkFacts]:
        """By `display interface`; Comware does not say there which FEC is in force."""
        _, shown = yield from self._interface(port)
        return LinkFacts(
            up=shown.state == "UP",
            speed_bits_per_s=shown.speed_bits_per_s,
            frame_bytes=shown.frame_bytes,
            mac=shown.mac,
        )

    def link_errors(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Frames that arrived broken, and those that could not be sent whole."""
        reply, shown = yield from self._interface(port)
        found = self._readings(reply, shown, port)
        return tuple(reading for reading in found if reading.counter in _ERRORS)

    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """All that `display interface` counts; None where it counts nothing of the kind, and where
        it is not understood: the other counters of a switch do not hang on its wording."""
        reply = yield from show("display", "interface", self.switch.port(port))
        try:
            return self._readings(reply, self._shown(reply, port), port)
        except UnreadableOutput as error:
            return tuple(_reading(reply, port, name, None, error.problem) for name in COUNTED)

    def _readings(self, reply: Reply, shown: InterfaceDisplay, port: str) -> tuple[Reading, ...]:
        counts = {count.counter: count for count in shown.counts}
        absent = "`display interface` has no such line"
        none = [_reading(reply, port, n, None, absent) for n in COUNTED if n not in counts]
        return (*(_reading(reply, port, n, count) for n, count in counts.items()), *none)

    def neighbours(self) -> Asking[tuple[Neighbour, ...]]:
        """By LLDP, nearest bridge."""
        return parse_lldp_neighbors((yield from show(*_NEIGHBOURS)))

    def own_clock(self) -> Asking[ClockReading]:
        """By `display clock`, which shows whole seconds."""
        reply = yield from show("display", "clock")
        device_s = parse_clock(reply)["utc_s"]
        return ClockReading(device_s=device_s, lab_s=reply.time_s, resolution_s=1.0)

    def _interface(self, port: str) -> Asking[tuple[Reply, InterfaceDisplay]]:
        reply = yield from show("display", "interface", self.switch.port(port))
        return reply, self._shown(reply, port)

    def _shown(self, reply: Reply, port: str) -> InterfaceDisplay:
        full, shown = self.switch.port(port), parse_interface(reply)
        if [each.interface for each in shown] != [full]:
            wrong_port(reply, full, ", ".join(each.interface for each in shown))
        return shown[0]


def _reading(
    reply: Reply,
    port: str,
    name: str,
    count: InterfaceCount | None,
    why: str = "the switch shows no number",
) -> Reading:
    value = None if count is None else count.value
    return Reading(
        device=reply.device,
        port=port,
        scope="port",
        index=None,
        counter=name,
        unit="bytes" if name.endswith("_bytes") else "packets",
        value=value,
        time_s=reply.time_s,
        source=f"display interface: {name if count is None else count.words}",
        missing="" if value is not None else why,
    )
