"""Shares of an overloaded port: the rule in closed form, and the verdict that is built on it."""

from dataclasses import replace

import pytest
from handmade import reading, rows
from handmade_loads import load
from hypothesis import given
from hypothesis import strategies as st
from test_pauses_and_cnps import grown

from labtests.capabilities import counters as c
from labtests.capabilities.records import QueueSchedule, SchedulingSetting
from labtests.verdicts import Outcome, reddest, shared
from labtests.verdicts.sharing import Turn, asked_for, max_min, turns

EQUAL, BY_WEIGHT, STRICT = {3: 1, 5: 1}, {3: 1, 5: 3}, {3: None, 5: None}


def scheduler(weights):
    """A scheduler as a switch shows it; None is strict priority."""
    return SchedulingSetting(
        discipline="wrr",
        unit="weight",
        queues=tuple(
            QueueSchedule(queue=q, group="1" if w else "sp", weight=w) for q, w in weights.items()
        ),
    )


def seen(shares, offered=(0.9, 0.9)):
    """Four samples of a port that sends 10 000 packets/s; queues 3 and 5 get these shares."""
    whole = load(dropped=(40_000, 20_000))
    samples = []
    for at_s in range(11, 15):
        for queue, share, came in zip((3, 5), shares, offered, strict=True):
            count = (at_s - 10) * 10_000
            for counter, value in (
                (c.QUEUE_FORWARDED_PACKETS, round(share * count)),
                (c.QUEUE_DROPPED_PACKETS, round(max(came - share, 0) * count)),
            ):
                key = ("sw", "p3", "queue", queue, counter)
                samples.append(reading(key, 7000 + value, float(at_s)))
    rates = (4, 4, 4, 4, 4)
    flows = tuple(
        replace(f, intervals=rows(10, rates), offered_bits_per_s=4e9) for f in whole.flows
    )
    for at, (share, came) in enumerate(zip(shares, offered, strict=True)):
        moved, lost = round(share * 50_000), round(max(came - share, 0) * 50_000)
        whole, flow = counted(whole, whole.senders[at], moved, lost), flows[at]
        told = replace(flow, sent_datagrams=moved + lost, received_datagrams=moved)
        told = replace(told, lost_datagrams=lost)
        flows = tuple(told if each is flow else each for each in flows)
    got = sum(flow.received_datagrams for flow in flows)
    whole = grown(whole, ("r", ""), c.UDP_IN_DATAGRAMS, got, "host")
    return replace(whole, samples=tuple(samples), flows=flows)


def counted(whole, place, moved, lost):
    """The final counters say the same."""
    nic, port = (place.device, place.port), whole.bottleneck
    for where, counter, by, scope, index in (
        (nic, c.TX_PACKETS, moved + lost, "priority", place.priority),
        ((place.device, ""), c.UDP_OUT_DATAGRAMS, moved + lost, "host", None),
        (port, c.QUEUE_FORWARDED_PACKETS, moved, "queue", place.queue),
        (port, c.QUEUE_DROPPED_PACKETS, lost, "queue", place.queue),
        (("r", "eth0"), c.RX_PACKETS, moved, "priority", place.priority),
    ):
        whole = grown(whole, where, counter, by, scope, index)
    return whole


@pytest.mark.parametrize("share", [0.0, 0.5], ids=["frozen", "halved"])
@pytest.mark.parametrize("counter", [c.QUEUE_FORWARDED_PACKETS, c.QUEUE_DROPPED_PACKETS])
@pytest.mark.parametrize(("shares", "weights"), [((0.5, 0.5), EQUAL), ((0.25, 0.75), STRICT)])
def test_samples_that_stand_still_or_count_half_are_held_against_the_end(
    shares, weights, counter, share
):
    """Strict would be 0 to 100 % then, which a strict scheduler owes as well; and an equal one that
    shares so by samples alone is not proven to be wrong."""
    whole = seen(shares, offered=(0.75, 0.75))
    assert shared(whole, scheduler(weights)).outcome is Outcome.PASS
    first = {r.key: r.value for r in reversed(whole.samples)}
    wrong = tuple(
        replace(r, value=first[r.key] + int((r.value - first[r.key]) * share))
        if (r.index, r.counter) == (3, counter)
        else r
        for r in whole.samples
    )
    verdict = shared(replace(whole, samples=wrong), scheduler(weights))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert any("by what they had at the end" in said for said in verdict.disagreements)


RIGHT = [((0.5, 0.5), EQUAL), ((0.25, 0.75), BY_WEIGHT), ((0.1, 0.9), STRICT)]


@pytest.mark.parametrize(("shares", "weights"), RIGHT)
def test_what_the_scheduler_owes_passes_and_every_other_setting_is_red(shares, weights):
    verdict = shared(seen(shares), scheduler(weights))
    assert verdict.outcome is Outcome.PASS, verdict.because
    for other in (EQUAL, BY_WEIGHT, STRICT):
        if other is not weights:
            assert shared(seen(shares), scheduler(other)).outcome is Outcome.FAIL


def test_a_queue_that_offers_less_than_its_share_leaves_the_rest_to_the_other():
    evidence = seen((0.7, 0.3), offered=(0.9, 0.3))
    assert shared(evidence, scheduler(EQUAL)).outcome is Outcome.PASS
    assert shared(evidence, scheduler({3: 3, 5: 1})).outcome is Outcome.FAIL  # 0.75 and 0.25


def test_a_device_with_levels_of_its_own_is_judged_by_them():
    first = tuple(
        QueueSchedule(queue=q, group="sp", weight=None, level=level)
        for q, level in ((3, 0), (5, 1))
    )
    setting = SchedulingSetting(discipline="sp", unit="", queues=first)
    assert shared(seen((0.9, 0.1)), setting).outcome is Outcome.PASS
    assert shared(seen((0.1, 0.9)), setting).outcome is Outcome.FAIL
    plain = SchedulingSetting(discipline="sp", unit="")  # no table: the highest queue first
    assert shared(seen((0.1, 0.9)), plain).outcome is Outcome.PASS


def test_a_sample_that_was_asked_for_before_all_sent_is_not_counted():
    """On a slow host: answered while all sent, and counted perhaps when one of them was alone."""
    whole = seen((0.5, 0.5))
    began = [replace(r, asked_s=r.time_s - 0.5) for r in whole.samples]
    first = [
        replace(r, value=7000, time_s=10.5, asked_s=9.5)  # as it was long before
        for r in whole.samples
        if r.time_s == 11 and r.index == 3
    ]
    late = replace(whole, samples=(*first, *began))
    assert shared(late, scheduler(EQUAL)).outcome is Outcome.PASS
    counted = replace(late, samples=tuple(replace(r, asked_s=None) for r in late.samples))
    assert shared(counted, scheduler(EQUAL)).outcome is not Outcome.PASS
    none = tuple(replace(r, asked_s=9.5) for r in whole.samples)
    verdict = shared(replace(whole, samples=none), scheduler(EQUAL))
    assert verdict.outcome is Outcome.INCONCLUSIVE


def weak(evidence, sender, row):
    """This sender fell short in one second, of 4 Gb/s that it was asked for."""
    rates = (4, 4, row, 4, 4)
    return replace(
        evidence,
        flows=tuple(
            replace(f, intervals=rows(10, rates)) if f.sender == sender else f
            for f in evidence.flows
        ),
    )


def test_a_share_is_excused_by_what_its_own_sender_missed_and_no_more():
    """Three seconds are looked at: 2 of 4 Gb/s in one of them are 6.7 % of a port of 10 Gb/s."""
    some, much = seen((0.45, 0.55)), seen((0.4, 0.6))
    assert shared(some, scheduler(EQUAL)).outcome is Outcome.FAIL
    verdict = shared(weak(some, "a", 2), scheduler(EQUAL))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "did not sustain their offered load" in verdict.because
    assert shared(weak(much, "a", 2), scheduler(EQUAL)).outcome is Outcome.FAIL
    assert shared(weak(some, "b", 2), scheduler(EQUAL)).outcome is Outcome.FAIL  # it got too much


def test_of_several_verdicts_the_reddest_is_taken():
    verdicts = [shared(seen((0.5, 0.5)), scheduler(weights)) for weights in (EQUAL, BY_WEIGHT)]
    assert reddest(verdicts).outcome is Outcome.FAIL
    assert reddest(verdicts[:1]).outcome is Outcome.PASS


def test_without_overload_samples_or_a_scheduler_nothing_is_said():
    assert (
        "the port was not overloaded"
        in shared(seen((0.5, 0.5), offered=(0.5, 0.5)), scheduler(EQUAL)).because
    )
    good = seen((0.5, 0.5))
    for holed in (
        replace(good, samples=()),
        replace(good, samples=tuple(r for r in good.samples if r.index != 5)),
        replace(good, samples=(replace(good.samples[0], value=None), *good.samples[1:])),
        replace(good, samples=tuple(replace(r, time_s=r.time_s + 60) for r in good.samples)),
        replace(good, settled=False),
        replace(good, flows=()),
    ):
        assert shared(holed, scheduler(EQUAL)).outcome is Outcome.INCONCLUSIVE
    unknown = shared(good, scheduler({3: 1}))
    assert unknown.outcome is Outcome.INCONCLUSIVE
    assert "has no entry for queue 5" in unknown.because


loads = st.dictionaries(
    st.integers(0, 7), st.floats(min_value=0, max_value=2), min_size=1, max_size=8
)
weights = st.lists(st.floats(min_value=0.1, max_value=100), min_size=8, max_size=8)
levels = st.lists(st.integers(0, 2), min_size=8, max_size=8)


@given(offered=loads, weights=weights, levels=levels)
def test_the_rule_is_work_conserving_and_fair(offered, weights, levels):
    """Its defining properties: all is used that is asked for; whoever got less than it offered got
    at least as much per weight as anybody of its level, and nobody after it got anything."""
    served = {q: Turn(level=levels[q], weight=weights[q]) for q in offered}
    got = max_min(offered, served, 1.0)
    assert sum(got.values()) == pytest.approx(min(1.0, sum(offered.values())))
    for queue, share in got.items():
        assert -1e-9 <= share <= offered[queue] + 1e-9
        if share < offered[queue] - 1e-6:
            for other, theirs in got.items():
                if served[other].level == served[queue].level:
                    per_weight = share / served[queue].weight
                    assert theirs / served[other].weight <= per_weight + 1e-6
                elif served[other].level > served[queue].level:
                    assert theirs == pytest.approx(0, abs=1e-6)


def test_three_of_one_level_by_hand():
    served = {q: Turn(level=0, weight=w) for q, w in {1: 1, 2: 2, 3: 1}.items()}
    got = max_min({1: 0.1, 2: 0.9, 3: 0.9}, served, 1.0)
    assert got == pytest.approx({1: 0.1, 2: 0.6, 3: 0.3})


def test_queues_without_a_group_are_strict_and_the_highest_is_first():
    assert turns(SchedulingSetting(discipline="sp", unit=""), (3, 5)) == {
        3: Turn(level=-3, weight=1.0), 5: Turn(level=-5, weight=1.0)
    }  # fmt: skip


def held(most_bits_per_s):
    """Queue 5 is strict and before queue 3, up to a rate."""
    first = QueueSchedule(queue=5, group="sp", weight=None, most_bits_per_s=most_bits_per_s)
    last = QueueSchedule(queue=3, group="sp", weight=None)
    return SchedulingSetting(discipline="wrr", unit="weight", queues=(last, first))


def test_a_queue_asks_for_no_more_than_its_rate():
    served = turns(held(4_000_000_000), (3, 5))
    asked = asked_for({3: 800, 5: 750}, served, (10e9, 1000))
    assert asked == {3: 800.0, 5: 400.0}
    assert max_min(asked, served, 1000.0) == {5: 400.0, 3: 600.0}
    assert asked_for({3: 800, 5: 100}, served, (10e9, 1000)) == {3: 800.0, 5: 100.0}


@pytest.mark.parametrize(
    ("shares", "outcome"),
    [
        ((0.6, 0.4), Outcome.PASS),
        ((0.25, 0.75), Outcome.FAIL),  # it was not held
        ((0.75, 0.25), Outcome.FAIL),  # it was not served first
    ],
)
def test_a_strict_queue_with_a_rate_gets_its_rate_and_the_other_one_the_rest(shares, outcome):
    whole = seen(shares, offered=(0.75, 0.75))
    most = round(0.4 * whole.line_bits_per_s)
    assert shared(whole, held(most)).outcome is outcome


def test_samples_that_the_final_counters_contradict_prove_no_fault():
    """Queue 3 by its samples 42.3 %, by the final counters 40.0 %: was a FAIL of the scheduler."""
    whole = seen((0.423, 0.577), offered=(0.75, 0.75))
    two_to_three = scheduler({3: 2, 5: 3})
    unfair = shared(whole, two_to_three)
    assert unfair.outcome is Outcome.FAIL
    assert unfair.because.startswith("sw p3 queue 3 got 42.3 %, not 40.0 %")
    right = replace(seen((0.4, 0.6), offered=(0.75, 0.75)), samples=whole.samples)
    verdict = shared(right, two_to_three)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 3 got 42.3 %, not 40.0 %, and 40.0 % by the final counters" in verdict.because


@pytest.mark.parametrize(("share", "outcome"), [(0.97, Outcome.PASS), (0.6, Outcome.INCONCLUSIVE)])
def test_a_port_that_drops_below_its_line_rate_is_named(share, outcome):
    """The shares of a port at 60 % of its speed are right, and the port is not."""
    whole = seen((0.5, 0.5))
    moved = round(share * whole.line_bits_per_s * 5 / 8)
    whole = grown(whole, whole.bottleneck, c.QUEUE_FORWARDED_BYTES, moved, "queue", 3)
    verdict = shared(whole, scheduler(EQUAL))
    assert verdict.outcome is outcome
    if outcome is not Outcome.PASS:
        assert "sw p3 dropped while it forwarded at 60 % of its line rate" in verdict.because


def test_bytes_that_a_port_no_longer_tells_are_missing():
    whole = seen((0.5, 0.5))
    moved = round(0.97 * whole.line_bits_per_s * 5 / 8)
    whole = grown(whole, whole.bottleneck, c.QUEUE_FORWARDED_BYTES, moved, "queue", 3)
    gone = tuple(
        replace(r, value=None, missing="N/A") if r.counter == c.QUEUE_FORWARDED_BYTES else r
        for r in whole.after
    )
    verdict = shared(replace(whole, after=gone), scheduler(EQUAL))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 3 forwarded_bytes: no value after the run" in verdict.because
