"""`display interface`: state, speed, frame length, address and what each port counts.

Models and releases differ in wording. Lines that count begin with Input or Output, or with a number
below such a line; they are read item by item, and an item that is not known is refused:

    Input (total):  5540021 packets, 1395572601 bytes        counted
    Input (normal): 5540021 packets, - bytes                 the same without pauses and errors
    Input:  0 input errors, 0 runts, 0 giants, 0 throttles
            0 CRC, 0 frame, - overruns, 0 aborts

Other lines describe the port: `words: value`, `words is value` and a few more. Those that nobody
here needs are passed over; a line of another form is refused.
"""

import re
from itertools import chain
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.facts import LinkFacts
from labtests.drivers.comware.session import ComwarePart
from labtests.drivers.comware.values import COMWARE, COUNTER, counted, full_name
from labtests.drivers.displays import (
    ANY,
    CliInterfaces,
    CounterWords,
    Counts,
    PortDisplay,
    Unfit,
    ValueKind,
)
from labtests.drivers.parsing import BLANK

_ITEM = re.compile(rf"({COUNTER}) ([a-zA-Z][a-zA-Z ]*)")
_BITS_PER_S = {"G": 10**9, "M": 10**6}

WORDS = CounterWords(
    neutral={
        "input": {
            "packets": c.RX_PACKETS,
            "bytes": c.RX_BYTES,
            "input errors": c.RX_ERRORS,
            "errors": c.RX_ERRORS,
            "crc": c.RX_CRC_ERRORS,
            "frame": c.RX_FRAME_ERRORS,
            "overruns": c.RX_OVERRUNS,
            "drops": c.NET_RX_DROPPED,
            "ignored": f"{c.DROPPED_FOR}ignored",  # no buffer for what came
            "no buffers": f"{c.DROPPED_FOR}no_buffers",
        },
        "output": {
            "packets": c.TX_PACKETS,
            "bytes": c.TX_BYTES,
            "output errors": c.TX_ERRORS,
            "errors": c.TX_ERRORS,
            "no carrier": c.TX_CARRIER_ERRORS,
            "drops": c.NET_TX_DROPPED,
            "buffer failures": f"{c.DROPPED_FOR}buffer_failures",
        },
    },
    own={
        "input": ("runts", "giants", "throttles", "aborts", "parity errors"),
        "output": (
            *("underruns", "aborts", "deferred", "collisions", "late collisions"),
            *("lost carrier", "lost carriers"),
        ),
    },
    passed=frozenset({"unicasts", "broadcasts", "multicasts", "pauses"}),
)

Items = tuple[tuple[str, int | None], ...]


def _items(text: str) -> Items:
    """`0 CRC, 0 frame`: words and number of each."""
    found = []
    for item in filter(None, (each.strip() for each in text.split(","))):
        match = _ITEM.fullmatch(item)
        if match is None:
            raise Unfit(f"{item!r} is not an interface counter")
        found.append((match[2].strip(), counted(match[1])))
    return tuple(found)


def _shown(
    interface: str, sides: tuple[tuple[str, Items], ...], state: str = "", **first: tuple[Any, ...]
) -> tuple[str, tuple[LinkFacts, Counts]]:
    del first["by_protocol"]
    if not state:
        raise Unfit("has no line `Current state:`")
    counts = WORDS.counts(sides)
    told: dict[str, Any] = {name: next(iter(found), None) for name, found in first.items()}
    facts = LinkFacts(up=state == "UP", **told)
    return full_name(interface) or interface, (facts, counts)


def _side(side: str, items: Items, more: tuple[Items, ...], which: str = "") -> tuple[str, Items]:
    return side.lower(), () if which == "normal" else (*items, *chain.from_iterable(more))


_KINDS = {
    "items": ValueKind(".*", _items),
    "more": ValueKind(rf"{COUNTER} [a-zA-Z].*", _items),
    "mac": ValueKind(
        "(?i:(?:[0-9a-f]{4}-){2}[0-9a-f]{4})", lambda text: text.replace("-", "").lower()
    ),
    "speed": ValueKind("[0-9]+[GM]", lambda text: int(text[:-1]) * _BITS_PER_S[text[-1]]),
}
_NOTATION = COMWARE.also(**_KINDS)
maybe, many, record = _NOTATION.maybe, _NOTATION.many, _NOTATION.record
_INDENTED = range(1, 1000)
_SIDE = "(?i:input|output)"
_RATE = (
    r"(Last [0-9]+ seconds? |Peak )(value of )?(input|output)\b.*"
    "|<:count> packets (in|out)put, .*"  # what an old layer 3 port sums up
)
_DESCRIBES = (
    r"[A-Z][^:]*\:.*",
    r"[A-Z][\w -]*\ (is|are)\ .*",
    r"Unknown-speed mode\s*, \w+-duplex mode",
    r"[\w-]+: \w+",
    "(Allow|Forbid) jumbo frames? to pass",
    "No connector|Unknown media type",
)
_BELOW = many("<more:more>", into="more", indent=_INDENTED)
_PORT = record(
    r"<interface:[A-Z][\w-]*[0-9](?:/[0-9]+)*(?::[0-9]+)?>( current state: <state:text>)?",
    maybe("Current state: <state:text>"),
    many(r"<speed:speed>(bps-speed mode\s*, \w+-duplex mode|b/s, .*)", into="speed_bits_per_s"),
    many("(?i:(The )?maximum frame length( is |: )<length:number>)", into="frame_bytes"),
    many("[A-Z].*(?i:hardware address): <mac:mac>", into="mac"),
    many("[0-9][0-9, ()a-z-]*", indent=_INDENTED),  # more of a list of VLANs
    many(rf"(?!{_SIDE}\s*[:(]|IPv[46] traffic|\S+\ current state\:)({'|'.join(_DESCRIBES)})"),
    record(
        rf"<side:{_SIDE}>( \(<which:total|normal>\))?: <items:items>",
        _BELOW,
        make=_side,
        into="sides",
        times=ANY,
        stage=1,
    ),
    record(
        "IPv[46] traffic statistics:",  # what follows is a part of what was said before
        many(rf"{_SIDE}: <more:items>", into="more"),
        _BELOW,
        many(_RATE),
        make=dict,
        into="by_protocol",
        times=ANY,
        stage=1,
    ),
    many(_RATE, stage=1),
    make=_shown,
    order="unique",
)
INTERFACE = PortDisplay(command="display interface <port>", shows=_PORT, skip=BLANK)


class Interfaces(ComwarePart, CliInterfaces):
    """Links, and what ports count. Comware does not say there which FEC is in force."""

    display = INTERFACE
    words = WORDS
