"""Ports: state, speed, MTU and address (`show interfaces ethernet 1/13`), and what they count
(`... counters`). Older releases print a list with the name in `header`.
"""

import re
from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.capabilities import settings as s
from labtests.capabilities.device import FrameLengths
from labtests.capabilities.facts import LinkErrors, LinkFacts, LinkState, PortTelemetry
from labtests.capabilities.records import Reading
from labtests.capabilities.settings import Commands
from labtests.core.errors import UnreadableOutput
from labtests.core.output import excerpt
from labtests.drivers.displays import CounterWords, Counts, Unfit
from labtests.drivers.displays.trees import Node, parse_any
from labtests.drivers.onyx.session import OnyxPart, OnyxSetting, Told, rows_of, show
from labtests.drivers.parsing import READ_AGAIN
from labtests.drivers.readings import Answered, unit_of
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

HEADER_BYTES = 22
"""A frame beside its packet: header, VLAN tag and check sequence (recorded)."""
MTUS = range(1500, 9217)
_MTU = r"([0-9]{1,5}) bytes ?\(Maximum packet size ([0-9]{1,5}) bytes\)"
_SPEED = "([0-9]{1,4}) ?G(?:bps)?(?:x[1248])?|Unknown"
_PAUSES = "receive (on|off) send (on|off)"
_MAC = re.compile("(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}")

_OF_BOTH = ("packets", "unicast packets", "multicast packets", "broadcast packets", "bytes")
WORDS = CounterWords(
    neutral={
        "Rx": {
            "packets": c.RX_PACKETS,
            "bytes": c.RX_BYTES,
            "error packets": c.RX_ERRORS,
            "fcs errors": c.RX_CRC_ERRORS,
            "discard packets": c.NET_RX_DROPPED,
        },
        "Tx": {"packets": c.TX_PACKETS, "bytes": c.TX_BYTES, "error packets": c.TX_ERRORS},
    },
    own={
        "Rx": (
            *("undersize packets", "oversize packets", "symbol errors", "pause packets"),
            *("unknown control opcode", "discard packets by storm control"),
        ),
        "Tx": ("discard packets", "hoq discard packets", "pause packets"),
    },
    passed=frozenset({*_OF_BOTH[1:4], "packets jumbo"}),
)
"""What is discarded on the way out is what queues count: no loss of its own."""
_SIZES = re.compile(r"packets of [0-9]+(-[0-9]+)? bytes")
_ERRORS = frozenset({c.RX_ERRORS, c.RX_CRC_ERRORS, c.TX_ERRORS})


_PORT = re.compile("Eth[0-9/]+")


def _ports(reply: Reply) -> dict[str, Node]:
    """The object of each port. Other interfaces have other fields, and are not read."""
    found: dict[str, Node] = {}
    for row in rows_of(parse_any(reply)):
        of_row = {row.below("header").text(): row} if row.has("header") else dict(row.named())
        if twice := of_row.keys() & found.keys():
            row.refuse(f"is of {excerpt(min(twice), 80)!r}, which comes twice")
        found |= of_row
    return {name: node for name, node in found.items() if _PORT.fullmatch(name)}


def parse_interface(reply: Reply) -> dict[str, tuple[LinkFacts, bool | None]]:
    """The link of each port, and whether it pauses all priorities together (802.3x); None where it
    does not say so (older releases)."""
    return {port: _link(Told.by(node)) for port, node in _ports(reply).items()}


def _link(told: Told) -> tuple[LinkFacts, bool | None]:
    up = told["Operational state"].like("(up|down)( .*)?", "Up or Down")[1].lower() == "up"
    if up and told.text("Admin state").lower() == "disabled":
        told["Admin state"].refuse("is disabled, and the port is up", READ_AGAIN)
    speed = told["Actual speed"].like(_SPEED, "a speed")[1]
    mtu, longest = map(int, told["MTU"].like(_MTU, "an MTU").groups())
    if mtu + HEADER_BYTES != longest:
        told["MTU"].refuse(f"is not {HEADER_BYTES} bytes less than the maximum packet size")
    mac = told.text("Mac address")
    facts = LinkFacts(
        up=up,
        speed_bits_per_s=int(speed or 0) * 10**9 or None,
        frame_bytes=longest,
        mac=mac.replace(":", "").lower() if _MAC.fullmatch(mac) else None,
    )
    return facts, _pauses(told)


def _pauses(told: Told) -> bool | None:
    if "Flow-control" not in told.fields:
        return None
    sides = told["Flow-control"].like(_PAUSES, "on or off each way").groups()
    return "on" in map(str.lower, sides)


def parse_counters(reply: Reply) -> dict[str, Counts]:
    """What each port counts."""
    return {port: _counts(Told.by(node)) for port, node in _ports(reply).items()}


def _counts(told: Told) -> Counts:
    sides = [(side, tuple(_items(Told.by(told[side])))) for side in ("Rx", "Tx")]
    try:
        return WORDS.counts(sides)
    except Unfit as problem:
        told.node.refuse(str(problem), problem.remedy)


def _items(side: Told) -> Iterator[tuple[str, int | None]]:
    for words, node in side.fields.items():
        if not _SIZES.fullmatch(words.lower()):
            yield words, None if node.shown == "N/A" else node.number()


class OnyxInterfaces(OnyxPart, LinkState, LinkErrors, PortTelemetry):
    """Links, and what ports count."""

    def link(self, port: str) -> Asking[LinkFacts]:
        """See LinkState."""
        return (yield from shown_link(self, port))[0]

    def link_errors(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Frames that arrived broken, and those that could not be sent whole."""
        reply = yield from show("interfaces", *self.at(port), "counters")
        self.only(reply, port, parse_counters(reply))
        return tuple(each for each in self._readings(reply, port) if each.counter in _ERRORS)

    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """All that is counted; None where it is not there, or not understood."""
        reply = yield from show("interfaces", *self.at(port), "counters")
        return tuple(self._readings(reply, port))

    def _readings(self, reply: Reply, port: str) -> Iterator[Reading]:
        counts: Counts = ()
        absent = f"`{reply.command}` has no such line"
        try:
            counts = self.only(reply, port, parse_counters(reply))
        except UnreadableOutput as error:
            absent = error.problem
        shown = {each.counter: each for each in counts}
        at = Answered(reply, port)
        for name in (*shown, *(each for each in WORDS.expected if each not in shown)):
            words, value = (shown[name].words, shown[name].value) if name in shown else (name, None)
            missing = "the switch shows no number" if name in shown else absent
            yield at.reading((name, unit_of(name)), value, f"{reply.command}: {words}", missing)


def shown_link(part: OnyxPart, port: str) -> Asking[tuple[LinkFacts, bool | None]]:
    """The link, and whether it pauses all priorities together, if it says so."""
    reply = yield from show("interfaces", *part.at(port))
    return part.only(reply, port, parse_interface(reply))


class OnyxFrameLimit(OnyxSetting[int | None], FrameLengths):
    """`mtu` of a port, as a length of frames."""

    kind = s.FRAME_LIMIT

    def read(self, port: str) -> Asking[int | None]:
        """As the port shows it."""
        facts, _ = yield from shown_link(self, port)
        return facts.frame_bytes

    def passes(self, limit: int | None, frame_bytes: int) -> bool:
        """See FrameLengths."""
        return limit is not None and frame_bytes <= limit

    def commands(
        self, port: str, earlier: int | None, wanted: int | None, around: None = None
    ) -> Commands:
        """One line."""
        if earlier == wanted:
            return ()
        mtu = (wanted or 0) - HEADER_BYTES
        if mtu not in MTUS:
            remedy = f"give {MTUS[0] + HEADER_BYTES} to {MTUS[-1] + HEADER_BYTES}"
            problem = f"{wanted} is not a valid frame length there"
            raise self.reject(f"interface {port} mtu", problem, remedy)
        return (self.of_port(port, "mtu", mtu, "force"),)
