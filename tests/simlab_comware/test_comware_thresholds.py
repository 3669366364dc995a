"""Thresholds of pauses on Comware: made, read back, put back; and the emulated switch pauses by
them."""

import pytest

from labtests.capabilities.records import BufferThresholds

MS = 1_000_000
OUT, IN = "Twenty-FiveGigE1/0/13", "Twenty-FiveGigE1/0/14"
PUBLISHED = (BufferThresholds(priority=5, static=13_000, xon_offset=100, reserved=56),)
"""Of a published configuration of 400G ports; another one has `ingress-buffer dynamic 6`."""


@pytest.mark.parametrize(
    ("earlier", "wanted", "lines"),
    [
        ((), (), []),
        (
            (),
            PUBLISHED,
            ["5 ingress-buffer static 13000", "5 ingress-threshold-offset 100",
             "5 reserved-buffer 56"],
        ),
        (
            PUBLISHED,
            (BufferThresholds(priority=5, dynamic_percent=6, reserved=56),),
            ["undo 5 ingress-buffer static", "undo 5 ingress-threshold-offset",
             "5 ingress-buffer dynamic 6"],
        ),
        (
            (BufferThresholds(priority=3, static=10), *PUBLISHED),
            (BufferThresholds(priority=3, static=20), *PUBLISHED),
            ["3 ingress-buffer static 20"],
        ),
        (PUBLISHED, (), ["undo 5 ingress-buffer static", "undo 5 ingress-threshold-offset",
                         "undo 5 reserved-buffer"]),
    ],
    ids=["nothing", "published", "dynamic", "another number", "the model's own"],
)  # fmt: skip
def test_thresholds_are_made_read_back_and_put_back(bench, driver, earlier, wanted, lines):
    driver.set_buffer_thresholds(IN, earlier)
    text = bench.shown()
    begin = "priority-flow-control dot1p "
    told = [
        f"undo {begin}{each.removeprefix('undo ')}" if each.startswith("undo") else begin + each
        for each in lines
    ]
    assert list(driver.buffer_thresholds_commands(IN, earlier, wanted))[1:-1] == told
    driver.set_buffer_thresholds(IN, wanted)
    assert driver.buffer_thresholds(IN) == wanted
    driver.set_buffer_thresholds(IN, earlier)
    assert driver.buffer_thresholds(IN) == earlier
    assert bench.shown() == text


def test_headroom_and_thresholds_of_a_priority_do_not_touch_each_other(bench, driver):
    driver.set_headroom(IN, ((5, 491),))
    driver.set_buffer_thresholds(IN, PUBLISHED)
    assert driver.headroom(IN) == ((5, 491),)
    driver.set_headroom(IN, ())
    assert driver.buffer_thresholds(IN) == PUBLISHED


# -- what they do ----------------------------------------------------------------------------------


def peak(simulation, switch):
    """The most cells that the port's priority has held."""
    simulation.advance(30 * MS)
    return switch.network.group_counters(IN)[3].peak_shared_cells


@pytest.mark.parametrize("cells", [200, 2000])
def test_a_static_threshold_is_where_pauses_begin(overloaded, switch, driver, cells):
    driver.set_buffer_thresholds(IN, (BufferThresholds(priority=3, static=cells),))
    one_packet = 8
    assert cells - one_packet <= peak(overloaded, switch) <= cells
    assert switch.network.queue_counters(OUT)[3].dropped_packets == 0


def test_a_dynamic_threshold_is_a_share_of_what_is_free(overloaded, switch, driver):
    usual = peak(overloaded, switch)
    assert usual > 5000
    driver.set_buffer_thresholds(IN, (BufferThresholds(priority=3, dynamic_percent=1),))
    overloaded.advance(30 * MS)
    free = switch.network.memory_use().shared_cells
    held = switch.network.group_counters(IN)[3].shared_used_cells
    assert held <= 0.011 * free + 200


def test_what_pauses_end_at_decides_how_many_there_are(overloaded, switch, driver):
    def pauses(offset):
        own = BufferThresholds(priority=3, static=3000, xon_offset=offset)
        driver.set_buffer_thresholds(IN, (own,))
        overloaded.advance(10 * MS)
        before = switch.network.pfc_counters(IN)[3].tx_frames
        overloaded.advance(50 * MS)
        return switch.network.pfc_counters(IN)[3].tx_frames - before

    assert pauses(50) > 5 * pauses(2500) > 0


def test_reserved_cells_are_taken_from_what_is_shared(switch, driver):
    shared = switch.network.memory_use().shared_cells
    driver.set_buffer_thresholds(IN, (BufferThresholds(priority=3, reserved=1008),))
    assert switch.network.memory_use().shared_cells == shared - 1000
    driver.set_buffer_thresholds(IN, ())
    assert switch.network.memory_use().shared_cells == shared
