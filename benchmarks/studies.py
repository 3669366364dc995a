"""How much faster two are than one, in one run: processes of this machine, and workers of a dask
cluster on it. `python benchmarks/studies.py` prints the time of two / the time of one (goal: at
most 0.6), the same of tasks that only sleep and of a bare loop, which say what the machine has
left, and its load.

Of runs it also prints what does not depend on the load: the CPU time of a run in a worker, of one
and of two, and what handing it out and keeping it takes here. `by CPU time` is what two take of
one's time where each has a core of its own: half of the runs, and all that is done here."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from json import loads
from pathlib import Path
from typing import Any

from labtests.study.points import Base, StudyJob, ran
from labtests.study.reader import base_of
from labtests.study.working import Task, Workers, workers

CASE = Path(__file__).parents[1] / "docs" / "studies" / "small.yaml"
RUNS, ROUNDS = 40, 2


@dataclass
class Spent:
    """Seconds of so many tasks: by the clock, of the workers' CPU, and of this process's."""

    wall_s: float = 0.0
    workers_s: float = 0.0
    here_s: float = 0.0


def main() -> None:
    for kind, tasks in (
        ("processes, asleep", _asleep),
        ("processes, a bare loop", _looping),
        ("processes", _tasks),
        ("dask workers", _tasks),
    ):
        one, two = spent = Spent(), Spent()
        for number in range(ROUNDS):
            for count, each in enumerate(spent, 1):
                with tempfile.TemporaryDirectory() as folder, _at(kind, count, folder) as at:
                    _timed(at, tasks, number, each)
        ratio = two.wall_s / one.wall_s
        print(
            f"{kind}: {RUNS * ROUNDS} runs, one {one.wall_s:.1f} s, two {two.wall_s:.1f} s: "
            f"{ratio:.2f} of the time, {1 / ratio:.2f} x; load {os.getloadavg()[0]:.1f}"
        )
        if one.workers_s:
            _say_cpu(one, two)


def _say_cpu(one: Spent, two: Spent) -> None:
    each_ms = 1e3 / (RUNS * ROUNDS)
    owed = (two.workers_s / 2 + two.here_s) / (one.workers_s + one.here_s)
    print(
        f"    CPU of a run: of one {one.workers_s * each_ms:.0f} ms, of two "
        f"{two.workers_s * each_ms:.0f} ms; here {one.here_s * each_ms:.1f} and "
        f"{two.here_s * each_ms:.1f} ms; by CPU time {owed:.2f} of the time, {1 / owed:.2f} x"
    )


def _timed(at: Workers, tasks: Callable[[int, int], list[Task]], number: int, spent: Spent) -> None:
    list(at.outcomes(tasks(4, 10**6)))  # they have started, and have the compiled code
    began, here = time.monotonic(), time.process_time()
    for _, outcome in at.outcomes(tasks(RUNS, number * RUNS)):
        if isinstance(outcome, dict):
            spent.workers_s += outcome.get("cpu_s", 0.0)
    spent.wall_s += time.monotonic() - began
    spent.here_s += time.process_time() - here


def costed(base: Base, job: StudyJob, measure: tuple[str, ...]) -> dict[str, Any]:
    """A run, and what CPU time its worker had for it."""
    began = time.process_time()
    return {**ran(base, job, measure), "cpu_s": time.process_time() - began}


def _asleep(count: int, _: int) -> list[Task]:
    return [Task(str(number), time.sleep, (0.05,)) for number in range(count)]


def _looping(count: int, _: int) -> list[Task]:
    return [Task(str(number), sum, (range(3_000_000),)) for number in range(count)]


def _tasks(count: int, first: int) -> list[Task]:
    base = base_of(CASE, None, None)
    return [
        Task(
            str(seed),
            costed,
            (base, StudyJob(values={}, pattern="incast-6-mixed", seed=seed), ("throughput",)),
        )
        for seed in range(first, first + count)
    ]


@contextmanager
def _at(kind: str, count: int, folder: str) -> Iterator[Workers]:
    with ExitStack() as stack:
        address = None
        if kind == "dask workers":
            known = Path(folder, "scheduler.json")
            here = ["--host", "127.0.0.1", "--no-dashboard"]
            more = ["--port", "0", "--scheduler-file", str(known)]
            stack.enter_context(_started("dask_scheduler", *here, *more))
            while not known.exists() or not known.read_text():
                time.sleep(0.1)
            address = loads(known.read_text())["address"]
            for _ in range(count):
                more = ["--nthreads", "1", "--no-nanny", "--local-directory", folder]
                stack.enter_context(_started("dask_worker", address, *here, *more))
            _wait_for(address, count)
        with workers(address, None if address else count) as found:
            yield found


def _wait_for(address: str, count: int) -> None:
    there = 0
    while there < count:
        with workers(address, None) as found:
            there = found.count
        time.sleep(0.2)


@contextmanager
def _started(name: str, *given: str) -> Iterator[None]:
    command = [sys.executable, "-m", f"distributed.cli.{name}", *given]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
