"""VXLAN between the hosts: what switches do with a packet goes by its outer header.

sender =====tunnel===== switch =====tunnel===== receiver

DSCP is copied to it where the tunnel is told so; the ECN field always, and a mark comes back to the
inner packet (RFC 6040). Tunnels are made on the hosts, as any kernel can, and taken away again.
"""

from dataclasses import replace

import pytest

from labtests.capabilities.records import EcnSetting
from labtests.verdicts import came_out_marked, kept_its_class, marked_not_dropped

DSCPS = 24, 40  # or others, where these have no queues of their own
ECT_0 = 2
BELOW = 0.6  # of line rate, all together
STREAMS = 4  # of each sender


@pytest.mark.requires("queue_counters", hosts=("tunnel", "host_counters"))
@pytest.mark.covers("D5")
def test_the_class_of_a_packet_survives_its_tunnel(incast):
    """VXLAN: packets get the queue of their inner DSCP, and stay ECN-capable."""
    incast.trust_dscp()
    incast.plain_queues()
    classes = [replace(each, tos=each.tos | ECT_0) for each in incast.classes(*DSCPS)]
    queues = {each.tos: incast.queue_of(each) for each in classes}
    count = max(len(incast.senders), len(classes))  # one for each tunnel, of a class in turn
    loads = [classes[n % len(classes)].offering(BELOW / count) for n in range(count)]
    with incast.tunnels(inherit_tos=False):
        incast.control(
            "tunnels without `tos inherit`",
            incast.loads(*loads),
            red=lambda seen: (kept_its_class(seen, queues),),
            because=("outer headers have another DSCP",),
        )
    with incast.tunnels():
        seen = incast.run("tunnels with `tos inherit`", incast.loads(*loads))
    incast.judge(kept_its_class(seen, queues))


@pytest.mark.requires(
    "ecn", "ecn_on", "queue_counters", "tcp_ecn", hosts=("tunnel", "host_counters")
)
@pytest.mark.covers("D5")
def test_marks_survive_their_tunnel(incast):
    """VXLAN: TCP in tunnels is marked instead of dropped, and marks come out of them."""
    incast.trust_dscp()
    incast.plain_queues()
    (each,) = incast.classes(DSCPS[0])
    with incast.tunnels():
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
    incast.must_be_red(came_out_marked(seen, headers=3), because="not 3 for each")
    incast.judge(marked_not_dropped(seen, without=incast.controls), came_out_marked(seen))
