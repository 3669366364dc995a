"""How a lossless network scales: 8, 32, 63 senders to one receiver, as many as the testbed has.

Each sends as much, by several queue pairs: who is done late was held longer than it had to be.
"""

import pytest

from labtests.verdicts import completed_alike, lossless
from labtests.workloads import Perftest

FANS = 8, 32, 63  # senders to one receiver; and all that there are, where they are fewer
FEWEST = 4  # of two or three, none is one of many
QUEUE_PAIRS = 2  # of each sender
GREEDY = 8  # times as many of one, in the control
DSCP = 24  # or another one, where this has no queue of its own
OVERLOAD = 1.5
EVERY = frozenset(range(8))


@pytest.mark.requires(
    hosts=(
        *("rdma_links", "pfc", "trust", "nic_counters"),
        *("reaction_point", "notification_point"),
    ),
    switches=("pfc", "trust", "ecn", "pfc_counters", "queue_counters"),
)
@pytest.mark.covers("A7")
def test_many_transfers_to_one_host_end_in_their_time(incast):
    """Scale: of up to 63 senders to one, none ends late, and nothing is lost (PFC and DCQCN)."""
    incast.expect_senders(at_least=FEWEST)
    incast.trust_dscp()
    incast.plain_queues()
    (held,) = incast.classes(DSCP, paused=True, rdma=True)
    queues = {incast.queue_of(held)}
    ceiling = incast.traffic.roce_ceiling_bits_per_s
    writes = Perftest(tos=held.tos, verb="write", queue_pairs=QUEUE_PAIRS)
    everybody = len(incast.senders)
    incast.prove_counters("no PFC, 150 %", incast.loads(held.offering(OVERLOAD)), queues)

    incast.lossless_on_the_way(incast.priority_of(held))
    incast.ecn_at_bottleneck(incast.marking(queues))
    incast.dcqcn_everywhere(EVERY)
    incast.control(
        f"one sender with {GREEDY} times the queue pairs",
        incast.transfers(everybody, writes, greedy_pairs=GREEDY),
        red=lambda seen: (completed_alike(seen, ceiling_bits_per_s=ceiling),),
        because=("times what the others had",),
    )

    for fan in [fan for fan in FANS if fan <= everybody] or [everybody]:
        seen = incast.run(f"{fan} to one", incast.transfers(fan, writes))
        incast.judge(
            lossless(seen, queues, controls=incast.controls),
            completed_alike(seen, ceiling_bits_per_s=ceiling),
        )
