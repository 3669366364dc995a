"""A marking curve counted from outside: how many of the packets that filled a queue were marked."""

from dataclasses import replace
from math import sqrt

import pytest
from handmade import reading
from test_filled import HELD, OUT, SENT, seen

from labtests.capabilities import counters as c
from labtests.capabilities.records import MarkingCurve
from labtests.verdicts import Outcome, curve_over, marks_by_curve
from labtests.verdicts.curves import _marks, chance

MARKS = ("sw", "p3", "queue", 3, c.QUEUE_MARKED_PACKETS)
STEP = curve_over(seen(), 3, low=0.5, high=0.5, percent=100)
SLOPE = curve_over(seen(), 3, low=0.25, high=0.75, percent=50)


def marked(while_filling, in_all=None, **more):
    """So many of the packets that filled the queue, and in the whole phase."""
    in_all = while_filling if in_all is None else in_all
    found = seen(grown={MARKS: in_all, **more.pop("grown", {})}, **more)
    times = sorted({r.time_s for r in found.samples})
    shown = (0, *(while_filling,) * 4, in_all)
    samples = [
        replace(reading(MARKS, 7 + n, time_s), asked_s=time_s - 0.02)
        for time_s, n in zip(times, shown, strict=False)
    ]
    return replace(found, samples=(*found.samples, *samples))


@pytest.mark.parametrize(
    ("length", "share"),
    [(0, 0.0), (99_999, 0.0), (100_000, 0.0), (150_000, 0.1), (199_999, 0.2), (200_000, 1.0)],
)
def test_the_curve_is_none_then_a_slope_then_all(length, share):
    curve = MarkingCurve(
        queue=3, kmin_bytes=100_000, kmax_bytes=200_000, pmax_percent=20, weighting_exponent=0
    )
    assert chance(curve, length) == pytest.approx(share, abs=1e-5)


def test_a_curve_is_over_what_fills_the_queue_in_whole_kibibytes():
    assert (STEP.kmin_bytes, STEP.kmax_bytes) == (758_784, 759_808)
    assert (SLOPE.kmin_bytes, SLOPE.kmax_bytes, SLOPE.pmax_percent) == (378_880, 1_138_688, 50)
    jumbo = curve_over(seen(own_mtu_bytes={"a": 9000}), 3, low=0.5, high=0.5, percent=100)
    assert jumbo.kmin_bytes == 4_508_672
    assert curve_over(seen(samples=()), 3, low=0.5, high=0.5, percent=100).kmin_bytes == 75_776


@pytest.mark.parametrize(
    ("curve", "least", "most"),
    [(STEP, 494, 577), (SLOPE, 325, 511)],
)
def test_what_the_curve_says_passes_and_one_packet_beside_it_does_not(curve, least, most):
    """1000 frames of 1518 bytes, or of 1774 in cells; 5 deviations of what is by chance."""
    for count in (least, most):
        verdict = marks_by_curve(marked(count), curve)
        assert verdict.outcome is Outcome.PASS, verdict.because
        assert f"sw p3 queue 3 marked {count} of {HELD} packets that filled it" in verdict.because
    for count in (least - 1, most + 1):
        verdict = marks_by_curve(marked(count), curve)
        assert verdict.outcome is Outcome.FAIL
        assert f"marked {count} of the {HELD} packets that filled it" in verdict.because
        assert f"not {least} to {most}: not by Kmin {curve.kmin_bytes} bytes" in verdict.because


@pytest.mark.parametrize("kmin_packets", [0.0, 0.3, 40.7, 99.9, 400])
@pytest.mark.parametrize("kmax_packets", [0, 0.4, 41.2, 100.1, 500])
@pytest.mark.parametrize(("first", "held"), [(-3, 1), (-3, 250), (3, 250), (0, 100)])
def test_marks_are_the_sum_of_single_chances(kmin_packets, kmax_packets, first, held):
    kmin, kmax = (round(1518 * packets) for packets in (kmin_packets, kmin_packets + kmax_packets))
    curve = MarkingCurve(
        queue=3, kmin_bytes=kmin, kmax_bytes=kmax, pmax_percent=20, weighting_exponent=0
    )
    chances = [chance(curve, 1518 * (first + n)) for n in range(held)]
    mean, deviation = _marks(curve, 1518, first, held)
    assert mean == pytest.approx(sum(chances))
    assert deviation == pytest.approx(sqrt(sum(p * (1 - p) for p in chances)), abs=1e-6)


def test_a_counter_that_tells_of_billions_is_judged_as_quickly():
    """A mutation of recorded evidence took 15 GB of memory here."""
    mean, deviation = _marks(SLOPE, 1518, 3, 2**63)
    assert mean == pytest.approx(2**63)
    assert 0 < deviation < 20


def test_frames_are_those_of_the_smallest_mtu_that_hosts_have():
    """As the load's datagrams are."""
    mixed = marked(530, own_mtu_bytes={"a": 9000, "r": 1500})
    assert marks_by_curve(mixed, STEP).outcome is Outcome.PASS


def test_a_queue_that_marks_nothing_at_all_is_red():
    assert marks_by_curve(marked(0), STEP).outcome is Outcome.FAIL


def test_marks_of_packets_that_leave_tell_no_length():
    verdict = marks_by_curve(marked(0, 700), STEP)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "marked nothing while it filled, and 700 packets behind that" in verdict.because


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"held": (0, 99, 99, 99, 99, 0)}, "99 packets were held, fewer than 100"),
        ({"held": (0, 900, 1000, 1001, 1002, 0)}, "in which nothing moved"),
        ({"storm": None}, "nobody stormed"),
        ({"senders": ()}, "0 senders"),
        ({"grown": {MARKS: None}}, "its marks while packets were held are not known"),
        ({"grown": {("sw", "p1", "priority", 3, c.PFC_TX_FRAMES): 0}}, "stayed 0"),
    ],
)
def test_without_a_queue_that_was_seen_to_fill_the_curve_is_open(wrong, says):
    verdict = marks_by_curve(marked(530, **wrong), STEP)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def test_marks_without_a_sample_of_that_moment_are_not_those_of_another_one():
    found = marked(530)
    others = tuple(r for r in found.samples if r.key in (SENT, OUT))
    verdict = marks_by_curve(replace(found, samples=others), STEP)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "its marks while packets were held are not known" in verdict.because


def test_marks_that_one_moment_shows_twice_are_not_known():
    found = marked(530)
    shown = [r for r in found.samples if r.key not in (SENT, OUT)]
    again = (replace(each, value=(each.value or 0) + 1) for each in shown)
    verdict = marks_by_curve(replace(found, samples=(*found.samples, *again)), STEP)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "its marks while packets were held are not known" in verdict.because


@pytest.mark.parametrize(
    ("while_filling", "in_all"),
    [
        (530, 529),  # more than in all: it began anew, or wrapped
        (-6, 530),  # below what it was before
        (530, -8),  # reset behind that
    ],
)
def test_a_counter_that_begins_anew_tells_no_marks(while_filling, in_all):
    verdict = marks_by_curve(marked(while_filling, in_all), STEP)
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert "marks while packets were held are not known" in verdict.because
