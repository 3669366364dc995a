"""How much faster two are than one, in one run: processes of this machine, and workers of a dask
cluster on it. `python benchmarks/studies.py` prints the time of two / the time of one (goal: at
most 0.6), the same of tasks that only sleep and of a bare loop, which say what the machine has
left, and its load."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from json import loads
from pathlib import Path

from labtests.study.points import StudyJob, ran
from labtests.study.reader import base_of
from labtests.study.working import Task, Workers, workers

CASE = Path(__file__).parents[1] / "docs" / "studies" / "small.yaml"
RUNS, ROUNDS = 40, 2


def main() -> None:
    for kind, tasks in (
        ("processes, asleep", _asleep),
        ("processes, a bare loop", _looping),
        ("processes", _tasks),
        ("dask workers", _tasks),
    ):
        spent_s = {1: 0.0, 2: 0.0}
        for number in range(ROUNDS):
            for count in (1, 2):
                with tempfile.TemporaryDirectory() as folder, _at(kind, count, folder) as at:
                    spent_s[count] += _timed(at, tasks, number)
        ratio = spent_s[2] / spent_s[1]
        load = os.getloadavg()[0]
        print(
            f"{kind}: {RUNS * ROUNDS} runs, one {spent_s[1]:.1f} s, two {spent_s[2]:.1f} s: ",
            end="",
        )
        print(f"{ratio:.2f} of the time, {1 / ratio:.2f} x; load {load:.1f}")


def _timed(at: Workers, tasks: Callable[[int, int], list[Task]], number: int) -> float:
    list(at.outcomes(tasks(4, 10**6)))  # they have started, and have the compiled code
    began = time.monotonic()
    list(at.outcomes(tasks(RUNS, number * RUNS)))
    return time.monotonic() - began


def _asleep(count: int, _: int) -> list[Task]:
    return [Task(str(number), time.sleep, (0.05,)) for number in range(count)]


def _looping(count: int, _: int) -> list[Task]:
    return [Task(str(number), sum, (range(3_000_000),)) for number in range(count)]


def _tasks(count: int, first: int) -> list[Task]:
    base = base_of(CASE, None, None)
    return [
        Task(
            str(seed),
            ran,
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
        with workers(address, count) as found:
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
