"""An attacker on the runner's own machine: compiled code, a lease that is lost, files of host keys,
journals, references."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import paramiko
import pytest
from handed import HOST, STRANGER, TESTBED, as_root, given_to, journal_of

from labtests.core.clock import WallClock
from labtests.core.errors import InventoryError, LabError, LeaseLost, LoginRefused
from labtests.core.private_files import NotPrivate, write_private
from labtests.inventory import load
from labtests.journal import read_changes, state_of, this_runner
from labtests.journal.changes import Entry
from labtests.journal.values import pack
from labtests.lease.command import _told
from labtests.lease.held import Held
from labtests.lease.record import me
from labtests.lease.register import Register
from labtests.network import code_folder
from labtests.network.reference.reading import reference_in
from labtests.transport.protocol import Reply
from labtests.transport.ssh.host_keys import HostKeyProblem, KnownHosts
from labtests.transport.ssh.key_lists import Unbelieved
from labtests.transport.ssh.learning import KnownHostsFiles
from labtests.transport.ssh.route import hops_to
from labtests.transport.ssh.settings import settings_of

pytestmark = pytest.mark.usefixtures("own_state")


# -- the compiled network --------------------------------------------------------------------------


@pytest.fixture
def open_to_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As /tmp: everybody may make files in it."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(shared))
    monkeypatch.setattr(code_folder, "_fill_elsewhere", lambda: pytest.fail("it was compiled"))
    return shared


def _compile(folder: Path) -> None:
    folder.mkdir()
    (folder / "index").write_text("of ours")


@as_root
def test_compiled_code_of_another_user_is_not_run(open_to_all: Path) -> None:
    theirs = code_folder.code_folder()
    theirs.mkdir()
    given_to(STRANGER, theirs)
    with pytest.raises(code_folder.CompilingFailed, match=r"12345(.|\n)*remedy(.|\n)*NUMBA_CACHE"):
        code_folder.complete_folder()


@as_root
def test_nor_is_that_of_a_folder_that_another_user_can_replace(
    open_to_all: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = open_to_all / "numba_cache"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(theirs))
    code_folder.fill(code_folder.code_folder(), _compile)
    given_to(STRANGER, theirs)
    with pytest.raises(code_folder.CompilingFailed, match="12345"):
        code_folder.complete_folder()
    with pytest.raises(NotPrivate, match="12345"):
        code_folder.fill(theirs / "numba-0a-1b", _compile)


def test_nor_is_that_of_a_folder_that_others_can_write_or_of_a_link(open_to_all: Path) -> None:
    ours = code_folder.code_folder()
    code_folder.fill(ours, _compile)
    assert code_folder.complete_folder() == ours
    ours.chmod(0o777)
    with pytest.raises(code_folder.CompilingFailed, match="0777"):
        code_folder.complete_folder()
    ours.rename(open_to_all / "elsewhere")
    ours.symlink_to(open_to_all / "elsewhere")
    with pytest.raises(code_folder.CompilingFailed, match="not a folder of yours"):
        code_folder.complete_folder()


def test_a_lock_that_is_a_link_empties_no_file(open_to_all: Path) -> None:
    victim = open_to_all / "authorized_keys"
    victim.write_text("ssh-ed25519 AAAA me\n")
    (open_to_all / code_folder.LOCK).symlink_to(victim)
    with pytest.raises(OSError, match="symbolic link"):
        code_folder.fill(open_to_all / "numba-0a-1b", _compile)
    assert victim.read_text() == "ssh-ed25519 AAAA me\n"


def test_nothing_is_compiled_through_a_link(open_to_all: Path) -> None:
    elsewhere = open_to_all / "elsewhere"
    elsewhere.mkdir()
    (open_to_all / "numba-0a-1b.unfinished").symlink_to(elsewhere)
    with pytest.raises(FileExistsError):
        code_folder.fill(open_to_all / "numba-0a-1b", _compile)
    assert list(elsewhere.iterdir()) == []


def test_compiled_code_is_for_nobody_else_to_write_whatever_the_umask(tmp_path: Path) -> None:
    earlier = os.umask(0)
    try:
        code_folder.fill(tmp_path / "cache" / "numba-0a-1b", _compile)
    finally:
        os.umask(earlier)
    made = [tmp_path / "cache", *(tmp_path / "cache").rglob("*")]
    assert len(made) == 4
    assert not any(each.stat().st_mode & 0o022 for each in made)


def test_beside_a_source_that_others_can_write_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    beside = tmp_path / "package" / "__pycache__"
    beside.mkdir(parents=True)
    monkeypatch.setattr(code_folder, "PACKAGE", beside.parent)
    assert code_folder.code_folder().parent == beside
    beside.chmod(0o777)
    assert code_folder.code_folder().parent == tmp_path / "mine" / "labtests"


@as_root
def test_a_file_of_another_user_is_refused_as_it_was(open_to_all: Path) -> None:
    theirs = open_to_all / "report.html"
    theirs.write_text("theirs")
    given_to(STRANGER, theirs)
    with pytest.raises(NotPrivate, match="not a file of this user"):
        write_private(theirs, "ours")
    assert theirs.read_text() == "theirs"


# -- a lease that is known to be lost --------------------------------------------------------------


class Here:
    """This machine as the lease's host, with this login."""

    device = "here"

    def run(self, command: str, *, timeout_s: float = 30.0) -> Reply:
        done = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, timeout=timeout_s, check=False
        )
        return Reply(
            device="here",
            command=command,
            text=done.stdout,
            errors=done.stderr,
            status=done.returncode,
        )


def _held(folder: Path, run: str) -> Held:
    register = Register(Here(), str(folder))  # type: ignore[arg-type]
    return Held(register, me("run", run=run, expires_after_s=600.0), clock=WallClock())


def test_a_suite_sends_nothing_more_once_the_heartbeat_has_found_the_lease_lost(
    tmp_path: Path,
) -> None:
    ours, theirs = (_held(tmp_path / "labtests-lease", run) for run in ("ours", "theirs"))
    ours.take()
    theirs.take(force=True)
    ours.expect_fresh()  # nobody has looked since
    with pytest.raises(LeaseLost):
        ours._renew(at_age=0)  # as the heartbeat does
    with pytest.raises(LeaseLost, match="theirs"):
        ours.expect_fresh()


def test_nor_once_it_was_given_back(tmp_path: Path) -> None:
    ours = _held(tmp_path / "labtests-lease", "ours")
    ours.take()
    ours.give_back()
    with pytest.raises(LeaseLost, match="given back"):
        ours.expect_fresh()


# -- files of host keys ----------------------------------------------------------------------------

GOOD, OTHER = paramiko.ECDSAKey.generate(), paramiko.ECDSAKey.generate()


def _said(key: paramiko.PKey) -> str:
    return f"{key.get_name()} {key.get_base64()}"


def _known(file: Path, **more: Any) -> KnownHosts:
    return KnownHosts("leaf1", KnownHostsFiles((file,)), "accept-new", **more)


def _ask(known: KnownHosts) -> None:
    known.missing_host_key(None, "leaf1", GOOD)  # type: ignore[arg-type]


TWO_BLANKS = _said(OTHER).replace(" ", "  ")
TOKEN = "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIFGN"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"@revoked leaf1  {_said(GOOD)}", "revoked"),
        (f"@revoked\tleaf1\t\t{_said(GOOD)}", "revoked"),
        (f"leaf1 {_said(GOOD)}\n@revoked *  {_said(GOOD)}", "revoked"),
        (f"leaf1  {_said(OTHER)}", "changed"),
        (f"leaf1\t\t{TWO_BLANKS}", "changed"),
        (f"{paramiko.HostKeys.hash_host('leaf1')}  {_said(OTHER)}", "changed"),
        (f"leaf1 {TOKEN}", "changed"),  # a kind of key that paramiko cannot read
    ],
    ids=["blanks", "tabs", "everybody", "other key", "other key, tabs", "hashed", "token"],
)
def test_a_line_of_known_hosts_is_read_with_any_blanks_between_its_fields(
    tmp_path: Path, line: str, why: str
) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"{line}\n")
    with pytest.raises(HostKeyProblem) as told:
        _ask(_known(file))
    assert told.value.why == why


@pytest.mark.parametrize("ending", ["\u2028", "\x0c", "\x0b", "\x85", "\x1c", "\r", ","])
def test_no_character_but_a_line_feed_ends_a_comment(tmp_path: Path, ending: str) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"# old{ending}leaf1 {_said(GOOD)}\n", newline="")
    assert _known(file).key_types() == ()


@as_root
@pytest.mark.parametrize("how", ["another's", "open to all", "another's link", "another's folder"])
def test_keys_that_another_user_can_write_are_not_believed(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "keys"
    folder.mkdir()
    file = folder / "known_hosts"
    file.write_text(f"leaf1 {_said(GOOD)}\n")
    _ask(_known(file))
    if how == "another's":
        given_to(STRANGER, file)
    elif how == "open to all":
        file.chmod(0o666)
    elif how == "another's link":
        file = folder / "link"
        file.symlink_to(folder / "known_hosts")
        given_to(STRANGER, file)
    else:
        given_to(STRANGER, folder)
    with pytest.raises(Unbelieved, match="remedy"):
        _ask(_known(file))


@as_root
def test_those_of_whoever_has_made_the_testbed_that_was_named_are(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    file = checkout / "known_hosts"
    file.write_text(f"leaf1 {_said(GOOD)}\n")
    given_to(STRANGER, checkout, file)
    place = KnownHostsFiles((file,), testbed=True, beside=checkout)
    _ask(KnownHosts("leaf1", place, "strict"))


def test_revoked_host_keys_of_ssh_config_are_revoked(tmp_path: Path) -> None:
    known, revoked = tmp_path / "known_hosts", tmp_path / "revoked"
    known.write_text(f"leaf1 {_said(GOOD)}\n")
    revoked.write_text(f"# lost\n\n{_said(OTHER)} of a laptop\n")
    _ask(_known(known, revoked=revoked))
    revoked.write_text(f"{_said(OTHER)}\n  {_said(GOOD)}\n")
    with pytest.raises(HostKeyProblem, match="revoked"):
        _ask(_known(known, revoked=revoked))


NO_LISTS = [None, b"SSHKRL\n\0more", b"no key\n", b"word\n", b"a b c d\n", b"revoked keys\n"]
NO_LISTS += [
    each.replace("KEY", f"{_said(GOOD)}").encode()
    for each in ("@revoked * KEY\n", "@revoked sw01 KEY\n", "\ufeffKEY\n", '"KEY"\n', "* KEY\n")
]


@pytest.mark.parametrize("content", NO_LISTS, ids=range(len(NO_LISTS)))
def test_revoked_host_keys_that_cannot_be_read_let_nobody_pass(
    tmp_path: Path, content: bytes | None
) -> None:
    known, revoked = tmp_path / "known_hosts", tmp_path / "revoked"
    known.write_text(f"leaf1 {_said(GOOD)}\n")
    if content is not None:
        revoked.write_bytes(content)
    with pytest.raises(Unbelieved, match="RevokedHostKeys"):
        _ask(_known(known, revoked=revoked))


def test_revoked_host_keys_are_found_in_the_user_s_ssh_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text(f"Host *\n  RevokedHostKeys {tmp_path}/revoked\n")
    (hop,) = hops_to(replace(HOST, management=replace(HOST.management, ssh_config=True)))
    assert hop.known_hosts.revoked == tmp_path / "revoked"
    (hop,) = hops_to(replace(HOST, management=replace(HOST.management, ssh_config=False)))
    assert hop.known_hosts.revoked is None


def test_an_include_that_means_nothing_is_said_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Include 'abc\n")
    with pytest.raises(LabError, match=r"config(.|\n)*remedy"):
        settings_of("x", None, None, honoured=True)


def test_a_key_file_that_would_be_waited_for_is_no_key() -> None:
    with pytest.raises(LoginRefused, match="is not a key"):
        hops_to(replace(HOST, management=replace(HOST.management, key_file="/proc/kmsg")))


def test_a_path_of_a_user_who_is_not_there_is_a_mistake_of_the_testbed_file(tmp_path: Path) -> None:
    file = tmp_path / "lab.yaml"
    file.write_text(TESTBED.replace("user: root", "user: root, key_file: ~nosuchuser77/x"))
    with pytest.raises(InventoryError, match=r"lab\.yaml:4:.*~NAME"):
        load(file)


# -- journals, records, references -----------------------------------------------------------------


@pytest.mark.parametrize(
    "facts",
    [
        {"pid": "/tmp/evil"},
        {"pid": "a\0b"},
        {"pid": -1},
        {"pid": True},
        {"pid": 2**70},
        {"started_ticks": "7"},
        {"host": {"list": [1]}},
        {"boot": 7},
        {"pid_space": "x" * 300},
        {"since": "now\nthe lab is free: restored"},
        {"since": "\x1b[2J now"},
    ],
)
def test_the_runner_of_a_journal_has_facts_of_their_kinds(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    runner = pack(this_runner())
    runner["fields"] |= {"pid": 1, **facts}  # the pid is a pipe's folder, or no process
    path = journal_of(tmp_path / "handed", {}, {"runner": runner})
    with pytest.raises(LabError, match="runner"):
        read_changes(path)


def test_a_process_that_is_no_number_is_not_looked_for() -> None:
    odd = replace(this_runner(), pid="/tmp/evil")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="format"):
        state_of(odd)


@pytest.mark.parametrize("how", ["undone", "folded"])
def test_a_long_journal_is_read_without_comparing_each_change_with_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    path = journal_of(tmp_path / "long", {}, {})
    first, change = (json.loads(line) for line in path.read_text().splitlines())
    lines = [first, *({**change, "number": n} for n in range(1, 101))]
    lines += [{"kind": how, "number": n, "into": n - 1} for n in range(100, 1, -1)]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    compared: list[object] = []
    monkeypatch.setattr(Entry, "__eq__", lambda one, other: bool(compared.append(other)))
    (entry,) = read_changes(path).entries
    assert entry.touched == (9000,) * 99
    assert compared == []


def test_a_free_record_makes_no_lines_of_its_own(tmp_path: Path) -> None:
    register = Register(Here(), str(tmp_path / "labtests-lease"))  # type: ignore[arg-type]
    holder = me("free", run="r", since="now\nlab locked by nobody")
    assert "\n" not in _told(replace(register.look(), holder=holder), register)


def _reference(folder: Path, **texts: str) -> Path:
    folder.mkdir()
    checks = {"checks": [{"id": "i", "trust": "A", "quantity": "q", "expected": 1}]}
    for name, text in {"checks": json.dumps(checks), **texts}.items():
        (folder / f"{name}.json").write_text(text)
    return folder


@pytest.mark.parametrize(
    "texts",
    [
        {"checks": "[" * 100_000},
        {"index": '{"files": [1]}'},
        {"index": '{"files": ["\\u0000"]}'},
        {"index": '{"files": 7}'},
        {"run": '[{"case": "a", "params": {}, "flows": [{}]}]'},
        {"run": '[{"case": "a", "params": {}, "flows": [1]}]'},
        {"checks": '{"checks": [{"id": 1, "trust": [], "quantity": 1, "expected": 1}]}'},
    ],
)
def test_a_reference_that_is_broken_is_an_error_in_a_sentence(
    tmp_path: Path, texts: dict[str, str]
) -> None:
    with pytest.raises(LabError, match=r"(?i)json"):
        reference_in(_reference(tmp_path / "reference", **texts))


@pytest.mark.parametrize("name", ["checks", "run"])
@pytest.mark.parametrize("what", ["pipe", "/dev/zero"])
def test_a_reference_is_made_of_regular_files(tmp_path: Path, name: str, what: str) -> None:
    folder = _reference(tmp_path / "reference")
    file = folder / f"{name}.json"
    file.unlink(missing_ok=True)
    os.mkfifo(file) if what == "pipe" else file.symlink_to(what)
    with pytest.raises(LabError, match="not a regular file"):
        reference_in(folder)
