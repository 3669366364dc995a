"""RED marks by its curve: none below Kmin, each above Kmax, and between them by the length.

The receiver holds the queue by pauses of its own, and one sender fills it little by little, until
its switch port pauses it, too: each length of the queue up to that is met by one packet. How many
that are is counted first; a step at half of it, and a slope over the middle half, are then curves
that this queue passes through.
"""

from dataclasses import replace

import pytest

from labtests.verdicts import curve_over, marks_by_curve

DSCP = 24  # or another one, where this has no queue of its own
ECT = 2  # in the TOS byte: ECN-capable, ECT(0)
SLOW = 0.25  # of line rate
STEP = {"low": 0.5, "high": 0.5, "percent": 100}  # of what fills the queue
SLOPE = {"low": 0.25, "high": 0.75, "percent": 50}
ELSEWHERE = (0.25, 0.75)  # of what fills the queue: where the step is not


@pytest.mark.requires(hosts=("pfc", "trust"))
@pytest.mark.requires(
    switches=("pfc", "trust", "ecn", "ecn_in_bytes", "pfc_counters", "queue_counters")
)
@pytest.mark.covers("E2", "E3", "E4", "E5")
def test_marks_follow_the_curve_while_a_held_queue_fills(incast):
    """Marking curve: a queue that fills marks none below Kmin, all above Kmax, else by length."""
    incast.trust_dscp()
    incast.no_red_anywhere()
    incast.no_watchdog()
    (held,) = incast.classes(DSCP, paused=True)
    queue, priority = incast.queue_of(held), incast.priority_of(held)
    incast.lossless_on_the_way(priority)
    incast.sample_hosts()
    storm = incast.long_storm(priority)
    capable = replace(held, tos=held.tos | ECT)
    filling = incast.filling_one_switch(storm, capable.offering(SLOW))

    plain = incast.run("no curve", filling, storm=storm)
    step, slope = (curve_over(plain, queue, **shape) for shape in (STEP, SLOPE))
    incast.mark_by(step)
    stepped = incast.run("a step", filling, storm=storm)
    for share in ELSEWHERE:
        other = curve_over(plain, queue, low=share, high=share, percent=100)
        incast.must_be_red(marks_by_curve(stepped, other), because="not by Kmin")
    incast.mark_by(slope)
    sloped = incast.run("a slope", filling, storm=storm)
    incast.must_be_red(marks_by_curve(sloped, step), because="not by Kmin")
    incast.judge(marks_by_curve(stepped, step), marks_by_curve(sloped, slope))
