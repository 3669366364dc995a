"""The longest frame of a switch port whose setting is the MTU: the longest packet in it."""

from typing import ClassVar

from labtests.capabilities.device import FrameLengths
from labtests.capabilities.settings import FRAME_LIMIT, Setting
from labtests.drivers.parts import PlatformPart


class FrameLimit(PlatformPart, Setting[int | None], FrameLengths):
    """A length of frames; None where a port has the switch's own."""

    kind = FRAME_LIMIT
    header_bytes: ClassVar[int]
    """What a frame has beside its packet."""
    default_bytes: ClassVar[int | None] = None
    """The switch's own; None: a port always has a setting."""
    mtus: ClassVar[range]
    """What it takes."""

    def passes(self, limit: int | None, frame_bytes: int) -> bool:
        """See FrameLengths."""
        longest = self.default_bytes if limit is None else limit
        return longest is not None and frame_bytes <= longest

    def mtu(self, where: str, wanted: int | None) -> int:
        """Raises CommandRejected for what it does not take."""
        mtu = (wanted or 0) - self.header_bytes
        if mtu not in self.mtus:
            ends = (each + self.header_bytes for each in (self.mtus[0], self.mtus[-1]))
            remedy = f"give {' to '.join(map(str, ends))}"
            raise self.reject(where, f"{wanted} is not a valid frame length there", remedy)
        return mtu
