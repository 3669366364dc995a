"""plan, apply and restore against a served lab, over SSH, in processes of their own."""

import json
import signal
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from recovery_lab import everything, opened

from labtests.__main__ import main
from labtests.capabilities.facts import LinkState
from labtests.capabilities.records import EtsSetting
from labtests.capabilities.settings import kind_of
from labtests.core.errors import CommandRejected
from labtests.inventory import Endpoint

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


@pytest.fixture(autouse=True)
def in_its_folder(project, monkeypatch):
    monkeypatch.chdir(project.folder)


def labtests(*words):
    """In this process; `project.labtests` is for what must be another one, such as restore."""
    found = CliRunner().invoke(main, words, prog_name="labtests")
    return found.exit_code, found.output


def applied(project, *words):
    return labtests("apply", PROFILE, "--testbed", str(project.testbed_file), *words)


def kinds(folder):
    lines = (folder / "changes.jsonl").read_text().splitlines()
    return [json.loads(line)["kind"] for line in lines]


def exchanges(folder, device):
    lines = map(json.loads, (folder / "journal.jsonl").read_text().splitlines())
    return [x for x in lines if x["device"] == device and x["kind"] in ("run", "configure")]


@pytest.mark.parametrize(("at", "setting", "wanted"), NEW)
def test_a_setting_is_made_read_back_and_put_back(lab, at, setting, wanted):
    earlier = lab.current(at, kind_of(setting))
    assert earlier != wanted
    with lab.restoring():
        lab.change(at, kind_of(setting), wanted)
        assert lab.current(at, kind_of(setting)) == wanted
    assert lab.current(at, kind_of(setting)) == earlier


def test_the_switch_shows_the_frame_length_that_was_set(lab):
    switch = lab.part("S6550", LinkState)
    with lab.restoring():
        lab.change(PORT, kind_of("frame_limit"), 4222)
        assert lab.ask("S6550", switch.link(PORT.interface)).frame_bytes == 4222
    assert lab.ask("S6550", switch.link(PORT.interface)).frame_bytes == 10_000


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
        lab.change(at, kind_of(setting), wanted)


def test_apply_is_idempotent_and_can_be_restored(project, lab):
    found = everything(lab)
    code, said = applied(project, "--run-dir", "first")
    assert (code, "settings changed and read back" in said) == (0, True), said
    after = everything(lab)
    devices = {name.split(":")[0].split()[0] for name in after if after[name] != found[name]}
    assert devices == {"ServerA", "ServerB", "ServerC", "S6550"}

    sent = [x["kind"] for x in exchanges(project.folder / "first", "S6550")]
    assert 0 < sent.count("run") <= 6 * sent.count("configure"), "reads grow with the changes"

    code, said = applied(project, "--run-dir", "second")
    assert (code, "no changes needed" in said) == (0, True), said
    assert kinds(project.folder / "second") == ["begun", "kept", "ended"]
    assert everything(lab) == after

    code, said = project.labtests("restore", "first")
    assert (code, "cannot" in said) == (0, False), said
    assert everything(lab) == found


def test_a_plan_changes_nothing_and_asks_a_host_once(project, lab):
    found = everything(lab)
    words = (PROFILE, "--testbed", str(project.testbed_file), "--run-dir", "plan")
    code, said = labtests("plan", *words)
    assert (code, "to change; nothing was changed" in said) == (0, True), said
    assert "mlnx_qos -i ens6f0np0 -f 0,0,0,1,0,0,0,0" in said
    assert len(exchanges(project.folder / "plan", "ServerB")) == 1
    assert not [x for x in exchanges(project.folder / "plan", "S6550") if x["kind"] != "run"]
    assert everything(lab) == found


def test_a_part_of_the_lab_by_limit(project, lab):
    found = everything(lab)
    code, said = applied(project, "--limit", "ServerB", "--run-dir", "part", "--json")
    document, _ = json.JSONDecoder().raw_decode(said[said.index("{") :])
    assert (code, list(document["devices"]), document["changed"] > 0) == (0, ["ServerB"], True)
    changed = {name for name, value in everything(lab).items() if value != found[name]}
    assert {name.split(":")[0].split()[0] for name in changed} == {"ServerB"}
    back = project.labtests("restore", "part")
    assert back[0] == 0, back
    assert everything(lab) == found
    code, said = applied(project, "--limit", "ServerX")
    assert (code, "no device 'ServerX'" in said) == (2, True)


@pytest.mark.parametrize("part", [(), ("--limit", "ServerB"), ("--limit", "S6550")])
def test_nothing_is_applied_to_a_lab_that_somebody_has_locked(project, lab, part):
    found, file = everything(lab), str(project.testbed_file)
    assert labtests("lock", file, "--why", "cabling")[0] == 0
    try:
        code, said = applied(project, *part)
        assert (code, "cabling" in said, "labtests unlock" in said) == (15, True, True), said
        assert everything(lab) == found
    finally:
        assert labtests("unlock", file)[0] == 0


def started(project):
    words = [sys.executable, "-m", "labtests", "apply", PROFILE]
    return project._start([*words, "--testbed", str(project.testbed_file)])


def test_an_apply_that_is_killed_is_found_and_put_back(project, lab):
    found = everything(lab)
    project.killed(started(project), "S6550: Twenty-FiveGigE1/0/13 ecn changed")
    assert everything(lab) != found
    code, said = applied(project)
    assert (code, "died and left" in said) == (10, True), said
    code, said = project.labtests("restore")
    assert (code, "restored" in said) == (0, True), said
    assert everything(lab) == found


def test_an_apply_that_is_cancelled_puts_everything_back_itself(project, lab):
    found = everything(lab)
    process = started(project)
    for line in process.stdout:
        if "S6550: Twenty-FiveGigE1/0/13 ecn changed" in line:
            process.send_signal(signal.SIGTERM)
            break
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, "interrupted" in said) == (1, True), said
    assert everything(lab) == found
    assert project.labtests("restore", "--list")[1] == "no unfinished runs; nothing to restore\n"
