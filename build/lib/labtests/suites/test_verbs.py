"""Every verb, every way: PFC holds RDMA writes and reads, and all hosts at once, without loss.

A read's data is sent by the server's NIC, unasked by any program there: it is paused like a write.
A requester has at most 16 reads under way: of 64 KiB, they would not fill the buffers of a switch.
"""

from dataclasses import replace

import pytest

from labtests.experiment import patterns
from labtests.verdicts import all_paused, held_by_pauses, lossless, nothing_lost
from labtests.workloads import Perftest

DSCPS = 24, 16  # or others, where these have no queues of their own
READ_BYTES = 2**20

under_pfc = pytest.mark.requires(
    hosts=("rdma_links", "pfc", "trust", "nic_counters"),
    switches=("pfc", "trust", "pfc_counters", "queue_counters"),
)


@under_pfc
@pytest.mark.covers("A4", "A18")
def test_pfc_holds_an_incast_of_writes(incast):
    """PFC under an incast of RDMA writes: every sender is paused, and nothing is lost."""
    holds(incast, Perftest(tos=0, verb="write"))


@under_pfc
def test_pfc_holds_an_incast_of_reads(incast):
    """PFC under an incast of RDMA reads: whoever has the data is paused, and nothing is lost."""
    holds(incast, Perftest(tos=0, verb="read", message_bytes=READ_BYTES))


def holds(incast, tool):
    """The same of either verb."""
    incast.expect_equal_links()
    incast.trust_dscp()
    incast.plain_queues()
    held, other = incast.classes(*DSCPS, paused=True, rdma=True)
    queues = {incast.queue_of(held)}
    in_class = replace(tool, tos=held.tos)
    incast.control(
        "PFC off at the switches",
        incast.flows(patterns.two_to_one, in_class, replace(tool, tos=other.tos)),
        red=lambda seen: (lossless(seen, queues, controls=(seen,)),),
        because=("dropped_packets grew by",),
    )

    incast.lossless_on_the_way(incast.priority_of(held))
    seen = incast.run("PFC on", incast.flows(patterns.incast, in_class))
    ceiling = incast.traffic.roce_ceiling_bits_per_s
    incast.judge(
        lossless(seen, queues, controls=incast.controls),
        held_by_pauses(seen, ceiling_bits_per_s=ceiling),
    )


@under_pfc
@pytest.mark.covers("A5", "A17", "A18")
def test_every_host_writes_to_every_other_one(incast):
    """Any to any: every port is an ingress and an egress, under PFC, and nothing is lost."""
    incast.with_bystanders()
    incast.expect_equal_links()
    incast.trust_dscp()
    incast.plain_queues()
    (held,) = incast.classes(DSCPS[0], paused=True, rdma=True)
    in_turn = incast.overload_each(held)
    incast.control(
        "PFC off at the switches, each host overloaded in turn",
        in_turn,
        red=lambda seen: (nothing_lost(seen, controls=(seen,)),),
        because=("dropped_packets grew by",),
    )

    incast.lossless_on_the_way(incast.priority_of(held))
    pressed = incast.run("PFC on, each host overloaded in turn", in_turn)
    writes = Perftest(tos=held.tos, verb="write")
    seen = incast.run("PFC on, all to all", incast.flows(patterns.all_to_all, writes, rows=1))
    incast.judge(
        all_paused(pressed),
        nothing_lost(pressed, controls=incast.controls),
        nothing_lost(seen, controls=incast.controls),
    )
