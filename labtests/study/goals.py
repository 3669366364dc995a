"""The three goals of document 004 (S25), and what a set of runs says of them (docs/studies.md)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labtests.study.ledger import Row

THROUGHPUT, PAUSED_SHARE, LATENCY_US, USUAL_LATENCY_US = 0.95, 0.01, 80.0, 40.0
USUALLY = 0.9
"""Of the patterns."""
NAMES = ("throughput", "pauses", "latency")
MEASURES = ("throughput", "paused_share", "latency_us")
FAR = 10.0
"""A pattern that misses a goal by more counts as this, so that one hopeless pattern does not hide
what a setting does for the others."""
Figures = Mapping[str, tuple[float, float, float]]
"""Pattern -> the worst of its seeds: throughput, share of time with pauses, latency in us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a goal stands over some patterns. `short`: 0 when it is met, else the mean of how many
    times its bound each pattern misses it by."""

    goal: str
    met: bool
    short: float
    worst: str
    worst_figure: float
    missing: tuple[str, ...]


def figures_of(rows: Iterable[Row]) -> dict[str, tuple[float, float, float]]:
    """The worst of the seeds of each pattern; a run that failed is as bad as can be."""
    found: dict[str, tuple[float, float, float]] = {}
    for row in rows:
        measured = row.get("measured") or {}
        mine = (
            _number(measured.get(MEASURES[0]), 0.0),
            _number(measured.get(MEASURES[1]), 1.0),
            _number(measured.get(MEASURES[2]), 1e6),
        )
        old = found.get(row["pattern"], mine)
        found[row["pattern"]] = (min(old[0], mine[0]), max(old[1], mine[1]), max(old[2], mine[2]))
    return found


def _number(value: object, otherwise: float) -> float:
    return float(value) if isinstance(value, (int, float)) else otherwise


def by_bound(throughput: Any, paused: Any, latency_us: Any) -> tuple[Any, Any, Any]:
    """Figures, or columns of them, by the bounds of their goals: above 1 misses one."""
    return (1 - throughput) / (1 - THROUGHPUT), paused / PAUSED_SHARE, latency_us / LATENCY_US


def standings(figures: Figures) -> tuple[Standing, Standing, Standing]:
    """How each goal stands."""
    names = list(figures)
    columns = [np.array([figures[n][k] for n in names]) for k in range(3)]
    usual_us = usual_latency_us(figures)
    found = []
    for goal, ratio, column in zip(NAMES, by_bound(*columns), columns, strict=True):
        worst = int(ratio.argmax())
        more = max(0.0, usual_us / USUAL_LATENCY_US - 1) if goal == "latency" else 0.0
        missed = np.clip(ratio - 1, 0, FAR - 1)
        found.append(
            Standing(
                goal=goal,
                met=bool((ratio <= 1 + 1e-9).all()) and more <= 1e-9,
                short=float(missed.mean()) + min(more, FAR - 1) / len(names),
                worst=names[worst],
                worst_figure=float(column[worst]),
                missing=tuple(n for n, r in zip(names, ratio, strict=True) if r > 1 + 1e-9),
            )
        )
    return found[0], found[1], found[2]


def usual_latency_us(figures: Figures) -> float:
    """What so many of the patterns (USUALLY) stay at or below."""
    return float(
        np.quantile([each[2] for each in figures.values()], USUALLY, method="inverted_cdf")
    )


def sentence(standing: Standing, figures: Figures) -> str:
    """A line of the result."""
    verdict = "met" if standing.met else "MISSED"
    many = f"{len(standing.missing)} of {len(figures)} patterns miss it"
    worst = f"worst {standing.worst}"
    if standing.goal == "throughput":
        figure = f"{worst} {standing.worst_figure:.1%} of what it can carry"
        figure += f" (goal: {100 * THROUGHPUT:g} %)"
    elif standing.goal == "pauses":
        figure = f"{worst}: pauses in {100 * standing.worst_figure:.3g}% of the time"
        figure += f" (goal: {100 * PAUSED_SHARE:g} %)"
    else:
        usual = usual_latency_us(figures)
        figure = f"{worst} {standing.worst_figure:.0f} us (goal: {LATENCY_US:g})"
        figure += f", {100 * USUALLY:g} % of the patterns"
        figure += f" at most {usual:.0f} us (goal: {USUAL_LATENCY_US:g})"
    return f"{standing.goal}: {verdict}: {figure}; {many}"


def conflicts(tried: Sequence[tuple[Standing, Standing, Standing]]) -> list[str]:
    """Which goals no setting has met, alone or together."""
    met = [frozenset(each.goal for each in standing if each.met) for standing in tried]
    none = f"met by none of {len(met)} settings that keep the rules"
    found = [f"{goal}: {none}" for goal in NAMES if not _any(met, goal)]
    for number, one in enumerate(NAMES):
        for other in NAMES[number + 1 :]:
            if _any(met, one) and _any(met, other) and not _any(met, one, other):
                found.append(f"{one} and {other}: each is met by some settings, both by none")
    if not found and met and not _any(met, *NAMES):
        found.append("all three: any two are met by some settings, the three by none")
    return found


def _any(met: Sequence[frozenset[str]], *goals: str) -> bool:
    return any(each.issuperset(goals) for each in met)
