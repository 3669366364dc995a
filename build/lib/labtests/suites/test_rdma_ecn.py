"""An RDMA incast over RED, ECN-capable and not: what is not, RED drops; what is, it marks.

For soft-RoCE (rdma_rxe), whose packets carry the TOS byte as it was asked. A NIC with DCQCN makes
its packets ECN-capable by itself: there, suite S2 asks.
"""

from dataclasses import replace

import pytest

from labtests.verdicts import every_packet, marked_not_dropped

DSCP = 24  # or another one, where this has no queue of its own
ECT = 2  # in the TOS byte: ECN-capable, ECT(0)


@pytest.mark.requires(
    hosts=("rdma_links", "rdma_counters", "rdma_ecn"), switches=("ecn", "ecn_on", "queue_counters")
)
@pytest.mark.covers("E8")
def test_an_rdma_incast_is_marked_where_it_is_ecn_capable(incast):
    """RDMA with ECN: packets are marked, few are dropped, and every packet is accounted for."""
    incast.trust_dscp()
    (plain,) = incast.classes(DSCP)
    capable = replace(plain, tos=plain.tos | ECT)
    incast.ecn_at_bottleneck(incast.marking(frozenset({incast.queue_of(plain)})))
    incast.control(
        "not ECN-capable",
        incast.rdma(plain, plain),
        red=lambda seen: (marked_not_dropped(seen, without=(seen,)),),
        because=("packets stayed 0",),
    )
    seen = incast.run("ECN-capable", incast.rdma(capable, capable))
    incast.judge(marked_not_dropped(seen, without=incast.controls), every_packet(seen))
