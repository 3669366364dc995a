"""PFC and DCQCN together, as RoCE networks run: marks hold the senders before pauses have to.

CNPs go first, in a strict queue of their own. Bounds are goals of document 004 (UCloud): at least
95 % of the most goodput that the line carries, at most 5 pause frames a second to a sender.
"""

import pytest

from labtests.experiment import patterns
from labtests.verdicts import held_by_pauses, lossless, marked_before_paused
from labtests.workloads import Perftest

DSCPS = 24, 16  # or others, where these have no queues of their own
MARKS = 3  # times as often as reaction points speed up: else they leave the line empty
EVERY = frozenset(range(8))
NONE = frozenset[int]()


@pytest.mark.requires(
    hosts=(
        *("rdma_links", "pfc", "trust", "nic_counters"),
        *("reaction_point", "notification_point"),
    ),
    switches=("pfc", "trust", "ecn", "scheduling_for", "pfc_counters", "queue_counters"),
)
@pytest.mark.covers("A4", "A6", "E11")
def test_marks_hold_an_rdma_incast_before_pauses_have_to(incast):
    """PFC and DCQCN: nothing is lost, marks come before pauses, and the senders share the line."""
    incast.trust_dscp()
    held, other = incast.classes(*DSCPS, paused=True, rdma=True)
    queues = {incast.queue_of(held)}
    ceiling = incast.traffic.roce_ceiling_bits_per_s
    traffic = incast.flows(patterns.incast, Perftest(tos=held.tos))
    incast.serve_cnps_first()

    incast.plain_queues()
    incast.dcqcn_everywhere(NONE, times=MARKS)
    incast.control(
        "PFC and DCQCN off",
        incast.flows(patterns.two_to_one, Perftest(tos=held.tos), Perftest(tos=other.tos)),
        red=lambda seen: (lossless(seen, queues, controls=(seen,)),),
        because=("dropped_packets grew by",),
    )

    incast.lossless_on_the_way(incast.priority_of(held))
    alone = incast.run("PFC alone", traffic)
    incast.must_be_red(
        marked_before_paused(alone, ceiling_bits_per_s=ceiling), because="pause frames a s"
    )

    incast.ecn_at_bottleneck(incast.marking(queues))
    incast.dcqcn_everywhere(EVERY, times=MARKS)
    both = incast.run("PFC and DCQCN", traffic)
    incast.judge(
        lossless(alone, queues, controls=incast.controls),
        held_by_pauses(alone, ceiling_bits_per_s=ceiling),
        lossless(both, queues, controls=incast.controls),
        marked_before_paused(both, ceiling_bits_per_s=ceiling),
    )
