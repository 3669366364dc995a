"""A pause storm: a host that tells the switch to stop sending one priority, and does not stop. Or
its frames are such as may stop nothing: 802.3x, or for no class at all.

By mausezahn (Debian: `mausezahn`), which sends frames as they are given in hexadecimal: IEEE
802.1Qbb pauses with the longest time, so close that three of four may come late and the port is
held all the same. A storm lasts as long as its frames take to be sent, and until the last of them
has run out.
"""

from dataclasses import dataclass

from labtests.capabilities.flows import PauseForm
from labtests.core.errors import WorkloadError
from labtests.transport.commands import Shell, program

PAUSE_BITS = 65_535 * 512
"""The longest time of a pause frame (802.1Qbb): 34 ms at 1G, 3.4 ms at 10G, 84 us at 400G."""
FRAMES_PER_PAUSE, SLOWEST_US = 4, 1000
SLOWEST_LINK, FASTEST_LINK = 1e6, 1e13
"""Bits per second that a link can have."""
_TO_THE_PEER, _SOURCE, _NO_SOURCE = "01:80:c2:00:00:01", "02:00:00:00:00:01", "00:00:00:00:00:00"
_OF_THE_LINK, _BY_PRIORITY = "88:08:00:01", "88:08:01:01"
_LEAST_BYTES = 60
"""Of a frame without its FCS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseStorm:
    """`times` storms of `lasting_ms` of one priority, with `apart_s` between two at least, on a
    link of this speed. Frames of the `link` (802.3x) and for `no class` do not name it."""

    priority: int
    lasting_ms: int
    times: int
    apart_s: float
    link_bits_per_s: float
    form: PauseForm = "priority"

    def __post_init__(self) -> None:
        ordered = 0 <= self.priority <= 7 and min(self.lasting_ms, self.times) > 0
        if not (ordered and SLOWEST_LINK <= self.link_bits_per_s <= FASTEST_LINK):  # nor NaN
            raise WorkloadError(f"cannot pause like this: {self}")

    @property
    def gap_us(self) -> int:
        """Between two frames, at most a millisecond."""
        held_us = 1e6 * PAUSE_BITS / self.link_bits_per_s
        return max(1, min(SLOWEST_US, int(held_us / FRAMES_PER_PAUSE)))

    @property
    def frames(self) -> int:
        """Pauses that are sent in all of them together."""
        return self.times * self._frames_each

    @property
    def _frames_each(self) -> int:
        return -(-1000 * self.lasting_ms // self.gap_us)

    @property
    def every_s(self) -> float:
        """From the start of one to that of the next, at least."""
        return self.lasting_ms / 1000 + self.apart_s

    def command(self, interface: str) -> Shell:
        """What the host runs for each."""
        options = ("-c", self._frames_each, "-d", f"{self.gap_us}usec")
        return program("mausezahn", "-q", interface, *options, self._frame())

    def _frame(self) -> str:
        """Without its FCS: for a link, one time; else the priorities it is about, and a time for
        each of 8."""
        source = _NO_SOURCE if self.form == "no source" else _SOURCE
        if self.form == "link":
            octets = f"{_TO_THE_PEER}:{source}:{_OF_THE_LINK}:ff:ff".split(":")
        else:
            named = set[int]() if self.form == "no class" else {self.priority}
            timed = named or set(range(8))
            times = ":".join("ff:ff" if n in timed else "00:00" for n in range(8))
            vector = sum(1 << n for n in named)
            octets = f"{_TO_THE_PEER}:{source}:{_BY_PRIORITY}:00:{vector:02x}:{times}".split(":")
        return ":".join((*octets, *["00"] * (_LEAST_BYTES - len(octets))))
