"""Queues over time and over the number of flows, held against closed forms."""

from collections.abc import Mapping, Sequence

from labtests.core.drawing import (
    BLUE,
    GREY,
    VERMILION,
    Axis,
    Panel,
    Parts,
    Point,
    note,
    rule,
    sheet,
    text,
)
from labtests.network.cases import CaseFile, Figures, run
from labtests.network.pictures.picture import FRAME, ON_WIRE, Picture, packaged
from labtests.network.reference import formulas
from labtests.network.reference.judging import ValidationRow, check

KILO = 1000.0
SHOWN_US = 250.0


# -- PFC: xoff, xon --------------------------------------------------------------------------------


def pause_sawtooth() -> Picture:
    """Two ports held and let go in step: the queue between xon and xoff."""
    case = packaged("pause-sawtooth")
    figures = run(case)
    rows = _sawtooth_rows(case, figures)
    return Picture(name="pause-sawtooth", svg=_sawtooth(case, figures), rows=tuple(rows))


def _thresholds(case: CaseFile) -> tuple[int, int]:
    """xoff and xon of one port, bytes."""
    memory = case.switch.memory
    if memory is None or memory.xoff_bytes is None:
        raise ValueError(f"{case.name} has no static xoff")
    return memory.xoff_bytes, memory.xoff_bytes - memory.xon_offset_bytes


def _wire(case: CaseFile) -> tuple[float, float]:
    """Bytes of frames a second (without preamble and gap), delay in s."""
    link = case.links[0]
    return link.rate_gbit_per_s * 1.25e8 * FRAME / ON_WIRE, (link.delay_us or 0.0) * 1e-6


def _period_us(case: CaseFile) -> float:
    xoff, xon = _thresholds(case)
    rate, delay = _wire(case)
    return formulas.pause_period_s(rate, delay, xoff - xon, FRAME) * 1e6


def _measured_us(figures: Figures) -> float:
    """By the pauses sent: a period has one xoff and one xon."""
    frames = [p.sent_frames - p.sent_frames_before_warmup for p in figures.pauses if p.sent_frames]
    return (figures.duration_ms - figures.warmup_ms) * KILO * 2 * len(frames) / sum(frames)


def _sawtooth_rows(case: CaseFile, figures: Figures) -> list[ValidationRow]:
    xoff, xon = _thresholds(case)
    rate, delay = _wire(case)
    queue = figures.queues[0].percentile_bytes
    most = 2 * xoff + 2 * formulas.headroom_bound_bytes(rate, delay, FRAME)
    least = round(2 * xon - 2 * rate * delay - 4 * FRAME)
    return [
        check("pause_sawtooth", "period, us").near(_measured_us(figures), _period_us(case), 0.03),
        check("pause_sawtooth", "peak of the queue, bytes").between(
            queue["100"], (2 * xoff, most), most
        ),
        check("pause_sawtooth", "lowest, bytes").between(queue["1"], (least, 2 * xon), least),
        check("pause_sawtooth", "frames dropped").near(figures.dropped_frames, 0, 0),
        check("pause_sawtooth", "share of the line in use").near(
            figures.total_goodput_gbit_per_s / 25 * ON_WIRE / 1024, 1, 0.001
        ),
    ]


def _sawtooth(case: CaseFile, figures: Figures) -> str:
    xoff, xon = _thresholds(case)
    series = figures.queues[0].series_bytes
    width_us = figures.bin_ms * KILO
    first = round(figures.warmup_ms / figures.bin_ms)
    bins = series[first : first + round(SHOWN_US / width_us)]
    points = [((n + 0.5) * width_us, value / KILO) for n, value in enumerate(bins)]
    panel = Panel(
        left=70,
        top=90,
        width=600,
        height=250,
        x=Axis(label="µs", high=SHOWN_US),
        y=Axis(label="queue towards R, kB", high=250),
    )
    parts = panel.frame()
    parts += panel.level(2 * xoff / KILO, "xoff: both ports")
    parts += panel.level(2 * xon / KILO, "xon: both ports")
    parts.append(panel.line(points, BLUE))
    parts += _bracket(panel, points, case, figures)
    return sheet(
        400,
        "PFC is an on-off control: the queue saws between xon and xoff",
        "Two senders to one receiver, 25 Gbit/s, 1 µs a link, static thresholds of 100 and 50 kB "
        "for each of the two ports.",
        parts,
    )


def _bracket(panel: Panel, points: list[Point], case: CaseFile, figures: Figures) -> Parts:
    """The closed form's period, from the first peak on."""
    period_us, level = _period_us(case), 228.0
    early = [point for point in points if point[0] < period_us]
    peak = max(early, key=lambda point: point[1])[0]
    start, end = panel.at(peak, level), panel.at(peak + period_us, level)
    words = f"closed form {period_us:.1f} µs, measured {_measured_us(figures):.1f} µs"
    ticks = [rule((x, start[1] - 5), (x, start[1] + 5), GREY) for x in (start[0], end[0])]
    return [rule(start, end, GREY), *ticks, text((start[0], start[1] - 9), words, GREY)]


# -- DCQCN: the queue and the number of flows ------------------------------------------------------

FLOWS = (2, 4, 6, 8, 10, 12, 16)
LINE_BITS_PER_S, PACKET, INCREASE_BITS_PER_S = 40e9, 1000, 40e6


def dcqcn_queue(numbers: Sequence[int] = FLOWS) -> Picture:
    """The mean queue of so many flows each, and the fluid model's fixed point."""
    case = packaged("dcqcn-queue")
    runs = {flows: run(_with_flows(case, flows)) for flows in numbers}
    rows = [
        check("dcqcn_queue", f"mean bytes, {flows} flows").near(
            figures.queues[0].mean_bytes, fixed_point_bytes(case, flows), 0.15
        )
        for flows, figures in runs.items()
    ]
    pauses = sum(p.sent_frames for figures in runs.values() for p in figures.pauses)
    rows.append(check("dcqcn_queue", "PFC frames, all runs").near(pauses, 0, 0))
    return Picture(name="dcqcn-queue", svg=_queue_drawn(case, runs), rows=tuple(rows))


def _with_flows(case: CaseFile, flows: int) -> CaseFile:
    names = list(case.hosts)[: flows + 1]
    return case.model_copy(
        update={
            "hosts": {name: case.hosts[name] for name in names},
            "links": case.links[: flows + 1],
            "flows": case.flows[:flows],
        }
    )


def fixed_point_bytes(case: CaseFile, flows: float) -> float:
    """q* of the fluid model (Zhu et al., SIGCOMM 2015)."""
    curve = (case.switch.ecn or [])[0]
    p = formulas.dcqcn_marking(
        flows, LINE_BITS_PER_S, PACKET, increase_bits_per_s=INCREASE_BITS_PER_S
    )
    slope = curve.probability / (curve.high_bytes - curve.low_bytes)
    return formulas.marking_queue_bytes(p, curve.low_bytes, slope)


def _queue_drawn(case: CaseFile, runs: Mapping[int, Figures]) -> str:
    panel = Panel(
        left=70,
        top=90,
        width=560,
        height=270,
        x=Axis(label="flows into one port of 40 Gbit/s", high=17, ticks=FLOWS),
        y=Axis(label="queue, kB", high=500),
    )
    parts = panel.frame()
    for flows, figures in runs.items():
        ranks = figures.queues[0].percentile_bytes
        low, high = (panel.at(flows, ranks[rank] / KILO) for rank in ("10", "90"))
        parts.append(rule(low, high, "#9ecae9", width=6))
    grid = [2 + n / 4 for n in range(57)]
    curve = [(flows, fixed_point_bytes(case, flows) / KILO) for flows in grid]
    parts.append(panel.line(curve, GREY, width=1.2, dashes="5 3"))
    means = [(flows, figures.queues[0].mean_bytes / KILO) for flows, figures in runs.items()]
    parts += panel.dots(means, VERMILION)
    right = panel.right + 8
    ninety = runs[max(runs)].queues[0].percentile_bytes["90"] / KILO
    parts += note((right, panel.at(16, ninety)[1] + 12), ("10 to 90 % of the time",), BLUE)
    parts += note((right, panel.at(16, means[-1][1])[1] - 6), ("mean, measured",), VERMILION)
    model = ("fixed point q* of the", "fluid model")
    parts += note((right, panel.at(16, curve[-1][1])[1] + 12), model, GREY)
    return sheet(
        420,
        "The queue of DCQCN grows with the number of flows, as its fluid model says",
        "ECN marks from 5 kB on with 0.01 for each 195 kB; RP with the parameters of Zhu et al.; "
        "no pause was needed.",
        parts,
    )
