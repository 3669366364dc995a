"""What only the configuration of a port shows: the longest frames that pass, and PFC's buffers.

`priority-flow-control dot1p P headroom N`, and `ingress-buffer`, `ingress-threshold-offset` and
`reserved-buffer` beside it, are in the PFC references of S9825, S9855 and S12500 and in public
configurations; `undo` is from memory. That the dynamic threshold is a percentage is the white
paper's (3.2.3).
"""

from collections.abc import Iterator
from typing import Any

from labtests.capabilities.records import BufferThresholds
from labtests.capabilities.settings import BUFFER_THRESHOLDS, HEADROOM, Headrooms
from labtests.drivers.comware.session import Numbered, Numbers, PortSetting
from labtests.drivers.comware.values import COMWARE
from labtests.drivers.frames import FrameLimit
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine

_JUMBO = COMWARE.shape("jumboframe enable( <bytes:number>)?")
_OF_A_PRIORITY = "priority-flow-control dot1p"
_HEADROOM = Numbered(_OF_A_PRIORITY, "headroom")
_THRESHOLDS = {
    "dynamic_percent": Numbered(_OF_A_PRIORITY, "ingress-buffer dynamic"),
    "static": Numbered(_OF_A_PRIORITY, "ingress-buffer static"),
    "xon_offset": Numbered(_OF_A_PRIORITY, "ingress-threshold-offset"),
    "reserved": Numbered(_OF_A_PRIORITY, "reserved-buffer"),
}


class ComwareFrameLimit(PortSetting[int | None], FrameLimit):
    """`jumboframe enable SIZE`: 0 when long frames are refused, None for the model's default."""

    default_bytes = 9216
    """What data-centre models pass at least when nothing is configured, which no command shows
    (S6850: 9416)."""

    def read(self, port: str) -> Asking[int | None]:
        """From the port's configuration."""
        reply, section = yield from self.configured(port)
        if "undo jumboframe enable" in section.lines:
            return 0
        return (section.said(reply, _JUMBO) or {}).get("bytes")

    def lines(self, port: str, earlier: int | None, wanted: int | None) -> Iterator[CliLine]:
        """One line. Without a size it is the model's default again."""
        size = (wanted,) if wanted else ()
        yield self.cli.switched(wanted != 0, "jumboframe", "enable", *size)


class Headroom(PortSetting[Headrooms]):
    """Memory cells by priority."""

    kind = HEADROOM

    def read(self, port: str) -> Asking[Headrooms]:
        """As configured on the port; a model's default is not shown."""
        return _HEADROOM.read(*(yield from self.configured(port)))

    def lines(self, port: str, earlier: Headrooms, wanted: Headrooms) -> Iterator[CliLine]:
        """One line for each priority that differs."""
        yield from _HEADROOM.undone(earlier, wanted)
        yield from _HEADROOM.made(earlier, wanted)


class Thresholds(PortSetting[tuple[BufferThresholds, ...]]):
    """When a port pauses, by priority."""

    kind = BUFFER_THRESHOLDS

    def read(self, port: str) -> Asking[tuple[BufferThresholds, ...]]:
        """As configured on the port; a model's default is not shown."""
        reply, section = yield from self.configured(port)
        told: dict[str, Any] = {
            name: dict(lines.read(reply, section)) for name, lines in _THRESHOLDS.items()
        }
        return tuple(
            BufferThresholds(priority=p, **{name: told[name].get(p) for name in told})
            for p in range(8)
            if any(p in each for each in told.values())
        )

    def lines(
        self, port: str, earlier: tuple[BufferThresholds, ...], wanted: tuple[BufferThresholds, ...]
    ) -> Iterator[CliLine]:
        """One line for each number that differs; what is to be the model's own is undone first."""
        each = [
            (numbers, _numbers(earlier, name), _numbers(wanted, name))
            for name, numbers in _THRESHOLDS.items()
        ]
        for numbers, before, after in each:
            yield from numbers.undone(before, after)
        for numbers, before, after in each:
            yield from numbers.made(before, after)


def _numbers(thresholds: tuple[BufferThresholds, ...], name: str) -> Numbers:
    """Those that are not the model's own."""
    found = ((each.priority, getattr(each, name)) for each in thresholds)
    return tuple((priority, number) for priority, number in found if number is not None)
