"""The marks that a queue makes while it fills, against its RED curve: counted from outside.

The receiver holds the queue by pauses, and one sender fills it little by little, packet by packet,
until it is paused, too. So each length up to that was met by one packet. Below Kmin none of them is
marked, above Kmax each, and between them each by the chance that the curve gives for its length
(Floyd and Jacobson, Random Early Detection, 1993): their number is a sum of Bernoulli trials.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor, sqrt

from labtests.capabilities.records import MarkingCurve
from labtests.measure.evidence import Evidence
from labtests.verdicts import ecn, idle
from labtests.verdicts.bounds import between
from labtests.verdicts.filled import (
    SLACK_PACKETS,
    at_rest,
    filled_alone,
    frame_bytes,
    held_packets,
)
from labtests.verdicts.memory import CELL_BYTES
from labtests.verdicts.outcome import (
    Finding,
    Verdict,
    conclude,
    failed,
    held_to,
    missing,
    passed,
    unproven,
)

LEAST_PACKETS = 100
KIBI = 1024
DEVIATIONS = 5
"""Of the number of marks: more are chance once in two million runs."""


def marks_by_curve(evidence: Evidence, curve: MarkingCurve) -> Verdict:
    """While the only sender filled the queue, as many packets were marked as the curve says."""
    return conclude(
        "Were packets marked as the curve says, at each length of the queue?",
        evidence,
        _marks_by_curve(evidence, curve),
        passing=_said(evidence, curve),
        remedy="look at Kmin, Kmax and Pmax of this queue, and whether ECN is on there",
    )


def curve_over(
    filled: Evidence, queue: int, *, low: float, high: float, percent: int
) -> MarkingCurve:
    """The curve from and to these shares of what this queue held when it was full, in whole KiB,
    which each switch takes; of the fewest packets that tell anything where that was not seen."""
    packets = max(held_packets(filled) or 0, LEAST_PACKETS)
    kmin_kib, kmax_kib = (
        round(share * packets * frame_bytes(filled)) // KIBI for share in (low, high)
    )
    return MarkingCurve(
        queue=queue,
        kmin_bytes=kmin_kib * KIBI,
        kmax_bytes=(kmax_kib + 1) * KIBI,
        pmax_percent=percent,
        weighting_exponent=0,
    )


def _marks_by_curve(evidence: Evidence, curve: MarkingCurve) -> Iterator[Finding]:
    yield from filled_alone(evidence)
    yield idle.quiet_marks(evidence)
    counted = ecn.marked(evidence)
    yield from (missing(each, "known", "packets") for each in counted if each.increase is None)
    rest, marks = at_rest(evidence), _marked(evidence)
    if rest is None:
        yield unproven("no samples in which nothing moved while packets were held")
    elif rest.held < LEAST_PACKETS:
        yield unproven(f"{rest.held} packets were held, fewer than {LEAST_PACKETS}")
    elif marks is None:
        yield unproven(f"{_where(evidence)}: its marks while packets were held are not known")
    elif not marks and (later := sum(each.increase or 0 for each in counted)):
        yield unproven(
            f"{_where(evidence)} marked nothing while it filled, and {later} packets behind that: "
            "it marks them as they leave, and how long it was then is not told from outside"
        )
    else:
        yield _within(evidence, curve, rest.held, marks)


def _within(evidence: Evidence, curve: MarkingCurve, held: int, marks: int) -> Finding:
    least, most = _expected(evidence, curve, held)
    fact = held_to(
        f"{_where(evidence)}: packets marked of {held}", marks, between(least, most), "packets"
    )
    if least <= marks <= most:
        return passed(fact)
    return failed(
        f"{_where(evidence)} marked {marks} of the {held} packets that filled it, not {least} to "
        f"{most}: not by {_told(curve)}",
        fact,
    )


def _expected(evidence: Evidence, curve: MarkingCurve, held: int) -> tuple[int, int]:
    """The fewest and the most marks of so many packets, each in whole cells of CELL_BYTES at most,
    some of which are on their way in or out."""
    frame = frame_bytes(evidence)
    low, by_chance = _marks(curve, frame, -SLACK_PACKETS, held)
    least = floor(low - DEVIATIONS * by_chance)
    high, by_chance = _marks(curve, frame + CELL_BYTES, SLACK_PACKETS, held)
    return max(least, 0), min(ceil(high + DEVIATIONS * by_chance), held)


def _marks(curve: MarkingCurve, each_bytes: int, first: int, held: int) -> tuple[float, float]:
    """The mean number of marks, and its standard deviation, of `held` packets that meet a queue of
    `first`, `first` + 1, ... packets. In closed form: `held` is what counters tell, and one that
    lies tells billions."""
    kmin, kmax = curve.kmin_bytes, curve.kmax_bytes
    begins, ends = (min(max(ceil(Fraction(k, each_bytes)) - first, 0), held) for k in (kmin, kmax))
    ramp = ends - begins
    if ramp == 0:
        return float(held - ends), 0.0
    # on the ramp packet n, 0 to ramp - 1, is above Kmin by `above` + n * each_bytes
    above = each_bytes * (begins + first) - kmin
    to_n, to_n2 = ramp * (ramp - 1) // 2, ramp * (ramp - 1) * (2 * ramp - 1) // 6
    all_above = ramp * above + each_bytes * to_n
    squares = ramp * above**2 + 2 * above * each_bytes * to_n + each_bytes**2 * to_n2
    slope = Fraction(curve.pmax_percent) / 100 / (kmax - kmin)
    return float(held - ends + slope * all_above), sqrt(slope * all_above - slope**2 * squares)


def chance(curve: MarkingCurve, length_bytes: float) -> float:
    """That a packet which meets a queue of this length is marked, 0 to 1."""
    if length_bytes < curve.kmin_bytes:
        return 0.0
    if length_bytes >= curve.kmax_bytes:
        return 1.0
    grown = (length_bytes - curve.kmin_bytes) / (curve.kmax_bytes - curve.kmin_bytes)
    return curve.pmax_percent / 100 * grown


def _marked(evidence: Evidence) -> int | None:
    """Marks since the phase began, in the sample in which nothing moved any more; None where that
    was not read, or is no moment of what the counters did in the whole phase."""
    rest = at_rest(evidence)
    if rest is None:
        return None
    total = 0
    for each in ecn.marked(evidence):
        begun = None if each.before is None else each.before.value
        samples = evidence.samples_of.get(each.key, ())
        read = [r.value for r in samples if r.asked_s == rest.asked_s]
        then = read[0] if len(read) == 1 else None
        if begun is None or then is None or not 0 <= then - begun <= (each.increase or 0):
            return None
        total += then - begun
    return total


def _where(evidence: Evidence) -> str:
    queues = " and ".join(f"queue {queue}" for queue in evidence.queues)
    return f"{' '.join(evidence.bottleneck)} {queues}"


def _told(curve: MarkingCurve) -> str:
    return (
        f"Kmin {curve.kmin_bytes} bytes, Kmax {curve.kmax_bytes} bytes and Pmax "
        f"{curve.pmax_percent} %"
    )


def _said(evidence: Evidence, curve: MarkingCurve) -> str:
    rest = at_rest(evidence)
    if rest is None or len(evidence.senders) != 1:
        return "nothing was held"
    least, most = _expected(evidence, curve, rest.held)
    return (
        f"{_where(evidence)} marked {_marked(evidence)} of {rest.held} packets that filled it; by "
        f"{_told(curve)} it is {least} to {most} of them"
    )
