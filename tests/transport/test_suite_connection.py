"""`lab.connection`: what a suite runs and copies by Fabric's words, on a real OpenSSH server."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fabric
import pytest
from invoke.exceptions import CommandTimedOut, UnexpectedExit
from sshd_server import Sshd, end_sshd, start_sshd, wait_for
from sudo_host import USER, SudoHost, sudo_host, why_not

from labtests.core.clock import WallClock
from labtests.core.errors import (
    CommandRejected,
    CommandTimeout,
    DeviceError,
    HostKeyRefused,
    LabErrors,
    LeaseLost,
    Unreachable,
)
from labtests.core.output import used
from labtests.core.redaction import Redaction
from labtests.inventory import load
from labtests.lab.changes import Planned
from labtests.lab.lab import Lab
from labtests.transport.commands import script
from labtests.transport.ssh import file_transfer
from labtests.transport.transcript import Transcript

SFTP = "Subsystem sftp internal-sftp"
TESTBED = """\
name: lab
devices:
  A:
    platform: linux
    management: {{host: 127.0.0.1, port: {port}, user: {user}, key_file: {folder}/user_key,
      known_hosts: {known_hosts}, ssh_config: false{more}}}
    ports: {{lo: {{}}}}
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    running = start_sshd(tmp_path_factory.mktemp("sshd"), SFTP)
    yield running
    end_sshd(running)


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "state"))


@contextmanager
def opened(
    sshd: Sshd, folder: Path, *, user: str = "root", more: str = "", **place: Path
) -> Iterator[Lab]:
    known_hosts = place.get("known_hosts", sshd.known_hosts)
    (folder / "lab.yaml").write_text(
        TESTBED.format(
            port=sshd.port, user=user, folder=sshd.folder, known_hosts=known_hosts, more=more
        )
    )
    testbed = load(folder / "lab.yaml")
    with (
        Transcript(folder / "journal.jsonl") as transcript,
        Lab.open(
            testbed, clock=WallClock(), backend="hardware", transcript=transcript, run="run-7"
        ) as lab,
    ):
        yield lab


@pytest.fixture
def lab(host: Sshd, tmp_path: Path) -> Iterator[Lab]:
    with opened(host, tmp_path) as lab:
        yield lab


def told(folder: Path) -> list[dict[str, Any]]:
    """The lines of the transcript."""
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


# -- run -----------------------------------------------------------------------------------------


def test_a_command_is_in_the_transcript_with_its_answer_and_has_the_mark_of_the_run(
    lab: Lab, tmp_path: Path
) -> None:
    connection = lab.connection("A")
    assert isinstance(connection, fabric.Connection)
    result = connection.run("echo out; echo err >&2; echo $LABTESTS_RUN", hide=True)
    assert (result.stdout, result.stderr, result.exited) == ("out\nrun-7\n", "err\n", 0)
    assert result.connection is connection
    start, output, close = told(tmp_path)[-3:]
    assert (start["kind"], start["command"]) == (
        "start",
        "sh -c 'echo out; echo err >&2; echo $LABTESTS_RUN'",
    )
    assert (output["text"], output["errors"], output["status"]) == ("out\nrun-7\n", "err\n", 0)
    assert (close["signal"], close["process"]) == ("close", start["process"])


def test_it_goes_over_the_session_that_is_open_and_closing_it_closes_nothing(lab: Lab) -> None:
    ends = "echo $SSH_CONNECTION"  # addresses and ports of both ends: of each session others
    of_drivers = lab.transports["A"].run(script(ends)).text
    with lab.connection("A") as connection:
        assert connection.run(ends, hide=True).stdout == of_drivers
    assert lab.connection("A") is connection
    assert connection.is_connected
    assert connection.run(ends, hide=True).stdout == of_drivers
    assert len(of_drivers.split()) == 4


def test_a_status_that_is_not_0_is_fabrics_exception_and_names_the_device(lab: Lab) -> None:
    with pytest.raises(UnexpectedExit) as caught:
        lab.connection("A").run("echo why >&2; exit 3", hide=True)
    assert caught.value.result.exited == 3
    assert isinstance(caught.value, CommandRejected)
    assert "A: 'echo why >&2; exit 3': it ended with status 3; last line of stderr: 'why'" in str(
        caught.value
    )
    assert lab.connection("A").run("exit 3", warn=True).exited == 3


def test_words_around_a_command_are_fabrics(lab: Lab) -> None:
    connection = lab.connection("A")
    with connection.cd("/tmp"), connection.prefix("x=1"):
        result = connection.run("echo $x $y; pwd", env={"y": "a 'b' $c"}, hide=True)
    assert result.stdout == "1 a 'b' $c\n/tmp\n"


def test_what_is_printed_is_shown_without_secrets_and_without_control_characters(
    lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    used("Correct-Horse-7")
    assert lab.transcript is not None
    lab.transcript.redaction = Redaction(["Correct-Horse-7"])
    result = lab.connection("A").run(
        "printf 'Correct-%s \\033[2J\\n' Horse-7; echo correct-horse-7 >&2", echo=True
    )
    assert (result.stdout, result.stderr) == ("*** \x1b[2J\n", "***\n")
    shown = capsys.readouterr()
    assert (shown.out.splitlines()[-1], shown.err) == ("*** ␛[2J", "***\n")
    assert "orse-7 " not in (tmp_path / "journal.jsonl").read_text()


def test_more_than_an_answer_may_hold_is_refused(lab: Lab) -> None:
    with pytest.raises(CommandRejected, match="more than 32 MiB"):
        lab.connection("A").run("head -c 40000000 /dev/zero", hide=True)
    assert lab.connection("A").run("echo on", hide=True).stdout == "on\n"


@pytest.mark.parametrize(
    "option",
    [{"pty": True}, {"disown": True}, {"in_stream": io.StringIO("y\n")}, {"watchers": [object()]}],
)
def test_what_a_supervised_command_cannot_have_is_refused(lab: Lab, option: dict[str, Any]) -> None:
    with pytest.raises(
        DeviceError, match=r"A: 'id': .* (is|are) not supported: commands run without a terminal"
    ) as caught:
        lab.connection("A").run("id", **option)
    assert next(iter(option)) in caught.value.remedy


@pytest.mark.parametrize("name", ["shell", "sftp", "create_session"])
def test_what_would_go_past_the_journal_is_refused(lab: Lab, name: str) -> None:
    with pytest.raises(CommandRejected, match="bypass the journal"):
        getattr(lab.connection("A"), name)()


def test_somebodys_own_configuration_of_fabric_changes_nothing(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".fabric.yaml").write_text("run: {warn: true}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FABRIC_RUN_WARN", "1")
    with pytest.raises(UnexpectedExit):
        lab.connection("A").run("false", hide=True)


# -- supervision ---------------------------------------------------------------------------------


def is_running(pid: int) -> bool:
    """A zombie does not count."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_command_that_takes_too_long_is_ended_on_the_host(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(CommandTimedOut) as caught:
        lab.connection("A").run(f"echo $$ >{tmp_path}/pid; sleep 61; true", timeout=1)
    assert isinstance(caught.value, CommandTimeout)
    assert (caught.value.device, caught.value.timeout) == ("A", 1)
    wait_for(lambda: not is_running(int((tmp_path / "pid").read_text())))


def test_a_command_that_would_outlive_the_run_is_ended_with_it(host: Sshd, tmp_path: Path) -> None:
    with opened(host, tmp_path) as lab:
        lab.connection("A").run(
            f"echo begun; echo $$ >{tmp_path}/pid; sleep 61; true", asynchronous=True
        )
        wait_for((tmp_path / "pid").exists)
    wait_for(lambda: not is_running(int((tmp_path / "pid").read_text())))
    assert [line["text"] for line in told(tmp_path) if line["kind"] == "output"] == ["begun\n"]


def test_a_command_whose_caller_is_stopped_by_ctrl_c_is_ended(
    lab: Lab, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seen = tmp_path / "pid"
    # whoever runs the tests in the background of a shell ignores it
    request.addfinalizer(partial(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT)))
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def stop() -> None:
        wait_for(lambda: seen.is_file() and seen.read_text() != "")
        os.kill(os.getpid(), signal.SIGINT)

    stopping = threading.Thread(target=stop)
    stopping.start()
    with pytest.raises(KeyboardInterrupt):
        lab.connection("A").run(f"echo $$ >{seen}; sleep 61; true")
    stopping.join()
    wait_for(lambda: not is_running(int(seen.read_text())))
    assert lab.connection("A").run("echo on", hide=True).stdout == "on\n"


def test_what_a_command_leaves_behind_it_is_ended_with_it(lab: Lab, tmp_path: Path) -> None:
    lab.connection("A").run(f"sleep 61 >/dev/null & echo $! >{tmp_path}/pid")
    wait_for(lambda: not is_running(int((tmp_path / "pid").read_text())))


def test_a_command_beside_others_is_waited_for_by_join(lab: Lab) -> None:
    beside = lab.connection("A").run("sleep 0.3; echo end", asynchronous=True)
    assert lab.connection("A").run("echo meanwhile", hide=True).stdout == "meanwhile\n"
    assert beside.join().stdout == "end\n"


def test_nothing_is_sent_when_the_lab_is_somebody_elses(lab: Lab, tmp_path: Path) -> None:
    def lost() -> None:
        raise LeaseLost("lease lost; no further changes")

    lab.lease = SimpleNamespace(expect_fresh=lost, give_back=lambda left: None)  # type: ignore[assignment]
    for act in (
        lambda: lab.connection("A").run(f"touch {tmp_path}/there"),
        lambda: lab.connection("A").put(io.StringIO("x"), "there"),
    ):
        with pytest.raises(LeaseLost):
            act()
    assert not (tmp_path / "there").exists()
    assert [line["kind"] for line in told(tmp_path)] == ["note"]


def test_a_host_whose_key_is_unknown_has_no_connection(host: Sshd, tmp_path: Path) -> None:
    with pytest.raises(LabErrors) as caught:
        opened(host, tmp_path, known_hosts=tmp_path / "none_known_hosts").__enter__()
    assert isinstance(caught.value.exceptions[0], HostKeyRefused)


def test_a_plan_sends_nothing(lab: Lab, tmp_path: Path) -> None:
    lab.planned = Planned()
    connection = lab.connection("A")
    assert connection.run(f"touch {tmp_path}/there").stdout == ""
    assert connection.run(f"touch {tmp_path}/there", asynchronous=True).join().ok
    assert connection.sudo(f"touch {tmp_path}/there").ok
    connection.put(io.StringIO("x"), "there")
    connection.get("/etc/hostname", str(tmp_path / "there"))
    assert not (tmp_path / "there").exists()
    assert len(told(tmp_path)) == 1  # its name, and nothing else
    touch = f"touch {tmp_path}/there"
    assert lab.planned.beside == {"A": [touch, touch, touch, "put there", "get /etc/hostname"]}


# -- sudo ----------------------------------------------------------------------------------------

needs_sudo = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SudoHost]:
    with sudo_host(tmp_path_factory.mktemp("ops"), SFTP) as host:
        yield host


def test_sudo_of_a_login_that_is_root_needs_none(lab: Lab, tmp_path: Path) -> None:
    assert lab.connection("A").sudo("id -u", hide=True).stdout == "0\n"
    assert "sudo" not in (tmp_path / "journal.jsonl").read_text()


@needs_sudo
def test_sudo_goes_the_way_that_the_testbed_file_names(ops: SudoHost, tmp_path: Path) -> None:
    ops.sudoers(f"{USER} ALL=(root) NOPASSWD: /usr/bin/id -u")
    with opened(ops.sshd, tmp_path, user=USER, more=", become: commands") as lab:
        connection = lab.connection("A")
        assert connection.run("id -u", hide=True).stdout != "0\n"
        assert connection.sudo("id -u", hide=True).stdout == "0\n"
        with pytest.raises(CommandRejected, match="sudo: ") as caught:
            connection.sudo("cat /etc/shadow", hide=True, warn=True)
        assert "Rights on a host" in caught.value.remedy


@needs_sudo
def test_where_everything_is_roots_sudo_adds_nothing(ops: SudoHost, tmp_path: Path) -> None:
    ops.sudoers(f"{USER} ALL=(ALL) NOPASSWD: ALL", "root ALL=(ALL) NOPASSWD: ALL")
    with opened(ops.sshd, tmp_path, user=USER, more=", become: true") as lab:
        connection = lab.connection("A")
        assert connection.sudo("id -u", hide=True).stdout == "0\n"
        assert connection.sudo("id -un", user=USER, hide=True).stdout == f"{USER}\n"
        where = connection.put(io.StringIO("echo I am $(id -u)\n"), "me").remote
        assert connection.sudo(f"sh {where}", hide=True).stdout == "I am 0\n"
    assert not Path(where).parent.exists()


@needs_sudo
def test_sudo_without_a_way_to_root_says_what_to_write_down(ops: SudoHost, tmp_path: Path) -> None:
    with opened(ops.sshd, tmp_path, user=USER) as lab:
        with pytest.raises(CommandRejected, match="the login is not root") as caught:
            lab.connection("A").sudo("id -u")
        assert "become: commands" in caught.value.remedy


def test_sudo_is_given_no_password(lab: Lab) -> None:
    with pytest.raises(CommandRejected, match="no password"):
        lab.connection("A").sudo("id", password="x")


# -- files ---------------------------------------------------------------------------------------


def test_a_file_is_sent_into_a_folder_of_the_run_that_is_gone_at_its_end(
    host: Sshd, tmp_path: Path
) -> None:
    script = tmp_path / "count.sh"
    script.write_text("echo counted\n")
    script.chmod(0o750)
    with opened(host, tmp_path) as lab:
        connection = lab.connection("A")
        where = Path(connection.put(script).remote)
        assert connection.put(io.BytesIO(b"\xff"), "raw").remote == str(where.with_name("raw"))
        assert (where.stat().st_mode & 0o777, where.parent.stat().st_mode & 0o777) == (0o750, 0o700)
        assert connection.run(f"sh {where}", hide=True).stdout == "counted\n"
        connection.run(f"cd {where.parent}; mkdir -p deep/er; echo found >deep/er/result")
        got = connection.get("deep/er/result", str(tmp_path / "got" / "result"))
        assert Path(got.local).read_text() == "found\n"
        assert got.connection is connection
    assert not where.parent.exists()
    notes = [line["text"] for line in told(tmp_path) if line["kind"] == "note"]
    assert f"sftp: put {where}: 13 bytes" in notes
    assert f"sftp: get {where.parent}/deep/er/result: 6 bytes" in notes


@pytest.mark.parametrize("name", ["/etc/motd.labtests", "../elsewhere", "/tmp/elsewhere", "."])
def test_a_file_is_sent_nowhere_else(lab: Lab, name: str) -> None:
    with pytest.raises(CommandRejected, match="only be uploaded to the run folder"):
        lab.connection("A").put(io.StringIO("x"), name)
    assert not Path("/etc/motd.labtests").exists()


KILLED = """
import io, sys, time
from pathlib import Path
sys.path[:0] = {paths!r}
from test_suite_connection import opened
from sshd_server import Sshd
opening = opened(Sshd({port}, Path({keys!r}), None), Path({folder!r}))
lab = opening.__enter__()
print(lab.connection("A").put(io.StringIO("x"), "x").remote, flush=True)
time.sleep(600)
"""


def test_what_was_sent_is_gone_when_the_runner_was_killed(host: Sshd, tmp_path: Path) -> None:
    script = KILLED.format(
        paths=sys.path, port=host.port, keys=str(host.folder), folder=str(tmp_path)
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as runner:
        assert runner.stdout is not None
        where = Path(runner.stdout.readline().strip())
        there = where.is_file()
        os.kill(runner.pid, signal.SIGKILL)
    assert there
    wait_for(lambda: not where.parent.exists(), within_s=30.0)


def test_a_file_that_is_not_there_is_an_oserror_that_names_the_device(
    lab: Lab, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        lab.connection("A").get("/none/there", str(tmp_path / "got"))
    assert caught.value.__notes__ == ["A: sftp get /none/there"]
    assert "No such file" in told(tmp_path)[-1]["text"]
    assert lab.connection("A").get("/etc/hostname", io.BytesIO())  # and it goes on


def test_to_get_a_file_nothing_is_started_on_the_host(lab: Lab, tmp_path: Path) -> None:
    lab.connection("A").get("/etc/hostname", io.BytesIO())
    assert [line["kind"] for line in told(tmp_path)] == ["note", "note"]


def test_a_session_that_broke_is_told_as_that_and_its_files_are_gone(
    host: Sshd, tmp_path: Path
) -> None:
    with opened(host, tmp_path) as lab:
        connection = lab.connection("A")
        where = Path(connection.put(io.StringIO("x"), "x").remote)
        lab.lines["A"].close()
        with pytest.raises(Unreachable, match="the SSH session with"):
            connection.put(io.StringIO("y"), "y")
        with pytest.raises(Unreachable, match="the SSH session with"):
            connection.run("true")
    wait_for(lambda: not where.parent.exists())


def test_an_endless_file_is_not_taken(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_transfer, "GET_LIMIT_BYTES", 2**20)
    taken = io.BytesIO()
    with pytest.raises(CommandRejected, match="larger than"):
        lab.connection("A").get("/dev/zero", taken)
    assert len(taken.getvalue()) < 2**21


def test_a_host_without_sftp_says_what_to_do(sshd: Sshd, tmp_path: Path) -> None:
    with opened(sshd, tmp_path) as lab:
        with pytest.raises(CommandRejected, match="no SFTP there") as caught:
            lab.connection("A").put(io.StringIO("x"), "x")
        assert "Subsystem sftp internal-sftp" in caught.value.remedy


def test_a_mode_of_the_host_gives_others_nothing_here(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("x")
    (tmp_path / "theirs").chmod(0o4777)
    got = Path(lab.connection("A").get(str(tmp_path / "theirs"), str(tmp_path / "ours")).local)
    assert got.stat().st_mode & 0o7777 == 0o755


def test_an_sftp_server_that_says_nothing_is_a_timeout(tmp_path: Path) -> None:
    (tmp_path / "mute").mkdir()
    mute = start_sshd(tmp_path / "mute", "Subsystem sftp /bin/sleep 5")
    try:
        with opened(mute, tmp_path) as lab:
            lab.lines["A"].wire.answer_within_s = 0.5
            with pytest.raises(CommandTimeout, match="did not answer in time"):
                lab.connection("A").get("/etc/hostname", io.BytesIO())
    finally:
        end_sshd(mute)


def test_without_who_removes_the_folder_none_is_left(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_transfer, "TOP", str(tmp_path))
    monkeypatch.setattr(file_transfer, "_KEEPER", "exit 3 # SECONDS FOLDER")
    with pytest.raises(CommandTimeout, match="it has ended, or is not ready"):
        lab.connection("A").put(io.StringIO("x"), "x")
    assert list(tmp_path.glob("labtests-*")) == []


WATCHING = """
import os, re, sys
os.setgid(65534)
os.setgroups([])
os.setuid(65534)
print("begun", flush=True)
while True:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            said = open(f"/proc/{pid}/cmdline").read()
        except OSError:
            continue
        for place in re.findall(sys.argv[1] + "/labtests-[0-9A-Za-z]{16}", said):
            try:
                os.mkdir(place)
            except OSError:
                continue
            print(place, flush=True)
"""


@pytest.fixture
def top(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like /tmp, of this test alone."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o1777)
        monkeypatch.setattr(file_transfer, "TOP", name)
        yield Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_no_other_user_of_the_host_makes_the_folder_first(
    host: Sshd, tmp_path: Path, top: Path
) -> None:
    """He sees the arguments of every process."""
    words = [sys.executable, "-c", WATCHING, str(top)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd="/") as stranger:
        assert stranger.stdout is not None
        assert stranger.stdout.readline() == "begun\n"
        try:
            for number in range(4):
                folder = tmp_path / str(number)
                folder.mkdir()
                with opened(host, folder) as lab:
                    where = Path(lab.connection("A").put(io.StringIO("x"), "x").remote)
                    assert where.parent.stat().st_uid == os.geteuid()
        finally:
            stranger.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_a_folder_that_somebody_else_has_made_since_is_left_alone(
    host: Sshd, tmp_path: Path, top: Path
) -> None:
    with opened(host, tmp_path) as lab:
        where = Path(lab.connection("A").put(io.StringIO("x"), "x").remote).parent
        where.rename(tmp_path / "ours")
        where.mkdir()
        os.chown(where, 65534, 65534)
        lab.lines["A"].close()
    wait_for(lambda: str(where) not in processes())
    assert where.parent == top
    assert where.is_dir()


def test_so_it_is_when_whoever_kept_ours_has_ended(host: Sshd, tmp_path: Path) -> None:
    opening = opened(host, tmp_path)
    lab = opening.__enter__()
    where = Path(lab.connection("A").put(io.StringIO("x"), "x").remote).parent
    for line in processes().splitlines():
        if f"cd {where}" in line:
            os.kill(int(line.split()[0]), signal.SIGKILL)
    wait_for(lambda: f"cd {where}" not in processes())
    with pytest.raises(CommandRejected, match="who kept it has ended") as caught:
        opening.__exit__(None, None, None)
    assert f"ls -ld {where}" in caught.value.remedy
    assert (where / "x").read_text() == "x"
    shutil.rmtree(where)


def processes() -> str:
    return subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    ).stdout


def test_a_folder_that_cannot_be_made_is_told_with_the_device_and_a_remedy(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_transfer, "TOP", "/none/there")
    with pytest.raises(CommandRejected, match=r"A: .*mkdir /none/there/labtests-") as caught:
        lab.connection("A").put(io.StringIO("x"), "x")
    assert "cannot be made: " in caught.value.problem
    assert "ls -ld /none/there" in caught.value.remedy


def test_what_a_file_has_is_told_to_nobody_but_what_env_has_is(lab: Lab, tmp_path: Path) -> None:
    """As docs/suites.md says."""
    connection = lab.connection("A")
    where = connection.put(io.StringIO("of a file"), "value").remote
    assert Path(where).parent.stat().st_mode & 0o077 == 0
    said = connection.run("cat $WHERE; sed 's/.*/[&]/' $WHERE", env={"WHERE": where}, hide=True)
    assert said.stdout == "of a file[of a file]"
    commands = [line["command"] for line in told(tmp_path) if line["kind"] == "start"]
    assert f"env WHERE={where} sh -c" in commands[-1]
    assert not any("of a file" in command for command in commands)
