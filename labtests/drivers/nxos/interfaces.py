"""`show interface Ethernet1/1`: state, speed, MTU, FEC, address and what the port counts.

Lines that count stand below RX and TX; they are read item by item, and an item that is not known is
refused. Of the lines above them those that nobody here needs are passed over; a line of another
form is refused. Other interfaces than Ethernet ports are not read.
"""

import re
from itertools import chain
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.facts import LinkFacts
from labtests.drivers.displays import CliInterfaces, CounterWords, Counts, PortDisplay, ValueKind
from labtests.drivers.nxos.ports import HEADER_BYTES
from labtests.drivers.nxos.session import NXOS, NxosPart
from labtests.drivers.parsing import BLANK

WORDS = CounterWords(
    neutral={
        "RX": {
            "input packets": c.RX_PACKETS,
            "bytes": c.RX_BYTES,
            "input error": c.RX_ERRORS,
            "crc": c.RX_CRC_ERRORS,
            "crc/fcs": c.RX_CRC_ERRORS,
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
    },
    own={
        "RX": (
            *("runts", "giants", "no buffer", "short frame", "underrun", "ignored", "watchdog"),
            *("input with dribble", "storm suppression bytes", "rx pause", "stomped crc"),
        ),
        "TX": ("collision", "deferred", "late collision", "lost carrier", "babble", "tx pause"),
    },
    passed=frozenset(f"{each} packets" for each in ("unicast", "multicast", "broadcast", "jumbo")),
)
_ITEM = r"[0-9]{1,40} [A-Za-z][A-Za-z/]*(?: [A-Za-z]+)*"
Items = tuple[tuple[str, int], ...]


def _items(text: str) -> Items:
    parts = re.findall(r"([0-9]{1,40}) +([A-Za-z][A-Za-z/]*(?: [A-Za-z]+)*)", text)
    return tuple((words, int(number)) for number, words in parts)


def _shown(
    port: str, state: str, sides: tuple[tuple[str, Items], ...], **told: Any
) -> tuple[str, tuple[LinkFacts, Counts]]:
    return port, (LinkFacts(up=state == "up", **told), WORDS.counts(sides))


_NOTATION = NXOS.also(
    items=ValueKind(rf"{_ITEM}(?: +{_ITEM})*", _items),
    mac=ValueKind(r"(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}", lambda text: text.replace(".", "")),
    mtu=ValueKind("[0-9]{1,40}", lambda text: int(text) + HEADER_BYTES),
    speed=ValueKind(
        "[0-9]{1,40} +[MG]b/s",
        lambda text: int(text.split()[0]) * {"M": 10**6, "G": 10**9}[text[-4]],
    ),
    # how the others are called is not known
    fec=ValueKind(r"\S+", lambda text: "off" if text == "off" else None),
)
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
    make=lambda side, items: (side, tuple(chain.from_iterable(items))),
    into="sides",
    times=(0, 2),
    order="unique",
)
_PORT = _NOTATION.record(
    r"<port:Ethernet[0-9/]+> is <state:up|down>( \(.*\))?",
    _NOTATION.maybe(r"Hardware: [^\s,][^,]*, address: <mac:mac> .*"),
    _NOTATION.maybe("MTU <frame_bytes:mtu> bytes, .*"),
    _NOTATION.maybe("(full|half)-duplex, (<speed_bits_per_s:speed>|auto-speed)(, .*)?"),
    _NOTATION.maybe(r"admin fec state is [^\s,][^,]*, oper fec state is <fec:fec>"),
    _NOTATION.many("|".join(_PASSED)),
    _SIDE,
    make=_shown,
    order="unique",
)


INTERFACE = PortDisplay(command="show interface <port>", shows=_PORT, skip=BLANK)


class NxosInterfaces(NxosPart, CliInterfaces):
    """Links, and what ports count."""

    display = INTERFACE
    words = WORDS
