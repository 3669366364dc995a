"""The runs of a night: each in a process of its own, those of one lab one after the other."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from labtests.core.errors import LabError
from labtests.core.private_files import open_private, private_folder
from labtests.core.signals import Noted, counted
from labtests.history.records import KeptRun, of_folder
from labtests.night.form import NightRun

Say = Callable[[str], None]
LEFT_OUT = 5
"""Exit code of a run that was not started: pytest's own for nothing that was run."""
INTERNAL_ERROR = 3
_WORST_LAST = (0, LEFT_OUT, 1, 10, 15, 4, 3, 2)
_LOOKS_EVERY_S = 0.2
_STILL_S, _STOPPING_S = 300.0, 15.0
_PATIENCE_S = 25 * 60.0  # less than TimeoutStopSec of docs/night/labtests-night.service
_ASKED_AGAIN = 2


@dataclass(slots=True)
class RunEnd:
    """How a run of the night ended. `kept`: what it left; None when it left nothing that can be
    read. `why`: of one that was not started."""

    run: NightRun
    code: int
    folder: Path
    seconds: float = 0.0
    kept: KeptRun | None = None
    why: str = ""

    @property
    def head(self) -> str:
        """The lab and its backend: of its verdicts where there are any, for a simulated lab that is
        served looks like any other from here."""
        backend = self.run.backend if self.kept is None else self.kept.backend
        return f"{self.run.testbed.name} ({backend})"

    @property
    def log(self) -> Path:
        """What it said."""
        return self.folder.parents[1] / "nights" / f"{self.folder.name}.txt"


@dataclass(slots=True)
class Conducted:
    """The night while it lasts."""

    reports: Path
    say: Say
    expected_s: Callable[[NightRun], float]
    budget_s: float | None
    environment: Mapping[str, str]
    began_s: float = field(default_factory=time.monotonic)
    ends: list[RunEnd] = field(default_factory=list)
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    stopping: str = ""  # the signal that has ended the night
    stopped_s: float = 0.0
    heard: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def through(self, runs: Sequence[NightRun], jobs: int) -> list[RunEnd]:
        """All runs to their end, labs side by side, at most so many; in the order of the file. A
        signal ends what is running as it would end a single run (the labs are put back), and
        nothing else is started."""
        lanes: dict[str, list[NightRun]] = {}
        for run in runs:
            lanes.setdefault(run.testbed.name, []).append(run)
        waiting, told_s = list(lanes.values()), time.monotonic()
        alive: list[threading.Thread] = []
        with counted() as signalled:
            while (waiting or alive) and not self._leaves(signalled):
                while waiting and len(alive) < jobs:
                    lane = threading.Thread(target=self._lane, args=(waiting.pop(0),), daemon=True)
                    lane.start()
                    alive.append(lane)
                time.sleep(_LOOKS_EVERY_S)
                alive = [lane for lane in alive if lane.is_alive()]
                if signalled and not self.stopping:
                    self._stop(signalled.name)
                if time.monotonic() - told_s > (_STOPPING_S if self.stopping else _STILL_S):
                    told_s = time.monotonic()
                    self._still()
        with self._lock:
            ended = {end.run.number: end for end in self.ends}
            return [ended.get(run.number) or self._left_alone(run) for run in runs]

    def _leaves(self, signalled: Noted) -> bool:
        """After a signal, runs are waited for until they have put their labs back; at another one
        it is said which. A third one, or the end of patience, leaves them to end by themselves."""
        if signalled.times > self.heard:
            self.heard = signalled.times
            if signalled.times == _ASKED_AGAIN:
                self._still()
                self.say("another signal leaves them to end by themselves")
        return signalled.times > _ASKED_AGAIN or (
            bool(self.stopping) and time.monotonic() - self.stopped_s > _PATIENCE_S
        )

    def _stop(self, name: str) -> None:
        with self._lock:
            self.stopping, self.stopped_s = name, time.monotonic()
            count = len(self.processes)
            for process in self.processes.values():
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)
        self.say(f"{name}: {count} runs are ended and put their labs back; that is waited for")

    def _still(self) -> None:
        with self._lock:
            running = [f"run {number} (process {p.pid})" for number, p in self.processes.items()]
        what = "putting labs back" if self.stopping else "running"
        minutes = self._elapsed_s() / 60
        self.say(f"after {minutes:.0f} min still {what}: {', '.join(running) or 'no run'}")

    def _left_alone(self, run: NightRun) -> RunEnd:
        process = self.processes.get(run.number)
        if process is None:
            return RunEnd(run, LEFT_OUT, self.reports, why="the night was ended")
        end = RunEnd(run, INTERNAL_ERROR, self.reports,
                     why=f"its process {process.pid} is left to put the lab back by itself; "
                     "labtests restore --list says whether it has")  # fmt: skip
        self.say(_line(end))
        return end

    def _elapsed_s(self) -> float:
        return time.monotonic() - self.began_s

    def _lane(self, runs: Sequence[NightRun]) -> None:
        for run in runs:
            try:
                end = self._run(run)
            except (OSError, LabError) as error:
                end = RunEnd(run, INTERNAL_ERROR, self.reports, why=str(error))
            with self._lock:
                self.ends.append(end)
            self.say(_line(end))

    def _run(self, run: NightRun) -> RunEnd:
        when = datetime.now(UTC)
        name = f"{when:%Y%m%d-%H%M%S}-{token_hex(3)}"
        folder = self.reports / run.testbed.name / name
        expected_s = self.expected_s(run)
        if why := self._left_out(expected_s):
            return RunEnd(run, LEFT_OUT, folder, why=why)
        began_s = time.monotonic()
        end = RunEnd(run, LEFT_OUT, folder, why="the night was ended")
        private_folder((log := end.log).parent)
        with os.fdopen(open_private(log, os.O_WRONLY | os.O_CREAT), "wb") as output:
            with self._lock:
                if self.stopping:
                    return end
                process = subprocess.Popen(
                    command(run, folder), stdin=subprocess.DEVNULL, stdout=output,
                    stderr=subprocess.STDOUT, env=self.environment, start_new_session=True,
                )  # fmt: skip
                self.processes[run.number] = process
            known = f", expected {expected_s / 60:.1f} min" if expected_s else ""
            self.say(f"{run.testbed.name}: started{known}; output: {log}")
            code = process.wait()
        with self._lock:
            del self.processes[run.number]
        return _ended(RunEnd(run, code, folder, time.monotonic() - began_s))

    def _left_out(self, expected_s: float) -> str:
        if self.stopping:
            return "the night was ended"
        if self.budget_s is not None and self._elapsed_s() + expected_s > self.budget_s:
            left = max(self.budget_s - self._elapsed_s(), 0) / 60
            return f"{expected_s / 60:.1f} min are expected, and {left:.1f} min of the budget left"
        return ""


def command(run: NightRun, folder: Path) -> list[str]:
    """How its pytest is started."""
    wait = run.form.wait_for_lease_minutes
    lease = [] if "--dry-run" in run.form.options else ["--wait-for-lease", str(wait)]
    return [sys.executable, "-m", "pytest", *run.form.suites, "--testbed", str(run.testbed.file),
            "--run-dir", str(folder), *lease, *run.form.options]  # fmt: skip


def worst(ends: Sequence[RunEnd]) -> int:
    """The exit code of the night: that of its worst run."""
    known = {code: place for place, code in enumerate(_WORST_LAST)}
    return max((end.code for end in ends), key=lambda code: known.get(code, len(known)), default=0)


def _line(end: RunEnd) -> str:
    if end.why:
        return f"{end.head}: {'LEFT OUT' if end.code == LEFT_OUT else 'ERROR'}: {end.why}"
    if end.kept is None:
        why = f"exit code {end.code}, and no run.json in {end.folder}"
        return f"{end.head}: ERROR: {why}; output: {end.log}"
    outcomes = [test.outcome for test in end.kept.tests]
    counts = ", ".join(f"{outcomes.count(word)} {word}" for word in sorted(set(outcomes)))
    return (
        f"{end.head}: {end.kept.outcome.upper()} (exit code {end.code}) "
        f"in {end.seconds / 60:.1f} min: {counts}; {end.folder / 'report.html'}"
    )


def _ended(end: RunEnd) -> RunEnd:
    """With what it left. A signal of ours that met the run when all of it was told changes nothing.
    pytest also ends with 0 when it was told to run nothing (`--version`, `--collect-only`,
    `--plan`): that is no green night."""
    ended_by_us = end.code == -signal.SIGTERM
    end.code = end.code if end.code >= 0 else 128 - end.code  # as a shell has it
    try:
        end.kept = of_folder(end.folder)
        end.code = end.kept.exit_code if ended_by_us else end.code
    except LabError as error:
        if end.code == 0:
            end.code, end.why = INTERNAL_ERROR, f"exit code 0, and nothing was run: {error}"
    return end
