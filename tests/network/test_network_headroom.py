"""The headroom rules, held to the numbers of their sources and to the packets themselves."""

from dataclasses import replace

import pytest
from network_star import Lab

from labtests.core.headroom import (
    HeadroomLink,
    densest_frame,
    egress_needed_cells,
    headroom_bound_cells,
)
from labtests.network import SwitchMemory, headroom_for


def test_the_documents_two_numbers() -> None:
    assert headroom_for(100 * 10**9, 100) == 408
    assert headroom_for(25 * 10**9, 15) == 98


def test_the_smallest_frame_needs_most_cells_of_208_and_the_largest_most_cells_of_one() -> None:
    assert densest_frame(208) == (84, 1)
    assert densest_frame(1) == (1538, 1518)
    assert densest_frame(80) == (101, 2)  # 81 B: two cells
    assert headroom_for(10**11, 100, cell_bytes=1) == pytest.approx(
        headroom_for(10**11, 100) * 84 * 1518 / 1538, rel=0.002
    )


def test_the_bound_in_cells_grows_by_whole_frames() -> None:
    # 100G: 12.5 B/ns; 1106 B frames are 1126 B on the wire and 6 cells
    near, far = (HeadroomLink(rate_bits_per_s=10**11, delay_s=delay_s) for delay_s in (0.0, 1e-6))
    assert headroom_bound_cells(near, 1106) == 3 * 6  # the PFC frame's time is one more
    assert headroom_bound_cells(far, 1106) == 25 * 6  # 25084 B: 22.3 frames, and two
    assert headroom_bound_cells(replace(far, response_s=1e-6), 1106) == 36 * 6
    mixed = headroom_bound_cells(far, 1106, smallest_bytes=64)
    assert mixed == pytest.approx((25_084 + 2 * 1126) / 84 + 6, abs=1)


def test_a_lossless_queue_holds_no_more_than_the_inequality_says(star: Lab) -> None:
    senders, alpha = 6, 1 / 4
    bound = headroom_bound_cells(HeadroomLink(rate_bits_per_s=25 * 10**9, delay_s=200e-9), 1106)
    memory = SwitchMemory(
        total_bytes=2_000_000, alpha=alpha, xon_offset_cells=12, headroom_cells=bound
    )
    lab = star(senders + 1, rate_bits_per_s=25 * 10**9, length_m=40, memory=memory)
    lab.without_dcqcn().lossless(3)
    for host in range(1, senders + 1):
        lab.rc(host, 3)
    lab.run_ms(5)
    shared = lab.switch.memory_use().shared_cells
    needed = egress_needed_cells(shared, 8, bound, alpha=alpha, ports=senders)
    peak = lab.switch.queue_counters("p0")[3].peak_cells
    assert needed - senders * bound < peak <= needed
    assert sum(lab.switch.drop_counters(f"p{i}").headroom_drops for i in range(senders + 1)) == 0
