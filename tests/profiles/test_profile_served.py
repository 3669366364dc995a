"""plan, apply and restore against a served lab, over SSH, in processes of their own."""

import json
import sys
from pathlib import Path

import pytest
from recovery_lab import everything, opened

from labtests.errors import CommandRejected
from labtests.inventory import Endpoint
from labtests.records import EtsSetting

PROFILE = str(Path(__file__).parents[2] / "profiles" / "lossless-25g.yaml")
NIC = Endpoint(device="ServerA", interface="enp3s0f0np0")
PORT = Endpoint(device="S6550", interface="Twenty-FiveGigE1/0/13")
SWITCH = Endpoint(device="S6550", interface="")
NEW = (
    (NIC, "mtu", 4200),
    (NIC, "cable_length", 15),
    (
        NIC,
        "ets",
        EtsSetting(
            class_of_priority=(1, 0, 2, 3, 4, 5, 7, 6),
            algorithms=("ets",) * 6 + ("strict",) * 2,
            percent=(10, 10, 20, 20, 20, 20, 0, 0),
        ),
    ),
    (SWITCH, "queue_map", (0, 1, 2, 3, 4, 6, 5, 7)),
    (PORT, "frame_limit", 4222),
    (PORT, "frame_limit", 0),
    (PORT, "headroom", ((3, 98), (5, 200))),
)


@pytest.fixture(scope="module")
def lab(served, tmp_path_factory):
    from recovery_lab import Project

    with opened(Project(tmp_path_factory.mktemp("looking"), served).testbed) as found:
        yield found


def applied(project, *words):
    return project.labtests("apply", PROFILE, "--testbed", str(project.testbed_file), *words)


@pytest.mark.parametrize(("at", "setting", "wanted"), NEW)
def test_a_setting_is_made_read_back_and_put_back(lab, at, setting, wanted):
    earlier = lab.current(at, setting)
    assert earlier != wanted
    with lab.restoring():
        lab.change(at, setting, wanted)
        assert lab.current(at, setting) == wanted
    assert lab.current(at, setting) == earlier


@pytest.mark.parametrize(
    ("at", "setting", "wanted", "said"),
    [
        (NIC, "mtu", 10_000, "greater than device maximum"),
        (PORT, "frame_limit", 100, "Wrong parameter"),
        (PORT, "headroom", ((3, 99_999),), "Wrong parameter"),
    ],
)
def test_what_the_device_refuses_is_heard(lab, at, setting, wanted, said):
    with pytest.raises(CommandRejected, match=said), lab.restoring():
        lab.change(at, setting, wanted)


def test_apply_is_idempotent_and_can_be_restored(project, lab):
    found = everything(lab)
    code, said = project.labtests("plan", PROFILE, "--testbed", str(project.testbed_file))
    assert (code, "to change; nothing was changed" in said) == (0, True), said
    assert everything(lab) == found

    code, said = applied(project, "--run-dir", "first")
    assert (code, "settings changed and read back" in said) == (0, True), said
    assert {name.split()[0] for name, value in everything(lab).items() if value != found[name]} >= {
        "ServerA", "ServerB", "ServerC", "S6550"
    }  # fmt: skip
    after = everything(lab)
    code, said = applied(project, "--run-dir", "second")
    assert (code, "nothing to change: nothing was changed" in said) == (0, True), said
    lines = (project.folder / "second/changes.jsonl").read_text().splitlines()
    journal = [json.loads(line)["kind"] for line in lines]
    assert journal == ["begun", "kept", "ended"]
    assert everything(lab) == after

    code, said = project.labtests("restore", "first")
    assert (code, "cannot" in said) == (0, False), said
    assert everything(lab) == found


def test_a_part_of_the_lab_by_limit(project, lab):
    found = everything(lab)
    code, said = applied(project, "--limit", "ServerB", "--run-dir", "part", "--json")
    document, _ = json.JSONDecoder().raw_decode(said[said.index("{") :])
    assert (code, list(document["devices"]), document["changed"] > 0) == (0, ["ServerB"], True)
    changed = {name for name, value in everything(lab).items() if value != found[name]}
    assert {name.split(":")[0].split()[0] for name in changed} == {"ServerB"}
    assert project.labtests("restore", "part")[0] == 0
    assert everything(lab) == found
    code, said = applied(project, "--limit", "ServerX")
    assert (code, "no device 'ServerX'" in said) == (2, True)


def test_an_apply_that_is_killed_is_found_and_put_back(project, lab):
    found = everything(lab)
    command = [sys.executable, "-m", "labtests", "apply", PROFILE]
    process = project._start([*command, "--testbed", str(project.testbed_file)])
    project.killed(process, "S6550: Twenty-FiveGigE1/0/13 ecn changed")
    assert everything(lab) != found
    code, said = applied(project)
    assert (code, "died and left" in said) == (10, True), said
    code, said = project.labtests("restore")
    assert (code, "restored" in said) == (0, True), said
    assert everything(lab) == found
