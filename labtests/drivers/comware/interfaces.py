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
from collections.abc import Iterator
from itertools import chain
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.facts import LinkErrors, LinkFacts, LinkState, PortTelemetry
from labtests.capabilities.records import Reading
from labtests.core.errors import UnreadableOutput
from labtests.drivers.comware.names import full_name
from labtests.drivers.comware.session import ComwarePart, PortDisplay
from labtests.drivers.comware.values import COMWARE, COUNTER, Count, counted
from labtests.drivers.displays import ANY, Unfit, ValueKind
from labtests.drivers.parsing import BLANK
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_ITEM = re.compile(rf"({COUNTER}) ([a-zA-Z][a-zA-Z ]*)")
_BITS_PER_S = {"G": 10**9, "M": 10**6}

# What Comware calls it -> name here, by side. What has no neutral name keeps Comware's word.
_NEUTRAL = {
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
}
_OWN = {
    "input": ("runts", "giants", "throttles", "aborts", "parity errors"),
    "output": (
        *("underruns", "aborts", "deferred", "collisions", "late collisions"),
        *("lost carrier", "lost carriers"),
    ),
}
_NOT_READ = frozenset({"unicasts", "broadcasts", "multicasts", "pauses"})
_EXPECTED = tuple(
    name
    for name in dict.fromkeys(chain.from_iterable(names.values() for names in _NEUTRAL.values()))
    if not name.startswith(c.DROPPED_FOR)
)

Items = tuple[tuple[str, int | None], ...]


def _items(text: str) -> Items:
    """`0 CRC, 0 frame`: words and number of each."""
    found = []
    for item in filter(None, (each.strip() for each in text.split(","))):
        match = _ITEM.fullmatch(item)
        if match is None:
            raise Unfit(f"{item!r} is no counter of an interface")
        found.append((match[2].strip(), counted(match[1])))
    return tuple(found)


def _shown(
    interface: str, sides: tuple[tuple[str, Items], ...], state: str = "", **first: tuple[Any, ...]
) -> tuple[str, tuple[LinkFacts, tuple[Count, ...]]]:
    del first["by_protocol"]
    if not state:
        raise Unfit("has no line `Current state:`")
    counts: dict[str, Count] = {}
    for count in (count for side, items in sides for count in _counts(side, items)):
        if counts.setdefault(count.counter, count) is not count:
            raise Unfit(f"has two numbers of {count.words!r}")
    told: dict[str, Any] = {name: next(iter(found), None) for name, found in first.items()}
    facts = LinkFacts(up=state == "UP", **told)
    return full_name(interface) or interface, (facts, tuple(counts.values()))


def _side(side: str, items: Items, more: tuple[Items, ...], which: str = "") -> tuple[str, Items]:
    return side.lower(), () if which == "normal" else (*items, *chain.from_iterable(more))


def _counts(side: str, items: Items) -> Iterator[Count]:
    for words, value in items:
        word = words.lower()
        name = _NEUTRAL[side].get(word)
        if name is None and word in _OWN[side]:
            name = f"{side}_{word.replace(' ', '_')}"
        if name is None and word not in _NOT_READ:
            raise Unfit(f"counts {words!r} of {side}, which is unrecognised")
        if name is not None:
            yield Count(counter=name, words=f"{side}: {words}", value=value)


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

_ERRORS = frozenset({c.RX_ERRORS, c.RX_CRC_ERRORS, c.TX_ERRORS})


class Interfaces(ComwarePart, LinkState, LinkErrors, PortTelemetry):
    """Links, and what ports count."""

    def link(self, port: str) -> Asking[LinkFacts]:
        """Comware does not say there which FEC is in force."""
        _, (facts, _) = yield from self.shown(INTERFACE, port)
        return facts

    def link_errors(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Frames that arrived broken, and those that could not be sent whole."""
        reply, (_, counts) = yield from self.shown(INTERFACE, port)
        found = _readings(reply, port, counts)
        return tuple(reading for reading in found if reading.counter in _ERRORS)

    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """All that `display interface` counts; None where it counts nothing of the kind, and where
        it is not understood: the other counters of a switch do not hang on its wording."""
        reply = yield from self.asked(INTERFACE, port)
        try:
            _, counts = INTERFACE.of(reply, self.port(port))
        except UnreadableOutput as error:
            return _readings(reply, port, (), error.problem)
        return _readings(reply, port, counts)


def _readings(
    reply: Reply,
    port: str,
    counts: tuple[Count, ...],
    absent: str = "`display interface` has no such line",
) -> tuple[Reading, ...]:
    shown = {each.counter for each in counts}
    none = (Count(counter=n, words=n, value=None) for n in _EXPECTED if n not in shown)
    return tuple(
        Answered(reply, port).reading(
            (each.counter, "bytes" if each.counter.endswith("_bytes") else "packets"),
            each.value,
            f"display interface: {each.words}",
            "the switch shows no number" if each.counter in shown else absent,
        )
        for each in (*counts, *none)
    )
