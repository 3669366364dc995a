"""What a profile means, worked out: maps in full, headroom, the level at which PFC fires."""

from labtests.core.headroom import CELL_BYTES, egress_needed_cells, headroom_for
from labtests.profile.form import STRICT, BufferPart, ProfileFile

FRAME_OVERHEAD_BYTES = 22
"""Ethernet header (14), one VLAN tag (4) and FCS (4) around an IP packet."""


def dscp_map(profile: ProfileFile) -> tuple[int, ...]:
    """The priority of each of the 64 DSCPs."""
    priorities = [dscp // 8 for dscp in range(64)]
    for part in profile.maps.dscp:
        for dscp in part.dscp:
            priorities[dscp] = part.priority
    return tuple(priorities)


def queue_map(profile: ProfileFile) -> tuple[int, ...]:
    """The queue of each 802.1p priority."""
    return tuple(profile.maps.queue_of_priority or range(8))


def strict_queues(profile: ProfileFile) -> frozenset[int]:
    """The queues that are always served first."""
    return frozenset(q for q, share in enumerate(profile.scheduling or ()) if share == STRICT)


def marked(profile: ProfileFile) -> frozenset[int]:
    """The priorities that are marked by ECN."""
    return frozenset(priority for part in profile.ecn for priority in part.priorities)


def frame_bytes(profile: ProfileFile) -> int:
    """The largest frame, FCS included; 0 where the profile leaves the MTU as it is."""
    return 0 if profile.mtu_bytes is None else profile.mtu_bytes + FRAME_OVERHEAD_BYTES


def rate_bits_per_s(profile: ProfileFile) -> int:
    """Of the fastest link; 0 where the profile is for any."""
    return round((profile.rate_gbit_per_s or 0) * 1e9)


def headroom_by_rule(profile: ProfileFile, buffer: BufferPart) -> int:
    """Cells by S23, for this rate and cable."""
    return headroom_for(rate_bits_per_s(profile), buffer.cable_m, buffer.cell_bytes)


def headroom_cells(profile: ProfileFile, buffer: BufferPart) -> int:
    """Cells per port and lossless priority, as given or by S23."""
    given = buffer.headroom_cells
    return headroom_by_rule(profile, buffer) if given is None else given


def pause_level_bytes(buffer: BufferPart) -> float | None:
    """Bytes of one ingress group at which PFC fires while all ingress ports are congested.

    Dynamic threshold (Choudhury and Hahne): alpha B / (1 + alpha N), beyond what is guaranteed.
    None when the profile does not say."""
    if buffer.shared_cells is None or buffer.ingress is None or buffer.ingress_ports is None:
        return None
    alpha = buffer.ingress.alpha
    share = alpha * buffer.shared_cells / (1 + alpha * buffer.ingress_ports)
    return (share + buffer.ingress.guaranteed_cells) * buffer.cell_bytes


def egress_needed(profile: ProfileFile, buffer: BufferPart) -> float | None:
    """Cells that the egress queue of a lossless priority must be allowed (S22). None when the
    profile does not say enough."""
    if buffer.shared_cells is None or buffer.ingress is None or buffer.ingress_ports is None:
        return None
    return egress_needed_cells(
        buffer.shared_cells,
        buffer.ingress.guaranteed_cells,
        headroom_cells(profile, buffer),
        alpha=buffer.ingress.alpha,
        ports=buffer.ingress_ports,
    )


def cell_bytes(profile: ProfileFile) -> int:
    """What one unit of a switch's thresholds stands for."""
    return CELL_BYTES if profile.buffer is None else profile.buffer.cell_bytes
