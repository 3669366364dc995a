"""PFC: the mode of a port, the lossless classes of the whole switch, and the frames.

A class is lossless by `pause pfc-cos N` in the policy-map `type network-qos` of `system qos`, so
the priorities are the same at every port. What is read is a port's own mode and those priorities.
They follow the ports whose mode is on: one that is switched off leaves them while another is on.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labtests.capabilities.counters import PFC_RX_FRAMES, PFC_TX_FRAMES
from labtests.capabilities.device import PfcTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC, Commands
from labtests.drivers.displays import Unfit, read
from labtests.drivers.nxos.configuration import Classes, Configured, PolicyClass
from labtests.drivers.nxos.policies import QueuePolicySetting
from labtests.drivers.nxos.session import CLI, NXOS, NxosPart, line
from labtests.drivers.pauses import SharedPriorities, left_alone
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_MODE = NXOS.shape("priority-flow-control mode <mode:auto|on|off>( send-tlv)?")


class NxosPfc(QueuePolicySetting[PfcSetting], SharedPriorities):
    """Mode and priorities."""

    kind = PFC
    slot = "network-qos"
    of_switch = True
    template = "c-8q-nq"
    about = ("pause",)
    new = ("mtu 9216",)
    """Beside the pause, in all published configurations."""

    def state(self, port: str) -> Asking[Configured]:
        """And whether another port needs the priorities, too."""
        of = yield from super().state(port)
        others = of.ports.keys() - {self.port(port)}
        return replace(of, shared=any(self._mode(of, each) == "on" for each in others))

    def value(self, of: Configured, port: str) -> PfcSetting:
        """A port without a line is in mode auto."""
        return PfcSetting(mode=self._mode(of, self.port(port)), priorities=self._lossless(of, port))

    def _mode(self, of: Configured, port: str) -> Any:
        return _MODE.first(of.lines(self.device, port)).get("mode", "auto")

    def _lossless(self, of: Configured, port: str) -> frozenset[int]:
        classes = self.eight(self.in_force(of, port))
        return frozenset(queue for queue, each in classes if self._said(queue, each))

    def _kept(self, of: Configured, port: str) -> Classes:
        return self.others(of, port)[1]

    def _wanted(self, of: Configured, port: str, wanted: PfcSetting) -> Mapping[int, str]:
        return {queue: f"pause pfc-cos {queue}" for queue in wanted.priorities}

    def commands(
        self, port: str, earlier: PfcSetting, wanted: PfcSetting, around: Configured
    ) -> Commands:
        """The priorities first, so that PFC never works with those of somebody else."""
        now = self._lossless(around, port)
        before, after = (left_alone(each, now, shared=around.shared) for each in (earlier, wanted))
        lines = super().commands(port, before, after, around)
        if earlier.mode == wanted.mode:
            return lines
        mode = line("priority-flow-control", "mode", wanted.mode)
        return (*lines, *CLI.at(self.port(port), mode))

    def _said(self, queue: int, block: PolicyClass) -> bool:
        pauses = block.about(self.about)
        if pauses and pauses != (f"pause pfc-cos {queue}",):
            problem = f"it has {pauses[0]!r}: the CoS of its pauses is not its own number"
            remedy = "give each no-drop class the CoS of its number (pause pfc-cos)"
            raise self.reject(f"class type network-qos {block.name}", problem, remedy)
        return bool(pauses)


# -- frames ----------------------------------------------------------------------------------------


Frames = tuple[int, ...]
"""Of priorities 0 to 7."""


def _frames(port: str, **told: int) -> tuple[str, tuple[Frames, Frames]]:
    received, sent = (tuple(told[f"{side}{n}"] for n in range(8)) for side in ("Rx", "Tx"))
    if (sum(received), sum(sent)) != (told["Rx"], told["Tx"]):
        raise Unfit("has totals that are not the sums of its priorities")
    return port, (received, sent)


def _row(side: str) -> str:
    return f"{side} " + "".join(rf"\|\s*<{side}{n}:number>\s*" for n in range(8)) + r"\|?"


PORTS = NXOS.record(
    "<port:port>",
    *NXOS.lines("Admin Mode: (On|Off|Auto)", "Oper Mode: (On|Off)", r"VL bitmap: \([0-9a-f]*\)"),
    *NXOS.lines(*(f"Total {side} PFC Frames: <{side}:number>" for side in ("Rx", "Tx"))),
    *NXOS.lines("".join(rf"\| Priority{n} " for n in range(8)) + r"\|", _row("Rx"), _row("Tx")),
    make=_frames,
    order="unique",
)
_SOURCE = "show interface priority-flow-control detail"
_SOURCES = {PFC_RX_FRAMES: f"{_SOURCE}: Rx", PFC_TX_FRAMES: f"{_SOURCE}: Tx"}


def parse_pfc_detail(reply: Reply) -> dict[str, tuple[Frames, Frames]]:
    """Received and sent by priority, of each port."""
    return dict(read(reply, PORTS))


class NxosPfcFrames(NxosPart, PfcTelemetry):
    """PFC frames received and sent; the switch counts whether PFC is on or not."""

    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        """One display of all ports."""
        reply = yield from CLI.show("show", "interface", "priority-flow-control", "detail")
        found = parse_pfc_detail(reply)
        return tuple(each for port in ports for each in self._of_port(reply, found, port))

    def _of_port(self, reply: Reply, found: Any, port: str) -> tuple[Reading, ...]:
        both = enumerate(zip(*found.get(self.port(port), ()), strict=True))
        shown = {priority: dict(zip(_SOURCES, each, strict=True)) for priority, each in both}
        missing = "the switch shows nothing of this port"
        return Answered(reply, port, "priority").of_blocks(_SOURCES, shown, missing)
