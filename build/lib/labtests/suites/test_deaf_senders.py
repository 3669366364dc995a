"""S8: a sender that slows down on marks, beside one that does not.

one sender (RDMA, DCQCN)    --+-- switch -- receiver
another (UDP, never slower) --'

In one queue the first gives way to the second until next to nothing is left of it. A queue of its
own keeps it from that.
"""

from dataclasses import replace

import pytest

from labtests.experiment import patterns
from labtests.verdicts import not_starved
from labtests.workloads import Iperf3, Perftest

DSCPS = 24, 40  # or others, where these have no queues of their own
ECT = 2  # in the TOS byte: packets of the deaf sender are marked instead of dropped, too
OFFERED = 0.9  # of line rate
PAIRS = 16  # queue pairs: few speed up too slowly after each mark, in a queue of their own, too
EVERY = frozenset(range(8))


@pytest.mark.requires(
    hosts=(
        *("rdma_links", "pfc", "trust", "nic_counters"),
        *("reaction_point", "notification_point"),
    ),
    switches=("pfc", "trust", "ecn", "scheduling_for", "pfc_counters", "queue_counters"),
)
def test_a_queue_of_its_own_keeps_a_sender_from_starving(incast):
    """Mixed senders: one that slows down on marks is not starved by one that does not."""
    incast.trust_dscp()
    incast.plain_queues()
    incast.serve_equally()
    slowing, other = incast.classes(*DSCPS, paused=True, rdma=True)
    incast.ecn_at_bottleneck(incast.marking(frozenset({incast.queue_of(slowing)})))
    incast.dcqcn_everywhere(EVERY, times=PAIRS)
    incast.lossless_on_the_way(incast.priority_of(slowing))
    ceiling = incast.traffic.roce_ceiling_bits_per_s

    def beside(deaf):
        offered = OFFERED * incast.traffic.roles.line_bits_per_s
        udp = Iperf3(protocol="udp", tos=deaf.tos, offered_bits_per_s=offered)
        return incast.flows(patterns.two_to_one, Perftest(tos=slowing.tos, queue_pairs=PAIRS), udp)

    incast.control(
        "one queue for both",
        beside(replace(slowing, tos=slowing.tos | ECT)),
        red=lambda seen: (not_starved(seen, ceiling_bits_per_s=ceiling),),
        because=("goodput / equal part of the line",),
    )

    seen = incast.run("a queue of its own", beside(other))
    incast.judge(not_starved(seen, ceiling_bits_per_s=ceiling))
