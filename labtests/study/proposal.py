"""What `labtests tune` ends with: a profile to apply, and a page with the evidence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from markupsafe import Markup

from labtests.profile.reader import load
from labtests.study import charts
from labtests.study.goals import (
    LATENCY_US,
    NAMES,
    PAUSED_SHARE,
    THROUGHPUT,
    Figures,
    conflicts,
    sentence,
    standings,
)
from labtests.study.page import rendered
from labtests.study.points import PROFILE
from labtests.study.tree import with_values
from labtests.study.tuning import TriedSetting, proposal

BOUNDS = (THROUGHPUT, PAUSED_SHARE, LATENCY_US)
TITLES = (
    "throughput, of what the pattern can carry",
    "share of the time with a pause",
    "longest latency, us",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningEvidence:
    """Everything that a tuning has found. `near`: the proposal with one variable changed, and how
    far it is short then; `unseen`: figures of patterns that the search never saw."""

    title: str
    tried: Sequence[TriedSetting]
    unseen: Figures
    near: Sequence[tuple[str, float]]
    near_base: float

    @property
    def chosen(self) -> TriedSetting:
        """The proposal."""
        return proposal(self.tried)


def written(profile: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """The profile with these values, as a file's text that `labtests apply` takes."""
    own = {k.removeprefix(PROFILE): v for k, v in values.items() if k.startswith(PROFILE)}
    tree = with_values(dict(profile), own)
    tree["name"] = f"{profile['name']}-tuned"
    tree["description"] = f"{profile['name']}, tuned by labtests tune in the packet network"
    return yaml.safe_dump(tree, sort_keys=False, default_flow_style=None, width=100)


def checked_profile(file: Path) -> tuple[str, ...]:
    """Its warnings. Raises InventoryError."""
    return load(file).warnings


def lines(found: TuningEvidence) -> Iterator[str]:
    """The result as text."""
    chosen = found.chosen
    yield f"{found.title}: {len(found.tried)} settings tried; proposed: {chosen.name}"
    yield "  " + told(chosen.values)
    for standing in chosen.standing:
        yield "  " + sentence(standing, chosen.figures)
    yield "on patterns that the search never saw:"
    for standing in standings(found.unseen):
        yield "  " + sentence(standing, found.unseen)
    yield from verdict(found)


def told(values: Mapping[str, Any]) -> str:
    """A setting on one line."""
    return ", ".join(f"{key.rsplit('.', 1)[-1]} {value:g}" for key, value in values.items())


def verdict(found: TuningEvidence) -> Iterator[str]:
    """Whether all goals are met; else what conflicts, and what no setting cures."""
    seen = [each.met for each in found.chosen.standing]
    unseen = [each.met for each in standings(found.unseen)]
    if all(seen) and all(unseen):
        yield "all three goals are met, on the unseen patterns too"
        return
    if all(seen):
        yield "all three goals are met on the patterns of the search, not on the unseen ones"
    sound = [each for each in found.tried if not each.rules]
    for line in conflicts([each.standing for each in sound]):
        yield f"conflict: {line}"
    for number, goal in enumerate(NAMES):
        always = set.intersection(*(set(each.standing[number].missing) for each in sound))
        if always:
            yield f"{goal}: missed by every setting with {', '.join(sorted(always))}"
    for number, goal in enumerate(NAMES):
        best = min(sound, key=lambda each: each.standing[number].short)
        others = "; ".join(
            f"{NAMES[n]} missed by {len(best.standing[n].missing)}"
            for n in range(len(NAMES))
            if n != number
        )
        missing = len(best.standing[number].missing)
        yield f"best for {goal} ({best.name}; {told(best.values)}): missed by {missing}; {others}"


def page(found: TuningEvidence) -> str:
    """The page."""
    chosen = found.chosen
    return rendered(
        "tune.html.j2",
        title=found.title,
        name=chosen.name,
        values=told(chosen.values),
        tried=len(found.tried),
        goals=[(each.met, sentence(each, chosen.figures)) for each in chosen.standing],
        unseen=[(each.met, sentence(each, found.unseen)) for each in standings(found.unseen)],
        verdict=list(verdict(found)),
        charts=list(_charts(chosen.figures, "")),
        unseen_charts=list(_charts(found.unseen, "unseen patterns: ")),
        near=[(name, f"{short - found.near_base:+.3f}") for name, short in found.near],
        settings=[
            _row(each, each is chosen) for each in sorted(found.tried, key=lambda e: e.short)
        ],
    )


def _charts(figures: Figures, what: str) -> Iterator[Markup]:
    for number, (title, bound) in enumerate(zip(TITLES, BOUNDS, strict=True)):
        rows = [(name, each[number]) for name, each in figures.items()]
        yield Markup(charts.ranks(rows, bound, what + title, high=number == 0))


def _row(each: TriedSetting, chosen: bool) -> tuple[str, ...]:
    missed = (f"{len(standing.missing)}" for standing in each.standing)
    mark = "proposed" if chosen else ""
    return (each.name, told(each.values), *missed, f"{each.short[1]:.3f}", *each.rules[:1], mark)
