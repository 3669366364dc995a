"""Before anything is sent, the disk knows what it was; afterwards, what became of it."""

import errno
import json
import os
import stat
import threading
import time

import pytest
import toy_lab
from toy_lab import AUTO, OFF, ON, P1, P2, Box, open_lab

from labtests.capabilities.settings import PFC
from labtests.core.errors import LabError, LabErrors
from labtests.core.redaction import Redaction
from labtests.journal import ChangeJournal, InUse, NotWritten, read_changes
from labtests.journal.append_only import Pages
from labtests.transport.transcript import Transcript


@pytest.fixture(autouse=True)
def _toys(monkeypatch):
    monkeypatch.setattr("labtests.lab.lab.driver_module", toy_lab.toy_module)


@pytest.fixture
def box():
    return Box()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "changes.jsonl"


@pytest.fixture
def lab(box, tmp_path):
    lab = open_lab(box, tmp_path)
    yield lab
    lab.ahead.pages.close()


def kinds(path):
    return [json.loads(line)["kind"] for line in path.read_text().splitlines()]


def test_the_disk_knows_before_the_device_does(lab, box, path):
    seen = []
    box.at_made = lambda port, wanted: seen.append(read_changes(path).entries)
    lab.change(P1, PFC, ON)
    ((entry,),) = seen
    intent = entry.intent
    assert (intent.at, intent.setting, intent.earlier, intent.wanted) == (P1, "pfc", OFF, ON)
    assert (intent.commands, intent.undo) == (("p1 pfc on",), ("p1 pfc off",))
    assert not entry.whole
    (entry,) = read_changes(path).entries
    assert entry.whole
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_each_line_is_on_the_disk_before_anything_else_happens(lab, box, path, monkeypatch):
    events = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append("fsync"), real(fd)))
    box.at_made = lambda port, wanted: events.append(wanted.mode)
    with lab.restoring():
        lab.change(P1, PFC, ON)
    #               change           made     undoing          undone
    assert events == ["fsync", "on", "fsync", "fsync", "off", "fsync"]


def test_a_run_that_puts_everything_back_leaves_nothing_to_do(lab, box, path):
    with lab.restoring():
        lab.change(P1, PFC, ON)
        lab.change(P1, PFC, AUTO)
        lab.change(P2, PFC, ON)
    lab.close()
    assert box.state == {"p1": OFF, "p2": OFF}
    story = read_changes(path)
    assert (story.ended, story.entries) == (True, [])
    undoing = ["undoing", "undone"]
    assert kinds(path) == [
        "begun",
        *["change", "made"] * 3,
        *undoing,  # the second port
        "folded",  # the first port's later change: the earlier one knows its value
        *undoing,
        "ended",
    ]


def test_a_change_that_the_disk_does_not_take_is_not_made(lab, box, path, monkeypatch):
    lab.change(P1, PFC, ON)

    def full(descriptor, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("labtests.journal.append_only.os.write", full)
        with pytest.raises(LabError, match="No space left on device"):
            lab.change(P2, PFC, ON)
        assert box.state == {"p1": ON, "p2": OFF}
        with pytest.raises(LabError, match="No space left"):
            lab.change(P1, PFC, AUTO)
        lab.put_back()  # a full disk never keeps a lab from being put back
    assert box.state == {"p1": OFF, "p2": OFF}
    assert box.sent == ["p1 pfc on", "p1 pfc off"]


def test_no_change_either_once_the_transcript_cannot_be_written(box, tmp_path, monkeypatch):
    with Transcript(tmp_path / "journal.jsonl") as transcript:
        lab = open_lab(box, tmp_path, transcript)
        lab.change(P1, PFC, ON)

        def full(_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(transcript._file, "write", full, raising=False)
        transcript.note("", "lost")
        with pytest.raises(LabError, match="No space left"):
            lab.change(P2, PFC, ON)
        lab.close()
    assert box.state == {"p1": OFF, "p2": OFF}


def test_an_undo_that_fails_stays_in_the_file_for_the_next_start(lab, box, path):
    lab.change(P1, PFC, ON)
    lab.change(P2, PFC, ON)
    box.refuses.add(("p2", OFF))
    with pytest.raises(LabErrors, match="could not be restored"):
        lab.close()
    assert [entry.intent.at for entry in read_changes(path).entries] == [P2]


def test_a_value_that_cannot_be_stored_is_not_set(lab, box):
    with pytest.raises(LabError, match="not a value of this setting"):
        lab.change(P1, PFC, type("Other", (), {"mode": "on"})())
    assert box.sent == []


def test_changes_that_are_kept_are_not_undone_but_remembered(lab, box, path):
    lab.change(P1, PFC, ON)
    lab.ahead.keep()
    lab.close()
    story = read_changes(path)
    assert box.state["p1"] == ON
    assert ([e.intent.at for e in story.kept], story.entries, story.ended) == ([P1], [], True)


def test_only_one_process_writes_a_journal(lab, path):
    with pytest.raises(InUse):
        ChangeJournal.resume(path, read_changes(path), Redaction())


def test_secrets_do_not_get_into_the_commands(box, tmp_path, monkeypatch):
    monkeypatch.setattr(toy_lab, "MODE", lambda wanted: f"{wanted.mode} password hunter2")
    lab = open_lab(box, tmp_path)
    lab.ahead.redaction = Redaction(["hunter2"])
    lab.change(P1, PFC, ON)
    assert "hunter2" not in (tmp_path / "changes.jsonl").read_text()


# -- what a crash leaves ---------------------------------------------------------------------------


def test_cut_off_at_any_byte_the_story_is_one_of_those_that_were_true(lab, box, path, tmp_path):
    """A write may end anywhere. What is left undone never misses a change that was sent, nor
    thinks that one is whole that was being undone."""
    box.values["pfc", "p2"] = AUTO
    sent_when = {}  # size of the file when something was sent -> what is to come back at least
    box.at_made = lambda port, wanted: sent_when.setdefault(path.stat().st_size, port)
    with lab.restoring():
        lab.change(P1, PFC, ON)
        lab.change(P2, PFC, OFF)
        lab.change(P1, PFC, AUTO)
    lab.close()
    data = path.read_bytes()
    begun = data.index(b"\n") + 1
    cut = tmp_path / "cut.jsonl"
    for size in range(begun, len(data) + 1, 3):
        cut.write_bytes(data[:size])
        story = read_changes(cut)
        ports = {e.intent.at.interface for e in story.entries}
        under_way = {port for at, port in sent_when.items() if at <= size}
        settled = size >= len(data) - len(b'{"kind": "ended"}\n')
        assert ports <= {"p1", "p2"}
        if not settled and under_way and b'"undone"' not in data[:size]:
            assert under_way <= ports
        for entry in story.entries:
            assert entry.intent.earlier in (OFF, ON, AUTO)
    assert read_changes(path).ended


def test_who_writes_on_after_a_torn_line_begins_a_new_one(lab, box, path):
    lab.change(P1, PFC, ON)
    lab.ahead.pages.close()
    with path.open("ab") as file:
        file.write(b'{"kind": "change", "number": 2, "dev')
    journal = ChangeJournal.resume(path, read_changes(path), Redaction())
    journal.undone(journal.entries[:1], "restored")
    journal.end()
    story = read_changes(path)
    assert [torn.number for torn in story.torn] == [4]
    assert (story.entries, story.ended) == ([], True)


@pytest.mark.parametrize("text", ["", "{}\n", '{"format": "labtests-changes/9"}\n', "no json\n"])
def test_a_file_that_is_no_change_journal_is_said_to_be_none(path, text):
    path.write_text(text)
    with pytest.raises(LabError, match=r"changes\.jsonl"):
        read_changes(path)


def test_threads_that_write_at_once_share_an_fsync(tmp_path, monkeypatch):
    pages, real, calls = Pages(tmp_path / "x.jsonl", fresh=True), os.fsync, []
    begun, go = threading.Event(), threading.Event()

    def slow(descriptor):
        on_disk = (tmp_path / "x.jsonl").read_text().count("\n")
        calls.append(on_disk)
        begun.set()
        go.wait(10)
        real(descriptor)

    monkeypatch.setattr("labtests.journal.append_only.os.fsync", slow)
    writers = [threading.Thread(target=pages.write, args=({"n": n},)) for n in range(9)]
    writers[0].start()
    begun.wait(10)
    for writer in writers[1:]:
        writer.start()
    while (tmp_path / "x.jsonl").read_text().count("\n") < 9:
        time.sleep(0.01)
    assert all(writer.is_alive() for writer in writers)  # nobody goes on before it is on the disk
    go.set()
    for writer in writers:
        writer.join(10)
    assert calls == [1, 9]
    pages.close()


def test_an_fsync_that_failed_fails_everyone_who_waited_for_it(tmp_path, monkeypatch):
    pages, calls, told = Pages(tmp_path / "x.jsonl", fresh=True), [], []
    begun, go = threading.Event(), threading.Event()

    def failing(descriptor):
        calls.append(descriptor)
        begun.set()
        go.wait(10)
        if len(calls) == 2:
            raise OSError(errno.EIO, "the disk is broken")

    def write(number):
        try:
            pages.write({"n": number})
        except NotWritten:
            told.append(number)

    monkeypatch.setattr("labtests.journal.append_only.os.fsync", failing)
    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    writers[0].start()
    begun.wait(10)
    for writer in writers[1:]:
        writer.start()
    while (tmp_path / "x.jsonl").read_text().count("\n") < 4:
        time.sleep(0.01)
    go.set()
    for writer in writers:
        writer.join(10)
    assert sorted(told) == [1, 2, 3]  # the system says so once: a second fsync would succeed
    assert len(calls) == 2
    pages.close()
