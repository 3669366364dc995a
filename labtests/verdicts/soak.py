"""A load of hours: each part of it like the others, and what was lost has its minute."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Reading
from labtests.measure.evidence import Evidence, Key
from labtests.verdicts import checks
from labtests.verdicts.outcome import Fact, Finding, Verdict, conclude, failed, passed, unproven

DRIFT = 0.05
"""How far the rate of a part may be off the median's: a load that is paced, and not limited."""
PARTS_AT_LEAST = 5
LEAST_REFRESHES = 10
"""Of a switch's counters in each part, where there are enough of them: a rate of one refresh, read
between two others, tells nothing."""
NAMED = 3
"""Parts of a load that are named in a sentence; the report has all samples."""
GAP = 2.5
"""Times the usual time between two samples: longer, and a part of the load was not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Between two samples of a counter; seconds of the lab's clock. `unsure_s`: by how much its
    length may be off."""

    start_s: float
    end_s: float
    unsure_s: float
    increase: int

    @property
    def per_s(self) -> float:
        return self.increase / (self.end_s - self.start_s)


def steady(evidence: Evidence) -> Verdict:
    """No part of the load between two samples had a loss, and none another rate than the others.
    That the whole had none is asked by `no_loss`, whose counters are proven in controls."""
    parts = {queue: _parts(_series(evidence, queue, _FORWARDED)) for queue in evidence.queues}
    count = min(map(len, parts.values()), default=0)
    each_s = (evidence.end_s - evidence.start_s) / max(count, 1)
    even = [part for queue in parts for part in _inner(evidence, queue)]
    share = max((_allowed(evidence, part) for part in even), default=DRIFT)
    return conclude(
        "Was every part of the load like the others?",
        evidence,
        _steady(evidence, parts),
        passing=f"{count} parts of {each_s:.3g} s each: no loss in any, rates within "
        f"{100 * share:.0f} % of the median{_of_longer(even, each_s)}",
    )


_FORWARDED, _DROPPED = c.QUEUE_FORWARDED_PACKETS, c.QUEUE_DROPPED_PACKETS


def _steady(evidence: Evidence, parts: dict[int, list[_Part]]) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    if not parts:
        yield unproven("no queue was under load")
    for queue, forwarded in parts.items():
        where = f"{' '.join(evidence.bottleneck)} queue {queue}"
        yield from _lost(evidence, where, _series(evidence, queue, _DROPPED))
        yield from _looked_at(evidence, where, forwarded)
        yield from _even(evidence, where, _inner(evidence, queue))


def _of_longer(even: Sequence[_Part], each_s: float) -> str:
    """Which parts have these rates, where they are longer than those without a loss."""
    longest_s = max((part.end_s - part.start_s for part in even), default=0.0)
    return f" in parts of {longest_s:.3g} s" if longest_s > GAP * each_s else ""


def _inner(evidence: Evidence, queue: int) -> list[_Part]:
    """Parts whose rates are compared: where counters are refreshed less often than they are read,
    several refreshes long, as far as there are enough of them. The first and the last one have the
    start of the load and its end in them."""
    series = _series(evidence, queue, _FORWARDED)
    span_s = series[-1].time_s - series[0].time_s if series else 0.0
    refreshed = LEAST_REFRESHES * (evidence.refresh.seconds or 0.0)
    wanted = math.ceil(refreshed * len(series) / span_s) if span_s else 1
    step = max(min(wanted, len(series) // (PARTS_AT_LEAST + 3)), 1)
    return _parts(series[::step])[1:-1]


def _allowed(evidence: Evidence, part: _Part) -> float:
    """How far its rate may be from the median's: two readings, each of some moment of a refresh."""
    refresh_s = evidence.refresh.seconds or 0.0
    return DRIFT + (part.unsure_s + 2 * refresh_s) / (part.end_s - part.start_s)


def _series(evidence: Evidence, queue: int, counter: str) -> list[Reading]:
    key: Key = (*evidence.bottleneck, "queue", queue, counter)
    everything = (*evidence.before, *evidence.samples, *evidence.after)
    return sorted((r for r in everything if r.key == key), key=lambda reading: reading.time_s)


def _parts(series: Sequence[Reading]) -> list[_Part]:
    """Those between readings that have a number."""
    return [
        _Part(
            start_s=earlier.time_s,
            end_s=later.time_s,
            unsure_s=sum(r.time_s - r.asked_s for r in (earlier, later) if r.asked_s is not None),
            increase=later.value - earlier.value,
        )
        for earlier, later in pairwise(series)
        if earlier.value is not None and later.value is not None and later.time_s > earlier.time_s
    ]


def _lost(evidence: Evidence, where: str, series: Sequence[Reading]) -> Iterator[Finding]:
    unread = [reading for reading in series if reading.value is None]
    if unread or not series:
        yield unproven(f"{where} {_DROPPED}: not read in every part of the load")
    back = [part for part in _parts(series) if part.increase < 0]
    if back:
        yield unproven(f"{where} {_DROPPED} ran backwards {_when(evidence, back[0])}")
    grown = [part for part in _parts(series) if part.increase > 0]
    if grown:
        said = "; ".join(f"by {part.increase} {_when(evidence, part)}" for part in grown[:NAMED])
        more = f"; in {len(grown) - NAMED} parts more" if len(grown) > NAMED else ""
        yield failed(f"{where} {_DROPPED} grew {said}{more}")


def _looked_at(evidence: Evidence, where: str, parts: Sequence[_Part]) -> Iterator[Finding]:
    usual_s = median(part.end_s - part.start_s for part in parts) if parts else 0.0
    for part in parts[1:-1]:
        if part.end_s - part.start_s > GAP * usual_s:
            yield unproven(f"{where} was not read {_when(evidence, part)}")


def _even(evidence: Evidence, where: str, inner: Sequence[_Part]) -> Iterator[Finding]:
    if len(inner) < PARTS_AT_LEAST:
        yield unproven(f"{where}: {len(inner)} whole parts of the load; ask for a longer --soak")
        return
    usual = median(part.per_s for part in inner)
    if not usual:
        yield unproven(f"{where} forwarded nothing in half of the parts")
        return
    worst = 0.0
    for part in inner:
        off = abs(part.per_s / usual - 1)
        worst = max(worst, off)
        if off > _allowed(evidence, part):
            yield unproven(
                f"{where} forwarded {100 * part.per_s / usual:.0f} % of its usual rate "
                f"{_when(evidence, part)}: the load was not steady"
            )
    yield passed(
        Fact(
            name=f"{where}: farthest of {len(inner)} parts from the median rate",
            measured=round(worst, 4),
            bound=f"<= {DRIFT} and the time of a sample",
            unit="of the median",
        )
    )


def _when(evidence: Evidence, part: _Part) -> str:
    """In seconds and minutes of the load."""
    start_s, end_s = (max(at - evidence.start_s, 0.0) for at in (part.start_s, part.end_s))
    return f"from {start_s:.0f} s to {end_s:.0f} s of the load (minute {int(start_s // 60) + 1})"
