"""A TCP incast with ECN and without: a switch that marks need not drop.

Whether TCP asks for ECN is a setting of the hosts' kernels, which is read and not changed.
"""

import pytest

from labtests.capabilities.records import EcnSetting
from labtests.verdicts import marked_not_dropped

DSCP = 24  # or another one, where this has no queue of its own; the ECN bits are TCP's own
STREAMS = 4  # of each sender


@pytest.mark.requires("ecn", "ecn_on", "queue_counters", "host_counters", "tcp_ecn")
@pytest.mark.covers("E4", "E8")
def test_a_tcp_incast_is_marked_instead_of_dropped(incast):
    """TCP with ECN: packets are marked, and few are dropped or retransmitted."""
    incast.trust_dscp()
    incast.plain_queues()
    (each,) = incast.classes(DSCP)
    traffic = incast.tcp(each, streams=STREAMS)
    incast.ecn_at_bottleneck(EcnSetting())
    incast.control(
        "ECN off at the switch",
        traffic,
        red=lambda seen: (marked_not_dropped(seen, without=(seen,)),),
        because=("packets stayed 0",),
    )
    incast.ecn_at_bottleneck(incast.marking(frozenset({incast.queue_of(each)})))
    seen = incast.run("ECN on", traffic)
    incast.judge(marked_not_dropped(seen, without=incast.controls))
