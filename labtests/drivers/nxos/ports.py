"""What stands in a port's own section beside policies: how long a packet may be; and the buffers of
its lossless classes, which are a policy on the way in."""

from collections.abc import Hashable
from typing import Any

from labtests.capabilities.device import FrameLengths
from labtests.capabilities.settings import FRAME_LIMIT, HEADROOM, Commands, Headrooms
from labtests.core.errors import CommandRejected
from labtests.drivers.nxos.applying import PolicySetting, in_force, of_switch, without
from labtests.drivers.nxos.configuration import Block, Classes, Configured, PolicyPlace, configured
from labtests.drivers.nxos.policies import Use
from labtests.drivers.nxos.session import EXIT, NXOS, NxosSetting, line
from labtests.transport.asking import Asking

HEADER_BYTES = 22
"""A frame beside its packet: header, VLAN tag and check sequence. `mtu` is of packets."""
DEFAULT_MTU = 1500
_MTU = NXOS.shape("mtu <bytes:number>")
CELL_BYTES = 208
"""Recorded thresholds are multiples of it, at two models; no document says so."""
_PAUSE, _RESUME = 77376, 75712
"""Thresholds of a class that has none configured: what a port of 100G shows by itself."""
_BUFFER = NXOS.shape(
    "pause buffer-size <size:number> pause-threshold <pause:number> "
    "resume-threshold <resume:number>"
)


class NxosFrameLimit(NxosSetting[int | None], FrameLengths):
    """`mtu` of a port, as a length of frames; None for the default. Many models take 1500 and 9216
    only at ports of layer 2 (from memory): they refuse others, and are heard."""

    kind = FRAME_LIMIT

    def read(self, port: str) -> Asking[int | None]:
        """From the port's configuration."""
        of = yield from configured()
        lines = of.lines(self.device, self.port(port))
        found = [match for text in lines if (match := _MTU.pattern.fullmatch(text))]
        return int(found[0]["bytes"]) + HEADER_BYTES if found else None

    def passes(self, limit: int | None, frame_bytes: int) -> bool:
        """See FrameLengths."""
        return frame_bytes <= (DEFAULT_MTU + HEADER_BYTES if limit is None else limit)

    def commands(
        self, port: str, earlier: int | None, wanted: int | None, around: None = None
    ) -> Commands:
        """One line."""
        if earlier == wanted:
            return ()
        if wanted == 0:  # no jumbo frames, where a switch has such a setting
            where = f"interface {self.port(port)}"
            raise CommandRejected(
                self.device, where, "0 is not a valid MTU", "give the longest frame"
            )
        mtu = line("no", "mtu") if wanted is None else line("mtu", wanted - HEADER_BYTES)
        return (line("interface", self.port(port)), mtu, EXIT)


class NxosHeadroom(PolicySetting[Headrooms]):
    """What a class may still take after it has paused: buffer-size less pause-threshold, in cells
    of 208 bytes."""

    kind = HEADROOM
    slot = "queuing input"
    template = "c-in-q"

    def value(self, of: Configured, place: PolicyPlace) -> Headrooms:
        """As configured; a default of the model is not in the configuration."""
        buffers = self._buffers(in_force(of, place, ()))
        return tuple(sorted((q, (b[0] - b[1]) // CELL_BYTES) for q, b in buffers.items()))

    def use(self, of: Configured, place: PolicyPlace, wanted: Headrooms) -> Use:
        """The thresholds stay as they are."""
        plain = of_switch(of, place, ())
        before = self._buffers(in_force(of, place, ()))
        kept = {self.queue(each): Block(each.name, without(each, ("pause",))) for each in plain}
        for queue, cells in wanted:
            _, pause, resume = before.get(queue, (0, _PAUSE, _RESUME))
            told = (
                f"pause buffer-size {pause + cells * CELL_BYTES} pause-threshold {pause} "
                f"resume-threshold {resume}"
            )
            name = self.named(queue)
            kept[queue] = Block(name, (*kept.get(queue, Block(name, ())).lines, told))
        return Use(
            device=self.device,
            place=place,
            means=self._means,
            plain=plain,
            classes=tuple(each for each in kept.values() if each.lines),
        )

    def _means(self, _: Configured, classes: Classes) -> Hashable:
        others = {each.name: frozenset(without(each, ("pause",))) for each in classes}
        rest = frozenset(item for item in others.items() if item[1])
        return frozenset(self._buffers(classes).items()), rest

    def _buffers(self, classes: Classes) -> dict[int, tuple[Any, ...]]:
        lines = {self.queue(b): t for b in classes for t in b.lines if t.startswith("pause")}
        found: dict[int, tuple[Any, ...]] = {}
        for queue, text in lines.items():
            match = _BUFFER.pattern.fullmatch(text)
            if match is None:
                raise self.reject(f"c-in-q{queue}", f"{text!r} has no thresholds", "write them out")
            found[queue] = tuple(int(match[name]) for name in ("size", "pause", "resume"))
        return found
