"""What the plots show: rates between neighbouring samples, gaps where there is no value."""

from collections.abc import Callable
from typing import Any

import pytest

from labtests.report.series import SeriesPlot, panels

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
