"""A switch port's counters as its CLI shows them: since the last reset, with recent rates."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from labtests.network import PfcCounters, PortCounters, PortDrops, QueueCounters
from labtests.simlab.faults import DeviceFaults
from labtests.simlab.refreshing import ShownCounters
from labtests.simlab.switch_cli.cli import CountingRules
from labtests.simlab.timeline import NS_PER_S, Timeline

RATE_WINDOW_S = 5
"""Rates are means over the last seconds; how many a real switch takes is hardly documented."""

_GAUGES = frozenset({"length_packets", "length_cells", "peak_cells"})


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueReading:
    """One egress queue."""

    forwarded_packets: int
    forwarded_bytes: int
    dropped_packets: int
    dropped_bytes: int
    length_cells: int
    marked_packets: int = 0
    wred_dropped_packets: int = 0
    packets_per_s: int = 0
    bits_per_s: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseFrames:
    """Pause frames of one priority."""

    received: int
    sent: int
    received_per_s: int = 0
    sent_per_s: int = 0


@dataclass(frozen=True, slots=True)
class _Snapshot:
    time_ns: int
    queues: tuple[QueueCounters, ...]
    pfc: tuple[PfcCounters, ...]
    drops: PortDrops
    traffic: PortCounters


Counters = TypeVar("Counters", QueueCounters, PortDrops)
Pair = TypeVar("Pair", PfcCounters, PortCounters)


def _since(now: Counters, base: Counters) -> Counters:
    """Counters count from the base on; gauges are as they are."""
    counted = [f.name for f in fields(now) if f.name not in _GAUGES]
    return replace(now, **{name: getattr(now, name) - getattr(base, name) for name in counted})


def _minus(now: Pair, base: Pair) -> Pair:
    return type(now)(*(a - b for a, b in zip(now, base, strict=True)))


QUEUE_DROPS = tuple(f"queue-{queue} drops" for queue in range(8))
"""For the fault `growing-counter`: dropped packets of egress queues, by the number."""


class Statistics:
    """The counters of all ports of one switch."""

    def __init__(
        self,
        ports: Sequence[str],
        network: ShownCounters,
        timeline: Timeline,
        faults: DeviceFaults,
        rules: CountingRules,
    ) -> None:
        self._ports, self._network = tuple(ports), network
        self._timeline, self._faults, self._rules = timeline, faults, rules
        self._base = {port: self._snapshot(port) for port in ports}
        self._recent: dict[str, deque[_Snapshot]] = {}
        self.reset(self._ports)
        faults.on_reset.append(lambda: self.reset(self._ports))
        timeline.after(NS_PER_S, self._sample)

    def reset(self, ports: Sequence[str]) -> None:
        """`reset counters interface`: these ports count from zero."""
        for port in ports:
            self._base[port] = self._snapshot(port)
            self._recent[port] = deque([self._base[port]], RATE_WINDOW_S)

    def queues(self, port: str) -> tuple[QueueReading, ...]:
        """The eight egress queues."""
        live, then, now_ns = (
            self._network.queue_counters(port),
            self._recent[port][0],
            self._timeline.now_ns,
        )
        drops = self._faults.reading(port, "queue-drops", lambda: self._dropped(port, live))
        return tuple(
            QueueReading(
                forwarded_packets=total.forwarded_packets,
                forwarded_bytes=self._bytes(total),
                dropped_packets=dropped[0],
                dropped_bytes=dropped[1],
                length_cells=total.length_cells,
                marked_packets=total.marked_packets,
                wred_dropped_packets=total.wred_dropped_packets,
                packets_per_s=_per_s(lately.forwarded_packets, now_ns, then),
                bits_per_s=_per_s(8 * self._bytes(lately), now_ns, then),
            )
            for total, lately, dropped in zip(
                self._totals(port, live), map(_since, live, then.queues), drops, strict=True
            )
        )

    def pfc(self, port: str) -> tuple[PauseFrames, ...]:
        """Pause frames, by priority."""
        return self._faults.reading(port, "pfc", lambda: self._live_pfc(port))

    def drops(self, port: str) -> PortDrops:
        """Why packets were dropped, and how many were marked."""
        return self._faults.reading(
            port,
            "packet-drop",
            lambda: self._with_grown(
                port, _since(self._network.drop_counters(port), self._base[port].drops)
            ),
        )

    def _with_grown(self, port: str, drops: PortDrops) -> PortDrops:
        grown = self._faults.losses.grown
        more = {
            name: getattr(drops, name) + grown(port, words)
            for words, name in self._rules.growing.items()
        }
        return replace(drops, **more)

    def all_drops(self) -> PortDrops:
        """The same for the whole switch."""
        ports = [self.drops(port) for port in self._ports]
        return PortDrops(
            **{f.name: sum(getattr(each, f.name) for each in ports) for f in fields(PortDrops)}
        )

    def traffic(self, port: str) -> PortCounters:
        """Packets and bytes in and out."""
        return _minus(self._network.port_counters(port), self._base[port].traffic)

    def traffic_per_s(self, port: str) -> PortCounters:
        """The same per second, lately."""
        then, now_ns = self._recent[port][0], self._timeline.now_ns
        lately = _minus(self._network.port_counters(port), then.traffic)
        return PortCounters(*(_per_s(count, now_ns, then) for count in lately))

    def _totals(self, port: str, live: tuple[QueueCounters, ...]) -> tuple[QueueCounters, ...]:
        return tuple(map(_since, live, self._base[port].queues))

    def _dropped(self, port: str, live: tuple[QueueCounters, ...]) -> tuple[tuple[int, int], ...]:
        totals, grown = self._totals(port, live), self._faults.losses.grown
        return tuple(
            (total.dropped_packets + grown(port, QUEUE_DROPS[queue]), total.dropped_bytes)
            for queue, total in enumerate(totals)
        )

    def _live_pfc(self, port: str) -> tuple[PauseFrames, ...]:
        live, base, then = self._network.pfc_counters(port), self._base[port], self._recent[port][0]
        now_ns = self._timeline.now_ns
        return tuple(
            PauseFrames(
                received=total.rx_frames,
                sent=total.tx_frames,
                received_per_s=_per_s(lately.rx_frames, now_ns, then),
                sent_per_s=_per_s(lately.tx_frames, now_ns, then),
            )
            for total, lately in zip(
                map(_minus, live, base.pfc), map(_minus, live, then.pfc), strict=True
            )
        )

    def _bytes(self, queue: QueueCounters) -> int:
        return queue.forwarded_bytes + self._rules.overhead_bytes * queue.forwarded_packets

    def _snapshot(self, port: str) -> _Snapshot:
        return _Snapshot(
            time_ns=self._timeline.now_ns,
            queues=self._network.queue_counters(port),
            pfc=self._network.pfc_counters(port),
            drops=self._network.drop_counters(port),
            traffic=self._network.port_counters(port),
        )

    def _sample(self) -> None:
        for port in self._ports:
            self._recent[port].append(self._snapshot(port))
        self._timeline.after(NS_PER_S, self._sample)


def _per_s(count: int, now_ns: int, then: _Snapshot) -> int:
    elapsed_ns = now_ns - then.time_ns
    return count * NS_PER_S // elapsed_ns if elapsed_ns else 0
