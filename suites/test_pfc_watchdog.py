"""A PFC watchdog shuts a queue that is paused without end, as a broken receiver does, and no other.

The receiver pauses one of two classes, by pause frames of its own. Half of the line is used. The
multiplier is none of 1, and the storms are so long that a switch which does not multiply, or takes
twice as long, is seen. So is one that serves a queue again after half of the time that it is told:
it drops fewer packets than came for the queue while it had to be shut.
"""

from dataclasses import replace

import pytest

from labtests.capabilities.records import WatchdogTimes
from labtests.verdicts import left_alone, shut_in_time

DSCPS = 24, 40  # or others, where these have no queues of their own
SHARE = 0.25  # of line rate, each of two
FAST = WatchdogTimes(
    on=True,
    interval_ms=100,
    shutdown_multiplier=3,
    auto_restore_multiplier=4,
    fixed_restore_multiplier=0,
)
SLOW = replace(FAST, interval_ms=1000, shutdown_multiplier=5)  # SONiC's longest
SHORT_MS, LONG_MS = 220, 450  # shut after 300 ms, or one look of the switch (100 ms) later
TIMES, APART_S = 3, 1.0  # served again after 400 ms without a pause, or one look later


@pytest.mark.requires(
    hosts=("pfc", "trust"),
    switches=("pfc", "trust", "pfc_counters", "queue_counters", "scheduling_for"),
)
@pytest.mark.requires(switches=("pfc_watchdog", "watchdog_times", "watchdog_counters"))
@pytest.mark.covers("B12", "B16", "B17", "F1", "F5", "F7", "F10", "F11", "F12", "F15")
def test_the_watchdog_shuts_a_queue_that_is_paused_without_end(incast):
    """PFC watchdog: long storms shut the paused queue each time, short ones never."""
    incast.trust_dscp()
    incast.serve_equally()
    incast.no_red_anywhere()
    held, free = incast.classes(*DSCPS, paused=True)
    priority = incast.priority_of(held)
    incast.lossless_on_the_way(priority)
    short, long = (
        incast.storm(priority, each, times=TIMES, apart_s=APART_S) for each in (SHORT_MS, LONG_MS)
    )
    traffic = incast.steady(long, held.offering(SHARE), free.offering(SHARE))

    incast.watch_for_storms(SLOW)
    incast.control(
        f"storms of {LONG_MS} ms, a watchdog of 5 s",
        traffic,
        storm=long,
        red=lambda seen: (shut_in_time(seen),),
        because=("watchdog_shutdowns stayed 0",),
    )

    incast.watch_for_storms(FAST)
    after_short = incast.run(f"storms of {SHORT_MS} ms", traffic, storm=short)
    after_long = incast.run(f"storms of {LONG_MS} ms", traffic, storm=long)
    incast.judge(left_alone(after_short), shut_in_time(after_long))
