"""A free-running lab as a user starts it, and the user's own tools: ssh, a terminal, an askpass."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TESTBED = ROOT / "testbeds" / "h3c-s6550-cx4.yaml"
INTERFACES = {"ServerA": "enp3s0f0np0", "ServerB": "ens6f0np0", "ServerC": "ens6f0np0"}
PORTS = {
    "ServerA": "Twenty-FiveGigE1/0/14",
    "ServerB": "Twenty-FiveGigE1/0/15",
    "ServerC": "Twenty-FiveGigE1/0/13",
}
RECEIVER = "192.168.10.12"


@dataclass(slots=True)
class ServedLab:
    """`labtests simlab serve` in a process of its own."""

    directory: Path
    testbed: Path = TESTBED
    program: tuple[str, ...] = ("-m", "labtests")
    process: "subprocess.Popen[str]" = field(init=False)
    text: str = field(init=False, default="")
    started: "list[subprocess.Popen[str]]" = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        command = [sys.executable, *self.program, "simlab", "serve", str(self.testbed)]
        self.process = subprocess.Popen(
            [*command, "--directory", str(self.directory)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.text += line
            if "Ctrl-C ends it" in line:
                return
        self.process.wait()
        raise AssertionError(self.text)

    @property
    def password(self) -> str:
        return re.search(r"password is (\S+)", self.text)[1]  # type: ignore[index]

    @property
    def config(self) -> Path:
        return self.directory / "ssh_config"

    @property
    def ports(self) -> dict[str, int]:
        text = self.config.read_text()
        return {m[0]: int(m[1]) for m in re.findall(r"Host (\S+)\n.*\n +Port (\d+)", text)}

    def ssh(self, device: str, *command: str, options: Sequence[str] = ()) -> list[str]:
        """The command line of a plain OpenSSH client."""
        return ["ssh", *options, "-F", str(self.config), device, *command]

    def run(self, device: str, command: str, **settings: Any) -> "subprocess.CompletedProcess[str]":
        settings.setdefault("stdin", subprocess.DEVNULL)
        if "input" in settings:
            del settings["stdin"]
        return subprocess.run(
            self.ssh(device, command), capture_output=True, text=True, timeout=30, **settings
        )

    def output(self, device: str, command: str) -> str:
        """What a command prints that must succeed and must not complain."""
        done = self.run(device, command)
        assert (done.returncode, done.stderr) == (0, ""), (command, done)
        return done.stdout

    def start(self, device: str, command: str, *options: str) -> "subprocess.Popen[str]":
        """A command in the background, as `ssh host command &`."""
        process = subprocess.Popen(
            self.ssh(device, command, options=options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def tidy(self) -> None:
        """Nothing that was started runs on, here or there."""
        running = [process for process in self.started if process.poll() is None]
        for process in self.started:
            process.kill()
            if process.stdout is not None and not process.stdout.closed:
                process.communicate()
        self.started.clear()
        if running:
            for host in INTERFACES:
                self.run(host, "pkill -9 'ib_|iperf3'")

    def configure(self, *lines: str) -> str:
        """Lines typed into the switch from system view on."""
        return self.output("S6550", "\n".join(["system-view", *lines]))

    def end(self, number: int = signal.SIGTERM) -> int:
        """The lab's exit status after this signal."""
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=10)
        self.text += rest
        return self.process.returncode

    def wait_for(self, device: str, command: str, text: str, deadline_s: float = 10) -> str:
        """The command's output, as soon as it has this text."""
        until = time.monotonic() + deadline_s
        while True:
            output = self.run(device, command).stdout
            if text in output:
                return output
            assert time.monotonic() < until, (command, text, output)
            time.sleep(0.1)


def password_environment(folder: Path, password: str) -> Mapping[str, str]:
    """OpenSSH asks this program for the password instead of the terminal."""
    program = folder / "askpass"
    program.write_text(f"#!/bin/sh\necho '{password}'\n")
    program.chmod(0o700)
    return {**os.environ, "SSH_ASKPASS": str(program), "SSH_ASKPASS_REQUIRE": "force"}


class Terminal:
    """A person at a terminal in which a program runs."""

    def __init__(self, command: Sequence[str]) -> None:
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execvp(command[0], command)
        self.seen = ""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
        os.waitpid(self.pid, 0)

    def type(self, keys: str, expected: str, deadline_s: float = 10) -> str:
        """What the screen shows from these keys on, once it matches the pattern."""
        os.write(self._descriptor, keys.encode())
        return self.read(expected, deadline_s)

    def read(self, expected: str, deadline_s: float = 10) -> str:
        until, shown = time.monotonic() + deadline_s, ""
        while not re.search(expected, shown):
            assert time.monotonic() < until, f"waited for {expected!r}, saw {shown!r}"
            assert not shown.endswith("<end>"), f"{shown!r} without {expected!r}"
            if select.select([self._descriptor], [], [], 0.1)[0]:
                shown += self._read_some()
        self.seen += shown
        return shown

    def _read_some(self) -> str:
        try:
            return os.read(self._descriptor, 65536).decode(errors="replace")
        except OSError:  # EIO: the program has ended
            return "<end>"
