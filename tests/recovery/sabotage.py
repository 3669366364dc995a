"""In the runner: what happens at one write of its change journal. Loaded by `pytest -p sabotage`.

BREAK is JSON: kind, step (the number of the line), how, lab (the folder of the served lab), and
`filler` (a file on the run folder's small disk) or "" where the disk cannot be a real one.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import labtests.journal.runner
import labtests.recovery.replay
import labtests.ssh.cli
from labtests.journal.pages import Pages
from labtests.journal.wrapping import JournalledTransport
from labtests.simlab.injection import inject
from labtests.ssh.shell import ShellTransport
from labtests.ssh.unbroken import UnbrokenTransport

PATIENCE_S = 1.5  # instead of the 30 s that a command gets
BOOT_S = 0.5
HOURS_S = 5 * 3600
PATIENT = (ShellTransport, UnbrokenTransport, JournalledTransport)


@dataclass
class Breaker:
    """Counts lines; knows what each change's commands are."""

    kind: str
    step: int
    how: str
    lab: Path
    filler: str
    written: int = 0
    commands: dict[int, tuple[str, str, str]] = field(default_factory=dict)  # device, do, undo

    def hear(self, line: Mapping[str, Any]) -> None:
        """A line is about to be written."""
        self.written += 1
        if line["kind"] == "change":
            do, undo = line["commands"], line["undo"]
            self.commands[line["number"]] = (line["device"], do[-1], undo[-1])

    def aimed_at(self, line: Mapping[str, Any]) -> tuple[str, str]:
        """The device that this line is about, and the command that follows it."""
        device, do, undo = self.commands.get(line.get("number", 0), ("S6550", "", ""))
        return device, undo if line["kind"] in ("undoing", "undone") else do

    def fault(self, line: Mapping[str, Any], **facts: object) -> None:
        """Something happens to the device, now or at the command that follows."""
        device, command = self.aimed_at(line)
        if self.how in ("not obeyed", "obeyed"):
            facts |= {"command": command, "after": self.how == "obeyed"}
        inject(self.lab, {"kind": self.kind, "device": device, **facts})


def hang(at: Breaker, line: Mapping[str, Any]) -> None:
    device, command = at.aimed_at(line)
    inject(at.lab, {"kind": "hang", "device": device, "command": command})


def fill(at: Breaker, line: Mapping[str, Any]) -> None:
    """The disk is full; without a small disk of its own, no file grows any more."""
    if at.filler:
        with suppress(OSError), Path(at.filler).open("ab", buffering=0) as filler:
            while filler.write(b"\0" * 512):
                pass
        return
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, most))


def second(at: Breaker, line: Mapping[str, Any]) -> None:
    """Somebody else starts on the same lab."""
    command = [sys.executable, "-m", "pytest", "-q", "test_look.py", "--testbed=served.yaml"]
    clean = {name: value for name, value in os.environ.items() if name != "BREAK"}
    done = subprocess.run(command, env=clean, capture_output=True, text=True)
    Path("second.txt").write_text(f"{done.returncode}\n{done.stdout}")


def jump(at: Breaker, line: Mapping[str, Any]) -> None:
    """This machine's wall clock is set, as by NTP or by hand."""
    offset_s = HOURS_S if at.how.startswith("forward") else -HOURS_S
    true_time, true_ns = time.time, time.time_ns
    time.time = lambda: true_time() + offset_s
    time.time_ns = lambda: true_ns() + offset_s * 1_000_000_000

    class Jumped(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz or UTC) + timedelta(seconds=offset_s)

    for module in list(sys.modules.values()):
        if module.__name__.startswith("labtests.") and getattr(module, "datetime", 0) is datetime:
            module.datetime = Jumped  # type: ignore[attr-defined]


def send(name: str) -> Callable[[Breaker, Mapping[str, Any]], None]:
    return lambda at, line: os.kill(os.getpid(), getattr(signal, name))


ACTS: Mapping[str, Callable[[Breaker, Mapping[str, Any]], None]] = {
    "kill -9": send("SIGKILL"),
    "SIGTERM": send("SIGTERM"),
    "SIGHUP": send("SIGHUP"),
    "SIGINT": send("SIGINT"),
    "SIGINT twice": send("SIGINT"),
    "cut": Breaker.fault,
    "reboot": lambda at, line: at.fault(line, seconds=BOOT_S),
    "hang": hang,
    "lie": Breaker.fault,
    "full disk": fill,
    "second run": second,
    "clock": jump,
}


def break_there(at: Breaker) -> None:
    """The act comes before, in the middle of, or after that write."""
    write, act = Pages.write, ACTS[at.kind]

    def watched(self: Pages, line: Mapping[str, Any]) -> None:
        at.hear(line)
        due = at.written == at.step
        due |= at.kind == "SIGINT twice" and at.written == at.step + 1
        if not due:
            write(self, line)
            return
        if at.how == "torn":
            os.write(self._file, b'{"kind": "change", "number": 9')
        if at.how in ("before", "torn") or at.how.endswith(" before"):
            act(at, line)
            write(self, line)
        else:
            write(self, line)
            act(at, line)

    Pages.write = watched  # type: ignore[method-assign,assignment]


@contextmanager
def patience(limit_s: float) -> Iterator[None]:
    """What a command gets unless its caller says otherwise, in this process."""
    defaults = [each.run.__kwdefaults__ for each in PATIENT]
    before_s = labtests.ssh.cli.DEFAULT_TIMEOUT_S
    _be_patient(defaults, limit_s)
    try:
        yield
    finally:
        _be_patient(defaults, before_s)


def _be_patient(defaults: list[dict[str, Any]], limit_s: float) -> None:
    for each in defaults:
        each["timeout_s"] = limit_s
    labtests.ssh.cli.DEFAULT_TIMEOUT_S = limit_s


def pytest_configure(config: pytest.Config) -> None:
    """Commands get little patience here, so that one that hangs does not take half a minute."""
    patient = patience(PATIENCE_S)
    patient.__enter__()
    config.add_cleanup(partial(patient.__exit__, None, None, None))
    if said := os.environ.get("BREAK"):
        asked = json.loads(said)
        break_there(Breaker(**asked | {"lab": Path(asked["lab"])}))
