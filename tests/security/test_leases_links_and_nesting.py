"""A lease that begins anew, a host that takes nothing more, a packet without end, files beside the
door, links, answers that no parser knew, deep nesting. Of testbed files: test_found_files.py."""

import ast
import gzip
import socket
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import paramiko
import pytest
from handed import STRANGER, as_root, given_to
from hostile_host import PASSWORD, HostileHost
from parsed import CODE, trees

from labtests.check import Checked, CheckFinding
from labtests.core.clock import WallClock
from labtests.core.errors import (
    CommandTimeout,
    LeaseLost,
    LeaseUnusable,
    Unreachable,
    UnreadableOutput,
)
from labtests.drivers.comware.box import parse_clock
from labtests.drivers.linux.roce import parse_gids
from labtests.drivers.linux_switch.state import _ports
from labtests.lease.held import Held
from labtests.lease.record import as_line, me
from labtests.lease.register import LAST, Register
from labtests.measure.telemetry import Reading
from labtests.pytest_plugin import outcomes, preflight
from labtests.pytest_plugin.folder import point_latest
from labtests.simlab.linux.arithmetic import evaluate
from labtests.simlab.linux.grammar import parse
from labtests.simlab.linux.syntax import ShellSyntax
from labtests.transport.commands import program
from labtests.transport.protocol import Reply
from labtests.transport.ssh import connecting
from labtests.transport.ssh.passwords import password_named
from labtests.transport.ssh.streams import Streams
from labtests.transport.ssh.wire import MOST_PACKET_BYTES

pytestmark = pytest.mark.usefixtures("own_state")

SECRET = "Correct-Horse-7"


# -- the lease -------------------------------------------------------------------------------------


class Here:
    """This machine as the lease's host, with this login."""

    device = "here"

    def run(self, command: str, *, timeout_s: float = 20.0) -> Reply:
        done = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, timeout=timeout_s
        )
        return Reply(
            device="here",
            command=command,
            text=done.stdout,
            errors=done.stderr,
            status=done.returncode,
        )


class Still:
    def now_s(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None: ...


def run_of(folder: Path, name: str) -> Held:
    holder = me("run", run=name, why="", expires_after_s=60.0)
    return Held(Register(Here(), str(folder)), holder, clock=Still())  # type: ignore[arg-type]


def generations(folder: Path) -> list[int]:
    return sorted(int(file.name[2:]) for file in folder.glob("g.*"))


def strangers(folder: Path, number: int, text: str) -> Path:
    path = folder / f"g.{number:012}"
    path.write_text(text)
    given_to(STRANGER, path)
    return path


def free_by(record: str) -> str:
    return "\n".join([as_line(me("free")), *record.split("\n")[1:]])


@as_root
@pytest.mark.parametrize("beats", [3, 12])
def test_a_record_of_the_last_number_gives_the_lab_to_nobody_else(
    tmp_path: Path, beats: int
) -> None:
    folder = tmp_path / "lease"
    first, second = run_of(folder, "first"), run_of(folder, "second")
    first.take()
    for _ in range(beats):
        first._renew(at_age=0)
    mine = folder / f"g.{beats + 1:012}"
    before, record = generations(folder), mine.read_text()
    strangers(folder, LAST, free_by(record))
    with pytest.raises(LeaseUnusable, match=r"(?s)highest possible.*unlock TESTBED --force"):
        second.take()
    assert generations(folder) == [*before, LAST]  # nothing is gone
    second.take(force=True)
    assert generations(folder)[-1] == beats + 2
    with pytest.raises(LeaseLost):
        first.expect_held()
    second.expect_held()


@as_root
def test_a_copy_of_ones_own_record_does_not_give_the_lab_back(tmp_path: Path) -> None:
    """Not even where the numbers had to begin anew, and it has the number that it had."""
    folder = tmp_path / "lease"
    first, second = run_of(folder, "first"), run_of(folder, "second")
    first.take()
    for _ in range(12):
        first._renew(at_age=0)
    record = (folder / "g.000000000013").read_text()
    for number in (LAST - 1, LAST):
        strangers(folder, number, free_by(record))
    second.take(force=True)
    assert generations(folder) in ([1], [1, 13])
    shown = strangers(folder, 13, record)
    with pytest.raises(LeaseLost):
        first.expect_held()
    shown.unlink()
    second.expect_held()


# -- hosts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [EOFError(), ConnectionResetError(), paramiko.SSHException("gone")]
)
def test_a_host_that_takes_no_end_of_a_channel_hides_no_error(error: Exception) -> None:
    """It was raised in place of the timeout, as no error of a device, and the undo of all other
    hosts was left out."""

    class Full:
        status_event = None

        def close(self) -> None:
            raise error

    timeout = CommandTimeout("evil", "cat", "it did not end", "look")
    with pytest.raises(CommandTimeout), Streams(Full()):  # type: ignore[arg-type]
        raise timeout


@pytest.mark.timeout(60)
def test_a_device_that_announces_a_packet_without_end_is_hung_up_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)
    taken = 0

    def huge(connection: socket.socket) -> None:
        nonlocal taken
        connection.settimeout(20)
        connection.sendall(struct.pack(">I", 0xFFFFF000))
        while taken < 64 * 2**20:
            taken += connection.send(b"\0" * 2**16)

    with HostileHost(tmp_path, huge) as host:
        shell = connecting.connect(host.device, connecting.SHELL, clock=WallClock())
        with pytest.raises(Unreachable, match="broke"):
            shell.run(program("uname", "-s"), timeout_s=20)
        assert not shell.line.wire.is_active()  # type: ignore[attr-defined]
        shell.close()
    assert taken < 64 * 2**20
    assert MOST_PACKET_BYTES == 2**18


# -- what is written -------------------------------------------------------------------------------


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_PASSWORD", SECRET)
    assert password_named("LAB_PASSWORD") == SECRET


@pytest.mark.usefixtures("used")
def test_a_password_that_a_device_echoes_is_not_in_what_the_check_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = CheckFinding(
        check="cabling",
        level="warning",
        device="h",
        port="eth0",
        finding=f"neighbour {SECRET} is at the other end",
        remedy="",
    )
    monkeypatch.setattr(preflight, "check", lambda lab, idle_s: Checked(findings=(finding,)))
    lab: Any = None
    preflight.Preflight(tmp_path).expect_fit(lab, idle_s=0, tolerated=frozenset(), say=str)
    written = tmp_path / "check.json"
    assert "neighbour *** is at" in written.read_text()
    assert written.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("used")
def test_a_password_that_a_device_echoes_is_in_no_table_of_counters(tmp_path: Path) -> None:
    reading = Reading(
        device="h",
        port="eth0",
        scope="port",
        index=None,
        counter="tx_bytes",
        unit="bytes",
        time_s=0.0,
        value=None,
        source="display interface",
        missing=f"this line is unrecognised: 'password {SECRET}'",
    )
    seen = SimpleNamespace(quiet_before=(), before=(reading,), samples=(), after=())
    experiment: Any = SimpleNamespace(phases=[SimpleNamespace(evidence=seen)])
    outcomes._save_tables(tmp_path, "test", experiment)
    (written,) = tmp_path.rglob("*.csv.gz")
    told = gzip.decompress(written.read_bytes()).decode()
    assert "unrecognised" in told
    assert SECRET not in told
    assert written.stat().st_mode & 0o777 == 0o600


BESIDE_THE_DOOR = {
    "cli/new.py: file.open",  # "x": never through a link, and what is in it is ours
    "faults/running.py: os.fdopen",  # open_private: results
    "night/running.py: os.fdopen",
    "study/on_lab.py: os.fdopen",  # open_private: what a run has said
    "watching/export.py: os.fdopen",  # open_private: records, exports
    "core/figure_file.py: write_bytes",  # drawings, converted
    "core/private_files.py: os.fdopen",  # the door
    "core/private_files.py: write_bytes",
    "network/cases/tidy.py: write_bytes",  # parquet
    "pytest_plugin/outcomes.py: write_bytes",  # cleaned, then packed
    "report/tables.py: write_bytes",
    "study/tables.py: write_bytes",  # parquet
    "core/private_files.py: os.open",
    "core/trusted_files.py: os.open",  # to read
    "journal/append_only.py: os.open",  # O_NOFOLLOW, in a private folder
    "linuxlab/ledger.py: os.open",  # a folder, to lock it
    "network/code_folder.py: os.fdopen",  # a lock
    "core/interpreter.py: os.open",  # the current directory
    "core/stem.py: os.fdopen",  # ends of pipes
    "transport/ssh/file_transfer.py: os.fdopen",  # open_private: a file as it was on the host
    "transport/ssh/learning.py: os.fdopen",  # host keys
    "transport/transcript.py: os.fdopen",  # cleans line by line
    "journal/known.py: os.fdopen",  # digests
    "journal/unfinished.py: os.fdopen",  # paths and names of a testbed file
    "linuxlab/processes.py: os.fdopen",  # open_private: what sshd says there
}


def writes(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    if name in ("write_text", "write_bytes", "touch", "savefig"):
        return True
    if ast.unparse(call.func) == "os.open":
        return True  # look at its flags, then list it
    if name == "to_csv":
        return bool(call.args)
    modes = [
        each.value
        for each in (*call.args, *(k.value for k in call.keywords))
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    return name in ("open", "fdopen") and any(set("wax+") & set(m) for m in modes if len(m) <= 3)


def test_no_file_is_written_beside_the_door() -> None:
    found = {
        f"{file.relative_to(CODE)}: {ast.unparse(node.func)}"
        for file, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and writes(node)
    }
    assert found == BESIDE_THE_DOOR


@as_root
def test_the_newest_run_is_not_pointed_to_in_a_strangers_folder(tmp_path: Path) -> None:
    victim, shared, run = tmp_path / "victim", tmp_path / "shared", tmp_path / "run"
    for folder in (victim, shared, run):
        folder.mkdir()
    shared.chmod(0o1777)
    (shared / "reports").symlink_to(victim)
    given_to(STRANGER, shared / "reports")
    point_latest(shared / "reports", run)
    assert list(victim.iterdir()) == []
    point_latest(tmp_path / "reports", run)
    assert (tmp_path / "reports" / "latest").resolve() == run


# -- parsers, and the emulated shell ---------------------------------------------------------------


def answered(text: str) -> Reply:
    return Reply(device="h", command=program("x"), text=text, status=0)


@pytest.mark.parametrize("date", ["00/29/2024", "02/30/2024", "13/01/2024", "01/01/0000"])
def test_a_clock_that_shows_no_date_is_an_error_of_the_switch(date: str) -> None:
    with pytest.raises(UnreadableOutput, match="not a time and date"):
        parse_clock(answered(f"10:00:00 UTC Mon {date}\n"))
    with pytest.raises(UnreadableOutput):
        parse_clock(answered(f"23:59:59 X Fri 12/31/9999\nTime Zone : X minus {date[:2]}:99:99\n"))


@pytest.mark.parametrize("gid", ["0000:1", "::ffff:300.0.0.1", "x"])
def test_a_gid_that_is_no_address_is_an_error_of_the_host(gid: str) -> None:
    port = "/sys/class/infiniband/mlx5_0/ports/1"
    text = f"{port}/gids/0:{gid}\n{port}/gid_attrs/types/0:RoCE v2\n"
    with pytest.raises(UnreadableOutput, match="not a GID"):
        parse_gids(answered(text))


@pytest.mark.parametrize("path", ["/brport", "a/b/brport", "/sys/class/net/x/y/brport", "oops"])
def test_a_path_that_is_no_port_of_a_bridge_is_an_error_of_the_switch(path: str) -> None:
    with pytest.raises(UnreadableOutput, match="not a port of a bridge"):
        _ports(answered(f"/sys/class/net/swp1/brport\n{path}\n"))


@pytest.mark.parametrize("begin", ["( ", "{ ", "if ", "while ", "for i in 1; do "])
def test_commands_that_nest_without_end_are_a_mistake_of_who_typed_them(begin: str) -> None:
    with pytest.raises(ShellSyntax, match="nesting"):
        parse(begin * 3000)
    parse("( " * 20 + "true" + " )" * 20)


def test_sums_that_nest_without_end_are_a_mistake_of_who_typed_them() -> None:
    for text in ("(" * 5000 + "1" + ")" * 5000, "-" * 50_000 + "1", "+".join("1" * 20_000)):
        with pytest.raises(ValueError, match="syntax error"):
            evaluate(text, {})
    assert evaluate("((1 + 2) * 3)", {}) == 9
