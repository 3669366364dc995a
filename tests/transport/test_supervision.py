"""The shell beside a long command, in every POSIX shell that is here, with real processes."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from typed import typed

from labtests.transport.ssh import supervision
from labtests.transport.ssh.supervision import supervised

PATIENCE_S = 60
"""How long a starved machine may take for what must happen; nothing here waits so long in vain."""
SHELLS = [shell for shell in ("dash", "bash", "busybox", "ksh", "mksh") if shutil.which(shell)]


class Host:
    """What sshd does for one command: a session of its own, and pipes."""

    def __init__(self, shell: str, command: str, *, beats: bool = True, seconds: int = 30) -> None:
        words = [shell, "sh"] if shell == "busybox" else [shell]
        script = supervised(typed(command), seconds=seconds, run="run-7", beats=beats)
        self.process = subprocess.Popen(
            [*words, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.group = int(self.process.stdout.readline())
        begun = self.wait_for(lambda: "sleep" in self.names() or self.process.poll() is not None)
        assert begun

    def hang_up(self) -> None:
        """The runner is dead: its end of the channel is gone."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def names(self) -> list[str]:
        """What lives in the group."""
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
            except OSError:
                continue
            fields = rest.split()
            if int(fields[2]) == self.group and fields[0] not in "ZX":
                found.append(name)
        return found

    def listeners(self) -> set[int]:
        """Who waits for the next beat: timeout(1) and its shell, in this session."""
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                session = (folder / "stat").read_text().rpartition(")")[2].split()[3]
            except OSError:
                continue
            if int(session) == self.group and b"read -r beat" in words:
                found.add(int(folder.name))
        return found

    def beat(self) -> None:
        """The runner lives."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def gone(self) -> bool:
        return self.wait_for(lambda: not self.names())

    def wait_for(self, condition) -> bool:
        until = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    def tidy(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.group, signal.SIGKILL)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        self.process.wait()


@pytest.fixture(params=SHELLS)
def host(request):
    hosts: list[Host] = []

    def start(command: str, **how: object) -> Host:
        hosts.append(Host(request.param, command, **how))
        return hosts[-1]

    yield start
    for each in hosts:
        each.tidy()


def test_the_command_ends_with_the_runner(host):
    alone, stubborn = host("sleep 60"), host("sh -c 'trap \"\" TERM; sleep 60; sleep 60'")
    still = host("sleep 60", beats=False)
    for each in (alone, stubborn, still):
        each.hang_up()
    assert alone.gone()
    assert still.gone()
    assert stubborn.gone()  # by KILL, two seconds later


def test_a_runner_that_sends_no_beat_is_taken_for_dead(host, monkeypatch):
    monkeypatch.setattr(supervision, "BEATS_MISSED_S", 1)
    assert host("sleep 60").gone()


def test_with_each_beat_the_waiting_begins_anew(host):
    """Seen by who waits, not by the clock: a beat of ours may be late, here or on the host."""
    beating = host("sleep 60")
    for _ in range(3):
        assert beating.wait_for(beating.listeners)
        before = beating.listeners()
        beating.beat()
        assert beating.wait_for(
            lambda old=before: beating.listeners() and not beating.listeners() & old
        )
    assert beating.process.poll() is None
    beating.hang_up()
    assert beating.gone()


def test_the_command_s_own_end_and_ctrl_c_are_as_without_it(host):
    short = host("sh -c 'sleep 0.2; exit 3'")
    assert short.process.wait(PATIENCE_S) == 3
    short.hang_up()
    assert short.gone()
    interrupted = host("sleep 60")
    os.killpg(interrupted.group, signal.SIGINT)
    # the shell dies of it, or says that its command did: by SSH both are 130
    assert interrupted.process.wait(PATIENCE_S) in (-signal.SIGINT, 128 + signal.SIGINT)
    limited = host("sleep 60", seconds=1)
    assert limited.process.wait(PATIENCE_S) == 124


def test_what_runs_carries_the_run_in_its_environment(host):
    process = host("sleep 60")
    environment = Path(f"/proc/{process.group}/environ").read_bytes().split(b"\0")
    assert b"LABTESTS_RUN=run-7" in environment
