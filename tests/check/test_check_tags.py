"""The VLAN interfaces of a lab's hosts: there, and tagging as the testbed file says."""

import sys
from pathlib import Path

import pytest

from labtests.capabilities.facts import Tags
from labtests.check import check, judged
from labtests.check.finding import Unknown
from labtests.check.gathering import Known
from labtests.check.hosts import vlans
from labtests.inventory import load

sys.path.insert(0, str(Path(__file__).parents[1] / "snapshot"))

from snapshot_lab import open_bench

TESTBED_FILE = Path(__file__).parents[2] / "testbeds" / "h3c-dot1p.yaml"
PORT = "ens1f0np0"
NAME = f"{PORT}.100"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with open_bench(tmp_path_factory.mktemp("tags"), TESTBED_FILE) as opened:
        yield opened


def found(bench):
    return judged(check(bench.lab, idle_s=0).findings)


def test_a_fresh_lab_is_fit_and_its_maps_were_read(bench):
    findings = found(bench)
    assert [f for f in findings if f.level == "failure"] == []
    seen = [(f.device, f.finding) for f in findings if f.check == "vlan"]
    assert seen == [(f"Server{n}", f"{NAME} tags by the egress-qos-map 4:5") for n in (1, 2, 3)]
    assert "10.19.0.1 has a RoCEv2 GID" in {f.finding for f in findings if f.check == "gid"}


@pytest.mark.parametrize(
    ("told", "said", "remedy"),
    [("4:3", "4:3", "4:5"), ("4:5 6:5", "4:5 6:5", "4:5 6:0"), ("", "empty", "4:5")],
)
def test_another_map_than_the_testbed_files_is_a_failure(bench, told, said, remedy):
    fault = {"kind": "egress-map", "device": "Server2", "port": PORT}
    bench.simulated.lab.inject(fault | {"map": told})
    (failure,) = [f for f in found(bench) if f.level == "failure"]
    assert (failure.check, failure.device, failure.port) == ("vlan", "Server2", PORT)
    assert failure.finding == f"the egress-qos-map of {NAME} is {said}, and 4:5 in the testbed file"
    assert f"`ip link set dev {NAME} type vlan egress-qos-map {remedy}`" in failure.remedy
    bench.simulated.lab.inject(fault | {"map": "4:5"})


def said_of(tags):
    testbed = load(TESTBED_FILE)
    (finding,) = vlans(testbed, {"Server1": Known(name="Server1", tags={PORT: tags})})
    return finding


def test_an_interface_that_is_not_there_is_a_failure_with_the_command_that_makes_it():
    finding = said_of(None)
    assert (finding.level, finding.finding) == ("failure", f"the host has no VLAN interface {NAME}")
    assert (
        f"`ip link add link {PORT} name {NAME} type vlan id 100 egress-qos-map 4:5`"
        in finding.remedy
    )


def test_what_could_not_be_read_is_not_known():
    assert said_of(Unknown(why="no ip there")).level == "not known"


def test_the_order_of_a_map_does_not_matter():
    tags = Tags(interface=NAME, vlan=100, egress=((4, 5),), of_dscp=(0,) * 64)
    assert said_of(tags).level == "ok"
