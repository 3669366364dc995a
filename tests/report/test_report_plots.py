"""What the plots show: rates between neighbouring samples, gaps where there is no value."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

from labtests.report.plots import LEFT, LINES_LIMIT, RIGHT, WIDTH, draw
from labtests.report.series import Series, SeriesPlot, panels, span_s

Json = dict[str, Any]
Sample = Callable[..., Json]


def panel_of(phase: Json, title: str) -> SeriesPlot:
    (found,) = [panel for panel in panels(phase) if panel.title == title]
    return found


def test_a_rate_is_the_difference_of_neighbours_over_the_time_between_them(
    sample_of: Sample,
) -> None:
    values = [(10.0, 0), (11.0, 900), (13.0, 2700)]
    phase = {"start_s": 10.0, "samples": [sample_of("pfc_tx_frames", t, v) for t, v in values]}

    (line,) = panel_of(phase, "PFC pause frames").series

    assert line.name == "S6550 Twenty-FiveGigE1/0/14 priority 3 sent"
    assert line.points == ((0.0, 1.0, 900.0), (1.0, 3.0, 900.0))


def test_samples_in_any_order_give_the_same_line(sample_of: Sample) -> None:
    samples = [sample_of("pfc_tx_frames", 10.0 + n, 900 * n) for n in range(4)]

    assert panels({"start_s": 10.0, "samples": samples}) == panels(
        {"start_s": 10.0, "samples": samples[::-1]}
    )


@pytest.mark.parametrize(
    "broken", [None, 100, "7", True], ids=["missing", "backwards", "text", "truth value"]
)
def test_a_value_that_is_missing_or_ran_backwards_is_a_gap_not_zero(
    sample_of: Sample, broken: object
) -> None:
    samples = [sample_of("pfc_tx_frames", float(n), 900 * (n + 1)) for n in range(4)]
    samples[2]["value"] = broken

    (line,) = panel_of({"samples": samples}, "PFC pause frames").series

    assert line.points[0][2] == 900.0
    assert line.points[1][2] is None
    assert 0.0 not in [value for _, _, value in line.points]
    assert line.gaps >= 1


def test_two_samples_of_one_moment_give_no_rate(sample_of: Sample) -> None:
    samples = [sample_of("pfc_tx_frames", t, v) for t, v in ((1.0, 5), (1.0, 9), (2.0, 20))]

    (line,) = panel_of({"samples": samples}, "PFC pause frames").series

    assert [value for _, _, value in line.points] == [None, 11.0]


def test_a_level_is_shown_as_it_is_and_may_fall(sample_of: Sample) -> None:
    samples = [
        sample_of("queue_length_packets", t, v) for t, v in ((0.0, 5), (1.0, 2), (2.0, None))
    ]

    (line,) = panel_of({"samples": samples}, "Queue length").series

    assert line.points == ((0.0, 1.0, 5), (1.0, 2.0, 2), (2.0, 2.0, None))


def test_lines_that_stay_at_zero_are_counted_and_those_without_values_named(
    sample_of: Sample,
) -> None:
    samples = [
        sample_of("dropped_packets", float(n), value, index=index)
        for n in range(3)
        for index, value in ((0, 0), (1, 0), (2, None), (3, 10 * n))
    ]

    panel = panel_of({"samples": samples}, "Dropped packets")

    assert [line.name[-7:] for line in panel.series] == ["ority 3"]
    assert panel.silent == 2
    assert panel.unknown == ("S6550 Twenty-FiveGigE1/0/14 priority 2",)


def test_a_line_at_zero_with_gaps_is_not_called_silent(sample_of: Sample) -> None:
    samples = [sample_of("dropped_packets", float(n), v) for n, v in enumerate((0, 0, None, 0))]

    panel = panel_of({"samples": samples}, "Dropped packets")

    assert (panel.silent, len(panel.series)) == (0, 1)
    assert panel.series[0].gaps == 2


def test_goodput_is_drawn_in_gbit_per_second_from_the_senders_own_rows(run: Json) -> None:
    panel = panels(run["tests"][0]["phases"][0])[0]

    assert (panel.title, panel.unit) == ("Goodput per sender", "Gb/s")
    assert [line.name for line in panel.series] == [
        "ServerA → ServerC (iperf3)",
        "ServerB → ServerC (iperf3)",
    ]
    assert panel.series[1].points[0] == (1.0, 2.0, 4.3)


def test_a_sender_without_rows_is_named(run: Json) -> None:
    phase = run["tests"][0]["phases"][0]
    phase["flows"][0]["intervals"] = []

    assert panels(phase)[0].unknown == ("ServerA → ServerC (iperf3)",)


# -- the drawing -------------------------------------------------------------------------------


def test_all_plots_of_a_phase_share_one_time_axis(run: Json) -> None:
    phase = run["tests"][0]["phases"][0]
    found = panels(phase)
    plots = [plot for plot in draw(found, span_s(phase, found)) if plot.svg]

    grids = []
    for plot in plots:
        root = ET.fromstring(str(plot.svg))
        ways = [path.get("d") or "" for path in root.iterfind("g/path")]
        upright = [re.fullmatch(r"M([0-9.]+),[0-9.]+L\1,[0-9.]+", way) for way in ways]
        grids.append([match[1] for match in upright if match])
    axes = ["seconds since the phase began" in str(plot.svg) for plot in plots]

    assert len(plots) == 3
    assert grids[0] == grids[1] == grids[2]
    assert len(grids[0]) > 2
    assert axes == [False, False, True]


def test_every_drawing_is_well_formed_and_stays_inside_its_frame(run: Json) -> None:
    phase = run["tests"][0]["phases"][0]
    found = panels(phase)

    for plot in draw(found, span_s(phase, found)):
        if plot.svg is None:
            continue
        root = ET.fromstring(str(plot.svg))
        path = root.find("path")
        assert path is not None
        assert path.find("title") is not None
        for x in re.findall(r"[MLH]([0-9.]+)", path.get("d") or ""):
            assert LEFT <= float(x) <= WIDTH - RIGHT


def test_the_pen_is_lifted_over_a_gap() -> None:
    line = Series(name="x", points=((0, 1, 5.0), (1, 2, None), (2, 3, 5.0)))
    (plot,) = draw((SeriesPlot(title="t", unit="u", series=(line,)),), 3.0)

    path = re.search(r'<path class="lt-line[^>]* d="([^"]+)"', str(plot.svg))

    assert path is not None
    assert path[1].count("M") == 2
    assert plot.legend[0].note == "1 of 3 values missing"


def test_each_point_tells_its_value_and_unit() -> None:
    line = Series(name="A", points=((0.0, 0.5, 4.3),))
    (plot,) = draw((SeriesPlot(title="t", unit="Gb/s", series=(line,)),), 1.0)

    assert "<title>A\n0.00 to 0.50 s: 4.3 Gb/s</title>" in str(plot.svg)


def test_a_name_in_a_drawing_is_escaped() -> None:
    line = Series(name="</title><script>x</script>", points=((0, 1, 1.0),))
    (plot,) = draw((SeriesPlot(title='"><script>', unit="<u>", series=(line,)),), 1.0)

    assert "<script" not in str(plot.svg)
    assert ET.fromstring(str(plot.svg)) is not None


def test_more_lines_than_can_be_told_apart_are_named_instead() -> None:
    lines = tuple(Series(name=f"q{n}", points=((0, 1, float(n)),)) for n in range(LINES_LIMIT + 2))
    (plot,) = draw((SeriesPlot(title="t", unit="u", series=lines),), 1.0)

    assert len(plot.legend) == LINES_LIMIT
    assert plot.left_out == ("q1", "q0")


@pytest.mark.parametrize("high", [1e-300, 1e-9, 0.3, 1.0, 7.0, 99_393.0, 1e12, 1e300])
def test_an_axis_has_round_figures_and_room_for_the_highest_value(high: float) -> None:
    line = Series(name="x", points=((0, 1, high),))
    (plot,) = draw((SeriesPlot(title="t", unit="u", series=(line,)),), 1.0)

    root = ET.fromstring(str(plot.svg))
    ys = [float(circle.get("cy") or "nan") for circle in root.iter("circle")]
    ticks = [text.text for text in root.iter("text")]

    assert all(0 <= y <= 128 for y in ys)
    assert "0" in ticks
    assert len(ticks) >= 3
