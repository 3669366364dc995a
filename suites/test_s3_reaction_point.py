"""S3 of document 000: without a reaction point on one priority, exactly its queue drops.

The toggle is tried per priority: off for the one, back on (nothing drops: the control), and off for
the other, which also proves that the other queue's drop counter counts.
"""

import pytest

from labtests.capabilities.settings import REACTION_POINT
from labtests.verdicts import drops_as_expected

DSCPS = 24, 16  # or others, where these have no queues of their own
EVERY = frozenset(range(8))


@pytest.mark.requires(
    hosts=("rdma_links", "trust", "reaction_point", "notification_point", "nic_counters"),
    switches=("pfc", "trust", "ecn", "queue_counters"),
)
def test_a_sender_without_reaction_point_drops_in_its_own_queue_only(incast):
    """RP off for one priority of one sender: its queue drops, the other queue does not."""
    incast.expect_near_rates()
    incast.trust_dscp()
    first, second = incast.classes(*DSCPS, rdma=True)
    traffic = incast.rdma(first, second)
    early, late = traffic[0].role, traffic[-1].role
    clean, dropping = incast.queue_of(first), incast.queue_of(second)
    incast.plain_queues()
    incast.serve_alike({clean, dropping})
    incast.dcqcn_everywhere(EVERY)
    incast.ecn_at_bottleneck(incast.marking(EVERY))

    incast.control(
        "RP back on for both",
        traffic,
        red=lambda seen: (
            drops_as_expected(seen, dropping=dropping, clean=clean, controls=(seen,)),
        ),
        because=(f"queue {dropping} dropped_packets stayed 0",),
    )

    off = incast.priority_of(first)
    incast.set(early.nic, REACTION_POINT, EVERY - {off})
    incast.prove_counters(f"RP off for priority {off} of {early.name}", traffic, queues={clean})

    incast.set(early.nic, REACTION_POINT, EVERY)
    off = incast.priority_of(second)
    incast.set(late.nic, REACTION_POINT, EVERY - {off})
    seen = incast.run(f"RP off for priority {off} of {late.name}", traffic)
    incast.judge(drops_as_expected(seen, dropping=dropping, clean=clean, controls=incast.controls))
