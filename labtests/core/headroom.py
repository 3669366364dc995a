"""How much headroom a lossless priority group needs: the rules of the sources, worked out.

Headroom takes what still arrives when a group has asked its peer to stop. Rates in bits/s, lengths
in m, times in s; bytes are frames with FCS unless said otherwise; one bit time is 1 / rate.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

MIN_FRAME_BYTES = 64
OVERHEAD_BYTES = 20  # preamble, start delimiter and gap (IEEE 802.3)
CELL_BYTES = 208
FRAMING_BYTES = 18  # header and checksum, without a tag (802.3)
FULL_FRAME_BYTES = 1500 + FRAMING_BYTES
QUANTUM_BITS = 512
SIGNAL_M_PER_S = 2e8
PROCESSING_S = 1.5e-6
"""Of S23: it fits the two numbers that the source gives."""


@lru_cache
def densest_frame(
    cell_bytes: int,
    smallest: int = MIN_FRAME_BYTES,
    largest: int = FULL_FRAME_BYTES,
    overhead_bytes: int = OVERHEAD_BYTES,
) -> tuple[int, int]:
    """(bytes on the wire, cells) of the frame size that takes most cells per byte on the wire.

    With cells of 208 B it is the smallest frame, 84 bytes for one cell (S23: the memory is used
    worst by 64 B packets); with cells of a few bytes it is the largest.
    """
    sizes = (
        (size + overhead_bytes, -(-size // cell_bytes)) for size in range(smallest, largest + 1)
    )
    return max(sizes, key=lambda sized: (sized[1] / sized[0], -sized[0]))


def headroom_for(
    rate_bits_per_s: int,
    length_m: float,
    cell_bytes: int = CELL_BYTES,
    *,
    frame_bytes: int = FULL_FRAME_BYTES,
) -> int:
    """Cells that may still arrive after an xoff, by the white paper's rule (S23).

    (1.5 us processing + two full frames + there and back on the cable) * rate, all of it in the
    frames that need most cells: 64 B packets of one cell each. 100G and 100 m: 408 cells; 25G and
    15 m: 98 cells (1.5 us and two frames fit these two numbers; the source does not give them).
    """
    fixed_s = PROCESSING_S + 2 * length_m / SIGNAL_M_PER_S
    bits = fixed_s * rate_bits_per_s + 2 * 8 * frame_bytes
    wire_bytes, cells = densest_frame(cell_bytes)
    return round(bits * cells / (8 * wire_bytes))


def arriving_bytes(
    rate_bits_per_s: int,
    length_m: float,
    *,
    processing_s: float = PROCESSING_S,
    frame_bytes: int = FULL_FRAME_BYTES,
) -> int:
    """The least that headroom_for() of a link can be in bytes, whatever a cell is: full frames. A
    peer that stops at once (`processing_s` 0) sends so much at most: 2 R d and two frames."""
    fixed_s = processing_s + 2 * length_m / SIGNAL_M_PER_S
    wire_bytes = fixed_s * rate_bits_per_s / 8 + 2 * frame_bytes
    return round(wire_bytes * frame_bytes / (frame_bytes + OVERHEAD_BYTES))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadroomLink:
    """A link and the peer at its end; `delay_s` one way, `response_s` until it obeys a pause,
    `overhead_bytes` of preamble and gap with each frame."""

    rate_bits_per_s: int
    delay_s: float
    response_s: float = 0.0
    overhead_bytes: int = OVERHEAD_BYTES


def headroom_bound_cells(
    hop: HeadroomLink,
    frame_bytes: int = FULL_FRAME_BYTES,
    *,
    smallest_bytes: int | None = None,
    cell_bytes: int = CELL_BYTES,
) -> int:
    """Most cells that a group can need in this network: 2 R d + 2 MTU + R t_r, frames rounded up.

    From the frame that reaches the threshold until the last one that arrives: one frame ahead of
    the PFC frame, the PFC frame (84 B on the wire), the delay to the peer, its response time t_r,
    its frame in progress, the delay back. Frames of the group have `frame_bytes`, or any size
    between `smallest_bytes` and that; others on the way back no more. Preamble and gap are those of
    the link: with fewer bytes of them more frames arrive.
    """
    wire_bytes = frame_bytes + hop.overhead_bytes
    cells = -(-frame_bytes // cell_bytes)
    waiting = hop.rate_bits_per_s / 8 * (2 * hop.delay_s + hop.response_s)
    waiting += MIN_FRAME_BYTES + hop.overhead_bytes + 2 * wire_bytes
    if smallest_bytes is None or smallest_bytes == frame_bytes:
        return math.ceil(waiting / wire_bytes) * cells
    dense_bytes, dense_cells = densest_frame(
        cell_bytes, smallest_bytes, frame_bytes, hop.overhead_bytes
    )
    return math.ceil(waiting * dense_cells / dense_bytes) + cells


def enough_headroom(
    hop: HeadroomLink, frame_bytes: int, length_m: float, cell_bytes: int = CELL_BYTES
) -> int:
    """Cells by the white paper's rule (S23), or the most that a group can need behind this link
    where frames have up to `frame_bytes` and a pause takes `response_s`: the larger."""
    rule = headroom_for(hop.rate_bits_per_s, length_m, cell_bytes)
    most = headroom_bound_cells(
        hop, frame_bytes, smallest_bytes=MIN_FRAME_BYTES, cell_bytes=cell_bytes
    )
    return max(rule, most)


RESPONSE_QUANTA = {10: 60, 25: 80, 40: 118, 100: 394, 400: 905}
"""Quanta of 512 bit times that a receiver of PFC may take to stop, by Gbit/s: IEEE 802.3 31B."""


def egress_needed_cells(
    shared_cells: float, guaranteed_cells: int, headroom_cells: int, *, alpha: float, ports: int
) -> float:
    """What a lossless egress queue must be allowed so that it never drops first (S22).

    (PG share + PG guarantee + headroom) * ports <= queue share + queue guarantee: all groups of
    `ports` paused at once, their packets in one queue. The share of each of N equal groups under a
    dynamic threshold: alpha B / (1 + alpha N), B the shared pool. A top-of-rack switch: 39.
    """
    share = alpha * shared_cells / (1 + alpha * ports)
    return ports * (share + guaranteed_cells + headroom_cells)
