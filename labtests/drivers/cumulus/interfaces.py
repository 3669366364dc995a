"""Ports: state, speed, MTU, FEC (`nv show interface PORT link`), and what the kernel counts.

A longest frame is the MTU and 18 bytes, header and check sequence.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities.facts import LinkFacts, LinkState
from labtests.capabilities.readings import Reading
from labtests.core.output import excerpt
from labtests.drivers.cumulus.profiles import Applied, NvueSetting, nv
from labtests.drivers.cumulus.session import show
from labtests.drivers.displays.trees import Node, parse
from labtests.drivers.frames import FrameLimit
from labtests.drivers.parsing import READ_AGAIN
from labtests.drivers.parts import PlatformPart
from labtests.drivers.readings import Counted, ErrorsAmongCounters
from labtests.transport.asking import Asking
from labtests.transport.commands import Shell
from labtests.transport.protocol import Reply

HEADER_BYTES = 18
DEFAULT_MTU = 9216
_BITS = {"M": 10**6, "G": 10**9}
_SPEED = re.compile(f"[1-9][0-9]{{0,5}}[{''.join(_BITS)}]")
_ANY_MTU = range(68, 2**16 + 1)  # the least of IPv4, and that of the loopback
_OPERATIONAL = ("up", "down", "testing", "unknown", "dormant", "notpresent", "lowerlayerdown")
"""RFC 2863, 3.1.14."""
_FEC = {"rs": "rs", "baser": "baser", "off": "off"}
_COUNTERS = {
    "in-pkts": c.RX_PACKETS,
    "in-errors": c.RX_ERRORS,
    "in-drops": c.NET_RX_DROPPED,
    "out-pkts": c.TX_PACKETS,
    "out-errors": c.TX_ERRORS,
    "out-drops": "tx_discards",
    "carrier-transitions": c.CARRIER_CHANGES,
}
"""What is discarded on the way out may be what queues count: no loss of its own."""


def parse_link(reply: Reply) -> tuple[LinkFacts, dict[str, int | None]]:
    """The link, and what is counted there."""
    link = parse(reply)
    if not link.has("mtu"):
        link.refuse("lacks the field 'mtu'", READ_AGAIN)
    up = _is_up(link)
    mtu = link.below("mtu").number()
    if mtu not in _ANY_MTU:
        link.refuse(f"has the MTU {mtu}, and no port has")
    return LinkFacts(
        up=up,
        speed_bits_per_s=_speed(link),
        frame_bytes=mtu + HEADER_BYTES,
        fec=_FEC.get(link.below("fec").word()) if up and link.has("fec") else None,
    ), {word: link.below("stats").count(word) for word in _COUNTERS}


def _is_up(link: Node) -> bool:
    """`oper-status: up`; older releases have `state: {up: {}}`. A port that is shut down is not
    up."""
    if not (link.has("oper-status") or link.has("state")):
        link.refuse("lacks the fields 'oper-status' and 'state'", READ_AGAIN)
    states = set(link.below("state").fields()) if link.has("state") else set()
    if len(states) > 1 or not states <= {"up", "down"}:
        link.refuse(f"has the state {excerpt(' and '.join(sorted(states)), 80)!r}")
    if not link.has("oper-status"):
        return states == {"up"}
    told = link.below("oper-status").word().lower()
    if told not in _OPERATIONAL or (told == "up" and states == {"down"}):
        shut = f", and the state {min(states)!r}" if states else ""
        link.refuse(f"has the oper-status {excerpt(told, 80)!r}{shut}")
    return told == "up"


def _speed(link: Node) -> int | None:
    """`25G`. None for a port without a cable, which has none, or `auto`."""
    text = link.below("speed").word() if link.has("speed") else "auto"
    if text in ("auto", "unknown"):
        return None
    if _SPEED.fullmatch(text) is None:
        link.refuse(f"has the speed {excerpt(text, 80)!r}")
    return int(text[:-1]) * _BITS[text[-1]]


class CumulusInterfaces(PlatformPart, LinkState, ErrorsAmongCounters):
    """Links, and what ports count."""

    def link(self, port: str) -> Asking[LinkFacts]:
        """See LinkState."""
        return parse_link((yield from show("interface", port, "link")))[0]

    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """All that is counted."""
        reply = yield from show("interface", port, "link")
        counted = Counted(
            reply=reply,
            port=port,
            counts={"stats": parse_link(reply)[1]},
            source=reply.command,
            missing="this release does not show it under `link stats`",
        )
        return tuple(counted.of("stats", word, name) for word, name in _COUNTERS.items())


class CumulusFrameLimit(NvueSetting[int | None], FrameLimit):
    """`link mtu` of a port."""

    header_bytes, mtus = HEADER_BYTES, range(552, DEFAULT_MTU + 1)
    feature = "roce"  # of which it needs nothing

    def value(self, applied: Applied, port: str) -> int | None:
        """As applied."""
        return None if applied.mtu is None else applied.mtu + HEADER_BYTES

    def _made(self, applied: Applied, port: str, wanted: int | None) -> Applied:
        return replace(applied, mtu=self.mtu(f"interface {port} link mtu", wanted))

    def _lines(self, port: str, before: Applied, after: Applied) -> Iterator[Shell]:
        """The default is unset."""
        at = ("interface", port, "link", "mtu")
        if before.mtu != after.mtu and after.mtu is not None:
            plain = after.mtu == DEFAULT_MTU
            yield nv("unset", *at) if plain else nv("set", *at, after.mtu)
