"""Passwords as names in journals and snapshots, counters of more than 64 bits, answers of line ends
only, files of a kind that nobody wrote."""

import gzip
import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from labtests.capabilities.readings import Reading
from labtests.capabilities.records import EcnSetting, PfcSetting
from labtests.core import output
from labtests.core.encodings import Spelled
from labtests.core.errors import InventoryError, LabError, UnreadableOutput, WorkloadError
from labtests.core.private_files import NotPrivate, reserve, write_private
from labtests.core.redaction import Redaction
from labtests.drivers.displays import Unfit
from labtests.drivers.linux.ethtool import parse_ethtool_statistics
from labtests.drivers.parsing import MOST_LINES, lines
from labtests.drivers.sonic.counters import parse_queue_counters
from labtests.drivers.sonic.driver import parse_version
from labtests.drivers.sonic.session import count
from labtests.inventory import Endpoint, load
from labtests.inventory.recorded import expect_sound
from labtests.inventory.testbed import Device, Management
from labtests.journal import Begun, ChangeJournal, Intent, known, this_runner, unfinished_runs
from labtests.journal.values import NotStorable, pack_setting, readable
from labtests.linuxlab.ledger import Ledger, _sound
from labtests.measure.telemetry import table
from labtests.pytest_plugin import outcomes
from labtests.pytest_plugin.outcomes import Labels
from labtests.recovery.snapshot.files import FORMAT, read
from labtests.simlab.control import SimulationFailed
from labtests.simlab.injection import inject
from labtests.transport.protocol import Reply
from labtests.transport.ssh.key_lists import Unbelieved, known_text
from labtests.workloads.leftovers import leftovers, sweep

ROOT = Path(__file__).parents[2]
PASSWORD = "OpenSesame-77"


@pytest.fixture
def in_use(monkeypatch):
    monkeypatch.setattr(output, "_used", {PASSWORD})


def said(text, status=0):
    return Reply(device="sw", command="show", text=text, status=status)


# -- secrets ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_use")
@pytest.mark.parametrize("which", ["earlier", "wanted"])
def test_a_profile_called_like_the_password_is_not_changed_and_not_written_down(which, tmp_path):
    begun = Begun(
        run="r",
        runner=this_runner(),
        testbed="t",
        file="/t",
        backend="hardware",
        dry_run=False,
        devices=(Device(name="sw", platform="sonic", management=Management(host="h")),),
    )
    journal = ChangeJournal.begin(tmp_path / "changes.jsonl", begun, Redaction([PASSWORD]))
    values = {"earlier": EcnSetting(), "wanted": EcnSetting()}
    values[which] = EcnSetting(profile=f"3 {PASSWORD}")
    intent = Intent(
        at=Endpoint(device="sw", interface="Ethernet0"),
        setting="ecn",
        **values,
        commands=(f"x {PASSWORD}",),
        undo=("y",),
    )
    with pytest.raises(LabError, match="sw:Ethernet0: ecn is not changed: a name in it contains"):
        journal.ahead([intent])
    assert journal.pending == []
    assert PASSWORD not in (tmp_path / "changes.jsonl").read_text()


@pytest.mark.usefixtures("in_use")
def test_a_value_is_a_value_where_no_password_is_in_it():
    value = PfcSetting(mode="on", priorities=frozenset({3}))
    assert pack_setting(value)["fields"]["mode"] == "on"
    with pytest.raises(NotStorable, match="contains a password"):
        pack_setting(((f"a{PASSWORD}b", 1),))


# -- numbers ---------------------------------------------------------------------------------------


def reading(value):
    return Reading(
        device="sw",
        port="p",
        scope="port",
        index=None,
        counter="dropped_packets",
        unit="packets",
        value=value,
        time_s=0.0,
        source="show",
    )


@pytest.mark.parametrize("value", [2**64, 10**40, 10**4299, -1])
def test_what_no_counter_can_hold_is_no_number(value):
    told = reading(value)
    assert told.value is None
    assert told.missing == "shows a number that no counter of 64 bits holds"


def test_the_largest_counter_is_exact_in_the_table():
    """Above 2**63 the table raised an OverflowError, which ended the whole session."""
    frame = table([reading(2**64 - 1), reading(None)])
    assert frame["value"][0] == 2**64 - 1
    assert frame["value"].isna().tolist() == [False, True]


def test_a_number_of_commas_has_an_end():
    assert count("1,234") == 1234
    with pytest.raises(Unfit):
        count("1" + ",000" * 1433)


def test_a_test_whose_evidence_cannot_be_written_is_in_the_report_and_the_run_is_red():
    """OverflowError came out of the hook, twice: no report at all, and no further test."""
    run = SimpleNamespace(
        tests=[], problem="", transcript=SimpleNamespace(redaction=Redaction(["secret-word"]))
    )
    session = SimpleNamespace(exitstatus=0)
    told = object.__new__(Labels)
    told._run, told._unwritten = run, False

    def fails(item, entry):
        raise OverflowError("int too large of secret-word")

    told._add_evidence = fails
    told._complete(SimpleNamespace(session=session), {"id": "a"})
    assert run.tests == [{"id": "a"}]
    assert session.exitstatus == 1
    assert run.problem == (
        "reports are missing or incomplete: OverflowError: int too large of secret-word "
        "(a defect of labtests)"
    )


# -- lines -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_an_answer_of_line_ends_is_refused_before_it_is_parted(end):
    with pytest.raises(UnreadableOutput, match=f"more than {MOST_LINES} lines"):
        lines(said(end * (2 * MOST_LINES + 1)))
    with pytest.raises(UnreadableOutput, match=f"more than {MOST_LINES} lines"):
        lines(said(f"x{end}" * (MOST_LINES + 1)))
    assert len(lines(said(f"x{end}" * MOST_LINES))) == MOST_LINES


# -- what is handed over ---------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, 7, []])
@pytest.mark.parametrize("part", ["versions", "link", "roce"])
def test_a_snapshot_whose_facts_are_no_facts_is_none(part, value, tmp_path):
    fact = {"value": value}
    state = {"versions": fact} if part == "versions" else {"ports": {"p": {part: fact}}}
    told = {"format": FORMAT, "testbed": "t", "file": "/t", "backend": "hardware"}
    file = tmp_path / "s.json"
    file.write_text(json.dumps({**told, "taken": "now", "devices": {"a": state}}))
    with pytest.raises(LabError, match=r"s\.json"):
        read(file)


def test_a_set_of_all_kinds_is_shown():
    assert readable(frozenset({3, 1, None, "x"})) == "1, 3, None, x"


def test_a_device_without_a_platform_is_none_of_a_journal():
    device = Device(name="a", platform=None, management=Management(host="h"))
    with pytest.raises(InventoryError, match="device a: platform"):
        expect_sound([device], None, place="j")


def test_no_lab_is_called_latest(tmp_path):
    """Its run folder went through the link reports/latest into another lab's."""
    text = (ROOT / "testbeds" / "linux-lab.yaml").read_text()
    (tmp_path / "t.yaml").write_text(text.replace("name: linux-lab\n", "name: latest\n"))
    with pytest.raises(InventoryError, match="not `latest`"):
        load(tmp_path / "t.yaml")


NO_LAB = {"list": b"[]\n", "cut": b"{\n", "deep": b"[" * 100_000 + b"\n", "long": b"x" * 2**22}


@pytest.mark.parametrize("answer", NO_LAB.values(), ids=NO_LAB)
def test_who_listens_for_faults_and_is_no_lab_is_told_in_a_sentence(answer, tmp_path):
    def serve(listener):
        with listener, listener.accept()[0] as asked, suppress(OSError):
            asked.recv(1000)
            asked.sendall(answer)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "faults.sock"))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener.dup(),))
        thread.start()
        with pytest.raises(SimulationFailed):
            inject(tmp_path, {"kind": "reboot"})
        thread.join()


@pytest.mark.parametrize("wrong", [{"network": "0.0.0.0/0"}, {"network": 0}, {"lacking": 5}])
def test_a_ledger_that_no_lab_wrote_is_refused(wrong):
    sound = {"name": "lab", "digest": "d", "network": "10.255.71.0/24"}
    assert _sound(Ledger(**sound), "lab").network == "10.255.71.0/24"
    with pytest.raises((ValueError, TypeError)):
        _sound(Ledger(**{**sound, **wrong}), "lab")


def test_a_release_of_a_sonic_box_has_an_end():
    text = "SONiC Software Version: {}\nHwSKU: x\nASIC: y\n"
    assert parse_version(said(text.format("SONiC.202305")))["sonic"] == "SONiC.202305"
    with pytest.raises(UnreadableOutput, match="has 9000 characters"):
        parse_version(said(text.format("x" * 9000)))


# -- a tenth one -----------------------------------------------------------------------------------


@pytest.mark.parametrize("around", ["{}", "{}\x9b0m", "\x1b[31m{}", "\\u0041{}"])
def test_a_text_that_repeats_the_password_without_end_is_hidden_whole(around):
    """4.5 s for each MiB, before any parser saw it: others waited to be put back."""
    text = around.format(PASSWORD) * 50_000
    began_s = time.process_time()
    assert Spelled([PASSWORD]).hidden(text, "***") == "***"
    assert time.process_time() - began_s < 5
    few = around.format(PASSWORD) * 50
    assert "***" in Spelled([PASSWORD]).hidden(f"a {few} b", "***")
    assert Spelled([PASSWORD]).hidden(f"a {few} b", "***").startswith("a ")


def test_a_file_with_a_second_name_is_not_written(tmp_path):
    """Another user may have hard-linked it there: it was emptied and written."""
    (tmp_path / "theirs").write_text("kept")
    (tmp_path / "report.xml").hardlink_to(tmp_path / "theirs")
    with pytest.raises(NotPrivate, match=r"report\.xml has a second name"):
        write_private(tmp_path / "report.xml", "new")
    with pytest.raises(NotPrivate, match="second name"):
        reserve(tmp_path / "report.xml")
    assert (tmp_path / "theirs").read_text() == "kept"
    write_private(tmp_path / "own.xml", "new")
    assert (tmp_path / "own.xml").read_text() == "new"


@pytest.mark.parametrize("what", ["file", "fifo"])
def test_an_index_that_cannot_be_read_is_not_an_empty_one(what, tmp_path, monkeypatch):
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path))
    assert unfinished_runs() == []
    if what == "file":
        (tmp_path / "unfinished").write_text("")
    else:
        os.mkfifo(tmp_path / "unfinished")
    with pytest.raises(LabError, match="whether an earlier run has left changes cannot be read"):
        unfinished_runs()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_a_result_is_told_in_a_line():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "labtests", "schema"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


def test_fields_that_are_a_list_are_refused_as_any_other():
    text = json.dumps({"Ethernet0": {"UC0": [1, 2, 3]}})
    with pytest.raises(UnreadableOutput):
        parse_queue_counters(said(text))
    with pytest.raises(UnreadableOutput):
        parse_queue_counters(said(json.dumps({"k0": {"a": [1, 2, 3]}})))


def test_a_state_folder_on_a_full_disk_keeps_nobody_from_looking(tmp_path, monkeypatch):
    def full(*_args, **_named):
        raise OSError(28, "No space left on device")

    testbed = load(ROOT / "testbeds" / "linux-lab.yaml")
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path))
    monkeypatch.setattr(known.os, "fdopen", full)
    known.remember(testbed)  # it stays strange, and that is all


LONG = {"key": "* ssh-rsa " + "A" * 100_000, "names": "@revoked " + "h," * 50_000 + "h"}


@pytest.mark.parametrize("line", LONG.values(), ids=LONG)
def test_a_known_hosts_file_with_an_endless_line_lets_nobody_pass(line, tmp_path):
    """To pass over it would be to forget a key that is revoked, or the one that a host has."""
    file = tmp_path / "known_hosts"
    file.write_text(f"{line}\nh ssh-ed25519 AAAA\n")
    with pytest.raises(Unbelieved, match="has a line of more than 65536 characters"):
        known_text(file, tmp_path)
    file.write_text("h ssh-ed25519 AAAA\n" * 300_000)
    with pytest.raises(Unbelieved, match="remedy"):
        known_text(file, tmp_path)


class Multiplying:
    """A host that tells of one process many times, with a long name, or of many."""

    device = "evil"

    def __init__(self, listed, command):
        self._listed, self._command = listed, command

    def run(self, command, timeout_s=30):
        text = {"grep": self._listed, "ps": self._command}.get(str(command).split()[0], "")
        return Reply(device=self.device, command=command, text=text, status=0)


def test_a_process_that_is_told_many_times_is_one_and_its_command_has_an_end():
    """Lines times length: 512 KiB of answers were 4 GiB, and the kernel ended the restore."""
    told = Multiplying("/proc/7/environ\n" * 16_000, "7 " + "A" * 2**18 + "\n")
    (process,) = leftovers(told, "run-1")
    assert (process.pid, len(process.command)) == (7, 512)
    with pytest.raises(WorkloadError, match=r"survive KILL: 7 A{512}\n") as caught:
        sweep(told, "run-1")
    assert len(str(caught.value)) < 1000


def test_a_run_leaves_no_thousands_of_processes():
    listed = "".join(f"/proc/{n}/environ\n" for n in range(2, 5000))
    with pytest.raises(WorkloadError, match="4998 processes there carry the mark of run run-1"):
        leftovers(Multiplying(listed, ""), "run-1")


@pytest.mark.parametrize(
    ("counters", "why"),
    [({"x" * 600: 1}, "600 characters"), ({f"c{n}": n for n in range(17_000)}, "17000 counters")],
    ids=["long", "many"],
)
def test_a_nic_has_so_many_counters_with_names_of_some_length(counters, why):
    text = "NIC statistics:\n" + "".join(f"     {n}: {v}\n" for n, v in counters.items())
    with pytest.raises(UnreadableOutput, match=why):
        parse_ethtool_statistics(said(text, status=0))


def test_a_password_with_a_quote_is_hidden_in_a_table_of_counters(tmp_path, monkeypatch):
    """CSV doubles the quote, and what came out was no longer known."""
    quoted = 'Open"Sesame'
    monkeypatch.setattr(output, "_used", {quoted})
    told = replace(reading(7), counter=f"rx_{quoted}", source=quoted)
    seen = SimpleNamespace(quiet_before=(), before=(told,), samples=(), after=(told,))
    phases = [SimpleNamespace(evidence=seen)]
    outcomes._save_tables(tmp_path, "test_it", SimpleNamespace(phases=phases))
    content = (tmp_path / "test_it" / "phase-1-counters.csv.gz").read_bytes()
    text = gzip.decompress(content).decode()
    assert "Sesame" not in text
    assert text.count("rx_***") == 2
    assert ",7," in text


def test_a_change_whose_commands_have_no_end_is_not_journalled(tmp_path):
    """A switch showed thousands of profiles that look like ours: each was to be unset."""
    begun = Begun(
        run="r",
        runner=this_runner(),
        testbed="t",
        file="/t",
        backend="hardware",
        dry_run=False,
        devices=(Device(name="sw", platform="cumulus", management=Management(host="h")),),
    )
    journal = ChangeJournal.begin(tmp_path / "changes.jsonl", begun, Redaction())
    intent = Intent(
        at=Endpoint(device="sw", interface="swp1"),
        setting="mtu",
        earlier=1500,
        wanted=9000,
        commands=(" && nv unset qos pfc labtests-swp1-x" * 5000,),
        undo=(),
    )
    with pytest.raises(LabError, match="sw:swp1: mtu is not changed: the device shows so much"):
        journal.ahead([intent])
    assert (tmp_path / "changes.jsonl").stat().st_size < 5000
