"""A lease kept on this machine by a real /bin/sh, or on an emulated host by its shell."""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from labtests.core.errors import Unreachable
from labtests.lease.held import Held
from labtests.lease.record import Holder, me
from labtests.lease.register import Register
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.timeline import Timeline
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Reply


@dataclass
class LocalShell:
    """This machine as a device. `gone`: it does not answer. `sent` has every script."""

    device: str = "here"
    shell: str = "sh"
    gone: bool = False
    sent: list[str] = field(default_factory=list)

    def close(self) -> None:
        """Nothing is open."""

    def run(self, command: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        if self.gone:
            raise Unreachable(self.device, command, "no answer", "plug it in")
        self.sent.append(command)
        done = subprocess.run(
            [*self.shell.split(), "-c", command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
        )
        return Reply(
            device=self.device,
            command=command,
            text=done.stdout,
            errors=done.stderr,
            status=done.returncode,
        )


class Screen:
    """An SSH session's other end, as an emulated host sees it."""

    pty, username, width, height, congested = False, "root", 80, 24, False
    on_line = on_key = on_data = on_eof = on_interrupt = on_signal = None

    def __init__(self) -> None:
        self.out = self.err = ""
        self.status: int | None = None

    def write(self, text: str) -> None:
        self.out += text

    def write_error(self, text: str) -> None:
        self.err += text

    def exit(self, status: int) -> None:
        self.status = status


class Shifted:
    """The lab's timeline, as a host sees it whose time passes without any packet moving."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline, self.ahead_ns = timeline, 0

    @property
    def now_ns(self) -> int:
        return self._timeline.now_ns + self.ahead_ns

    def at(self, time_ns: int, callback: Callable[[], None]) -> object:
        return self._timeline.at(time_ns - self.ahead_ns, callback)


class Emulated:
    """An emulated host of a lab whose time only passes when a test says so; also its clock."""

    def __init__(self, lab: SimulatedLab, device: str = "ServerA") -> None:
        self.lab, self.device = lab, device
        self._time = Shifted(lab.timeline)
        lab.devices[device].kernel._clock = self._time  # type: ignore[attr-defined]

    def run(self, command: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        screen = Screen()
        line = f"timeout -k 2 {timeout_s:g} sh -c {quote(command)}"  # as over SSH
        self.lab.devices[self.device].execute(line, screen)
        return Reply(
            device=self.device,
            command=command,
            text=screen.out,
            errors=screen.err,
            status=screen.status,
        )

    def now_s(self) -> float:
        return self._time.now_ns / 1e9

    def sleep(self, seconds: float) -> None:
        self._time.ahead_ns += round(seconds * 1e9)


class StillClock:
    """A lab's clock that stands still: no heartbeats, and what was seen stays fresh."""

    def now_s(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        time.sleep(min(seconds, 0.01))


def run_holder(name: str, expires_after_s: float | None = 60.0) -> Holder:
    return me("run", run=name, why=f"the tests of {name}", expires_after_s=expires_after_s)


def held_at(folder: Path, name: str, *, transport=None, expires_after_s=60.0, clock=None) -> Held:  # type: ignore[no-untyped-def]
    register = Register(transport or LocalShell(), str(folder))
    return Held(register, run_holder(name, expires_after_s), clock=clock or StillClock())
