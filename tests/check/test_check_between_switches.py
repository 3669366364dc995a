"""Two switches: what has to agree between them, on a lab whose switches are logged in to.

A setting is made on one end with the driver, and seen in the check; what a setting cannot do, a
fault does.
"""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from labtests.capabilities.records import DcbxSetting, PfcSetting, TrustSetting
from labtests.capabilities.settings import kind_of
from labtests.check import check, judged
from labtests.inventory import Endpoint

sys.path.insert(0, str(Path(__file__).parents[1] / "snapshot"))

from snapshot_lab import open_bench

TESTBED_FILE = Path(__file__).parents[2] / "testbeds" / "two-leaves.yaml"
PORT = "HundredGigE1/0/25"
HERE, THERE = (Endpoint(device=leaf, interface=PORT) for leaf in ("leaf1", "leaf2"))
DSCP = TrustSetting(source="dscp")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with open_bench(tmp_path_factory.mktemp("leaves"), TESTBED_FILE) as opened:
        yield opened


def found(bench, idle_s=0.0):
    done = check(bench.lab, idle_s=idle_s)
    return judged(done.findings)


def failures(bench):
    return [f for f in found(bench) if f.level == "failure"]


def test_a_fresh_lab_of_two_switches_is_fit_and_its_trunk_was_looked_at(bench):
    findings = found(bench, idle_s=1)
    assert [f for f in findings if f.level == "failure"] == []
    of_trunk = {f.check for f in findings if f.port == PORT and f.level == "ok"}
    assert of_trunk == {"cabling", "speed", "mtu", "trust", "queue map", "pfc"}
    heard = [(f.device, f.finding) for f in findings if f.check == "cabling" and f.port == PORT]
    assert heard == [
        ("leaf1", f"{THERE} is at the other end"),
        ("leaf2", f"{HERE} is at the other end"),
    ]


CASES = [
    (HERE, "dscp_map", lambda now: (*now[:26], 5, *now[27:]), "DSCP 26: 5 here, DSCP 26: 3 at"),
    (THERE, "queue_map", lambda now: (*now[:3], 4, *now[4:]), "priority 3: 4 at"),
]


@pytest.mark.parametrize(("end", "setting", "wanted", "said"), CASES, ids=[c[1] for c in CASES])
def test_a_setting_at_one_end_of_the_trunk_only_is_a_failure(bench, end, setting, wanted, said):
    with bench.lab.restoring():
        if setting == "dscp_map":  # it decides something only where DSCP is trusted
            for each in (HERE, THERE):
                bench.lab.change(each, kind_of("trust"), DSCP)
            assert failures(bench) == []
        at = replace(end, interface="") if setting == "queue_map" else end
        bench.lab.change(at, kind_of(setting), wanted(bench.lab.current(at, kind_of(setting))))
        (failure,) = failures(bench)
        assert (failure.device, failure.port) == ("leaf1", PORT)
        assert failure.check == setting.replace("_", " ")
        assert said in failure.finding
        assert f"at {THERE}" in failure.finding
        assert "labtests plan" in failure.remedy
    assert failures(bench) == []


MADE = {
    "pfc": (HERE, PfcSetting(mode="on", priorities=frozenset({3})), "3"),
    "trust": (THERE, DSCP, "dscp at leaf2"),
}


@pytest.mark.parametrize("setting", MADE)
@pytest.mark.parametrize("level", ["warning", "failure"])
def test_what_suites_make_on_the_way_is_a_warning_there_only(bench, monkeypatch, setting, level):
    """A Cumulus leaf and a SONiC spine as delivered trust different things: no suite could run."""
    end, wanted, said = MADE[setting]
    if level == "failure":  # all are plugged in beside the receiver: none of them is on a way
        roles = bench.lab.testbed.roles
        beside = replace(bench.lab.testbed, roles={**roles, "senders": roles["receiver"]})
        monkeypatch.setattr(bench.lab, "testbed", beside)
    with bench.lab.restoring():
        bench.lab.change(end, kind_of(setting), wanted)
        (different,) = [f for f in judged(check(bench.lab, idle_s=0.0).findings)
                        if f.port == PORT and f.check == setting and f.level != "ok"]  # fmt: skip
        assert different.level == level
        assert said in different.finding


@pytest.mark.parametrize("there", [None, "rev100"])
def test_switches_that_speak_dcbx_speak_the_same_version(bench, there):
    with bench.lab.restoring():
        bench.lab.change(HERE, kind_of("dcbx"), DcbxSetting(tells=True, version="rev101"))
        if there:
            bench.lab.change(THERE, kind_of("dcbx"), DcbxSetting(tells=True, version=there))
        (different,) = [f for f in found(bench) if f.check == "dcbx"]
        assert (different.level, different.device, different.port) == ("warning", "leaf1", PORT)
        assert f"at {THERE}" in different.finding
        bench.lab.change(THERE, kind_of("dcbx"), DcbxSetting(tells=True, version="rev101"))
        (alike,) = [f for f in found(bench) if f.check == "dcbx"]
        assert alike.level == "ok"
    assert not [f for f in found(bench) if f.check == "dcbx"]


def test_a_trunk_port_that_passes_no_such_frames_is_a_failure_of_that_port(bench):
    with bench.lab.restoring():
        bench.lab.change(THERE, kind_of("frame_limit"), 1518)
        (failure,) = failures(bench)
    assert (failure.check, failure.device, failure.port) == ("mtu", "leaf2", PORT)
    assert "1518" in failure.finding
    assert "1522" in failure.finding  # 1500 of a host's packet and 22 around it
    assert "jumboframe" in failure.remedy


def test_a_trunk_in_the_wrong_port_is_named_from_both_ends(bench):
    wrong = "Twenty-FiveGigE1/0/1"
    bench.simulated.fault(kind="cabling", device="leaf1", port=PORT, neighbour=f"leaf2:{wrong}")
    bench.simulated.fault(kind="cabling", device="leaf2", port=PORT, neighbour="")
    (failure,) = failures(bench)
    assert (failure.check, failure.device, failure.port) == ("cabling", "leaf1", PORT)
    assert f"leaf2 ({wrong}" in failure.finding
    assert f"{THERE} should be" in failure.finding
    assert "move the cable" in failure.remedy
    for leaf, peer in (("leaf1", "leaf2"), ("leaf2", "leaf1")):
        bench.simulated.fault(kind="cabling", device=leaf, port=PORT, neighbour=f"{peer}:{PORT}")
    assert failures(bench) == []


def test_fec_of_which_an_end_says_nothing_is_never_good_and_the_line_says_which_end(bench):
    bench.simulated.fault(kind="fec", device="srv1", port="ens1f0np0", encoding="BaseR")
    told = [f for f in found(bench) if f.check == "fec"]
    assert {f.level for f in told} == {"not known", "warning"}  # no line is ok
    dark = {(f.device, f.port): f for f in told if f.level == "not known"}
    assert len(dark) == 6  # every port of the switches, and no other
    assert {device for device, _ in dark} == {"leaf1", "leaf2"}
    to_host = dark["leaf1", "Twenty-FiveGigE1/0/1"]
    assert "this end does not report its active FEC" in to_host.finding
    assert "srv1:ens1f0np0 has baser" in to_host.finding
    assert "nor does the other" in dark["leaf1", PORT].finding
    assert all(f.remedy for f in told)
    assert [f.device for f in told if f.level == "warning"] == ["srv1"]  # unlike the other hosts
