"""What a point of a sweep on a lab runs unless its file names suites (for pytest): an RDMA incast
on the lab as it is set.

A control takes PFC, RED and DCQCN away first, so that drop counters are proven; then nothing is set
for the incast.
"""

import pytest

from labtests.capabilities.settings import PFC
from labtests.experiment import Incast, NotHere, patterns
from labtests.experiment.choosing import maps_of
from labtests.verdicts import lossless, marked_before_paused
from labtests.workloads import Perftest

NONE = frozenset[int]()


@pytest.mark.requires(
    hosts=("rdma_links", "nic_counters", "reaction_point", "notification_point"),
    switches=("pfc", "ecn", "pfc_counters", "queue_counters"),
)
def test_an_rdma_incast_as_the_lab_is_set(incast: Incast) -> None:
    """As configured: nothing is lost, marks come before pauses, the line is full and shared."""
    tool = Perftest(tos=_lossless_dscp(incast) << 2)
    with incast.lab.restoring():
        incast.plain_queues()
        incast.dcqcn_everywhere(NONE)
        queues = {incast.queues[tool.tos >> 2]}
        incast.control(
            "PFC, RED and DCQCN off",
            incast.flows(patterns.two_to_one, tool),
            red=lambda seen: (lossless(seen, queues, controls=(seen,)),),
            because=("dropped_packets grew by",),
        )
    seen = incast.run("as configured", incast.flows(patterns.incast, tool))
    incast.judge(
        lossless(seen, queues, controls=incast.controls),
        marked_before_paused(seen, ceiling_bits_per_s=incast.traffic.roce_ceiling_bits_per_s),
    )


def _lossless_dscp(incast: Incast) -> int:
    """The first DSCP that hosts and switch give one priority with PFC. Skips a lab without one."""
    found = incast.lab.current(incast.bottleneck, PFC)
    maps = maps_of(incast.lab, incast.roles, rdma=True)
    for dscp, priority in enumerate(maps.priorities or ()):
        if priority in found.priorities and maps.usable(dscp, paused=True):
            return dscp
    raise NotHere("no DSCP leads to a priority for which PFC is on at the receiver's switch port")
