"""Case files with every kind of mistake: refused with file, line and column; none crashes."""

import copy
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from labtests.core.errors import InventoryError
from labtests.network.cases import load
from labtests.network.cases.building import build, start

LINES = """\
name: full
duration_ms: 2
warmup_ms: 1
hosts: {a: {pfc: [3]}, b: , c: }
switches:
  s: {ports: {c: {schedule: {discipline: sp}, rate_limits: [{queues: [6], rate_gbit_per_s: 1}]}}}
nic: {pfc: [3], dcqcn: {form: timers, alpha_period_us: 55, cnp_interval_us: 4}}
switch:
  pfc: [3]
  memory: {total_bytes: 9000000, alpha: 0.125, headroom_bytes: 20000}
  ecn: [{queues: [3], low_bytes: 1000, high_bytes: 2000, probability: 0.1}]
links:
  - {between: [a, s], rate_gbit_per_s: 25, length_m: 5}
  - {between: [b, s], rate_gbit_per_s: 25, delay_us: 1, loss: 0.1}
  - {between: [c, s], rate_gbit_per_s: 25, length_m: 5}
flows:
  - {source: a, target: c, start_us: 0, stop_us: 500, size_bytes: 100000, qps: 2, verb: read}
  - {source: b, target: c, kind: udp, rate_gbit_per_s: 1}
  - {source: b, target: a, kind: tcp, streams: 2}
sampling: {queue_period_us: 1, bin_ms: 0.5, queues: [{switch: s, port: c}]}
"""
BAD: tuple[Any, ...] = (
    *(None, "x", "", -1, 0, 1.5, 8, 256, 1e300, 1e-300, 10**30, 2**63, True),
    *(float("inf"), float("nan"), [], {}, [[]], {"y": 1}, "s", ["a", "b"], ["a", "a"]),
)


@pytest.mark.parametrize(
    ("line", "right", "wrong", "problem"),
    [
        (1, "name: full", "name: ", "name: "),
        (2, "duration_ms: 2", "duration_ms: 1.0e+300", "duration_ms: "),
        (3, "warmup_ms: 1", "warmup_ms: 2", "warmup_ms: must be less than duration_ms"),
        (4, "b: ,", "s: ,", "switches.s: s is a host too"),
        (6, "ports: {c:", "ports: {d:", 'switches.s.ports.d: "d" is not there'),
        (6, "queues: [6]", "queues: []", "rate_limits[0].queues: "),
        (6, "discipline: sp", "discipline: spq", "schedule.discipline: "),
        (7, "alpha_period_us: 55", "alpha_period_us: 0", "nic.dcqcn.alpha_period_us: "),
        (10, "alpha: 0.125", "alpha: -1", "switch.memory.alpha: "),
        (11, "probability: 0.1", "probability: 1.1", "switch.ecn[0].probability: "),
        (7, "cnp_interval_us: 4", "cnp_interval_us: 4294967296", "nic.dcqcn.cnp_interval_us: "),
        (11, "low_bytes: 1000", "low_bytes: 1000, poll_period_us: 2.0e+9", "[0].poll_period_us: "),
        (11, "low_bytes: 1000", "low_bytes: 1000, poll_period_us: 1.0e-4", "[0].poll_period_us: "),
        (17, "qps: 2", "ack_every_packets: 4294967296", "flows[0].ack_every_packets: "),
        (11, "low_bytes: 1000", "low_bytes: 3000", "switch.ecn[0].high_bytes: is less than"),
        (13, "[a, s]", "[a, a]", "links[0].between: both ends are the same device"),
        (13, "[a, s]", "[a, t]", 'links[0].between[1]: "t" is not there'),
        (13, "[a, s]", "[a]", "links[0].between: "),
        (13, "s: 25", "s: 0", "links[0].rate_gbit_per_s: "),
        (13, "length_m: 5", "length_m: 5, delay_us: 1", "delay_us or length_m, one of them"),
        (15, "[c, s]", "[b, s]", "hosts.c: host c has no link"),
        (17, "target: c", "target: a", "flows[0].target: source and target are the same host"),
        (17, "stop_us: 500", "stop_us: 0", "flows[0].stop_us: must be later than start_us"),
        (17, "start_us: 0, stop_us: 500", "start_us: 2000", "is not before the end of the case"),
        (17, "qps: 2", "gps: 2", "did you mean qps"),
        (18, "kind: udp, rate_gbit_per_s: 1", "kind: udp", "a udp flow needs it"),
        (19, "streams: 2", "rate_gbit_per_s: 2", "only a udp flow has a rate"),
        (19, "streams: 2", "size_bytes: 2", "only an rc flow ends by size"),
        (20, "bin_ms: 0.5", "bin_ms: 1.0e-9", "sampling.bin_ms: more than 100000 bins"),
        (20, "queue_period_us: 1", "queue_period_us: 1.0e-9", "more than 100000000 samples"),
        (20, "port: c", "port: x", 'sampling.queues[0].port: "x" is not there'),
    ],
)
def test_a_mistake_is_named_where_it_stands(
    tmp_path: Path, line: int, right: str, wrong: str, problem: str
) -> None:
    lines = LINES.splitlines()
    assert right in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(right, wrong)
    told = mistakes(tmp_path, "\n".join(lines) + "\n")
    found = [mistake for mistake in told if problem in mistake]
    assert found, told
    elsewhere = ("switches.s: s is", "hosts.c")
    if not any(words in problem for words in elsewhere):
        assert all(f"case.yaml:{line}:" in mistake for mistake in found)


def mistakes(folder: Path, text: str) -> tuple[str, ...]:
    file = folder / "case.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InventoryError) as error:
        load(file)
    return error.value.mistakes


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    text = LINES.replace("target: c", "target: zz").replace("[a, s]", "[a, a]")
    text = text.replace("probability: 0.1", "probability: 2")
    assert any("probability" in mistake for mistake in mistakes(tmp_path, text))
    text = text.replace("probability: 2", "probability: 0.1")
    told = mistakes(tmp_path, text)
    assert sum('"zz" is not there' in mistake for mistake in told) == 2
    assert any("both ends" in mistake for mistake in told)


def places(tree: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield way
    parts: Any = tree.items() if isinstance(tree, dict) else ()
    for key, value in enumerate(tree) if isinstance(tree, list) else parts:
        yield from places(value, (*way, key))


def test_no_value_anywhere_crashes_the_reader_or_the_network(tmp_path: Path) -> None:
    whole, chance = yaml.safe_load(LINES), random.Random(7)
    file = tmp_path / "case.yaml"
    tried = [(way, value) for way in places(whole) if way for value in BAD]
    for way, value in chance.sample(tried, 120):
        tree = copy.deepcopy(whole)
        part = tree
        for key in way[:-1]:
            part = part[key]
        part[way[-1]] = value
        file.write_text(yaml.safe_dump(tree, sort_keys=False), encoding="utf-8")
        try:
            case = load(file)
        except InventoryError as error:
            for mistake in error.mistakes:
                assert re.search(r"case\.yaml:\d+:\d+: \S", mistake), (way, value, mistake)
            continue
        network = build(case)
        for flow in case.flows:
            start(network, case, flow)
