"""Somebody else comes in at every step of a taking of the lease: never do two have it, and it is
never nobody's who was told that it is his."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which

import pytest
from lease_lab import LocalShell, held_at

from labtests.core.errors import LabError
from labtests.lease.held import Held
from labtests.lease.record import me
from labtests.lease.register import Register
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Reply

pytestmark = pytest.mark.skipif(which("bash") is None, reason="steps are bash's DEBUG trap")
LOOK_EVERY_S = 0.002
STEPS_AT_MOST = 60
_TRAP = """set -T; trap 'n=$((n+1)); if [ "$n" -eq STEP ] && mkdir HERE 2>/dev/null
then until [ -e GO ]; do sleep 0.01; done; fi' DEBUG
"""


class Stepping(LocalShell):
    """The script that writes the next record stops before its command of this number, until
    somebody else has done something."""

    def __init__(self, place: Path, step: int, meanwhile: Callable[[], None]) -> None:
        super().__init__()
        self.stopped = False
        self._place, self._step, self._meanwhile = place, step, meanwhile

    def run(self, command: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        if self.stopped or "link t." not in command:
            return super().run(command, timeout_s=timeout_s)
        here, go = self._place / f"here{self._step}", self._place / f"go{self._step}"
        words = {"STEP": str(self._step), "HERE": str(here), "GO": str(go)}
        trap = _TRAP
        for word, text in words.items():
            trap = trap.replace(word, text)
        process = subprocess.Popen(
            ["bash", "-c", f"n=0\n{trap}{command}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while process.poll() is None and not here.exists():
            time.sleep(LOOK_EVERY_S)
        self.stopped = here.exists()
        if self.stopped:
            self._meanwhile()
            go.touch()
        text, errors = process.communicate(timeout=timeout_s)
        return Reply(
            device="here", command=command, text=text, errors=errors, status=process.returncode
        )


def take(folder: Path, other: Held) -> None:
    other.take()


def force(folder: Path, other: Held) -> None:
    other.take(force=True)


def unlock(folder: Path, other: Held) -> None:
    """`labtests unlock --force`."""
    register = Register(LocalShell(), str(folder))
    seen = register.look()
    register.append(seen, me("free", since=seen.now.date))


def has_it(held: Held) -> bool:
    held.register._transport = LocalShell()  # type: ignore[assignment]
    try:
        held.expect_held()
    except LabError:
        return False
    return True


def attempted(act: Callable[[], object]) -> bool:
    try:
        act()
    except LabError:
        return False
    return True


@pytest.mark.parametrize("act", [take, force, unlock])
@pytest.mark.parametrize("used", [False, True])
def test_at_every_step_one_has_it_at_most_and_who_was_told_so_knows(
    tmp_path: Path, used: bool, act: Callable[[Path, Held], None]
) -> None:
    for step in range(1, STEPS_AT_MOST):
        folder = tmp_path / f"lease{step}"
        if used:
            before = held_at(folder, "before")
            before.take()
            before.give_back()
        other, told = held_at(folder, "other"), list[bool]()

        def meanwhile(folder: Path = folder, other: Held = other, told: list[bool] = told) -> None:
            told.append(attempted(lambda: act(folder, other)))

        shell = Stepping(tmp_path, step, meanwhile)
        mine = held_at(folder, "mine", transport=shell)
        won = attempted(mine.take)
        have = [
            won and has_it(mine),
            bool(told and told[0]) and act is not unlock and has_it(other),
        ]
        assert have != [True, True], step
        assert any(have) or act is unlock, step  # somebody was told, and it is true
        if not shell.stopped:
            break
    assert 8 < step < STEPS_AT_MOST - 1  # it did stop at each
