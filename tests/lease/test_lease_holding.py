"""A lab is changed by its holder only: frozen, dead, locked out, cut off, or late."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lease_lab import Emulated, LocalShell, held_at, run_holder
from leased_box import LEVEL, PORT, Box, toy_lab

from labtests.core.clock import WallClock
from labtests.core.errors import (
    LabErrors,
    LeaseBusy,
    LeaseLost,
    LeaseUnusable,
    LeaseUnwritable,
    Unreachable,
)
from labtests.inventory import LeasePlace
from labtests.lease.held import Held
from labtests.lease.holding import Terms, holding
from labtests.lease.record import me
from labtests.lease.register import Register
from labtests.transport.protocol import Reply

HERE = Path(__file__).parent
EXPIRES_AFTER_S = 3.0  # a runner on a busy machine beats four times in it, with seconds to spare
pytestmark = pytest.mark.usefixtures("toy_platform")


def place(folder: Path, expires_after_s: float = 60.0) -> LeasePlace:
    return LeasePlace(path=str(folder), expires_after_s=expires_after_s, by_default=False)


def first_runner(folder: Path, box: Path) -> "subprocess.Popen[str]":
    """In a process of its own, and already changing the box."""
    root = HERE.parents[1]
    runner = subprocess.Popen(
        [sys.executable, HERE / "lease_runner.py", folder, box, str(EXPIRES_AFTER_S)],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert runner.stdout is not None
    assert runner.stdout.readline() == "changed\n"
    return runner


def taken_within(held: Held, deadline_s: float) -> float:
    """Seconds until it could be taken."""
    begun_s = time.monotonic()
    while True:
        try:
            held.take()
            return time.monotonic() - begun_s
        except LeaseBusy:
            assert time.monotonic() < begun_s + deadline_s
            time.sleep(0.05)


def test_a_frozen_holder_stops_before_its_next_change(folder: Path, tmp_path: Path) -> None:
    box = tmp_path / "box"
    runner = first_runner(folder, box)
    try:
        time.sleep(2 * EXPIRES_AFTER_S)  # it lives: its heartbeats keep the others out
        with pytest.raises(LeaseBusy, match="to be frozen"):
            held_at(folder, "early").take()
        runner.send_signal(signal.SIGSTOP)
        second = held_at(folder, "second", expires_after_s=60.0)
        taken_within(second, 20 * EXPIRES_AFTER_S)
        before = box.read_text()
        with box.open("a") as file:
            file.write("second 1000000\n")
        runner.send_signal(signal.SIGCONT)
        said, _ = runner.communicate(timeout=60)
    finally:
        runner.kill()
        runner.wait()
    # At most what was on its way when it was frozen, then nothing, not even the undo: its level
    # goes on by one, and an undo would go back to the first.
    on_its_way = f"first {len(before.splitlines()) + 1}\n"
    assert box.read_text().removesuffix(on_its_way) == before + "second 1000000\n"
    assert "the lease was lost; nothing is changed any more" in said
    assert "run second" in said
    assert said.splitlines()[-1] != "0 left"  # for `labtests restore`, when the lab is free again
    second.expect_held()


def test_a_killed_holder_of_this_machine_is_known_to_be_dead(folder: Path, tmp_path: Path) -> None:
    runner = first_runner(folder, tmp_path / "box")
    runner.kill()
    runner.communicate()
    elsewhere = run_holder("elsewhere")
    seen = Register(LocalShell(), str(folder)).look()
    assert seen.holder is not None
    assert seen.holder.is_dead
    assert not replace(seen.holder, boot="of another machine").is_dead
    held = Held(Register(LocalShell(), str(folder)), elsewhere, clock=WallClock())
    assert "may have left changes" in held.take()


def test_a_dead_holder_of_another_machine_runs_out_by_the_devices_clock(host: Emulated) -> None:
    folder = Path("/var/tmp/labtests-lease")
    dead = held_at(folder, "dead", transport=host, clock=host)
    dead.holder = replace(dead.holder, boot="of another machine")
    dead.take()
    second = held_at(folder, "second", transport=host, clock=host)
    host.sleep(59)
    with pytest.raises(LeaseBusy, match=r"heartbeat 59 s ago, runs out in 1 s"):
        second.take()
    host.sleep(1)
    assert "run dead" in second.take()
    with pytest.raises(LeaseLost):
        dead.expect_held()
    second.give_back()
    with pytest.raises(LeaseLost):  # free again, but somebody else has had it
        dead.expect_held()


def test_a_reboot_of_the_host_neither_frees_the_lab_nor_locks_it_for_ever(host: Emulated) -> None:
    folder = Path("/var/tmp/labtests-lease")
    first = held_at(folder, "first", transport=host, clock=host)
    first.take()
    host.sleep(50)
    host.lab.devices["ServerA"]._lose_everything()  # type: ignore[attr-defined]
    second = held_at(folder, "second", transport=host, clock=host)
    host.sleep(59)  # since the boot: it may have been quick
    with pytest.raises(LeaseBusy, match="run first"):
        second.take()
    host.sleep(1)
    second.take()


def test_what_ran_out_and_nobody_took_is_still_ours(host: Emulated) -> None:
    held = held_at(Path("/var/tmp/lease"), "slow", transport=host, clock=host)
    held.take()
    host.sleep(500)
    held.expect_fresh()
    with pytest.raises(LeaseBusy):
        held_at(Path("/var/tmp/lease"), "second", transport=host, clock=host).take()


def test_the_runners_clock_and_the_hosts_date_do_not_matter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = held_at(folder, "first", clock=WallClock()), held_at(folder, "second")
    first.take()
    monkeypatch.setattr(time, "time", lambda: 4e9)
    record = folder / "g.000000000001"
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join([*lines[:3], "1970-01-01T00:00:00Z\n", *lines[4:]]))
    first.expect_held()
    with pytest.raises(LeaseBusy):
        second.take()


def test_a_read_only_host_keeps_no_lease(host: Emulated) -> None:
    held = held_at(Path("/var/tmp/lease"), "first", transport=host, clock=host)
    host.lab.inject({"kind": "read-only", "device": "ServerA"})
    with pytest.raises(LeaseUnwritable, match="Read-only file system"):
        held.take()


def test_many_hosts_share_a_look_that_began_after_they_asked(folder: Path) -> None:
    shell = LocalShell()
    held = held_at(folder, "A", transport=shell)
    held.take()
    asking, go, run = threading.Event(), threading.Event(), shell.run

    def slow(command: str, **more: Any) -> Reply:
        asking.set()
        assert go.wait(10)
        return run(command, **more)

    def asked() -> int:
        before = len(shell.sent)
        threads = [threading.Thread(target=held.expect_held) for _ in range(9)]
        threads[0].start()
        assert asking.wait(10)
        for thread in threads[1:]:
            thread.start()
        time.sleep(0.1)  # they have asked by then, after the first one's look began
        go.set()
        for thread in threads:
            thread.join(10)
        return len(shell.sent) - before

    shell.run = slow  # type: ignore[method-assign]
    assert asked() == 2  # the first one's, which began too early for the others; and theirs
    before = len(shell.sent)
    held.expect_held()
    assert len(shell.sent) == before + 1  # who asks later is told anew
    held.give_back()
    with pytest.raises(LeaseLost):
        held.expect_held()


def test_holding_guards_every_change_and_gives_back(folder: Path, tmp_path: Path) -> None:
    box = Box(tmp_path / "box")
    with toy_lab(box, place(folder)) as lab:
        with holding(lab, why="a test"), lab.restoring():
            with pytest.raises(LeaseBusy, match="a test"):
                held_at(folder, "second").take()
            with holding(lab, why="inside"):  # the same lab: nothing is done
                lab.change(PORT, LEVEL, 1)
        held_at(folder, "second").take()
    assert box.lines() == [" 1", " 0"]


def test_what_is_still_to_be_undone_keeps_the_lease_until_the_lab_is_closed(
    folder: Path, tmp_path: Path
) -> None:
    lab = toy_lab(Box(tmp_path / "box"), place(folder))
    with holding(lab, why="a test"):
        lab.change(PORT, LEVEL, 1)
    with pytest.raises(LeaseBusy):
        held_at(folder, "second").take()
    lab.close()
    held_at(folder, "second").take()
    assert Box(tmp_path / "box").lines()[-1] == " 0"


def test_who_has_lost_it_changes_and_undoes_nothing(folder: Path, tmp_path: Path) -> None:
    box = Box(tmp_path / "box")
    lab = toy_lab(box, place(folder))
    with holding(lab, why="a test"):
        lab.change(PORT, LEVEL, 1)
        held_at(folder, "rude").take(force=True)
        with pytest.raises(LeaseLost, match="run rude"):
            lab.change(PORT, LEVEL, 2)
        assert len(lab.ahead.entries) == 1  # what was not sent was not announced either
    with pytest.raises(LabErrors, match="could not be restored") as raised:
        lab.close()
    assert "run rude" in str(raised.value)
    assert box.lines() == [" 1"]
    assert len(lab.ahead.entries) == 1


def test_an_unreachable_lease_stops_changes_but_not_an_undo_in_time(
    folder: Path, tmp_path: Path
) -> None:
    box = Box(tmp_path / "box")
    lab = toy_lab(box, place(folder))
    with lab, holding(lab, why="a test"):
        lab.change(PORT, LEVEL, 1)
        box.keeper.gone = True
        with pytest.raises(Unreachable):
            lab.change(PORT, LEVEL, 2)
    assert box.lines() == [" 1", " 0"]  # nobody can have taken it so soon


def test_an_unreachable_lease_that_may_have_run_out_stops_the_undo(
    folder: Path, tmp_path: Path
) -> None:
    box = Box(tmp_path / "box")
    lab = toy_lab(box, place(folder))
    with holding(lab, why="a test") as held:
        assert held is not None
        lab.change(PORT, LEVEL, 1)
        box.keeper.gone, held._fresh_until_s = True, 0.0
    with pytest.raises(LabErrors, match="could not be restored") as raised:
        lab.close()
    assert "no answer" in str(raised.value)
    assert box.lines() == [" 1"]


def test_a_lease_that_nobody_asked_for_may_be_impossible(folder: Path, tmp_path: Path) -> None:
    said: list[str] = []
    impossible = replace(place(folder / "deeper"), by_default=True)
    lab = toy_lab(Box(tmp_path / "box"), impossible)
    with lab, holding(lab, why="a test", say=said.append) as held:
        lab.change(PORT, LEVEL, 1)
    assert held is None
    assert "no lease is kept" in said[0]
    asked = toy_lab(Box(tmp_path / "box"), place(folder / "deeper"))
    with pytest.raises(LeaseUnwritable), holding(asked, why="a test"):
        pass


class Raced(LocalShell):
    """Somebody else is quicker, right before the first record is written."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self._act = act

    def run(self, command: str, *, timeout_s: float = 30.0) -> Reply:
        if "link " in command and not any("link " in sent for sent in self.sent):
            self._act()
        return super().run(command, timeout_s=timeout_s)


WAYS = {
    "a file": lambda folder: folder.write_text("mine"),
    "a link": lambda folder: folder.symlink_to(folder.parent / "nowhere"),
    "a pipe": os.mkfifo,
    "an open folder": lambda folder: (folder.mkdir(), folder.chmod(0o777)),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_somebody_puts_in_the_way_is_not_no_lease(
    folder: Path, tmp_path: Path, way: str
) -> None:
    """Also where nobody has asked for one: who puts it there would have switched the lease off."""
    box, own = Box(tmp_path / "box"), folder.parent / "labtests-lease"
    box.keeper = Raced(lambda: WAYS[way](own))
    lab = toy_lab(box, replace(place(own), by_default=True))
    told = pytest.raises(LeaseUnusable, match="could misuse the lease")
    with told as caught, holding(lab, why="a test"):
        pass
    assert not isinstance(caught.value, LeaseUnwritable)
    assert box.lines() == []


def test_nor_is_a_lease_that_somebody_else_takes_before_the_disk_is_full(
    folder: Path, tmp_path: Path
) -> None:
    box = Box(tmp_path / "box")

    class Full(Raced):
        def run(self, command: str, *, timeout_s: float = 30.0) -> Reply:
            reply = super().run(command, timeout_s=timeout_s)
            return replace(reply, status=12, text="") if "link " in command else reply

    box.keeper = Full(held_at(folder, "theirs").take)
    lab = toy_lab(box, replace(place(folder), by_default=True))
    with pytest.raises(LeaseBusy, match="theirs"), holding(lab, why="a test"):
        pass


def test_a_lab_that_nobody_has_locked_is_not_one_whose_lock_was_removed(host: Emulated) -> None:
    with pytest.raises(
        LeaseBusy, match="no lock on this lab; nobody has it\n  remedy: labtests lock"
    ):
        Held(Register(host, "/var/tmp/lease"), run_holder("own"), clock=host).adopt()


def test_a_persons_lock_has_no_heartbeat_and_ends_by_time_or_by_hand(host: Emulated) -> None:
    register = Register(host, "/var/tmp/lease")
    Held(register, me("person", why="demo"), clock=host).take()
    run = Held(register, run_holder("nightly"), clock=host)
    host.sleep(30 * 86400)
    with pytest.raises(LeaseBusy, match=r"locked by .*: demo, until it is unlocked") as raised:
        run.take()
    assert "labtests unlock" in str(raised.value)
    Held(
        register, me("person", why="an hour", expires_after_s=3600), clock=host
    ).take()  # one's own
    own = Held(register, run_holder("own"), clock=host)
    own.adopt()
    own.expect_held()
    own.give_back()
    assert register.look().holder.why == "an hour"  # a run under a lock leaves it
    host.sleep(3599)
    with pytest.raises(LeaseBusy, match="runs out in 1 s"):
        run.take()
    host.sleep(1)
    run.take()
    with pytest.raises(LeaseBusy, match="you have no lock"):
        Held(register, run_holder("own"), clock=host).adopt()


def test_waiting_for_it(folder: Path, tmp_path: Path) -> None:
    said: list[str] = []
    dead = held_at(folder, "dead", expires_after_s=0.5)
    dead.take()
    lab = toy_lab(Box(tmp_path / "box"), place(folder))
    with lab, holding(lab, why="late", terms=Terms(wait_s=0.7), say=said.append) as held:
        assert held is not None
    assert said[0].startswith("waiting: the lab is in use by run dead")
    assert "may have left changes" in said[1]
