"""What a case puts out: every JSON field is documented, series add up, pictures can be read."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.network.cases import CaseFile, Figures, load, run
from labtests.network.cases.drawing import svg
from labtests.network.cases.printing import lines
from labtests.network.reference.hpcc import case_of
from labtests.network.reference.reading import reference

DOCS = Path(__file__).parents[2] / "docs"
FRAME = 1024 + 62 + 20


def star(*flows: str, **more: object) -> CaseFile:
    names = ("a", "b", "c", "d")
    link = {"rate_gbit_per_s": 25.0, "delay_us": 1.0}
    tree: dict[str, Any] = {
        "name": "outputs",
        "duration_ms": 4,
        "hosts": dict.fromkeys(names),
        "switches": {"s": None},
        "nic": {"pfc": [3]},
        "switch": {"pfc": [3], "memory": {"xon_offset_bytes": 5000}},
        "links": [{"between": [name, "s"], **link} for name in names],
        "flows": [{"source": flow[0], "target": flow[1]} for flow in flows],
    }
    return CaseFile.model_validate(tree | more)


@pytest.fixture(scope="module")
def incast() -> Figures:
    return run(star("ad", "bd", "cd"))


def fields_of(record: Any) -> Iterator[str]:
    """The names of all fields of a dataclass and of the dataclasses in it."""
    for name, kind in get_type_hints(record).items():
        yield name
        for part in (kind, *get_args(kind)):
            if is_dataclass(part):
                yield from fields_of(part)


def test_every_json_field_is_in_the_documentation(incast: Figures) -> None:
    told = set(fields_of(Figures)) | set(json.loads(json.dumps(incast.plain())))
    text = (DOCS / "network-cases.md").read_text(encoding="utf-8")
    table = text[text.index("| JSON | unit | what |") : text.index("Queue lengths are bytes")]
    documented = set(re.findall(r"`([a-z_]+)(?:\[\])?`", table))
    assert told <= documented
    assert len(told) > 50


def test_held_time_of_all_bins_is_the_held_time(incast: Figures) -> None:
    assert {pause.device for pause in incast.pauses if pause.paused_us} == {"a", "b", "c"}
    for pause in incast.pauses:
        assert sum(pause.paused_series_us) == pytest.approx(pause.paused_us, abs=1e-6)
        assert all(0 <= us <= incast.bin_ms * 1000 for us in pause.paused_series_us)


@pytest.mark.parametrize("bin_ms", [4.0, 3.5, 0.3, 9.0])
def test_bins_need_not_divide_the_duration(bin_ms: float) -> None:
    figures = run(star("ad", sampling={"bin_ms": bin_ms}))
    flow = figures.flows[0]
    widths = [
        min(figures.bin_ms, 4 - n * figures.bin_ms)
        for n in range(len(flow.goodput_series_gbit_per_s))
    ]
    gbit = sum(w * r / 1000 for w, r in zip(widths, flow.goodput_series_gbit_per_s, strict=True))
    assert gbit == pytest.approx(flow.delivered_bytes * 8e-9, rel=1e-9)
    assert len(figures.queues[0].series_bytes) == len(widths)


def test_a_sized_flow_is_done_after_its_frames_and_one_round_trip() -> None:
    size = 40 * 65536
    flow = {"source": "a", "target": "d", "size_bytes": size, "start_us": 100.0, "tx_depth": 1024}
    figures = run(star(flows=[flow, {"source": "b", "target": "d", "start_us": 3000.0}]))
    ps_per_byte = 320
    data_ps = (size // 1024 + 1) * FRAME * ps_per_byte  # the last one is sent twice: by the switch
    ack_ps = 2 * (66 + 20) * ps_per_byte
    expected_us = (data_ps + ack_ps - 2 * 20 * ps_per_byte) / 1e6 + 4
    assert figures.flows[0].completion_us == pytest.approx(expected_us, abs=1.0)
    assert figures.flows[1].completion_us is None
    assert f"{figures.flows[0].completion_us:.1f}" in "\n".join(lines(figures))


def test_the_picture_is_xml_with_titled_panels_units_and_names(incast: Figures) -> None:
    root = ET.fromstring(svg(incast))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any("Gbit/s" in str(text) for text in texts)
    assert any("kB" in str(text) for text in texts)
    assert any("held by PFC, %" in str(text) for text in texts)
    assert texts.count("time, ms") == 3
    for name in ("a-d", "b-d", "c-d", "s d 3", "a e0 3"):
        assert name in texts


def test_more_flows_than_fit_are_counted_in_the_picture() -> None:
    flows = [{"source": "a", "target": "d", "name": f"f{n}"} for n in range(40)]
    texts = re.findall(r">([^<>]+)</text>", svg(run(star(flows=flows, duration_ms=0.1))))
    shown = [text for text in texts if re.fullmatch(r"f\d+", text)]
    assert len(shown) < 40
    assert f"and {40 - len(shown)} more" in texts


def test_a_plot_has_its_size_and_says_nothing_unless_asked(incast: Figures) -> None:
    plain, told = svg(incast, width_mm=88), svg(incast, width_mm=88, caption=True)
    assert 'width="88.0mm"' in plain
    scale_pt = 88 / float(ET.fromstring(plain).attrib["viewBox"].split()[2]) * 72 / 25.4
    assert 12 * scale_pt == pytest.approx(8.0, rel=0.01)
    words = re.findall(r">([^<>]+)</text>", plain)
    assert not any("simulated" in line for line in words)
    assert "<desc>simulated, seed " in plain
    said = re.findall(r">([^<>]+)</text>", told)
    assert "simulated, seed" in " ".join(line for line in said if line not in words)


def test_lines_differ_without_their_colours_and_a_device_keeps_its_own(incast: Figures) -> None:
    root = ET.fromstring(svg(incast))
    lines = [line.attrib for line in root.iter("{http://www.w3.org/2000/svg}polyline")]
    flows = lines[: len(incast.flows)]
    assert len({line.get("stroke-dasharray") for line in flows}) == len(flows)
    held = [pause for pause in incast.pauses if pause.paused_us > 0]
    colour_of = {
        flow.source: line["stroke"] for flow, line in zip(incast.flows, flows, strict=True)
    }
    pauses = lines[-len(held) :]
    shared = [n for n, pause in enumerate(held) if pause.device in colour_of]
    assert shared
    assert all(pauses[n]["stroke"] == colour_of[held[n].device] for n in shared)


def test_many_lines_are_small_panels_of_one_scale() -> None:
    flows = [{"source": "a", "target": "d", "name": f"f{n}"} for n in range(6)]
    root = ET.fromstring(svg(run(star(flows=flows, duration_ms=0.1))))
    lines = list(root.iter("{http://www.w3.org/2000/svg}polyline"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    lefts = {line.attrib["points"].split(",")[0] for line in lines[:6]}
    assert len(lefts) > 1
    assert all(f"f{n}" in texts for n in range(6))
    assert len({text for text in texts[: texts.index("f5")] if text and "." in text}) <= 2


def test_the_run_written_by_hand_is_the_translated_one() -> None:
    by_hand = load(DOCS / "cases" / "reference-run.yaml")
    parameters = reference().runs["ii_dcqcn_pfc_2to1_25g_s1"]
    links = [
        [a, b, "40Gbps", delay, loss] for a, b, _, delay, loss in parameters["topology"]["links"]
    ]
    again = case_of(
        "reference-run",
        {
            **parameters,
            "topology": {"sw": [0], "links": links},
            "duration_ms": 20,
            "warmup_ms": 10,
            "kmin": 5,
            "kmax": 200,
            "pmax": 0.01,
            "nack_interval_us": 500,
        },
    )
    one, other = run(by_hand), run(again)
    assert one.queues == other.queues
    assert [f.delivered_bytes for f in one.flows] == [f.delivered_bytes for f in other.flows]


def test_a_plot_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    case = str(DOCS / "cases" / "routing-loop.yaml")
    answer = CliRunner().invoke(
        main, ["network", "run", case, "--plot", str(tmp_path / "no" / "x.svg")]
    )
    assert answer.exit_code == 2
    assert "cannot be written" in answer.stderr
