"""Classes at the edge (S21, document 004): the port that a host is plugged into puts a packet into
the queue of RoCE, or of CNPs, by its UDP port *and* its DSCP. The DSCP without the port gets none
of them: whoever writes 46 into his packets takes no part of them, here and further on, for they
get another DSCP.

Counted packets of all DSCPs (ICMP, or UDP to another port) from each host, told by queue at every
switch and by class at the NIC that gets them; then RoCE.
"""

import pytest

from labtests.verdicts import classified, in_their_queues, slowed_by_marks

DSCPS = 46, 24  # or others, where these have no queues of their own
EVERY = frozenset(range(8))


@pytest.mark.requires(
    hosts=("rdma_links", "trust", "reaction_point", "notification_point", "nic_counters"),
    switches=("edge", "trust", "ecn", "pfc", "queue_counters", "dscp_map"),
)
@pytest.mark.covers("D4")
def test_only_roce_gets_into_its_queues_at_the_edge(incast):
    """Edge: RoCE and its CNPs are in their queues; the same DSCPs of other packets are not, there
    and behind."""
    incast.expect_near_rates()
    incast.trust_dscp()
    early, late = incast.classes(*DSCPS, rdma=True)
    by_class = {each.tos: incast.queue_of(each) for each in (early, late)}
    queues = set(by_class.values())
    traffic = incast.rdma(early, late)
    incast.plain_queues()
    incast.serve_alike(queues)
    incast.dcqcn_everywhere(EVERY)
    incast.ecn_at_bottleneck(incast.marking(queues))  # in theirs alone: elsewhere none is marked

    dscp = incast.only_roce_in(early, late, remarks=False)
    rest, wanted = incast.queues[dscp], (incast.queues[dscp],) * 64
    incast.must_be_red(classified(incast.every_dscp_once(dscp), wanted), because="of 0 packets")
    incast.only_roce_in(early, late)
    rounds = incast.every_dscp(remarked=dscp)
    incast.must_be_red(classified(rounds, incast.queues), because=f"reached queue {rest}")
    seen = incast.run("RoCE at the edge", traffic)
    swapped = dict(zip(by_class, reversed(by_class.values()), strict=True))
    incast.must_be_red(in_their_queues(seen, swapped), because="more than was sent to it")
    incast.judge(classified(rounds, wanted), in_their_queues(seen, by_class), slowed_by_marks(seen))
