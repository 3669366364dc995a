"""A snapshot has the whole state, stays the same as long as the state does, and tells changes."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from snapshot_lab import OUT, open_bench
from typed import typed

from labtests.__main__ import main
from labtests.capabilities.records import PfcSetting, QueueLimitSetting, TrustSetting
from labtests.capabilities.settings import SETTINGS, kind_of
from labtests.core.errors import LabError
from labtests.inventory import Endpoint
from labtests.journal.values import readable
from labtests.recovery.snapshot import compare, read, write
from labtests.recovery.snapshot.command import lines
from labtests.recovery.snapshot.comparing import SnapshotDifference
from labtests.recovery.snapshot.files import AFTER, BEFORE, text

AT = Endpoint(device="S6550", interface=OUT)
NIC = Endpoint(device="ServerA", interface="enp3s0f0np0")
ON = PfcSetting(mode="on", priorities=frozenset({3}))


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with open_bench(tmp_path_factory.mktemp("snapshot")) as opened:
        yield opened


@pytest.fixture(scope="module")
def found(bench):
    return bench.take()


def test_every_setting_of_every_port_of_the_testbed_is_in_it(bench, found):
    for device in bench.testbed.devices:
        ports = found.devices[device.name]["ports"]
        assert set(ports) == {port.interface for port in device.ports}
        for port in ports.values():
            assert set(port["settings"]) <= set(SETTINGS)
            assert {"pfc", "trust", "dscp_map"} <= set(port["settings"])
    switch, nic = (found.devices[at.device]["ports"][at.interface] for at in (AT, NIC))
    assert {"ecn", "scheduling"} <= set(switch["settings"])
    assert {"reaction_point", "dcqcn_rp", "dcqcn_np"} <= set(nic["settings"])
    assert nic["link"]["value"]["mtu_bytes"] == 1500
    assert nic["roce"]["value"]["v2_addresses"] == ["192.168.10.10"]
    assert found.devices["ServerA"]["versions"]["value"]["firmware"]


def test_the_same_state_gives_the_same_bytes(bench, found):
    again = replace(bench.take(), taken=found.taken)
    assert text(again) == text(found)


def test_a_host_is_asked_in_one_exchange(bench):
    before = {name: each.sent for name, each in bench.lab.transports.items()}
    bench.take()
    sent = {name: each.sent - before[name] for name, each in bench.lab.transports.items()}
    assert {sent[n] for n in ("ServerA", "ServerB", "ServerC")} == {1}
    # display version and the DSCP map once, each port's configuration once
    assert sent["S6550"] <= 2 + 3 * 6


def test_what_was_changed_is_told_with_device_port_setting_before_and_after(bench, found):
    with bench.lab.restoring():
        bench.lab.change(AT, kind_of("pfc"), ON)
        bench.lab.change(NIC, kind_of("reaction_point"), frozenset())
        differences = compare(found, bench.take())
    assert {(d.device, d.port, d.setting) for d in differences} == {
        ("S6550", OUT, "pfc"),
        ("ServerA", NIC.interface, "reaction_point"),
    }
    pfc = next(d for d in differences if d.setting == "pfc")
    assert (pfc.before, pfc.after) == ("mode: off, priorities: none", "mode: on, priorities: 3")
    assert compare(found, bench.take()) == ()


def test_a_change_behind_the_lab_s_back_is_told_too(bench, found):
    def by_hand(*commands):
        assert "%" not in bench.lab.transports["S6550"].configure(typed(commands)).text

    by_hand(f"interface {OUT}", "qos trust dscp", "quit")
    try:
        differences = compare(found, bench.take())
    finally:
        by_hand(f"interface {OUT}", "undo qos trust", "quit")
    assert [(d.setting, d.before[:12]) for d in differences] == [("trust", "source: none")]


def test_what_cannot_be_read_is_said_and_is_a_difference(bench, found, tmp_path):
    no_map = found.devices["ServerA"]["ports"][NIC.interface]["settings"]["dscp_map"]
    assert "does not trust DSCP" in no_map["unreadable"]
    with bench.lab.restoring():
        bench.lab.change(NIC, kind_of("trust"), TrustSetting(source="dscp"))
        told = {d.setting: d for d in compare(found, bench.take())}
    assert told["dscp_map"].before.startswith("not readable: ")


def test_a_snapshot_survives_its_file(found, tmp_path):
    write(found, tmp_path / "s.json")
    assert read(tmp_path / "s.json") == found
    assert (tmp_path / "s.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("said", ["[]", "{}", "not json", '{"format": "labtests-snapshot/1"}'])
def test_what_is_no_snapshot_is_refused_with_its_name(tmp_path, said):
    (tmp_path / "x.json").write_text(said)
    with pytest.raises(LabError, match=r"x\.json"):
        read(tmp_path / "x.json")


def test_diff_of_files_and_of_a_run_by_exit_code_and_json(bench, found, tmp_path):
    with bench.lab.restoring():
        bench.lab.change(AT, kind_of("pfc"), ON)
        changed = bench.take()
    write(found, tmp_path / BEFORE)
    write(changed, tmp_path / AFTER)
    write(found, tmp_path / "same.json")
    run = CliRunner().invoke(main, ["diff", str(tmp_path)])
    assert (run.exit_code, f"S6550:{OUT} pfc" in run.output) == (1, True)
    told = CliRunner().invoke(
        main, ["diff", "--json", str(tmp_path / BEFORE), str(tmp_path / AFTER)]
    )
    assert [d["setting"] for d in json.loads(told.output)] == ["pfc"]
    same = CliRunner().invoke(main, ["diff", str(tmp_path), str(tmp_path / "same.json")])
    assert (same.exit_code, "no difference" in same.output) == (0, True)


def test_a_difference_of_limits_is_one_line_a_port():
    def limits(*each):
        return readable(QueueLimitSetting(limits=tuple(enumerate(each))))

    changed = SnapshotDifference(
        device="leaf", port="p1", setting="queue_limits",
        before=limits(*[4096] * 8), after=limits(*[4096] * 7, 0),
    )  # fmt: skip
    assert lines([changed]) == ["leaf:p1 queue_limits: limits: 0-7 4096 -> limits: 0-6 4096, 7 0"]


def test_a_difference_of_several_rows_has_them_below():
    changed = SnapshotDifference(device="leaf", port="p1", setting="ecn", before="a\nb", after="a")
    assert lines([changed]) == ["leaf:p1 ecn", "    before  a", "            b", "    after   a"]
