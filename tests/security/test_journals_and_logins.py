"""A folder that says it is registered, a journal that says it has ended, a login that asks the
user's terminal, keys that are learned at once, changes folded by turns."""

import json
import threading
from pathlib import Path

import paramiko
import pytest
from handed import journal_of, managed, restore

from labtests.core.errors import LabError
from labtests.core.private_files import NotPrivate, expect_owned
from labtests.journal import read_changes
from labtests.recovery import replay
from labtests.transport.ssh.host_keys import HostKeyProblem, KnownHosts
from labtests.transport.ssh.learning import KnownHostsFiles
from labtests.transport.ssh.wire import Wire

pytestmark = pytest.mark.usefixtures("own_state")


def test_a_file_beside_a_journal_does_not_register_it(tmp_path: Path, dialled) -> None:
    journal = journal_of(tmp_path / "run", {}, {})
    journal.with_suffix(".registered-nowhere").touch()
    said = restore("run")
    assert said.exit_code != 0
    assert dialled.hosts == []
    assert journal.with_suffix(".registered-nowhere").exists()


def test_nothing_is_changed_after_the_end(tmp_path: Path) -> None:
    journal = journal_of(tmp_path / "run", {}, {})
    lines = journal.read_text().splitlines()
    change = next(line for line in lines if json.loads(line)["kind"] == "change")
    later = json.dumps({**json.loads(change), "number": 99})
    journal.write_text("\n".join([*lines, json.dumps({"kind": "ended"}), later, ""]))
    with pytest.raises(LabError, match="change 99 follows the end marker"):
        read_changes(journal)


def test_a_run_that_has_ended_gives_no_lease_away(tmp_path: Path, dialled, monkeypatch) -> None:
    """Nor is the place of its lease known from then on."""
    taken = []

    class Taken(Exception):
        pass

    def terms(**given):
        taken.append(given)
        raise Taken

    monkeypatch.setattr(replay, "Terms", terms)
    monkeypatch.setattr(replay, "_connect", lambda *_: ({}, {}))
    journal = journal_of(tmp_path / "run", {}, {})
    ended = [json.dumps({"kind": kind}) for kind in ("kept", "ended")]
    journal.write_text(journal.read_text() + "\n".join([*ended, ""]))
    said = restore("run", "--yes")
    assert isinstance(said.exception, Taken), said.output
    (given,) = taken
    assert (given["instead_of"], given["handed"]) == (None, True)


def test_changes_that_are_folded_by_turns_take_no_memory(tmp_path: Path) -> None:
    journal = journal_of(tmp_path / "run", {}, {})
    lines = journal.read_text().splitlines()
    first = json.loads(next(line for line in lines if json.loads(line)["kind"] == "change"))
    second = json.dumps({**first, "number": first["number"] + 1})
    one, two = first["number"], first["number"] + 1
    turns = [
        json.dumps({"kind": "folded", "number": a, "into": b})
        for a, b in [(two, one), (one, two)] * 40
    ]
    journal.write_text("\n".join([*lines, second, *turns, ""]))
    story = read_changes(journal)
    assert sum(len(entry.touched) for entry in story.by_number.values()) < 10


def test_a_journal_does_not_choose_where_host_keys_begin(tmp_path: Path) -> None:
    journal = journal_of(tmp_path / "run", {}, managed(known_hosts_beside="/etc/cron.d"))
    with pytest.raises(LabError, match="known_hosts is not beside the testbed file"):
        read_changes(journal)


def test_a_login_that_asks_questions_is_refused() -> None:
    with pytest.raises(paramiko.BadAuthenticationType, match="more than a key"):
        Wire.auth_interactive_dumb(Wire.__new__(Wire), "root")


def test_of_keys_that_come_at_once_one_is_learned(tmp_path: Path) -> None:
    known = KnownHosts("box", KnownHostsFiles((tmp_path / "known_hosts",)), "accept-new")
    keys = [paramiko.ECDSAKey.generate() for _ in range(6)]
    refused: list[HostKeyProblem] = []
    begin = threading.Barrier(len(keys))

    def meet(key: paramiko.PKey) -> None:
        begin.wait()
        try:
            known.missing_host_key(paramiko.SSHClient(), "box", key)
        except HostKeyProblem as problem:
            refused.append(problem)

    threads = [threading.Thread(target=meet, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == len(keys) - 1
    assert len((tmp_path / "known_hosts").read_text().splitlines()) == 1


def test_a_path_that_leads_nowhere_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "a")
    for path in (tmp_path / "a" / "b", tmp_path / "with\0nul"):
        with pytest.raises(NotPrivate, match="leads nowhere"):
            expect_owned(path)
