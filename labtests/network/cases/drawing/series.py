"""What is drawn over time: goodput, queues and pauses; rates and alpha of DCQCN.

Of several runs: the mean of each bin over the seeds, of the flows that are the same in all.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle

from labtests.core.drawing import COLOURS, Axis, Point, ceiling
from labtests.network.cases.drawing.page import Chart, Curve
from labtests.network.cases.figures import Figures
from labtests.network.cases.tidy import TimeSeries, series

OF_QUEUES = ("queue", "held")
Key = tuple[Hashable, ...]


def colours(runs: Sequence[Figures]) -> dict[str, str]:
    """One for each device, in all figures of these runs."""
    names = dict.fromkeys(
        one.device for figures in runs for one in series(figures) if _is_shown(one)
    )
    return dict(zip(names, cycle(COLOURS), strict=False))


def _is_shown(one: TimeSeries) -> bool:
    """Ports that were never held are not."""
    return any(one.values) if one.kind == "held" else bool(one.values)


def over_time(runs: Sequence[Figures]) -> list[TimeSeries]:
    """The series of a run, or their means over several. A port that a run does not name was not
    held in it; a queue that it did not sample is in the mean of the others."""
    if len(runs) == 1:
        return list(series(runs[0]))
    steady = set.intersection(*(set(_flows(figures)) for figures in runs))
    flows = {key[:2] for key in steady}
    found: dict[Key, list[TimeSeries]] = defaultdict(list)
    for figures in runs:
        every = list(series(figures))
        for one, (_, number) in zip(
            every, _numbered([(one.kind, one.name) for one in every]), strict=True
        ):
            if one.kind in OF_QUEUES or (one.name, number) in flows:
                found[one.kind, one.name, number].append(one)
    return [
        replace(of[0], values=_mean(of, len(runs) if of[0].kind == "held" else len(of)))
        for of in found.values()
    ]


def _mean(of: Sequence[TimeSeries], runs: int) -> tuple[float, ...]:
    return tuple(sum(bins) / runs for bins in zip(*(one.values for one in of), strict=True))


def _flows(figures: Figures) -> Iterator[Key]:
    """What tells flows apart: the n-th of a name, and what it is."""
    names = _numbered([flow.name for flow in figures.flows])
    for (name, number), flow in zip(names, figures.flows, strict=True):
        yield name, number, flow.source, flow.target, flow.size_bytes, flow.start_us


def _numbered(names: Sequence[Hashable]) -> Iterator[tuple[Hashable, int]]:
    """Each with how many like it were before it."""
    seen: Counter[Hashable] = Counter()
    for name in names:
        yield name, seen[name]
        seen[name] += 1


@dataclass(frozen=True, slots=True)
class Times:
    """Charts of the series of some runs."""

    runs: Sequence[Figures]
    found: Sequence[TimeSeries]

    def course(self) -> list[Chart]:
        """Goodput, queues, and pauses if there were any. Flows have the colour of their sender,
        queues that of the device that they lead to."""
        bin_ms = self.runs[0].bin_ms
        panels = (
            ("flow", "goodput of flows, Gbit/s (payload that arrived)", 1.0),
            ("queue", "length of egress queues, kB (switch, port, queue)", 1000),
            ("held", "held by PFC, % of the time (device, port, priority)", bin_ms * 10),
        )
        return self._charts(
            (label, [self._curve(one, unit, self._middles) for one in self._of(kind)])
            for kind, label, unit in panels
        )

    def rates(self) -> list[Chart]:
        """What DCQCN lets flows send."""
        return self._charts([("rate that DCQCN allows, Gbit/s", self._limits("rate"))])

    def alpha(self) -> list[Chart]:
        """DCQCN's estimate of how congested it is."""
        return self._charts([("α of DCQCN (0 to 1)", self._limits("alpha"))])

    def _limits(self, kind: str) -> list[Curve]:
        """Noted at the ends of bins. The heaviest flows are those that delivered most."""
        flows, limits = ([one for one in self.found if one.kind == of] for of in ("flow", kind))
        return [
            replace(self._curve(limit, 1.0, self._ends), weight=sum(flow.values))
            for limit, flow in zip(limits, flows, strict=True)
            if limit.values
        ]

    def _of(self, kind: str) -> list[TimeSeries]:
        return [one for one in self.found if one.kind == kind and _is_shown(one)]

    def _curve(self, one: TimeSeries, unit: float, places: Callable[[int], list[float]]) -> Curve:
        values = [value / unit for value in one.values]
        points: tuple[Point, ...] = tuple(zip(places(len(values)), values, strict=True))
        weight = max(values, default=0)
        return Curve(name=one.name, device=one.device, points=points, weight=weight)

    def _middles(self, bins: int) -> list[float]:
        step = self.runs[0].duration_ms / max(1, bins)
        return [(number + 0.5) * step for number in range(bins)]

    def _ends(self, bins: int) -> list[float]:
        figures = self.runs[0]
        return [min((n + 1) * figures.bin_ms, figures.duration_ms) for n in range(bins)]

    def _charts(self, panels: Iterable[tuple[str, list[Curve]]]) -> list[Chart]:
        figures = self.runs[0]
        return [
            Chart(
                curves=tuple(curves),
                x=Axis(label="time, ms", high=figures.duration_ms),
                y=Axis(label=label, high=_highest(curves)),
                shaded=figures.warmup_ms,
            )
            for label, curves in panels
            if curves
        ]


def _highest(curves: Iterable[Curve]) -> float:
    return ceiling(max(y for curve in curves for _, y in curve.points))
