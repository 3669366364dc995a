"""What the plots show: rates between neighbouring samples, gaps where there is no value."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from labtests.report.exact import sawteeth
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


def test_an_alarm_is_an_event_at_its_time() -> None:
    alarm = {"device": "S6550", "port": "Twenty-FiveGigE1/0/13", "index": 3, "kind": "drops"}
    alarms = [{**alarm, "text": "egress", "time_s": at} for at in (12.5, 13.5)]

    (line,) = panel_of({"start_s": 10.0, "alarms": alarms}, "Alarms, pushed").series

    assert line.name == "S6550 Twenty-FiveGigE1/0/13 queue 3: drops, egress"
    assert [point for point in line.points if point[2]] == [(2.5, 2.6, 1), (3.5, 3.6, 1)]
    assert line.gaps == 0
    assert not panels({"start_s": 10.0, "alarms": []})


# -- the exact state of a simulated lab ------------------------------------------------------------

SOURCE = "from the simulation's exact state"


def traced(paused: list[int]) -> Json:
    place = {"device": "S<1>", "port": "E1", "priority": 3, "source": SOURCE}
    rows = [
        {
            **place,
            "time_s": 12 + n / 1e6,
            "shared_bytes": 9000 + n,
            "headroom_bytes": 40,
            "paused": p,
        }
        for n, p in enumerate(paused)
    ]
    return {"name": "PFC on", "start_s": 10.0, "exact_state": rows}


def test_the_sawtooth_says_that_it_is_of_the_simulation_and_no_evidence() -> None:
    (drawn,) = sawteeth([traced([0, 1, 1, 0, 1])])

    assert SOURCE in unescape(drawn)
    assert "no verdict rests on it" in drawn
    assert "PFC on: S&lt;1&gt; E1, priority 3" in drawn
    assert ">2.0000<" in drawn  # on the time of the plots
    assert drawn.count('stroke-width="5"') == 2  # it paused twice


def test_what_never_paused_and_went_on_again_is_no_sawtooth() -> None:
    phases = [traced([0, 0, 0]), traced([1, 1]), {"name": "of hardware", "start_s": 1.0}]
    assert list(sawteeth(phases)) == []


def test_samples_and_states_at_one_moment_are_drawn(sample_of: Sample) -> None:
    phase = traced([0, 1, 0])
    for row in phase["exact_state"]:
        row["time_s"] = 12.0
    (drawn,) = sawteeth([phase])
    assert drawn.startswith("<svg")

    close = [sample_of("pfc_tx_frames", t, v) for t, v in [(0.0, 0), (5e-324, 5), (1.0, 6)]]
    (line,) = panel_of({"start_s": 0.0, "samples": close}, "PFC pause frames").series
    assert [value for _, _, value in line.points] == [None, 1.0]
