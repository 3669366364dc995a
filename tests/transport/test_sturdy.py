"""Hosts as they are found: logins that print or are slow, odd PATHs, locales and algorithms, hosts
that freeze. Against real OpenSSH servers on loopback."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from sshd_server import Sshd, children_of, end_sshd, start_sshd
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import CommandTimeout, LoginUnusable, Unreachable
from labtests.transport.ssh import SHELL, connect
from labtests.transport.ssh.shell import ShellTransport
from labtests.transport.ssh.surroundings import Opened, Opening, Surroundings


@contextmanager
def server(folder: Path, *settings: str, host_key: str = "ed25519") -> Iterator[Sshd]:
    running = start_sshd(folder, *settings, host_key=host_key)
    try:
        yield running
    finally:
        end_sshd(running)


@contextmanager
def login(sshd: Sshd, **settings: bool) -> Iterator[ShellTransport]:
    transport = connect(sshd.device(**settings), SHELL, clock=WallClock())
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
        reply = shell.run(typed("echo out; echo err >&2; exit 3"))
        assert (reply.text, reply.errors, reply.status) == ("out\n", "err\n", 3)
        assert shell.run(typed("true")).text == ""
        process = shell.start(typed("sh -c 'echo first; echo second; sleep 66'"), limit_s=60)
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
        shell.run(typed("true"))
        login_shell("echo welcome; echo out of order >&2; exit 0")
        reply = shell.run(typed("list what is left"))
        assert (reply.text, reply.errors) == ("welcome\n", "out of order\n")


def test_a_login_shell_that_prints_behind_commands_is_refused_at_once(sshd, login_shell) -> None:
    login_shell(f"{RUN}; echo goodbye")
    refused = pytest.raises(LoginUnusable, match=r"(?s)printed 'labtests-.*bashrc")
    with login(sshd) as shell, refused:
        shell.run(typed("echo hi"))


def test_a_login_shell_that_runs_nothing_is_refused_with_what_it_said(sshd, login_shell) -> None:
    login_shell("echo This account is not available.; exit 1")
    refused = r"'true': it ended with status 1 and printed 'This account"
    with login(sshd) as shell:
        for ask in (shell.run, lambda command: shell.configure(typed((command, "true")))):
            with pytest.raises(LoginUnusable, match=refused):
                ask(typed("echo hi"))
        with pytest.raises(LoginUnusable, match="This account"):
            shell.start(typed("sleep 66"), limit_s=60)


def test_a_login_shell_that_is_slow_is_waited_for(sshd, login_shell) -> None:
    login_shell(f"sleep 0.7; {RUN}")
    with login(sshd) as shell:
        assert (
            shell.run(typed("echo hi"), timeout_s=1).text == "hi\n"
        )  # the time is the command's own
        process = shell.start(typed("sleep 66"), limit_s=60)
        process.close()
        assert not Path(f"/proc/{process.pid}").exists()


# -- PATH and locale -------------------------------------------------------------------------------


FIRST = {  # of a shell that nobody has asked anything
    "a command": lambda shell: shell.run(typed("printf out; printf err >&2; exit 3")),
    "a script that leaves early": lambda shell: shell.run(
        typed("printf out; printf err >&2\nexit 3\n#")
    ),
    "a block": lambda shell: shell.configure(
        typed(("printf out", "printf err >&2; exit 3", "echo no"))
    ),
}


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("words", ["", "echo welcome; echo 'no tty' >&2; printf 'you have mail'; "])
def test_the_first_answer_is_the_command_s_own_to_the_byte(sshd, login_shell, words, first) -> None:
    login_shell(f"{words}{RUN}")
    with login(sshd) as shell:
        reply = FIRST[first](shell)
        assert (reply.text, reply.errors, reply.status) == ("out", "err", 3)
        assert shell._around is not None
        assert bool(shell._around.mark) is bool(words)


def test_the_first_command_is_one_exec(sshd) -> None:
    with login(sshd) as shell:
        opened: list[str] = []
        execute = shell.execute
        shell.execute = lambda line, *a, **k: opened.append(line) or execute(line, *a, **k)  # type: ignore[method-assign, func-returns-value]
        assert shell.run(typed("echo hi")).text == "hi\n"
        assert shell.run(typed("echo ho")).text == "ho\n"
    assert len(opened) == 2
    assert opened[1] == "timeout -k 2 30 sh -c 'echo ho'"


def test_a_first_command_with_a_mistake_is_told_like_any_other(sshd) -> None:
    with login(sshd) as first, login(sshd) as later:
        later.run(typed("true"))
        replies = [shell.run(typed("echo 'open")) for shell in (first, later)]
    assert {reply.status for reply in replies} == {2}
    assert {reply.text for reply in replies} == {""}
    assert all("nterminated" in reply.errors for reply in replies)


def test_a_first_command_that_takes_too_long_says_so_and_leaves_nothing(sshd) -> None:
    with login(sshd) as shell:
        with pytest.raises(CommandTimeout, match=r"within 1 s; its process group .* ended"):
            shell.run(typed("echo part; sleep 66.25"), timeout_s=1)
        assert shell.run(typed("pgrep -f '[s]leep 66.25'")).text == ""


def test_many_threads_may_be_first(sshd, login_shell) -> None:
    login_shell(f"echo welcome; sleep 0.1; {RUN}")
    with login(sshd) as shell, ThreadPoolExecutor(6) as pool:
        texts = list(pool.map(lambda n: shell.run(typed(f"echo {n}")).text, range(12)))
    assert texts == [f"{n}\n" for n in range(12)]


def test_programs_in_sbin_are_found_where_the_login_s_path_lacks_it(tmp_path: Path) -> None:
    with server(tmp_path, "SetEnv SHLVL=2 PATH=/usr/bin:/bin") as sshd, login(sshd) as shell:
        for _ in ("first", "later"):
            found = shell.run(typed("command -v sshd")).text
            assert found in ("/usr/sbin/sshd\n", "/usr/local/sbin/sshd\n")
        process = shell.start(typed("sh -c 'command -v sshd; sleep 66'"), limit_s=60)
        deadline = time.monotonic() + 10
        while not process.output() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert process.output().endswith("/sshd\n")
        process.close()


def test_tools_speak_c_whatever_the_locale_of_the_login(tmp_path: Path) -> None:
    with server(tmp_path, "SetEnv SHLVL=2 LANG=de_DE.UTF-8") as sshd, login(sshd) as shell:
        for _ in ("first", "later"):
            assert shell.run(typed("echo $LC_ALL")).text == "C\n"
        assert "LC_ALL=C\n" in shell.run(typed("env")).text


def test_nothing_is_said_before_a_command_where_all_is_well(sshd) -> None:
    with login(sshd) as shell:
        shell.run(typed("true"))
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
    lines = "".join(f"{line}\n" for line in answer)
    for own in ("", "M", "own\n", "two\nlines"):
        opened = Opening("M").answered(f"M\n{lines}M\n{own}M\n", "M\nerr")
        assert opened == Opened(Surroundings(preface=preface), own, "err")


ANSWER = "/usr/sbin:/sbin" + "\n" * 7


def test_what_comes_before_the_mark_makes_a_host_one_that_prints() -> None:
    for text, errors in ((f"hi M\n{ANSWER}M\nownM\n", "M\n"), (f"M\n{ANSWER}M\nownM\n", "hiM\n")):
        opened = Opening("M").answered(text, errors)
        assert opened == Opened(Surroundings(preface="echo M; echo M >&2; ", mark="M"), "own", "")


def test_an_opening_whose_command_was_cut_off_has_its_words_so_far() -> None:
    opened = Opening("M").answered(f"M\n{ANSWER}M\npart", "M\n")
    assert opened == Opened(Surroundings(), "part", "")


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("", "M\n"),
        ("M\n", "M\n"),
        (f"M\n{ANSWER}", "M\n"),
        ("M\n/bin\n\nM\nownM\n", "M\n"),
        (f"M\n{ANSWER}\nM\nownM\n", "M\n"),
        (f"M\n{ANSWER}M\nownM\n", ""),
        (f"M\n{ANSWER}M\nownM\ngoodbye\n", "M\n"),
    ],
)
def test_an_answer_that_makes_no_sense_is_none(text: str, errors: str) -> None:
    assert Opening("M").answered(text, errors) is None


def test_two_openings_have_two_marks() -> None:
    assert Opening().mark != Opening().mark


# -- algorithms ------------------------------------------------------------------------------------


def test_a_hardened_host_with_one_key_exchange_is_reached(tmp_path: Path) -> None:
    with server(tmp_path, "KexAlgorithms curve25519-sha256") as sshd, login(sshd) as shell:
        assert shell.run(typed("echo hi")).text == "hi\n"


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


@pytest.mark.parametrize("setting", ["Ciphers aes128-cbc", "MACs hmac-sha1"])
def test_old_algorithms_are_spoken_only_where_the_testbed_file_says_so(
    tmp_path: Path, setting: str
) -> None:
    """A MAC only counts beside a cipher without one of its own."""
    name, said = setting.split()
    more = ("Ciphers aes128-ctr",) if name == "MACs" else ()
    with server(tmp_path, setting, *more) as sshd:
        with pytest.raises(Unreachable) as caught, login(sshd):
            pass
        assert f"no {name} in common: it offers only {said}" in str(caught.value)
        assert "`legacy_ssh: true` in the testbed file" in str(caught.value)
        with login(sshd, legacy_ssh=True) as shell:
            assert shell.run(typed("echo hi")).text == "hi\n"


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
        process = shell.start(typed("sh -c 'while sleep 0.2; do echo tick; done'"), limit_s=60)
        begun_s = time.monotonic()
        with frozen(session_of(sshd), 2.5):
            reply = shell.run(typed("echo back"), timeout_s=1)
        assert reply.text == "back\n"
        assert time.monotonic() - begun_s > 2.4  # it was frozen
        assert process.status() is None
        assert process.output().count("tick") >= 5  # what was printed meanwhile has come
        process.close()


def test_output_that_nobody_reads_holds_no_process_up(sshd) -> None:
    with login(sshd) as shell:
        process = shell.start(typed("sh -c 'head -c 9000000 /dev/zero | tr \"\\0\" x'"), limit_s=60)
        deadline = time.monotonic() + 20
        while Path(f"/proc/{process.pid}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)  # nothing of ours reads in between
        assert not Path(f"/proc/{process.pid}").exists()
        while process.status() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert process.output() == "x" * 9_000_000
        process.close()
