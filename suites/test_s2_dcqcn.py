"""S2 of document 000: DCQCN slows an RDMA incast by marks and CNPs; without PFC, nothing is lost.

CP: the switch port opposite the receiver (WRED with ECN). NP: the receiver. RP: every sender.
"""

import pytest

from labtests.capabilities.records import EcnSetting
from labtests.verdicts import lossless, slowed_by_marks

DSCPS = 24, 16  # or others, where these have no queues of their own
EVERY = frozenset(range(8))


@pytest.mark.requires(
    hosts=("rdma_links", "trust", "reaction_point", "notification_point", "nic_counters"),
    switches=("pfc", "trust", "ecn", "queue_counters"),
)
@pytest.mark.covers("A6", "E11")
def test_dcqcn_slows_an_rdma_incast_without_loss(incast):
    """DCQCN: packets are marked, CNPs come back, senders slow down, and nothing is lost."""
    incast.expect_near_rates()
    incast.trust_dscp()
    early, late = incast.classes(*DSCPS, rdma=True)
    queues = {incast.queue_of(early), incast.queue_of(late)}
    traffic = incast.rdma(early, late)
    incast.plain_queues()
    incast.serve_alike(queues)
    incast.dcqcn_everywhere(EVERY)

    incast.ecn_at_bottleneck(EcnSetting())
    incast.control(
        "ECN off at the switch",
        incast.rdma(early, late, pair=True),
        red=lambda seen: (lossless(seen, queues, controls=(seen,)), slowed_by_marks(seen)),
        because=("dropped_packets grew by", "ecn_marked_packets stayed 0"),
    )

    incast.ecn_at_bottleneck(incast.marking(EVERY))
    seen = incast.run("ECN on", traffic)
    incast.judge(lossless(seen, queues, controls=incast.controls), slowed_by_marks(seen))
