"""What only the configuration of a port shows: the longest frames that pass, and PFC's buffers.

`priority-flow-control dot1p P headroom N`, and `ingress-buffer`, `ingress-threshold-offset` and
`reserved-buffer` beside it, are in the PFC references of S9825, S9855 and S12500 and in public
configurations; `undo` is from memory. That the dynamic threshold is a percentage is the white
paper's (3.2.3).
"""

from collections.abc import Iterator, Mapping

from labtests.capabilities.device import FrameLengths
from labtests.capabilities.records import BufferThresholds
from labtests.capabilities.settings import (
    BUFFER_THRESHOLDS,
    FRAME_LIMIT,
    HEADROOM,
    Headrooms,
)
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


_OF_A_PRIORITY = ("priority-flow-control", "dot1p")
_THRESHOLDS = {
    "dynamic_percent": "ingress-buffer dynamic",
    "static_cells": "ingress-buffer static",
    "xon_offset_cells": "ingress-threshold-offset",
    "reserved_cells": "reserved-buffer",
}
_SHAPES = {
    name: COMWARE.shape(f"{' '.join(_OF_A_PRIORITY)} <priority:0-7> {words} <number:number>")
    for name, words in _THRESHOLDS.items()
}


class Thresholds(PortSetting[tuple[BufferThresholds, ...]]):
    """When a port pauses, by priority."""

    kind = BUFFER_THRESHOLDS

    def read(self, port: str) -> Asking[tuple[BufferThresholds, ...]]:
        """As configured on the port; a model's default is not shown."""
        reply, section = yield from self.configured(port)
        found: dict[int, dict[str, int]] = {}
        for name, shape in _SHAPES.items():
            for each in section.each(reply, shape):
                found.setdefault(each["priority"], {})[name] = each["number"]
        return tuple(BufferThresholds(priority=p, **found[p]) for p in sorted(found))

    def lines(
        self,
        port: str,
        earlier: tuple[BufferThresholds, ...],
        wanted: tuple[BufferThresholds, ...],
    ) -> Iterator[CliLine]:
        """One line for each number that differs; what is to be the model's own is undone first."""
        before, after = _numbers(earlier), _numbers(wanted)
        for priority, name in before:
            if (priority, name) not in after:
                yield line("undo", *_OF_A_PRIORITY, priority, *_THRESHOLDS[name].split())
        for (priority, name), number in after.items():
            if before.get((priority, name)) != number:
                yield line(*_OF_A_PRIORITY, priority, *_THRESHOLDS[name].split(), number)


def _numbers(thresholds: tuple[BufferThresholds, ...]) -> Mapping[tuple[int, str], int]:
    """Those that are not the model's own."""
    return {
        (each.priority, name): getattr(each, name)
        for each in thresholds
        for name in _THRESHOLDS
        if getattr(each, name) is not None
    }
