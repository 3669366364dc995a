"""`labtests restore SNAPSHOT` makes a served lab as the snapshot has it, whoever changed it."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from recovery_lab import Project, everything, opened

from labtests.__main__ import main
from labtests.capabilities.records import PfcSetting, TrustSetting
from labtests.capabilities.settings import kind_of
from labtests.core.private_files import write_private
from labtests.inventory import Endpoint
from labtests.journal import unfinished_runs
from labtests.simlab.injection import inject

OUT = Endpoint(device="S6550", interface="Twenty-FiveGigE1/0/13")
NIC = Endpoint(device="ServerB", interface="ens6f0np0")
WRONG = {
    (OUT, "pfc"): PfcSetting(mode="on", priorities=frozenset({3, 4})),
    (NIC, "trust"): TrustSetting(source="dscp"),
    (NIC, "reaction_point"): frozenset({1}),
}


def test_the_lab_is_as_in_the_snapshot_and_stays_so(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hands, testbed = CliRunner(), str(project.testbed_file)
    taken = hands.invoke(main, ["snapshot", "--testbed", testbed, "--out", "good.json"])
    assert taken.exit_code == 0, taken.output
    with opened(project.testbed) as lab:
        for (at, setting), value in WRONG.items():
            lab.change(at, kind_of(setting), value)
        lab.ahead.keep()
    hands.invoke(main, ["snapshot", "--testbed", testbed, "--out", "bad.json"])
    told = hands.invoke(main, ["diff", "good.json", "bad.json"])
    assert (told.exit_code, f"{OUT} pfc" in told.output) == (1, True), told.output

    back = hands.invoke(main, ["restore", "good.json"])
    assert (back.exit_code, "the lab is as in good.json" in back.output) == (0, True), back.output
    hands.invoke(main, ["snapshot", "--testbed", testbed, "--out", "after.json"])
    assert hands.invoke(main, ["diff", "good.json", "after.json"]).exit_code == 0
    again = hands.invoke(main, ["restore", "good.json"])
    assert "(0 changes;" in again.output
    assert unfinished_runs() == []


@pytest.fixture
def wrong(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A snapshot from before somebody changed the lab; the lab is put back in the end."""
    monkeypatch.chdir(tmp_path)
    good = tmp_path / "good.json"
    words = ["snapshot", "--testbed", str(project.testbed_file), "--out", str(good)]
    assert CliRunner().invoke(main, words).exit_code == 0
    with opened(project.testbed) as lab:
        for (at, setting), value in WRONG.items():
            lab.change(at, kind_of(setting), value)
        lab.ahead.keep()
    yield good
    back = CliRunner().invoke(main, ["restore", str(good)])
    assert back.exit_code == 0, back.output


def test_what_one_kind_of_lab_was_like_is_not_made_of_another(
    project: Project, wrong: Path
) -> None:
    """A dry run's state-before.json was put on the boxes, and nobody said so."""
    of_boxes = wrong.with_name("boxes.json")
    write_private(of_boxes, wrong.read_text().replace('"simulated"', '"hardware"'))
    with opened(project.testbed) as lab:
        before = everything(lab)
    back = CliRunner().invoke(main, ["restore", str(of_boxes)])
    assert back.exit_code == 2, back.output
    assert "is of a lab that is hardware, and this one is simulated" in back.output
    with opened(project.testbed) as lab:
        assert everything(lab) == before
    assert unfinished_runs() == []


def restoring(project: Project, good: Path) -> "subprocess.Popen[str]":
    return project._start([sys.executable, "-m", "labtests", "restore", str(good)])


def wait_for(project: Project, text: str) -> str:
    """The restore's change journal, as soon as this is in it."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        for journal in project.folder.glob("reports/*/*-restore/changes.jsonl"):
            if text in (written := journal.read_text()):
                return written
        time.sleep(0.05)
    raise AssertionError(f"no {text} in any change journal")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_restore_that_is_ended_half_way_leaves_the_lab_as_it_was(
    project: Project, wrong: Path, number: signal.Signals
) -> None:
    with opened(project.testbed) as lab:
        before = everything(lab)
    fault = {"device": NIC.device, "command": f"mlnx_qos -i {NIC.interface} --trust"}
    inject(project.served.directory, {"kind": "hang", **fault})
    process = restoring(project, wrong)
    try:
        written = wait_for(project, '"setting": "trust"')
        assert written.index('"setting": "pfc"') < written.index('"setting": "trust"')  # is ahead
    finally:
        inject(project.served.directory, {"kind": "heal", "device": NIC.device})
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, f"interrupted by {number.name}" in said) == (10, True), said
    with opened(project.testbed) as lab:
        assert everything(lab) == before
    assert unfinished_runs() == []
    assert "free" in project.labtests("who", str(project.testbed_file))[1]


def test_a_restore_that_is_killed_is_found_by_the_next(project: Project, wrong: Path) -> None:
    fault = {"device": NIC.device, "command": f"mlnx_qos -i {NIC.interface} --trust"}
    inject(project.served.directory, {"kind": "hang", **fault})
    process = restoring(project, wrong)
    try:
        wait_for(project, '"setting": "trust"')
    finally:
        process.kill()
        process.communicate(timeout=60)
        inject(project.served.directory, {"kind": "heal", "device": NIC.device})
    again = CliRunner().invoke(main, ["restore", str(wrong)])
    assert again.exit_code != 0
    assert "died and left" in str(again.output) + str(again.exception)
    back = CliRunner().invoke(main, ["restore"])
    assert back.exit_code == 0, back.output


def test_nothing_is_restored_in_a_lab_that_somebody_has_locked(
    project: Project, wrong: Path
) -> None:
    file = str(project.testbed_file)
    with opened(project.testbed) as lab:
        before = everything(lab)
    assert project.labtests("lock", file, "--why", "cabling")[0] == 0
    try:
        refused = CliRunner().invoke(main, ["restore", str(wrong)])
        assert (refused.exit_code, "cabling" in refused.output) == (15, True), refused.output
        with opened(project.testbed) as lab:
            assert everything(lab) == before
    finally:
        assert project.labtests("unlock", file)[0] == 0


def test_a_restore_writes_no_password(
    project: Project, wrong: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease's reason is in what is written; here the password is a word of it."""
    monkeypatch.setenv("LAB_PASSWORD", "dcqcn_secret_word")
    named = project.folder / "dcqcn_secret_word.json"
    named.write_bytes(wrong.read_bytes())
    text = project.testbed_file.read_text()
    with_password = text.replace("\n  user: root", "\n  user: root\n  password_env: LAB_PASSWORD")
    assert with_password != text
    project.testbed_file.write_text(with_password)
    back = CliRunner().invoke(main, ["restore", str(named)])
    assert back.exit_code == 0, back.output
    (folder,) = (project.folder / "reports").glob("*/*-restore")
    for file in folder.iterdir():
        assert b"dcqcn_secret_word" not in file.read_bytes()
        assert file.stat().st_mode & 0o077 == 0
