"""A switch's log of its PFC watchdog is a second witness: it has to say what the display says, and
no time stamp of it may be later than whole seconds allow."""

from dataclasses import replace

import pytest
from handmade import reading
from test_storms import NONE, SHUT, STORM, stormy
from test_storms import TIMES as FOUR_TIMES

from labtests.capabilities import counters as c
from labtests.capabilities.readings import ClockReading, DeviceLog, WatchdogMessage
from labtests.verdicts import Outcome, left_alone, shut_in_time

TIMES = replace(FOUR_TIMES, auto_restore_multiplier=2)
AHEAD = 1_000_000.0  # of the switch's clock, s
RAN_S = 2000.0  # so slowly that 40 are what a shut queue is sent
BEGUN = (10.2, 11.0, 11.8)
SPANS = tuple((begun, begun + 0.4) for begun in BEGUN)
LAST = {c.WATCHDOG_LAST_DROPPED_PACKETS: 40, c.WATCHDOG_LAST_DROPPED_IN_PACKETS: 2}


def message(what, at_s, out=None, into=None, *, port="p3", queue=3):  # noqa: PLR0913
    """By the lab's clock; the stamp has whole seconds."""
    stamp = float(int(at_s + AHEAD))
    text = f"{stamp:.0f} queue {queue} of {port} {what} {out}/{into}"
    return WatchdogMessage(
        port=port, queue=queue, what=what, device_s=stamp, dropped_packets=out,
        dropped_in_packets=into, text=text,
    )  # fmt: skip


def three(late_s=0.0, out=40, into=2):
    """Three storms of 250 ms: each shut 130 ms behind its begin, and served again."""
    return tuple(
        each
        for begun in BEGUN
        for each in (
            message("shut", begun + 0.13 + late_s),
            message("restored", begun + 0.5 + late_s, out, into),
        )
    )


def logged(new, grew=SHUT, *, before=(), judged=(40, 0), counts=None, **more):
    """What the switch's log and its display say of three storms."""
    counts = {**LAST, c.WATCHDOG_DROPPED_IN_PACKETS: 6} if counts is None else counts
    seen = stormy(grew, dropped=judged, storm=replace(STORM, spans_s=SPANS))
    for counter, value in counts.items():
        key = ("sw", "p3", "priority", 3, counter)
        first = 0 if counter == c.WATCHDOG_DROPPED_IN_PACKETS else 1
        seen = replace(
            seen,
            quiet_before=(*seen.quiet_before, reading(key, first, 9.0)),
            before=(*seen.before, reading(key, first, 9.5)),
            after=(*seen.after, reading(key, value, 16.0)),
        )
    then = DeviceLog(device="sw", noted=100, kept=100, messages=before, clock=clock(9.6))
    now = DeviceLog(
        device="sw",
        noted=100 + len(new),
        kept=100 + len(new),
        messages=(*before, *new),
        clock=clock(16.1),
    )
    flows = tuple(replace(flow, ran_s=RAN_S) for flow in seen.flows)
    seen = replace(seen, flows=flows, watchdog=TIMES)
    return replace(seen, watchdog_logs=((then, replace(now, **more)),))


def clock(lab_s, ahead_s=AHEAD):
    return ClockReading(device_s=lab_s + ahead_s, lab_s=lab_s, resolution_s=0.001)


def test_a_log_that_says_the_same_is_a_second_witness():
    verdict = shut_in_time(logged(three()))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because.endswith("lost nothing; the log says the same, in whole seconds")
    stamped = [fact for fact in verdict.facts if fact.name.endswith(", as logged")]
    assert len(stamped) == 2 * len(BEGUN)
    assert all("or up to 1 s later" in fact.note for fact in stamped)


def test_an_empty_log_of_short_storms_is_one_too():
    verdict = left_alone(logged((), NONE, judged=(0, 0), counts={}))
    assert verdict.outcome is Outcome.PASS, verdict.because


def test_what_the_log_had_before_is_not_of_this_phase():
    assert shut_in_time(logged(three(), before=three())).outcome is Outcome.PASS


WITHOUT_A_SHUTDOWN = three()[1:]
OTHERWISE = {
    "a shutdown is lost": (
        logged(WITHOUT_A_SHUTDOWN),
        "the log of sw has 2 messages that queue 3 of p3 was shut (the last: 1000011 queue 3",
    ),
    "nothing is logged": (
        logged(()),
        "has 0 messages that queue 3 of p3 was shut, and sw p3 priority 3 watchdog_shutdowns grew "
        "by 3",
    ),
    "one too many is logged": (
        logged((*three(), message("shut", 14.0), message("restored", 14.4, 40, 0))),
        "has 4 messages that queue 3 of p3 was shut (the last: 1000014 queue 3 of p3 shut",
    ),
    "another queue is logged": (
        logged((*three(), message("shut", 14.0, queue=6))),
        "the log of sw has 1 message that queue 6 of p3 was shut",
    ),
    "another port is logged": (
        logged((*three(), message("shut", 14.0, port="p9"))),
        "the log of sw is of another port, too: 1000014 queue 3 of p9 shut",
    ),
    "other egress packets": (
        logged(three(out=41)),
        "the log says 41 packets (1000012 queue 3 of p3 restored 41/2), and sw p3 priority 3 "
        "watchdog_last_dropped_packets is 40",
    ),
    "other ingress packets": (
        logged(three(into=3), counts=LAST),
        "the log says 3 packets (1000012 queue 3 of p3 restored 40/3), and",
    ),
    "other ingress packets in all": (
        logged(three(), counts={**LAST, c.WATCHDOG_DROPPED_IN_PACKETS: 7}),
        "the log of sw has 6 ingress packets in 3 messages, and sw p3 priority 3",
    ),
    "fewer egress packets of an earlier time than were dropped in all": (
        logged(
            (three()[0], replace(three()[1], dropped_packets=1), *three()[2:]),
            {**SHUT, c.WATCHDOG_DROPPED_OUT_PACKETS: 100},
        ),
        "the log of sw has 81 egress packets in 3 messages, and sw p3 priority 3 "
        "watchdog_dropped_out_packets grew by 100",
    ),
    "more egress packets of an earlier time than were sent": (
        logged((three()[0], replace(three()[1], dropped_packets=10**9), *three()[2:])),
        "the log of sw has 1000000080 egress packets in 3 messages, and only ",
    ),
    "served again before it was shut": (
        logged((three()[1], three()[0], *three()[2:])),
        "the log of sw says twice in turn that queue 3 of p3 was shut: ",
    ),
    "served again before it was shut, each time": (
        logged(tuple(each for n in (0, 2, 4) for each in (three()[n + 1], three()[n]))),
        "the log of sw says that queue 3 of p3 was served again before it was shut: 1000010",
    ),
    "off": (logged((), missing="it does not show its log"), "sw: it does not show its log"),
    "cleared": (
        logged(three(), before=three(), messages=three()[:3], noted=3, kept=3),
        "its log was cleared meanwhile",
    ),
    "fewer lines than before": (
        logged(three(), noted=90, kept=90),
        "its log had 100 messages before and 90 after",
    ),
    "a line was cut": (
        logged(three()[:-1], unread=("2024 ... is restored due to PFC watch",)),
        "sw says what labtests does not know: 2024 ... is restored due to PFC watch",
    ),
    "no clock": (logged(three(), clock=None), "the clock of its log was not read"),
    "the clock was set": (
        logged(three(), clock=clock(16.1, AHEAD + 3600)),
        "its clock was set by +3600.0 s during the phase",
    ),
    "the clock was set and set back": (
        logged((*three()[:2], *(replace(m, device_s=m.device_s - 60) for m in three()[2:]))),
        "the time stamps of its log go back, or are not of this phase",
    ),
    "stamps of the future": (
        logged((*three()[:-1], replace(three()[-1], device_s=AHEAD + 90))),
        "the time stamps of its log go back, or are not of this phase",
    ),
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_a_log_that_says_otherwise_or_is_not_whole_proves_nothing(what):
    seen, says = OTHERWISE[what]
    verdict = shut_in_time(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert says in verdict.because


def test_what_was_dropped_in_all_has_to_be_a_number_where_it_is_counted():
    seen = logged(three(), {**SHUT, c.WATCHDOG_DROPPED_OUT_PACKETS: 120})
    assert shut_in_time(seen).outcome is Outcome.PASS
    after = tuple(
        replace(each, value=None, missing="N/A")
        if each.counter == c.WATCHDOG_DROPPED_OUT_PACKETS
        else each
        for each in seen.after
    )
    verdict = shut_in_time(replace(seen, after=after))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "watchdog_dropped_out_packets" in verdict.because


def test_log_and_display_that_disagree_are_no_failure_either():
    """The display alone would be one."""
    shown = {c.WATCHDOG_SHUTDOWNS: 2, c.WATCHDOG_RESTORED: 2}
    assert shut_in_time(stormy(shown)).outcome is Outcome.FAIL
    verdict = shut_in_time(logged(three(), shown))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "has 3 messages" in verdict.because
    assert "watchdog_shutdowns grew by 2" in verdict.because
    assert verdict.disagreements


def test_a_shutdown_of_a_short_storm_that_only_the_log_has_proves_nothing():
    seen = logged((message("shut", 10.4), message("restored", 10.9, 0, 0)), NONE, judged=(0, 0))
    verdict = left_alone(replace(seen, watchdog=TIMES))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "has 1 message that queue 3 of p3 was shut" in verdict.because


def test_a_storm_that_is_not_over_for_the_switch_is_not_held_against_the_last_packets():
    """The queue is shut once more, and the display is of that time; it says that, too."""
    grew = {c.WATCHDOG_SHUTDOWNS: 3, c.WATCHDOG_RESTORED: 2}
    verdict = shut_in_time(logged(three()[:-1], grew))
    assert verdict.outcome is Outcome.FAIL
    assert "it is still shut" in verdict.because


@pytest.mark.parametrize(
    ("late_s", "outcome"),
    [(0.0, Outcome.PASS), (0.9, Outcome.PASS), (4.0, Outcome.FAIL)],
)
def test_a_queue_is_late_only_by_more_than_whole_seconds_can_hide(late_s, outcome):
    verdict = shut_in_time(logged(three(late_s)))
    assert verdict.outcome is outcome, verdict.because
    if outcome is Outcome.FAIL:
        assert "queue 3 of p3 was shut " in verdict.because
        assert "s after its storm was asked for, and 0.3 s are the most: 10000" in verdict.because


def test_what_a_slow_host_sends_late_is_not_late():
    """Its tool was seen to end four seconds after it was asked for."""
    seen = logged(three(4.0))
    slow = tuple((begun, begun + 4.4) for begun in BEGUN)
    verdict = shut_in_time(replace(seen, storm=replace(seen.storm, spans_s=slow)))
    assert verdict.outcome is Outcome.PASS, verdict.because


def test_a_queue_that_was_logged_before_its_storm_proves_nothing():
    spans = tuple((begun + 3.5, ended + 3.5) for begun, ended in SPANS)
    seen = logged(three())
    verdict = shut_in_time(replace(seen, storm=replace(seen.storm, spans_s=spans)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "it was logged before it can have been due" in verdict.because


@pytest.mark.parametrize("gone", ["watchdog", "begun"])
def test_without_what_is_due_a_time_stamp_says_nothing(gone):
    seen = logged(three())
    seen = (
        replace(seen, watchdog=None)
        if gone == "watchdog"
        else replace(seen, storm=replace(seen.storm, spans_s=()))
    )
    verdict = shut_in_time(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "when the storms were, or what sw waits, is not known" in verdict.because
