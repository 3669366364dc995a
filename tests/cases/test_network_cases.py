"""Case files: the documented ones run, what they say happens, and figures come out."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_case import SMALL, case

from labtests.__main__ import main
from labtests.network.cases import load, run
from labtests.network.cases.building import build, reserved_bytes
from labtests.network.cases.drawing import svg
from labtests.network.cases.printing import lines

DOCS = Path(__file__).parents[2] / "docs"


def test_the_documented_cases_are_the_files_and_run() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (DOCS / "network-cases.md").read_text(), re.S)
    files = sorted((DOCS / "cases").glob("*.yaml"))
    assert sorted(blocks) == sorted(file.read_text(encoding="utf-8") for file in files)
    assert len(blocks) >= 2
    for file in files:
        if file.stem in ("routing-loop", "deadlock", "pause-storm"):
            continue  # below, and test_network_guards.py
        figures = run(load(file))
        assert figures.total_goodput_gbit_per_s > 30
        assert figures.dropped_frames == 0


def test_the_documented_loop_takes_r_ttl_over_n_of_its_links() -> None:
    loop = load(DOCS / "cases" / "routing-loop.yaml")
    figures = run(loop)
    assert figures.total_goodput_gbit_per_s == 0
    offered = 2e9 * 2e-3 / 8000
    assert [(d.switch, d.port) for d in figures.drops] == [("s4", "s3")]  # hop 64 leads to s4
    assert figures.drops[0].ttl == figures.dropped_frames == pytest.approx(offered, abs=2)


def test_a_static_route_is_taken_and_ecmp_uses_both_ways(tmp_path: Path) -> None:
    detour = """\
name: detour
duration_ms: 1
hosts: {a: , c: }
switches: {s: , t: , u: }
links:
  - {between: [a, s], rate_gbit_per_s: 25, length_m: 5}
  - {between: [s, t], rate_gbit_per_s: 25, length_m: 5}
  - {between: [s, u], rate_gbit_per_s: 25, length_m: 5}
  - {between: [t, u], rate_gbit_per_s: 25, length_m: 5}
  - {between: [t, c], rate_gbit_per_s: 25, length_m: 5}
flows: [{source: a, target: c, qps: 64, message_bytes: 1024, priority: 0}]
sampling: {queues: [{switch: s, port: t, queue: 0}, {switch: s, port: u, queue: 0}]}
"""
    static = detour.replace("s: ,", "s: {routes: [{to: any, via: u}]},")
    both = detour.replace("s: ,", "s: {routes: [{to: c, via: [t, u]}]},")
    for text, ways in ((detour, [True, False]), (static, [False, True]), (both, [True, True])):
        figures = run(case(tmp_path, text))
        assert [queue.forwarded_packets > 1000 for queue in figures.queues] == ways
        assert figures.total_goodput_gbit_per_s > 20


TWO_SWITCHES = """\
name: two-switches
duration_ms: 2
hosts: {a: , b: , c: }
switches: {s: , t: }
nic: {pfc: [3]}
switch: {pfc: [3], memory: {total_bytes: 400000, headroom_bytes: 20000, egress_limit_bytes: 50000}}
links:
  - {between: [a, s], rate_gbit_per_s: 25, length_m: 5}
  - {between: [b, s], rate_gbit_per_s: 25, length_m: 5}
  - {between: [s, t], rate_gbit_per_s: 25, length_m: 5}
  - {between: [t, c], rate_gbit_per_s: 10, length_m: 5}
flows:
  - {source: a, target: c}
  - {source: b, target: c}
"""


def test_maps_that_differ_misclassify(tmp_path: Path) -> None:
    """DSCP 24 is lossless in s; where t thinks otherwise, it drops and never pauses."""
    same = run(case(tmp_path, TWO_SWITCHES))
    assert same.dropped_frames == 0
    assert any(pause.device == "t" and pause.sent_frames for pause in same.pauses)
    for wrong in ("dscp_dot1p: {24: 2}", "trust: none", "trust: dot1p"):
        text = TWO_SWITCHES.replace("t: }", f"t: {{{wrong}}}}}")
        other = run(case(tmp_path, text))
        assert other.dropped_frames > 100, wrong
        assert all(drop.switch == "t" for drop in other.drops)
        assert not any(p.sent_frames for p in other.pauses if p.device == "t" and p.port == "s")
    queue = run(case(tmp_path, TWO_SWITCHES.replace("t: }", "t: {dot1p_lp: {3: 6}}}")))
    assert queue.queues[0].forwarded_packets == 0
    assert queue.dropped_frames == 0


def test_a_nic_that_maps_otherwise_does_not_obey(tmp_path: Path) -> None:
    text = TWO_SWITCHES.replace("a: ,", "a: {dscp: {24: 5}},")
    figures = run(case(tmp_path, text))
    assert {d.port for d in figures.drops if d.switch == "s"} >= {"a"} or figures.dropped_frames
    assert figures.flows[1].retransmitted_packets == 0


def test_events_happen_when_they_are_due(tmp_path: Path) -> None:
    events = """\
events:
  - {at_us: 500, do: down, device: s, port: t, until_us: 1000}
  - {do: lose, device: t, port: c, frames: [7], of: data}
  - {do: corrupt, device: a, every: 100, of: data, until_us: 400}
"""
    figures = run(case(tmp_path, TWO_SWITCHES + events + "sampling: {bin_ms: 0.25}\n"))
    silent = [sum(f.goodput_series_gbit_per_s[n] for f in figures.flows) for n in range(8)]
    assert silent[0] > 5
    assert silent[3] == 0
    places = {(d.switch, d.port): d for d in figures.drops}
    assert places["c", "e0"].lost_on_wire == 1
    assert places["s", "a"].crc >= 2
    assert places["s", "t"].link_down > 0


def test_a_loop_of_routes_comes_and_goes(tmp_path: Path) -> None:
    loop = (DOCS / "cases" / "routing-loop.yaml").read_text()
    loop += """\
events:
  - {at_us: 500, do: route, device: s4, to: target}
  - {at_us: 1500, do: route, device: s4, to: target, via: s1}
"""
    figures = run(case(tmp_path, loop))
    rates = figures.flows[0].goodput_series_gbit_per_s  # of 40 us each
    assert [number for number, rate in enumerate(rates) if rate > 1.9] == list(range(13, 37))


def test_the_parking_lot_gives_ports_and_not_flows_the_same() -> None:
    figures = run(load(DOCS / "cases" / "parking-lot.yaml"))
    rates = {flow.name: flow.goodput_gbit_per_s for flow in figures.flows}
    for name, share in (("far1", 1 / 6), ("far2", 1 / 6), ("near1", 1 / 3), ("near2", 1 / 3)):
        expected = share * 40 * 1024 / 1106
        assert rates[f"{name}-receiver"] == pytest.approx(expected, rel=0.01)


def test_same_seed_same_figures_and_series_add_up(tmp_path: Path) -> None:
    small = case(tmp_path, SMALL)
    figures = run(small)
    assert figures == run(small)
    for flow in figures.flows:
        total_gbit = sum(flow.goodput_series_gbit_per_s) * figures.bin_ms / 1000
        assert total_gbit == pytest.approx(flow.delivered_bytes * 8e-9, rel=1e-9)
    assert {(q.port, q.queue) for q in figures.queues} == {("c", 3), ("c", 5)}


def test_starts_and_stops_are_kept(tmp_path: Path) -> None:
    text = SMALL.replace("target: c, priority: 5}", "target: c, start_us: 1000, stop_us: 1500}")
    second = run(case(tmp_path, text.replace("duration_ms: 2", "duration_ms: 5"))).flows[1]
    sending = [number for number, rate in enumerate(second.goodput_series_gbit_per_s) if rate]
    assert min(sending) == 10  # bins of 100 us
    assert 0 < second.goodput_all_gbit_per_s < 25 * 1024 / 1106
    assert sending == list(range(10, max(sending) + 1))
    assert max(sending) < 49  # what was queued has drained before the end


def test_loss_is_counted_on_the_wire_and_repaired(tmp_path: Path) -> None:
    text = SMALL.replace("length_m: 5}", "length_m: 5, loss: 0.01}", 1)
    figures = run(case(tmp_path, text.replace("a, target: c", "a, target: c, nack_repeat_us: 10")))
    assert figures.dropped_frames == 0
    assert sum(drop.lost_on_wire for drop in figures.drops) > 0
    assert figures.flows[0].retransmitted_packets > 0


def test_figures_come_as_text_json_and_svg(tmp_path: Path) -> None:
    file, plot = tmp_path / "case.yaml", tmp_path / "out.svg"
    file.write_text(SMALL, encoding="utf-8")
    answer = CliRunner().invoke(main, ["network", "run", str(file), "--json", "--plot", str(plot)])
    assert answer.exit_code == 0, answer.output
    told = json.loads(answer.stdout)
    figures = run(load(file))
    assert told["total_goodput_gbit_per_s"] == figures.total_goodput_gbit_per_s
    assert plot.read_text(encoding="utf-8") == svg(figures)
    held = sum(pause.paused_us > 0 for pause in figures.pauses)
    assert svg(figures).count("<polyline") == 4 + held
    text = "\n".join(lines(figures))
    assert "a-c" in text
    assert "s c 3" in text


MEMORY = """\
switch:
  pfc: [3]
  memory:
    total_bytes: 2000000
    headroom_bytes: 2080
    headroom_pool_bytes: 4000
    egress_alpha: 0.5
    egress_shared_bytes: 400000
    groups:
      - {priorities: [3], alpha: 0.5, xon_offset_bytes: 3120}
"""


def test_all_of_the_memory_can_be_set_and_every_drop_has_one_place(tmp_path: Path) -> None:
    text = SMALL.replace("switch: {pfc: [3]}\n", MEMORY).replace("length_m: 5}", "length_m: 300}")
    text = text.replace("duration_ms: 2", "duration_ms: 8")
    text = text.replace("target: c, priority: 5}", "target: c}") + (
        "  - {source: a, target: c, kind: udp, rate_gbit_per_s: 20, priority: 0}\n"
        "  - {source: b, target: c, kind: udp, rate_gbit_per_s: 20, priority: 0}\n"
        "sampling: {queues: [{switch: s, port: c, queue: 3}, {switch: s, port: c, queue: 0}]}\n"
    )
    figures = run(case(tmp_path, text))
    (memory,) = figures.memory
    groups = {(group.port, group.priority): group for group in memory.groups}
    headroom = sum(group.headroom_drops for group in groups.values())
    assert headroom == sum(drop.headroom for drop in figures.drops) > 0
    lossless, lossy = figures.queues
    assert lossless.dropped_packets == headroom
    assert lossy.dropped_packets == lossy.tail_dropped_packets > 0
    assert figures.dropped_frames == headroom + lossy.dropped_packets
    limit = 1664 + 400_000 * 0.5 / 1.5
    assert memory.peak_queue_bytes["c/0"] == pytest.approx(limit, abs=8 * 208)
    assert 0 < memory.peak_headroom_pool_bytes <= memory.headroom_pool_bytes == 3952
    assert memory.peak_used_bytes <= memory.total_bytes
    assert memory.peak_headroom_bytes["a/3"] == groups["a", 3].peak_headroom_bytes <= 6032
    shown = "\n".join(lines(figures))
    assert re.search(rf"^s a +0 +{groups['a', 3].headroom_drops} +0 ", shown, re.M)
    assert f"s a 3  {groups['a', 3].peak_shared_bytes}" in re.sub(" {2,}", "  ", shown)


@pytest.mark.parametrize(
    "switch",
    [
        "{pfc: [3]}",
        "{pfc: [3, 4], headroom_bytes: 41600}",
        "{pfc: [3], ports: {a: {pfc: []}, b: {headroom_bytes: 2080}}}",
        "{pfc: [3, 5], memory: {headroom_pool_bytes: 41600, groups: [{priorities: [5, 6], "
        "guaranteed_bytes: 2080, headroom_bytes: 4160}]}}",
    ],
)
def test_what_is_reserved_is_what_the_network_takes_from_the_total(
    tmp_path: Path, switch: str
) -> None:
    small = case(tmp_path, SMALL.replace("{pfc: [3]}\nlinks", f"{switch}\nlinks"))
    use = build(small).switch("s").memory_use()
    assert reserved_bytes(small, "s") == 208 * (use.total_cells - use.shared_cells)
