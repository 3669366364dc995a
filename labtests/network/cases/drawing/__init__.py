"""The figures of a case for a paper, as SVG: its course as one picture (`svg`), or all of them.

course        goodput, queues and pauses over time
latency, rtt  percentiles of how long packets took, by priority
completion, slowdown  of flows, by size
rates, alpha  of DCQCN over time
intervals     of several seeds: means and their 95 % intervals

A device has one colour in all of them; what is no device's is black.
"""

from collections.abc import Iterator, Sequence

from labtests.network.cases.drawing.intervals import dots, drawn
from labtests.network.cases.drawing.page import MM_PER_UNIT, WIDTH_MM, Chart, Page, Wording
from labtests.network.cases.drawing.percentiles import completion, latency, rtt, slowdown
from labtests.network.cases.drawing.series import Times, colours, over_time
from labtests.network.cases.figures import Figures
from labtests.network.cases.tidy import slowdowns

ABOUT = {
    "course": "goodput, queues and pauses over time",
    "latency": "latency of data packets of rc flows, by priority",
    "rtt": "round trips of data packets of rc flows, by priority",
    "completion": "completion times of flows by size",
    "slowdown": "slowdowns of flows by size",
    "rates": "rates that DCQCN allows",
    "alpha": "alpha of DCQCN",
    "intervals": "means and their 95 % intervals (Student's t)",
}
NO_SERIES = "no flow has DCQCN, or is the same in all seeds; more than 1000 flows need a bin_ms"
LACKING = {
    "course": "no series over time",
    "latency": "no packets of rc flows after the warm-up",
    "rtt": "no packets of rc flows after the warm-up",
    "completion": "no flow with a size is done",
    "slowdown": "no flow with a size is done",
    "rates": NO_SERIES,
    "alpha": NO_SERIES,
    "intervals": "one run has none",
}
OVER_SEEDS = {
    "latency": "lines are means over the seeds, whiskers reach from the lowest to the highest",
    "completion": "flows of all seeds together",
    "course": "means over the seeds, of flows that are the same in all",
}
OVER_SEEDS |= {
    "rtt": OVER_SEEDS["latency"],
    "slowdown": OVER_SEEDS["completion"],
    "rates": OVER_SEEDS["course"],
    "alpha": OVER_SEEDS["course"],
}


def svg(figures: Figures, *, width_mm: float = WIDTH_MM, caption: bool = False) -> str:
    """A run's course: a panel for goodput, one for queues, and one for pauses if there were any.

    What lies before the end of the warm-up, and so is in no mean, is shaded.
    """
    page = Page(width_mm / MM_PER_UNIT, colours([figures]))
    words = Wording(title=figures.case, about=_outcome(figures), caption=caption)
    return page.drawn(Times([figures], over_time([figures])).course(), words)


def charts(runs: Sequence[Figures]) -> dict[str, list[Chart]]:
    """What each figure over two axes shows; none: the runs have nothing for it."""
    times, sizes = Times(runs, over_time(runs)), list(slowdowns(*runs))
    return {
        "course": times.course(),
        "latency": latency(runs),
        "rtt": rtt(runs),
        "completion": completion(sizes),
        "slowdown": slowdown(sizes),
        "rates": times.rates(),
        "alpha": times.alpha(),
    }


def drawings(
    runs: Sequence[Figures], *, width_mm: float = WIDTH_MM, caption: bool = False
) -> Iterator[tuple[str, str]]:
    """Each figure that these runs have, by name."""
    page = Page(width_mm / MM_PER_UNIT, colours(runs))
    for name, of in charts(runs).items():
        if of:
            yield name, page.drawn(of, _wording(name, runs, caption))
    if len(runs) > 1:
        words = _wording("intervals", runs, caption)
        yield "intervals", drawn(dots(runs), page.width, words)


def left_out(names: Sequence[str], *, seeds: bool) -> str:
    """Which figures are not among those that were drawn, and why; nothing when all are."""
    reasons: dict[str, list[str]] = {}
    for name, why in LACKING.items():
        if name not in names and (seeds or name != "intervals"):
            reasons.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(of)}: {why}" for why, of in reasons.items())


def _wording(name: str, runs: Sequence[Figures], caption: bool) -> Wording:
    if len(runs) == 1:
        how = _outcome(runs[0])
    else:
        how = f"simulated, {len(runs)} seeds"
        how += f"; {OVER_SEEDS[name]}" if name in OVER_SEEDS else ""
    return Wording(title=runs[0].case, about=f"{ABOUT[name]}; {how}", caption=caption)


def _outcome(figures: Figures) -> str:
    total, fairness = figures.total_goodput_gbit_per_s, figures.fairness
    words = f"simulated, seed {figures.seed}; total goodput {total:.4g} Gbit/s, Jain {fairness:.3g}"
    return words + f", {figures.dropped_frames} frames dropped in switches"
