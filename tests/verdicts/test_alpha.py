"""Rates after CNPs, by the formula: by hand for one interval, and against other parameters."""

from dataclasses import replace

import pytest
from handmade import reading, rows
from handmade_rdma import evidence, flow, held_by_marks

from labtests.capabilities import counters as c
from labtests.drivers.connectx import dcqcn
from labtests.verdicts import AlphaRule, Outcome, follows_alpha

STAYS = AlphaRule(alpha_timer_us=2000, increase_timer_us=300, additive_increase_mbit_per_s=15)
FALLS = replace(STAYS, alpha_timer_us=400)


def slowed(rate=0.25, handled=2000, held_us=0, **more):
    """Two flows for two seconds, all marked: the first is slowed, the second one ignores CNPs."""
    told = {"interval_us": 1000, "rows_s": 2, "marked": 900_000} | more
    interval_us, rows_s, marked = (told.pop(name) for name in ("interval_us", "rows_s", "marked"))
    seen = held_by_marks()
    flows = tuple(
        replace(flow(host), intervals=rows(10, (0.9,) * (rows_s - 1) + (gbit,)))
        for host, gbit in (("a", rate), ("b", 8.0))
    )
    grown = {key: d.increase for key, d in seen.changes.items()}
    grown |= {
        ("r", "eth0", "port", -1, c.NP_ECN_MARKED_PACKETS): marked,
        ("r", "eth0", "port", -1, c.NP_CNP_SENT): 2000 + (handled or 0),
        ("a", "eth0", "port", -1, c.RP_CNP_HANDLED): handled,
        ("b", "eth0", "port", -1, c.RP_CNP_HANDLED): 0,
        ("b", "eth0", "port", -1, c.RP_CNP_IGNORED): 2000,
        ("sw", "p1", "queue", 6, c.QUEUE_FORWARDED_PACKETS): handled or 0,
        ("a", "eth0", "priority", 3, c.PFC_RX_PAUSE_US): held_us,
        ("a", "eth0", "priority", 3, c.PFC_RX_FRAMES): held_us,
        **{("a", "eth0", "port", -1, name): n for name, n in told.items()},
    }
    grown = {key: n for key, n in grown.items() if n is not None}
    cnp = replace(seen.cnp, interval_us=interval_us)
    return evidence(grown, seen.senders, flows, cnp=cnp)


def test_one_interval_by_hand():
    """alpha 1, three ticks: r/2, 3r/4, (7r/8 + A/2), (15r/16 + 5A/4) = r, so that r is 20 A."""
    halved = (300 * 10 + 300 * 15 + 300 * 18 + 100 * 20) / 1000  # of A, over the interval
    low, high = STAYS.bounds(1000, 1000)
    assert low == pytest.approx(0.75 * 15e6 * halved, rel=0.02)
    assert high > 1.25 * 15e6 * halved  # where the first tick raises the target, too
    assert high == pytest.approx(1.25 * 15e6 * 26, rel=0.01)  # r is 34 A then


@pytest.mark.parametrize("rule", [STAYS, FALLS])
@pytest.mark.parametrize("handled", [1, 2, 10, 40, 100])
def test_cnps_too_rare_for_the_rule_are_said(handled, rule):
    """Of the cut nothing is left before the next CNP: 1 - a was 0 for a float, and divided by."""
    verdict = follows_alpha(slowed(handled=handled), rule)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "has its whole link again between two of them" in verdict.because


@pytest.mark.parametrize("apart_us", [1e4, 2e4, 1e6, 1e12])
@pytest.mark.parametrize("alpha_timer_us", [1, 400, 2000, 10**9])
def test_bounds_of_any_interval_are_no_error(apart_us, alpha_timer_us):
    low, high = replace(STAYS, alpha_timer_us=alpha_timer_us).bounds(apart_us, 2 * apart_us)
    assert 1e12 < low <= high  # bits/s: more than any line


def test_alpha_that_falls_between_cnps_leaves_more():
    (low, high), (least, most) = STAYS.bounds(1000, 1000), FALLS.bounds(1000, 1000)
    assert least > 1.5 * low
    assert most > 5 * high


@pytest.mark.parametrize(("rate", "rule"), [(0.21, STAYS), (0.45, STAYS), (1.2, FALLS)])
def test_a_rate_by_the_rule_passes_with_its_bounds(rate, rule):
    verdict = follows_alpha(slowed(rate), rule)
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because.startswith(f"a had {rate:g} Gb/s with a CNP each 1000 to 1100 us")


@pytest.mark.parametrize("rate", [1.2, 4.6])
def test_one_that_slows_down_less_is_a_failure_and_is_named(rate):
    verdict = follows_alpha(slowed(rate), STAYS)
    assert verdict.outcome is Outcome.FAIL
    assert f"a had {rate:g} Gb/s" in verdict.because
    assert "it slows down less than its CNPs ask for" in verdict.because


def sampled(*handled):
    """Of a rate that is too high; what its NIC had handled, in samples of the last row."""
    seen = slowed(1.2)
    last = seen.flows[0].intervals[-1]
    key = ("a", "eth0", "port", -1, c.RP_CNP_HANDLED)
    return replace(
        seen,
        samples=tuple(reading(key, value, last.start_s + n / 2) for n, value in enumerate(handled)),
    )


def test_cnps_that_ceased_for_a_while_blame_no_reaction_point():
    verdict = follows_alpha(sampled(1000, 1500, 1800), STAYS)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "they came unevenly, each 1000 to 1667 us in that row" in verdict.because
    assert "notification point of r" in verdict.because
    assert "look at the reaction point" not in verdict.because


@pytest.mark.parametrize("handled", [(1000, 1500, 2000), (1000, None, 2000), ()])
def test_cnps_that_came_evenly_or_were_not_sampled_do(handled):
    verdict = follows_alpha(sampled(*handled), STAYS)
    assert verdict.outcome is Outcome.FAIL
    assert "look at the reaction point of a" in verdict.because


def test_a_queue_that_drops_cnps_is_no_matter_of_the_reaction_point():
    dropped = {("sw", "p1", "queue", 6, c.QUEUE_DROPPED_PACKETS): 51}
    seen = slowed()
    before = tuple(reading(key, 0, 9.5) for key in dropped)
    after = tuple(reading(key, n, 13.0) for key, n in dropped.items())
    seen = replace(seen, before=(*seen.before, *before), after=(*seen.after, *after))
    verdict = follows_alpha(seen, STAYS)
    assert "that of the CNPs, dropped 51 packets" in verdict.because
    assert "look at the reaction point" not in verdict.because


def test_half_the_cnps_explain_a_higher_rate():
    assert follows_alpha(slowed(4.6, handled=1000, interval_us=2000), STAYS).outcome is not (
        Outcome.FAIL
    )


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (slowed(0.1), "more than its CNPs ask for, or a sends no faster"),
        (slowed(handled=0), "a handled no CNP"),
        (slowed(handled=None), "rp_cnp_handled"),
        (slowed(marked=None), "np_ecn_marked"),
        (slowed(held_us=900_000), "a was held by pauses for 0.9 s"),
        (slowed(handled=20_000), "the rate falls as long as they come"),
        (slowed(rows_s=1), "no rate of a while all sent"),
        (replace(slowed(), flows=()), "no rate of a"),
        (slowed(**{c.RP_CNP_IGNORED: 5}), "CNPs"),
        (replace(slowed(), settled=False), "counters were still changing"),
        (replace(slowed(4.6), changed=("dcqcn_rp of a was changed",)), "less than its CNPs"),
    ],
    ids=[
        *(
            "slow",
            "no CNP",
            "unread",
            "unmarked",
            "paused",
            "falls",
            "one row",
            "no flow",
            "ignored",
        ),
        *("moving", "changed"),
    ],
)
def test_what_does_not_show_the_rule_is_open(seen, says):
    verdict = follows_alpha(seen, STAYS)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def test_each_value_of_the_rule_has_a_name_of_the_field():
    assert set(STAYS.values) <= set(dcqcn._NAMES["roce_rp"])
