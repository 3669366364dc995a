"""Packets of a transfer are lost at random: what does that cost, and how does the NIC repeat them?

sender -- switch, which is told to lose some -- receiver

One sender, whose link is no faster than the receiver's, so that nothing else is lost. The losses
are made by a netem in the switch, in the queue of this class: it acts on what the switch's kernel
forwards. A switch chip has none, and what a NIC sends by itself passes none in its host.
"""

import pytest

from labtests.verdicts import repeated_what_was_lost
from labtests.workloads import Perftest

DSCP = 24  # or another one, where this has no queue of its own
LOSSES = 1, 10, 100, 1000, 10_000  # of a million packets: 10^-6 to 10^-2


@pytest.mark.requires(
    "packet_loss", "queue_counters", hosts=("rdma_links", "rdma_counters", "nic_counters")
)
@pytest.mark.covers("E12")
def test_a_sender_repeats_what_is_lost(incast):
    """Go-back-N: each lost packet is noticed and sent again, at the price of the closed form."""
    incast.trust_dscp()
    incast.plain_queues()
    (each,) = incast.classes(DSCP, rdma=True)
    writes = Perftest(tos=each.tos, verb="write")
    losses = incast.losses_to_be_seen(writes, LOSSES)
    clean = incast.run("no loss", incast.transfer(writes))
    incast.must_be_red(
        repeated_what_was_lost(clean, clean=clean, per_million=max(losses)),
        because="dropped_packets grew by 0",
    )
    seen = {}
    for lost in losses:
        with incast.losing(incast.queue_of(each), lost):
            transfer = incast.transfer(writes, lost)
            seen[lost] = incast.run(f"{lost} of a million lost", transfer)
    incast.judge(
        *(
            repeated_what_was_lost(each, clean=clean, per_million=lost)
            for lost, each in seen.items()
        )
    )
