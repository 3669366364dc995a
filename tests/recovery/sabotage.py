"""In the runner: what happens at one write of its change journal. Loaded by `pytest -p sabotage`.

BREAK is JSON: kind, step (the number of the line), how, lab (the folder of the served lab),
`filler` (a file on the run folder's small disk, or ""), `evidence` (a file that gets what really
happened, a line each), and `other`: the process that a second runner lets go on.
"""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import labtests.journal.runner
import labtests.pytest_plugin.run
import labtests.recovery.replay
import labtests.transport.ssh.cli
import labtests.transport.ssh.shell
from labtests.journal.append_only import Pages
from labtests.simlab.injection import inject
from labtests.transport.ssh.shell import ShellTransport
from labtests.transport.ssh.unbroken import UnbrokenTransport
from labtests.transport.transcribing import TranscribedTransport

PATIENCE_S = 4.0  # on a busy machine, too; instead of the 30 s that a command gets
BOOT_S = 0.5
HOURS_S = 5 * 3600
HASTY_S = 3.0  # the lease of a runner that is going to be frozen runs out
ENDS_WITHIN_S = 60.0
PATIENT = (ShellTransport, UnbrokenTransport, TranscribedTransport)


@dataclass
class Breaker:
    """Counts lines; knows what each change's commands are."""

    kind: str
    step: int
    how: str
    lab: Path
    filler: str
    evidence: str
    other: int = 0
    written: int = 0
    acted: int = 0
    commands: dict[int, tuple[str, str, str]] = field(default_factory=dict)  # device, do, undo

    def tell(self, what: str) -> None:
        """For who judges whether it really happened."""
        with Path(self.evidence).open("a") as told:
            told.write(f"{what}\n")

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
    """The disk is full."""
    with suppress(OSError), Path(at.filler).open("ab", buffering=0) as filler:
        while filler.write(b"\0" * 512):
            pass
    at.tell(f"disk: {_refused(Path(at.filler).with_name('more'))}")


def stunt(at: Breaker, line: Mapping[str, Any]) -> None:
    """No file grows any more, whoever may not mount a small disk. No compiled module either: it
    would be cut short, and stay so for others."""
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    none = (1, allowed[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, none)
    refused = _refused(Path("more"))
    resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    at.tell(f"disk: {refused}")
    resource.setrlimit(resource.RLIMIT_FSIZE, none)


def _refused(path: Path) -> str:
    """Why two bytes cannot be written there; "" when they can."""
    try:
        with path.open("wb", buffering=0) as more:
            more.write(b"\0")
            more.write(b"\0")
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return ""


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
    true_now = datetime.fromtimestamp(time.clock_gettime(time.CLOCK_REALTIME), UTC)
    off = labtests.journal.runner.datetime.now(UTC) - true_now
    at.tell(f"clock: {off.total_seconds():.0f}")


def mislead(at: Breaker, line: Mapping[str, Any]) -> None:
    """The clock of the device that the line is about is set."""
    device, _ = at.aimed_at(line)
    seconds = HOURS_S if at.how.startswith("forward") else -HOURS_S
    inject(at.lab, {"kind": "clock", "device": device, "seconds": seconds})


def freeze(at: Breaker, line: Mapping[str, Any]) -> None:
    """Stopped, until another runner has the lab and lets us go on (other_runner.py)."""
    program = str(Path(__file__).with_name("other_runner.py"))
    clean = {name: value for name, value in os.environ.items() if name != "BREAK"}
    asked = {"frozen": os.getpid(), "lab": str(at.lab), "evidence": at.evidence}
    with Path("second.txt").open("w") as said:
        subprocess.Popen(
            [sys.executable, program, json.dumps(asked)],
            env=clean,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    os.kill(os.getpid(), signal.SIGSTOP)


def thaw(at: Breaker, line: Mapping[str, Any]) -> None:
    """The frozen runner goes on, and ends, while we have changed the lab."""
    at.tell(f"thawed: {time.time()}")
    os.kill(at.other, signal.SIGCONT)
    until_s = time.monotonic() + ENDS_WITHIN_S
    while Path(f"/proc/{at.other}").exists():
        if time.monotonic() > until_s:
            return
        time.sleep(0.05)
    at.tell(f"ended: {time.time()}")


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
    "no growth": stunt,
    "second run": second,
    "clock": jump,
    "their clock": mislead,
    "frozen": freeze,
    "thaw": thaw,
}


def break_there(at: Breaker) -> None:
    """The act comes before, in the middle of, or after that write."""
    write, act = Pages.write, ACTS[at.kind]

    def watched(self: Pages, *lines: Mapping[str, Any]) -> None:
        """Several lines at once are one write: what is about one of them comes around all."""
        first = at.written + 1
        for line in lines:
            at.hear(line)
        again = at.kind == "SIGINT twice" and at.acted == 1
        if not (first <= at.step <= at.written or again):
            write(self, *lines)
            return
        at.acted += 1
        meant = lines[0 if again else at.step - first]
        if at.how == "torn":
            os.write(self._file, b'{"kind": "change", "number": 9')
        if at.how in ("before", "torn") or at.how.endswith(" before"):
            _seen(at, act, meant)
            write(self, *lines)
        else:
            write(self, *lines)
            _seen(at, act, meant)

    Pages.write = watched  # type: ignore[method-assign,assignment]


def _seen(at: Breaker, act: Callable[[Breaker, Mapping[str, Any]], None], line: Any) -> None:
    at.tell(f"line: {at.step}")
    try:
        act(at, line)
    except KeyboardInterrupt as caught:
        at.tell(f"interrupted: {str(caught) or 'SIGINT'}")
        raise


def be_hasty() -> None:
    """The lease that this run takes runs out soon when nobody renews it."""
    load = labtests.pytest_plugin.run.load

    def hasty(path: Path) -> Any:
        testbed = load(path)
        assert testbed.lease is not None
        return replace(testbed, lease=replace(testbed.lease, expires_after_s=HASTY_S))

    labtests.pytest_plugin.run.load = hasty


@contextmanager
def patience(limit_s: float) -> Iterator[None]:
    """What a command gets unless its caller says otherwise, in this process."""
    defaults = [each.run.__kwdefaults__ for each in PATIENT]
    before_s = labtests.transport.ssh.cli.DEFAULT_TIMEOUT_S
    _be_patient(defaults, limit_s)
    try:
        yield
    finally:
        _be_patient(defaults, before_s)


def _be_patient(defaults: list[dict[str, Any]], limit_s: float) -> None:
    for each in defaults:
        each["timeout_s"] = limit_s
    labtests.transport.ssh.cli.DEFAULT_TIMEOUT_S = labtests.transport.ssh.shell.BLOCK_WITHIN_S = (
        limit_s
    )


def pytest_configure(config: pytest.Config) -> None:
    """Commands get little patience here, so that one that hangs does not take half a minute."""
    patient = patience(PATIENCE_S)
    patient.__enter__()
    config.add_cleanup(partial(patient.__exit__, None, None, None))
    if said := os.environ.get("BREAK"):
        asked = json.loads(said)
        break_there(Breaker(**asked | {"lab": Path(asked["lab"])}))


if json.loads(os.environ.get("BREAK", "{}")).get("kind") in ("frozen", "thaw"):
    be_hasty()  # before the testbed is read, when pytest is configured
