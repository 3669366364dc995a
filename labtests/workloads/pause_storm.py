"""A pause storm: a host that tells the switch to stop sending one priority, and does not stop.

By mausezahn (Debian: `mausezahn`), which sends frames as they are given in hexadecimal: IEEE
802.1Qbb pauses with the longest time, one every millisecond. A storm lasts as long as its frames
take to be sent, and until the last of them has run out.
"""

from dataclasses import dataclass

from labtests.core.errors import WorkloadError
from labtests.transport.commands import Shell, program

EVERY_MS = 1
"""Between two frames. One holds a port for 65535 x 512 bits: 0.34 ms at 100G, 3.4 ms at 10G."""
_TO_THE_PEER, _SOURCE = "01:80:c2:00:00:01", "02:00:00:00:00:01"
_MAC_CONTROL_PFC = "88:08:01:01"
_PADDING = ":00" * 26


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseStorm:
    """`times` storms of `lasting_ms` of one priority, with `apart_s` between two at least."""

    priority: int
    lasting_ms: int
    times: int
    apart_s: float

    def __post_init__(self) -> None:
        if not (0 <= self.priority <= 7 and self.lasting_ms > 0 and self.times > 0):
            raise WorkloadError(f"cannot pause like this: {self}")

    @property
    def frames(self) -> int:
        """Pauses that are sent in all of them together."""
        return self.times * (self.lasting_ms // EVERY_MS)

    @property
    def every_s(self) -> float:
        """From the begin of one to that of the next, at least."""
        return self.lasting_ms / 1000 + self.apart_s

    def command(self, interface: str) -> Shell:
        """What the host runs for each."""
        count = self.lasting_ms // EVERY_MS
        return program(
            "mausezahn", "-q", interface, "-c", count, "-d", f"{EVERY_MS}msec", self._frame()
        )

    def _frame(self) -> str:
        """Without its FCS: the priorities it is about, and a time for each of 8."""
        times = ":".join("ff:ff" if n == self.priority else "00:00" for n in range(8))
        head = f"{_TO_THE_PEER}:{_SOURCE}:{_MAC_CONTROL_PFC}:00:{1 << self.priority:02x}"
        return f"{head}:{times}{_PADDING}"
