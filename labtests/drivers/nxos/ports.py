"""What stands in a port's own section beside policies: how long a packet may be; and the buffers of
its lossless classes, which are a policy on the way in."""

from abc import abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace

from labtests.capabilities.records import BufferThresholds, PortState
from labtests.capabilities.settings import BUFFER_THRESHOLDS, HEADROOM, Headrooms, T
from labtests.drivers.displays import PortShutting
from labtests.drivers.frames import FrameLimit
from labtests.drivers.nxos.configuration import (
    Block,
    Classes,
    Configured,
    NxosPortSetting,
    PolicyPlace,
)
from labtests.drivers.nxos.policies import PolicySetting, Use, in_force, of_switch, without
from labtests.drivers.nxos.session import NXOS, line
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine

HEADER_BYTES = 22
"""A frame beside its packet: header, VLAN tag and check sequence. `mtu` is of packets."""
_MTU = NXOS.shape("mtu <bytes:number>")
CELL_BYTES = 208
"""Recorded thresholds are multiples of it, at two models; no document says so."""
_BUFFER = NXOS.shape(
    "pause buffer-size <size:number> pause-threshold <pause:number> "
    "resume-threshold <resume:number>"
)
_NAMES = ("size", "pause", "resume")


class NxosFrameLimit(NxosPortSetting[int | None], FrameLimit):
    """`mtu` of a port; None for the default. Many models take 1500 and 9216
    only at ports of layer 2 (from memory): they refuse others, and are heard."""

    default_bytes = 1500 + HEADER_BYTES

    def read(self, port: str) -> Asking[int | None]:
        """From the port's configuration."""
        mtu: int | None = _MTU.first((yield from self.told(port))).get("bytes")
        return None if mtu is None else mtu + HEADER_BYTES

    def lines(self, port: str, earlier: int | None, wanted: int | None) -> Iterator[CliLine]:
        """One line."""
        if wanted == 0:  # no jumbo frames, where a switch has such a setting
            problem = "0 is not a valid MTU"
            raise self.reject(f"interface {port}", problem, "give the longest frame")
        yield line("no", "mtu") if wanted is None else line("mtu", wanted - HEADER_BYTES)


class NxosPortState(NxosPortSetting[PortState], PortShutting):
    """`shutdown`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassBuffer:
    """Of a class on the way in, in bytes; by default what a port of 100G shows by itself."""

    size: int = 348_608
    pause: int = 77_376
    resume: int = 75_712


Buffers = dict[int, ClassBuffer]


class _Buffers(PolicySetting[T]):
    """The line `pause buffer-size` of classes. There is nothing else for either setting of it, so
    what is not about the one stays as the other has it."""

    slot = "queuing input"
    template = "c-in-q"

    @abstractmethod
    def told(self, buffers: Buffers) -> T:
        """The setting, of what is configured; a default of the model is not."""

    @abstractmethod
    def buffers(self, before: Buffers, wanted: T) -> Buffers:
        """What is to be configured."""

    def value(self, of: Configured, place: PolicyPlace) -> T:
        """See PolicySetting."""
        return self.told(self._buffers(in_force(of, place, ())))

    def _use(self, of: Configured, place: PolicyPlace, wanted: T) -> Use:
        plain = of_switch(of, place, ())
        before = self._buffers(in_force(of, place, ()))
        kept = {self.queue(each): Block(each.name, without(each, ("pause",))) for each in plain}
        for queue, each in self.buffers(before, wanted).items():
            told = (
                f"pause buffer-size {each.size} pause-threshold {each.pause} "
                f"resume-threshold {each.resume}"
            )
            name = self.named(queue)
            kept[queue] = Block(name, (*kept.get(queue, Block(name, ())).lines, told))
        return self.using(place, filter(Block.is_told, kept.values()), plain=plain)

    def _means(self, _: Configured, classes: Classes) -> Hashable:
        others = {each.name: frozenset(without(each, ("pause",))) for each in classes}
        rest = frozenset(item for item in others.items() if item[1])
        return frozenset(self._buffers(classes).items()), rest

    def _buffers(self, classes: Classes) -> Buffers:
        lines = {self.queue(b): t for b in classes for t in b.lines if t.startswith("pause")}
        found: Buffers = {}
        for queue, text in lines.items():
            match = _BUFFER.pattern.fullmatch(text)
            if match is None:
                raise self.reject(f"c-in-q{queue}", f"{text!r} has no thresholds", "write them out")
            found[queue] = ClassBuffer(**{name: int(match[name]) for name in _NAMES})
        return found


class NxosHeadroom(_Buffers[Headrooms]):
    """What a class may still take after it has paused: buffer-size less pause-threshold, in cells
    of 208 bytes. The thresholds stay as they are."""

    kind = HEADROOM

    def told(self, buffers: Buffers) -> Headrooms:
        """See _Buffers."""
        return tuple(sorted((q, (b.size - b.pause) // CELL_BYTES) for q, b in buffers.items()))

    def buffers(self, before: Buffers, wanted: Headrooms) -> Buffers:
        """See _Buffers."""
        found = {queue: before.get(queue, ClassBuffer()) for queue, _ in wanted}
        cells = dict(wanted)
        return {q: replace(b, size=b.pause + cells[q] * CELL_BYTES) for q, b in found.items()}


Thresholds = tuple[BufferThresholds, ...]


class NxosThresholds(_Buffers[Thresholds]):
    """pause-threshold (static) and resume-threshold (xon), in bytes. Headroom stays as it is."""

    kind = BUFFER_THRESHOLDS

    def told(self, buffers: Buffers) -> Thresholds:
        """See _Buffers."""
        return tuple(_thresholds(queue, buffers[queue]) for queue in sorted(buffers))

    def buffers(self, before: Buffers, wanted: Thresholds) -> Buffers:
        """See _Buffers. Raises CommandRejected for what the line has no word for."""
        return {
            each.priority: self._buffer(before.get(each.priority, ClassBuffer()), each)
            for each in wanted
        }

    def _buffer(self, before: ClassBuffer, wanted: BufferThresholds) -> ClassBuffer:
        pause, resume = wanted.static, wanted.xon
        if pause is None or resume is None or resume > pause:
            problem = f"it pauses at {pause} and goes on at {resume}"
            remedy = "give `static` and `xon` in bytes, the latter no more than the former"
            raise self.reject(f"c-in-q{wanted.priority}", problem, remedy)
        found = replace(before, pause=pause, resume=resume, size=before.size - before.pause + pause)
        if _thresholds(wanted.priority, found) != wanted:
            remedy = "leave out all but `static` and `xon`; headroom is a setting of its own"
            raise self.reject(f"c-in-q{wanted.priority}", f"it cannot hold {wanted}", remedy)
        return found


def _thresholds(queue: int, buffer: ClassBuffer) -> BufferThresholds:
    return BufferThresholds(priority=queue, unit="bytes", static=buffer.pause, xon=buffer.resume)
