"""Cyclic buffer dependencies in the check and in that of profiles: no false alarm, none missed."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.capabilities.records import PfcSetting
from labtests.check.cables import CheckedLab
from labtests.check.deadlock import deadlock
from labtests.check.finding import Unknown
from labtests.check.gathering import Known
from labtests.inventory import load
from labtests.topology.of_testbed import switches_of

TESTBEDS = Path(__file__).parents[2] / "testbeds"
NAMES = sorted(path.stem for path in TESTBEDS.glob("*.yaml"))
ON = PfcSetting(mode="on", priorities=frozenset({3}))
OFF = PfcSetting(mode="off", priorities=frozenset())
AUTO = PfcSetting(mode="auto", priorities=frozenset({3}))
RING = load(TESTBEDS / "h3c-ring.yaml")
PLAIN = replace(RING, roles={})
"""The same cables, and nobody says that they are meant so."""


def seen(testbed, pfc=ON, told=None):
    switches = switches_of(testbed)
    known = {
        device.name: Known(
            name=device.name,
            host=device.name not in switches,
            settings={
                (port.interface, "pfc"): (told or {}).get((device.name, port.interface), pfc)
                for port in device.ports
            },
        )
        for device in testbed.devices
    }
    return list(deadlock(CheckedLab(testbed, known)))


def test_a_ring_with_pfc_on_is_a_warning_with_ports_and_remedy():
    (finding,) = seen(PLAIN)
    assert (finding.level, finding.device) == ("warning", "ring1")
    assert finding.port == "Twenty-FiveGigE1/0/55"
    assert "priority 3: ring1:Twenty-FiveGigE1/0/55 -> ring2:" in finding.finding
    assert (
        "other routes for traffic that enters ring2 on port Twenty-FiveGigE1/0/56" in finding.remedy
    )


def test_a_ring_that_is_made_to_have_one_is_a_note():
    (finding,) = seen(RING)
    assert finding.level == "note"
    assert "made to have it (role `ring`)" in finding.finding
    smaller = replace(RING, roles={"ring": RING.roles["ring"][:4]})
    assert [each.level for each in seen(smaller)] == ["warning"]


def renamed(end):
    return replace(end, device=f"other-{end.device}")


def with_another(testbed, joined):
    """A second ring, of which no role says anything; joined to the first by a cable or not."""
    devices = [replace(each, name=f"other-{each.name}") for each in testbed.devices]
    links = [replace(each, a=renamed(each.a), b=renamed(each.b)) for each in testbed.links]
    bridge = replace(
        links[-1],
        a=replace(links[-1].a, device="ring3", interface="Twenty-FiveGigE1/0/2"),
        b=replace(links[-1].a, device="other-ring3", interface="Twenty-FiveGigE1/0/2"),
    )
    return replace(
        testbed,
        devices=(*testbed.devices, *devices),
        links=(*testbed.links, *links, *([bridge] if joined else [])),
    )


@pytest.mark.parametrize("joined", [False, True])
def test_a_ring_on_purpose_hides_no_other_cycle(joined):
    told = {(f"{at}ring3", "Twenty-FiveGigE1/0/2"): ON for at in ("", "other-")}
    found = seen(with_another(RING, joined), told=told)
    assert [each.level for each in found] == ["warning", "note"]
    assert found[0].device == "other-ring1"
    assert "made to have it" not in found[0].finding
    assert found[1].device == "ring1"


def test_a_ring_on_purpose_hides_no_port_that_does_not_tell():
    unknown = {("other-ring1", "Twenty-FiveGigE1/0/55"): Unknown(why="no answer")}
    found = seen(with_another(RING, joined=False), told=unknown)
    assert [each.level for each in found] == ["not known", "note"]
    assert found[0].device == "other-ring1"


def test_with_pfc_off_somewhere_in_each_cycle_nothing_is_said():
    assert [each.level for each in seen(PLAIN, OFF)] == ["ok"]
    gap = {("ring1", "Twenty-FiveGigE1/0/55"): OFF}
    assert [each.level for each in seen(PLAIN, ON, gap)] == ["ok"]
    other = {("ring1", "Twenty-FiveGigE1/0/55"): replace(ON, priorities=frozenset({4}))}
    assert [each.level for each in seen(PLAIN, ON, other)] == ["ok"]


@pytest.mark.parametrize("unknown", [Unknown(why="no answer"), AUTO], ids=["unknown", "auto"])
def test_what_is_not_known_is_not_taken_for_off(unknown):
    (finding,) = seen(PLAIN, ON, {("ring1", "Twenty-FiveGigE1/0/55"): unknown})
    assert finding.level == "not known"
    (finding,) = seen(PLAIN, OFF, {("ring1", "Twenty-FiveGigE1/0/55"): unknown})
    assert finding.level == "ok"


@pytest.mark.parametrize("name", NAMES)
def test_no_testbed_is_warned_of(name):
    testbed = load(TESTBEDS / f"{name}.yaml")
    levels = [each.level for each in seen(testbed)]
    assert levels == (
        [] if len(switches_of(testbed)) == 1 else ["note" if name == "h3c-ring" else "ok"]
    )


def profile_check(testbed, tmp_path):
    profile = tmp_path / "pfc.yaml"
    profile.write_text(
        "name: pfc\nrate_gbit_per_s: 10\nmtu_bytes: 1500\ntrust: dscp\nlossless: [3]\n"
    )
    return CliRunner().invoke(
        main, ["profile", "check", str(profile), "--testbed", str(testbed)], prog_name="labtests"
    )


def test_a_profile_that_would_lock_a_network_is_warned_of(tmp_path):
    text = (TESTBEDS / "h3c-ring.yaml").read_text()
    plain = tmp_path / "plain.yaml"
    plain.write_text(text.replace("  ring: [srv1, srv2, srv3, srv4, srv5]\n", ""))
    shown = profile_check(plain, tmp_path)
    assert shown.exit_code == 0
    assert "on h3c-ring: PFC can deadlock in a cyclic buffer dependency" in shown.stderr
    assert "remedy: other routes for" in shown.stderr
    for name, said in (("h3c-ring", True), ("two-leaves", False), ("h3c-s6550-cx4", False)):
        shown = profile_check(TESTBEDS / f"{name}.yaml", tmp_path)
        assert ("made to have it" in shown.stderr) == said
        assert ("note: " in shown.stderr) == said
        assert shown.stderr.count("warning: ") == 1  # of the profile itself: no watchdog
        assert "; 1 warnings" in shown.stdout
        assert ("remedy: other" in shown.stderr) is False
