"""A pause time-out (FCoE edge ports) ends a pause that lasts too long: all that the port has to
send is dropped, of every class, and nothing that comes in.

The receiver pauses one of two classes, by pause frames of its own. Half of the line is used.
"""

from dataclasses import replace

import pytest

from labtests.capabilities.records import PortPauseTimeout
from labtests.verdicts import dropped_all, kept_through

DSCPS = 24, 40  # or others, where these have no queues of their own
SHARE = 0.25  # of line rate, each of two
TIMEOUT = PortPauseTimeout(on=True, timeout_ms=100)
WITHIN_MS = 200  # or one look of the switch (100 ms) later
SHORT_MS, LONG_MS = 50, 450
TIMES, APART_S = 3, 0.5


@pytest.mark.requires(
    hosts=("pfc", "trust"),
    switches=("pfc", "trust", "pfc_counters", "queue_counters", "scheduling_for", "pause_timeout"),
)
def test_the_pause_timeout_drops_all_that_leaves_a_port_that_is_paused_for_too_long(incast):
    """Pause time-out: long storms make the port drop every class, short ones nothing."""
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

    incast.drop_after(replace(TIMEOUT, on=False))
    incast.control(
        f"storms of {LONG_MS} ms, no time-out",
        traffic,
        storm=long,
        red=lambda seen: (dropped_all(seen, within_ms=WITHIN_MS),),
        because=("dropped_packets grew by 0, not by",),
    )

    incast.drop_after(TIMEOUT)
    after_short = incast.run(f"storms of {SHORT_MS} ms", traffic, storm=short)
    after_long = incast.run(f"storms of {LONG_MS} ms", traffic, storm=long)
    incast.judge(kept_through(after_short), dropped_all(after_long, within_ms=WITHIN_MS))
