"""S4 and S5: a flow past the congestion suffers under PFC, and not under DCQCN.

one sender  --+-- switch -- receiver     all send to it: congested
another     --'        \\
                        `-- somebody     the first one sends here, too: free

Pauses hold the first sender's port, and with it what goes to somebody else (head-of-line blocking).
"""

import pytest

from labtests.experiment import patterns
from labtests.verdicts import held_by_cnps, spared
from labtests.workloads import Perftest

DSCP = 24  # or another one, where this has no queue of its own
PAIRS = 3  # queue pairs of a sender, in turn with the one that goes past
SPARED_SENDERS = 5  # with eight DCQCN alone did not spare the victim in the simulated lab
EVERY = frozenset(range(8))
NONE = frozenset[int]()


@pytest.mark.requires(
    hosts=(
        *("rdma_links", "pfc", "trust", "nic_counters"),
        *("reaction_point", "notification_point"),
    ),
    switches=("pfc", "trust", "ecn", "pfc_counters", "queue_counters"),
)
@pytest.mark.covers("E15")
def test_dcqcn_spares_the_flow_past_the_congestion(incast):
    """Victim flow: it has what the incast leaves to it under DCQCN; PFC alone holds it, too."""
    incast.with_bystanders()
    incast.expect_equal_links()
    incast.expect_senders(at_most=SPARED_SENDERS)
    incast.trust_dscp()
    incast.plain_queues()
    (held,) = incast.classes(DSCP, paused=True, rdma=True)
    share = incast.traffic.roce_ceiling_bits_per_s / incast.traffic.roles.line_bits_per_s
    congesting = incast.flows(patterns.incast, Perftest(tos=held.tos, queue_pairs=PAIRS))
    traffic = incast.flows(patterns.victim, Perftest(tos=held.tos), beside=congesting)
    incast.lossless_on_the_way(incast.priority_of(held))

    incast.dcqcn_everywhere(NONE, times=PAIRS)
    incast.control(
        "PFC alone",
        traffic,
        red=lambda seen: (spared(seen, payload_share=share),),
        because=("goodput / what is left to it",),
    )

    incast.ecn_at_bottleneck(incast.marking(frozenset({incast.queue_of(held)})))
    incast.dcqcn_everywhere(EVERY, times=PAIRS)
    seen = incast.run("PFC and DCQCN", traffic)
    incast.judge(held_by_cnps(seen), spared(seen, payload_share=share))
