"""The box of an emulated switch: counters, cables, clock, faults, and what its ports do to packets.

Whoever has a configuration, a command line or a database, says what each port is to do.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Any, Literal

from labtests.core.headroom import FULL_FRAME_BYTES, headroom_for
from labtests.inventory import Device, Endpoint, Link
from labtests.network import (
    DeadlockDetection,
    EdgeClass,
    GroupMemory,
    GuardCounters,
    PauseTimeout,
    PfcWatchdog,
    RateLimit,
    Schedule,
    WredCurve,
)
from labtests.simlab.dcbx import DcbxTlvs, Version
from labtests.simlab.defects import LAB_EPOCH
from labtests.simlab.face import Announced
from labtests.simlab.faults import HiddenCounters, UnknownFault
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.losses import Fault
from labtests.simlab.refreshing import Counted, ShownCounters
from labtests.simlab.switch_cli.cli import CountingRules
from labtests.simlab.switch_cli.counters import QUEUE_DROPS, Statistics
from labtests.simlab.timeline import NS_PER_S

PfcMode = Literal["off", "on", "auto"]
TrustSource = Literal["dscp", "dot1p", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortBehaviour:
    """What a port does to packets, in the packet network's terms."""

    shutdown: bool = False
    pfc: PfcMode = "off"
    no_drop: frozenset[int] = frozenset()
    asymmetric: bool = False  # pauses of all priorities are obeyed
    headroom_cells: int | None = None
    cable_m: int | None = None  # by which headroom is sized that is not told; None: as cabled
    thresholds: Mapping[int, GroupMemory] = field(default_factory=dict)  # by priority
    trust: TrustSource = "none"
    dscp_map: tuple[int, ...] | None = None  # of this port alone; None: the whole switch's
    edge: tuple[EdgeClass, ...] | None = None  # see Switch.set_edge
    schedule: Schedule = field(default_factory=Schedule)
    limits: tuple[RateLimit | None, ...] = (None,) * 8  # of queues
    curves: tuple[WredCurve | None, ...] = (None,) * 8
    guard: PfcWatchdog | DeadlockDetection | PauseTimeout | None = None
    dcbx: DcbxTlvs | None = None  # what it tells its peer by DCBX


def _later(curve: WredCurve) -> WredCurve:
    """As it is of a switch that takes units of one kind for those of another."""
    return replace(curve, low_limit=2 * curve.low_limit, high_limit=2 * curve.high_limit)


@dataclass(frozen=True, slots=True)
class GuardEvent:
    """A queue was shut, or restored, at a moment of the lab; with the counters of it then."""

    at_ns: int
    port: str
    queue: int
    counted: GuardCounters
    shut: bool = False


class Chassis(ABC):
    """One switch. `refreshed` says every how many seconds which counters are read from hardware,
    where they are not those of the moment."""

    def __init__(
        self,
        lab: SimulatedLab,
        device: Device,
        rules: CountingRules,
        refreshed: Mapping[Counted, float] | None = None,
    ) -> None:
        self.name = device.name
        self.ports = tuple(port.interface for port in device.ports)
        self.network = lab.network.switch(device.name)
        self.faults = lab.faults[device.name]
        self._lab, self._rules = lab, rules
        self._booted_ns = 0
        self._shut: set[str] = set()
        self._headroom: dict[str, int | None] = {}  # as the network has it
        self._thresholds: dict[str, Mapping[int, GroupMemory]] = {}
        self._guarded: dict[str, tuple[GuardCounters, ...]] = {}
        self._cable_m: dict[str, int | None] = {}  # as ports are told
        self._frame_bytes = FULL_FRAME_BYTES  # of what is lossless
        self.shown = ShownCounters(self.network, lab.timeline, self.faults.losses, refreshed)
        self.statistics = Statistics(self.ports, self.shown, lab.timeline, self.faults, rules)
        self._late_marks: set[str] = set()
        self.faults.losses.acts |= {"growing-counter": self._grow, "late-marks": self._mark_late}
        self.faults.losses.on_heal.append(self._mark_in_time)
        self.faults.on_loss.append(self.network.drop_randomly)
        self.faults.lost = lambda port, queue: (
            self.network.queue_counters(port)[queue].dropped_packets
        )
        self.faults.on_down.append(self._start_again)
        self.faults.on_up.append(self._shut_ports)
        for port in self.ports:
            lab.dcbx.on_heard[self._end(port)] = partial(self.renew, port)

    @abstractmethod
    def renew(self, port: str) -> None:
        """The port does what the configuration says (`apply`)."""

    @abstractmethod
    def load_saved(self) -> None:
        """The configuration is that of the start again, and in force."""

    # -- for displays -----------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """Its clock, which keeps running during a reboot."""
        return self.clock_at(self._lab.timeline.now_ns)

    def clock_at(self, at_ns: int) -> datetime:
        """What it shows at this moment of the lab."""
        ahead_s = self.faults.defects.clock_ahead_s
        return LAB_EPOCH + timedelta(seconds=at_ns / NS_PER_S + ahead_s)

    def uptime_s(self) -> float:
        """Simulated seconds since the last boot."""
        return (self._lab.timeline.now_ns - self._booted_ns) / NS_PER_S

    def rate_bits_per_s(self, port: str) -> int | None:
        """The speed of the link; None without a cable."""
        link = self._link(port)
        return None if link is None else link.speed_bits_per_s

    def has_link(self, port: str) -> bool:
        """Whether its cable is plugged in at both ends."""
        return self._lab.has_link(self._end(port))

    def headroom_cells(self, port: str) -> int:
        """What each lossless group of the port has, by the configuration or the usual rule."""
        told = self._headroom.get(port)
        return self._usual_headroom(port) if told is None else told

    def _usual_headroom(self, port: str) -> int:
        """By the white paper's rule (S23), for two frames, and the cable that is there, or told."""
        link, told_m = self._link(port), self._cable_m.get(port)
        if link is None:
            return 0
        cable_m = link.length_m if told_m is None else told_m
        return headroom_for(link.speed_bits_per_s, cable_m, frame_bytes=self._frame_bytes)

    def pfc_works(self, port: str) -> bool:
        """Whether PFC is in operation at the port; not without a cable."""
        return port in self.network.ports and self.network.pfc_operational(port)

    def guard_counters(self, port: str) -> tuple[GuardCounters, ...]:
        """What the port's guard did to its eight queues; none without a cable."""
        return self.network.guards.counters(port) if port in self.network.ports else ()

    def guard_events(self) -> list[GuardEvent]:
        """What guards have done since this was asked last, in its order. Each is told if it is
        asked at least as often as they look at their queues."""
        found = []
        for port in self.network.ports:
            now = self.guard_counters(port)
            known, self._guarded[port] = self._guarded.get(port, now), now
            for queue, (old, new) in enumerate(zip(known, now, strict=True)):
                if new.shutdowns > old.shutdowns:
                    found.append(GuardEvent(new.last_shut_ns or 0, port, queue, new, shut=True))
                if new.restored > old.restored:
                    found.append(GuardEvent(new.last_restored_ns or 0, port, queue, new))
        return sorted(found, key=attrgetter("at_ns"))

    def hidden(self, port: str) -> HiddenCounters:
        """Counters of the port that a fault hides."""
        return self.faults.hidden(port)

    def crc_errors(self, port: str) -> int:
        """Frames received with a wrong checksum."""
        broken = self.faults.defects.broken_frames(port, self._lab.timeline.now_ns)
        return self.statistics.drops(port).crc_errors + broken

    def refused(self, port: str) -> int:
        """Packets that were dropped on their way in."""
        return self.statistics.drops(port).input_drops

    def dropped_out(self, port: str) -> int:
        """Packets that its queues dropped."""
        return sum(each.dropped_packets for each in self.statistics.queues(port))

    def lldp_neighbour(self, port: str) -> Announced | None:
        """The LLDP neighbour: as cabled in the testbed, unless a fault says otherwise. None without
        a cable, or while the port is shut down."""
        peer = self._lab.testbed.peer(self._end(port))
        if port in (wrong := self.faults.defects.neighbours):
            device, _, interface = wrong[port].partition(":")
            peer = Endpoint(device=device, interface=interface) if interface else None
        if peer is None or port in self._shut:
            return None
        face: Any = self._lab.devices[peer.device]
        return face.announces(peer.interface)  # type: ignore[no-any-return]

    # -- what ports do ----------------------------------------------------------------------------

    def apply(self, port: str, wanted: PortBehaviour) -> None:
        """The port behaves so. Only differences are set: setting a WRED curve again would reset its
        average. A port without a cable is not in the network."""
        network = self.network
        if port not in network.ports:
            return
        self._shut_port(port, wanted.shutdown)
        self._lab.dcbx.tell(self._end(port), wanted.dcbx)
        mode = self._negotiated(port, wanted)
        if network.pfc(port) != (mode, wanted.no_drop):
            network.set_pfc(port, mode, wanted.no_drop)
        if network.is_asymmetric(port) != wanted.asymmetric:
            network.set_asymmetric(port, wanted.asymmetric)
        if network.trust(port) != wanted.trust:
            network.set_trust(port, wanted.trust)
        if wanted.dscp_map not in (None, network.dscp_map(port)):
            network.set_dscp_map(port, wanted.dscp_map)
        network.set_edge(port, wanted.edge)
        self._set_headroom(port, wanted.headroom_cells, wanted.cable_m)
        self._set_thresholds(port, wanted.thresholds)
        if network.schedule(port) != wanted.schedule:
            network.set_schedule(port, wanted.schedule)
        self._set_limits(port, wanted.limits)
        if network.guards.get(port) != wanted.guard:
            network.guards.set(port, wanted.guard)
        self._set_curves(port, wanted.curves)

    def map_queues(self, queues: Iterable[int]) -> None:
        """Priority 0, 1, ... of the whole switch goes into these."""
        for priority, queue in enumerate(queues):
            if self.network.dot1p_lp[priority] != queue:
                self.network.set_dot1p_lp(priority, queue)

    def _set_limits(self, port: str, wanted: tuple[RateLimit | None, ...]) -> None:
        now = self.network.rate_limits(port)
        for queue, (old, new) in enumerate(zip(now, wanted, strict=True)):
            if old != new:
                self.network.set_rate_limit(port, queue, new)

    def dcbx_heard(self, port: str) -> tuple[Version | None, DcbxTlvs | None]:
        """The version that the port and its peer speak, and what the peer tells in it."""
        end = self._end(port)
        return self._lab.dcbx.version(end), self._lab.dcbx.heard(end)

    def _negotiated(self, port: str, wanted: PortBehaviour) -> PfcMode:
        """`auto` works where the peer tells PFC for one of the priorities."""
        heard = self._lab.dcbx.heard(self._end(port))
        agreed = heard is not None and heard.pfc & wanted.no_drop
        return "on" if wanted.pfc == "auto" and agreed else wanted.pfc

    def expect_frames(self, frame_bytes: int) -> None:
        """See Forwarding: a lossless port has headroom for two of them. Chosen: a real switch does
        not follow the hosts' MTU, who sets one sets the other."""
        self._frame_bytes = frame_bytes
        for port in self.ports:
            if self._link(port) is not None:
                self.renew(port)

    def _set_curves(self, port: str, wanted: tuple[WredCurve | None, ...]) -> None:
        if port in self._late_marks:
            wanted = tuple(curve and _later(curve) for curve in wanted)
        for queue, before in enumerate(self.network.wred(port)):
            if wanted[queue] != before:
                self.network.set_wred(port, queue, wanted[queue])

    def _set_headroom(self, port: str, cells: int | None, cable_m: int | None) -> None:
        self._cable_m[port] = cable_m
        usual = cable_m is None and self._frame_bytes == FULL_FRAME_BYTES  # as the network delivers
        wanted = self._usual_headroom(port) if cells is None and not usual else cells
        if self._headroom.get(port) != wanted:
            self._headroom[port] = wanted
            self.network.set_headroom(port, wanted)

    def _set_thresholds(self, port: str, wanted: Mapping[int, GroupMemory]) -> None:
        before = self._thresholds.get(port, {})
        for priority in sorted({*before, *wanted}):
            own = wanted.get(priority, GroupMemory())
            if before.get(priority, GroupMemory()) != own:
                self.network.set_thresholds(port, priority, own)
        self._thresholds[port] = wanted

    def _shut_port(self, port: str, shut: bool) -> None:
        if shut == (port in self._shut) or self.faults.booting:
            return
        (self._shut.add if shut else self._shut.discard)(port)
        self._lab.set_link(self._end(port), not shut)

    def _link(self, port: str) -> Link | None:
        return self._lab.testbed.link_of(self._end(port))

    def _end(self, port: str) -> Endpoint:
        return Endpoint(device=self.name, interface=port)

    # -- faults -----------------------------------------------------------------------------------

    def _start_again(self) -> None:
        self.load_saved()
        self._booted_ns = self._lab.timeline.now_ns
        for reset in self.faults.on_reset:
            reset()

    def _shut_ports(self) -> None:
        """After booting, all links are up; ports with `shutdown` go down again."""
        self._shut.clear()
        for port in self.ports:
            self.renew(port)

    def _mark_late(self, fault: Fault) -> None:
        if (port := str(fault["port"])) not in self.network.ports:
            raise UnknownFault(f"{self.name} has no cable in {port!r}")
        self._late_marks.add(port)
        self.renew(port)

    def _mark_in_time(self) -> None:
        late, self._late_marks = self._late_marks, set()
        for port in sorted(late):
            self.renew(port)

    def _grow(self, fault: Fault) -> None:
        port, counter, by = str(fault["port"]), str(fault["counter"]), int(fault["by"])
        growing = (*self._rules.growing, *QUEUE_DROPS)
        if port not in self.ports or counter not in growing:
            known = ", ".join(growing)
            raise UnknownFault(f"{port!r} {counter!r} is no port of {self.name} and one of {known}")
        self.faults.losses.grow(port, counter, lambda: by)
