"""What of a lease is believed: what a record says is told from what the host says, a copy of a
record is not ours, the name of a run is not its runner; and which folder is made for it."""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from lease_lab import LocalShell, StillClock, held_at, run_holder

from labtests.core.errors import LeaseBusy, LeaseLost, LeaseUnusable, LeaseUnwritable, Unreachable
from labtests.journal import this_runner
from labtests.lease.folder import why_not_made
from labtests.lease.held import Gone, Held
from labtests.lease.record import Holder, me
from labtests.lease.register import LAST, Register
from labtests.transport.protocol import Reply

STRANGER = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")

GONE = (
    "gone\n",
    "gone",
    "whole\n",
    "\nwhole\n",
    "x\ny\nz\n2026\nend\ngone\n",
    "x\n\nwhole\n\nwhole\n",
)


@pytest.mark.parametrize("text", GONE)
@pytest.mark.parametrize("number", [1, LAST])
def test_what_a_record_says_is_not_taken_for_what_the_host_says(
    folder: Path, text: str, number: int
) -> None:
    """A record of the word by which the host told that a file had vanished locked the lab for good,
    also against --force."""
    folder.mkdir()
    (folder / f"g.{number:012}").write_text(text)
    held = held_at(folder, "first")
    assert "is not a lease record" in held.register.look().garbage
    with pytest.raises(LeaseUnusable, match="--force"):
        held.take()
    held.take(force=True)
    held.expect_held()


@as_root
def test_a_record_that_this_login_may_not_read_is_garbage_as_well(open_folder: Path) -> None:
    folder = open_folder
    folder.mkdir()
    folder.chmod(0o1777)
    (folder / "g.000000000001").touch(mode=0)
    shell = LocalShell(shell=f"setpriv --reuid={STRANGER} --regid={STRANGER} --clear-groups sh")
    held = held_at(folder, "first", transport=shell)
    with pytest.raises(LeaseUnusable, match="cannot be read"):
        held.take()
    held.take(force=True)
    held.expect_held()


def test_copies_of_two_holders_records_do_not_make_both_believe(folder: Path) -> None:
    """Everybody can read their tokens. A record of ours has a number of its own."""
    first, second = held_at(folder, "first"), held_at(folder, "second")

    def copied(holder: Holder) -> None:
        seen = first.register.look()
        assert Register(LocalShell(), str(folder)).append(seen, holder)

    first.take()
    copied(me("free"))
    second.take()
    believing = set()
    for _ in range(3):
        for held in (first, second):
            copied(held.holder)
            with suppress(LeaseLost):
                held.expect_held()
                believing.add(held)
    assert believing == set()


def test_an_answer_that_did_not_come_loses_no_lease(folder: Path) -> None:
    """The heartbeat was written, and its number is ours."""
    shell = LosesAnswers()
    held = held_at(folder, "first", transport=shell)
    held.take()
    shell.lost = 1
    with pytest.raises(Unreachable):
        held._renew(at_age=0)
    held.expect_held()


class LosesAnswers(LocalShell):
    lost = 0

    def run(self, command: str, *, timeout_s: float = 20.0) -> Reply:
        reply = super().run(command, timeout_s=timeout_s)
        if self.lost and "link " in command:
            self.lost -= 1
            raise Unreachable(self.device, command, "no answer", "plug it in")
        return reply


@pytest.mark.parametrize(
    "path",
    [
        "/etc/systemd/system/labtests-none.service.d",
        "/run/systemd/system/labtests.d",
        "/run/of-labtests",
        "/nowhere",
        "/tmpfiles/labtests.conf",
    ],
)
def test_no_folder_where_everybody_may_write_is_made_among_those_of_others(path: str) -> None:
    shell = LocalShell()
    held = Held(Register(shell, path), run_holder("first"), clock=StillClock())
    for force in (False, True):
        with pytest.raises(LeaseUnwritable, match="install -d -m 1777"):
            held.take(force=force)
    assert not Path(path).exists()
    assert not any("mkdir" in sent for sent in shell.sent)


@pytest.mark.parametrize(
    "path", ["/tmp/x/y", "/var/tmp/x", "/run/labtests-lab", "/home/a/labtests"]
)
def test_one_is_made_where_everybody_writes_or_by_our_own_name(path: str) -> None:
    assert why_not_made(path) == ""


def test_a_runs_name_alone_takes_no_lease(folder: Path) -> None:
    """Everybody can read the name of a run that has the lab; whoever puts it back has its runner,
    too."""
    live = held_at(folder, "live")
    live.holder = replace(live.holder, boot="of another machine", machine="elsewhere")
    live.take()
    dead = live.holder.runner
    for runner in (this_runner(), replace(dead, pid=dead.pid + 1), replace(dead, host="here")):
        with pytest.raises(LeaseBusy, match="live"):
            held_at(folder, "live").take(instead_of=Gone(run="live", runner=runner))
    with pytest.raises(LeaseBusy, match="live"):
        held_at(folder, "live").take(instead_of=Gone(run="another", runner=dead))
    live.expect_held()
    held_at(folder, "live").take(instead_of=Gone(run="live", runner=replace(dead, since="then")))
    with pytest.raises(LeaseLost):
        live.expect_held()


@as_root
def test_a_lock_that_another_login_wrote_in_ones_name_is_not_worked_under(folder: Path) -> None:
    """Everybody may add records, and who we are is no secret."""
    lock = Held(Register(LocalShell(), str(folder)), me("person", why="demo"), clock=StillClock())
    lock.take()
    under = held_at(folder, "under")
    under.adopt()
    (newest,) = folder.glob("g.*")
    os.chown(newest, STRANGER, STRANGER)
    with pytest.raises(LeaseLost):
        under.expect_held()
    with pytest.raises(LeaseBusy, match=r"written by another login[^$]*unlock TESTBED --force"):
        held_at(folder, "again").adopt()
