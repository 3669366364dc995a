"""Time passes in the network of a case: flows start and stop, figures are taken."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np

from labtests.network import (
    HostPort,
    Network,
    PortDrops,
    QueueWatch,
    RcFlow,
    TcpFlow,
    UdpFlow,
)
from labtests.network.cases import guards, happenings, pauses
from labtests.network.cases.building import AnyFlow, build, start
from labtests.network.cases.figures import (
    DropFigures,
    Figures,
    FlowFigures,
    HostFigures,
    MarkFigures,
    QueueFigures,
)
from labtests.network.cases.form import CaseFile, FlowPart
from labtests.network.cases.memory import memory_figures
from labtests.network.cases.pauses import HOST_INTERFACE, NS_PER_US
from labtests.network.counting import counted
from labtests.network.tables import PS_PER_US

NS_PER_MS = 1_000_000
DEFAULT_SAMPLES = 20_000
DEFAULT_BINS = 50
PERCENTILES = (1, 10, 50, 90, 99, 100)

QueueKey = tuple[str, str, int]


@dataclass(slots=True, kw_only=True)
class _Course:
    """One run under way: what has started, and what was noted so far."""

    case: CaseFile
    network: Network
    flows: dict[int, AnyFlow]
    watch: QueueWatch
    delivered: dict[int, list[int]]  # time in ns -> delivered bytes of each flow
    pauses_at_warmup: Mapping[pauses.PauseKey, int]
    held: dict[int, Mapping[pauses.PauseKey, int]]  # time in ns -> ps that pauses held each port

    def note(self) -> None:
        """The flows' delivered bytes and how long ports were held, now."""
        numbers = range(len(self.case.flows))
        self.delivered[self.network.now_ns] = [_arrived(self.flows.get(n)) for n in numbers]
        self.held[self.network.now_ns] = pauses.held_ps(self.network)


def run(case: CaseFile, *, seed: int | None = None) -> Figures:
    """The figures of a case. Same case, same seed: same figures."""
    network = build(case, seed=seed)
    queues = watched(case)
    period_us = case.sampling.queue_period_us or case.duration_ms * 1000 / DEFAULT_SAMPLES
    watch = QueueWatch(network, queues, period_ns=max(1, round(period_us * NS_PER_US)))
    course = _Course(
        case=case,
        network=network,
        flows={},
        watch=watch,
        delivered={},
        pauses_at_warmup={},
        held={},
    )
    warmup_ns, end_ns = round(case.warmup_ms * NS_PER_MS), round(case.duration_ms * NS_PER_MS)
    bins = _bin_ends(case)
    moments = {ns for flow in case.flows for ns in _moments(flow)}
    moments |= happenings.moments(case) | pauses.moments_ns(case)
    for time_ns in sorted({*bins, warmup_ns, end_ns} | moments):
        if time_ns > end_ns:
            break
        watch.advance_to(time_ns)
        happenings.happen(network, case, time_ns)
        _start_and_stop(course, time_ns)
        pauses.act(network, case, time_ns)
        course.note()
        if time_ns == warmup_ns:
            course.pauses_at_warmup = pauses.sent_frames(case, network)
    return _figures(course, queues, seed=case.seed if seed is None else seed)


def watched(case: CaseFile) -> tuple[QueueKey, ...]:
    """The egress queues whose length is sampled."""
    if case.sampling.queues is not None:
        return tuple((queue.switch, queue.port, queue.queue) for queue in case.sampling.queues)
    found: dict[QueueKey, None] = {}
    for flow in case.flows:
        for link in case.links:
            for one, other in (link.between, link.between[::-1]):
                if one in case.switches and other == flow.target:
                    found[one, other, flow.priority] = None
    return tuple(found)


def _bin_ends(case: CaseFile) -> list[int]:
    width = (case.sampling.bin_ms or case.duration_ms / DEFAULT_BINS) * NS_PER_MS
    end = round(case.duration_ms * NS_PER_MS)
    count = max(1, math.ceil(end / width - 1e-9))  # the last bin may be shorter
    return [min(round(number * width), end) for number in range(count + 1)]


def _moments(flow: FlowPart) -> list[int]:
    moments = [round(flow.start_us * NS_PER_US)]
    return moments if flow.stop_us is None else [*moments, round(flow.stop_us * NS_PER_US)]


def _start_and_stop(course: _Course, time_ns: int) -> None:
    for number, flow in enumerate(course.case.flows):
        if round(flow.start_us * NS_PER_US) == time_ns:
            course.flows[number] = start(course.network, course.case, flow)
        if flow.stop_us is not None and round(flow.stop_us * NS_PER_US) == time_ns:
            course.flows[number].stop()


def _arrived(flow: AnyFlow | None) -> int:
    if flow is None:
        return 0
    return flow.received_bytes if isinstance(flow, UdpFlow) else flow.delivered_bytes


def _figures(course: _Course, queues: Sequence[QueueKey], *, seed: int) -> Figures:
    case, network = course.case, course.network
    bins = _bin_ends(case)
    return Figures(
        case=case.name,
        seed=seed,
        duration_ms=case.duration_ms,
        warmup_ms=case.warmup_ms,
        bin_ms=(bins[1] - bins[0]) / NS_PER_MS,
        flows=tuple(_flow(course, number, bins) for number in range(len(case.flows))),
        queues=_queues(course, queues, bins),
        marks=tuple(_marks(network)),
        pauses=pauses.figures(
            case, network, course.pauses_at_warmup, [course.held[ns] for ns in bins]
        ),
        drops=_drops(network),
        guards=guards.figures(network),
        hosts=tuple(_host(network, name) for name in case.hosts),
        memory=tuple(memory_figures(network, name) for name in network.memory),
    )


def _flow(course: _Course, number: int, bins: list[int]) -> FlowFigures:
    part, flow = course.case.flows[number], course.flows[number]
    delivered = {ns: amounts[number] for ns, amounts in course.delivered.items()}
    end_ns = max(delivered)
    warmup_ns = round(course.case.warmup_ms * NS_PER_MS)
    start_ns = round(part.start_us * NS_PER_US)
    stop_ns = end_ns if part.stop_us is None else min(end_ns, round(part.stop_us * NS_PER_US))
    steps = pairwise(bins)
    return FlowFigures(
        name=part.name or f"{part.source}-{part.target}",
        goodput_gbit_per_s=_rate(delivered[end_ns] - delivered[warmup_ns], end_ns - warmup_ns),
        goodput_all_gbit_per_s=_rate(delivered[stop_ns], stop_ns - start_ns),
        delivered_bytes=delivered[end_ns],
        retransmitted_packets=_retransmitted(flow),
        error_status=flow.error_status if isinstance(flow, RcFlow) else None,
        completion_us=_completion_us(flow),
        goodput_series_gbit_per_s=tuple(
            _rate(delivered[b] - delivered[a], b - a) for a, b in steps
        ),
    )


def _retransmitted(flow: AnyFlow) -> int:
    if isinstance(flow, RcFlow):
        return flow.retransmitted_packets
    return flow.retransmits if isinstance(flow, TcpFlow) else 0


def _completion_us(flow: AnyFlow) -> float | None:
    spent_ps = flow.completion_ps if isinstance(flow, RcFlow) else None
    return None if spent_ps is None else spent_ps / PS_PER_US


def _rate(delivered_bytes: int, time_ns: int) -> float:
    return delivered_bytes * 8 / time_ns if time_ns > 0 else 0.0


def _queues(
    course: _Course, queues: Sequence[QueueKey], bins: list[int]
) -> tuple[QueueFigures, ...]:
    lengths = course.watch.lengths_bytes()
    steady = lengths[int(len(lengths) * course.case.warmup_ms / course.case.duration_ms) :]
    parts = np.split(lengths, [round(len(lengths) * ns / bins[-1]) for ns in bins[1:-1]])
    found = []
    for column, (switch, port, queue) in enumerate(queues):
        counters = course.network.switch(switch).queue_counters(port)[queue]
        part: Any = steady[:, column]
        ranks = np.percentile(part, PERCENTILES, method="nearest")
        found.append(
            counted(
                QueueFigures,
                counters,
                switch=switch,
                port=port,
                queue=queue,
                mean_bytes=float(part.mean()),
                deviation_bytes=float(part.std()),
                percentile_bytes={
                    str(rank): int(value) for rank, value in zip(PERCENTILES, ranks, strict=True)
                },
                peak_bytes=counters.peak_cells * course.network.memory[switch].cell_bytes,
                series_bytes=tuple(float(p[:, column].mean()) if len(p) else 0.0 for p in parts),
            )
        )
    return tuple(found)


def _marks(network: Network) -> Iterator[MarkFigures]:
    for name in network.memory:
        switch = network.switch(name)
        for port in switch.ports:
            for queue, counters in enumerate(switch.queue_counters(port)):
                if counters.marked_packets or counters.wred_dropped_packets:
                    yield counted(MarkFigures, counters, switch=name, port=port, queue=queue)


def _drops(network: Network) -> tuple[DropFigures, ...]:
    found = []
    for number, end in enumerate(network.wiring.ports()):
        peer = network.tables.port[number ^ 1]
        lost = int(peer.lost_on_wire)
        if isinstance(end, HostPort):
            none = dict.fromkeys((f.name for f in fields(PortDrops)), 0)
            corrupted = network.nic(end.device, end.interface).counters().rx_crc_errors
            drops = PortDrops(**{**none, "crc_errors": corrupted})
        else:
            drops = network.switch(end.device).drop_counters(end.interface)
        place = DropFigures(
            switch=end.device,
            port=end.interface,
            input_buffer=drops.input_buffer_drops,
            headroom=drops.headroom_drops,
            output_buffer=drops.output_buffer_drops,
            wred=drops.wred_drops,
            link_down=drops.link_down_drops,
            lost_on_wire=lost,
            ttl=drops.ttl_drops,
            no_route=drops.no_route_drops,
            watchdog=drops.watchdog_drops,
            crc=drops.crc_errors,
        )
        if any(astuple(place)[2:]):
            found.append(place)
    return tuple(found)


def _host(network: Network, name: str) -> HostFigures:
    nic = network.nic(name, HOST_INTERFACE).counters()
    return HostFigures(
        host=name,
        ecn_marked=nic.np_ecn_marked,
        cnp_sent=nic.np_cnp_sent,
        cnp_handled=nic.rp_cnp_handled,
        cnp_ignored=nic.rp_cnp_ignored,
        out_of_sequence=nic.out_of_sequence,
        nacks=nic.packet_seq_err,
        timeouts=nic.local_ack_timeout_err,
        discards=sum(nic.rx_discards),
    )
