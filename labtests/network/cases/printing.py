"""The figures of a case as text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple

from labtests.network.cases.figures import Figures
from labtests.network.cases.replications import ConfidenceInterval
from labtests.network.cases.tidy import slowdowns

MOST_LINES = 40
"""Flows of which each has a line."""


def lines(figures: Figures) -> Iterator[str]:
    """Tables of everything that is not zero."""
    window_ms = figures.duration_ms - figures.warmup_ms
    yield (
        f"{figures.case}: {figures.duration_ms:g} ms, seed {figures.seed}; means over the last "
        f"{window_ms:g} ms"
    )
    if figures.duration_ms < figures.planned_ms:
        yield f"ended early: at {figures.duration_ms:g} of {figures.planned_ms:g} ms"
    yield (
        f"total goodput {figures.total_goodput_gbit_per_s:.4f} Gbit/s, fairness (Jain) "
        f"{figures.fairness:.4f}, frames dropped in switches {figures.dropped_frames}"
    )
    yield from (f"note: {note}" for note in figures.notes)
    for of in _TABLES:
        yield from of(figures)


def interval_lines(found: Iterable[ConfidenceInterval], runs: Sequence[Figures]) -> Iterator[str]:
    """Means over the seeds of these runs."""
    if runs:
        yield f"{runs[0].case}: {runs[0].duration_ms:g} ms, {len(runs)} seeds"
    yield from _table(
        ("mean over seeds", "", "+- 95 %", "seeds"),
        ((i.name, f"{i.mean:.6g}", _half_width(i), i.seeds) for i in found),
    )


def _half_width(found: ConfidenceInterval) -> str:
    return "-" if found.half_width is None else f"{found.half_width:.3g}"


def _slowdown_lines(figures: Figures) -> Iterator[str]:
    heading = ("flows done, bytes", "flows", "mean us", "p50 us", "p99 us")
    yield from _table(
        (*heading, "slowdown", "p50", "p99"),
        (
            (
                f"{row['from_bytes']:.0e} to {row['below_bytes']:.0e}",
                row["flows"],
                *(f"{row[f'completion_{of}_us']:.2f}" for of in ("mean", "p50", "p99")),
                *(f"{row[f'slowdown_{of}']:.3f}" for of in ("mean", "p50", "p99")),
            )
            for row in slowdowns(figures)
        ),
    )


def _flow_lines(figures: Figures) -> Iterator[str]:
    heading = ("flow", "Gbit/s", "since start", "delivered bytes", "done after us", "sent again")
    yield from _table(
        (*heading, "status"),
        (
            (
                flow.name,
                f"{flow.goodput_gbit_per_s:.4f}",
                f"{flow.goodput_all_gbit_per_s:.4f}",
                flow.delivered_bytes,
                "-" if flow.completion_us is None else f"{flow.completion_us:.1f}",
                flow.retransmitted_packets,
                "-" if flow.error_status is None else flow.error_status,
            )
            for flow in figures.flows[:MOST_LINES]
        ),
    )
    if len(figures.flows) > MOST_LINES:
        yield f"and {len(figures.flows) - MOST_LINES} flows more (--json, --tables)"


def _delay_lines(figures: Figures) -> Iterator[str]:
    yield from _table(
        ("packets, priority", "packets", "mean us", "p50", "p90", "p99", "p99.9", "longest"),
        (
            (
                f"{'round trip' if d.round_trip else 'to the host'} {d.priority}",
                d.packets,
                f"{d.mean_us:.3f}",
                *(f"{us:.3f}" for us in d.percentile_us.values()),
                f"{d.longest_us:.3f}",
            )
            for d in figures.delays
        ),
    )


def _mark_lines(figures: Figures) -> Iterator[str]:
    yield from _table(
        ("RED in queue", "marked", "WRED drops"),
        (
            (f"{m.switch} {m.port} {m.queue}", m.marked_packets, m.wred_dropped_packets)
            for m in figures.marks
        ),
    )


def _pause_lines(figures: Figures) -> Iterator[str]:
    yield from _table(
        ("port", "priority", "pause frames sent", "received", "held us", "holding us"),
        (
            (
                f"{pause.device} {pause.port}",
                "all" if pause.priority is None else pause.priority,
                pause.sent_frames,
                pause.received_frames,
                f"{pause.paused_us:.1f}",
                f"{pause.pausing_us:.1f}",
            )
            for pause in figures.pauses
        ),
    )


def _queue_lines(figures: Figures) -> Iterator[str]:
    ranks = ("10", "50", "90", "99")
    yield from _table(
        ("queue (bytes)", "mean", *(f"p{rank}" for rank in ranks), "peak", "marked", "dropped"),
        (
            (
                f"{queue.switch} {queue.port} {queue.queue}",
                f"{queue.mean_bytes:.0f}",
                *(queue.percentile_bytes[rank] for rank in ranks),
                queue.peak_bytes,
                queue.marked_packets,
                queue.dropped_packets,
            )
            for queue in figures.queues
        ),
    )


def _host_lines(figures: Figures) -> Iterator[str]:
    counts = (astuple(host) for host in figures.hosts)
    heading = ("host", "CE received", "CNPs sent", "handled", "ignored", "out of sequence")
    yield from _table(
        (*heading, "NAKs received", "time-outs", "NIC discards"), (c for c in counts if any(c[1:]))
    )


def _guard_lines(figures: Figures) -> Iterator[str]:
    heading = ("guard of", "priority", "shutdowns", "restored", "drained", "dropped", "in all")
    yield from _table(
        (*heading, "ingress dropped", "in all", "last shut ms", "last restored ms"),
        (
            (
                f"{guard.switch} {guard.port}",
                *astuple(guard)[2:10],
                *("-" if ms is None else f"{ms:.3f}" for ms in astuple(guard)[10:]),
            )
            for guard in figures.guards
        ),
    )


def _drop_lines(figures: Figures) -> Iterator[str]:
    places = ("input buffer", "headroom", "output buffer", "WRED", "link down", "lost on wire")
    heading = ("drops at", *places, "TTL", "no route", "watchdog", "CRC errors")
    yield from _table(
        heading,
        ((f"{drop.switch} {drop.port}", *astuple(drop)[2:]) for drop in figures.drops),
    )


def _memory_lines(figures: Figures) -> Iterator[str]:
    yield from _table(
        ("memory (bytes)", "total", "shared", "most used", "headroom pool", "most used"),
        (
            (
                memory.switch,
                memory.total_bytes,
                memory.shared_bytes,
                memory.peak_used_bytes,
                memory.headroom_pool_bytes,
                memory.peak_headroom_pool_bytes,
            )
            for memory in figures.memory
        ),
    )
    yield from _table(
        ("group (bytes)", "most shared", "most headroom", "headroom drops", "buffer drops"),
        (
            (f"{group.switch} {group.port} {group.priority}", *astuple(group)[3:])
            for memory in figures.memory
            for group in memory.groups
        ),
    )


_TABLES = (
    *(_flow_lines, _slowdown_lines, _delay_lines, _queue_lines, _mark_lines, _pause_lines),
    *(_host_lines, _guard_lines, _drop_lines, _memory_lines),
)


def _table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Columns as wide as they need; nothing when there is no row."""
    texts = [[str(cell) for cell in row] for row in rows]
    if not texts:
        return
    widths = [max(len(row[n]) for row in [list(heading), *texts]) for n in range(len(heading))]
    yield ""
    for row in [list(heading), *texts]:
        first, *rest = (
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *rest]).rstrip()
