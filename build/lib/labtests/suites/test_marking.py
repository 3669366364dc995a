"""S16: RED marks what is ECN-capable while its queue is long: nothing before, and nothing else.

UDP of one class with ECT(0) in its TOS byte, and without. It does not slow down: the queue of two
senders is as long as it can be. One sender alone makes none, with a link as fast as the receiver's.
"""

from dataclasses import replace

import pytest

from labtests.verdicts import drops_exactly_in, no_loss, unmarked

DSCP = 24  # or another one, where this has no queue of its own
ECT = 2  # in the TOS byte: ECN-capable, ECT(0)
ALONE, ABOVE = 0.6, 0.75  # of line rate: one sender, and each of two


@pytest.mark.requires("ecn", "ecn_on", "queue_counters")
@pytest.mark.covers("E2", "E3", "E4", "E7", "E8", "E9")
def test_marks_begin_with_a_long_queue_and_with_ecn_capable_packets(incast):
    """Marking: a long queue marks, a short one does not, and packets without ECN never are."""
    incast.trust_dscp()
    incast.plain_queues()
    (plain,) = incast.classes(DSCP)
    capable = replace(plain, tos=plain.tos | ECT)
    incast.ecn_at_bottleneck(incast.marking(frozenset({incast.queue_of(plain)})))
    incast.control(
        "150 %, ECN-capable",
        incast.loads(capable.offering(ABOVE), capable.offering(ABOVE)),
        red=lambda seen: (unmarked(seen, controls=(seen,)), no_loss(seen, controls=(seen,))),
        because=("marked_packets grew by", "dropped_packets grew by"),
    )

    alone = incast.alone(capable.offering(ALONE))
    short = incast.run("60 %, one sender, ECN-capable", alone)
    above = incast.loads(plain.offering(ABOVE), plain.offering(ABOVE))
    without = incast.run("150 %, not ECN-capable", above)
    incast.judge(
        unmarked(short, controls=incast.controls),
        no_loss(short, controls=incast.controls),
        unmarked(without, controls=incast.controls),
        drops_exactly_in(without, {incast.queue_of(plain)}, controls=incast.controls),
    )
