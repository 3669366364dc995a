"""Runs of suites in labs that are broken as declared: each in processes of its own, some at once.

Each result is a line of JSON in a file, written when its run ends, so that a matrix that was killed
goes on where it was.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from labtests.core import stem
from labtests.core.interpreter import child_environment, module_command
from labtests.core.private_files import open_private
from labtests.faults.declared import Declared
from labtests.faults.judging import BROKEN, Heard, Seen, judged
from labtests.faults.places import NotOfThisLab, Places
from labtests.faults.suites import SUITES

ENDS_WITHIN_S = 900.0
LONGEST_WORDS = 1500
BARE = (
    *("-p", "no:cacheprovider", "-p", "no:hypothesispytest"),
    *("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"),
)
"""Words for pytest under a stem: it keeps nothing beside the suites and imports nothing that is not
needed."""
DRY_RUN = (
    *("pytest", "pytest_html.plugin", "pandas", "pyarrow"),
    *("labtests.pytest_plugin", "labtests.drivers.comware", "labtests.drivers.connectx"),
    *("labtests.history.background", "labtests.history.entering", "labtests.transport.ssh.cli"),
    *("labtests.__main__", "labtests.simlab.serving", "labtests.network.warming:load"),
)
"""What a stem is grown with, for runs of suites with --dry-run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One suite in one broken lab."""

    fault: str
    digest: str
    suite: str
    testbed: str
    seed: int
    commit: str
    date: str
    seen: Seen
    words: str
    seconds: float

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What it is a result of."""
        return (self.digest, self.suite, self.testbed, self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where all runs of a matrix run. `stem`: its socket; `commit`: of labtests and its suites."""

    stem: str
    places: Places
    suites: Path
    seed: int
    commit: str

    def run(self, declared: Declared, suite: str) -> GateResult:
        """One run, to its end."""
        started_s = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="labtests-fault-") as folder:
            found = self._judged(declared, suite, Path(folder) / "run")
        return GateResult(
            fault=declared.name,
            digest=declared.digest,
            suite=suite,
            testbed=self.places.testbed.name,
            seed=self.seed,
            commit=self.commit,
            date=f"{datetime.now(UTC):%Y-%m-%d}",
            seen=found.seen,
            words=found.words[:LONGEST_WORDS],
            seconds=round(time.monotonic() - started_s, 1),
        )

    def command(self, declared: Declared, suite: str) -> list[str]:
        """The run as one types it. Raises NotOfThisLab."""
        words = ["pytest", f"{self.suites}/{SUITES[suite].node}"]
        words += ["--testbed", str(self.places.testbed.file), "--dry-run", *SUITES[suite].more]
        words += ["--seed", str(self.seed)] if self.seed != 1 else []
        for fault in self.places.faults(declared, SUITES[suite]):
            words += ["--fault", json.dumps(fault)]
        return words

    def _judged(self, declared: Declared, suite: str, folder: Path) -> Heard:
        typed = self.command(declared, suite)[1:]
        words = module_command("pytest", *typed, *BARE, "--run-dir", str(folder))
        inherited = {name for name in os.environ if name.startswith(("LABTESTS_", "PYTEST_"))}
        try:
            status, said = stem.run(
                self.stem,
                words,
                cwd=Path.cwd(),
                env=child_environment(inherited),
                timeout_s=ENDS_WITHIN_S,
            )
        except subprocess.TimeoutExpired:
            return Heard(seen=BROKEN, words=f"it did not end within {ENDS_WITHIN_S:g} s")
        except OSError as error:
            return Heard(seen=BROKEN, words=f"it could not be started: {error}")
        file = folder / "run.json"
        run = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
        found = judged(run, status, declared, self.places)
        if found.seen != BROKEN:
            return found
        end = " / ".join(said.strip().splitlines()[-8:])
        return Heard(seen=BROKEN, words=f"{found.words}: {end}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A fault and a suite that is to be run against it."""

    declared: Declared
    suite: str


def jobs(
    chosen: Sequence[Declared], suites: Sequence[str], places: Places, *, quick: bool = False
) -> Iterator[Job]:
    """Each fault that this testbed can have, with `suites`, or without any with those that it
    names; `quick`: with the first of these."""
    for declared in chosen:
        for suite in suites or declared.red[: 1 if quick else None]:
            try:
                places.faults(declared, SUITES[suite])
            except NotOfThisLab:
                continue
            yield Job(declared=declared, suite=suite)


def results_of(file: Path) -> dict[tuple[str, str, str, int], GateResult]:
    """The newest result of each; a line that a kill has cut short is none."""
    found: dict[tuple[str, str, str, int], GateResult] = {}
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                result = GateResult(**json.loads(line))
            except (ValueError, TypeError):
                continue
            found[result.key] = result
    return found


def run_all(
    todo: Sequence[Job], bench: Bench, file: Path, *, at_once: int, say: Callable[[str], None]
) -> list[GateResult]:
    """All of them; each is kept and told when it ends."""
    file.parent.mkdir(parents=True, exist_ok=True)
    _end_line(file)
    began_s, done = time.monotonic(), []
    with ThreadPoolExecutor(max_workers=at_once) as pool, _to_add(file) as kept:
        waiting = [pool.submit(bench.run, job.declared, job.suite) for job in todo]
        try:
            for each in as_completed(waiting):
                result = each.result()
                kept.write(json.dumps(asdict(result)) + "\n")
                kept.flush()
                done.append(result)
                spent_s = time.monotonic() - began_s
                left_s = spent_s / len(done) * (len(todo) - len(done))
                say(f"{len(done)}/{len(todo)}, {left_s / 60:.0f} min left: {told(result)}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return done


def _to_add(file: Path) -> TextIO:
    """The file, private, to add lines to."""
    descriptor = open_private(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return os.fdopen(descriptor, "a", encoding="utf-8")


def _end_line(file: Path) -> None:
    """What a kill has cut short is a line of its own."""
    if file.is_file() and file.read_bytes()[-1:] not in (b"", b"\n"):
        with _to_add(file) as kept:
            kept.write("\n")


def told(result: GateResult) -> str:
    """A line of progress."""
    return f"{result.fault} x {result.suite}: {result.seen.upper()} {result.words[:300]}"
