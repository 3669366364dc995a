"""Background noise in what a verdict rests on makes a pass inconclusive, and never excuses."""

from dataclasses import replace

import pytest
from handmade import control_of, good_evidence, reading

from labtests.capabilities import counters as c
from labtests.measure.evidence import differences
from labtests.verdicts import (
    Outcome,
    drops_as_expected,
    lossless,
    paused,
    slowed_by_marks,
    throttled,
)

CEILING = 0.9616 * 10e9
GOOD = good_evidence()
CONTROL = control_of(GOOD)

FORWARDED = ("sw", "p3", "queue", 3, c.QUEUE_FORWARDED_PACKETS)
OTHER_QUEUE = ("sw", "p3", "queue", 0, c.QUEUE_FORWARDED_PACKETS)
UNDER_TEST = [
    FORWARDED,
    ("sw", "p3", "queue", 5, c.QUEUE_DROPPED_PACKETS),
    ("a", "eth0", "priority", 3, c.TX_PACKETS),
    ("r", "eth0", "priority", 5, c.RX_PACKETS),
    ("sw", "p2", "priority", 5, c.PFC_TX_FRAMES),
    ("sw", "p3", "port", None, c.ECN_MARKED_PACKETS),
]


def grown(key, by=7):
    """As the check before the run saw it, in half a second."""
    return tuple(differences([reading(key, 100, 1.0)], [reading(key, 100 + by, 1.5)]).values())


def judged(evidence):
    return lossless(evidence, {3, 5}, controls=(CONTROL,))


@pytest.mark.parametrize("key", UNDER_TEST, ids=lambda key: " ".join(map(str, key)))
def test_noise_that_the_check_saw_under_test_makes_a_pass_inconclusive(key):
    assert judged(GOOD).outcome is Outcome.PASS
    verdict = judged(replace(GOOD, idle=grown(key)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    for part in (*key[:2], key[4], "grew by 7 in 0.5 s", "in the check before the run",
                 "find and stop the source"):  # fmt: skip
        assert part in verdict.because
    assert (7, "= 0") in {(fact.measured, fact.bound) for fact in verdict.facts}


def test_noise_in_another_queue_is_no_matter_of_this_verdict():
    for key in (OTHER_QUEUE, ("a", "eth0", "priority", 0, c.TX_PACKETS)):
        assert judged(replace(GOOD, idle=grown(key))).outcome is Outcome.PASS


def test_noise_in_the_quiet_window_before_the_phase_counts_as_well():
    earlier = tuple(
        replace(r, value=r.value - 12) if r.key == FORWARDED else r for r in GOOD.quiet_before
    )
    verdict = judged(replace(GOOD, quiet_before=earlier))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "grew by 12 in 0.5 s (in the quiet window before the phase)" in verdict.because


def test_a_quiet_window_that_cannot_be_read_is_not_quiet():
    for dark in (
        tuple(r for r in GOOD.quiet_before if r.key != FORWARDED),
        tuple(replace(r, value=None) if r.key == FORWARDED else r for r in GOOD.quiet_before),
        tuple(replace(r, value=10**9) if r.key == FORWARDED else r for r in GOOD.quiet_before),
    ):
        verdict = judged(replace(GOOD, quiet_before=dark))
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert "unknown whether" in verdict.because


def test_a_failure_stays_a_failure_whatever_the_noise():
    lost = replace(CONTROL, kind="experiment", idle=grown(FORWARDED, by=10**6))
    verdict = judged(lost)
    assert verdict.outcome is Outcome.FAIL
    assert "noise" not in verdict.because


@pytest.mark.parametrize(
    ("ask", "key"),
    [
        (paused, ("sw", "p1", "priority", 3, c.PFC_TX_FRAMES)),
        (lambda seen: throttled(seen, ceiling_bits_per_s=CEILING), FORWARDED),
        (slowed_by_marks, ("a", "eth0", "port", None, c.RP_CNP_HANDLED)),
        (slowed_by_marks, ("r", "eth0", "port", None, c.NP_CNP_SENT)),
        (lambda seen: drops_as_expected(seen, dropping=3, clean=5), FORWARDED),
    ],
)
def test_every_question_names_the_noise_in_what_it_rests_on(ask, key):
    noisy = ask(replace(GOOD, idle=grown(key)))
    names = {fact.name for fact in noisy.facts} - {fact.name for fact in ask(GOOD).facts}
    assert [name for name in names if key[4] in name and "before the run" in name]
    assert noisy.outcome is not Outcome.PASS
