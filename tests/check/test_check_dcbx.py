"""DCBX between a switch and its hosts: what the check says of it, and who overwrites whom."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from labtests.capabilities.facts import DcbxState, DcbxTold, DcbxView
from labtests.capabilities.records import (
    DcbxControl,
    DcbxSetting,
    EtsSetting,
    PfcSetting,
    TrustSetting,
)
from labtests.capabilities.settings import DCBX, DCBX_CONTROL, ETS, PFC, TRUST
from labtests.check import cables, check, judged
from labtests.core.errors import CommandRejected, DeviceError
from labtests.inventory import Endpoint

sys.path.insert(0, str(Path(__file__).parents[1] / "snapshot"))

from snapshot_lab import open_bench

NIC = Endpoint(device="ServerA", interface="enp3s0f0np0")
AT = Endpoint(device="S6550", interface="Twenty-FiveGigE1/0/14")
FIRMWARE = DcbxControl(by="firmware")
SHARED = EtsSetting(
    class_of_priority=(1, 0, 2, 3, 4, 5, 6, 7),
    algorithms=("ets", "ets", *("strict",) * 6),
    percent=(40, 60, *(0,) * 6),
)


def lossless(*priorities):
    return PfcSetting(mode="on" if priorities else "off", priorities=frozenset(priorities))


@pytest.fixture
def bench(tmp_path):
    with open_bench(tmp_path) as opened, opened.lab.restoring():
        yield opened


def tell(bench, *priorities, version="standard"):
    """The switch port has these, and tells so."""
    bench.lab.change(AT, TRUST, TrustSetting(source="dscp"))
    bench.lab.change(AT, PFC, lossless(*priorities))
    bench.lab.change(AT, DCBX, DcbxSetting(tells=True, version=version))
    bench.lab.clock.sleep(3)


def state(bench, at=NIC):
    return bench.lab.ask(at.device, bench.lab.part(at.device, DcbxView).dcbx_state(at.interface))


def found(bench, *checks):
    findings = judged(check(bench.lab, idle_s=0).findings)
    return [f for f in findings if f.check in checks and f.level != "ok"]


# -- what the check says ---------------------------------------------------------------------------


def test_a_fresh_lab_raises_no_alarm(bench):
    assert found(bench, "dcbx", "obstacles") == []


def test_a_switch_that_tells_what_the_hosts_os_has_is_fine(bench):
    bench.lab.change(NIC, PFC, lossless(3))
    tell(bench, 3)
    assert found(bench, "dcbx", "obstacles") == []


def test_a_mismatch_is_named_with_both_ends(bench):
    bench.lab.change(NIC, PFC, lossless(3))
    tell(bench, 4, 5)
    (finding,) = found(bench, "dcbx", "obstacles")
    assert (finding.level, finding.device, finding.port) == ("warning", *_place(NIC))
    assert finding.finding == f"{AT} tells PFC on 4,5, and 3 is in force here"
    assert finding.remedy


def test_a_peer_that_overwrites_a_hosts_setting_is_an_obstacle(bench):
    bench.lab.change(NIC, PFC, lossless(3))
    tell(bench, 4, 5)
    bench.simulated.lab.inject({"kind": "willing-dcbx", "device": "ServerA", "port": NIC.interface})
    bench.lab.clock.sleep(3)
    (obstacle, failure) = found(bench, "dcbx", "obstacles")
    assert (obstacle.level, failure.level) == ("failure", "failure")
    assert "takes what its peer tells" in obstacle.finding
    assert "mlnx_qos -i enp3s0f0np0 -d os" in obstacle.finding
    assert (failure.device, failure.port) == _place(NIC)
    assert f"{AT} tells PFC on 4,5, and 4,5 is in force here" in failure.finding
    assert "mlnx_qos -d os" in failure.remedy
    bench.lab.connection("ServerA").run(f"mlnx_qos -i {NIC.interface} -d os", hide=True)


def test_firmware_that_speaks_no_dcbx_only_warns(bench):
    tell(bench, 4, 5)
    run = bench.lab.connection("ServerA").run
    bench.lab.change(NIC, DCBX_CONTROL, FIRMWARE)
    run("mlxconfig -y -d 0000:03:00.0 set LLDP_NB_DCBX_P1=0", hide=True)
    (finding,) = found(bench, "obstacles", "dcbx")
    assert finding.level == "warning"
    assert "LLDP_NB_DCBX of its firmware is False(0)" in finding.finding


def test_without_mlxconfig_it_is_not_known_and_an_obstacle(bench):
    bench.simulated.lab.inject({"kind": "willing-dcbx", "device": "ServerA", "port": NIC.interface})
    bench.simulated.lab.inject({"kind": "remove-tool", "device": "ServerA", "tool": "mlxconfig"})
    (finding,) = found(bench, "obstacles", "dcbx")
    assert finding.level == "failure"
    assert "whether its firmware speaks DCBX is not known" in finding.finding


def test_a_host_that_tells_nothing_of_it_is_not_known(bench):
    tell(bench, 4, 5)
    bench.simulated.lab.inject({"kind": "remove-tool", "device": "ServerA", "tool": "mlnx_qos"})
    (finding,) = found(bench, "dcbx")
    assert (finding.level, finding.device, finding.port) == ("not known", *_place(NIC))
    bench.simulated.lab.inject({"kind": "heal", "device": "ServerA"})


def dcbx_of(host, switch, tells=True):
    """What the check says of a cable, by what its two ends show."""
    known = {
        "ServerA": SimpleNamespace(host=True, dcbx={NIC.interface: host}),
        "S6550": SimpleNamespace(host=False, dcbx={AT.interface: switch}),
    }
    lab = SimpleNamespace(
        known=known, setting=lambda end, kind: DcbxSetting(tells=tells), testbed=None
    )
    found = cables._told_to_a_host(lab, NIC, AT)
    return [(each.level, each.device, each.finding) for each in found if each.level != "ok"]


def end_of_cable(at, told, in_force, **more):
    return DcbxState(
        **{"control": "switch", "willing": False, "heard": None} | more,
        device=at.device,
        port=at.interface,
        told=None if told is None else DcbxTold(version="standard", pfc=frozenset(told)),
        in_force=frozenset(in_force),
    )


def test_what_a_switch_tells_and_does_not_show_is_not_known():
    dark = end_of_cable(AT, None, {3}, unknown="in no display")
    host = end_of_cable(NIC, None, {4}, control="firmware", willing=True)
    ((level, device, said),) = dcbx_of(host, dark)
    assert (level, device) == ("not known", "S6550")
    assert said == "what it tells is not shown: in no display"
    assert dcbx_of(host, dark, tells=False) == []
    assert dcbx_of(end_of_cable(NIC, None, {3}, control="os"), dark) == []


def test_a_switch_that_tells_what_it_does_not_do_is_warned_of():
    host = end_of_cable(NIC, None, {3}, control="os")
    ((level, device, said),) = dcbx_of(host, end_of_cable(AT, {3}, {4}))
    assert (level, device) == ("warning", "S6550")
    assert said == "tells PFC on 3, and 4 is in force here"
    assert dcbx_of(host, end_of_cable(AT, {3}, {3})) == []


# -- who sets what ---------------------------------------------------------------------------------


def test_what_the_os_had_set_comes_back_with_its_control(bench):
    bench.lab.change(NIC, PFC, lossless(3))
    bench.lab.change(NIC, ETS, SHARED)
    tell(bench, 4, 5)
    with bench.lab.restoring():
        bench.lab.change(NIC, DCBX_CONTROL, FIRMWARE)
        bench.lab.clock.sleep(3)
        assert state(bench).in_force == {4, 5}
        assert state(bench).willing is True
        assert state(bench, AT).heard.pfc == {4, 5}
        assert bench.lab.current(NIC, ETS) != SHARED
    assert bench.lab.current(NIC, DCBX_CONTROL) == DcbxControl(
        by="os", pfc=frozenset({3}), ets=SHARED
    )
    assert state(bench).control == "os"
    bench.lab.clock.sleep(3)
    assert bench.lab.current(NIC, PFC) == lossless(3)
    assert state(bench, AT).heard is None


def test_a_setting_of_the_os_is_overwritten_while_firmware_has_the_port(bench):
    tell(bench, 4, 5)
    bench.lab.change(NIC, DCBX_CONTROL, FIRMWARE)
    bench.lab.clock.sleep(3)
    with pytest.raises(DeviceError) as overwritten:
        bench.lab.change(NIC, PFC, lossless(3))
    assert "DCBX in firmware" in str(overwritten.value)


def test_hosts_follow_what_the_switch_tells_next(bench):
    tell(bench, 4, 5)
    bench.lab.change(NIC, DCBX_CONTROL, FIRMWARE)
    for priorities in ((1,), (), (2, 7)):
        bench.lab.change(AT, PFC, lossless(*priorities))
        bench.lab.clock.sleep(3)
        assert state(bench).in_force == set(priorities)


def test_versions_that_differ_change_nothing(bench):
    bench.lab.change(NIC, PFC, lossless(3))
    tell(bench, 4, 5, version="rev100")
    bench.lab.change(NIC, DCBX_CONTROL, FIRMWARE)
    bench.lab.clock.sleep(3)
    assert state(bench).in_force == {3}


def test_a_port_whose_classes_are_not_all_shown_is_not_given_away(bench):
    run = bench.lab.connection("ServerA").run
    run(f"mlnx_qos -i {NIC.interface} -p 0,0,0,0,0,0,0,0", hide=True)
    with pytest.raises(CommandRejected, match="could not be put back"):
        bench.lab.change(NIC, DCBX_CONTROL, FIRMWARE)


def _place(at):
    return at.device, at.interface
