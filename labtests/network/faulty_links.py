"""Loss and corruption by script, as a case file or a test says it; how: impairments.py."""

from dataclasses import dataclass
from typing import Literal

from labtests.network.impairments import CORRUPTED, LOST
from labtests.network.layout import grown
from labtests.network.tables import (
    DAMAGED,
    NEVER,
    PAUSE,
    PS_PER_NS,
    RC_DATA,
    TCP_DATA,
    UDP_FRAGMENT,
    Tables,
)

Frames = Literal["any", "data", "control", "pause"]
_ANY = (1 << PAUSE + 1) - 1
_DATA = 1 << RC_DATA | 1 << TCP_DATA | 1 << UDP_FRAGMENT
_PAUSE = 1 << PAUSE
KINDS: dict[Frames, int] = {
    "any": _ANY,
    "data": _DATA,
    "control": _ANY & ~_DATA & ~_PAUSE,
    "pause": _PAUSE,
}
ENDLESS = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Frames of one direction of a link that do not arrive, or arrive corrupted.

    Of the frames of this kind (`control`: ACK, NAK, CNP, read request) that reach the far end at
    `from_ns` <= time < `until_ns`, counted from 1, those numbered `first`, `first + every`, … up to
    `last` are hit. The defaults hit all of them.
    """

    damage: Literal["lost", "corrupted"] = "lost"
    frames: Frames = "any"
    first: int = 1
    last: int = ENDLESS
    every: int = 1
    from_ns: int = 0
    until_ns: int = NEVER // PS_PER_NS

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.last or self.every < 1:
            raise ValueError(f"frames are counted from 1: {self.first}..{self.last}/{self.every}")
        if self.from_ns >= self.until_ns:
            raise ValueError(f"a script lasts some time: {self.from_ns}..{self.until_ns} ns")


def with_script(t: Tables, sender: int, script: Script) -> Tables:
    """The same network, and what port row `sender` sends is damaged by one more script."""
    row = len(t.script)
    table = grown(t.script, row + 1)
    record, far = table[row], t.port[t.port[sender].peer]
    record.next = far.script
    record.kinds = KINDS[script.frames]
    record.from_ps = max(0, script.from_ns) * PS_PER_NS
    record.until_ps = min(NEVER, script.until_ns * PS_PER_NS)
    record.first, record.last, record.every = script.first, script.last, script.every
    record.damage = CORRUPTED if script.damage == "corrupted" else LOST
    far.script = row
    far.impaired |= DAMAGED
    return t._replace(script=table)
