"""Of all who want the lease at the same moment exactly one gets it, by nothing but a POSIX sh."""

import os
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from lease_lab import LocalShell, StillClock, held_at, run_holder

from labtests.core.errors import LeaseBusy, LeaseLost, LeaseUnusable, LeaseUnwritable
from labtests.lease.held import Held
from labtests.lease.record import me
from labtests.lease.register import KEPT, DeviceTime, Register
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Reply

RUNNERS, HOLDINGS = 4, 16
SHELLS = [shell for shell in ("sh", "dash", "bash --posix") if shutil.which(shell.split()[0])]


class Stopped(LocalShell):
    """This machine, with an uptime that only passes when a test says so."""

    def __init__(self, uptime_s: float) -> None:
        super().__init__()
        self.uptime_s = uptime_s

    def run(self, command: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        told = f"echo {self.uptime_s:.2f} 0.00"
        assert "cat /proc/uptime" in command
        return super().run(command.replace("cat /proc/uptime", told), timeout_s=timeout_s)


def at_once(acts) -> None:  # type: ignore[no-untyped-def]
    threads = [threading.Thread(target=act) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_several_runners_take_turns_and_never_hold_it_together(
    folder: Path, tmp_path: Path
) -> None:
    inside, turns, together = tmp_path / "inside", [], []

    def run(name: str) -> None:
        while len(turns) < HOLDINGS:
            held = held_at(folder, name)
            try:
                held.take()
            except LeaseBusy:
                continue
            try:
                os.close(os.open(inside, os.O_CREAT | os.O_EXCL))  # fails when somebody is inside
                held.expect_held()
                inside.unlink()
                turns.append(name)
            except (FileExistsError, LeaseLost) as error:
                together.append(error)
            held.give_back()

    at_once([lambda name=f"run-{n}": run(name) for n in range(RUNNERS)])
    assert together == []
    assert HOLDINGS <= len(turns) < HOLDINGS + RUNNERS
    assert len(list(folder.iterdir())) <= KEPT + 1


def wait_until_it_has_run_out(register: Register) -> None:
    """By the device's clock, which ticks every 10 ms: until then it is alive for everybody."""
    while (left_s := register.look().left_s) is not None and left_s > 0:
        time.sleep(0.01)


def test_a_lease_is_alive_until_the_device_s_clock_has_reached_its_end(folder: Path) -> None:
    """Within one tick of that clock no time has passed, however short the lease is."""
    still = Stopped(uptime_s=100.0)
    dead = Register(still, str(folder))
    assert dead.append(dead.look(), run_holder("dead", expires_after_s=1e-6))
    with pytest.raises(LeaseBusy, match="run dead"):
        held_at(folder, "early", transport=still).take()
    still.uptime_s += 0.01
    held_at(folder, "due", transport=still).take()


def test_of_all_who_see_it_run_out_one_takes_it_over(folder: Path) -> None:
    for round_ in range(5):
        dead = Register(LocalShell(), str(folder))
        assert dead.append(dead.look(), run_holder(f"dead-{round_}", expires_after_s=1e-6))
        wait_until_it_has_run_out(dead)
        takers = [held_at(folder, f"taker-{n}") for n in range(RUNNERS)]
        got: list[Held] = []

        def take(taker: Held, got: list[Held] = got) -> None:
            try:
                taker.take()
                got.append(taker)
            except LeaseBusy:
                pass

        at_once([lambda taker=taker: take(taker) for taker in takers])
        assert len(got) == 1
        got[0].expect_held()
        for other in (taker for taker in takers if taker is not got[0]):
            with pytest.raises(LeaseLost):
                other.expect_held()
        got[0].give_back()


def test_two_who_have_read_the_same_cannot_both_write(folder: Path) -> None:
    register = Register(LocalShell(), str(folder))
    seen = register.look()
    assert register.append(seen, run_holder("quick"))
    assert not register.append(seen, run_holder("slow"))
    assert register.look().holder.run == "quick"


def test_who_read_long_ago_is_not_heard(folder: Path) -> None:
    slow = Register(LocalShell(), str(folder))
    slow.append(slow.look(), run_holder("first"))
    seen = slow.look()
    quick = held_at(folder, "quick")
    quick.take(force=True)
    for _ in range(KEPT + 3):
        quick._renew(at_age=0)
    assert not (folder / f"g.{seen.generation + 1:012}").exists()
    slow_shell = slow._transport
    assert not slow.append(seen, run_holder("slow"))  # its base is gone
    # even one that was frozen between that look and its link(2) has written below the newest
    script = slow_shell.sent[-1].replace(f"[ -e g.{seen.generation:012} ] || exit 13", "")
    assert slow_shell.run(script).status == 0
    assert slow.look().holder.run == "quick"
    quick.expect_held()


@pytest.mark.parametrize("shell", SHELLS)
def test_take_renew_lose_and_give_back_in_every_shell(folder: Path, shell: str) -> None:
    first = held_at(folder, "first", transport=LocalShell(shell=shell))
    second = held_at(folder, "second", transport=LocalShell(shell=shell))
    assert first.take() == ""
    with pytest.raises(LeaseBusy, match=r"run first .*the tests of first"):
        second.take()
    first._renew(at_age=0)
    first.give_back()
    assert second.take() == ""
    second.expect_held()
    with pytest.raises(LeaseLost):
        first.expect_held()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n",
        "hello\n",
        "{}\n1.0 2.0\nboot\n2026-01-01T00:00:00Z\nend\n",
        "\x1b[2J\x00\n",
        "torn",
    ],
)
def test_garbage_is_said_and_never_taken(folder: Path, content: str) -> None:
    folder.mkdir()
    (folder / "g.000000000007").write_text(content)
    held = held_at(folder, "hopeful")
    with pytest.raises(LeaseUnusable, match="not a lease record") as raised:
        held.take()
    assert "unlock TESTBED --force" in str(raised.value)
    assert "\x1b" not in str(raised.value)
    assert sorted(path.name for path in folder.iterdir()) == ["g.000000000007"]
    held.take(force=True)
    held.expect_held()


def test_a_truncated_record_and_a_strange_name_are_garbage(folder: Path) -> None:
    holder = held_at(folder, "first")
    holder.take()
    newest = folder / "g.000000000001"
    whole = newest.read_text()
    newest.write_text(whole.removesuffix("end\n"))
    with pytest.raises(LeaseUnusable, match="five lines"):
        held_at(folder, "second").take()
    with pytest.raises(LeaseLost, match="not a lease record"):
        holder.expect_held()
    newest.write_text(whole)
    (folder / "g.$(reboot)").touch()
    with pytest.raises(LeaseUnusable, match="not a generation"):
        held_at(folder, "second").take()
    held_at(folder, "second").take(force=True)
    assert not (folder / "g.$(reboot)").exists()


def test_a_folder_that_cannot_be_made_or_is_a_file(folder: Path) -> None:
    with pytest.raises(LeaseUnwritable, match="No such file"):
        held_at(folder / "deeper", "first").take()
    folder.write_text("not mine")
    with pytest.raises(LeaseUnusable, match="not a folder") as raised:
        held_at(folder, "first").take()
    assert not isinstance(raised.value, LeaseUnwritable)
    assert folder.read_text() == "not mine"


def test_hostile_texts_stay_texts(folder: Path, tmp_path: Path) -> None:
    why = f"'; touch {tmp_path}/made; echo $(touch {tmp_path}/made) `x` \\n%s \x1b[2J FOLDER NEXT"
    held = Held(Register(LocalShell(), str(folder)), me("run", why=why), clock=StillClock())
    held.take()
    assert held.register.look().holder.why == why
    with pytest.raises(LeaseBusy) as raised:
        held_at(folder, "second").take()
    assert "\x1b" not in str(raised.value)
    assert not (tmp_path / "made").exists()


def test_time_is_the_devices_uptime_and_a_reboot_counts_from_the_boot() -> None:
    written = DeviceTime(clock_s=1000.0, wall=False, boot="a", date="")
    assert replace(written, clock_s=1030.0, date="1970").since(written) == 30.0
    assert replace(written, clock_s=20.0, boot="b").since(written) == 20.0  # at the least
    wall = DeviceTime(clock_s=1000.0, wall=True, boot="none", date="")
    assert replace(wall, clock_s=400.0).since(wall) == 0.0  # the date was set back: not run out


def test_files_of_killed_writers_go_when_they_are_a_day_old_and_nothing_else(folder: Path) -> None:
    folder.mkdir()
    day_old = time.time() - 2 * 86_400
    killed, young = folder / f"t.{'a' * 32}", folder / f"t.{'b' * 32}"
    others = [folder / "t.txt", folder / "tea", folder / f"t.{'a' * 31}z"]
    for file in (killed, young, *others):
        file.write_text("half a rec")
        if file != young:
            os.utime(file, (day_old, day_old))
    held = held_at(folder, "run-1")
    held.take()
    assert not killed.exists()
    assert all(file.exists() for file in (young, *others))
    held.expect_held()
    held.give_back()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_writer_whose_file_was_taken_away_meanwhile_has_lost_and_says_so(
    folder: Path, shell: str
) -> None:
    """Not that the folder cannot be written: who hears that may go on without a lease."""

    class Slow(LocalShell):
        def run(self, command: str, **settings):  # type: ignore[no-untyped-def]
            return super().run(command.replace("link t.", "rm t.*; link t."), **settings)

    register = Register(Slow(shell=shell), str(folder))
    assert register.append(register.look(), run_holder("slow")) is False
    assert list(folder.glob("*")) == []
