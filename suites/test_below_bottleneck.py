"""All senders together below the bottleneck: nothing is lost, and nothing more is claimed.

Without congestion "lossless" is a word without meaning: that verdict has to stay inconclusive.
"""

import pytest

from labtests.experiment import Class
from labtests.verdicts import lossless, no_loss

EARLY, LATE = 0x60, 0xA0  # DSCP 24 and 40
BELOW, ABOVE = 0.4, 0.75  # of line rate, each of two: together 80 %, and 150 %


@pytest.mark.requires("queue_counters", "scheduling_for")
def test_nothing_is_lost_below_the_bottleneck(incast):
    """Below the bottleneck no queue drops a packet, and that proves nothing about congestion."""
    incast.trust_dscp()
    incast.serve_equally()
    above = incast.loads(*(Class(tos=tos, offered_share=ABOVE) for tos in (EARLY, LATE)))
    incast.control("150 % of line rate", above, red=lambda seen: (no_loss(seen, alive_in=(seen,)),))

    below = incast.loads(*(Class(tos=tos, offered_share=BELOW) for tos in (EARLY, LATE)))
    seen = incast.run("80 % of line rate", below)
    incast.unproven(
        lossless(seen, seen.queues, alive_in=incast.controls), because="no proof of pressure"
    )
    incast.judge(no_loss(seen, alive_in=incast.controls))
