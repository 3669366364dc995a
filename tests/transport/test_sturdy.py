"""Hosts as they are found: logins that print or are slow, odd PATHs, locales and algorithms, hosts
that freeze. Against real OpenSSH servers on loopback."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sshd_server import Sshd, children_of, end_sshd, start_sshd

from labtests.clock import WallClock
from labtests.errors import CommandRejected, Unreachable
from labtests.ssh import SHELL, connect
from labtests.ssh.shell import ShellTransport
from labtests.ssh.surroundings import Surroundings, question, surroundings_of


@contextmanager
def server(folder: Path, *settings: str, host_key: str = "ed25519") -> Iterator[Sshd]:
    running = start_sshd(folder, *settings, host_key=host_key)
    try:
        yield running
    finally:
        end_sshd(running)


@contextmanager
def login(sshd: Sshd) -> Iterator[ShellTransport]:
    transport = connect(sshd.device(), SHELL, clock=WallClock())
    assert isinstance(transport, ShellTransport)
    try:
        yield transport
    finally:
        transport.close()


@pytest.fixture
def login_shell(sshd: Sshd) -> Iterator[Callable[[str], None]]:
    """Say what the login shell does around every command: "$SSH_ORIGINAL_COMMAND" runs it. Stands
    for a ~/.bashrc, which a test must not change."""
    keys = sshd.folder / "authorized_keys"
    plain = keys.read_text()

    def make(script: str) -> None:
        file = sshd.folder / "login_shell"
        file.write_text(f"#!/bin/bash\n{script}\n")
        file.chmod(0o700)
        keys.write_text(f'command="{file}" {plain}')

    yield make
    keys.write_text(plain)


RUN = 'bash -c "$SSH_ORIGINAL_COMMAND"'


# -- login shells ----------------------------------------------------------------------------------


def test_a_login_shell_that_prints_is_not_part_of_any_output(sshd, login_shell) -> None:
    login_shell(f"echo welcome; printf 'no tty' >&2; printf 'you have mail'; {RUN}")
    with login(sshd) as shell:
        reply = shell.run("echo out; echo err >&2; exit 3")
        assert (reply.text, reply.errors, reply.status) == ("out\n", "err\n", 3)
        assert shell.run("true").text == ""
        process = shell.start("sh -c 'echo first; echo second; sleep 66'", limit_s=60)
        assert process.pid > 1
        deadline = time.monotonic() + 10
        while "second" not in process.output() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert process.output() == "first\nsecond\n"
        process.close()
        assert not Path(f"/proc/{process.pid}").exists()


def test_a_noisy_host_that_runs_nothing_any_more_gives_no_empty_answer(sshd, login_shell) -> None:
    login_shell(f"echo welcome; {RUN}")
    with login(sshd) as shell:
        login_shell("echo welcome; echo out of order >&2; exit 0")
        reply = shell.run("list what is left")
        assert (reply.text, reply.errors) == ("welcome\n", "out of order\n")


def test_a_login_shell_that_prints_behind_commands_is_refused_at_once(sshd, login_shell) -> None:
    login_shell(f"{RUN}; echo goodbye")
    with pytest.raises(CommandRejected, match=r"(?s)printed 'labtests-.*bashrc"), login(sshd):
        pass


def test_a_login_shell_that_runs_nothing_is_refused_with_what_it_said(sshd, login_shell) -> None:
    login_shell("echo This account is not available.; exit 1")
    with pytest.raises(CommandRejected, match=r"status 1 and printed 'This account"), login(sshd):
        pass


def test_a_login_shell_that_is_slow_is_waited_for(sshd, login_shell) -> None:
    login_shell(f"sleep 0.7; {RUN}")
    with login(sshd) as shell:
        assert shell.run("echo hi", timeout_s=1).text == "hi\n"  # the time is the command's own
        process = shell.start("sleep 66", limit_s=60)
        process.close()
        assert not Path(f"/proc/{process.pid}").exists()


# -- PATH and locale -------------------------------------------------------------------------------


def test_programs_in_sbin_are_found_where_the_login_s_path_lacks_it(tmp_path: Path) -> None:
    with server(tmp_path, "SetEnv SHLVL=2 PATH=/usr/bin:/bin") as sshd, login(sshd) as shell:
        assert shell.run("command -v sshd").text in ("/usr/sbin/sshd\n", "/usr/local/sbin/sshd\n")
        process = shell.start("sh -c 'command -v sshd; sleep 66'", limit_s=60)
        deadline = time.monotonic() + 10
        while not process.output() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert process.output().endswith("/sshd\n")
        process.close()


def test_tools_speak_c_whatever_the_locale_of_the_login(tmp_path: Path) -> None:
    with server(tmp_path, "SetEnv SHLVL=2 LANG=de_DE.UTF-8") as sshd, login(sshd) as shell:
        assert shell.run("echo $LC_ALL").text == "C\n"
        assert "LC_ALL=C\n" in shell.run("env").text


def test_nothing_is_said_before_a_command_where_all_is_well(sshd) -> None:
    with login(sshd) as shell:
        assert shell._around == Surroundings()


@pytest.mark.parametrize(
    ("answer", "preface"),
    [
        (["/usr/bin:/bin:/usr/sbin:/sbin", *[""] * 5, "C.UTF-8"], ""),
        (["", *[""] * 6], ""),  # a host that tells no PATH
        (["/usr/bin", *[""] * 6], "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin; export PATH; "),
        (
            ["/usr/sbin:/sbin", "", "", "ja_JP.eucJP", "", "", "C"],
            "LC_ALL=C; export LC_ALL; ",
        ),
    ],
)
def test_what_goes_before_a_command_follows_from_the_login(answer, preface) -> None:
    text = "M\n" + "".join(f"{line}\n" for line in answer)
    assert surroundings_of(text, "M\n", "M") == Surroundings(preface=preface)


@pytest.mark.parametrize("text", ["", "M\n", "M\n/bin\n\n", "M\n/bin" + "\n" * 7 + "more\n"])
def test_an_answer_that_makes_no_sense_is_none(text: str) -> None:
    assert surroundings_of(text, "M\n", "M") is None
    assert "M" in question("M")


# -- algorithms ------------------------------------------------------------------------------------


def test_a_hardened_host_with_one_key_exchange_is_reached(tmp_path: Path) -> None:
    with server(tmp_path, "KexAlgorithms curve25519-sha256") as sshd, login(sshd) as shell:
        assert shell.run("echo hi").text == "hi\n"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("KexAlgorithms sntrup761x25519-sha512@openssh.com", "sntrup761x25519-sha512@openssh.com"),
        ("Ciphers chacha20-poly1305@openssh.com", "chacha20-poly1305@openssh.com"),
    ],
)
def test_a_host_with_nothing_in_common_is_told_what_to_change(
    tmp_path: Path, setting: str, said: str
) -> None:
    name = setting.split()[0]
    with server(tmp_path, setting) as sshd:
        with pytest.raises(Unreachable) as caught, login(sshd):
            pass
        text = str(caught.value)
        assert caught.value.device == "host"
        assert f"no {name} in common: it offers only {said}" in text
        assert f"change the device's side: add one of these to {name} in its sshd_config: " in text
        assert "diffie-hellman-group16-sha512" in text or "aes256-ctr" in text


def test_a_host_that_speaks_only_sha_1_needs_the_older_library(tmp_path: Path) -> None:
    with server(tmp_path, "HostKeyAlgorithms ssh-rsa", host_key="rsa") as sshd:
        with pytest.raises(Unreachable) as caught, login(sshd):
            pass
        text = str(caught.value)
        assert "no HostKeyAlgorithms in common: it offers only ssh-rsa" in text
        assert "this side can be changed to speak them: pip install 'labtests[legacy-ssh]'" in text


# -- hosts that stand still ------------------------------------------------------------------------


def session_of(sshd: Sshd) -> list[int]:
    """sshd's processes of the connection that is open, and nothing below them."""
    sessions = children_of(sshd.process.pid)
    return [*sessions, *(inner for pid in sessions for inner in sshd_children(pid))]


def sshd_children(pid: int) -> list[int]:
    return [c for c in children_of(pid) if "sshd" in Path(f"/proc/{c}/comm").read_text()]


@contextmanager
def frozen(pids: list[int], for_s: float) -> Iterator[None]:
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    thaw = threading.Timer(for_s, lambda: [os.kill(pid, signal.SIGCONT) for pid in pids])
    thaw.start()
    try:
        yield
    finally:
        thaw.join()


def test_a_host_that_freezes_and_comes_back_has_answered(tmp_path: Path) -> None:
    with server(tmp_path) as sshd, login(sshd) as shell:
        process = shell.start("sh -c 'while sleep 0.2; do echo tick; done'", limit_s=60)
        begun_s = time.monotonic()
        with frozen(session_of(sshd), 2.5):
            reply = shell.run("echo back", timeout_s=1)
        assert reply.text == "back\n"
        assert time.monotonic() - begun_s > 2.4  # it was frozen
        assert process.status() is None
        assert process.output().count("tick") >= 5  # what was printed meanwhile has come
        process.close()


def test_output_that_nobody_reads_holds_no_process_up(sshd) -> None:
    with login(sshd) as shell:
        process = shell.start("sh -c 'head -c 9000000 /dev/zero | tr \"\\0\" x'", limit_s=60)
        deadline = time.monotonic() + 20
        while Path(f"/proc/{process.pid}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)  # nothing of ours reads in between
        assert not Path(f"/proc/{process.pid}").exists()
        while process.status() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert process.output() == "x" * 9_000_000
        process.close()
