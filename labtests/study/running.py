"""A sweep runs: what is not finished yet, on workers, into the ledger."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from labtests.study.ledger import Row, StudyLedger, row
from labtests.study.points import Base, StudyJob, key_of, ran
from labtests.study.working import Task, Workers

TOLD_EVERY_S = 2.0
Told = Callable[[str], None]


@dataclass(slots=True)
class Progress:
    """How far it is, told now and then."""

    total: int
    told: Told
    done: int = 0
    failed: int = 0
    _begun: float = field(default_factory=time.monotonic)
    _here: int = 0
    _last: float = 0.0

    def one(self, failed: bool) -> None:
        """Another run is done."""
        self.done, self._here, self.failed = self.done + 1, self._here + 1, self.failed + failed
        now = time.monotonic()
        if now - self._last >= TOLD_EVERY_S or self.done == self.total:
            self._last = now
            left_s = (now - self._begun) / self._here * (self.total - self.done)
            bad = f", {self.failed} failed" if self.failed else ""
            self.told(f"{self.done} of {self.total} runs{bad}, {span(left_s)} left")


def span(seconds: float) -> str:
    """A time as a person says it."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@dataclass(frozen=True, slots=True)
class StudyBench:
    """What runs are of and where they are computed and kept."""

    base: Base
    measure: Sequence[str]
    ledger: StudyLedger
    workers: Workers
    again: bool = False  # runs that have failed, too


def run(bench: StudyBench, jobs: Iterable[StudyJob], progress: Progress) -> list[Row]:
    """The rows of all these jobs, in their order; those in the ledger are not run again."""
    digest, ledger = bench.base.digest, bench.ledger
    asked = {key_of(digest, job, bench.measure): job for job in jobs}
    mine = ledger.left(asked, again=bench.again)
    left = {key: job for key, job in asked.items() if key in mine}
    progress.done += len(asked) - len(left)
    for key, outcome in bench.workers.outcomes(_tasks(bench, left)):
        job = left[key]
        more = {"pattern": job.pattern, "seed": job.seed, **outcome}
        ledger.add(row(key, job.values, more))
        progress.one("failed" in outcome)
    return [ledger.rows[key] for key in asked]


def _tasks(bench: StudyBench, left: dict[str, StudyJob]) -> Iterator[Task]:
    for key, job in left.items():
        yield Task(key, ran, (bench.base, job, tuple(bench.measure)))
