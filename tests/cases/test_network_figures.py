"""Figures of a case: the numbers of its tables where they belong, told apart in grey print too."""

import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from small_case import LINKS, case

from labtests.__main__ import main
from labtests.core.drawing import BLACK
from labtests.network.cases import Figures, run
from labtests.network.cases.drawing import charts, drawings, left_out
from labtests.network.cases.drawing.intervals import dots
from labtests.network.cases.drawing.page import Curve
from labtests.network.cases.drawing.series import colours
from labtests.network.cases.figures import PauseFigures
from labtests.network.cases.replications import intervals
from labtests.network.cases.tidy import delays, slowdowns, tables

SIZED = f"""\
name: sized
duration_ms: 0.4
hosts: {{a: , b: , c: }}
switches: {{s: }}
nic: {{pfc: [3], dcqcn: {{form: timers, cnp_interval_us: 4}}}}
switch:
  pfc: [3]
  ecn: [{{queues: [3, 5], low_bytes: 5000, high_bytes: 50000, probability: 0.2}}]
{LINKS}  - {{source: a, target: b, size_bytes: 3000, name: early}}
  - {{source: a, target: b, size_bytes: 4000, name: late, start_us: 50}}
"""
MANY = SIZED[: SIZED.index("  - {source: a, target: b")] + "".join(
    f"  - {{source: a, target: c, name: more{n}, priority: {n}}}\n" for n in range(6)
)
RANDOM = SIZED + "workloads: [{name: w, pattern: poisson, sizes: storage, load: 0.3}]\n"
UNSIZED = SIZED[: SIZED.index("  - {source: a, target: b")].replace(
    ", dcqcn: {form: timers, cnp_interval_us: 4}", ""
)
BARE = UNSIZED.replace("target: c", "target: c, stop_us: 10") + "warmup_ms: 0.3\n"
SVG = "{http://www.w3.org/2000/svg}"
Place = tuple[float, float]


@pytest.fixture(scope="module")
def sized(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    return run(case(tmp_path_factory.mktemp("sized"), SIZED))


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Figures]:
    random = case(tmp_path_factory.mktemp("random"), RANDOM)
    return [run(random, seed=seed) for seed in (1, 2, 3)]


def drawn(runs: Sequence[Figures], name: str) -> ET.Element:
    return ET.fromstring(dict(drawings(runs))[name])


def words(root: ET.Element) -> list[str]:
    return [str(element.text) for element in root.iter(f"{SVG}text")]


def lines(root: ET.Element) -> list[list[Place]]:
    """The points of each line, on the sheet."""
    found = []
    for line in root.iter(f"{SVG}polyline"):
        pairs = (pair.split(",") for pair in line.attrib["points"].split())
        found.append([(float(x), float(y)) for x, y in pairs])
    return found


def upwards(root: ET.Element, *, logarithmic: bool) -> list[list[float]]:
    """The values of each line, read at the ticks as a reader does."""
    ticks = [
        (float(text.attrib["y"]) - 4, float(str(text.text)))
        for text in root.iter(f"{SVG}text")
        if text.get("text-anchor") == "end"
    ]
    (low_y, low), (high_y, high) = ticks[0], ticks[-1]

    def value(y: float) -> float:
        share = (y - low_y) / (high_y - low_y)
        return low * (high / low) ** share if logarithmic else low + (high - low) * share

    return [[value(y) for _, y in line] for line in lines(root)]


@pytest.mark.parametrize(("name", "round_trip"), [("latency", False), ("rtt", True)])
def test_percentiles_are_those_of_the_table(sized: Figures, name: str, round_trip: bool) -> None:
    rows = [row for row in delays(sized) if row["round_trip"] == round_trip]
    assert len(rows) == 2
    (chart,) = charts([sized])[name]
    shown = upwards(drawn([sized], name), logarithmic=chart.y.logarithmic)
    for row, curve, values in zip(rows, chart.curves, shown, strict=True):
        told = [row[f"{rank}_us"] for rank in ("p50", "p90", "p99", "p99.9", "longest")]
        assert [y for _, y in curve.points] == told
        assert values == pytest.approx(told, rel=0.02, abs=0.3)
        assert curve.name == f"priority {row['priority']}"
    assert {"50", "90", "99", "99.9", "max", "percentile, %"} <= set(words(drawn([sized], name)))


@pytest.mark.parametrize("name", ["completion", "slowdown"])
def test_flows_by_size_are_those_of_the_table(seeds: list[Figures], name: str) -> None:
    rows = list(slowdowns(*seeds))
    assert sum(row["flows"] for row in rows) == sum(
        flow.slowdown is not None for figures in seeds for flow in figures.flows
    )
    root = drawn(seeds, name)
    told = [
        [row[f"{name}_{rank}_us" if name == "completion" else f"{name}_{rank}"] for row in rows]
        for rank in ("p50", "p99")
    ]
    for values, of_rank in zip(upwards(root, logarithmic=True), told, strict=True):
        assert values == pytest.approx(of_rank, rel=0.02)
    assert {"p50", "p99", "1 kB"} <= set(words(root))
    assert [word for word in words(root) if word in {f"{row['flows']}" for row in rows}]


def test_a_size_stands_in_the_middle_of_its_decade(sized: Figures) -> None:
    (chart,) = charts([sized])["completion"]
    assert [[x for x, _ in curve.points] for curve in chart.curves] == [[math.sqrt(1e7)]] * 2
    assert chart.below == ((math.sqrt(1e7), "2"),)
    assert (chart.x.low, chart.x.high, chart.x.names) == (1000, 10000, ("1 kB", "10 kB"))


@pytest.mark.parametrize(("name", "kind"), [("rates", "rate"), ("alpha", "alpha")])
def test_what_dcqcn_does_is_drawn_at_the_ends_of_bins(sized: Figures, name: str, kind: str) -> None:
    (chart,) = charts([sized])[name]
    for curve, values in zip(
        chart.curves, upwards(drawn([sized], name), logarithmic=False), strict=True
    ):
        of = f"{kind} {curve.name}"
        told = [row["value"] for row in tables([sized])["series"] if row["of"] == of]
        assert [y for _, y in curve.points] == told
        assert values == pytest.approx(told, abs=chart.y.high / 500)
        assert curve.points[0][0] == pytest.approx(sized.bin_ms)
        assert curve.points[-1][0] == sized.duration_ms


def test_a_device_has_one_colour_and_lines_differ_without_it(sized: Figures) -> None:
    of = colours([sized])
    assert len({of["a"], of["b"], of["c"]}) == 3
    for name in ("course", "rates", "alpha"):
        chart = charts([sized])[name][0]
        shown = list(drawn([sized], name).iter(f"{SVG}polyline"))[: len(chart.curves)]
        sources = {flow.name: flow.source for flow in sized.flows}
        assert [line.get("stroke") for line in shown] == [
            of[sources[curve.name]] for curve in chart.curves
        ]
    for name in ("latency", "rtt", "completion", "slowdown", "rates", "alpha"):
        root = drawn([sized], name)
        shown = list(root.iter(f"{SVG}polyline"))
        assert len({line.get("stroke-dasharray") for line in shown}) == len(shown)
        signs = Counter(path.get("d") for path in root.iter(f"{SVG}path") if path.get("transform"))
        assert len(signs) == len(shown)
        assert min(signs.values()) > 1  # beside its name, and on its line


def test_what_is_no_device_is_black(sized: Figures) -> None:
    for name in ("latency", "rtt", "completion", "slowdown"):
        strokes = {line.get("stroke") for line in drawn([sized], name).iter(f"{SVG}polyline")}
        assert strokes == {BLACK}


def test_more_lines_than_four_are_small_panels(tmp_path: Path) -> None:
    many = run(case(tmp_path, MANY))
    for name in ("latency", "rates", "alpha"):
        (chart,) = charts([many])[name]
        assert len(chart.curves) > 4
        found = lines(drawn([many], name))
        assert len(found) == len(chart.curves)
        assert len({line[0] for line in found}) > 1
        assert {curve.name for curve in chart.curves} <= set(words(drawn([many], name)))


def test_of_many_flows_those_that_delivered_most_are_drawn(sized: Figures) -> None:
    bins = len(sized.flows[0].rate_series_gbit_per_s)
    flows = tuple(
        replace(sized.flows[0], name=f"f{n}", goodput_series_gbit_per_s=(float(n % 30),) * bins)
        for n in range(7, 37)
    )
    said = words(drawn([replace(sized, flows=flows)], "rates"))
    assert "and 6 more" in said
    shown = {int(word[1:]) % 30 for word in said if re.fullmatch(r"f\d+", word)}
    assert shown == set(range(6, 30))


def test_a_port_that_was_held_in_one_seed_is_half_as_much_in_two(sized: Figures) -> None:
    bins = len(sized.queues[0].series_bytes)
    pause = PauseFigures(
        device="a",
        port="e0",
        priority=3,
        sent_frames=0,
        received_frames=2,
        paused_us=bins,
        pausing_us=0,
        sent_frames_before_warmup=0,
        paused_series_us=(1.0,) * bins,
    )
    once = replace(sized, pauses=(pause,))
    alone, both = (
        charts(runs)["course"][-1].curves[0].points
        for runs in ([once], [once, replace(sized, pauses=())])
    )
    assert alone[0][1] == pytest.approx(100 / (sized.bin_ms * 1000))
    assert [y for _, y in both] == pytest.approx([y / 2 for _, y in alone])


def test_no_sentence_stands_on_a_figure_unless_it_is_asked_for(seeds: list[Figures]) -> None:
    for runs in (seeds[:1], seeds):
        told = dict(drawings(runs, caption=True, width_mm=88))
        for name, svg in drawings(runs, width_mm=88):
            assert 'width="88.0mm"' in svg
            assert not any("simulated" in word for word in words(ET.fromstring(svg)))
            assert "simulated, " in svg[: svg.index("</desc>")]
            assert "simulated," in " ".join(words(ET.fromstring(told[name])))


def test_names_of_axes_are_shorter_where_a_page_is_narrow(seeds: list[Figures]) -> None:
    narrow = {name: words(ET.fromstring(svg)) for name, svg in drawings(seeds, width_mm=60)}
    assert "slowdown of flows" in narrow["slowdown"]
    assert "slowdown of flows (1: as fast as alone)" in words(drawn(seeds, "slowdown"))
    assert "goodput of flows, Gbit/s" in narrow["course"]


def test_packets_of_several_seeds_are_means_with_whiskers(seeds: list[Figures]) -> None:
    (chart,) = charts(seeds)["latency"]
    of_three = [
        row["p99_us"]
        for row in tables(seeds)["delays"]
        if row["priority"] == 3 and not row["round_trip"]
    ]
    (curve,) = (one for one in chart.curves if one.name == "priority 3")
    assert len(of_three) == 3
    assert curve.points[2][1] == pytest.approx(sum(of_three) / 3)
    assert curve.spread[2] == (min(of_three), max(of_three))
    assert chart.y.low <= min(low for low, _ in curve.spread)
    assert chart.y.high >= max(high for _, high in curve.spread)


def curve_of(figures: Sequence[Figures], name: str, flow: str) -> Curve:
    (curve,) = (one for one in charts(figures)[name][0].curves if one.name == flow)
    return curve


def test_series_of_several_seeds_are_means_of_the_flows_of_all(seeds: list[Figures]) -> None:
    shown = {curve.name for curve in charts(seeds)["rates"][0].curves}
    assert shown == {"a-c", "b-c", "early", "late"}  # the workload's are others in each seed
    for name in ("course", "alpha"):
        alone = [curve_of([figures], name, "a-c").points for figures in seeds]
        for place, (_, mean) in enumerate(curve_of(seeds, name, "a-c").points):
            assert mean == pytest.approx(sum(points[place][1] for points in alone) / 3)


def test_seeds_add_intervals_as_wide_as_they_are(seeds: list[Figures]) -> None:
    assert "intervals" not in dict(drawings(seeds[:1]))
    found = {one.name: one for one in intervals(seeds)}
    of = dots(seeds)
    assert list(of)[:3] == ["Gbit/s", "Jain's index", "frames"]
    assert sum(map(len, of.values())) == len(found)
    (goodput,) = of["Gbit/s"]
    told = found["total_goodput_gbit_per_s"]
    assert told.half_width
    assert goodput.mean == told.mean
    assert goodput.high - goodput.low == pytest.approx(2 * told.half_width)
    (queue,) = of["kB"]
    assert queue.mean == pytest.approx(found["longest_queue_bytes"].mean / 1000)
    assert {dot.name for dot in of["us"]} >= {"completion mean", "completion p50", "completion p99"}


def test_dots_and_whiskers_stand_where_their_numbers_are(seeds: list[Figures]) -> None:
    root = drawn(seeds, "intervals")
    (goodput,) = dots(seeds)["Gbit/s"]
    centre = next(root.iter(f"{SVG}circle"))
    bottom = min(float(t.attrib["y"]) for t in root.iter(f"{SVG}text") if t.text == "Gbit/s") - 19
    ticks = [
        (float(text.attrib["x"]), float(str(text.text)))
        for text in root.iter(f"{SVG}text")
        if text.get("text-anchor") == "middle"
        and float(text.attrib["y"]) == pytest.approx(bottom)
        and float(text.attrib["x"]) < 360
    ]
    (low_x, low), (high_x, high) = ticks[0], ticks[-1]
    per_unit = (high_x - low_x) / (high - low)
    at = [low_x + (value - low) * per_unit for value in (goodput.low, goodput.mean, goodput.high)]
    assert float(centre.attrib["cx"]) == pytest.approx(at[1], abs=0.2)
    y = centre.attrib["cy"]
    ends = [
        tuple(map(float, found))
        for path in root.iter(f"{SVG}path")
        for found in re.findall(rf"^M([\d.]+),{y}L([\d.]+),{y}$", path.attrib["d"])
    ]
    assert (at[0], at[2]) == pytest.approx(ends[0], abs=0.2)


def test_a_seed_without_a_quantity_is_said(sized: Figures) -> None:
    undone = tuple(replace(flow, completion_us=None) for flow in sized.flows)
    runs = [sized, replace(sized, seed=2, flows=undone)]
    found = dots(runs)
    assert {dot.name for dot in found["us"]} >= {"completion mean, 1 of 2"}
    assert all(dot.low == dot.mean == dot.high for dot in found["us"])
    assert "completion mean, 1 of 2" in words(drawn(runs, "intervals"))


def test_figures_without_figures_are_left_out(tmp_path: Path) -> None:
    unsized, bare = (run(case(tmp_path, text)) for text in (UNSIZED, BARE))
    assert set(dict(drawings([unsized]))) == {"course", "latency", "rtt"}
    assert set(dict(drawings([bare]))) == {"course"}
    said = left_out(list(dict(drawings([bare]))), seeds=True)
    assert "\n" not in said
    for name in ("latency, rtt: no packets", "completion, slowdown: no flow", "rates, alpha: no"):
        assert name in said
    assert "intervals: one run has none" in said
    assert left_out([*charts([bare])], seeds=False) == ""


def invoked(folder: Path, text: str, *more: object) -> Result:
    file = folder / "asked.yaml"
    file.write_text(text, encoding="utf-8")
    return CliRunner().invoke(main, ["network", "run", str(file), *map(str, more)])


def test_the_command_writes_a_file_for_each_and_says_what_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    done = invoked(tmp_path, UNSIZED, "--figures", folder, "--as", "svg", "--width-mm", 88)
    assert done.exit_code == 0, done.output
    assert {file.name for file in folder.iterdir()} == {"course.svg", "latency.svg", "rtt.svg"}
    assert 'width="88.0mm"' in (folder / "latency.svg").read_text(encoding="utf-8")
    said = done.stderr.splitlines()
    assert str(folder / "rtt.svg") in said
    assert len([line for line in said if line.startswith("left out: ")]) == 1
    assert "total goodput" in done.stdout


@pytest.mark.parametrize("kind", ["pdf", "png"])
def test_figures_are_pdf_unless_asked_otherwise(tmp_path: Path, kind: str) -> None:
    more = [] if kind == "pdf" else ["--as", kind]
    done = invoked(tmp_path, SIZED, "--figures", tmp_path / "made", *more)
    assert done.exit_code == 0, done.output
    begins = {"pdf": b"%PDF", "png": b"\x89PNG"}[kind]
    made = list((tmp_path / "made").iterdir())
    assert {file.stem for file in made} == {
        *("course", "latency", "rtt", "completion", "slowdown", "rates", "alpha")
    }
    assert all(file.read_bytes().startswith(begins) for file in made)


def test_the_command_with_seeds_adds_intervals(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    asked = ("--seeds", 2, "--jobs", 1, "--figures", folder, "--as", "svg", "--caption")
    done = invoked(tmp_path, RANDOM, *asked)
    assert done.exit_code == 0, done.output
    assert "left out" not in done.stderr
    said = " ".join(words(ET.fromstring((folder / "intervals.svg").read_text(encoding="utf-8"))))
    assert "2 seeds" in said


def test_a_folder_that_cannot_be_made_takes_no_result_with_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = invoked(tmp_path, SIZED, "--figures", tmp_path / "file" / "made", "--as", "svg")
    assert done.exit_code == 2
    assert "cannot be made" in done.stderr
    assert "Traceback" not in done.stderr
    assert "total goodput" in done.stdout
