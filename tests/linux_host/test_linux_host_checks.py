"""Checks of hosts without RDMA, without NVIDIA's tools, with virtual ports; and their dry run."""

from dataclasses import replace
from pathlib import Path

import pytest

from labtests.capabilities.facts import LinkFacts, RoceFacts
from labtests.check import cables, hosts
from labtests.check.gathering import Known
from labtests.drivers import driver_module
from labtests.inventory import load
from labtests.simlab.lab import CannotSimulate, face_module

TESTBED = load(Path(__file__).parents[2] / "testbeds" / "linux-lab.yaml")
VIRTUAL = LinkFacts(up=True, mtu_bytes=1500, virtual=True)
PLAIN = {"perftest": "", "iperf3": "3.12", "iproute2": "6.1.0", "kernel": "6.1.0"}
RXE = RoceFacts(
    rdma="rxe0", active=True, active_mtu_bytes=1024, v2_addresses=frozenset({"10.71.0.1"})
)


def known(testbed=TESTBED, **more):
    """Every device of the Linux lab, as its kernel makes it."""
    of_port = {"links": VIRTUAL}
    return {
        device.name: Known(
            name=device.name,
            host=device.platform == "linux",
            versions=PLAIN,
            left=(),
            links={port.interface: of_port["links"] for port in device.ports},
            **(more if device.platform == "linux" else {}),
        )
        for device in testbed.devices
    }


def levels(findings):
    return {(f.check, f.level) for f in findings}


def test_a_host_without_rdma_is_asked_nothing_of_rdma():
    assert list(hosts.rdma(TESTBED, known())) == []
    found = list(hosts.versions(known()))
    assert levels(found) == {("versions", "ok")}
    assert not [f for f in found if "perftest" in f.finding]
    assert levels(hosts.left_behind(known())) == {("leftovers", "ok")}


def test_an_rdma_device_that_the_testbed_names_has_to_be_there():
    port = replace(TESTBED.devices[0].ports[0], rdma="rxe0")
    named = replace(TESTBED.devices[0], ports=(port,))
    testbed = replace(TESTBED, devices=(named, *TESTBED.devices[1:]))
    (finding,) = hosts.rdma(testbed, known(testbed))
    assert (finding.check, finding.level, finding.device) == ("rdma", "failure", named.name)
    assert "rxe0" in finding.finding
    assert finding.remedy
    there = list(hosts.rdma(testbed, known(testbed, roces={port.interface: RXE})))
    assert not [f for f in there if "no RDMA device" in f.finding]


def test_hosts_with_soft_roce_are_asked_for_one_perftest_and_not_for_ofed():
    told = {**PLAIN, "perftest": "6.06", "driver": "virtio_net 1.0.0"}
    lab = {
        name: replace(device, versions=told, roces={"eth1": RXE}) if device.host else device
        for name, device in known().items()
    }
    assert levels(hosts.versions(lab)) == {("versions", "ok")}
    lab["h2"] = replace(lab["h2"], versions={**told, "perftest": "6.24"})
    failed = [f for f in hosts.versions(lab) if f.level == "failure"]
    assert [(f.device, "6.24" in f.finding) for f in failed] == [("h2", True)]
    lab["h2"] = replace(lab["h2"], versions={**told, "perftest": ""})
    dark = [f for f in hosts.versions(lab) if f.level == "not known"]
    assert [(f.device, f.finding.split(":")[0]) for f in dark] == [("h2", "perftest")]


def test_a_virtual_port_is_held_against_no_speed_and_no_fec_but_has_to_be_up():
    lab = cables.CheckedLab(TESTBED, known())
    assert levels(cables.speed(lab)) == {("speed", "ok")}
    assert list(cables.fec(lab)) == []
    down = known()
    down["h1"] = replace(down["h1"], links={"eth1": replace(VIRTUAL, up=False)})
    bad = [f for f in cables.speed(cables.CheckedLab(TESTBED, down)) if f.level == "failure"]
    assert [f.device for f in bad] == ["h1"]


def test_a_setting_that_neither_end_has_is_not_compared_and_one_sided_is_not_known():
    lab = cables.CheckedLab(TESTBED, known())
    assert list(cables.trust(lab)) == []
    assert list(cables.pfc(lab)) == []
    one = known()
    one["sw"] = replace(one["sw"], settings={("swp1", "trust"): "x"})
    (finding,) = cables.trust(cables.CheckedLab(TESTBED, one))
    assert finding.level == "not known"


def test_a_linux_host_can_be_emulated_and_lacks_nvidia_s_tools():
    linux = next(d for d in TESTBED.devices if d.platform == "linux")
    assert face_module(linux).KIND == "host"
    assert face_module(linux).__name__.endswith("faces.linux")
    assert driver_module("linux").SESSION == "shell"


def test_a_platform_without_face_is_named_with_what_to_do():
    junos = replace(TESTBED.devices[0], name="core", platform="jun-os")
    with pytest.raises(CannotSimulate, match=r"core: platform 'jun-os' .*comware.*--dry-run") as no:
        face_module(junos)
    assert "labtests/simlab/faces/jun_os.py" in str(no.value)
