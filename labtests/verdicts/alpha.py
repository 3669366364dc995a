"""What a reaction point's rate may be after the CNPs that it handled.

DCQCN (Zhu et al., SIGCOMM 2015, equations 1 to 4): a CNP makes the target rate the current one and
cuts that by alpha / 2; alpha goes to g + (1 - g) alpha when a CNP came since its last update, and
to (1 - g) alpha when none did; between cuts the rate goes half of the way to its target at each
tick of the increase timer, which additive increase raises after `recovery_stages` of them. With
CNPs one interval apart all this repeats itself, and the rate r at a cut is the fixed point of an
affine map: that of one interval.

Two things the texts leave open are bounds here: whether alpha is updated right before a cut or
right after, and whether `rpg_threshold` ticks are recovery, or one more. `dce_tcp_g` may be what an
update keeps or what it adds (NVIDIA's text has both readings): rules have 512 of 1024, where both
are the same.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence, Place
from labtests.verdicts import checks, cnps, goodput, outcome, witnesses
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Outcome,
    Verdict,
    conclude,
    failed,
    missing,
    passed,
    unproven,
)

UPDATE_SHARE = 0.5
"""Of alpha, both what an update keeps and what a CNP adds: 512 of 1024."""
AROUND = 0.05
"""Of the mean interval between two CNPs, what single ones may differ by."""
UNEVEN = 1.2
"""Of the shortest mean interval between two CNPs in the samples of a row, the longest."""
LEAST_SHARE, MOST_SHARE = 0.75, 1.25
"""Of the rate by the formula: headers and the gaps between frames are in it, the first cuts of a
flow (from the line's rate) and the ticks of a NIC's own timers beside it. Where alpha is 1, healthy
simulated labs of 10G to 400G have 0.94 to 1.01 of the least by formula, of 1G 1.31: the next packet
comes late there."""
_ONE = 1024
_NOTHING = 1e-30
"""Of a rate: what is left of a cut then leaves a rate that no line has, whatever is added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaRule:
    """Parameters of a reaction point, in the field's names (docs/profiles.md) and units. The byte
    counter is off, every CNP clamps the target rate, and alpha is kept by a half."""

    alpha_timer_us: int
    increase_timer_us: int
    additive_increase_mbit_per_s: int
    recovery_stages: int = 1

    @property
    def values(self) -> dict[str, int]:
        """All that has to be set for it."""
        return {
            "alpha_timer_us": self.alpha_timer_us,
            "increase_timer_us": self.increase_timer_us,
            "additive_increase_mbit_per_s": self.additive_increase_mbit_per_s,
            "recovery_stages": self.recovery_stages,
            "alpha_kept_1024": round(UPDATE_SHARE * _ONE),
            "initial_alpha_1024": _ONE // 16,  # so that CNPs have to raise it
            "byte_counter_bytes": 0,
            "clamp_target_rate": 1,
            "cut_interval_us": 1,
            "cut_divisor_log2": 11,  # alpha, as 0 to 1023, over 2048: the paper's alpha / 2
            "least_kept_percent": 50,
        }

    def bounds(self, least_us: float, most_us: float) -> tuple[float, float]:
        """The least and the most that the mean rate may be, with CNPs so far apart."""
        rates = [
            self._mean(interval_us, alpha, first)
            for interval_us in ((1 - AROUND) * least_us, (1 + AROUND) * most_us)
            for alpha in self._alphas(interval_us)
            for first in (self.recovery_stages, self.recovery_stages + 1)
        ]
        return LEAST_SHARE * min(rates), MOST_SHARE * max(rates)

    def _alphas(self, interval_us: float) -> tuple[float, ...]:
        """Alpha at a cut, right before the update that knows of its CNP and right after."""
        updates = interval_us / self.alpha_timer_us
        if updates <= 1:
            return (1.0,)
        found = []
        for each in (math.floor(updates), math.ceil(updates)):
            after = UPDATE_SHARE / (1 - UPDATE_SHARE**each)
            found += [after, after * UPDATE_SHARE ** (each - 1)]
        return tuple(found)

    def _mean(self, interval_us: float, alpha: float, first: int) -> float:
        """Over one interval. `first`: the tick from which on the target is raised. Rates are
        a r + b, of the rate r before the cut and of what one increase adds; without an end where
        nothing that can be reckoned with is left of the cut."""
        ticks = math.floor(interval_us / self.increase_timer_us)
        left = alpha / 2 * 0.5**ticks  # 1 - a at the end: a itself is 1.0 from 53 ticks on
        if left < _NOTHING:
            return math.inf
        a, b, raised = 1 - alpha / 2, 0.0, 0
        parts = [(a, b)]
        for tick in range(1, ticks + 1):
            raised += tick >= first
            a, b = (a + 1) / 2, (b + raised) / 2
            parts.append((a, b))
        at_cut = b / left
        lengths = [*(self.increase_timer_us,) * ticks, interval_us % self.increase_timer_us]
        total = sum(us * (a * at_cut + b) for us, (a, b) in zip(lengths, parts, strict=True))
        return 1e6 * self.additive_increase_mbit_per_s * total / interval_us


def follows_alpha(evidence: Evidence, rule: AlphaRule) -> Verdict:
    """The first sender, whose packets are all marked, had the rate that the rule leaves it after as
    many CNPs as it handled. Its NIC has the parameters of `rule`."""
    sender = evidence.senders[0].device
    got, apart = _rate(evidence) or 0.0, _apart_us(evidence) or (0.0, 0.0)
    low, high = rule.bounds(*apart) if apart[0] else (0.0, 0.0)
    return conclude(
        "Is the rate after CNPs what DCQCN's rule of alpha leaves?",
        evidence,
        _follows(evidence, rule),
        passing=_in_words(sender, got, apart, low, high),
        remedy=""
        if low <= got <= high
        else f"look at the reaction point of {sender}: dce_tcp_g, dce_tcp_rtt, rpg_gd, "
        "rpg_time_reset, rpg_ai_rate, and at its firmware",
    )


def _follows(evidence: Evidence, rule: AlphaRule) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from witnesses.rdma_repeated_only_what_was_dropped(evidence)
    place = evidence.senders[0]
    handled = evidence.change((place.device, place.port), "port", None, c.RP_CNP_HANDLED)
    if not handled.increase:
        stood = f"{place.device} handled no CNP: nothing slowed it"
        yield missing(handled, "> 0", "CNPs") if handled.increase is None else unproven(stood)
    yield from _all_its_cnps(evidence, place)
    got, apart = _rate(evidence), _apart_us(evidence)
    if got is None or apart is None:
        yield unproven(f"no rate of {place.device} while all sent, or no CNPs in it")
    elif (1 - AROUND) * apart[0] < rule.increase_timer_us:
        yield unproven(f"CNPs came each {apart[0]:.0f} us: the rate falls as long as they come")
    elif rule.bounds(*apart)[0] > _line(evidence, place):
        yield unproven(
            f"CNPs came each {apart[0]:.0f} us at the least: by the rule {place.device} has its "
            "whole link again between two of them, so that it does not show"
        )
    else:
        bounds = rule.bounds(*apart)
        within = _within(place.device, got, apart, bounds)
        uneven = _unevenly(evidence) if within.outcome is Outcome.FAIL else ""
        yield unproven(f"{within.because}, {uneven}", *within.facts) if uneven else within
        yield from _free(evidence, got, bounds[1])


def _line(evidence: Evidence, place: Place) -> float:
    return place.link_bits_per_s or evidence.line_bits_per_s


def _all_its_cnps(evidence: Evidence, place: Place) -> Iterator[Finding]:
    """It heeded them by its own count, and none of theirs was lost."""
    receiver = (evidence.receiver.device, evidence.receiver.port)
    for counter in (c.NP_CNP_SENT, c.NP_ECN_MARKED_PACKETS):
        told = evidence.change(receiver, "port", None, counter)
        if told.increase is None:
            yield missing(told, "known", "packets")
    yield from cnps.heeded(evidence, place)
    yield from cnps.of_marks(evidence)
    yield from cnps.in_their_class(evidence)
    yield cnps.all_came(evidence)


def _within(
    sender: str, got: float, apart: tuple[float, float], bounds: tuple[float, float]
) -> Finding:
    low, high = bounds
    fact = Fact(
        name=f"{sender}: rate with a CNP each {apart[0]:.0f} to {apart[1]:.0f} us",
        measured=round(got / 1e9, 4),
        bound=f">= {low / 1e9:.3g} and <= {high / 1e9:.3g}",
        unit="Gb/s",
        margin=round(min(got - low, high - got) / 1e9, 4),
    )
    said = _in_words(sender, got, apart, low, high)
    if got > high:
        return failed(f"{said}: it slows down less than its CNPs ask for", fact)
    if got < low:
        slow = failed(f"{said}: it slows down more than its CNPs ask for", fact)
        return outcome.or_unproven(slow, f"or {sender} sends no faster", joined_by=", ")
    return passed(fact)


def _free(evidence: Evidence, got: float, high: float) -> Iterator[Finding]:
    """Pauses in its last row hide no rate that is too high: as long as they were, they may all have
    been in it."""
    place, row = evidence.senders[0], evidence.flows[0].intervals[-1]
    held_s, seconds = checks.held_s(evidence, place), row.end_s - row.start_s
    if got <= high and got * seconds > high * max(seconds - held_s, 0.0):
        yield unproven(
            f"{place.device} was held by pauses for {held_s:.3g} s: its rule is not seen"
        )


def _unevenly(evidence: Evidence) -> str:
    """How its CNPs came in the row that is judged, by samples, where they did not come evenly."""
    rows = goodput.rows_together(evidence, evidence.flows[0]) if evidence.flows else ()
    place, receiver = evidence.senders[0], evidence.receiver.device
    key = (place.device, place.port, "port", -1, c.RP_CNP_HANDLED)
    late_s = AROUND * (rows[-1].end_s - rows[-1].start_s) if rows else 0.0
    shown = sorted(
        (read.time_s, read.value)
        for read in evidence.samples_of.get(key, ())
        if rows
        and read.value is not None
        and rows[-1].start_s - late_s <= read.time_s <= rows[-1].end_s + late_s
    )
    spans = [
        1e6 * (end_s - start_s) / max(after - before, 1)
        for (start_s, before), (end_s, after) in pairwise(shown)
        if end_s > start_s
    ]
    if len(spans) < 2 or max(spans) <= UNEVEN * min(spans):
        return ""
    return (
        f"or they came unevenly, each {min(spans):.0f} to {max(spans):.0f} us in that row: look at "
        f"what marks, and at the notification point of {receiver}"
    )


def _in_words(sender: str, got: float, apart: tuple[float, float], low: float, high: float) -> str:
    return (
        f"{sender} had {got / 1e9:.3g} Gb/s with a CNP each {apart[0]:.0f} to {apart[1]:.0f} us: "
        f"its rule of alpha leaves {low / 1e9:.3g} to {high / 1e9:.3g}"
    )


def _rate(evidence: Evidence) -> float | None:
    """Of the first sender, in its last whole row in which all sent: the first cuts are over."""
    rows = goodput.rows_together(evidence, evidence.flows[0]) if evidence.flows else ()
    return rows[-1].goodput_bits_per_s if len(rows) > 1 else None


def _apart_us(evidence: Evidence) -> tuple[float, float] | None:
    """Between two CNPs of the first sender, as a mean, at least and at most: rows leave out how its
    tool starts and ends, and the phase has the starts of all tools in it. No less than the
    receiver says, unless it sent more of them."""
    place, rows = evidence.senders[0], evidence.flows[0].intervals if evidence.flows else ()
    handled = evidence.change((place.device, place.port), "port", None, c.RP_CNP_HANDLED).increase
    if not handled or not rows:
        return None
    most = 1e6 * (evidence.end_s - evidence.start_s) / handled
    told = None if evidence.cnp is None else evidence.cnp.interval_us
    least = max(1e6 * (rows[-1].end_s - rows[0].start_s) / handled, min(told or 0.0, most))
    return least, max(least, most)
