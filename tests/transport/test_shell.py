"""ShellTransport against a real OpenSSH server on loopback."""

import os
import signal
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sshd_server import Sshd, changed, children_of, wait_for
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import CommandRejected, CommandTimeout, LoginUnusable, Unreachable
from labtests.transport.ssh import SHELL, connect
from labtests.transport.ssh.shell import ShellTransport
from labtests.transport.ssh.surroundings import Surroundings


@pytest.fixture(scope="module")
def shell(sshd: Sshd):
    transport = connect(sshd.device(), SHELL, clock=WallClock())
    assert isinstance(transport, ShellTransport)
    yield transport
    transport.close()


def is_running(pid: int) -> bool:
    """A zombie does not count: its parent has only not looked yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def pid_in(file: Path) -> int:
    wait_for(lambda: file.exists() and file.read_text().endswith("\n"))
    return int(file.read_text())


# -- run -----------------------------------------------------------------------------------------


def test_a_text_that_is_not_made_of_words_is_not_sent(shell, tmp_path: Path) -> None:
    raw = f"touch {tmp_path / 'run'}"
    sending = (
        shell.run,
        lambda text: shell.configure((text, text)),
        lambda text: shell.start(text, limit_s=5),
    )
    for send in sending:
        with pytest.raises(TypeError, match="made of words"):
            send(raw)
    assert list(tmp_path.glob("run")) == []


def test_both_streams_and_the_status_come_back_apart(shell, clock) -> None:
    before_s = clock.now_s()
    reply = shell.run(typed("echo out; echo err >&2; exit 3"))
    assert (reply.text, reply.errors, reply.status) == ("out\n", "err\n", 3)
    assert (reply.device, reply.command) == ("host", "echo out; echo err >&2; exit 3")
    assert before_s <= reply.time_s <= clock.now_s()


@pytest.mark.parametrize(
    "word",
    ["it's", '"', "$HOME", "a\nb", "`id`", "\\", "x  y", "*", "ü€", "';exit 9;'", "!", "#", "~"],
)
def test_every_word_arrives_as_it_was_quoted(shell, word: str) -> None:
    quoted = "'" + word.replace("'", "'\"'\"'") + "'"
    assert shell.run(typed(f"printf %s {quoted}")).text == word


def test_a_command_that_reads_stdin_finds_its_end(shell) -> None:
    assert shell.run(typed("cat; echo after"), timeout_s=5).text == "after\n"


def test_twenty_megabytes_come_through_whole_and_fast(shell) -> None:
    begun_s = time.process_time()  # our own work; a neighbour's is not in it
    reply = shell.run(typed("head -c 20000000 /dev/zero | tr '\\0' x"))
    assert reply.text == "x" * 20_000_000
    assert time.process_time() - begun_s < 5  # Fabric's run takes 32 s


def test_twenty_megabytes_of_errors_come_through_too(shell) -> None:
    reply = shell.run(typed("head -c 20000000 /dev/zero | tr '\\0' e >&2; echo done"))
    assert (reply.text, len(reply.errors)) == ("done\n", 20_000_000)


def test_more_than_an_answer_may_hold_is_refused(shell) -> None:
    with pytest.raises(CommandRejected, match="more than 32 MiB"):
        shell.run(typed("head -c 40000000 /dev/zero"))
    assert shell.run(typed("echo on")).text == "on\n"


def test_a_character_cut_by_a_packet_is_put_together(shell) -> None:
    reply = shell.run(typed("printf 'a\\303'; sleep 0.1; printf '\\274b'"))
    assert reply.text == "aüb"


def test_bytes_that_are_no_utf8_are_shown_not_dropped(shell) -> None:
    assert shell.run(typed("printf 'a\\377b'")).text == "a\ufffdb"


def test_a_process_that_died_by_a_signal_has_status_128_plus_n(shell) -> None:
    assert shell.run(typed("kill -SEGV $$")).status == 128 + signal.SIGSEGV


def test_a_command_that_hangs_is_ended_on_the_host(shell, tmp_path: Path) -> None:
    pids = tmp_path / "parent", tmp_path / "child"
    with pytest.raises(CommandTimeout, match="did not end within 1 s") as caught:
        shell.run(
            typed(
                f"sleep 61 & echo $! >{pids[1]}; trap '' TERM; echo $$ >{pids[0]}; "
                "while :; do sleep 0.2; done"
            ),
            timeout_s=0.5,
        )
    assert caught.value.device == "host"
    assert "its process group on the host was ended" in str(caught.value)
    # KILL was sent; on a busy machine the kernel comes to it a moment later
    wait_for(lambda: not any(is_running(pid_in(file)) for file in pids))


def test_the_status_of_the_commands_own_timeout_is_an_answer(shell) -> None:
    assert shell.run(typed("timeout 0.1 sleep 5")).status == 124


def test_a_background_process_that_keeps_stdout_open_does_not_hold_the_answer(
    shell, tmp_path: Path
) -> None:
    reply = shell.run(typed(f"sleep 600 & echo $! >{tmp_path / 'pid'}; echo started"), timeout_s=60)
    assert (reply.text, reply.status) == ("started\n", 0)  # and no CommandTimeout
    os.kill(pid_in(tmp_path / "pid"), signal.SIGKILL)


def test_threads_share_one_session(shell) -> None:
    texts: dict[int, str] = {}

    def ask(number: int) -> None:
        texts[number] = shell.run(typed(f"sleep 0.05; echo {number}")).text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {number: f"{number}\n" for number in range(8)}


def test_runs_leave_no_descriptors_open_here(shell) -> None:
    shell.run(typed("true"))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        shell.run(typed("true"))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


# -- configure -----------------------------------------------------------------------------------


def test_configuration_stops_at_the_first_line_that_fails(shell, tmp_path: Path) -> None:
    reply = shell.configure(typed(("echo one", "false", f"touch {tmp_path / 'never'}")))
    assert (reply.text, reply.status, reply.command) == ("one\n", 1, "false")
    assert not (tmp_path / "never").exists()


def test_a_whole_configuration_answers_with_everything_printed(shell) -> None:
    reply = shell.configure(typed(("echo one", "echo two")))
    assert (reply.text, reply.status) == ("one\ntwo\n", 0)


def test_several_lines_are_one_exchange_and_each_has_its_own_answer(shell, monkeypatch) -> None:
    sent, execute = [], ShellTransport.execute
    monkeypatch.setattr(
        ShellTransport, "execute", lambda *a, **k: (sent.append(a[1]), execute(*a, **k))[1]
    )
    lines = ("printf a", "echo b; echo c >&2", "cd /; x=1; exit 3", "echo never")
    reply = shell.configure(typed(lines))
    assert len(sent) == 1
    told = [(part.command, part.text, part.errors, part.status) for part in reply.parts]
    assert told == [(lines[0], "a", "", 0), (lines[1], "b\n", "c\n", 0), (lines[2], "", "", 3)]
    assert (reply.command, reply.status) == (lines[2], 3)
    assert (reply.text, reply.errors) == ("ab\n", "c\n")


def test_a_line_that_hangs_is_named_and_the_next_is_not_run(shell, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("labtests.transport.ssh.shell.BLOCK_WITHIN_S", 1)
    monkeypatch.setattr("labtests.transport.ssh.shell.MORE_S_PER_COMMAND", 0)
    with pytest.raises(CommandTimeout) as caught:
        shell.configure(typed(("echo one", "sleep 60", f"touch {tmp_path / 'never'}")))
    assert caught.value.command == "sleep 60"
    assert not (tmp_path / "never").exists()


def test_a_line_that_ends_the_shell_is_named(shell) -> None:
    with pytest.raises(CommandRejected) as caught:
        shell.configure(typed(("echo one", "kill -9 $$", "echo never")))
    assert caught.value.command == "kill -9 $$"


# -- start ---------------------------------------------------------------------------------------


def test_output_is_followed_while_a_process_runs(shell) -> None:
    process = shell.start(
        typed("sh -c 'echo first; read never; sleep 0.3; echo second'"), limit_s=20
    )
    wait_for(lambda: process.output() == "first\n")
    assert process.status() is None
    wait_for(lambda: process.status() is not None)
    assert (process.output(), process.status()) == ("first\nsecond\n", 0)
    process.close()
    assert process.output() == "first\nsecond\n"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    graces_s = (("INT", 0.3), ("TERM", 0.3), ("KILL", 2.0))
    monkeypatch.setattr("labtests.transport.ssh.process.GRACES_S", graces_s)


@pytest.mark.usefixtures("impatient")
def test_a_process_ends_with_its_children_when_it_is_closed(shell, tmp_path: Path) -> None:
    process = shell.start(
        typed(f"sh -c 'sleep 62 & echo $! >{tmp_path / 'child'}; wait'"), limit_s=60
    )
    child = pid_in(tmp_path / "child")
    assert is_running(process.pid)
    process.close()
    assert not is_running(process.pid)
    assert not is_running(child)
    assert process.status() == 128 + signal.SIGINT
    process.close()  # twice is allowed


@pytest.mark.usefixtures("impatient")
def test_a_process_that_ignores_int_and_term_is_killed(shell) -> None:
    process = shell.start(
        typed("sh -c 'trap \"\" INT TERM; echo deaf; while :; do sleep 0.1; done'"), limit_s=60
    )
    wait_for(lambda: process.output() == "deaf\n")
    process.close()
    assert not is_running(process.pid)


def test_what_a_process_says_to_a_signal_is_its_output(shell) -> None:
    process = shell.start(
        typed("sh -c 'trap \"echo summary; exit 7\" INT; echo up; while :; do sleep 0.05; done'"),
        limit_s=60,
    )
    wait_for(lambda: process.output() == "up\n")
    process.signal("INT")
    wait_for(lambda: process.status() is not None)
    # timeout(1) passes the group's INT on once more: the trap may run twice
    assert (set(process.output().split()), process.status()) == ({"up", "summary"}, 7)
    process.signal("TERM")  # fine when it has ended
    process.close()


def test_a_process_ends_by_itself_at_its_limit(shell) -> None:
    process = shell.start(typed("sleep 63"), limit_s=1)
    wait_for(lambda: process.status() is not None)
    assert process.status() == 124
    process.close()


def test_a_process_ends_at_its_limit_when_this_side_has_died(sshd: Sshd, clock) -> None:
    transport = connect(sshd.device(), SHELL, clock=clock)
    process = transport.start(typed("sleep 64"), limit_s=1)
    assert is_running(process.pid)  # type: ignore[attr-defined]
    transport.close()
    wait_for(lambda: not is_running(process.pid))  # type: ignore[attr-defined]


def test_a_missing_program_is_an_exit_status_with_words(shell) -> None:
    process = shell.start(typed("ib_send_wb -d mlx5_0"), limit_s=5)
    wait_for(lambda: process.status() is not None)
    assert process.status() == 127
    assert "ib_send_wb" in process.errors()
    process.close()


def test_a_process_killed_from_outside_has_status_137(shell) -> None:
    process = shell.start(typed("sleep 65"), limit_s=60)
    wait_for(lambda: len(children_of(process.pid)) == 2)  # beside it, the shell that waits
    os.kill(children_of(process.pid)[-1], signal.SIGKILL)
    wait_for(lambda: process.status() is not None)
    assert process.status() == 128 + signal.SIGKILL
    process.close()


# -- become --------------------------------------------------------------------------------------


def fake_sudo(folder: Path, script: str) -> str:
    """A `sudo` of our own on the host's PATH, where there is no real one (test_sudo.py has it)."""
    sudo = folder / "sudo"
    sudo.write_text(f"#!/bin/sh\n{script}\n")
    sudo.chmod(0o755)
    return str(folder)


def becoming(sshd: Sshd, clock: WallClock, folder: str) -> ShellTransport:
    """A shell that says sudo, on a host whose login shell finds ours first."""
    from labtests.transport.ssh.line import open_line

    shell = ShellTransport(open_line(changed(sshd.device(), become=True)), clock=clock, become=True)
    plain = shell.execute
    path = f"PATH={folder}:$PATH"
    shell.execute = lambda line, command, **how: plain(f"{path}; {line}", command, **how)  # type: ignore[method-assign]
    return shell


def test_become_puts_sudo_before_everything(sshd: Sshd, clock, tmp_path: Path) -> None:
    log = tmp_path / "log"
    folder = fake_sudo(tmp_path, f'printf "%s\\n" "$*" >>{log}; [ "$1" = -n ] && shift; exec "$@"')
    shell = becoming(sshd, clock, folder)
    assert shell.run(typed("whoami")).text == "root\n"
    assert log.read_text().startswith("-n timeout -k 2 30 sh -c echo labtests-")  # it asks first
    log.write_text("")
    assert shell.run(typed("echo hi")).text == "hi\n"
    process = shell.start(typed("sleep 66"), limit_s=60)
    process.close()
    assert not is_running(process.pid)
    asked = log.read_text().splitlines()
    assert asked[0] == "-n timeout -k 2 30 sh -c echo hi"
    assert asked[1].startswith("-n sh -c LABTESTS_RUN=")
    assert any(line.endswith("echo $$; exec timeout -k 2 60 sleep 66") for line in asked)
    assert f"-n sh -c kill -s INT -- -{process.pid}" in asked
    shell.close()


@pytest.mark.parametrize(
    "words",
    [
        "sudo: a password is required",
        "sudo: a terminal is required to read the password",
        "admin is not in the sudoers file.",
        "sudo: interactive authentication is required",
    ],
)
def test_a_sudo_that_refuses_says_what_to_do(sshd: Sshd, clock, tmp_path: Path, words) -> None:
    shell = becoming(sshd, clock, fake_sudo(tmp_path, f"echo '{words}' >&2; exit 1"))
    for ask in (
        lambda: shell.run(typed("mlnx_qos -i eth0")),
        lambda: shell.start(typed("ib_send_bw"), limit_s=5),
    ):
        with pytest.raises(LoginUnusable, match=f"(?s){words}.*NOPASSWD") as refused:
            ask()
        assert refused.value.command == "sudo -n true"
    fake_sudo(tmp_path, 'shift; exec "$@"')
    shell.run(typed("true"))
    fake_sudo(tmp_path, f"echo '{words}' >&2; exit 1")  # sudoers was changed meanwhile
    with pytest.raises(CommandRejected, match=f"(?s){words}.*NOPASSWD") as caught:
        shell.run(typed("mlnx_qos -i eth0"))
    assert caught.value.command == "sudo -n mlnx_qos -i eth0"
    with pytest.raises(CommandRejected, match="NOPASSWD"):
        shell.start(typed("ib_send_bw"), limit_s=5)
    shell.close()


# -- the session -----------------------------------------------------------------------------------


def test_a_session_killed_in_the_middle_of_a_command_is_unreachable(sshd: Sshd, clock) -> None:
    transport = connect(sshd.device(), SHELL, clock=clock)
    before = set(children_of(sshd.process.pid))
    transport.close()
    transport = connect(sshd.device(), SHELL, clock=clock)
    session = (set(children_of(sshd.process.pid)) - before).pop()
    threading.Timer(0.3, os.kill, (session, signal.SIGKILL)).start()
    with pytest.raises(Unreachable, match=rf"session with 127.0.0.1:{sshd.port} broke"):
        transport.run(typed("sleep 3"), timeout_s=20)
    with pytest.raises(Unreachable):
        transport.run(typed("true"))
    with pytest.raises(Unreachable):
        transport.start(typed("sleep 1"), limit_s=1)


def test_a_process_of_a_broken_session_says_so(sshd: Sshd, clock) -> None:
    transport = connect(sshd.device(), SHELL, clock=clock)
    process = transport.start(typed("sleep 67"), limit_s=2)
    transport.close()
    with pytest.raises(Unreachable):
        process.status()
    with pytest.raises(Unreachable):
        process.close()
    transport.close()  # twice is allowed


def test_a_command_costs_no_delayed_acknowledgement(shell) -> None:
    """Without TCP_NODELAY each exec waits 40 ms for one; a busy clock would not tell."""
    sock = shell.line.wire.sock
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


@pytest.mark.parametrize(
    "said", ["0", "1", "-1", "01", "1 2", "12345678901", "\u0661", "1;id", "x"]
)
def test_what_is_no_process_group_of_one_command_is_never_signalled(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """`kill -- -1` ends every process that there is, and `kill -- -0` our own."""
    streams = SimpleNamespace(output=lambda: f"{said}\n", errors=str, ended=True, status=0)
    streams.close = lambda: None
    line: Any = SimpleNamespace(device="host", wire=None)
    session = ShellTransport(line, clock=WallClock())
    monkeypatch.setattr(session, "_around", Surroundings())
    monkeypatch.setattr(session, "execute", lambda *_, **__: streams)
    with pytest.raises(CommandRejected, match="instead of a process id"):
        session.start(typed("sleep 1"), limit_s=1)
