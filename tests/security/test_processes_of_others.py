"""Processes that are not labtests' own are not ended, whoever has their number or names them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from labtests.journal.runner import started_ticks
from labtests.linuxlab import ledger as ledgers
from labtests.linuxlab import processes
from labtests.transport.commands import Shell
from labtests.transport.protocol import Reply, Transport
from labtests.workloads import leftovers

RUN = "20250101-000000-abcdef"
ASLEEP = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Ended at last."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def _asleep(*words: str, mark: str = "") -> subprocess.Popen[bytes]:
    marked = {"LABTESTS_RUN": mark} if mark else {}
    command = [*ASLEEP, *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **marked})
    assert process.stdout is not None
    process.stdout.readline()
    return process


class Here:
    """This machine as a host, on which a number has changed hands since it was listed."""

    device = "here"

    def __init__(self, listed: int, now: int) -> None:
        self._numbers = {str(listed): str(now)}

    def run(self, command: Shell, **_: Any) -> Reply:
        text = str(command)
        if "kill" in text:
            for listed, now in self._numbers.items():
                text = text.replace(listed, now)
        done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=False)
        return Reply(
            device=self.device,
            command=command,
            text=done.stdout,
            errors=done.stderr,
            status=done.returncode,
            time_s=0.0,
        )


def test_a_number_that_is_another_s_by_then_is_not_ended(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "GRACE_S", 0)
    ours, other = _asleep(mark=RUN), _asleep()
    started += [ours, other]
    transport = cast(Transport, Here(ours.pid, other.pid))
    with pytest.raises(leftovers.WorkloadError, match="survive KILL"):
        leftovers.sweep(transport, RUN)
    assert other.poll() is None


def test_one_of_the_run_is_ended_even_if_it_does_not_mind_being_told(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "GRACE_S", 0)
    ours = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo; while :; do sleep 60; done"],
        env={**os.environ, "LABTESTS_RUN": RUN},
        stdout=subprocess.PIPE,
    )
    started.append(ours)
    assert ours.stdout is not None
    ours.stdout.readline()
    transport = cast(Transport, Here(ours.pid, ours.pid))
    assert ours.pid in {process.pid for process in leftovers.sweep(transport, RUN)}
    assert ours.wait(10) == -9


def _noted(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    return process.pid, started_ticks(process.pid) or 0


def test_a_process_that_notes_only_name_is_not_ended(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    other = _asleep()
    started.append(other)
    assert processes.end_all([], {tmp_path / "box.a": _noted(other)}) == set()
    assert other.poll() is None


def test_a_process_that_holds_a_box_is_ended(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    holder = _asleep(str(tmp_path / "box.a"))
    started.append(holder)
    noted = _noted(holder)
    assert noted[1] > 0
    assert processes.end_all([], {tmp_path / "box.a": noted}) == set()
    assert holder.wait(10) == -9


def test_notes_of_a_process_that_holds_no_box_are_refused() -> None:
    notes = ledgers.Ledger(name="lab", digest="", runners={"../../x": (1, 1)})
    with pytest.raises(ValueError, match="keeps no device up"):
        ledgers._sound(notes, "lab")


@pytest.mark.parametrize("words", [["exec", "labtests:x:h1"], ["exec"], []])
def test_who_only_writes_like_ip_netns_exec_belongs_to_no_lab(
    words: list[str], started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """Such a process of another user kept a lab up: `down` waited for it to end."""
    (tmp_path / "netns").write_text("import time; print(flush=True); time.sleep(60)")
    like = subprocess.Popen([sys.executable, "netns", *words], cwd=tmp_path, stdout=subprocess.PIPE)
    started.append(like)
    assert like.stdout is not None
    like.stdout.readline()
    here = Path("/proc") / str(like.pid)
    assert processes._belongs(here, set(), ("labtests:x:h1",)) is False
    own = (here / "ns/net").stat()
    assert processes._belongs(here, {(own.st_dev, own.st_ino)}, ("labtests:x:h1",))
