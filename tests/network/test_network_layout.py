"""Where things lie, in memory and in the calendar, changes nothing that can be counted."""

import numpy as np
import pytest
from network_star import Lab

from labtests.network.layout import ALIGNED_ROW, LINE_BYTES, grown, table
from labtests.network.tables import TABLE_TYPES, Tables

LONG = [name for name, row in TABLE_TYPES.items() if 8 * row.itemsize >= LINE_BYTES]
"""Eight rows of them fill lines of the processor's; shorter ones lie as they come."""
BY_LANE = ("queue", "lane", "guard")
CALENDAR = {"addresses", "slot", "bucket", "word", "level"}
OF_CALENDAR = {"opened", "bucket_shift", "woken", "openings"}


def run_incast(star: Lab, wider: int) -> Tables:
    """1 ms of 6 to 1 with pauses; buckets 2**wider times as wide at first."""
    lab = star(7).lossless(3)
    lab.network.tables.clock[0].bucket_shift += wider
    for host in range(1, 7):
        lab.rc(host, 3)
    lab.run_ms(1)
    return lab.network.tables


def incast(star: Lab, wider: int) -> dict[str, list[int]]:
    """Every column after that."""
    tables = run_incast(star, wider)
    return {
        f"{name}.{column}": getattr(tables, name)[column].tolist()
        for name in set(tables._fields) - CALENDAR
        for column in getattr(tables, name).dtype.names
        if column not in OF_CALENDAR
    }


class TestLayoutOfTables:
    @pytest.mark.parametrize("name", LONG)
    def test_long_rows_begin_with_a_line_or_their_priority_3_does(self, name):
        rows = table(TABLE_TYPES[name], 32)
        places = [rows[i : i + 1].ctypes.data % LINE_BYTES for i in range(ALIGNED_ROW, 32, 8)]
        assert set(places) == {0}

    @pytest.mark.parametrize("name", BY_LANE)
    def test_a_column_of_all_ports_asks_for_all_places_of_a_cache(self, name):
        lines_a_port = 8 * TABLE_TYPES[name].itemsize / LINE_BYTES
        assert lines_a_port % 2 == 1

    def test_a_grown_table_has_what_it_had(self):
        rows = table(TABLE_TYPES["packet"], 5)
        rows.psn, rows.ecn = np.arange(5) << 40, np.arange(5)
        more = grown(rows, 9)
        assert more.psn.tolist() == [0, 1 << 40, 2 << 40, 3 << 40, 4 << 40, 0, 0, 0, 0]
        assert more.ecn.tolist() == [0, 1, 2, 3, 4, 0, 0, 0, 0]


class TestSizes:
    @pytest.mark.parametrize(
        "column",
        [
            *("lane.headroom_used", "lane.peak_headroom", "lane.pool_used", "lane.pool_limit"),
            *("lane.ingress_cells", "lane.peak_cells", "lane.headroom_cells", "lane.xoff_cells"),
            *("queue.cells", "queue.peak_cells", "switch.used_cells", "switch.pool_used"),
        ],
    )
    def test_a_terabyte_in_cells_of_a_byte_can_be_counted(self, column):
        name, _, field = column.partition(".")
        row = table(TABLE_TYPES[name], 1)
        row[field] = 2**40
        assert int(row[field][0]) == 2**40


class TestWidthOfBuckets:
    @pytest.mark.parametrize("wider", [-6, -2, 3, 7])
    def test_the_order_of_events_does_not_depend_on_it(self, star, wider):
        usual = incast(star, 0)
        assert sum(usual["control.tx_frames"]) > 0  # pauses
        assert incast(star, wider) == usual

    @pytest.mark.parametrize("wider", [-6, 1])
    def test_those_that_do_not_fit_come_to_fit(self, star, wider):
        usual = run_incast(star, 0).clock[0].bucket_shift
        assert abs(run_incast(star, wider).clock[0].bucket_shift - usual) <= 1
