"""A VXLAN tunnel between two switches: an outer header on the way in, off on the way out.

The outer header is 50 B (Ethernet 14, IPv4 20, UDP 8, VXLAN 8: RFC 7348). Its DSCP and ECN are
copies of the inner ones, so that switches inside the tunnel classify and mark as if there were
none; at the exit a CE of the outer header is copied to the inner one if that is ECN-capable
(RFC 6040, normal mode). Each copy can be left out, to show the harm: DSCP 0 is another queue, an
outer header that is not ECN-capable is dropped where it would have been marked, and marks that are
not copied back are lost. The TTL counts on through the tunnel.

Hosts may have tunnels between them, too: then packets of such a flow have the outer headers all the
way (launching.py), and the stacks at the ends count both headers.
"""

from labtests.network.compiled import compiled
from labtests.network.rows import flow_at, host_at, packet_at
from labtests.network.tables import (
    CE,
    ECT_0,
    NO_TUNNEL,
    NOT_ECT,
    TUNNEL_LOSING_MARKS,
    State,
)

VXLAN_BYTES = 50
COPY_DSCP, COPY_ECN, COPY_BACK = 1, 2, 4


@compiled
def inner_target(inner: int) -> int:
    """The host that a packet inside a tunnel is for."""
    return int(inner >> 9)


@compiled
def encapsulate(t: State, k: int, far_end: int, copies: int) -> None:
    """Packet k is in the tunnel to `far_end`, a column of the route table."""
    packet = packet_at(t, k)
    back = 1 if copies & COPY_BACK else 0
    packet.inner = packet.target << 9 | packet.dscp << 3 | packet.ecn << 1 | back
    packet.target = far_end
    packet.frame_bytes += VXLAN_BYTES
    if not copies & COPY_DSCP:
        packet.dscp = 0
    if not copies & COPY_ECN:
        packet.ecn = NOT_ECT


@compiled
def count_out(t: State, f: int, h: int, k: int) -> None:
    """The stack of host h sends packet k of flow f, or the outer one with it inside."""
    host = host_at(t, h)
    host.ip_out += 1
    host.ip_out_bytes += packet_at(t, k).frame_bytes
    host.tunnel_out += 1 if flow_at(t, f).tunnel != NO_TUNNEL else 0


@compiled
def count_ecn(t: State, f: int, ecn: int) -> None:
    """The stack of a host counts what came in: a packet of a tunnel between hosts is two, of which
    the inner one has the mark only where it is copied back."""
    flow = flow_at(t, f)
    host = host_at(t, flow.target)
    headers = 1 if flow.tunnel == NO_TUNNEL else 2
    host.tunnel_in += headers - 1
    if ecn == CE and flow.tunnel == TUNNEL_LOSING_MARKS:
        host.ip_ce += 1
        host.ip_ect0 += 1
    elif ecn == CE:
        host.ip_ce += headers
    elif ecn == ECT_0:
        host.ip_ect0 += headers


@compiled
def decapsulate(t: State, k: int) -> None:
    """Packet k has left its tunnel."""
    packet = packet_at(t, k)
    inner = packet.inner
    ecn = (inner >> 1) & 3
    if inner & 1 and packet.ecn == CE and ecn != NOT_ECT:
        ecn = CE
    packet.ecn = ecn
    packet.dscp = (inner >> 3) & 63
    packet.target = inner_target(inner)
    packet.frame_bytes -= VXLAN_BYTES
