"""Pauses in case files: storms, response times, what comes out and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import small_case

from labtests.core.errors import InventoryError
from labtests.network.cases import CaseFile, Figures, load, run
from labtests.network.cases.figures import PauseFigures
from labtests.network.cases.printing import lines

SMALL = small_case.SMALL.replace("  - {source: b, target: c, priority: 5}\n", "")

EVERYTHING = """\
name: pauses
duration_ms: 0.25
hosts:
  a:
  b: {pfc: [], link_pause: {}}
  c: {receive: {xoff_bytes: 8000, rate_gbit_per_s: 6, buffer_bytes: 20000}}
  d:
switches: {s: {ports: {b: {pfc: [], link_pause: {xoff_bytes: 20000}}}}}
nic: {pfc: [3, 4], pause: {response_quanta: 80, quanta: 500, refresh_share: 0.4}}
switch:
  pfc: [3, 4]
  pause: {response_ns: 777}
  memory: {total_bytes: 400000, xoff_bytes: 15000, xon_offset_bytes: 5000, headroom_bytes: 20000}
links:
  - {between: [a, s], rate_gbit_per_s: 25, length_m: 50}
  - {between: [b, s], rate_gbit_per_s: 25, length_m: 50}
  - {between: [c, s], rate_gbit_per_s: 25, length_m: 50}
  - {between: [d, s], rate_gbit_per_s: 25, length_m: 50}
flows:
  - {source: a, target: c}
  - {source: b, target: d, priority: 5}
  - {source: b, target: c, priority: 4}
  - {source: a, target: d, priority: 4}
storms:
  - {device: d, priorities: [4, 5], start_us: 100, stop_us: 200, quanta: 900, period_us: 7}
  - {device: s, port: b, priorities: all, start_us: 50, stop_us: 60, quanta: 900, period_us: 7}
slow_receivers: [{host: c, rate_gbit_per_s: 1, start_us: 80, stop_us: 140}]
"""


def case(folder: Path, more: str) -> CaseFile:
    return small_case.case(folder, SMALL + more)


def pause(figures: Figures, device: str, port: str, priority: int = 3) -> PauseFigures:
    key = (device, port, priority)
    (found,) = [f for f in figures.pauses if (f.device, f.port, f.priority) == key]
    return found


def test_a_storm_holds_the_switch_as_long_as_it_says(tmp_path: Path) -> None:
    storm = "{device: c, priorities: [3, 4], start_us: 500, stop_us: 1495, period_us: 10}"
    figures = run(case(tmp_path, f"storms: [{storm}]\n"))
    sent, held = pause(figures, "c", "e0"), pause(figures, "s", "c")
    assert sent.sent_frames == held.received_frames == 100
    assert pause(figures, "c", "e0", 4).sent_frames == 100
    assert held.paused_us == pytest.approx(1500, abs=1)  # to the end: 65535 quanta are 1342 us
    assert pause(figures, "s", "c", 4).paused_us == 0  # PFC is off for 4
    assert sent.pausing_us == pytest.approx(held.paused_us, abs=1)
    assert pause(figures, "a", "e0").paused_us > 900  # and the sender in its turn
    assert figures.flows[0].goodput_all_gbit_per_s == pytest.approx(25 * 1024 / 1106 / 4, rel=0.03)
    assert "holding us" in "\n".join(lines(figures))


def test_a_switch_port_can_be_in_a_storm_and_its_peer_be_slow_to_obey(tmp_path: Path) -> None:
    storm = "{device: s, port: a, priorities: [3], start_us: 500, quanta: 1000, period_us: 900}"
    delivered = {}
    for quanta in ("0", "2000", "longest"):
        settings = f"storms: [{storm}]\nnic: {{pfc: [3], pause: {{response_quanta: {quanta}}}}}\n"
        text = SMALL.replace("nic: {pfc: [3]}\n", "")
        file = tmp_path / "case.yaml"
        file.write_text(text + settings, encoding="utf-8")
        figures = run(load(file))
        assert pause(figures, "a", "e0").paused_us == pytest.approx(2 * 20.48, abs=0.001)
        delivered[quanta] = figures.flows[0].delivered_bytes
    assert delivered["0"] == pytest.approx(delivered["longest"], rel=0.001)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("storms: [{device: d, priorities: [3]}]", '13:19: storms[0].device: "d" is not there'),
        ("storms: [{device: s, priorities: [3]}]", "storms[0].port: "),
        ("storms: [{device: s, port: a, priorities: []}]", "storms[0].priorities: "),
        ("storms: [{device: a, port: s, priorities: [3]}]", "a host has one port: leave it out"),
        (
            "storms: [{device: a, priorities: [3], start_us: 9, stop_us: 8}]",
            "13:61: storms[0].stop_us: must be later than start_us",
        ),
        (
            "storms: [{device: a, priorities: [3], quanta: 65536}]",
            "13:47: storms[0].quanta: must be at most 65535",
        ),
    ],
)
def test_mistakes_about_storms_have_a_place(tmp_path: Path, more: str, problem: str) -> None:
    with pytest.raises(InventoryError) as error:
        case(tmp_path, more + "\n")
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("line", "wrong", "problem"),
    [
        (
            "nic: {pfc: [3]}",
            "nic: {pause: {response_quanta: 8, response_ns: 9.0}}",
            "5:32: nic.pause.response_quanta: response_ns is given too: one of them",
        ),
        (
            "switches: {s: }",
            "switches: {s: {pause: {response_quanta: longest}}}",
            "switches.s.pause.response_quanta: longest is known for links of 10, 25, 40, 100, 400",
        ),
        (
            "switch: {pfc: [3]}",
            "switch: {pause: {refresh_share: 1.5}}",
            "6:33: switch.pause.refresh_share: must be at most 1",
        ),
    ],
)
def test_mistakes_about_timing_have_a_place(
    tmp_path: Path, line: str, wrong: str, problem: str
) -> None:
    file = tmp_path / "case.yaml"
    text = SMALL.replace(line, wrong, 1)
    if "longest" in wrong:
        text = text.replace("rate_gbit_per_s: 25", "rate_gbit_per_s: 50")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InventoryError) as error:
        load(file)
    assert problem in str(error.value)


def test_a_slow_receiver_is_felt_by_the_sender_or_discards(tmp_path: Path) -> None:
    slow = "slow_receivers: [{host: c, rate_gbit_per_s: 5, start_us: 0}]\n"
    figures = run(case(tmp_path, slow + "warmup_ms: 0.5\n"))
    assert figures.flows[0].goodput_gbit_per_s == pytest.approx(5 * 1024 / 1086, rel=0.02)
    assert pause(figures, "c", "e0").sent_frames > 3
    assert pause(figures, "s", "c").received_frames == pause(figures, "c", "e0").sent_frames
    assert figures.hosts[2].discards == 0
    file = tmp_path / "lossy.yaml"
    text = SMALL.replace("nic: {pfc: [3]}", "nic: {receive: {rate_gbit_per_s: 5}}")
    file.write_text(text, encoding="utf-8")
    figures = run(load(file))
    assert figures.hosts[2].discards > 0
    assert f" {figures.hosts[2].discards}" in "\n".join(lines(figures))
    assert figures.pauses == ()


def test_a_host_that_stops_for_a_while_goes_on_at_its_own_rate(tmp_path: Path) -> None:
    slow = "slow_receivers: [{host: c, rate_gbit_per_s: 0, start_us: 500, stop_us: 1000}]\n"
    figures = run(case(tmp_path, slow + "sampling: {bin_ms: 0.25}\n"))
    series = figures.flows[0].goodput_series_gbit_per_s
    full = 25 * 1024 / 1106
    assert series[1] == pytest.approx(full, rel=0.02)
    assert series[2] == series[3] == 0
    assert series[5] == pytest.approx(full, rel=0.02)


def test_link_pauses_are_shown_for_the_port(tmp_path: Path) -> None:
    file = tmp_path / "case.yaml"
    text = SMALL.replace("nic: {pfc: [3]}", "nic: {link_pause: {}}")
    text = text.replace("switch: {pfc: [3]}", "switch: {link_pause: {xoff_bytes: 100000}}")
    text += "  - {source: b, target: c, priority: 5}\nwarmup_ms: 0.5\n"
    file.write_text(text, encoding="utf-8")
    figures = run(load(file))
    assert figures.total_goodput_gbit_per_s == pytest.approx(25 * 1024 / 1106, rel=0.01)
    assert figures.dropped_frames == 0
    assert {f.priority for f in figures.pauses} == {None}
    (held,) = [f for f in figures.pauses if f.device == "a"]
    assert held.paused_us > 500
    assert any(line.split()[2] == "all" for line in lines(figures) if line.startswith("a e0"))


@pytest.mark.parametrize(
    ("line", "wrong", "problem"),
    [
        (
            "nic: {pfc: [3]}",
            "nic: {pfc: [3], link_pause: {}}",
            "5:29: nic.link_pause: excludes pfc on the same port: set pfc to []",
        ),
        (
            "switches: {s: }",
            "switches: {s: {link_pause: {}}}",
            "4:28: switches.s.link_pause: excludes pfc on the same port: set pfc to []",
        ),
        (
            "switch: {pfc: [3]}",
            "switch: {link_pause: {}, ports: {a: {pfc: [3]}}}",
            "6:43: switch.ports.a.pfc: excludes link_pause, which is on here",
        ),
        (
            "nic: {pfc: [3]}",
            "nic: {receive: {xoff_bytes: 9, xon_bytes: 9}}",
            "nic.receive: xon 9 bytes is not 0.. below xoff 9",
        ),
        (
            "hosts: {a: , b: , c: }",
            "slow_receivers: [{host: s, rate_gbit_per_s: 1, start_us: 2, stop_us: 2}]\n"
            "hosts: {a: , b: , c: }",
            '3:25: slow_receivers[0].host: "s" is not there: known: a, b, c',
        ),
        (
            "hosts: {a: , b: , c: }",
            "slow_receivers: [{host: a, rate_gbit_per_s: 1, start_us: 2, stop_us: 2}]\n"
            "hosts: {a: , b: , c: }",
            "slow_receivers[0].stop_us: must be later than start_us",
        ),
    ],
)
def test_mistakes_about_links_and_receivers_have_a_place(
    tmp_path: Path, line: str, wrong: str, problem: str
) -> None:
    file = tmp_path / "case.yaml"
    file.write_text(SMALL.replace(line, wrong, 1), encoding="utf-8")
    with pytest.raises(InventoryError) as error:
        load(file)
    assert problem in str(error.value)


def test_interpreted_and_compiled_pauses_agree(tmp_path: Path) -> None:
    file = tmp_path / "case.yaml"
    file.write_text(EVERYTHING, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "labtests", "network", "run", str(file), "--json"],
        env={**os.environ, "LABTESTS_INTERPRETED": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    figures = run(load(file))
    assert json.loads(done.stdout) == json.loads(json.dumps(figures.plain()))
    assert {f.device for f in figures.pauses if f.priority is None} == {"b", "s"}
    assert {f.device for f in figures.pauses if f.sent_frames} == {"c", "d", "s"}
    assert figures.dropped_frames == 0
