"""Links of a Comware switch: `display interface`, `display lldp neighbor-information verbose`, and
its clock."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from labtests.drivers.comware.names import full_name, printed_port, wrong_port
from labtests.drivers.comware.session import Cli
from labtests.facts import (
    ClockReading,
    LinkErrors,
    LinkFacts,
    LinkState,
    Neighbour,
    Neighbours,
    OwnClock,
)
from labtests.reading import lines, refuse
from labtests.records import Reading
from labtests.transport import Reply, Transport

_NEIGHBOURS = "display lldp neighbor-information verbose"

_NAME = re.compile(r"^[A-Z][\w-]*[0-9](?:/[0-9]+)*$")
_STATE = re.compile(r"^Current state: (.+?)\s*$")
_SPEED = re.compile(r"^([0-9]+)([GM])bps-speed mode, ")
_FRAME = re.compile(r"^(?:Maximum frame length:|The maximum frame length is) ([0-9]+)\s*$")
_MAC = re.compile(r"hardware address: ((?:[0-9a-f]{4}-){2}[0-9a-f]{4})\s*$", re.IGNORECASE)
_INPUT_ERRORS = re.compile(r"^\s*Input:\s+([0-9]+) input errors,")
_CRC = re.compile(r"^\s+([0-9]+) CRC,")
_OUTPUT_ERRORS = re.compile(r"^\s*Output: ([0-9]+) output errors,")
_BITS_PER_S = {"G": 10**9, "M": 10**6}

_OF_PORT = re.compile(r"^(LLDP|CDP) neighbor-information of port [0-9]+\[(\S+?):?\]:?\s*$")
_AGENT = re.compile(r"^LLDP agent (\S+?)[:：]\s*$")
_FIELD = re.compile(
    r"^ (LLDP [Nn]eighbor index|Port ID|Port description|System name)\s*: (.*?)\s*$"
)

_CLOCK = re.compile(
    r"^([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)? (\S+) [A-Z][a-z]{2} ([0-9]{2}/[0-9]{2}/[0-9]{4})$"
)
_ZONE = re.compile(r"^Time Zone : (\S+) (add|minus) ([0-9]{2}):([0-9]{2}):([0-9]{2})$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What `display interface` says of one interface; None for what it has no line for."""

    interface: str
    state: str
    speed_bits_per_s: int | None
    frame_bytes: int | None
    mac: str | None
    input_errors: int | None
    crc_errors: int | None
    output_errors: int | None


def parse_interface(reply: Reply) -> tuple[Shown, ...]:
    """`display interface`: state, speed, frame length, address and error counts of each. The rest
    of this output is not read: models and kinds of interface differ in it."""
    found = [_shown(reply, block) for block in _blocks(reply)]
    if not found:
        refuse(reply, "there is no interface in it")
    return tuple(found)


def _blocks(reply: Reply) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines(reply):
        if _NAME.match(line):
            if block:
                yield block
            block = [line]
        elif block:
            block.append(line)
        elif line.strip():
            refuse(reply, f"{line!r} comes before the name of an interface")
    if block:
        yield block


def _shown(reply: Reply, block: list[str]) -> Shown:
    states = sum(_STATE.match(line) is not None for line in block)
    state = _first(block, _STATE)
    if state is None or states > 1:
        refuse(reply, f"{block[0]} has {states or 'no'} lines `Current state:`")
    speed, mac = _first(block, _SPEED), _first(block, _MAC)
    return Shown(
        interface=full_name(block[0]) or block[0],
        state=state[1],
        speed_bits_per_s=None if speed is None else int(speed[1]) * _BITS_PER_S[speed[2]],
        frame_bytes=_number(block, _FRAME),
        mac=None if mac is None else mac[1].replace("-", "").lower(),
        input_errors=_number(block, _INPUT_ERRORS),
        crc_errors=_number(block, _CRC),
        output_errors=_number(block, _OUTPUT_ERRORS),
    )


def _first(block: list[str], rule: re.Pattern[str]) -> re.Match[str] | None:
    return next((match for line in block if (match := rule.search(line))), None)


def _number(block: list[str], rule: re.Pattern[str]) -> int | None:
    match = _first(block, rule)
    return None if match is None else int(match[1])


def parse_lldp_neighbors(reply: Reply) -> tuple[Neighbour, ...]:
    """`display lldp neighbor-information verbose`: nearest bridges only, and no CDP. What else a
    neighbour tells (DCBX, VLANs, addresses) is not read."""
    found: list[dict[str, str]] = []
    port = ""
    for line in lines(reply):
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
    """`display clock`: `utc_s`, seconds since 1970."""
    texts = [line.strip() for line in lines(reply) if line.strip()]
    shown = _CLOCK.match(texts[0]) if texts else None
    if shown is None:
        refuse(reply, "there is no line with time, zone and date")
    local = datetime.strptime(f"{shown[1]} {shown[3]}", "%H:%M:%S %m/%d/%Y").replace(tzinfo=UTC)
    zone = _ZONE.match(texts[1]) if len(texts) == 2 else None
    if len(texts) > 2 or (zone is None and (len(texts) > 1 or shown[2] != "UTC")):
        refuse(reply, f"how far {shown[2]} is from UTC is not said")
    if zone is not None:
        hours, minutes, seconds = (int(zone[n]) for n in (3, 4, 5))
        ahead = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        local -= ahead if zone[2] == "add" else -ahead
    return {"utc_s": local.timestamp()}


class Links(LinkState, LinkErrors, Neighbours, OwnClock):
    """Links, LLDP neighbours and the clock of one switch."""

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
        reply, shown = self._interface(port)
        counted = {
            "crc_errors": (shown.crc_errors, "CRC"),
            "input_errors": (shown.input_errors, "input errors"),
            "output_errors": (shown.output_errors, "output errors"),
        }
        return tuple(
            Reading(
                device=reply.device,
                port=port,
                scope="port",
                index=None,
                counter=name,
                unit="frames",
                value=value,
                time_s=reply.time_s,
                source=f"display interface: {words}",
                missing="" if value is not None else "`display interface` has no such line",
            )
            for name, (value, words) in counted.items()
        )

    def neighbours(self) -> tuple[Neighbour, ...]:
        """By LLDP, nearest bridge."""
        return parse_lldp_neighbors(self.cli.show(_NEIGHBOURS))

    def own_clock(self) -> ClockReading:
        """By `display clock`, which shows whole seconds."""
        reply = self.cli.show("display clock")
        device_s = parse_clock(reply)["utc_s"]
        return ClockReading(device_s=device_s, lab_s=reply.time_s, resolution_s=1.0)

    def _interface(self, port: str) -> tuple[Reply, Shown]:
        full = self.cli.port(port)
        reply = self.cli.show(f"display interface {full}")
        shown = parse_interface(reply)
        if [each.interface for each in shown] != [full]:
            wrong_port(reply, full, ", ".join(each.interface for each in shown))
        return reply, shown[0]
