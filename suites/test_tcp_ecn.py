"""A TCP incast with ECN and without: a switch that marks need not drop.

Whether TCP asks for ECN is a setting of the hosts' kernels, which is read and not changed.
"""

import pytest

from labtests.experiment import Class
from labtests.records import EcnSetting
from labtests.verdicts import marked_not_dropped

TOS = 0x60  # DSCP 24; the ECN bits are TCP's own
STREAMS = 4  # of each sender


@pytest.mark.requires("ecn", "ecn_on", "queue_counters", "host_counters", "tcp_ecn")
def test_a_tcp_incast_is_marked_instead_of_dropped(incast):
    """TCP with ECN: packets are marked, and few are dropped or sent again."""
    traffic = incast.tcp(*(Class(tos=TOS) for _ in incast.senders), streams=STREAMS)
    incast.trust_dscp()
    incast.ecn_at_bottleneck(EcnSetting())
    incast.control(
        "ECN off at the switch",
        traffic,
        red=lambda seen: (marked_not_dropped(seen, without=(seen,)),),
    )
    incast.ecn_at_bottleneck(incast.marking(frozenset({incast.queue_of(TOS)})))
    seen = incast.run("ECN on", traffic)
    incast.judge(marked_not_dropped(seen, without=incast.controls))
