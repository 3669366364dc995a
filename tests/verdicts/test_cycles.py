"""The verdict on a cycle of switches: it went on, or stood still; anything less proves nothing."""

from dataclasses import replace

import pytest
from handmade import flow, reading

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowStatus, Interval
from labtests.capabilities.records import PfcSetting
from labtests.measure.evidence import LIVE, CycleHop, Evidence, Place, Refresh
from labtests.verdicts import Outcome, set_free, sound_in_a_cycle, went_on

NAMES = ("a", "b", "c")
BEGIN_S, END_S = 10.0, 16.0
EVERY_S = 0.5
MOVING = tuple(range(0, 12_000, 1000))
"""What a queue has forwarded by each sample."""
DEAD = (0, 1000, *[1500] * 10)


def _place(name):
    return Place(device=name, port="eth0", switch=f"s{name}", switch_port="p1", priority=3, queue=3)


HOPS = tuple(
    CycleHop(out=(f"s{here}", "cw"), into=(f"s{there}", "ccw"), queue=3, priority=3)
    for here, there in zip(NAMES, (*NAMES[1:], NAMES[0]), strict=True)
)


def cycle(  # noqa: PLR0913 - each is one thing that may be otherwise
    forwarded=MOVING, *, pauses=900, left=0, dropped=0, lost=0, final=None, of=HOPS[0], **more
):
    """Three switches in a ring. `forwarded`, `pauses`, and packets `left` in the queue are of one
    cable; NICs sent so many packets more than came, and queues dropped so many."""
    samples, before, after = [], [], []
    for hop in HOPS:
        shown = forwarded if hop is of else MOVING
        key = (*hop.out, "queue", 3, c.QUEUE_FORWARDED_PACKETS)
        samples += [reading(key, value, BEGIN_S + n * EVERY_S) for n, value in enumerate(shown)]
        ended = shown[-1] if shown and shown[-1] is not None else MOVING[-1]
        before.append(reading(key, 0, 9.5))
        after.append(reading(key, ended if final is None or hop is not of else final, 18.0))
        told = pauses if hop is of else 900
        grown = {
            (*hop.out, "priority", 3, c.PFC_RX_FRAMES): told,
            (*hop.into, "priority", 3, c.PFC_TX_FRAMES): told,
            **dict.fromkeys(_drops_at(hop.out), 0),
            **dict.fromkeys(_drops_at(hop.into), 0),
            **dict.fromkeys(_drops_at((hop.out[0], "p1")), 0),
        }
        if hop is of:
            grown[(*hop.out, "queue", 3, c.QUEUE_DROPPED_PACKETS)] = dropped
        before += [reading(key, 7, 9.5) for key, value in grown.items() if value is not None]
        after += [reading(key, 7 + n, 18.0) for key, n in grown.items() if n is not None]
        length = left if hop is of else 0
        after.append(reading((*hop.out, "queue", 3, c.QUEUE_LENGTH_PACKETS), length, 18.0))
    for name in NAMES:
        for counter, packets in ((c.TX_PACKETS, 5000 + lost * (name == "a")), (c.RX_PACKETS, 5000)):
            key = (name, "eth0", "priority", 3, counter)
            before.append(reading(key, 7, 9.5))
            after.append(reading(key, 7 + packets, 18.0))
        key = (name, "eth0", "port", None, c.NIC_RX_DISCARDED_PACKETS)
        before.append(reading(key, 7, 9.5))
        after.append(reading(key, 7, 18.0))
    places = tuple(map(_place, NAMES))
    towards = (places[2], places[0], places[1])
    rows = (Interval(start_s=BEGIN_S, end_s=END_S, goodput_bits_per_s=4e8),)
    flows = tuple(
        replace(flow(place.device, rows, 9e8), receiver=to.device, goodput_bits_per_s=4e8)
        for place, to in zip(places, towards, strict=True)
    )
    return replace(
        Evidence(
            name="ring", kind="experiment", backend="simulated", start_s=BEGIN_S - 0.2,
            end_s=END_S, line_bits_per_s=10**9, senders=places, receiver=towards[0],
            receivers=towards, cycle=HOPS, flows=flows, before=tuple(before), after=tuple(after),
            samples=tuple(samples), settled=True, refresh=LIVE,
        ),
        **more,
    )  # fmt: skip


def _drops_at(port):
    return (
        (*port, "queue", 3, c.QUEUE_DROPPED_PACKETS),
        (*port, "port", -1, c.BUFFER_DROPPED_IN_PACKETS),
    )


def test_a_cycle_that_moves_between_all_samples_went_on():
    verdict = went_on(cycle())
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because == (
        "no queue of 3 cables stood still for 1 s, though each was paused by the next switch"
    )


@pytest.mark.parametrize("of", HOPS)
def test_one_queue_that_stands_still_while_pauses_hold_it_is_a_failure(of):
    verdict = went_on(cycle(DEAD, of=of))
    assert verdict.outcome is Outcome.FAIL
    assert verdict.because.startswith(
        f"{of.out[0]} cw queue 3 stood still for 4.5 s, from 1.2 s of the phase on, paused by "
        f"{of.into[0]}"
    )


def test_samples_that_stand_still_where_the_final_counter_does_not_are_stale():
    """A switch whose samples were frozen was a deadlock, and made a control red."""
    seen = cycle(DEAD, final=11_000)
    verdict = went_on(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "its samples stood still at 1500, and its final counter is 11000" in verdict.because
    assert went_on(cycle(), controls=(seen,)).outcome is Outcome.INCONCLUSIVE


def test_samples_that_run_backwards_prove_neither():
    """A counter that came by the same number twice was a stand-still."""
    verdict = went_on(cycle((0, 1000, 2000, 3000, 1000, 2000, 3000, *MOVING[7:])))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "sa cw queue 3: samples of its packets ran backwards" in verdict.because


@pytest.mark.parametrize("final", [0, MOVING[-1] // 2, MOVING[-1] - 1])
@pytest.mark.parametrize("asked", [went_on, set_free])
def test_a_final_counter_below_its_samples_proves_neither(asked, final):
    """Samples moved, and in the end the queue was said to have forwarded next to nothing."""
    verdict = asked(cycle(final=final, pfc=read_as("off")))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"samples show {MOVING[-1]}, and its final counter is {final}" in verdict.because


def test_a_counter_that_was_reset_is_no_stand_still():
    seen = cycle((1000, 2000, *[0] * 10))
    key = (*HOPS[0].out, "queue", 3, c.QUEUE_FORWARDED_PACKETS)
    before = tuple(replace(r, value=500) if r.key == key else r for r in seen.before)
    verdict = went_on(replace(seen, before=before))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "ran backwards from 500 to 0" in verdict.because


def test_a_queue_that_holds_packets_when_all_have_ended_is_a_failure():
    verdict = went_on(cycle(left=17))
    assert verdict.outcome is Outcome.FAIL
    assert "queue_length_packets, at the end: 17, and nobody sends any more" in verdict.because


@pytest.mark.parametrize("shown", [None, -1, 2**64, "gone"])
def test_what_a_queue_holds_at_the_end_is_known_where_it_was_told_before(shown):
    key = (*HOPS[0].out, "queue", 3, c.QUEUE_LENGTH_PACKETS)
    told = [r for r in cycle().after if r.key != key]
    told += [] if shown == "gone" else [reading(key, shown, 18.0, "N/A")]

    seen = replace(cycle(), after=tuple(told))
    assert went_on(seen).outcome is Outcome.PASS  # a switch that never tells it
    verdict = went_on(replace(seen, shown=frozenset({key})))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue_length_packets, at the end: not known, and it was told before" in verdict.because


def test_a_stop_that_is_shorter_than_what_samples_can_tell_is_none():
    short = (0, 1000, 2000, 2000, 2000, *MOVING[5:])  # 1 s between the first and the last of three
    assert went_on(cycle(short)).outcome is Outcome.FAIL
    shorter = (0, 1000, 2000, 2000, *MOVING[4:])
    assert went_on(cycle(shorter)).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (cycle(DEAD, pauses=0), "pfc_rx_frames stayed 0: the cycle was not closed"),
        (cycle(pauses=0), "pfc_rx_frames stayed 0: the cycle was not closed"),
        (cycle(pauses=None), "pfc_rx_frames: the counter was never read"),
        (cycle((0, 1000)), "no two samples of its packets"),
        (cycle((*MOVING[:5], None, *MOVING[6:])), "no two samples of its packets"),
        (cycle(samples=()), "no two samples of its packets"),
        (cycle(DEAD, refresh=Refresh(seconds=4.0)), "no two samples of its packets"),
        (cycle(DEAD, refresh=Refresh(seconds=None, because="?")), "no two samples"),
        (cycle(cycle=()), "no cycle of switches was monitored"),
    ],
)
def test_without_pauses_or_samples_nothing_is_proven(seen, says):
    verdict = went_on(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert says in verdict.because


def test_a_stand_still_is_proven_by_all_samples_and_not_only_by_the_late_ones():
    early = (0, 1000, 1500, 1500, 1500, 1500, *MOVING[6:])
    verdict = went_on(cycle(early))
    assert verdict.outcome is Outcome.FAIL
    assert "stood still for 1.5 s" in verdict.because


def test_a_refresh_makes_the_same_stand_still_shorter():
    verdict = went_on(cycle(DEAD, refresh=Refresh(seconds=2.0)))
    assert verdict.outcome is Outcome.FAIL
    assert "stood still for 2.5 s" in verdict.because


def test_a_dead_sender_is_no_deadlock():
    """Nothing is paused, nothing comes: the cycle has not locked."""
    verdict = went_on(cycle((0,) * 12, pauses=0))
    assert verdict.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("judge", [went_on, set_free])
def test_that_it_would_have_locked_is_for_a_control_to_prove(judge):
    seen = cycle(pfc=read_as("off"))
    locked = replace(cycle(DEAD, kind="control"), settled=False)  # it pauses for ever
    assert judge(seen, controls=(locked,)).outcome is Outcome.PASS
    gone = replace(locked, unreachable=(locked.receiver.device,))
    others = (cycle(kind="control"), cycle(samples=(), kind="control"), gone)
    for controls in ((), *((each,) for each in others)):
        verdict = judge(seen, controls=controls)
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert "in no control of this session did the cycle stand still" in verdict.because


def test_what_is_dropped_is_known_where_nobody_else_lost_it():
    assert sound_in_a_cycle(cycle(lost=40, dropped=40)).outcome is Outcome.PASS
    for lost, dropped in ((40, 39), (39, 40), (1, 0), (0, 1)):
        verdict = sound_in_a_cycle(cycle(lost=lost, dropped=dropped))
        assert verdict.outcome is Outcome.INCONCLUSIVE, (lost, dropped)
        assert f"{dropped} were dropped in queue 3" in verdict.because


def test_a_switch_without_drops_on_the_way_in_is_not_asked_for_them():
    seen = cycle()
    without = {
        when: tuple(r for r in getattr(seen, when) if r.counter != c.BUFFER_DROPPED_IN_PACKETS)
        for when in ("before", "after")
    }
    verdict = sound_in_a_cycle(replace(seen, **without))
    assert verdict.outcome is Outcome.PASS, verdict.because
    unread = tuple(
        replace(r, value=None, missing="N/A") if r.counter == c.BUFFER_DROPPED_IN_PACKETS else r
        for r in seen.after
    )
    assert sound_in_a_cycle(replace(seen, after=unread)).outcome is Outcome.INCONCLUSIVE


def test_a_flow_to_another_host_than_it_was_to_go_to_is_none_of_the_cycle():
    seen = cycle()
    crossed = replace(seen, receivers=seen.receivers[::-1])
    verdict = sound_in_a_cycle(crossed)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "is not the flow of" in verdict.because


def test_of_a_control_it_is_asked_whether_its_tools_ran():
    broken = tuple(replace(f, status=FlowStatus.FAILED) for f in cycle().flows)
    never = tuple(replace(f, status=FlowStatus.INFRASTRUCTURE) for f in cycle().flows)
    control = cycle(DEAD, kind="control", lost=40, flows=broken)
    assert sound_in_a_cycle(control).outcome is Outcome.PASS
    assert went_on(control).outcome is Outcome.FAIL
    verdict = sound_in_a_cycle(replace(control, flows=never))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert went_on(cycle(flows=broken)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "wrong",
    [
        {"flows": cycle().flows[:-1]},
        {"flows": ()},
        {"unreachable": ("b cannot reach c",)},
        {"changed": ("sw port: pfc was on, is off",)},
    ],
    ids=["a flow is missing", "no flows", "out of reach", "changed"],
)
def test_a_control_of_which_not_all_is_reported_proves_nothing(wrong):
    control = replace(cycle(DEAD, kind="control"), settled=False)
    assert sound_in_a_cycle(control).outcome is Outcome.PASS
    assert sound_in_a_cycle(replace(control, **wrong)).outcome is Outcome.INCONCLUSIVE


# -- PFC off everywhere ----------------------------------------------------------------------------


def read_as(mode, **otherwise):
    """What was read of every port; of some, something else."""
    found = dict.fromkeys(
        (at for hop in HOPS for at in (hop.out, hop.into)),
        PfcSetting(mode=mode, priorities=frozenset()),
    )
    for name, instead in otherwise.items():
        found[(name, "cw")] = PfcSetting(mode=instead, priorities=frozenset({3}))
    return found


def test_with_pfc_off_at_both_ends_of_each_cable_all_moves():
    verdict = set_free(cycle(pauses=0, pfc=read_as("off")))
    assert verdict.outcome is Outcome.PASS, verdict.because


@pytest.mark.parametrize(
    ("seen", "outcome", "says"),
    [
        (cycle(pfc=read_as("off", sb="on")), Outcome.FAIL, "sb cw: PFC is on, not off"),
        (cycle(DEAD, pfc=read_as("off")), Outcome.FAIL, "sa cw queue 3 stood still"),
        (cycle(left=9, pfc=read_as("off")), Outcome.FAIL, "at the end: 9, and nobody sends"),
        (cycle(DEAD, pauses=0, pfc=read_as("off")), Outcome.INCONCLUSIVE, "no pause is known"),
        (cycle(), Outcome.INCONCLUSIVE, "sa cw: PFC was not read"),
        (cycle(cycle=()), Outcome.INCONCLUSIVE, "no cycle of switches was monitored"),
        (cycle(samples=(), pfc=read_as("off")), Outcome.INCONCLUSIVE, "no two samples"),
    ],
    ids=["on", "still", "full", "no pause", "unread", "no cycle", "no samples"],
)
def test_what_is_not_free_or_not_read_is_no_pass(seen, outcome, says):
    verdict = set_free(seen)
    assert verdict.outcome is outcome, verdict.because
    assert says in verdict.because
