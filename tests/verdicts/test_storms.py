"""The verdicts on a PFC watchdog: each storm counts, and so does each queue that is not its own."""

from dataclasses import replace

import pytest
from handmade import reading
from handmade_loads import load

from labtests.capabilities import counters as c
from labtests.capabilities.records import StormResult
from labtests.verdicts import Outcome, left_alone, shut_in_time

PORT = ("sw", "p3")
STORM = StormResult(
    switch="sw", switch_port="p3", priority=3, lasting_ms=250, times=3, frames=750
)  # fmt: skip
SHUT = {c.WATCHDOG_SHUTDOWNS: 3, c.WATCHDOG_RESTORED: 3}


def stormy(grew, *, frames=760, priority=3, dropped=(40, 0), storm=STORM):
    """Two classes, of which 3 was paused; the watchdog's counters `grew` so in `priority`."""
    seen = load(dropped=dropped)
    more = {(3, c.PFC_RX_FRAMES): frames}
    more |= {(queue, name): 0 for queue in (3, 5) for name in SHUT}
    more |= {(priority, name): value for name, value in grew.items()}
    for (index, counter), value in more.items():
        if value is None:
            continue
        key = (*PORT, "priority", index, counter)
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
        "the other queues dropped nothing"
    )


def test_storms_that_are_too_short_have_shut_none():
    verdict = left_alone(stormy(NONE, dropped=(0, 0)))
    assert verdict.outcome is Outcome.PASS, verdict.because


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (stormy(NONE), "watchdog_shutdowns stayed 0, not 3, in 3 pause storms"),
        (stormy({**SHUT, c.WATCHDOG_SHUTDOWNS: 2}), "watchdog_shutdowns grew by 2, not 3"),
        (stormy({**SHUT, c.WATCHDOG_SHUTDOWNS: 4}), "watchdog_shutdowns grew by 4, not 3"),
        (stormy({**SHUT, c.WATCHDOG_RESTORED: 2}), "it is still shut"),
        (stormy(SHUT, priority=5), "sw p3 priority 5 watchdog_shutdowns grew by 3, not 0"),
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
