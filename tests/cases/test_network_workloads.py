"""Patterns of traffic: they make the flows that they say, at their load, in their order."""

import json
from collections import Counter
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from small_case import SMALL, case

from labtests.core.errors import InventoryError
from labtests.network.cases import CaseFile, run
from labtests.network.cases.flow_files import read_flows
from labtests.network.cases.sizes import published
from labtests.network.cases.workloads import expanded

NAMES = [f"h{n}" for n in range(6)]


def loaded(*workloads: dict[str, Any], duration_ms: float = 2.0, **more: Any) -> CaseFile:
    return CaseFile.model_validate(
        {
            "name": "loaded",
            "duration_ms": duration_ms,
            "hosts": dict.fromkeys(NAMES),
            "switches": {"s": None},
            "nic": {"pfc": [3]},
            "switch": {"pfc": [3]},
            "links": [
                {"between": [n, "s"], "rate_gbit_per_s": 100.0, "length_m": 5.0} for n in NAMES
            ],
            "workloads": [{"name": f"w{n}", **part} for n, part in enumerate(workloads)],
            **more,
        }
    )


def test_each_distribution_has_a_source_and_rises_to_one() -> None:
    text = resources.files("labtests.network.cases").joinpath("distributions.json").read_text()
    assert set(json.loads(text)) == {"web-search", "data-mining", "storage", "hadoop", "cache"}
    for told in json.loads(text).values():
        assert len(told["source"]) > 40
    for sizes in published().values():
        assert list(sizes.shares) == sorted(sizes.shares)
        assert list(sizes.sizes_bytes) == sorted(sizes.sizes_bytes)
        assert (sizes.shares[0], sizes.shares[-1]) == (0.0, 1.0)
        assert sizes.quantile(1.0) == sizes.sizes_bytes[-1]
    assert published()["web-search"].quantile(0.53) == 80_000
    assert published()["data-mining"].quantile(0.95) == 3_160_000


@pytest.mark.parametrize("load", [0.3, 0.8])
@pytest.mark.parametrize("sizes", ["storage", "hadoop"])
def test_poisson_offers_the_load_on_the_wire(load: float, sizes: str) -> None:
    part = {"pattern": "poisson", "sizes": sizes, "load": load, "flow": {"mtu_bytes": 4096}}
    flows = expanded(loaded(part, duration_ms=200), 1).flows
    wire = sum((f.size_bytes or 0) + -(-(f.size_bytes or 0) // 4096) * 82 for f in flows)
    assert wire * 8 / (0.2 * 6 * 100e9) == pytest.approx(load, rel=0.03)
    gaps = [b.start_us - a.start_us for a, b in pairwise(flows)]
    mean = sum(gaps) / len(gaps)
    variance = sum((gap - mean) ** 2 for gap in gaps) / len(gaps)
    assert variance == pytest.approx(mean**2, rel=0.05)  # exponential
    assert all(flow.source != flow.target and flow.mtu_bytes == 4096 for flow in flows)


def test_the_seed_makes_the_flows() -> None:
    part = {"pattern": "poisson", "size_bytes": 10_000, "load": 0.2}
    given = loaded(part)
    assert expanded(given, 1).flows == expanded(given, 1).flows != expanded(given, 2).flows
    assert run(given, seed=3) == run(given, seed=3)
    assert run(given, seed=3).flows != run(given, seed=4).flows


def test_incast_sends_from_so_many_every_period() -> None:
    part = {"pattern": "incast", "target": "h0", "senders": 3, "size_bytes": 9, "period_us": 500.0}
    flows = expanded(loaded(part), 1).flows
    assert Counter(flow.start_us for flow in flows) == {0.0: 3, 500.0: 3, 1000.0: 3, 1500.0: 3}
    assert {flow.target for flow in flows} == {"h0"}
    assert "h0" not in {flow.source for flow in flows}


def test_a_permutation_uses_each_host_once_each_way() -> None:
    flows = expanded(loaded({"pattern": "permutation"}, {"pattern": "background-tcp"}), 1).flows
    for kind in ("rc", "tcp"):
        of_kind = [flow for flow in flows if flow.kind == kind]
        assert sorted(flow.source for flow in of_kind) == NAMES
        assert sorted(flow.target for flow in of_kind) == NAMES
        assert all(flow.source != flow.target for flow in of_kind)


@pytest.mark.parametrize(
    ("pattern", "flows", "sent"),
    [
        ("ring-all-reduce", 60, 2 * 5 * 600_001),
        ("tree-all-reduce", 10, 10 * 600_001),
        ("all-to-all", 30, 5 * 600_001),
    ],
)
def test_collectives_move_what_they_must_one_step_behind_the_other(
    pattern: str, flows: int, sent: int
) -> None:
    part = {"pattern": pattern, "size_bytes": 600_001, "repeat": 2}
    figures = run(loaded(part))
    assert len(figures.flows) == 2 * flows
    assert sum(flow.delivered_bytes for flow in figures.flows) == 2 * sent
    ends = {f.name: f.start_us + f.completion_us for f in figures.flows if f.completion_us}
    starts = {flow.name: flow.start_us for flow in figures.flows}
    waits = [flow for flow in expanded(loaded(part), 1).flows if flow.after]
    assert len(waits) > flows
    for flow in waits:
        # delivered is a moment before its sender hears of it: the way of an ACK
        latest = max(ends[name] for name in flow.after or ())
        assert starts[str(flow.name)] == pytest.approx(latest, abs=1.5)


def test_a_load_so_small_that_no_flow_starts() -> None:
    assert run(loaded({"pattern": "poisson", "sizes": "storage", "load": 1e-12})).flows == ()


def test_a_ring_takes_the_time_of_its_steps() -> None:
    size, hosts = 6_000_000, len(NAMES)
    (ring,) = ({"pattern": "ring-all-reduce", "size_bytes": size},)
    figures = run(loaded(ring))
    last = max(flow.start_us + (flow.completion_us or 1e9) for flow in figures.flows)
    wire = size / hosts * (1024 + 62 + 20) / 1024 * 8 / 100e3
    assert last == pytest.approx(2 * (hosts - 1) * wire, rel=0.03)


def test_flows_of_a_file_wait_for_each_other(tmp_path: Path) -> None:
    table = "name,source,target,size_bytes,after,start_us\none,a,c,50000,,\ntwo,c,b,100,one,7\n"
    (tmp_path / "more.csv").write_text(table)
    assert read_flows(tmp_path / "more.csv").flows[1].after == ["one"]
    alone = SMALL[: SMALL.index("flows:")] + "flows_from: more.csv\n"
    one, two = run(case(tmp_path, alone)).flows
    assert two.start_us == pytest.approx(7 + (one.completion_us or 0), abs=0.5)
    assert two.delivered_bytes == 100


@pytest.mark.parametrize(
    ("workload", "problem"),
    [
        ("{name: w, pattern: poisson, load: 0.5}", "poisson needs sizes or size_bytes, one"),
        ("{name: w, pattern: poisson, sizes: cache}", "poisson needs load"),
        ("{name: w, pattern: incast, size_bytes: 9, target: z}", 'target: "z" is not there'),
        ("{name: w, pattern: permutation, load: 0.5}", "load: goes with poisson, not with perm"),
        ("{name: w, pattern: permutation, hosts: [a, a]}", "hosts: there must be two or more"),
        ("{name: w, pattern: permutation, hosts: [a, a, b]}", 'hosts: "a" is given twice'),
        (
            "{name: w, pattern: incast, size_bytes: 9, target: a, senders: 40}",
            "senders: 40, but there are 2 hosts beside the target",
        ),
        ("{name: w, pattern: permutation, flow: {mtu_byte: 5}}", "flow: unknown key mtu_byte: did"),
        ("{name: w, pattern: permutation, flow: {qps: 0}}", "flow: qps must be at least 1"),
        ("{name: w, pattern: permutation, flow: {source: b}}", "source is the workload's to say"),
        ("{name: w, pattern: ring}", "pattern: must be poisson, incast, perm"),
        (
            "{name: w, pattern: poisson, size_bytes: 1, load: 1, flow: {header_bytes: 0}}\n"
            "duration_ms: 100000",
            "load: makes some",
        ),
        (
            "{name: w, pattern: all-to-all, size_bytes: 1, repeat: 100000000}",
            "repeat: makes some",
        ),
        (
            "{name: w, pattern: incast, target: a, size_bytes: 1, period_us: 1.0e-6}",
            "period_us: makes some",
        ),
    ],
)
def test_mistakes_in_a_workload_have_a_place(tmp_path: Path, workload: str, problem: str) -> None:
    text = SMALL[: SMALL.index("flows:")] + f"workloads:\n  - {workload}\n"
    if "duration_ms" in workload:
        text = text.replace("duration_ms: 2\n", "", 1)
    with pytest.raises(InventoryError) as error:
        case(tmp_path, text)
    assert any(problem in mistake for mistake in error.value.mistakes), error.value.mistakes


@pytest.mark.parametrize(
    ("flows", "problem"),
    [
        ("[{source: a, target: b, after: [x]}]", 'after: no flow above this one has the name "x"'),
        (
            "[{name: x, source: a, target: b}, {source: b, target: c, after: [x]}]",
            "after: x has no size_bytes: it is never delivered",
        ),
    ],
)
def test_a_flow_waits_for_one_above_it_that_ends(tmp_path: Path, flows: str, problem: str) -> None:
    text = SMALL[: SMALL.index("flows:")] + f"flows: {flows}\n"
    with pytest.raises(InventoryError) as error:
        case(tmp_path, text)
    assert any(problem in mistake for mistake in error.value.mistakes), error.value.mistakes
