"""All senders together below the bottleneck: nothing is lost, and nothing more is claimed.

Without congestion "lossless" is a word without meaning: that verdict has to stay inconclusive.
"""

import pytest

from labtests.verdicts import lossless, no_loss

DSCPS = 24, 40  # or others, where these have no queues of their own
BELOW, ABOVE = 0.4, 0.75  # of line rate, each of two: together 80 %, and 150 %


@pytest.mark.requires("queue_counters", "scheduling_for")
@pytest.mark.covers("A14", "A15", "A16", "B14")
def test_nothing_is_lost_below_the_bottleneck(incast):
    """Below the bottleneck no queue drops a packet, and that proves nothing about congestion."""
    incast.trust_dscp()
    incast.plain_queues()
    incast.serve_equally()
    classes = incast.classes(*DSCPS)
    above = incast.loads(*(each.offering(ABOVE) for each in classes))
    incast.control(
        "150 % of line rate",
        above,
        red=lambda seen: (no_loss(seen, controls=(seen,)),),
        because=("dropped_packets grew by",),
    )

    below = incast.loads(*(each.offering(BELOW) for each in classes))
    seen = incast.run("80 % of line rate", below)
    incast.unproven(
        lossless(seen, seen.queues, controls=incast.controls), because="congestion not proven"
    )
    incast.judge(no_loss(seen, controls=incast.controls))
