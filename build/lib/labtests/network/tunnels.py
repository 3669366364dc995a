"""A VXLAN tunnel between two switches: an outer header on the way in, off on the way out.

The outer header is 50 B (Ethernet 14, IPv4 20, UDP 8, VXLAN 8: RFC 7348). Its DSCP and ECN are
copies of the inner ones, so that switches inside the tunnel classify and mark as if there were
none; at the exit a CE of the outer header is copied to the inner one if that is ECN-capable
(RFC 6040, normal mode). Each copy can be left out, to show the harm: DSCP 0 is another queue, an
outer header that is not ECN-capable is dropped where it would have been marked, and marks that are
not copied back are lost. The TTL counts on through the tunnel.
"""

from labtests.network.compiled import compiled
from labtests.network.rows import packet_at
from labtests.network.tables import CE, NOT_ECT, State

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
