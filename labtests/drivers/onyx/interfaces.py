"""Ports: state, speed, MTU and address (`show interfaces ethernet 1/13`), and what they count
(`... counters`). Older releases print a list with the name in `header`.
"""

import re
from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.capabilities.facts import LinkFacts
from labtests.capabilities.settings import Commands
from labtests.core.output import excerpt
from labtests.drivers.displays import CliInterfaces, CounterWords, Counts, PortDisplay, Unfit
from labtests.drivers.displays.trees import Node, parse_any
from labtests.drivers.frames import FrameLimit
from labtests.drivers.onyx.session import OnyxPart, OnyxSetting, Told, rows_of
from labtests.drivers.parsing import READ_AGAIN, mac_digits
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

HEADER_BYTES = 22
"""A frame beside its packet: header, VLAN tag and check sequence (recorded)."""
_MTU = r"([0-9]{1,5}) bytes ?\(Maximum packet size ([0-9]{1,5}) bytes\)"
_SPEED = "([0-9]{1,4}) ?G(?:bps)?(?:x[1248])?|Unknown"
_PAUSES = "receive (on|off) send (on|off)"

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
        mac=mac_digits(mac),
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


INTERFACE = PortDisplay(command="show interfaces <port>", shows=parse_interface)


class OnyxInterfaces(OnyxPart, CliInterfaces):
    """Links, and what ports count."""

    display = INTERFACE
    counters = PortDisplay(command="show interfaces <port> counters", shows=parse_counters)
    words = WORDS


class OnyxFrameLimit(OnyxSetting[int | None], FrameLimit):
    """`mtu` of a port."""

    header_bytes, mtus = HEADER_BYTES, range(1500, 9217)

    def read(self, port: str) -> Asking[int | None]:
        """As the port shows it."""
        _, (facts, _) = yield from self.shown(INTERFACE, port)
        return facts.frame_bytes

    def commands(
        self, port: str, earlier: int | None, wanted: int | None, around: None = None
    ) -> Commands:
        """One line."""
        if earlier == wanted:
            return ()
        mtu = self.mtu(f"interface {port} mtu", wanted)
        return (self.of_port(port, "mtu", mtu, "force"),)
