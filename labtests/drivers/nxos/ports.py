"""What stands in a port's own section beside policies: how long a packet may be; and the buffers of
its lossless classes, which are a policy on the way in."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from operator import attrgetter, itemgetter
from typing import Any, Generic, TypeVar

from labtests.capabilities import settings as s
from labtests.capabilities.records import BufferThresholds, PortState
from labtests.drivers.displays import PortShutting
from labtests.drivers.frames import FrameLimit
from labtests.drivers.nxos.configuration import Configured, NxosPortSetting, PolicyClass
from labtests.drivers.nxos.policies import QueuePolicySetting
from labtests.drivers.nxos.session import NXOS, line
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine

Item = TypeVar("Item")
HEADER_BYTES = 22
"""A frame beside its packet: header, VLAN tag and check sequence. `mtu` is of packets."""
_MTU = NXOS.shape("mtu <bytes:number>")
CELL_BYTES = 208
"""Recorded thresholds are multiples of it, at two models; no document says so."""
_LINE = "pause buffer-size {size} pause-threshold {pause} resume-threshold {resume}"
_BUFFER = NXOS.shape(_LINE.format(**{n: f"<{n}:number>" for n in ("size", "pause", "resume")}))


class NxosFrameLimit(NxosPortSetting[int | None], FrameLimit):
    """`mtu` of a port; None for the default. Many models take 1500 and 9216
    only at ports of layer 2 (from memory): they refuse others, and are heard."""

    header_bytes, default_bytes, mtus = HEADER_BYTES, 1500 + HEADER_BYTES, range(576, 9217)

    def same(self, one: int | None, other: int | None) -> bool:
        """The default is not shown."""
        shown: dict[int | None, int] = {None: self.default_bytes}
        return shown.get(one, one) == shown.get(other, other)

    def read(self, port: str) -> Asking[int | None]:
        """From the port's configuration."""
        mtu: int | None = _MTU.first((yield from self.told(port))).get("bytes")
        return None if mtu is None else mtu + HEADER_BYTES

    def lines(self, port: str, earlier: int | None, wanted: int | None) -> Iterator[CliLine]:
        """One line."""
        where = f"interface {port}"
        yield line("no", "mtu") if wanted is None else line("mtu", self.mtu(where, wanted))


class NxosPortState(NxosPortSetting[PortState], PortShutting):
    """`shutdown`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassBuffer:
    """Of a class on the way in, in bytes; by default what a port of 100G shows by itself."""

    size: int = 348_608
    pause: int = 77_376
    resume: int = 75_712


class _Buffers(QueuePolicySetting[tuple[Item, ...]], Generic[Item]):
    """The line `pause buffer-size` of classes. There is nothing else for either setting of it, so
    what is not about the one stays as the other has it; a default of the model is not told."""

    slot = "queuing input"
    template = "c-in-q"
    about = ("pause",)
    queue_of: Callable[[Any], int]
    """Of what is told of a class."""

    @abstractmethod
    def told(self, queue: int, buffer: ClassBuffer) -> Item:
        """What the setting says of a class."""

    @abstractmethod
    def changed(self, buffer: ClassBuffer, wanted: Item) -> ClassBuffer:
        """What is to be configured. Raises CommandRejected for what the line has no word for."""

    def value(self, of: Configured, port: str) -> tuple[Item, ...]:
        """See StateSetting."""
        return tuple(self.told(*each) for each in self._configured(of, port).items())

    def _configured(self, of: Configured, port: str) -> dict[int, ClassBuffer]:
        read = ((each[0], self._said(*each)) for each in self.eight(self.in_force(of, port)))
        return {queue: buffer for queue, buffer in read if buffer is not None}

    def _wanted(self, of: Configured, port: str, wanted: tuple[Item, ...]) -> Mapping[int, str]:
        before, after = self._configured(of, port), {self.queue_of(each): each for each in wanted}
        made = {n: self.changed(before.get(n, ClassBuffer()), each) for n, each in after.items()}
        return {queue: _LINE.format(**asdict(buffer)) for queue, buffer in made.items()}

    def _said(self, queue: int, block: PolicyClass) -> ClassBuffer | None:
        lines = block.about(self.about)
        if not lines:
            return None
        found = _BUFFER.first(lines[-1:])
        if not found:
            where, problem = f"c-in-q{queue}", f"{lines[-1]!r} has no thresholds"
            raise self.reject(where, problem, "write them out")
        return ClassBuffer(**found)


class NxosHeadroom(_Buffers[tuple[int, int]]):
    """What a class may still take after it has paused: buffer-size less pause-threshold, in cells
    of 208 bytes. The thresholds stay as they are."""

    kind = s.HEADROOM
    queue_of = itemgetter(0)

    def told(self, queue: int, buffer: ClassBuffer) -> tuple[int, int]:
        """See _Buffers."""
        return queue, (buffer.size - buffer.pause) // CELL_BYTES

    def changed(self, buffer: ClassBuffer, wanted: tuple[int, int]) -> ClassBuffer:
        """See _Buffers."""
        return replace(buffer, size=buffer.pause + wanted[1] * CELL_BYTES)


class NxosThresholds(_Buffers[BufferThresholds]):
    """pause-threshold (static) and resume-threshold (xon), in bytes. Headroom stays as it is."""

    kind = s.BUFFER_THRESHOLDS
    queue_of = attrgetter("priority")

    def told(self, queue: int, buffer: ClassBuffer) -> BufferThresholds:
        """See _Buffers."""
        return BufferThresholds(
            priority=queue, unit="bytes", static=buffer.pause, xon=buffer.resume
        )

    def changed(self, buffer: ClassBuffer, wanted: BufferThresholds) -> ClassBuffer:
        """See _Buffers."""
        where, pause, resume = f"c-in-q{wanted.priority}", wanted.static, wanted.xon
        if pause is None or resume is None or resume > pause:
            problem = f"it pauses at {pause} and goes on at {resume}"
            remedy = "give `static` and `xon` in bytes, the latter no more than the former"
            raise self.reject(where, problem, remedy)
        found = ClassBuffer(size=buffer.size - buffer.pause + pause, pause=pause, resume=resume)
        if self.told(wanted.priority, found) != wanted:
            remedy = "leave out all but `static` and `xon`; headroom is a setting of its own"
            raise self.reject(where, f"it cannot hold {wanted}", remedy)
        return found
