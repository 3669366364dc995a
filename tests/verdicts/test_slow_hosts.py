"""Pauses of a receiver: passed back to its senders, and of a class without PFC obeyed by nobody."""

from dataclasses import replace

import pytest
from handmade import reading
from test_storms import STORM, lost, stormy

from labtests.capabilities import counters as c
from labtests.capabilities.records import PfcSetting
from labtests.verdicts import Outcome, held_by_its_receiver, not_stopped

SENT_TO_A = ("sw", "p1", "priority", 3, c.PFC_TX_FRAMES)
GOT_BY_A = ("a", "eth0", "priority", 3, c.PFC_RX_FRAMES)


def without(seen, key):
    return replace(
        seen,
        before=tuple(r for r in seen.before if r.key != key),
        after=tuple(r for r in seen.after if r.key != key),
    )


def with_growth(seen, key, by):
    bare = without(seen, key)
    return replace(
        bare,
        before=(*bare.before, reading(key, 7, 9.5)),
        after=(*bare.after, reading(key, 7 + by, 16.0)),
    )


def paused(held=900, got=900, dropped=(0, 0), **more):
    """The receiver's storm, and so many frames of the switch to the sender of that class."""
    return with_growth(stormy({}, dropped=dropped, held=held, **more), GOT_BY_A, got)


def free(dropped=(0, 0), **more):
    """The storm of a class for which the switch has no PFC: its port counts no such frames."""
    return paused(held=0, got=0, dropped=dropped, **{"frames": 0, **more})


CONTROL = replace(paused(held=0, got=0, dropped=(40, 0)), kind="control", name="off")


def passed_back(seen, controls=(CONTROL,)):
    return held_by_its_receiver(seen, controls=controls)


def stopped_nothing(seen, controls=(CONTROL,)):
    return not_stopped(seen, controls=controls)


def test_pauses_that_go_back_and_pauses_that_stop_nothing_pass():
    verdict = passed_back(paused())
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "r held the line by 750 pauses of priority 3 (3 x 250 ms)" in verdict.because
    assert "paused by 900 frames" in verdict.because
    verdict = stopped_nothing(free())
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "held nobody: all that was sent was forwarded" in verdict.because


@pytest.mark.parametrize(
    ("dropped", "says"),
    [
        ((1, 0), "r pauses: look at PFC of the priority at the ports that its senders"),
        ((0, 1), "nobody paused the class of queue 5: look at what sw p3 stops for pauses"),
    ],
)
def test_what_a_class_loses_that_nobody_paused_is_not_sought_at_the_senders(dropped, says):
    verdict = passed_back(paused(dropped=dropped))
    assert verdict.outcome is Outcome.FAIL
    assert says in verdict.because
    assert ("its senders" in verdict.because) is bool(dropped[0])


def test_the_control_of_both_drops():
    for judge in (passed_back, stopped_nothing):
        verdict = judge(CONTROL)
        assert verdict.outcome is Outcome.FAIL
        assert "sw p3 queue 3 dropped_packets grew by 40" in verdict.because


@pytest.mark.parametrize("queue", [3, 5])
@pytest.mark.parametrize(("judge", "good"), [(passed_back, paused), (stopped_nothing, free)])
def test_a_drop_of_either_class_is_a_failure_and_a_missing_packet_is_open(judge, good, queue):
    dropped = (1, 0) if queue == 3 else (0, 1)
    assert judge(good(dropped=dropped)).outcome is Outcome.FAIL
    assert judge(lost(good(), "the last cable", queue, 1)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (paused(frames=749), "grew by 749 of the 750 pause frames"),
        (paused(storm=None), "nobody stormed"),
        (paused(held=0, got=0), "no pause went back to a"),
        (paused(got=1), "pause sent is not pause received, a"),
        (without(paused(), SENT_TO_A), "sw p1 priority 3 pfc_tx_frames"),
    ],
    ids=["half a storm", "no storm", "not passed back", "of the switch alone", "not counted"],
)
def test_what_was_not_seen_to_go_back_is_open(seen, says):
    verdict = passed_back(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def test_pauses_that_are_passed_on_though_pfc_is_off_are_a_failure():
    verdict = stopped_nothing(paused(frames=0))
    assert verdict.outcome is Outcome.FAIL
    assert "grew by 900, and PFC is off for it" in verdict.because


def of_another_storm(seen):
    return replace(seen, storm=replace(STORM, lasting_ms=50))


@pytest.mark.parametrize(
    ("seen", "controls", "says"),
    [
        (free(storm=None), (CONTROL,), "nobody stormed"),
        (free(storm=replace(STORM, because="r has no mausezahn")), (CONTROL,), "no mausezahn"),
        (free(), (), "no control has shown that the switch gets such pauses"),
        (free(), (of_another_storm(CONTROL),), "no control has shown"),
        (free(), (replace(free(), kind="control"),), "no control has shown"),
        (without(free(), SENT_TO_A), (CONTROL,), "sw p1 priority 3 pfc_tx_frames"),
    ],
    ids=["none", "no tool", "no control", "another", "never came", "not counted"],
)
def test_pauses_that_nobody_saw_prove_nothing(seen, controls, says):
    verdict = stopped_nothing(seen, controls)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def test_a_control_may_have_been_at_another_time():
    later = replace(CONTROL, storm=replace(STORM, spans_s=((7.0, 7.4),)))
    assert stopped_nothing(free(), (later,)).outcome is Outcome.PASS


def test_a_port_that_has_no_pfc_for_a_class_need_not_count_its_pauses():
    other = {("sw", "p1"): PfcSetting(mode="on", priorities=frozenset({5}))}
    assert stopped_nothing(replace(without(free(), SENT_TO_A), pfc=other)).outcome is Outcome.PASS


@pytest.mark.parametrize("asked", [passed_back, stopped_nothing])
def test_a_storm_of_a_priority_that_no_sender_has_shows_nothing(asked):
    def elsewhere(seen):
        places = tuple(replace(place, priority=6) for place in seen.senders)
        return replace(seen, senders=places)

    seen = elsewhere(paused() if asked is passed_back else free())
    verdict = asked(seen, controls=(elsewhere(CONTROL),))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no sender of priority 3, which was paused, was monitored" in verdict.because


def odd(form, seen=None):
    """The storm of other frames: the switch counts none of them, and PFC is on."""
    seen = free() if seen is None else seen
    return replace(seen, storm=replace(STORM, form=form))


@pytest.mark.parametrize(
    ("form", "said"), [("link", "of the whole link (802.3x)"), ("no class", "for no class")]
)
def test_pauses_of_the_link_or_for_no_class_stop_nothing(form, said):
    verdict = stopped_nothing(odd(form))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert f"750 pauses {said} (3 x 250 ms) held nobody" in verdict.because
    verdict = stopped_nothing(odd(form, paused(frames=0)))
    assert verdict.outcome is Outcome.FAIL
    assert f"pauses {said} held sw p3: sw p1 priority 3" in verdict.because
    verdict = stopped_nothing(odd(form, paused(frames=760, held=0, got=0)))
    assert verdict.outcome is Outcome.FAIL
    assert f"pfc_rx_frames grew by 760 with pauses {said}" in verdict.because


@pytest.mark.parametrize("form", ["link", "no class"])
def test_a_port_whose_count_of_pauses_is_lost_has_not_ignored_them(form):
    seen = odd(form, with_growth(free(), ("sw", "p3", "priority", 3, c.PFC_RX_FRAMES), -1))
    verdict = stopped_nothing(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "pfc_rx_frames: ran backwards" in verdict.because


@pytest.mark.parametrize(("priority", "outcome"), [(5, Outcome.PASS), (3, Outcome.INCONCLUSIVE)])
def test_a_priority_without_pfc_need_not_be_shown_and_that_of_the_storm_must(priority, outcome):
    """Comware shows rows of no-drop priorities alone: a healthy lab was inconclusive by that."""
    seen, key = odd("link"), ("sw", "p3", "priority", priority, c.PFC_RX_FRAMES)
    before, after = (
        (*(r for r in reads if r.key != key), reading(key, None, reads[0].time_s, "no row"))
        for reads in (seen.before, seen.after)
    )
    verdict = stopped_nothing(replace(seen, before=before, after=after, shown=frozenset({key})))
    assert verdict.outcome is outcome, verdict.because


def test_odd_pauses_are_proven_by_a_control_of_usual_ones_only():
    verdict = stopped_nothing(odd("link"), controls=(odd("link", CONTROL),))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no control has shown" in verdict.because


def test_pauses_without_a_source_are_passed_back_like_others():
    verdict = passed_back(odd("no source", paused()))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "750 pauses of priority 3 without a source address" in verdict.because
    unseen = passed_back(odd("no source", paused(frames=0)))
    assert unseen.outcome is Outcome.INCONCLUSIVE
