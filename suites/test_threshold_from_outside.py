"""S10: when a port pauses and what headroom takes, counted from outside: by no watermark.

The receiver holds the queue by pauses of its own, and one sender sends until its switch port pauses
it, too. What its NIC has sent by then, and the queue has not forwarded, is what the port holds: its
threshold (xoff) where the load comes slowly, and also what came behind the pause where it is fast.
Both hosts share a switch: of several, each would hold as much before the next one is paused.
"""

import pytest

from labtests.verdicts import behind_bytes, pauses_at, took_what_came, with_thresholds

DSCP = 24  # or another one, where this has no queue of its own
SLOW, FAST = 0.25, 0.9  # of line rate
OTHERS = 1.25  # times the threshold that is configured
SCANT, ENOUGH = 0.5, 1.25  # of what came behind the pause
OTHERWISE = 2  # frames that come more, or fewer, when a run is made again


@pytest.mark.requires(
    hosts=("pfc", "trust"), switches=("pfc", "trust", "pfc_counters", "queue_counters")
)
@pytest.mark.requires(switches=("buffer_thresholds", "memory_limits"))
@pytest.mark.covers("C1", "C4", "C8")
def test_a_port_pauses_at_its_threshold_counted_from_outside(incast):
    """Thresholds: a held port pauses as configured, and headroom takes what comes behind."""
    incast.trust_dscp()
    incast.no_red_anywhere()
    incast.no_watchdog()
    (held,) = incast.classes(DSCP, paused=True)
    priority = incast.priority_of(held)
    incast.lossless_on_the_way(priority)
    incast.expect_own_headroom(priority)
    incast.sample_hosts()
    storm = incast.long_storm(priority)
    slowly, fast = (incast.filling_one_switch(storm, held.offering(s)) for s in (SLOW, FAST))

    limits = incast.limits()
    slow = incast.run("little by little", slowly, storm=storm)
    for share, because in ((OTHERS, "paused below its threshold"), (1 / OTHERS, "paused before")):
        incast.must_be_red(pauses_at(slow, with_thresholds(limits, share)), because=because)

    once = incast.run("fast", fast, storm=storm)
    with incast.headroom_at_switch(int(SCANT * behind_bytes(slow, once))):
        incast.control(
            "half of the headroom that this took",
            fast,
            storm=storm,
            red=lambda seen: (took_what_came(seen, controls=(seen,)),),
            because=("buffer_dropped_in_packets grew by",),
        )
    enough = int(ENOUGH * behind_bytes(slow, once, frames=OTHERWISE))
    with incast.headroom_at_switch(enough):
        seen = incast.run("a quarter and two frames more than that", fast, storm=storm)
    incast.judge(pauses_at(slow, limits), took_what_came(seen, controls=incast.controls))
