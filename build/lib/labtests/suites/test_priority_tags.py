"""S19 of document 002, the worked example: a network that is lossless by 802.1p priority.

one sender (early) --.
another (late)     --+-- first switch -- last switch -- receiver

All ports trust the priority of the packets' tags. PFC holds priority 5 on the whole way; the first
switch, where packets wait for the cable to the last one, marks them as well. The egress is full,
as the example shows it, while marks slow nobody; with DCQCN, nothing is lost either.
"""

import pytest

from labtests.verdicts import full_and_marked, held_by_pauses, lossless

PRIORITY = 5
LOW, HIGH, PERCENT, WEIGHTING = 10, 20, 30, 12  # WRED of its queue, as the example has it
OVERLOAD = 0.75  # of line rate, from each of two senders


@pytest.mark.requires(
    hosts=("rdma_links", "tags", "pfc", "trust", "reaction_point", "notification_point"),
    switches=(
        *("pfc", "trust", "queue_map", "ecn_for", "scheduling_for"),
        *("queue_counters", "drop_counters", "pfc_counters"),
    ),
)
@pytest.mark.covers("D3")
def test_tagged_packets_cross_two_switches_without_loss(incast):
    """802.1p priority 5 fills the egress, and is marked, paused if need be, and never dropped."""
    incast.trust_tags()
    incast.at_the_trunk()
    tagged = incast.tagged(PRIORITY)
    queues = {incast.queue_of(tagged)}
    traffic = incast.rdma(tagged, tagged)
    incast.tell_by_dcbx("rev101")
    incast.serve_first(incast.queue_of(tagged))

    incast.plain_queues()
    incast.control(
        "PFC and ECN off at the switches",
        incast.loads(tagged.offering(OVERLOAD), tagged.offering(OVERLOAD)),
        red=lambda seen: (lossless(seen, queues, controls=(seen,)), full_and_marked(seen)),
        because=("dropped_packets grew by", "buffer_dropped_out_packets grew by"),
    )

    incast.lossless_on_the_way(PRIORITY)
    incast.ecn_at_bottleneck(
        incast.marking_between(
            incast.queue_of(tagged), LOW, HIGH, percent=PERCENT, weighting_exponent=WEIGHTING
        )
    )
    incast.dcqcn_everywhere(frozenset())
    held = incast.run("senders that marks do not slow", traffic)
    incast.dcqcn_everywhere(frozenset({PRIORITY}))
    slowed = incast.run("senders that marks slow", traffic)
    incast.judge(
        lossless(held, queues, controls=incast.controls),
        full_and_marked(held),
        held_by_pauses(held, ceiling_bits_per_s=incast.traffic.roce_ceiling_bits_per_s),
        lossless(slowed, queues, controls=incast.controls),
    )
