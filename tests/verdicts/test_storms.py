"""The verdicts on a PFC watchdog: each storm counts, and so does each queue that is not its own."""

from dataclasses import replace

import pytest
from handmade import reading
from handmade_loads import SENT, load

from labtests.capabilities import counters as c
from labtests.capabilities.flows import StormResult
from labtests.capabilities.records import WatchdogTimes
from labtests.verdicts import Outcome, dropped_all, kept_through, left_alone, shut_in_time

PORT = ("sw", "p3")
STORM = StormResult(
    switch="sw", switch_port="p3", priority=3, lasting_ms=250, times=3, frames=750
)  # fmt: skip
SHUT = {c.WATCHDOG_SHUTDOWNS: 3, c.WATCHDOG_RESTORED: 3}


def stormy(grew, *, frames=760, others=0, dropped=(40, 0), storm=STORM, held=900):  # noqa: PLR0913
    """Two classes, of which 3 was paused, and its sender so often; the watchdog's counters `grew`
    so, and it shut queue 5 so often."""
    seen = load(dropped=dropped)
    more = {(PORT, 3, c.PFC_RX_FRAMES): frames, (("sw", "p1"), 3, c.PFC_TX_FRAMES): held}
    more |= {(PORT, 3, name): value for name, value in grew.items()}
    more |= {(PORT, 5, name): others for name in SHUT}
    for (port, index, counter), value in more.items():
        if value is None:
            continue
        key = (*port, "priority", index, counter)
        seen = replace(
            seen,
            quiet_before=(*seen.quiet_before, reading(key, 7, 9.0)),
            before=(*seen.before, reading(key, 7, 9.5)),
            after=(*seen.after, reading(key, 7 + value, 16.0)),
        )
    return replace(seen, storm=storm)


NONE = dict.fromkeys(SHUT, 0)


def test_every_storm_has_shut_the_queue_and_it_is_served_again():
    verdict = shut_in_time(stormy(SHUT))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because == (
        "3 pause storms of 250 ms on priority 3 shut the queue each time; it was served again, and "
        "the other queues lost nothing"
    )


TIMES = WatchdogTimes(
    on=True,
    interval_ms=100,
    shutdown_multiplier=1,
    auto_restore_multiplier=4,
    fixed_restore_multiplier=0,
)


def shut_for_long(*, ran_s=10.3, times=TIMES, **more):
    """Of 90 000 datagrams in 10 s the queue is to drop those of 3 x (250 - 100 - 100 + 400) ms."""
    seen = stormy(SHUT, **more)
    flows = tuple(
        replace(flow, ran_s=ran_s, asked_s=10.0, sent_bytes=round(flow.offered_bits_per_s * 10 / 8))
        for flow in seen.flows
    )
    return shut_in_time(replace(seen, flows=flows, watchdog=times))


def test_a_queue_that_is_served_again_too_early_has_dropped_too_little():
    least = int(0.95 * SENT[3] / 10 * 3 * 0.45)
    assert shut_for_long(dropped=(least, 0)).outcome is Outcome.PASS
    early = shut_for_long(dropped=(least - 1, 0))
    assert early.outcome is Outcome.INCONCLUSIVE
    assert early.because.startswith(
        f"sw p3 queue 3 dropped_packets grew by {least - 1}: fewer than it is sent in the 3 x 450 "
        f"ms for which it has to stay shut ({least})"
    )
    assert shut_for_long(dropped=(least, 0), ran_s=None).outcome is Outcome.INCONCLUSIVE


def test_a_queue_that_is_served_again_too_late_has_forwarded_too_little():
    least = int(0.9 * SENT[3] * (1 - 3 * (0.25 + 0.4 + 0.1) / 10.3))
    assert shut_for_long(dropped=(SENT[3] - least, 0)).outcome is Outcome.PASS
    late = shut_for_long(dropped=(SENT[3] - least + 1, 0))
    assert late.outcome is Outcome.INCONCLUSIVE
    assert late.because.startswith(
        f"sw p3 queue 3 forwarded_packets grew by {least - 1}: fewer than it is offered while it "
        f"has to be served ({least}); it was served again later than 500 ms behind a storm"
    )


@pytest.mark.parametrize(
    "times",
    [
        None,
        replace(TIMES, auto_restore_multiplier=None),
        replace(TIMES, auto_restore_multiplier=0),
        replace(TIMES, fixed_restore_multiplier=2),
    ],
)
def test_nobody_says_how_long_a_queue_stays_shut_that_does_not_wait_for_the_last_pause(times):
    assert shut_for_long(dropped=(40, 0), times=times).outcome is Outcome.PASS


def test_storms_that_are_too_short_have_shut_none():
    verdict = left_alone(stormy(NONE, dropped=(0, 0)))
    assert verdict.outcome is Outcome.PASS, verdict.because


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (stormy(NONE, dropped=(0, 0)), "watchdog_shutdowns stayed 0, not 3, in 3 pause storms"),
        (stormy(dict.fromkeys(SHUT, 2)), "watchdog_shutdowns grew by 2, not 3"),
        (stormy(dict.fromkeys(SHUT, 4)), "watchdog_shutdowns grew by 4, not 3"),
        (stormy({**SHUT, c.WATCHDOG_RESTORED: 2}), "it is still shut"),
        (stormy(SHUT, others=3), "sw p3 priority 5 watchdog_shutdowns grew by 3, not 0"),
        (stormy(SHUT, dropped=(40, 1)), "sw p3 queue 5 dropped_packets grew by 1"),
    ],
)
def test_a_queue_that_was_not_shut_or_was_another_one_is_a_failure(seen, said):
    verdict = shut_in_time(seen)
    assert verdict.outcome is Outcome.FAIL
    assert said in verdict.because


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (stormy(SHUT, dropped=(0, 0)), "watchdog_shutdowns grew by 3, not 0"),
        (stormy(NONE, dropped=(1, 0)), "sw p3 queue 3 dropped_packets grew by 1"),
        (stormy(NONE, dropped=(0, 1)), "sw p3 queue 5 dropped_packets grew by 1"),
    ],
)
def test_a_short_storm_that_shuts_or_loses_is_a_failure(seen, said):
    verdict = left_alone(seen)
    assert verdict.outcome is Outcome.FAIL
    assert said in verdict.because


UNPROVEN = {
    "nobody stormed": {"storm": None},
    "r has no mausezahn": {"storm": replace(STORM, because="r has no mausezahn")},
    "grew by 749 of the 750 pause frames": {"frames": 749},
}


@pytest.mark.parametrize("said", UNPROVEN)
@pytest.mark.parametrize(
    ("judge", "grew", "dropped"), [(shut_in_time, SHUT, (40, 0)), (left_alone, NONE, (0, 0))]
)
def test_without_the_whole_storm_nothing_is_proven(judge, grew, dropped, said):
    verdict = judge(stormy(grew, dropped=dropped, **UNPROVEN[said]))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert said in verdict.because


@pytest.mark.parametrize(
    ("judge", "grew", "dropped", "lacking"),
    [
        (shut_in_time, SHUT, (40, 0), c.WATCHDOG_SHUTDOWNS),
        (shut_in_time, SHUT, (40, 0), c.WATCHDOG_RESTORED),
        (left_alone, NONE, (0, 0), c.WATCHDOG_SHUTDOWNS),
    ],
)
def test_a_watchdog_without_the_counter_proves_nothing(judge, grew, dropped, lacking):
    verdict = judge(stormy({**grew, lacking: None}, dropped=dropped))
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert f"{lacking}: the counter was never read" in verdict.because


def lost(seen, where, queue, packets):
    """So many packets fewer from here on, and no counter has them."""
    stations = {
        "the switch": [("sw", "p3", "queue", queue, c.QUEUE_FORWARDED_PACKETS)],
        "the last cable": [],
    }[where]
    stations.append(("r", "eth0", "priority", queue, c.RX_PACKETS))
    return replace(
        seen,
        after=tuple(
            replace(r, value=r.value - packets)
            if (r.device, r.port, r.scope, r.index, r.counter) in stations
            else r
            for r in seen.after
        ),
    )


@pytest.mark.parametrize("where", ["the switch", "the last cable"])
@pytest.mark.parametrize(
    ("judge", "queue", "grew", "dropped"),
    [
        (shut_in_time, 5, SHUT, (40, 0)),
        (left_alone, 3, NONE, (0, 0)),
        (left_alone, 5, NONE, (0, 0)),
    ],
)
def test_a_packet_that_no_counter_has_is_missed(judge, queue, grew, dropped, where):
    seen = lost(stormy(grew, dropped=dropped), where, queue, 1)
    assert judge(seen).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("grew", "dropped", "said"),
    [
        (SHUT, (0, 0), "watchdog_shutdowns grew by 3, and sw p3 queue 3 dropped_packets by 0"),
        (NONE, (40, 0), "watchdog_shutdowns grew by 0, and sw p3 queue 3 dropped_packets by 40"),
        ({**NONE, c.WATCHDOG_DROPPED_OUT_PACKETS: 5}, (0, 0), "watchdog_dropped_out_packets by 5"),
        ({**SHUT, c.WATCHDOG_RESTORED: 4}, (40, 0), "watchdog_restored by 4"),
    ],
)
def test_counters_that_contradict_each_other_prove_nothing(grew, dropped, said):
    verdict = shut_in_time(stormy(grew, dropped=dropped))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert said in verdict.because
    assert "still shut" not in verdict.because


def test_a_storm_that_held_nothing_blames_nobody():
    """Pause frames came, and were too short or too far apart: no sender was held back."""
    verdict = shut_in_time(stormy(NONE, dropped=(0, 0), held=0))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the storms held nothing" in verdict.because


def test_a_queue_that_hardly_forwards_any_more_was_not_served_again():
    verdict = shut_in_time(stormy(SHUT, dropped=(60_000, 0)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "less than a queue forwards that is served again" in verdict.because


def test_nothing_is_said_of_a_watchdog_that_saw_no_storm():
    verdict = shut_in_time(stormy(NONE, frames=0))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "watchdog_shutdowns" not in verdict.because


def test_a_control_in_which_another_queue_was_shut_is_none():
    seen = replace(stormy(NONE, others=1, dropped=(0, 0)), kind="control")
    assert shut_in_time(seen).outcome is Outcome.INCONCLUSIVE
    assert shut_in_time(replace(seen, kind="experiment")).outcome is Outcome.FAIL


@pytest.mark.parametrize("restored", [1, 4])
def test_what_another_class_lost_is_said_though_the_switch_contradicts_itself(restored):
    """The verdict ended at the contradiction, and the loss was in no sentence."""
    seen = stormy({**SHUT, c.WATCHDOG_RESTORED: restored}, dropped=(40, 7))
    verdict = shut_in_time(seen)
    assert verdict.outcome is Outcome.FAIL
    assert "queue 5 dropped_packets grew by 7" in verdict.because


# -- a pause time-out: each storm makes the port drop every class ----------------------------------


def timed_out(dropped, *, ran_s=5.0, **more):
    """14 000 packets a second of the class that is not paused, of which 0.15 s are dropped."""
    seen = stormy({}, dropped=dropped, **more)
    flows = tuple(replace(flow, ran_s=ran_s) for flow in seen.flows)
    return dropped_all(replace(seen, flows=flows), within_ms=200)


def test_every_class_is_dropped_for_as_long_as_storms_outlast_the_time_out():
    verdict = timed_out((1, 2_100))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "3 pause storms of 250 ms on priority 3 each made the port drop" in verdict.because


@pytest.mark.parametrize(
    ("dropped", "said"),
    [
        ((0, 2_100), "queue 3 dropped_packets grew by 0, not by 1 or more"),
        ((1, 0), "queue 5 dropped_packets grew by 0, not by"),
        ((1, 14_711), "grew by 14711, more than it is sent in 3 pause storms of 250 ms on"),
        ((1, 1_400), "queue 5 dropped_packets grew by 1400, not by 2100 or more"),  # two storms
        ((0, 0), "queue 3 dropped_packets grew by 0"),
    ],
)
def test_a_port_that_drops_one_class_alone_or_not_each_time_has_no_time_out(dropped, said):
    verdict = timed_out(dropped)
    assert verdict.outcome is Outcome.FAIL
    assert said in verdict.because


@pytest.mark.parametrize("said", UNPROVEN)
def test_a_time_out_is_not_proven_without_the_whole_storm(said):
    for verdict in (
        timed_out((0, 0), **UNPROVEN[said]),
        kept_through(stormy({}, dropped=(0, 0), **UNPROVEN[said])),
    ):
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert said in verdict.because


def test_storms_that_held_nothing_and_packets_that_no_counter_has_blame_no_time_out():
    assert timed_out((0, 0), held=0).outcome is Outcome.INCONCLUSIVE
    assert timed_out((1, 2_100), ran_s=None).outcome is Outcome.INCONCLUSIVE
    seen = lost(stormy({}, dropped=(0, 0)), "the switch", 5, 1)
    assert dropped_all(seen, within_ms=200).outcome is Outcome.INCONCLUSIVE


def test_a_time_out_leaves_short_storms_alone_and_one_packet_is_too_many():
    assert kept_through(stormy({}, dropped=(0, 0))).outcome is Outcome.PASS
    verdict = kept_through(stormy({}, dropped=(0, 1)))
    assert verdict.outcome is Outcome.FAIL
    assert "queue 5 dropped_packets grew by 1" in verdict.because


def watched(seen, grew, *, at=PORT):
    """The port's own counter of what its watchdog dropped, of all queues."""
    key = (*at, "port", -1, c.WATCHDOG_DROPPED_PACKETS)
    return replace(
        seen,
        before=(*seen.before, reading(key, 7, 9.5)),
        after=(*seen.after, reading(key, 7 + grew, 16.0)),
    )


def test_what_queues_dropped_and_the_watchdog_did_not_was_dropped_by_something_else():
    flows = tuple(replace(flow, ran_s=5.0) for flow in stormy({}, dropped=(1, 2_100)).flows)
    seen = replace(stormy({}, dropped=(1, 2_100)), flows=flows)
    assert dropped_all(watched(seen, 2_000), within_ms=200).outcome is Outcome.PASS
    nothing = stormy({}, dropped=(0, 0))
    nothing = replace(nothing, flows=tuple(replace(flow, ran_s=5.0) for flow in nothing.flows))
    assert dropped_all(watched(nothing, 0), within_ms=200).outcome is Outcome.FAIL
    for grew, said in ((0, "stayed 0"), (2_102, "its queues dropped 2101"), (-1, "backwards")):
        verdict = dropped_all(watched(seen, grew), within_ms=200)
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert said in verdict.because


def test_a_port_that_nobody_pauses_drops_nothing_for_a_pause():
    flows = tuple(replace(flow, ran_s=5.0) for flow in stormy({}, dropped=(1, 2_100)).flows)
    long = replace(stormy({}, dropped=(1, 2_100)), flows=flows)
    short = stormy({}, dropped=(0, 0))
    other = (long.senders[0].switch, long.senders[0].switch_port)
    for grew, outcome in ((0, Outcome.PASS), (1, Outcome.FAIL), (-1, Outcome.INCONCLUSIVE)):
        for verdict in (
            dropped_all(watched(long, grew, at=other), within_ms=200),
            kept_through(watched(short, grew, at=other)),
        ):
            assert verdict.outcome is outcome, verdict.because
            assert outcome is Outcome.PASS or " ".join(other) in verdict.because


def test_a_watchdog_that_dropped_in_short_storms_left_nothing_alone():
    for judge, quiet in ((kept_through, {}), (left_alone, NONE)):
        seen = stormy(quiet, dropped=(0, 0))
        assert judge(watched(seen, 0)).outcome is Outcome.PASS
        assert judge(watched(seen, 1)).outcome is not Outcome.PASS
        assert judge(watched(seen, -1)).outcome is Outcome.INCONCLUSIVE
