"""This machine as a host: a transport over subprocesses, with the wall clock."""

import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from typing import IO

from labtests.core.errors import CommandTimeout
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Process, Reply, Signal


class WallClock:
    def now_s(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class LocalProcess:
    def __init__(self, device: str, command: str, limit_s: float) -> None:
        self.device, self.command = device, command
        self._out: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._err: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._child = subprocess.Popen(
            ["sh", "-c", f"exec timeout -k 2 {limit_s:.0f} {command}"],
            stdout=self._out,
            stderr=self._err,
            start_new_session=True,
        )

    def _text(self, file: IO[bytes]) -> str:
        return os.pread(file.fileno(), 10**7, 0).decode()

    def output(self) -> str:
        return self._text(self._out)

    def errors(self) -> str:
        return self._text(self._err)

    def status(self) -> int | None:
        code = self._child.poll()
        return code if code is None or code >= 0 else 128 - code

    def signal(self, name: Signal) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, getattr(signal, f"SIG{name}"))

    def close(self) -> None:
        signals: tuple[Signal, ...] = ("INT", "TERM", "KILL")
        for name in signals:
            if self.status() is None:
                self.signal(name)
                with suppress(subprocess.TimeoutExpired):
                    self._child.wait(2)
        self._out.close()
        self._err.close()
        if self.status() is None:
            raise CommandTimeout(self.device, self.command, "it survived KILL", "reboot")


class LocalTransport:
    device = "localhost"

    def run(self, command: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        done = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, timeout=timeout_s, check=False
        )
        return Reply(
            device=self.device,
            command=command,
            text=done.stdout,
            errors=done.stderr,
            status=done.returncode,
            time_s=time.time(),
        )

    def start(self, command: str, *, limit_s: float) -> Process:
        return LocalProcess(self.device, command, limit_s)

    def configure(self, commands: tuple[str, ...]) -> Reply:
        raise AssertionError("a workload configures nothing")

    def close(self) -> None:
        pass
