"""Links of a Comware switch: `display interface`, `display lldp neighbor-information verbose`, and
its clock."""

import re
from datetime import UTC, datetime, timedelta

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
from labtests.drivers.comware.interfaces import COUNTED, Count, Shown, parse_interface
from labtests.drivers.comware.names import printed_port, wrong_port
from labtests.drivers.comware.session import Cli
from labtests.drivers.parsing import refuse, whole_lines
from labtests.transport.protocol import Reply, Transport

_ERRORS = frozenset({c.RX_ERRORS, c.RX_CRC_ERRORS, c.TX_ERRORS})
_NEIGHBOURS = ("display", "lldp", "neighbor-information", "verbose")

_OF_PORT = re.compile(r"^(LLDP|CDP) neighbor-information of port [0-9]+\[(\S+?):?\]:?\s*$")
_AGENT = re.compile(r"^LLDP agent (\S+?)[:：]\s*$")
_FIELD = re.compile(
    r"^ (LLDP [Nn]eighbor index|Port ID|Port description|System name)\s*: ((?:.*\S)?)\s*$"
)

_CLOCK = re.compile(
    r"^([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)? (\S+) [A-Z][a-z]{2} ([0-9]{2}/[0-9]{2}/[0-9]{4})$"
)
_ZONE = re.compile(r"^Time Zone : (\S+) (add|minus) ([0-9]{2}):([0-9]{2}):([0-9]{2})$")
_SUMMER = re.compile(
    r"^Summer Time : (\S+) ([0-9:]{8}) ([0-9]{2}/[0-9]{2}) ([0-9:]{8}) ([0-9]{2}/[0-9]{2}) "
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})$"
)


def parse_lldp_neighbors(reply: Reply) -> tuple[Neighbour, ...]:
    """`display lldp neighbor-information verbose`: nearest bridges only, and no CDP. What else a
    neighbour tells (DCBX, VLANs, addresses) is not read."""
    found: list[dict[str, str]] = []
    port = ""
    for line in whole_lines(reply):
        if match := _OF_PORT.match(line):
            port = printed_port(reply, match[2]) if match[1] == "LLDP" else ""
            found.append({})
        elif match := _AGENT.match(line):
            port = port if match[1] == "nearest-bridge" else ""
        elif not found:
            _expect_blank(reply, line)
        elif port and (match := _FIELD.match(line)):
            _tell(reply, found, port, match)
    found = [entry for entry in found if entry]
    if not found:
        refuse(
            reply, "no neighbour is shown", "see that LLDP is on at both ends: lldp global enable"
        )
    return tuple(_neighbour(reply, each) for each in found)


def _expect_blank(reply: Reply, line: str) -> None:
    if line.strip():
        refuse(reply, f"{line!r} comes before `LLDP neighbor-information of port`")


def _tell(reply: Reply, found: list[dict[str, str]], port: str, field: re.Match[str]) -> None:
    """One line of a neighbour of this port; its index begins a new one."""
    if field[1].lower() == "lldp neighbor index":
        found.append({"port": port})
    elif not found[-1] or field[1] in found[-1]:
        refuse(reply, f"{field[0]!r} belongs to no neighbour of {port}")
    else:
        found[-1][field[1]] = field[2]


def _neighbour(reply: Reply, entry: dict[str, str]) -> Neighbour:
    if "Port ID" not in entry:
        refuse(reply, f"a neighbour of {entry['port']} has no line `Port ID`")
    return Neighbour(
        port=entry["port"],
        name=entry.get("System name", ""),
        port_id=entry["Port ID"],
        port_description=entry.get("Port description", ""),
    )


def parse_clock(reply: Reply) -> dict[str, float]:
    """`display clock`: `utc_s`, seconds since 1970. Whether summer time counts is said by the
    zone's name in the first line, and must agree with its dates."""
    texts = [line.strip() for line in whole_lines(reply) if line.strip()]
    shown = _CLOCK.match(texts[0]) if texts else None
    if shown is None:
        refuse(reply, "there is no line with time, zone and date")
    zone, summer = _zones(reply, texts[1:])
    ahead = _ahead(zone, 3) if zone is not None else timedelta()
    if zone is not None and zone[2] == "minus":
        ahead = -ahead
    if summer is not None and shown[2] == summer[1]:
        ahead += _ahead(summer, 6)
    elif shown[2] != (zone[1] if zone is not None else "UTC") or _in_summer(shown, summer):
        refuse(reply, f"how far {shown[2]} is from UTC is not said")
    try:
        local = datetime.strptime(f"{shown[1]} {shown[3]}", "%H:%M:%S %m/%d/%Y")
        return {"utc_s": (local.replace(tzinfo=UTC) - ahead).timestamp()}
    except (ValueError, OverflowError):
        refuse(reply, f"{shown[1]} {shown[3]} is no time and date")


def _zones(reply: Reply, texts: list[str]) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """The lines that tell how far local time is from UTC."""
    found: dict[re.Pattern[str], re.Match[str]] = {}
    for text in texts:
        match = _ZONE.match(text) or _SUMMER.match(text)
        if match is None or match.re in found:
            refuse(reply, f"{text!r} tells no zone, or a second one")
        found[match.re] = match
    return found.get(_ZONE), found.get(_SUMMER)


def _ahead(match: re.Match[str], first: int) -> timedelta:
    hours, minutes, seconds = (int(match[first + n]) for n in range(3))
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _in_summer(shown: re.Match[str], summer: re.Match[str] | None) -> bool:
    """Whether the date, to the day, is inside what may also begin late in a year."""
    if summer is None:
        return False
    day, begin, end = shown[3][:5], summer[3], summer[5]
    return begin < day < end if begin < end else day > begin or day < end


class Links(LinkState, LinkErrors, PortTelemetry, Neighbours, OwnClock):
    """Links, what ports count, LLDP neighbours and the clock of one switch."""

    def __init__(self, transport: Transport) -> None:
        self.cli = Cli(transport)

    def link(self, port: str) -> LinkFacts:
        """By `display interface`; Comware does not say there which FEC is in force."""
        _, shown = self._interface(port)
        return LinkFacts(
            up=shown.state == "UP",
            speed_bits_per_s=shown.speed_bits_per_s,
            frame_bytes=shown.frame_bytes,
            mac=shown.mac,
        )

    def link_errors(self, port: str) -> tuple[Reading, ...]:
        """Frames that arrived broken, and those that could not be sent whole."""
        found = self._readings(*self._interface(port), port)
        return tuple(reading for reading in found if reading.counter in _ERRORS)

    def port_counters(self, port: str) -> tuple[Reading, ...]:
        """All that `display interface` counts; None where it counts nothing of the kind, and where
        it is not understood: the other counters of a switch do not hang on its wording."""
        reply = self.cli.show("display", "interface", self.cli.port(port))
        try:
            return self._readings(reply, self._shown(reply, port), port)
        except UnreadableOutput as error:
            return tuple(_reading(reply, port, name, None, error.problem) for name in COUNTED)

    def _readings(self, reply: Reply, shown: Shown, port: str) -> tuple[Reading, ...]:
        counts = {count.counter: count for count in shown.counts}
        absent = "`display interface` has no such line"
        none = [_reading(reply, port, n, None, absent) for n in COUNTED if n not in counts]
        return (*(_reading(reply, port, n, count) for n, count in counts.items()), *none)

    def neighbours(self) -> tuple[Neighbour, ...]:
        """By LLDP, nearest bridge."""
        return parse_lldp_neighbors(self.cli.show(*_NEIGHBOURS))

    def own_clock(self) -> ClockReading:
        """By `display clock`, which shows whole seconds."""
        reply = self.cli.show("display", "clock")
        device_s = parse_clock(reply)["utc_s"]
        return ClockReading(device_s=device_s, lab_s=reply.time_s, resolution_s=1.0)

    def _interface(self, port: str) -> tuple[Reply, Shown]:
        reply = self.cli.show("display", "interface", self.cli.port(port))
        return reply, self._shown(reply, port)

    def _shown(self, reply: Reply, port: str) -> Shown:
        full, shown = self.cli.port(port), parse_interface(reply)
        if [each.interface for each in shown] != [full]:
            wrong_port(reply, full, ", ".join(each.interface for each in shown))
        return shown[0]


def _reading(
    reply: Reply, port: str, name: str, count: Count | None, why: str = "the switch shows no number"
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
