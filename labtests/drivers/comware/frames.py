"""What only the configuration of a port shows: the longest frames that pass, and PFC's headroom.

`priority-flow-control dot1p P headroom N` is in the PFC references of S9825, S9855 and S12500 and
in public configurations; its `undo` is from memory.
"""

from collections.abc import Iterator

from labtests.capabilities.device import FrameLengths
from labtests.capabilities.settings import FRAME_LIMIT, HEADROOM, Headrooms
from labtests.drivers.comware.session import PortSetting, line
from labtests.drivers.comware.values import COMWARE
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine

DEFAULT_FRAME_BYTES = 9216
"""What data-centre models pass at least when nothing is configured (S6850: 9416)."""
_JUMBO = COMWARE.shape("jumboframe enable( <bytes:number>)?")
_HEADROOM = COMWARE.shape("priority-flow-control dot1p <priority:0-7> headroom <cells:number>")


class FrameLimit(PortSetting[int | None], FrameLengths):
    """`jumboframe enable SIZE`: 0 when long frames are refused, None for the model's default."""

    kind = FRAME_LIMIT

    def read(self, port: str) -> Asking[int | None]:
        """From the port's configuration."""
        reply, section = yield from self.configured(port)
        if "undo jumboframe enable" in section.lines:
            return 0
        return (section.said(reply, _JUMBO) or {}).get("bytes")

    def passes(self, limit: int | None, frame_bytes: int) -> bool:
        """Nothing configured: the model's default, which no command shows."""
        return frame_bytes <= (DEFAULT_FRAME_BYTES if limit is None else limit)

    def lines(self, port: str, earlier: int | None, wanted: int | None) -> Iterator[CliLine]:
        """One line. Without a size it is the model's default again."""
        undo = ("undo",) if wanted == 0 else ()
        size = (wanted,) if wanted else ()
        yield line(*undo, "jumboframe", "enable", *size)


class Headroom(PortSetting[Headrooms]):
    """Memory cells by priority."""

    kind = HEADROOM

    def read(self, port: str) -> Asking[Headrooms]:
        """As configured on the port; a model's default is not shown."""
        reply, section = yield from self.configured(port)
        found = section.each(reply, _HEADROOM)
        return tuple(sorted((each["priority"], each["cells"]) for each in found))

    def lines(self, port: str, earlier: Headrooms, wanted: Headrooms) -> Iterator[CliLine]:
        """One line for each priority that differs."""
        before, after = dict(earlier), dict(wanted)
        words = ("priority-flow-control", "dot1p")
        for priority in before:
            if priority not in after:
                yield line("undo", *words, priority, "headroom")
        for priority, cells in wanted:
            if before.get(priority) != cells:
                yield line(*words, priority, "headroom", cells)
