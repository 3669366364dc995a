"""S10: when a port pauses, counted from outside: by no watermark, nor any other word of the switch.

The receiver holds the queue by pauses of its own, and one sender sends little by little until its
switch port pauses it, too. What its NIC has sent by then, and the queue has not forwarded, is what
the port holds: its threshold (xoff), but for a frame or two.
"""

import pytest

from labtests.verdicts import pauses_at, with_thresholds

DSCP = 24  # or another one, where this has no queue of its own
SLOW = 0.25  # of line rate: next to nothing is on the cable when the pause comes
OTHERS = 1.25  # times the threshold that is configured


@pytest.mark.requires(
    hosts=("pfc", "trust"), switches=("pfc", "trust", "pfc_counters", "queue_counters")
)
@pytest.mark.requires(switches=("buffer_thresholds", "memory_limits"))
@pytest.mark.covers("C1", "C4")
def test_a_port_pauses_at_its_threshold_counted_from_outside(incast):
    """Thresholds: a held port pauses when it holds as many packets as is configured."""
    incast.trust_dscp()
    incast.no_red_anywhere()
    incast.no_watchdog()
    (held,) = incast.classes(DSCP, paused=True)
    priority = incast.priority_of(held)
    incast.lossless_on_the_way(priority)
    incast.sample_hosts()
    storm = incast.long_storm(priority)
    traffic = incast.steady(storm, held.offering(SLOW))

    limits = incast.limits()
    seen = incast.run("one sender, held", traffic, storm=storm)
    incast.must_be_red(
        pauses_at(seen, with_thresholds(limits, OTHERS)), because="it paused below its threshold"
    )
    incast.must_be_red(
        pauses_at(seen, with_thresholds(limits, 1 / OTHERS)), because="should have paused before"
    )
    incast.judge(pauses_at(seen, limits))
