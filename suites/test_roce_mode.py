"""RoCE mode of a switch: one word sets it up for RoCE, lossless (PFC, ECN) or lossy (ECN alone).

each sender --+-- switch, whose ports are as the mode has them -- receiver
...         --'

Nothing of PFC, trust, maps and queues is told to the switch beside that word. The senders heed no
marks, so that nothing but pauses can hold them.
"""

import pytest

from labtests.experiment import patterns
from labtests.verdicts import counted_apart, held_by_pauses, lossless, paused_nobody
from labtests.workloads import Perftest

DSCP = 26  # of RoCE, by the guides of those who have such a mode
NONE = frozenset[int]()


@pytest.mark.requires(
    hosts=("rdma_links", "pfc", "trust", "nic_counters", "reaction_point", "notification_point"),
    switches=("roce_mode", "roce_counters", "pfc_counters", "queue_counters"),
)
def test_roce_mode_is_lossless_where_it_says_so(incast):
    """RoCE mode: lossless, it holds an RDMA incast by pauses; lossy, it drops and pauses nobody."""
    incast.roce_mode("lossy")
    incast.dcqcn_everywhere(NONE)
    (roce,) = incast.classes(DSCP, paused=True, rdma=True)
    queue, priority = incast.queue_of(roce), incast.priority_of(roce)
    incast.pfc_at_hosts(priority)
    traffic = incast.flows(patterns.incast, Perftest(tos=roce.tos))
    incast.control(
        "RoCE mode lossy",
        traffic,
        red=lambda seen: (lossless(seen, {queue}, controls=(seen,)),),
        because=("dropped_packets grew by",),
    )

    incast.roce_mode("lossless")
    seen = incast.run("RoCE mode lossless", traffic)
    incast.must_be_red(paused_nobody(seen), because="pfc_tx_frames grew by")
    incast.judge(
        *map(paused_nobody, incast.controls),
        lossless(seen, {queue}, controls=incast.controls),
        held_by_pauses(seen, ceiling_bits_per_s=incast.traffic.roce_ceiling_bits_per_s),
        counted_apart(seen, queue),
    )
