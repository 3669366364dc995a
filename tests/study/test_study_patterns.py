"""Patterns by name, what each can carry, and the samples of latency."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from labtests.network.cases.form import CaseFile
from labtests.study import patterns
from labtests.study.carrying import carried
from labtests.study.measures import MEASURES, measured
from labtests.study.points import StudyJob, case_of, ran
from labtests.study.probing import PAIRS, TIMES, probed
from labtests.study.reader import base_of

ROOT = Path(__file__).parents[2]
LARGE, SMALL = (ROOT / "docs" / "studies" / f"{name}.yaml" for name in ("leaf-25g", "small"))


@pytest.fixture(scope="module")
def large():
    return base_of(LARGE, None, None)


@pytest.fixture(scope="module")
def small():
    return base_of(SMALL, None, None)


def star(flows, rates=(10, 10, 10), **more):
    names = ["a", "b", "c"]
    return CaseFile.model_validate(
        {
            "name": "star",
            "duration_ms": 2,
            "warmup_ms": 1,
            "hosts": dict.fromkeys(names),
            "switches": {"s": None},
            "nic": {"pfc": [3]},
            "switch": {"pfc": [3]},
            "links": [
                {"between": [name, "s"], "rate_gbit_per_s": rate, "length_m": 5.0}
                for name, rate in zip(names, rates, strict=True)
            ],
            "flows": flows,
            **more,
        }
    )


def test_at_least_sixty_patterns_fit_the_network_of_document_004(large):
    fit, unfit = patterns.fitting(large.case_tree)
    assert len(fit) >= 60
    assert unfit == {}
    assert {*patterns.kinds()} == {
        *("incast", "burst", "victim", "all-to-all", "ring", "permutation")
    }


def test_every_pattern_is_a_case_that_can_run(large):
    for name in patterns.fitting(large.case_tree)[0]:
        case = case_of(large.tree({}, name), name)
        pairs = {(flow.source, flow.target) for flow in case.flows}
        assert all(one != other for one, other in pairs)


def test_a_network_that_is_too_small_is_said(small):
    _, unfit = patterns.fitting(small.case_tree)
    assert unfit["incast-39-mixed"] == (
        "incast-39-mixed does not fit: it needs 39 mixed senders, not 11"
    )
    assert "trunks of rack-a cannot fail" in unfit["failed-half-incast-16"] or (
        "senders" in unfit["failed-half-incast-16"]
    )


def test_senders_stand_where_the_pattern_says(large):
    for name, racks in (("incast-8-local", "a"), ("incast-8-remote", "bc")):
        tree = large.tree({}, name)
        assert {flow["target"] for flow in tree["flows"]} == {"a1"}
        assert {flow["source"][0] for flow in tree["flows"]} == {*racks}
        assert len(tree["flows"]) == 8


def test_failed_trunks_are_gone(large):
    links = large.tree({}, "failed-half-incast-16")["links"]
    assert sum("rack-a" in e["between"] and "up" in "".join(e["between"]) for e in links) == 4


def test_one_flow_can_have_its_line_less_headers():
    bytes_to = carried(star([{"source": "a", "target": "b"}])).bytes_to["b"]
    assert bytes_to == pytest.approx(1e-3 * 10e9 / 8 * 1024 / 1106, rel=1e-9)


def test_queue_pairs_have_equal_shares_and_the_rest_goes_to_who_can_take_it():
    flows = [
        {"source": "a", "target": "c", "qps": 3},
        {"source": "b", "target": "c"},
        {"source": "b", "target": "a"},
    ]
    can = carried(star(flows, rates=(10, 10, 4)))
    line = 1e-3 * 1e9 / 8 * 1024 / 1106
    assert can.busy == frozenset({"a", "c"}) or can.busy == frozenset({"c"})
    assert can.bytes_to["c"] == pytest.approx(4 * line, rel=0.01)
    assert can.bytes_to["a"] == pytest.approx(9 * line, rel=0.01)  # b has 10, 1 of it for c


def test_a_flow_with_a_size_carries_no_more():
    flow = {"source": "a", "target": "b", "size_bytes": 100_000, "start_us": 1200.0}
    can = carried(star([flow]))
    assert can.bytes_to["b"] == pytest.approx(100_000, rel=1e-6)
    assert can.busy == frozenset()


@pytest.mark.parametrize("name", ["incast-6-mixed", "tcp-2-incast-4", "all-to-all-6", "ring-6"])
def test_without_dcqcn_pfc_carries_what_the_fluid_says(small, name):
    job = StudyJob(values={"nic.dcqcn.form": "off"}, pattern=name, seed=1)
    found = ran(small, job, ["throughput"])
    assert found["measured"]["throughput"] == pytest.approx(1, abs=0.05)


def test_probes_are_drawn_from_the_seed_and_see_an_empty_network(small):
    case = star([{"source": "a", "target": "b", "stop_us": 1.0}])
    assert probed(case, 3) == probed(case, 3) != probed(case, 4)
    assert len(probed(case, 1).flows) - 1 == TIMES <= PAIRS * TIMES
    found = measured(case, 1, ["latency_us", "latency_p50_us"])
    assert 0 < found["latency_p50_us"] <= found["latency_us"] < 1


def test_a_probe_that_never_arrives_counts_with_all_of_its_wait():
    case = star([{"source": "a", "target": "b"}], storms=[{"device": "b", "priorities": [3]}])
    found = measured(case, 1, ["latency_us", "paused_share"])
    assert found["latency_us"] > 900
    assert found["paused_share"] == 1


def test_every_measure_is_a_number_of_a_busy_case(small):
    case = case_of(small.tree({}, "incast-6-mixed"), "case")
    found = measured(case, 1, list(MEASURES))
    assert all(value is not None and value >= 0 for value in found.values())
    assert 0.3 < found["throughput"] <= 1.01
    assert found["latency_p50_us"] <= found["latency_p99_us"] <= found["latency_us"]


WORKLOAD = {"name": "w", "pattern": "incast", "target": "c", "size_bytes": 5_000_000}


def test_workloads_of_a_case_are_measured_like_its_flows():
    case = star([], workloads=[WORKLOAD])
    flows = [{"source": name, "target": "c", "size_bytes": 5_000_000} for name in "ab"]
    assert measured(case, 1, list(MEASURES)) == measured(star(flows), 1, list(MEASURES))


def test_what_flows_that_wait_can_carry_is_not_known():
    ring = {"name": "w", "pattern": "ring-all-reduce", "size_bytes": 10_000_000}
    found = measured(star([], workloads=[ring]), 1, ["throughput", "goodput_gbit_per_s"])
    assert found["throughput"] is None
    assert found["goodput_gbit_per_s"] > 0


def test_a_pattern_is_alone_in_its_case(small):
    tree = {**small.case_tree, "workloads": [WORKLOAD], "flows_from": "more.csv"}
    found = patterns.applied(tree, patterns.catalogue()["incast-2-local"])
    assert found == patterns.applied(small.case_tree, patterns.catalogue()["incast-2-local"])


def test_the_flows_of_a_table_are_those_of_the_case(tmp_path):
    flows = "flows:\n  - {source: h2, target: h3}\n"
    text = (
        "name: tabled\nduration_ms: 2\nflows_from: more.csv\nhosts: {h1: , h2: , h3: }\n"
        "switches: {s: }\nlinks:\n"
    )
    for name in ("h1", "h2", "h3"):
        text += f"  - {{between: [{name}, s], rate_gbit_per_s: 10, length_m: 5}}\n"
    (tmp_path / "more.csv").write_text("source,target,size_bytes\nh1,h3,1000\nh1,h2,2000\n")
    for own in ("", flows):
        (tmp_path / "case.yaml").write_text(text + own)
        base = base_of(tmp_path / "case.yaml", None, None)
        found = case_of(base.tree({}), "case").flows
        assert [(flow.source, flow.size_bytes) for flow in found[-2:]] == [
            ("h1", 1000),
            ("h1", 2000),
        ]
        assert len(found) == 2 + bool(own)
    (tmp_path / "more.csv").write_text("source,target,size_bytes\nh1,h3,1001\n")
    assert base_of(tmp_path / "case.yaml", None, None).digest != base.digest


def test_a_testbed_is_a_network_too():
    base = base_of(None, ROOT / "testbeds" / "incast-5to1.yaml", None)
    fit, _ = patterns.fitting(base.case_tree)
    assert "incast-4-local" in fit
    job = StudyJob(values={}, pattern="incast-2-local", seed=1)
    assert ran(base, job, ["throughput"])["measured"]["throughput"] > 0.3
    assert replace(job, seed=2) != job


def test_studies_of_cases_load_neither_ssh_nor_pytest():
    code = (
        "import sys; from labtests.study import command, tuned;"
        "print(sorted({'paramiko', 'fabric', 'netmiko', 'asyncssh', 'pytest'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
