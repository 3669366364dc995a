"""How much headroom a lossless priority group needs: the rules of the sources, worked out.

Headroom takes what still arrives when a group has asked its peer to stop. Rates in bits/s, lengths
in m, times in s; bytes are frames with FCS unless said otherwise.
"""

FRAME_BITS = 1518 * 8
SMALLEST_ON_WIRE_BITS = 84 * 8


def headroom_for(rate_bits_per_s: int, length_m: float) -> int:
    """Cells that may still arrive after an xoff, by the white paper's rule (S23).

    (1.5 us processing + two full frames + there and back on the cable) * rate, all of it in 64 B
    packets of one cell each. 100G and 100 m: 408 cells; 25G and 15 m: 98 cells.
    """
    fixed_s = 1.5e-6 + 2 * length_m / 2e8
    bits = fixed_s * rate_bits_per_s + 2 * FRAME_BITS
    return round(bits / SMALLEST_ON_WIRE_BITS)
