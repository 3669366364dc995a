"""S3 of document 000: without a reaction point on one priority, exactly its queue drops.

The toggle is tried per priority: off for the one, back on (nothing drops: the control), and off for
the other, which also proves that the other queue's drop counter counts.
"""

import pytest

from labtests.experiment import Class
from labtests.verdicts import drops_where_due

EARLY = Class(tos=96)  # DSCP 24: queue 3
LATE = Class(tos=64)  # DSCP 16: queue 2
EVERY = frozenset(range(8))


@pytest.mark.requires(
    hosts=("rdma_links", "trust", "reaction_point", "notification_point", "nic_counters"),
    switches=("pfc", "trust", "ecn", "queue_counters"),
)
def test_a_sender_without_reaction_point_drops_in_its_own_queue_only(incast):
    """RP off for one priority of one sender: its queue drops, the other queue does not."""
    traffic = incast.rdma(EARLY, LATE)
    early, *_, late = incast.senders
    incast.trust_dscp()
    incast.no_pfc_anywhere()
    incast.dcqcn_everywhere(EVERY)
    incast.ecn_at_bottleneck(incast.marking(EVERY))

    incast.control(
        "RP back on for both",
        traffic,
        red=lambda seen: (drops_where_due(seen, due=2, clean=3, alive_in=(seen,)),),
    )

    incast.set(early.nic, "reaction_point", EVERY - {3})
    incast.alive(f"RP off for priority 3 of {early.name}", traffic, queues={3})

    incast.set(early.nic, "reaction_point", EVERY)
    incast.set(late.nic, "reaction_point", EVERY - {2})
    seen = incast.run(f"RP off for priority 2 of {late.name}", traffic)
    incast.judge(drops_where_due(seen, due=2, clean=3, alive_in=incast.controls))
