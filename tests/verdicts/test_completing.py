"""Transfers of one size to one receiver: who ends late, and why."""

from dataclasses import replace

import pytest
from handmade_rdma import CEILING, held_by_marks

from labtests.verdicts import Outcome, completed_alike
from labtests.verdicts.completing import percentile


def transfers(*gbits):
    seen = held_by_marks()
    place, flow = seen.senders[0], seen.flows[0]
    names = [f"h{number}" for number in range(len(gbits))]
    return replace(
        seen,
        senders=tuple(replace(place, device=name) for name in names),
        flows=tuple(
            replace(flow, sender=name, goodput_bits_per_s=rate * 1e9, ran_s=1.0)
            for name, rate in zip(names, gbits, strict=True)
        ),
    )


def judged(*gbits):
    return completed_alike(transfers(*gbits), ceiling_bits_per_s=CEILING)


def test_all_that_have_their_share_end_in_their_time():
    verdict = judged(2.3, 2.3, 2.3, 2.3)
    assert verdict.outcome is Outcome.PASS
    assert "4 transfers: 2.3 Gb/s as a mean, 2.3 the slowest, Jain's index 1.000" in verdict.because
    assert "slowdown 4.03, 4.03, 4.03" in verdict.because


def test_one_that_takes_what_all_others_need_is_named():
    verdict = judged(6.0, 0.75, 0.75, 0.75)
    assert verdict.outcome is Outcome.FAIL
    assert "h0 had 8.0 times what the others had" in verdict.because


def test_one_that_is_slow_by_itself_is_no_proof_against_the_network():
    verdict = judged(3.0, 2.9, 0.3, 3.0)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "h2 had 0.3 Gb/s: its own limit" in verdict.because


def test_all_that_are_late_alike_are_not_late_by_themselves():
    """A port at three quarters of its speed: 1.5 times a fair share's time was allowed."""
    verdict = judged(1.75, 1.75, 1.7, 1.75)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "worst slowdown / that of a fair share is 1.36" in verdict.because
    assert "all had 1.7 Gb/s and more: marks hold them below the line, or sw p3" in verdict.because
    one_of_many = judged(*(0.14,) * 60, 0.05)
    assert "h60 had 0.05 Gb/s: its own limit" in one_of_many.because
    assert judged(2.1, 2.1, 2.0, 2.1).outcome is Outcome.PASS  # 1.16 of it, as healthy labs have


def test_a_sender_whose_link_is_slow_is_not_held_against_the_others():
    seen = transfers(3.0, 3.0, 0.9, 2.9)
    places = list(seen.senders)
    places[2] = replace(places[2], link_bits_per_s=1e9)
    verdict = completed_alike(replace(seen, senders=tuple(places)), ceiling_bits_per_s=CEILING)
    assert verdict.outcome is Outcome.PASS


@pytest.mark.parametrize("rates", [(2.3, 0.0, 2.3), (9.2,)], ids=["no figure", "one alone"])
def test_without_figures_of_all_nothing_is_said(rates):
    assert judged(*rates).outcome is Outcome.INCONCLUSIVE


def test_percentiles_are_of_what_was_measured():
    assert [percentile([1, 2, 3, 4], share) for share in (0.25, 0.5, 0.51, 0.99, 1.0)] == [
        *(1, 2, 3, 4, 4)
    ]
