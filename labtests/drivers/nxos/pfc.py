"""PFC: the mode of a port, the lossless classes of the whole switch, and the frames.

A class is lossless by `pause pfc-cos N` in the policy-map `type network-qos` of `system qos`, so
the priorities are the same at every port. What is read is a port's own mode and those priorities.
They follow the ports whose mode is on: one that is not leaves them as they are while another is.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from labtests.capabilities.counters import PFC_RX_FRAMES, PFC_TX_FRAMES
from labtests.capabilities.device import PfcTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC, Commands
from labtests.drivers.displays import Unfit, read
from labtests.drivers.nxos.configuration import (
    SYSTEM,
    Block,
    Classes,
    Configured,
    PolicyPlace,
    configured,
)
from labtests.drivers.nxos.policies import PolicySetting, Use, base, without
from labtests.drivers.nxos.session import EXIT, NXOS, NxosPart, line, show
from labtests.drivers.pauses import SharedPriorities, left_alone
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_MODE = NXOS.shape("priority-flow-control mode <mode:auto|on|off>( send-tlv)?")
_PAUSE = ("pause",)
_NETWORK = PolicyPlace(SYSTEM, "network-qos")
_NEW = ("mtu 9216",)
"""What a class that becomes lossless has beside the pause, in all published configurations."""


@dataclass(frozen=True, slots=True)
class PfcAround:
    """The policies, and whether PFC is on at another port."""

    of: Configured
    shared: bool

    def left_alone(self, setting: PfcSetting, now: frozenset[int]) -> PfcSetting:
        """The setting, with the priorities of now where they are another port's business."""
        return left_alone(setting, now, shared=self.shared)


class NxosPfc(PolicySetting[PfcSetting], SharedPriorities):
    """Mode and priorities."""

    kind = PFC
    slot = _NETWORK.slot
    template = "c-8q-nq"

    def value(self, of: Configured, place: PolicyPlace) -> PfcSetting:
        """A port without a line is in mode auto."""
        return self._value(of, place.port)

    def _value(self, of: Configured, port: str) -> PfcSetting:
        lossless = self._lossless(of.of(_NETWORK) or ())
        return PfcSetting(mode=self._mode(of, port), priorities=lossless)

    def _mode(self, of: Configured, port: str) -> Any:
        return _MODE.first(of.lines(self.device, port)).get("mode", "auto")

    def _use(self, of: Configured, place: PolicyPlace, wanted: PfcSetting) -> Use:
        """The classes of whoever made the policy, with these pauses."""
        others = of.policies.get((_NETWORK.kind, base(of, _NETWORK) or ""), ())
        kept = {self.queue(each): Block(each.name, without(each, _PAUSE)) for each in others}
        for queue in wanted.priorities:
            before = kept.get(queue, Block(self.named(queue), _NEW))
            kept[queue] = Block(before.name, (*before.lines, f"pause pfc-cos {queue}"))
        return self.using(_NETWORK, filter(Block.is_told, kept.values()))

    def around(self, port: str, values: tuple[PfcSetting, ...]) -> Asking[PfcAround]:
        """Whether another port needs the priorities, too."""
        of = yield from configured()
        others = of.ports.keys() - {self.port(port)}
        return PfcAround(of, any(self._mode(of, each) == "on" for each in others))

    def commands(
        self, port: str, earlier: PfcSetting, wanted: PfcSetting, around: PfcAround
    ) -> Commands:
        """The priorities first, so that PFC never works with those of somebody else."""
        now = self._value(around.of, self.port(port)).priorities
        before, after = (around.left_alone(each, now) for each in (earlier, wanted))
        lines = super().commands(port, before, after, around.of)
        if earlier.mode == wanted.mode:
            return lines
        mode = line("priority-flow-control", "mode", wanted.mode)
        return (*lines, line("interface", self.port(port)), mode, EXIT)

    def wrong(self, wanted: PfcSetting, found: PfcSetting, before: Any, after: Any) -> str:
        """Priorities that were left alone are not wrong."""
        return super().wrong(after.left_alone(wanted, found.priorities), found, before, after)

    def _means(self, _: Configured, classes: Classes) -> Hashable:
        others = {each.name: frozenset(without(each, _PAUSE)) for each in classes}
        return self._lossless(classes), frozenset(others.items())

    def _lossless(self, classes: Classes) -> frozenset[int]:
        pausing = {self.queue(each): each for each in classes}
        return frozenset(q for q, each in pausing.items() if self._is_paused(q, each))

    def _is_paused(self, queue: int, block: Block) -> bool:
        pauses = [text for text in block.lines if text.startswith(_PAUSE)]
        if pauses and pauses != [f"pause pfc-cos {queue}"]:
            raise self.reject(
                f"class type network-qos {block.name}",
                f"it has {pauses[0]!r}: the CoS of its pauses is not its own number",
                "give each no-drop class the CoS of its number (pause pfc-cos)",
            )
        return bool(pauses)


# -- frames ----------------------------------------------------------------------------------------


def _frames(
    port: str,
    received: tuple[tuple[int, ...], ...],
    sent: tuple[tuple[int, ...], ...],
    **total: int,
) -> tuple[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    if (sum(received[0]), sum(sent[0])) != (total["all_received"], total["all_sent"]):
        raise Unfit("has totals that are not the sums of its priorities")
    return port, (received[0], sent[0])


_CELLS = "".join(rf"\|\s*<p{n}:number>\s*" for n in range(8))


def _eight(**cells: int) -> tuple[int, ...]:
    return tuple(cells[f"p{n}"] for n in range(8))


PORTS = NXOS.record(
    "<port:port>",
    NXOS.line("Admin Mode: (On|Off|Auto)"),
    NXOS.line("Oper Mode: (On|Off)"),
    NXOS.line(r"VL bitmap: \([0-9a-f]*\)"),
    NXOS.line("Total Rx PFC Frames: <all_received:number>"),
    NXOS.line("Total Tx PFC Frames: <all_sent:number>"),
    NXOS.line("".join(rf"\| Priority{n} " for n in range(8)) + r"\|"),
    NXOS.record(rf"Rx {_CELLS}\|?", make=_eight, into="received", times=(1, 1)),
    NXOS.record(rf"Tx {_CELLS}\|?", make=_eight, into="sent", times=(1, 1)),
    make=_frames,
    order="unique",
)
_SOURCE = "show interface priority-flow-control detail"
_SOURCES = {PFC_RX_FRAMES: f"{_SOURCE}: Rx", PFC_TX_FRAMES: f"{_SOURCE}: Tx"}


def parse_pfc_detail(reply: Reply) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Received and sent by priority, of each port."""
    return dict(read(reply, PORTS))


class NxosPfcFrames(NxosPart, PfcTelemetry):
    """PFC frames received and sent; the switch counts whether PFC is on or not."""

    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        """One display of all ports."""
        reply = yield from show("interface", "priority-flow-control", "detail")
        found = parse_pfc_detail(reply)
        return tuple(each for port in ports for each in self._of_port(reply, found, port))

    def _of_port(self, reply: Reply, found: Any, port: str) -> tuple[Reading, ...]:
        shown = dict(zip(_SOURCES, found.get(self.port(port), ()), strict=False))

        def counted(priority: int, name: str) -> tuple[int | None, str]:
            value = shown[name][priority] if shown else None
            return value, "the switch shows nothing of this port"

        return Answered(reply, port, "priority").of_eight(_SOURCES, counted)
