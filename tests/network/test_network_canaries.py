"""What is written outside of a table is found; and every table has its guards."""

import numba
import pytest
from network_canaries import GUARD_ROWS, Canaries
from network_star import Lab

from labtests.network.rows import flow_at, lane_at
from labtests.network.tables import TABLE_TYPES


@numba.njit
def write_lane(t: int, row: int) -> None:
    lane_at(t, row).rx_bytes = 1


@numba.njit
def write_flow(t: int, row: int) -> None:
    flow_at(t, row).kind = 0


@pytest.mark.parametrize("row", [-1, -GUARD_ROWS])
def test_a_row_before_a_table_is_found(star: Lab, canaries: Canaries, row: int) -> None:
    write_lane(star(2).network.state, row)
    assert canaries.damaged() == ["before lane"]


@pytest.mark.parametrize("beyond", [0, GUARD_ROWS - 1])
def test_a_row_behind_a_table_is_found(star: Lab, canaries: Canaries, beyond: int) -> None:
    network = star(2).network
    write_flow(network.state, len(network.tables.flow) + beyond)
    assert canaries.damaged() == ["behind flow"]


def test_the_first_and_last_row_are_no_damage(star: Lab, canaries: Canaries) -> None:
    network = star(2).network
    write_flow(network.state, 0)
    write_lane(network.state, len(network.tables.lane) - 1)
    assert canaries.damaged() == []


def test_a_table_that_was_outgrown_is_still_looked_at(star: Lab, canaries: Canaries) -> None:
    network = star(2).network
    small, rows = network.tables, len(network.tables.flow)
    state = network.state
    write_flow(state, rows)
    lab = star(2)
    for _ in range(2):
        lab.network.make_room()
    assert len(lab.network.tables.packet) > len(small.packet)
    assert canaries.damaged() == ["behind flow"]


def test_every_table_of_a_network_has_guards(star: Lab, canaries: Canaries) -> None:
    made = star(2).network.tables
    for name in TABLE_TYPES:
        whole = getattr(made, name)
        while whole.base is not None:
            whole = whole.base
        assert any(block is whole for _, block in canaries._blocks), name
