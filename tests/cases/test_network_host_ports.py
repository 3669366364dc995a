"""Hosts with several links, each at a NIC port of its own."""

from pathlib import Path

import pytest
import yaml

from labtests.core.errors import InventoryError
from labtests.network.cases import CaseFile, load, run
from labtests.network.cases.host_ports import with_host_ports
from labtests.network.cases.workloads import expanded
from labtests.study.patterns import applied, catalogue

TWO_SWITCHES = """
name: two-homes
duration_ms: 2
warmup_ms: 1
hosts: {a: , b: {pfc: []}, c: }
switches: {s1: , s2: }
nic: {pfc: [3]}
switch: {pfc: [3]}
links:
  - {between: [a, s1], rate_gbit_per_s: 25, length_m: 5}
  - {between: [b, s1], rate_gbit_per_s: 25, length_m: 5}
  - {between: [a, s2], rate_gbit_per_s: 25, length_m: 5}
  - {between: [s2, b], rate_gbit_per_s: 25, length_m: 5}
  - {between: [c, s2], rate_gbit_per_s: 25, length_m: 5}
  - {between: [s1, s2], rate_gbit_per_s: 25, length_m: 5}
flows:
  - {source: a, target: b}
  - {source: a#2, target: b#2}
"""
PAYLOAD_GBIT_PER_S = 25 * 1024 / 1106


def two_homes(folder: Path, more: str = "") -> CaseFile:
    file = folder / "case.yaml"
    file.write_text(TWO_SWITCHES + more, encoding="utf-8")
    return load(file)


def test_a_host_on_two_switches_sends_twice_its_link(tmp_path: Path) -> None:
    figures = run(two_homes(tmp_path))
    rates = [flow.goodput_gbit_per_s for flow in figures.flows]
    assert rates == pytest.approx([PAYLOAD_GBIT_PER_S] * 2, rel=0.01)
    assert [host.host for host in figures.hosts] == ["a", "b", "c", "a#2", "b#2"]
    assert not [pause for pause in figures.pauses if "s2" in pause.port]  # none crosses


def test_a_port_has_the_settings_of_its_host_unless_it_has_its_own(tmp_path: Path) -> None:
    case = two_homes(tmp_path)
    assert case.hosts["b#2"] == case.hosts["b"]
    tree = {"hosts": {"b": 1, "b#2": 2}, "links": [{"between": ["b", "s"]}] * 2}
    assert with_host_ports(tree)["hosts"] == {"b": 1, "b#2": 2}
    assert with_host_ports(with_host_ports(tree)) == with_host_ports(tree)


def test_one_link_fails_and_what_goes_by_the_other_goes_on(tmp_path: Path) -> None:
    down = "events: [{at_us: 500, do: down, device: a#2}]\n"
    kept, lost = run(two_homes(tmp_path, down)).flows
    assert kept.goodput_gbit_per_s == pytest.approx(PAYLOAD_GBIT_PER_S, rel=0.01)
    assert lost.goodput_gbit_per_s == 0.0
    assert 0 < lost.delivered_bytes < 0.6 * kept.delivered_bytes


def test_workloads_take_each_host_once_unless_told_its_ports(tmp_path: Path) -> None:
    more = (
        "workloads:\n"
        "  - {name: all, pattern: permutation, size_bytes: 1000}\n"
        "  - {name: rail, pattern: permutation, size_bytes: 1000, hosts: ['a#2', 'b#2']}\n"
    )
    flows = expanded(two_homes(tmp_path, more), 1).flows[2:]
    assert {flow.source for flow in flows[:3]} == {"a", "b", "c"}
    assert {(flow.source, flow.target) for flow in flows[3:]} == {("a#2", "b#2"), ("b#2", "a#2")}


def test_patterns_of_a_study_take_the_ports() -> None:
    tree = yaml.safe_load(TWO_SWITCHES)
    made = CaseFile.model_validate(applied(tree, catalogue()["incast-2-remote"]))
    assert {flow.source for flow in made.flows} == {"c", "a#2"}
    assert {flow.target for flow in made.flows} == {"a"}


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("source: a#2", "source: a#3", '"a#3" is not there'),
        ("[c, s2]", "[b#2, s2]", "port b#2 has two links"),
        ("c: }", "c: , c#2: }", "host c#2 has no link"),
        ("source: a#2", "source: a#x", "`#2` behind a host's name is its second link"),
    ],
)
def test_a_port_that_is_not_there_is_named(
    tmp_path: Path, right: str, wrong: str, problem: str
) -> None:
    file = tmp_path / "case.yaml"
    file.write_text(TWO_SWITCHES.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InventoryError) as error:
        load(file)
    assert problem in "\n".join(error.value.mistakes)
