"""`labtests restore` that is told to end: the change under way is finished, the rest is said."""

import signal
from pathlib import Path

import pytest
from click.testing import CliRunner
from recovery_lab import Project, everything, opened

import labtests.lab.lab as lab_room
from labtests.__main__ import main
from labtests.core import signals
from labtests.core.signals import noted
from labtests.journal import read_changes

PROFILE = str(Path(__file__).parents[2] / "profiles" / "lossless-25g.yaml")
SUITE = """
import os, signal

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import REACTION_POINT


def test_it(incast):
    incast.trust_dscp()
    incast.pfc_at_switch(PfcSetting(mode="on", priorities=frozenset({3, 5})))
    incast.set(incast.senders[0].nic, REACTION_POINT, frozenset({1, 2}))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def left(run_folder: Path) -> int:
    return len(read_changes(run_folder / "changes.jsonl").entries)


def restore(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, *words: str
) -> tuple[int, str]:
    """`labtests restore` in this process; the signal comes in the middle of its first undoing."""
    recorded, sent = lab_room.Lab._record, []

    def record(self, *what, **how):
        if not sent:
            sent.append(number)
            signal.raise_signal(number)
        return recorded(self, *what, **how)

    with monkeypatch.context() as patched:
        patched.setattr(lab_room.Lab, "_record", record)
        done = CliRunner().invoke(main, ["restore", *words])
    assert sent == [number]
    return done.exit_code, done.output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_behind_the_change_under_way_and_the_next_goes_on(
    project: Project, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    project.suite(SUITE)
    handlers = [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
    with opened(project.testbed) as lab:
        found = everything(lab)
        assert project.pytest("--run-dir", "died")[0] == -signal.SIGKILL
        begun = left(project.folder / "died")
        code, said = restore(number, monkeypatch)
        there = left(project.folder / "died")
        assert code == 10
        assert 0 < there < begun
        assert f"stopped by {number.name}; still to be put back: {there}" in said
        assert said.count("\n    ") >= there  # each of them by name
        assert "nothing more is done; to go on: labtests restore " in said
        free = CliRunner().invoke(main, ["who", str(project.testbed_file)]).output
        assert "put back run" not in free  # nobody has to wait until its lease runs out

        again = said.rpartition("to go on: labtests ")[2].split()
        code, more = project.labtests(*again)
        assert (code, more.count("\nrestored ")) == (0, there), more
        assert everything(lab) == found
    assert handlers == [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]


def test_a_kept_apply_that_is_put_back_half_way_is_found_by_its_folder(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(project.testbed) as lab:
        found = everything(lab)
        lab_file = str(project.testbed_file)
        code, said = project.labtests(
            "apply", PROFILE, "--testbed", lab_file, "--limit", "S6550", "--run-dir", "kept"
        )
        assert code == 0, said
        code, said = restore(signal.SIGTERM, monkeypatch, str(project.folder / "kept"))
        assert (code, "still to be put back" in said) == (10, True), said
        again = said.rpartition("to go on: labtests ")[2].split()
        code, more = project.labtests(*again)
        assert code == 0, more
        assert everything(lab) == found


def test_a_second_ctrl_c_interrupts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "TWICE_S", 0.0)  # no timeout of coreutils, which sends two
    with noted() as seen:
        assert not seen
        signal.raise_signal(signal.SIGINT)
        assert seen.name == "SIGINT"
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
