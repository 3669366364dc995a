"""An ordinary user with `become: true`, against real sudo and a real sshd on loopback."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sshd_server import wait_for
from sudo_host import ALL, SudoHost, sudo_host, why_not
from sudo_refusals import REFUSALS
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import CommandRejected, CommandTimeout, LoginUnusable, Unreachable
from labtests.transport.ssh import SHELL, connect, supervision
from labtests.transport.ssh.shell import ShellTransport

NOT_HERE = why_not()
pytestmark = pytest.mark.skipif(bool(NOT_HERE), reason=NOT_HERE)

WAYS = {
    "pty": ("Defaults use_pty", ALL),  # Debian's, and everybody's since sudo 1.9.14
    "no pty": ("Defaults !use_pty", ALL),
}
RECORDED = ("Defaults use_pty, log_input, log_output, iolog_dir=/mnt/io", ALL)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SudoHost]:
    with sudo_host(tmp_path_factory.mktemp("sudo")) as running:
        yield running


@contextmanager
def login(host: SudoHost) -> Iterator[ShellTransport]:
    transport = connect(host.device(), SHELL, clock=WallClock(), run="run-7")
    assert isinstance(transport, ShellTransport)
    try:
        yield transport
    finally:
        transport.close()


@pytest.fixture(params=WAYS)
def shell(host: SudoHost, request: pytest.FixtureRequest) -> Iterator[ShellTransport]:
    host.sudoers(*WAYS[request.param])
    with login(host) as transport:
        yield transport


def living(tag: str) -> list[str]:
    """What runs anywhere on this machine with these words in its command line."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if tag in words:
            found.append(words)
    return found


def test_commands_are_root_s_with_both_streams_apart(shell) -> None:
    reply = shell.run(typed("id -u; echo $SUDO_USER >&2; cat; exit 3"))
    assert (reply.text, reply.errors, reply.status) == ("0\n", "ops\n", 3)


def test_programs_in_sbin_are_found(shell) -> None:
    assert shell.run(typed("command -v sshd")).text.endswith("/sbin/sshd\n")


def test_a_block_stops_at_the_first_failure(shell) -> None:
    reply = shell.configure(typed(("echo one", "sh -c 'echo two >&2; exit 4'", "echo three")))
    assert (reply.command, reply.status) == ("sh -c 'echo two >&2; exit 4'", 4)
    assert "two" in reply.errors
    assert "three" not in reply.text


def test_a_command_that_takes_too_long_is_ended_with_its_children(shell) -> None:
    with pytest.raises(CommandTimeout, match="its process group on the host was ended"):
        shell.run(typed("sleep 4711 & sleep 4711"), timeout_s=0.5)
    wait_for(lambda: not living("sleep 4711"), within_s=5)


def test_a_process_says_things_gets_signals_and_is_ended_by_close(shell) -> None:
    script = "trap 'echo int; exit 7' INT; id -u; echo err >&2; while :; do sleep 0.1; done"
    process = shell.start(typed(f"sh -c {shlex.quote(script)}"), limit_s=60)
    wait_for(lambda: process.errors() == "err\n")
    assert (process.output(), process.status()) == ("0\n", None)
    process.signal("INT")
    wait_for(lambda: process.status() is not None)
    assert process.status() == 7
    assert process.output().startswith("0\nint\n")  # timeout(1) may pass it on once more
    process.close()
    other = shell.start(typed("sleep 4712"), limit_s=60)
    other.close()
    wait_for(lambda: not living("sleep 4712"), within_s=5)  # the shell beside it ends by itself


def test_a_runner_that_is_gone_or_silent_leaves_nothing_running(shell, monkeypatch) -> None:
    monkeypatch.setattr(supervision, "KILL_AFTER_S", 1)
    gone = shell.start(typed("sleep 4713"), limit_s=60)
    monkeypatch.setattr(supervision, "BEATS_MISSED_S", 1)
    silent = shell.start(typed("sleep 4714"), limit_s=60)
    assert gone.status() is None
    wait_for(lambda: not living("sleep 4714"))
    assert living("sleep 4713")
    silent.close()
    shell.line.wire.close()
    wait_for(lambda: not living("sleep 4713"))
    with pytest.raises(Unreachable):
        gone.status()


def test_a_host_that_does_not_tell_is_not_taken_for_a_process_that_is_gone(host) -> None:
    host.sudoers(ALL)
    with login(host) as shell:
        process = shell.start(typed("sleep 4715"), limit_s=60)
        host.sudoers(f"{ALL}, !/usr/bin/sh, !/bin/sh")
        with pytest.raises(CommandRejected, match=r"ops is not allowed to execute '.*kill -s 0 --"):
            process.close()
        wait_for(lambda: not living("exec timeout -k 2 60 sleep 4715"))  # its channel was closed


def test_a_sudo_that_records_everything_keeps_streams_whole_and_processes_in_hand(host) -> None:
    """The command ends late: sudo 1.9.13 with a log of output throws away what its reader has not
    taken by then (of 99 999 bytes to a reader that first sleeps, 65 536 came, without ssh too)."""
    host.sudoers(*RECORDED)
    with login(host) as shell:
        reply = shell.run(
            typed("head -c 3000000 /dev/zero | tr '\\0' x; head -c 60000 /dev/zero >&2; sleep 2")
        )
        assert (reply.text, len(reply.errors)) == ("x" * 3_000_000, 60_000)
        process = shell.start(typed("sleep 4718"), limit_s=60)
        shell.line.wire.close()
        with pytest.raises(Unreachable):
            process.status()
        wait_for(lambda: not living("sleep 4718"))


# -- refusals --------------------------------------------------------------------------------------


NOEXEC = "noexec, a command"
AT_LOGIN = ("no NOPASSWD", "requiretty", "secure_path without programs", NOEXEC)
BY_RULE = {case.name: case for case in REFUSALS if case.sudoers not in ((), (ALL,))}


def test_real_sudo_s_refusals_name_device_command_and_remedy(host) -> None:
    host.sudoers(ALL)
    with login(host) as shell:
        shell.run(typed("true"))
        for case in BY_RULE.values():
            if case.name == NOEXEC:  # a shell starts, and can start nothing
                continue
            host.sudoers(*case.sudoers)
            with pytest.raises(CommandRejected) as caught:
                shell.start(typed("ib_send_bw -a"), limit_s=5)
            assert (caught.value.device, caught.value.command) == ("host", "sudo -n ib_send_bw -a")
            assert case.remedy in caught.value.remedy, case.name
        assert len(BY_RULE) >= 10


@pytest.mark.parametrize("name", AT_LOGIN)
def test_a_host_that_never_lets_us_become_root_is_refused_at_once(host, name: str) -> None:
    case = BY_RULE[name]
    host.sudoers(*case.sudoers)
    with login(host) as shell, pytest.raises(LoginUnusable) as caught:
        shell.run(typed("whoami"))
    assert caught.value.command == "sudo -n true"
    assert case.remedy in caught.value.remedy


def test_the_remedies_open_a_hardened_host(host) -> None:
    hardened = "Defaults noexec, requiretty, use_pty, umask=0077, ignore_dot, env_reset"
    host.sudoers(hardened, ALL)
    with login(host) as shell, pytest.raises(LoginUnusable, match="!requiretty"):
        shell.run(typed("true"))
    host.sudoers(hardened, "Defaults:ops !requiretty", ALL)
    with login(host) as shell, pytest.raises(LoginUnusable, match="!noexec"):
        shell.run(typed("true"))
    host.sudoers(hardened, "Defaults:ops !requiretty, !noexec", ALL)
    with login(host) as shell:
        assert shell.run(typed("sh -c 'id -u'")).text == "0\n"


def test_an_account_that_expires_meanwhile_is_said(host) -> None:
    host.sudoers(ALL)
    with login(host) as shell:
        shell.run(typed("true"))
        host.expires(18001)
        try:
            with pytest.raises(CommandRejected, match=r"account validation.*\n.*chage -l"):
                shell.start(typed("ib_send_bw"), limit_s=5)
        finally:
            host.expires(None)


def test_a_host_without_sudo_is_told_so(tmp_path: Path) -> None:
    said = r"sudo: command not found\n.*install sudo"
    with (
        sudo_host(tmp_path, "SetEnv SHLVL=2 PATH=/nowhere") as bare,
        login(bare) as shell,
        pytest.raises(LoginUnusable, match=said),
    ):
        shell.run(typed("whoami"))


def test_warnings_of_sudo_are_part_of_no_output(host) -> None:
    host.sudoers("Defaults nosuchthing", ALL)
    with login(host) as shell:
        reply = shell.run(typed("echo out; echo err >&2"))
        assert (reply.text, reply.errors) == ("out\n", "err\n")
        process = shell.start(typed("sleep 4716"), limit_s=60)
        process.close()
        assert (process.errors(), living("sleep 4716")) == ("", [])


def test_a_time_limit_of_sudo_s_own_is_seen(host) -> None:
    host.sudoers("Defaults command_timeout=1", ALL)
    with login(host) as shell:
        process = shell.start(typed("sleep 4717"), limit_s=60)
        wait_for(lambda: process.status() is not None)
        assert process.status() != 0
        wait_for(lambda: not living("sleep 4717"))
        process.close()
