"""The figures of a case: time has passed in its network, and what was noted is summed up."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from labtests.network import HostPort, Network, PortDrops
from labtests.network.cases import guards, pauses, phases
from labtests.network.cases.building import obeys_cnps
from labtests.network.cases.course import NS_PER_MS, Course, Onlooker, QueueKey, passed, watched
from labtests.network.cases.course import bin_ends as _bin_ends
from labtests.network.cases.figures import (
    DelayFigures,
    DropFigures,
    Figures,
    FlowFigures,
    HostFigures,
    MarkFigures,
    QueueFigures,
)
from labtests.network.cases.form import CaseFile
from labtests.network.cases.ideal import IdealTimes
from labtests.network.cases.memory import memory_figures
from labtests.network.cases.pauses import HOST_INTERFACE, NS_PER_US
from labtests.network.cases.workloads import expanded
from labtests.network.counting import counted
from labtests.network.tables import NEVER, PS_PER_NS, PS_PER_US

WAITING_NS = NEVER // PS_PER_NS
PERCENTILES = (1, 10, 50, 90, 99, 100)
MOST_SERIES = 1000
"""Flows that have a series over time each, unless `bin_ms` asks for those of more."""


def run(case: CaseFile, *, seed: int | None = None, onlooker: Onlooker | None = None) -> Figures:
    """The figures of a case. Same case, same seed: same figures.

    `onlooker` may end it early; then `duration_ms` is less than `planned_ms`.
    """
    seed = case.seed if seed is None else seed
    course = passed(expanded(case, seed), seed=seed, onlooker=onlooker)
    case = course.case
    planned_ms = case.duration_ms
    if course.network.now_ns < round(planned_ms * NS_PER_MS):
        course.case = case = _cut(case, course.network.now_ns / NS_PER_MS)
    figures = _figures(course, seed=seed)
    return replace(figures, planned_ms=planned_ms)


def _cut(case: CaseFile, reached_ms: float) -> CaseFile:
    """The same case as if it had been meant to end there. Bins keep their width."""
    width_ms = (_bin_ends(case)[1]) / NS_PER_MS
    sampling = case.sampling.model_copy(update={"bin_ms": min(width_ms, reached_ms) or width_ms})
    warmup_ms = case.warmup_ms if case.warmup_ms < reached_ms else 0.0
    changes = {"duration_ms": reached_ms, "warmup_ms": warmup_ms, "sampling": sampling}
    return case.model_copy(update=changes)


def _figures(course: Course, *, seed: int) -> Figures:
    case, network = course.case, course.network
    bins = _bin_ends(case)
    return Figures(
        case=case.name,
        seed=seed,
        duration_ms=case.duration_ms,
        planned_ms=case.duration_ms,
        warmup_ms=case.warmup_ms,
        bin_ms=(bins[1] - bins[0]) / NS_PER_MS,
        flows=tuple(_flows(course, bins)),
        queues=_queues(course, watched(case), bins),
        marks=tuple(_marks(network)),
        pauses=pauses.figures(
            case, network, course.pauses_at_warmup, [course.held[ns] for ns in bins]
        ),
        drops=_drops(network),
        guards=guards.figures(network),
        hosts=tuple(_host(network, name) for name in case.hosts),
        memory=tuple(memory_figures(network, name) for name in network.memory),
        delays=tuple(_delays(network)),
        notes=tuple(phases.notes(case)),
    )


def _flows(course: Course, bins: list[int]) -> Iterator[FlowFigures]:
    case, delivered = course.case, course.delivered
    end_ns, warmup_ns = max(delivered), round(case.warmup_ms * NS_PER_MS)
    steady = delivered[end_ns] - delivered[warmup_ns]
    completions = _completions_us(course)
    again, errors = course.total("retransmits"), _most(course, "error")
    series, limiters = _series(course, bins), _limiters(course, bins)
    ideal = IdealTimes(case)
    begun = (_least(course, "start_at") // PS_PER_NS).tolist()
    for number, part in enumerate(case.flows):
        start_ns = begun[number] if part.after else round(part.start_us * NS_PER_US)
        stop_ns = end_ns if part.stop_us is None else min(end_ns, round(part.stop_us * NS_PER_US))
        whole = course.delivered_at_stop.get(number, int(delivered[end_ns][number]))
        yield FlowFigures(
            name=part.name or f"{part.source}-{part.target}",
            source=part.source,
            target=part.target,
            size_bytes=part.size_bytes,
            start_us=None if begun[number] == WAITING_NS else begun[number] / NS_PER_US,
            ideal_us=ideal.of(part),
            goodput_gbit_per_s=_rate(int(steady[number]), end_ns - warmup_ns),
            goodput_all_gbit_per_s=_rate(whole, stop_ns - start_ns),
            delivered_bytes=int(delivered[end_ns][number]),
            retransmitted_packets=int(again[number]),
            error_status=int(errors[number]) or None,
            completion_us=completions[number],
            goodput_series_gbit_per_s=series(number),
            **limiters(number),
        )


def _limiters(course: Course, bins: list[int]) -> Any:
    """What gives the series of a flow's DCQCN limiter by its number; none where it has none."""
    case = course.case
    if len(case.flows) > MOST_SERIES and case.sampling.bin_ms is None:
        bins = bins[:1]
    rates = np.array([course.rates[ns] for ns in bins[1:]]) / 1e9
    alphas = np.array([course.alphas[ns] for ns in bins[1:]])
    obeying = {name for name in case.hosts if obeys_cnps(case, name)}

    def of(number: int) -> dict[str, tuple[float, ...]]:
        part = case.flows[number]
        shown = part.kind == "rc" and part.source in obeying and len(rates)
        return {
            "rate_series_gbit_per_s": tuple(rates[:, number].tolist()) if shown else (),
            "alpha_series": tuple(alphas[:, number].tolist()) if shown else (),
        }

    return of


def _series(course: Course, bins: list[int]) -> Any:
    """What gives the goodput of a flow by its number, in Gbit/s, one a bin."""
    if len(course.case.flows) > MOST_SERIES and course.case.sampling.bin_ms is None:
        return lambda number: ()
    noted = [course.delivered[ns] for ns in bins]
    widths = [b - a for a, b in pairwise(bins)]
    gained = np.diff(np.array(noted), axis=0)

    def of(number: int) -> tuple[float, ...]:
        mine = gained[:, number].tolist()
        return tuple(_rate(bytes_, ns) for bytes_, ns in zip(mine, widths, strict=True))

    return of


def _most(course: Course, column: str) -> Any:
    """The largest of a column over the rows of each flow."""
    most = np.zeros(len(course.case.flows), np.int64)
    np.maximum.at(most, course.owner_rows(), course.column(column))
    return most


def _least(course: Course, column: str) -> Any:
    """The smallest; NEVER for a flow that has not been made."""
    least = np.full(len(course.case.flows), NEVER, np.int64)
    np.minimum.at(least, course.owner_rows(), course.column(column))
    return least


def _completions_us(course: Course) -> list[float | None]:
    """Of RC flows that are done: until their last ACK was back, or their last byte there."""
    first_end, begun = _least(course, "ended_at"), _least(course, "start_at")
    done = (first_end > 0) & (first_end < NEVER) & (_most(course, "error") == 0)
    done &= np.array([flow.kind == "rc" for flow in course.case.flows], bool)
    spent = (_most(course, "ended_at") - begun).tolist()
    return [ps / PS_PER_US if yes else None for ps, yes in zip(spent, done.tolist(), strict=True)]


def _rate(delivered_bytes: int, time_ns: int) -> float:
    return delivered_bytes * 8 / time_ns if time_ns > 0 else 0.0


def _queues(
    course: Course, queues: Sequence[QueueKey], bins: list[int]
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


def _delays(network: Network) -> Iterator[DelayFigures]:
    for round_trip in (False, True):
        for priority in range(8):
            found = network.delays(priority, round_trips=round_trip)
            if found is not None:
                yield DelayFigures(
                    priority=priority,
                    round_trip=round_trip,
                    packets=found.packets,
                    mean_us=found.mean_us,
                    percentile_us=dict(found.percentiles_us),
                    longest_us=found.longest_us,
                )


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
