"""A switch as its operating system sees it: settings that take effect now, and counters."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from labtests.network.counting import counted, memory_use, port_counters
from labtests.network.events import wake_port
from labtests.network.fabric import give_headroom, set_group, share_memory
from labtests.network.flow_control import (
    FlowControl,
    check_priority,
    mask_of,
    priorities_of,
)
from labtests.network.memory import is_dynamic, recount_lossy, shared_use, threshold_cells
from labtests.network.memory_settings import GroupCounters, GroupMemory, MemoryUse, SwitchMemory
from labtests.network.model import SwitchModel
from labtests.network.pause_frames import LINK_BIT
from labtests.network.pause_settings import LinkPause
from labtests.network.pausing import hold
from labtests.network.settings import (
    EdgeClass,
    PfcCounters,
    PortCounters,
    PortDrops,
    QueueCounters,
    RateLimit,
    Schedule,
    WredCurve,
)
from labtests.network.tables import (
    NONE,
    PS_PER_NS,
    PS_PER_S,
    RED_ARRIVING,
    RED_LEAVING,
    RED_POLLED,
    TRUST_DOT1P,
    TRUST_DSCP,
    TRUST_NONE,
    Tables,
)
from labtests.network.watchdog import Guards

_TRUST = {"none": TRUST_NONE, "dot1p": TRUST_DOT1P, "dscp": TRUST_DSCP}
_MODES = ("off", "on", "auto")
_QUEUE_COLUMNS = {
    "forwarded_packets": "forwarded_packets",
    "forwarded_bytes": "forwarded_bytes",
    "dropped_packets": "dropped_packets",
    "dropped_bytes": "dropped_bytes",
    "length_packets": "packets",
    "length_cells": "cells",
    "marked_packets": "marked",
    "tail_dropped_packets": "tail_dropped",
    "wred_dropped_packets": "wred_dropped",
    "peak_cells": "peak_cells",
    "lossy_cells": "lossy_cells",
}
"""Each of QueueCounters -> its column of a queue; read row by row: a record is slow to ask."""


def _note_odd(queue: Any) -> None:
    odd = queue.loss_per_million or queue.own_limit_cells or queue.own_limit_packets
    queue.odd = int(odd > 0)


class Switch:
    """A switch. Made by Network.switch(). Ports are named as in the testbed."""

    def __init__(self, network: SwitchModel, row: int, name: str, ports: dict[str, int]) -> None:
        self._network = network
        self._name = name
        self._row = row
        self._ports = ports
        self._pfc: dict[str, tuple[str, frozenset[int]]] = {}
        self._asymmetric: set[str] = set()
        self._schedules: dict[str, Schedule] = {}
        self._wred: dict[tuple[str, int], WredCurve] = {}
        self._limits: dict[tuple[str, int], RateLimit] = {}
        self._unlimited: frozenset[str] = frozenset()
        self.guards = Guards(network, ports)
        self._headroom: dict[str, int | None] = {}
        self._portless: dict[str, int] = {}
        self._edges: dict[str, tuple[EdgeClass, ...]] = {}
        self._misplaced: dict[str, Mapping[int, int]] = {}
        self._unmarking: frozenset[str] = frozenset()
        self._deaf: dict[str, int] = {}  # trust as set, of ports that classify nothing

    @property
    def ports(self) -> tuple[str, ...]:
        """The ports that have a cable."""
        return tuple(self._ports)

    @property
    def _tables(self) -> Tables:
        return self._network.tables

    @property
    def _memory(self) -> SwitchMemory:
        return self._network.memory[self._name]

    def _port(self, port: str) -> Any:
        return self._tables.port[self._ports[port]]

    def flow_control(self, port: str) -> FlowControl:
        """The pause frames of a port: timing, storms, counters."""
        return FlowControl(self._network, self._ports[port])

    # -- PFC and trust --

    def set_pfc(self, port: str, mode: str, priorities: frozenset[int]) -> None:
        """PFC mode and no-drop priorities. `auto` waits for a DCBX peer, which whoever configures
        this port has to know: there is none here."""
        if mode not in _MODES:
            raise ValueError(f"not a PFC mode: {mode!r}")
        mask_of(priorities)
        if mode == "on" and priorities and any(self.flow_control(port).link_pause):
            raise ValueError(f"{port}: 802.3x is on: set_link_pause(port, None) before PFC")
        self._pfc[port] = (mode, frozenset(priorities))
        self._operate_pfc(port)

    def pfc(self, port: str) -> tuple[str, frozenset[int]]:
        """(mode, no-drop priorities) as set."""
        self._ports[port]
        return self._pfc.get(port, ("off", frozenset()))

    def set_asymmetric(self, port: str, asymmetric: bool) -> None:
        """Asymmetric PFC: the port obeys pauses of all priorities, whatever its own PFC is, and
        sends those of its no-drop priorities. Else it obeys those, alone."""
        (self._asymmetric.add if asymmetric else self._asymmetric.discard)(port)
        self._operate_pfc(port)

    def is_asymmetric(self, port: str) -> bool:
        """See set_asymmetric."""
        self._ports[port]
        return port in self._asymmetric

    def set_link_pause(self, port: str, pause: LinkPause | None) -> None:
        """802.3x on this side of the port's link, or off. Not beside PFC."""
        mode, priorities = self.pfc(port)
        if pause is not None and mode != "off" and priorities:
            raise ValueError(f"{port}: PFC is on: set_pfc(port, 'off', ...) before 802.3x")
        self.flow_control(port).set_link_pause(pause, cell_bytes=self._memory.cell_bytes)
        self._operate_pfc(port)

    def pfc_operational(self, port: str) -> bool:
        """Whether PFC works: mode on, and the port trusts what arrives (dot1p or dscp)."""
        return self.pfc(port)[0] == "on" and self.trust(port) != "none"

    def _operate_pfc(self, port: str) -> None:
        """Thresholds, headroom and obedience of the port follow its settings."""
        t, p = self._tables, self._ports[port]
        self.guards.restore_all(port)
        mask = mask_of(self.pfc(port)[1]) if self.pfc_operational(port) else 0
        if self.flow_control(port).link_pause[0]:
            mask = 0xFF  # 802.3x: all its groups are lossless
        obeyed = 0xFF if port in self._asymmetric else mask
        t.port[p].pfc_on, t.port[p].pfc_obeyed = mask, obeyed
        own = self._headroom.get(port)
        give_headroom(t, self._network.wiring, p, self._memory, port_cells=own)
        for i in range(8):
            lane = t.lane[8 * p + i]
            if not mask >> i & 1:
                lane.xoff = 0
            if not obeyed >> i & 1 and lane.paused_until > t.clock[0].now:
                hold(self._network.state, p, i, 0)
        t.port[p].pfc_pending &= mask | int(t.control[p].storm) | LINK_BIT
        share_memory(t, self._row, self._memory)
        if is_dynamic(self._network.state, self._row):
            for other in self._ports.values():
                for q in range(8 * other, 8 * other + 8):
                    recount_lossy(self._network.state, q)

    def set_headroom(self, port: str, cells: int | None) -> None:
        """Each lossless priority of this port has so many cells; None: as the memory says."""
        if cells is not None and cells < 0:
            raise ValueError(f"not a number of cells: {cells}")
        self._headroom[port] = cells
        self._operate_pfc(port)

    def set_thresholds(self, port: str, priority: int, own: GroupMemory) -> None:
        """One priority of this port has these; None: as the memory says. Headroom is apart."""
        memory = replace(self._memory, priorities={**self._memory.priorities, priority: own})
        set_group(self._tables, 8 * self._ports[port] + priority, memory.group(priority))
        share_memory(self._tables, self._row, self._memory)

    def set_trust(self, port: str, trust: str) -> None:
        """`dscp`, `dot1p` or `none`: which field of the arriving packets decides."""
        if trust not in _TRUST:
            raise ValueError(f"not a trust mode: {trust!r}")
        if port in self._deaf:
            self._deaf[port] = _TRUST[trust]
        else:
            self._port(port).trust = _TRUST[trust]
        self._operate_pfc(port)

    def trust(self, port: str) -> str:
        """The trust mode of a port, as it was set."""
        number = self._deaf.get(port, int(self._port(port).trust))
        return next(name for name, value in _TRUST.items() if value == number)

    # -- maps --

    def dscp_map(self, port: str) -> tuple[int, ...]:
        """The dot1p of each DSCP 0..63 that arrives at a port, where it trusts DSCP."""
        return tuple(int(value) for value in self._port(port).dscp_dot1p)

    @property
    def dscp_dot1p(self) -> tuple[int, ...]:
        """The same where all ports have one map (`qos map-table dscp-dot1p`): the first port's."""
        return next(map(self.dscp_map, self._ports), tuple(dscp // 8 for dscp in range(64)))

    @property
    def dot1p_lp(self) -> tuple[int, ...]:
        """The local precedence (queue) of each dot1p 0..7 (`qos map-table dot1p-lp`)."""
        return tuple(int(value) for value in self._tables.switch[self._row].dot1p_lp)

    def set_dscp_map(self, port: str, dot1ps: Sequence[int]) -> None:
        """Packets with DSCP 0..63 get these dot1p at this port, where it trusts DSCP."""
        if len(dot1ps) != 64:
            raise ValueError(f"not the dot1p of 64 DSCPs: {dot1ps!r}")
        for dot1p in dot1ps:
            check_priority(dot1p)
        self._port(port).dscp_dot1p[:] = dot1ps

    def set_dscp_dot1p(self, dscp: int, dot1p: int) -> None:
        """Packets with this DSCP get this dot1p on all ports that trust DSCP (`qos map-table`)."""
        check_priority(dot1p)
        if not 0 <= dscp <= 63:
            raise ValueError(f"not a DSCP 0..63: {dscp!r}")
        for port in self._ports:
            self._port(port).dscp_dot1p[dscp] = dot1p

    def set_dot1p_lp(self, dot1p: int, queue: int) -> None:
        """Packets with this dot1p go through this queue."""
        check_priority(dot1p)
        check_priority(queue)
        self._tables.switch[self._row].dot1p_lp[dot1p] = queue

    def set_edge(self, port: str, classes: tuple[EdgeClass, ...] | None) -> None:
        """What becomes of what arrives at this port, whatever it trusts: of packets to UDP port
        4791 (RoCEv2) by their DSCP 0..63, then of all others; None: as the maps have it."""
        record = self._port(port)
        record.edge = 0 if classes is None else self._portless.get(port, 1)
        self._edges[port] = classes or (EdgeClass(),) * 128
        self._place_at_edge(port)

    def _place_at_edge(self, port: str) -> None:
        classes, record = self._edges[port], self._port(port)
        misplaced, marks = self._misplaced.get(port, {}), port not in self._unmarking
        queues = [misplaced.get(row, each.queue) for row, each in enumerate(classes)]
        dscps = [each.dscp if marks else None for each in classes]
        record.edge_queue[:] = [NONE if n is None else n for n in queues]
        record.edge_dscp[:] = [NONE if n is None else n for n in dscps]

    def ignore_udp_port(self, port: str, *, ignores: bool = True) -> None:
        """Fault: where a policy asks for UDP port and DSCP, the DSCP alone is enough."""
        self._portless[port] = 2 if ignores else 1
        record = self._port(port)
        record.edge = self._portless[port] if record.edge else 0

    def misplace_roce(self, port: str, queues: Mapping[int, int]) -> None:
        """Fault: a policy puts RoCE with these DSCPs into these queues; of none: as it says."""
        for queue in queues.values():
            check_priority(queue)
        self._misplaced[port] = queues
        if port in self._edges:
            self._place_at_edge(port)

    def ignore_remarks(self, port: str, *, ignores: bool = True) -> None:
        """Fault: a policy of the port gives no packet another DSCP."""
        self._unmarking = self._unmarking - {port} | ({port} if ignores else set())
        if port in self._edges:
            self._place_at_edge(port)

    # -- WRED and scheduling --

    def set_wred(self, port: str, queue: int, curve: WredCurve | None) -> None:
        """RED on one queue of a port; None: tail drop only. The average starts at 0."""
        check_priority(queue)
        record = self._tables.queue[8 * self._ports[port] + queue]
        self._wred.pop((port, queue), None)
        record.wred = 0
        record.average_cells = 0.0
        record.empty_since = self._tables.clock[0].now
        if curve is not None:
            self._wred[port, queue] = curve
            record.wred = RED_LEAVING if curve.mark_leaving else RED_ARRIVING
            if curve.poll_period_ns:
                record.wred = RED_POLLED
                record.poll_ps = curve.poll_period_ns * PS_PER_NS
                record.polls = self._tables.clock[0].now // record.poll_ps
            record.low_cells = curve.low_limit
            record.high_cells = max(curve.high_limit, curve.low_limit)
            record.probability = curve.probability_percent / 100
            record.newest_weight = 0.5**curve.weighting_exponent
            record.ecn = int(curve.ecn)

    def wred(self, port: str) -> tuple[WredCurve | None, ...]:
        """The curves of queues 0..7."""
        self._ports[port]
        return tuple(self._wred.get((port, queue)) for queue in range(8))

    def set_schedule(self, port: str, schedule: Schedule) -> None:
        """How the port serves its queues."""
        t, p = self._tables, self._ports[port]
        self._schedules[port] = schedule
        t.port[p].count_bytes = int(schedule.unit == "byte-count" or schedule.discipline == "wfq")
        t.port[p].group_balance = 0
        t.port[p].levelled = int(schedule.levels is not None)
        if schedule.levels is not None:
            t.port[p].count_bytes = 1
            t.queue.level[8 * p : 8 * p + 8] = schedule.levels
        groups = ["sp" if schedule.discipline == "sp" else group for group, _ in schedule.queues]
        t.port[p].strict = sum(1 << i for i, group in enumerate(groups) if group == "sp")
        t.port[p].first = sum(1 << i for i, group in enumerate(groups) if group == "1")
        for i, (_, weight) in enumerate(schedule.queues):
            queue = t.queue[8 * p + i]
            queue.weight = max(1, weight)
            queue.credit = 0

    def schedule(self, port: str) -> Schedule:
        """How the port serves its queues; as delivered: byte-count WRR with equal weights."""
        self._ports[port]
        return self._schedules.get(port, Schedule())

    def set_rate_limit(self, port: str, queue: int, limit: RateLimit | None) -> None:
        """The most one queue of a port may send; None: what the port can. The bucket is full."""
        check_priority(queue)
        t, p = self._tables, self._ports[port]
        self._limits.pop((port, queue), None)
        t.port[p].limited = int(t.port[p].limited) & ~(1 << queue)
        if limit is not None:
            self._limits[port, queue] = limit
            record = t.queue[8 * p + queue]
            record.limit_bits = limit.bits_per_s
            record.bucket_ps = limit.burst_bytes * 8 * PS_PER_S // limit.bits_per_s
            record.bucket_full_at = record.bucket_rest = 0
            t.port[p].limited |= 0 if port in self._unlimited else 1 << queue
        wake_port(self._network.state, p)

    def ignore_rate_limits(self, port: str, *, ignores: bool = True) -> None:
        """Fault: the port holds none of its queues to a rate."""
        self._unlimited -= {port}
        if ignores:
            self._unlimited |= {port}
        for queue, limit in enumerate(self.rate_limits(port)):
            if limit is not None:
                self.set_rate_limit(port, queue, limit)

    def rate_limits(self, port: str) -> tuple[RateLimit | None, ...]:
        """The limits of queues 0..7 of a port."""
        self._ports[port]
        return tuple(self._limits.get((port, queue)) for queue in range(8))

    def set_queue_limit(
        self, port: str, queue: int, *, cells: int | None = None, packets: int | None = None
    ) -> None:
        """The most that one queue of a port may hold of its own, beside the switch's limits."""
        check_priority(queue)
        if min(cells or 1, packets or 1) < 1:
            raise ValueError(f"not a limit of 1 or more: {cells} cells, {packets} packets")
        record = self._tables.queue[8 * self._ports[port] + queue]
        record.own_limit_cells, record.own_limit_packets = cells or 0, packets or 0
        _note_odd(record)

    # -- counters --

    def queue_counters(self, port: str) -> tuple[QueueCounters, ...]:
        """Egress queues 0..7 of a port."""
        first = 8 * self._ports[port]
        rows = self._tables.queue[first : first + 8]
        columns = [rows.dtype.names.index(column) for column in _QUEUE_COLUMNS.values()]
        return tuple(
            QueueCounters(**dict(zip(_QUEUE_COLUMNS, itemgetter(*columns)(row), strict=True)))
            for row in rows.tolist()
        )

    def pfc_counters(self, port: str) -> tuple[PfcCounters, ...]:
        """PFC frames of priorities 0..7 of a port."""
        return self.flow_control(port).priorities()

    def drop_counters(self, port: str) -> PortDrops:
        """Drops and marks of a port, where they happened."""
        record = self._port(port)
        first = 8 * self._ports[port]
        lanes = self._tables.lane[first : first + 8]
        queues = self._tables.queue[first : first + 8]
        return counted(
            PortDrops,
            record,
            input_buffer_drops=int(lanes.buffer_drops.sum()),
            headroom_drops=int(lanes.headroom_drops.sum()),
            output_buffer_drops=int(queues.tail_dropped.sum()),
            wred_drops=int(queues.wred_dropped.sum()),
        )

    def port_counters(self, port: str) -> PortCounters:
        """Frames in and out of a port."""
        return port_counters(self._tables, self._ports[port])

    def group_counters(self, port: str) -> tuple[GroupCounters, ...]:
        """The groups of priorities 0..7 of a port."""
        first, state = 8 * self._ports[port], self._network.state
        return tuple(
            counted(
                GroupCounters,
                lane,
                lossless=bool(int(self._port(port).pfc_on) >> i & 1),
                paused=bool(lane.xoff),
                shared_used_cells=shared_use(state, first + i),
                peak_shared_cells=max(0, int(lane.peak_cells - lane.guaranteed_cells)),
                headroom_used_cells=int(lane.headroom_used),
                peak_headroom_cells=int(lane.peak_headroom),
                pool_used_cells=int(lane.pool_used),
            )
            for i, lane in enumerate(self._tables.lane[first : first + 8])
        )

    def pause_cells(self, port: str) -> tuple[tuple[int, int], ...]:
        """Shared cells at which a group of priorities 0..7 would be paused now, and go on again."""
        first, state = 8 * self._ports[port], self._network.state
        return tuple(
            (cells, max(cells - int(lane.xon_offset_cells), int(lane.xon_cells)))
            for i, lane in enumerate(self._tables.lane[first : first + 8])
            for cells in (int(threshold_cells(state, self._row, first + i)),)
        )

    def memory_use(self) -> MemoryUse:
        """What the packet memory holds now, and the most it ever held."""
        return memory_use(self._tables, self._row, self._ports)

    def forget_peaks(self) -> None:
        """Peaks of queues, groups and memory are what is held now, as a chip's are that are cleared
        when they are read."""
        t, s = self._tables, self._tables.switch[self._row]
        own = np.repeat(t.port.switch == self._row, 8)
        t.lane.peak_cells[own] = t.lane.ingress_cells[own]
        t.lane.peak_headroom[own] = t.lane.headroom_used[own]
        t.queue.peak_cells[own] = t.queue.cells[own]
        s.peak_used_cells, s.peak_shared_cells = s.used_cells, s.shared_used
        s.peak_pool_cells = s.pool_used

    # -- faults and lists --

    def drop_randomly(self, port: str, queue: int, per_million: int) -> None:
        """Fault: that share of the packets bound for this queue is dropped (and counted there)."""
        check_priority(queue)
        if not 0 <= per_million <= 1_000_000:
            raise ValueError(f"not 0..1000000 per million: {per_million}")
        record = self._tables.queue[8 * self._ports[port] + queue]
        record.loss_per_million = per_million
        _note_odd(record)

    def ignore_dscp(self, port: str, deaf: bool) -> None:
        """Fault: packets that arrive here are taken for priority 0, whatever the port trusts."""
        if deaf and port not in self._deaf:
            self._deaf[port] = int(self._port(port).trust)
            self._port(port).trust = TRUST_NONE
        elif not deaf and port in self._deaf:
            self._port(port).trust = self._deaf.pop(port)

    def pfc_working(self, port: str) -> frozenset[int]:
        """The priorities for which PFC works on this port now."""
        if any(self.flow_control(port).link_pause):
            return frozenset()
        return priorities_of(int(self._port(port).pfc_on))
