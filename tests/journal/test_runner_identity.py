"""Whether a runner still lives; a reused process id is not taken for it."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from toy_lab import begun

from labtests.core.errors import LabError
from labtests.core.redaction import Redaction
from labtests.journal import ChangeJournal, register, state_of, this_runner
from labtests.journal.unfinished import unfinished_runs

SAY_WHO = """
import sys, time
from labtests.journal import this_runner
from labtests.journal.values import pack
import json
print(json.dumps(pack(this_runner())), flush=True)
time.sleep(60)
"""


def test_a_process_is_alive_frozen_and_dead():
    from labtests.journal.values import unpack

    child = subprocess.Popen([sys.executable, "-c", SAY_WHO], stdout=subprocess.PIPE, text=True)
    import json

    assert child.stdout is not None
    runner = unpack(json.loads(child.stdout.readline()))
    try:
        assert state_of(runner) == "alive"
        child.send_signal(signal.SIGSTOP)
        assert state_of(runner) == "alive"
    finally:
        child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # a zombie now
    assert state_of(runner) == "dead"
    child.wait()
    child.stdout.close()
    assert state_of(runner) == "dead"


def test_another_process_with_the_same_id_is_not_the_runner():
    me = this_runner()
    assert state_of(me) == "alive"
    assert state_of(replace(me, started_ticks=me.started_ticks - 1)) == "dead"
    assert state_of(replace(me, boot="an earlier one")) == "dead"
    assert state_of(replace(me, boot="another", host="elsewhere")) == "unknown"
    assert state_of(replace(me, pid_space="pid:[1]")) == "unknown"


def test_a_journal_is_found_by_the_next_run_until_it_is_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("LABTESTS_STATE_DIR", raising=False)
    assert unfinished_runs() == []
    said = begun(tmp_path, runner=replace(this_runner(), started_ticks=1))
    journal = ChangeJournal.begin(tmp_path / "changes.jsonl", said, Redaction())
    journal.registered = register(tmp_path / "changes.jsonl", said)
    (found,) = unfinished_runs()
    assert (found.run, found.addresses, found.dry_run) == ("run-1", ("192.0.2.7:22",), False)
    assert found.state == "alive"  # its lock is held, whatever its process id says
    assert found.journal.parent == tmp_path
    journal.pages.close()
    assert found.state == "dead"
    (found.file.parent / "other.json").write_text("{}")  # not ours: left alone
    found.remove()
    assert unfinished_runs() == []


def test_a_state_folder_that_cannot_be_made_is_said_with_its_remedy(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "file"))
    with pytest.raises(LabError, match="LABTESTS_STATE_DIR"):
        register(tmp_path / "changes.jsonl", begun(tmp_path))
