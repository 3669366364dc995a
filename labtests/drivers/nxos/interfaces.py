"""`show interface Ethernet1/1`: state, speed, MTU, FEC, address and what the port counts.

Lines that count stand below RX and TX; they are read item by item, and an item that is not known is
refused. Of the lines above them those that nobody here needs are passed over; a line of another
form is refused. Other interfaces than Ethernet ports are not read.
"""

import re
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.facts import LinkErrors, LinkFacts, LinkState, PortTelemetry
from labtests.capabilities.records import Reading
from labtests.core.errors import UnreadableOutput
from labtests.drivers.displays import Unfit, ValueKind, read
from labtests.drivers.nxos.names import wrong_port
from labtests.drivers.nxos.ports import HEADER_BYTES
from labtests.drivers.nxos.session import NXOS, NxosPart, show
from labtests.drivers.parsing import BLANK
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_NEUTRAL = {
    "RX": {
        "input packets": c.RX_PACKETS,
        "bytes": c.RX_BYTES,
        "input error": c.RX_ERRORS,
        "CRC": c.RX_CRC_ERRORS,
        "CRC/FCS": c.RX_CRC_ERRORS,
        "overrun": c.RX_OVERRUNS,
        "input discard": c.NET_RX_DROPPED,
        "bad etype drop": f"{c.DROPPED_FOR}bad_etype",
        "bad proto drop": f"{c.DROPPED_FOR}bad_proto",
        "if down drop": f"{c.DROPPED_FOR}if_down",
        "storm suppression packets": f"{c.DROPPED_FOR}storm_suppression_in",
    },
    "TX": {
        "output packets": c.TX_PACKETS,
        "bytes": c.TX_BYTES,
        "output error": c.TX_ERRORS,
        "no carrier": c.TX_CARRIER_ERRORS,
        "output discard": c.NET_TX_DROPPED,
        "storm suppression packets": f"{c.DROPPED_FOR}storm_suppression_out",
    },
}
_OWN = {
    "RX": (
        *("runts", "giants", "no buffer", "short frame", "underrun", "ignored", "watchdog"),
        *("input with dribble", "storm suppression bytes", "Rx pause", "Stomped CRC"),
    ),
    "TX": ("collision", "deferred", "late collision", "lost carrier", "babble", "Tx pause"),
}
_NOT_READ = frozenset(
    {"unicast packets", "multicast packets", "broadcast packets", "jumbo packets"}
)
_EXPECTED = tuple(
    dict.fromkeys(
        name
        for side in _NEUTRAL.values()
        for name in side.values()
        if not name.startswith(c.DROPPED_FOR)
    )
)
_ERRORS = (c.RX_ERRORS, c.RX_CRC_ERRORS, c.TX_ERRORS)
_BITS = {"Mb/s": 10**6, "Gb/s": 10**9}
_ITEM = r"[0-9]{1,40} [A-Za-z][A-Za-z/]*(?: [A-Za-z]+)*"
Counts = tuple[tuple[str, str, int], ...]


def _items(text: str) -> tuple[tuple[str, int], ...]:
    parts = re.findall(r"([0-9]{1,40}) +([A-Za-z][A-Za-z/]*(?: [A-Za-z]+)*)", text)
    return tuple((words, int(number)) for number, words in parts)


def _side(side: str, items: tuple[tuple[tuple[str, int], ...], ...]) -> Counts:
    found = []
    for words, number in (item for line in items for item in line):
        name = _NEUTRAL[side].get(words)
        if name is None and words in _OWN[side]:
            name = f"{side.lower()}_{words.lower().replace(' ', '_')}"
        if name is None and words not in _NOT_READ:
            raise Unfit(f"counts {words!r} of {side}, which is unrecognised")
        if name is not None:
            found.append((name, f"{side}: {words}", number))
    return tuple(found)


def _shown(
    port: str, state: str, sides: tuple[Counts, ...], **told: Any
) -> tuple[str, tuple[LinkFacts, Counts]]:
    counts = tuple(each for side in sides for each in side)
    if len({name for name, _, _ in counts}) != len(counts):
        raise Unfit("counts the same twice")
    speed = told.get("speed")
    facts = LinkFacts(
        up=state == "up",
        speed_bits_per_s=None if speed is None else speed * _BITS[told["unit"]],
        frame_bytes=told["mtu"] + HEADER_BYTES if "mtu" in told else None,
        fec="off" if told.get("fec") == "off" else None,  # how the others are called is not known
        mac=told["mac"].replace(".", "") if "mac" in told else None,
    )
    return port, (facts, counts)


_NOTATION = NXOS.also(items=ValueKind(rf"{_ITEM}(?: +{_ITEM})*", _items))
_PASSED = (
    r"admin state is \w+,?.*|Dedicated Interface|Belongs to \S+|vPC Status\:.*|Description\:.*",
    r"Internet Address is .*|reliability .*|Encapsulation .*|Port mode is .*|Beacon is .*",
    r"Auto-Negotiation is .*|Input flow-control is .*|Auto-mdix is .*|Rate mode is .*",
    r"Switchport monitor is .*|EtherType is .*|EEE .*|Last link flapped .*|Last clearing of .*",
    r"[0-9]+ interface resets|Load-Interval .*|[0-9]+ (seconds?|minutes?) (in|out)put rate .*",
    r"input rate .*|auto-duplex,.*|media type is .*",
)
_SIDE = _NOTATION.record(
    "<side:RX|TX>",
    _NOTATION.many("<items:items>", into="items"),
    make=_side,
    into="sides",
    times=(0, 2),
    order="unique",
)
_PORT = _NOTATION.record(
    r"<port:Ethernet[0-9/]+> is <state:up|down>( \(.*\))?",
    _NOTATION.maybe(r"Hardware: [^\s,][^,]*, address: <mac:(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}> .*"),
    _NOTATION.maybe("MTU <mtu:number> bytes, .*"),
    _NOTATION.maybe("(full|half)-duplex, (<speed:number> <unit:Mb/s|Gb/s>|auto-speed)(, .*)?"),
    _NOTATION.maybe(r"admin fec state is [^\s,][^,]*, oper fec state is <fec>"),
    _NOTATION.many("|".join(_PASSED)),
    _SIDE,
    make=_shown,
    order="unique",
)


def parse_interface(reply: Reply) -> dict[str, tuple[LinkFacts, Counts]]:
    """By port."""
    return dict(read(reply, _PORT, skip=BLANK))


class NxosInterfaces(NxosPart, LinkState, LinkErrors, PortTelemetry):
    """Links, and what ports count."""

    def link(self, port: str) -> Asking[LinkFacts]:
        """See LinkState."""
        _, (facts, _) = yield from self._shown(port)
        return facts

    def link_errors(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Frames that arrived broken, and those that could not be sent whole."""
        reply, (_, counts) = yield from self._shown(port)
        found = _readings(reply, port, counts)
        return tuple(reading for reading in found if reading.counter in _ERRORS)

    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """All that is counted; None where it counts nothing of the kind, and where it is not
        understood: the other counters of a switch do not hang on its wording."""
        reply = yield from show("interface", self.port(port))
        try:
            _, counts = self._of(reply, port)
        except UnreadableOutput as error:
            return _readings(reply, port, (), error.problem)
        return _readings(reply, port, counts)

    def _shown(self, port: str) -> Asking[tuple[Reply, tuple[LinkFacts, Counts]]]:
        reply = yield from show("interface", self.port(port))
        return reply, self._of(reply, port)

    def _of(self, reply: Reply, port: str) -> tuple[LinkFacts, Counts]:
        found = parse_interface(reply)
        if set(found) != {self.port(port)}:
            wrong_port(reply, self.port(port), ", ".join(found) or "nothing")
        return found[self.port(port)]


def _readings(
    reply: Reply, port: str, counts: Counts, absent: str = "`show interface` has no such line"
) -> tuple[Reading, ...]:
    shown = {name for name, _, _ in counts}
    none = tuple((name, name, None) for name in _EXPECTED if name not in shown)
    return tuple(
        Answered(reply, port).reading(
            (name, "bytes" if name.endswith("_bytes") else "packets"),
            value,
            f"show interface: {words}",
            absent,
        )
        for name, words, value in (*counts, *none)
    )
