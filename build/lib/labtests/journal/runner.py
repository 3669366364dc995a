"""Who runs: a process that is known again after a crash, so that nobody else is taken for it."""

import os
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

_PROC = Path("/proc")
_STARTED = 19  # field 22 of /proc/PID/stat, counted from the state (field 3)

_MOST = 2**63
_LONGEST = 255  # a host name has 64 at most

State = Literal["alive", "dead", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """A process of one boot of one machine. `started_ticks` is its start since boot (in clock
    ticks, proc(5)), so that a later process with the same id is not taken for it."""

    pid: int
    host: str
    boot: str
    pid_space: str  # containers on one machine share the boot, not the process ids
    started_ticks: int
    since: str  # UTC, ISO 8601

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


def expect_runner(told: object) -> Runner:
    """What a file tells of a runner is one: numbers that the system has, texts of one line. Raises
    TypeError, ValueError."""
    if type(told) is not Runner:
        raise TypeError("it names no runner")
    numbers = (told.pid, told.started_ticks)
    texts = (told.host, told.boot, told.pid_space, told.since)
    if any(type(number) is not int or not 0 <= number < _MOST for number in numbers):
        raise ValueError("its runner has an invalid process ID or start time")
    if any(type(text) is not str or not text.isprintable() for text in texts):
        raise ValueError("its runner has a text field that is not one printable line")
    if any(len(text) > _LONGEST for text in texts):
        raise ValueError("its runner has an overlong text field")
    return told


def this_runner() -> Runner:
    """The process that asks."""
    return Runner(
        pid=os.getpid(),
        host=socket.gethostname(),
        boot=boot_id(),
        pid_space=_pid_space(),
        started_ticks=started_ticks(os.getpid()) or 0,
        since=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def state_of(runner: Runner) -> State:
    """Whether it still runs. Of another machine that cannot be determined from here."""
    if runner.boot == boot_id():
        if runner.pid_space != _pid_space():
            return "unknown"
        return "alive" if started_ticks(runner.pid) == runner.started_ticks else "dead"
    return "dead" if runner.host == socket.gethostname() else "unknown"


def boot_id() -> str:
    """Another one after each boot."""
    return _text(_PROC / "sys/kernel/random/boot_id")


def _pid_space() -> str:
    try:
        return str((_PROC / "self/ns/pid").readlink())
    except OSError:
        return ""


def started_ticks(pid: int) -> int | None:
    """When it was started (proc(5)); None when there is no such process, or only its zombie."""
    fields = _text(_PROC / f"{pid:d}" / "stat").rpartition(")")[2].split()
    return int(fields[_STARTED]) if len(fields) > _STARTED and fields[0] not in "ZX" else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
