"""What a suite needs and a lab of plain Linux hosts has not is said, in plain words."""

from dataclasses import replace
from pathlib import Path

import pytest
from linux_host import VIRTIO, FakeHost, namespace_host, rxe_host

from labtests.capabilities.device import meaning_of
from labtests.capabilities.settings import PFC
from labtests.core.clock import WallClock
from labtests.core.errors import LabError
from labtests.inventory import Endpoint, load
from labtests.lab.lab import Lab
from labtests.pytest_plugin.fixtures import _require

TESTBED = load(Path(__file__).parents[2] / "testbeds" / "linux-lab.yaml")
HOSTS = ("h1", "h2", "h3")


def lab_of(host):
    """The Linux lab's hosts, all as this one, at a Comware switch."""
    devices = tuple(
        device if device.name in HOSTS else replace(device, platform="comware")
        for device in TESTBED.devices
    )
    transports = {
        device.name: host() if device.name in HOSTS else FakeHost({}) for device in devices
    }
    return Lab(replace(TESTBED, devices=devices), transports, clock=WallClock(), backend="hardware")


def reason(lab, *names, **of_kind):
    """Why a test with this mark is skipped; "" when it is not."""
    try:
        _require([pytest.mark.requires(*names, **of_kind).mark], lab)
    except pytest.skip.Exception as skipped:
        return str(skipped)
    return ""


def test_an_ability_is_told_in_the_words_of_its_definition():
    assert meaning_of("pfc") == "a port that can pause single priorities"
    assert meaning_of("trust") == "a port that classifies by DSCP or by 802.1p"
    assert meaning_of("ecn_on") == meaning_of("ecn")
    assert meaning_of("teleportation") == ""


def test_what_the_switch_can_is_not_taken_for_what_the_hosts_can():
    lab = lab_of(namespace_host)
    assert reason(lab, "pfc", "queue_counters") == ""
    assert reason(lab, switches=("pfc", "trust")) == ""
    said = reason(lab, hosts=("pfc", "nic_counters"))
    assert said == ("h1, h2, h3: no support for pfc (a port that can pause single priorities)")


def test_perftest_needs_an_rdma_device_and_its_absence_is_said_once():
    said = reason(lab_of(namespace_host), hosts=("rdma_links",))
    assert said.startswith("h1, h2, h3: there is no RDMA device")
    assert said.count("RDMA device on this host") == 1
    assert reason(lab_of(namespace_host), "nic_counters") == ""
    assert reason(lab_of(rxe_host), hosts=("rdma_links",)) == ""


def test_what_is_not_required_is_not_a_reason():
    assert reason(lab_of(namespace_host), hosts=("host_counters",)) == ""
    with pytest.raises(pytest.fail.Exception, match="'teleportation' is an ability unknown"):
        reason(lab_of(namespace_host), "teleportation")


def test_a_setting_that_a_platform_has_not_is_an_error_with_its_name():
    with pytest.raises(LabError, match="h1 has no setting 'pfc'"):
        lab_of(rxe_host).current(Endpoint(device="h1", interface=VIRTIO), PFC)
