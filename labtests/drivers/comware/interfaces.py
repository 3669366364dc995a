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
from dataclasses import dataclass, field

from labtests.capabilities import counters as c
from labtests.drivers.comware.names import full_name
from labtests.drivers.comware.values import COUNTER, counted
from labtests.drivers.parsing import refuse, whole_lines
from labtests.transport.protocol import Reply

_NAME = re.compile(r"^ ?([A-Z][\w-]*[0-9](?:/[0-9]+)*(?::[0-9]+)?)(?: current state: (.*\S))?\s*$")
_STATE = re.compile(r"^Current state: (.*\S)\s*$")
_SPEED = re.compile(r"^\s*([0-9]+)([GM])(?:bps-speed mode ?,|b/s,) ")
_FRAME = re.compile(
    r"^[ \t]*+(?:The )?maximum frame length(?: is|:) ([0-9]+)[ \t\r]*+$",
    re.IGNORECASE | re.MULTILINE,
)
_MAC = re.compile(r"hardware address: ((?:[0-9a-f]{4}-){2}[0-9a-f]{4})\s*$", re.IGNORECASE)
_BITS_PER_S = {"G": 10**9, "M": 10**6}

_SIDE = re.compile(r"^\s*(Input|Output|input|output)\s*(?:\((total|normal)\))?:(.*)$")
_BELOW = re.compile(rf"^\s+({COUNTER} [a-zA-Z].*)$")
_ITEM = re.compile(rf"^({COUNTER}) ([a-zA-Z][a-zA-Z ]*)$")
_RATE = re.compile(
    r"^\s*(?:Last [0-9]+ seconds? |Peak )(?:value of )?(?:input|output)\b.*$"
    rf"|^\s*{COUNTER} packets (?:in|out)put, .*$"  # what an old layer 3 port sums up
)
_BY_PROTOCOL = re.compile(r"^\s*IPv[46] traffic statistics:\s*$")
_DESCRIBES = re.compile(
    r"^\s*[A-Z][^:]*:.*$"
    r"|^\s*[A-Z][\w -]* (?:is|are) .*$"
    r"|^\s*(?:[0-9]+[GM]bps|Unknown)-speed mode ?, \w+-duplex mode\s*$"
    r"|^\s*[0-9]+[GM]b/s, .*$"
    r"|^\s*[\w-]+: \w+\s*$"
    r"|^\s*(?:Allow|Forbid) jumbo frames? to pass\s*$"
    r"|^\s*(?:No connector|Unknown media type)\s*$"
    r"|^\s+[0-9][0-9, ()a-z-]*$"  # more of a list of VLANs
)

# What Comware calls it -> side, name here. What has no neutral name keeps Comware's word.
_WORDS = {
    ("input", "packets"): c.RX_PACKETS,
    ("input", "bytes"): c.RX_BYTES,
    ("input", "input errors"): c.RX_ERRORS,
    ("input", "errors"): c.RX_ERRORS,
    ("input", "crc"): c.RX_CRC_ERRORS,
    ("input", "frame"): c.RX_FRAME_ERRORS,
    ("input", "overruns"): c.RX_OVERRUNS,
    ("input", "drops"): c.NET_RX_DROPPED,
    ("output", "packets"): c.TX_PACKETS,
    ("output", "bytes"): c.TX_BYTES,
    ("output", "output errors"): c.TX_ERRORS,
    ("output", "errors"): c.TX_ERRORS,
    ("output", "no carrier"): c.TX_CARRIER_ERRORS,
    ("output", "drops"): c.NET_TX_DROPPED,
}
_OWN = {
    "input": ("runts", "giants", "throttles", "aborts", "ignored", "parity errors", "no buffers"),
    "output": (
        *("underruns", "buffer failures", "aborts", "deferred", "collisions", "late collisions"),
        *("lost carrier", "lost carriers"),
    ),
}
_NOT_READ = frozenset({"unicasts", "broadcasts", "multicasts", "pauses"})
COUNTED = tuple(dict.fromkeys(_WORDS.values()))
"""What a port is expected to count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """One counter: its name here, the switch's own word, the number (None: it has none)."""

    counter: str
    words: str
    value: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What `display interface` says of one interface; None for what it has no line for."""

    interface: str
    state: str
    speed_bits_per_s: int | None
    frame_bytes: int | None
    mac: str | None
    counts: tuple[Count, ...]


@dataclass(slots=True)
class _Counters:
    """The counters of one interface while its lines are read."""

    side: str = ""
    wanted: bool = True
    found: dict[str, Count] = field(default_factory=dict)


def parse_interface(reply: Reply) -> tuple[Shown, ...]:
    """Every interface, in order. A line that is not understood is refused."""
    found = [_shown(reply, block) for block in _blocks(reply)]
    if not found:
        refuse(reply, "there is no interface in it")
    return tuple(found)


def _blocks(reply: Reply) -> Iterator[list[str]]:
    block: list[str] = []
    for line in whole_lines(reply):
        if match := _NAME.match(line):
            if block:
                yield block
            # older releases say both in one line
            block = [match[1], *([f"Current state: {match[2]}"] if match[2] else [])]
        elif block:
            block.append(line)
        elif line.strip():
            refuse(reply, f"{line!r} comes before the name of an interface")
    if block:
        yield block


def _shown(reply: Reply, block: list[str]) -> Shown:
    states = [match[1] for line in block if (match := _STATE.match(line))]
    if len(states) != 1:
        refuse(reply, f"{block[0]} has {len(states) or 'no'} lines `Current state:`")
    speed, mac, frame = (_first(block, rule) for rule in (_SPEED, _MAC, _FRAME))
    return Shown(
        interface=full_name(block[0]) or block[0],
        state=states[0],
        speed_bits_per_s=None if speed is None else int(speed[1]) * _BITS_PER_S[speed[2]],
        frame_bytes=None if frame is None else int(frame[1]),
        mac=None if mac is None else mac[1].replace("-", "").lower(),
        counts=_counts(reply, block[1:]),
    )


def _first(block: list[str], rule: re.Pattern[str]) -> re.Match[str] | None:
    return next((match for line in block if (match := rule.search(line))), None)


def _counts(reply: Reply, block: list[str]) -> tuple[Count, ...]:
    counters = _Counters()
    for line in block:
        if not line.strip() or _RATE.match(line):
            continue
        if _BY_PROTOCOL.match(line):  # what follows is a part of what was said before
            counters.side = "by protocol"
        elif match := _SIDE.match(line):
            side = match[1].lower() if counters.side != "by protocol" else counters.side
            counters.side, counters.wanted = side, match[2] != "normal"
            _add(reply, counters, match[3])
        elif counters.side and (match := _BELOW.match(line)):
            _add(reply, counters, match[1])
        elif counters.side or not _DESCRIBES.match(line):
            refuse(reply, f"this line of `display interface` is unrecognised: {line!r}")
    return tuple(counters.found.values())


def _add(reply: Reply, counters: _Counters, text: str) -> None:
    for item in text.split(","):
        if not (words := item.strip()):
            continue
        match = _ITEM.match(words)
        if match is None:
            refuse(reply, f"{words!r} is no counter of an interface")
        if counters.side == "by protocol" or not counters.wanted:
            continue
        _count(reply, counters, match[1], match[2].strip())


def _count(reply: Reply, counters: _Counters, value: str, words: str) -> None:
    side, word = counters.side, words.lower()
    if word in _NOT_READ:
        return
    name = _WORDS.get((side, word))
    if name is None and word in _OWN[side]:
        name = f"{side}_{word.replace(' ', '_')}"
    if name is None:
        refuse(reply, f"{words!r} is no counter of {side} that we know")
    if name in counters.found:
        refuse(reply, f"{side} has two numbers of {words!r}")
    number = counted(reply, value, words)
    counters.found[name] = Count(counter=name, words=f"{side}: {words}", value=number)
