"""Runs of a study on all cores, or on a dask cluster: in any order, none stops the others."""

import asyncio
import ctypes
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Protocol

from labtests.core.errors import LabError, WrongOption

AHEAD = 3
"""Runs that each worker is given ahead."""
SCHEDULER_S, AWAY_S, MOST_LATE = 10, 15, 6
_PR_SET_PDEATHSIG = 1


class SchedulerGone(LabError):
    """The dask scheduler cannot be reached, or no longer."""


class Task(NamedTuple):
    """Something to compute elsewhere: a function of a module, and what it is given."""

    name: str
    function: Any
    given: tuple[Any, ...]


class Workers(Protocol):
    """Where tasks are computed."""

    count: int

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each task's name and what it gave, as they come; in `failed`, why there is nothing."""

    def close(self) -> None:
        """They are not needed any more."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def _begin(parent: int) -> None:
    """A worker leaves Ctrl-C to its parent, and ends with it, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


class LocalWorkers:
    """Processes of this machine. One that is killed takes only its own run with it: those under way
    are tried once more, each alone, and one that ends its process again has failed."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ProcessPoolExecutor | None = None

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[str, dict[str, Any]]]:
        """See Workers."""
        waiting = iter(tasks)
        while True:
            struck: list[Task] = []
            self._pool = self._pool or _pool(self.count)
            yield from _flow(self._pool, waiting, self.count * AHEAD, struck)
            if not struck:
                return
            self.close()
            for task in struck:
                yield task.name, _alone(task)

    def close(self) -> None:
        """The processes have ended, whatever they were at."""
        if self._pool is not None:
            _end(self._pool)
            self._pool = None


def _pool(count: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # no locks of threads that a fork would copy
    return ProcessPoolExecutor(count, context, initializer=_begin, initargs=(os.getpid(),))


def _end(pool: ProcessPoolExecutor) -> None:
    """Its thread has ended, too: one that is left is woken at the end of Python by a pipe that it
    may be closing just then ("Bad file descriptor")."""
    for process in list((pool._processes or {}).values()):
        process.terminate()
    pool.shutdown(wait=True, cancel_futures=True)


def _flow(
    pool: Executor, waiting: Iterator[Task], most: int, struck: list[Task]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tasks through a pool until there are none left, or it breaks: then `struck` has what was
    under way."""
    under_way: dict[Future[Any], Task] = {}
    while True:
        if not struck:
            _fill(pool, waiting, under_way, most, struck)
        if not under_way:
            return
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            task = under_way.pop(future)
            try:
                outcome = future.result()
            except (BrokenExecutor, CancelledError):
                struck.append(task)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is this task's
                yield task.name, _failed(error)
            else:
                yield task.name, outcome


def _fill(
    pool: Executor,
    waiting: Iterator[Task],
    under_way: dict[Future[Any], Task],
    most: int,
    struck: list[Task],
) -> None:
    while len(under_way) < most and (task := next(waiting, None)):
        try:
            under_way[pool.submit(task.function, *task.given)] = task
        except BrokenExecutor:
            struck.append(task)
            return


def _alone(task: Task) -> dict[str, Any]:
    pool = _pool(1)
    try:
        for _, outcome in _flow(pool, iter([task]), 1, []):
            return outcome
    finally:
        _end(pool)
    return {"failed": "its process was ended twice (killed, or out of memory)", "took_s": 0.0}


def _failed(error: Exception) -> dict[str, Any]:
    return {"failed": f"{type(error).__name__}: {error}", "took_s": 0.0}


_BROKEN = (OSError, RuntimeError, TimeoutError, CancelledError, asyncio.CancelledError)
"""What a client raises when its scheduler is no longer there."""


def _client_at(address: str) -> Any:
    """Of dask's scheduler there. Raises LabError (dask is not installed), SchedulerGone."""
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise LabError(
            "--scheduler needs the package distributed, which is not installed\n"
            "  remedy: pip install 'labtests[study]'; in a clone: make setup"
        ) from error
    for name in ("distributed", "distributed.client", "distributed.utils"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what goes wrong is said once: here
    try:
        return Client(address, timeout=SCHEDULER_S)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise SchedulerGone(
            f"--scheduler {address}: no scheduler answers ({error})\n"
            "  remedy: look whether `dask scheduler` runs there, and at the port"
        ) from error


class DaskWorkers:
    """The workers of a dask cluster. A run whose worker dies is given to another one by dask, and
    has failed after as many times as the cluster allows."""

    def __init__(self, client: Any, address: str) -> None:
        """`client`: dask's, of the scheduler at that address."""
        self._client, self._address = client, address
        self.count = sum(self._threads().values())
        self._late = 0

    def _threads(self) -> dict[str, int]:
        return dict(self._client.nthreads())

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[str, dict[str, Any]]]:
        """See Workers. Raises SchedulerGone."""
        waiting = iter(tasks)
        under_way: dict[Any, Task] = {}
        away_since: float | None = None
        most = max(4, self.count * AHEAD)
        while True:
            while len(under_way) < most and (task := next(waiting, None)):
                try:
                    future = self._client.submit(task.function, *task.given, pure=False)
                except _BROKEN as error:
                    raise self._gone() from error
                under_way[future] = task
            if not under_way:
                return
            done = [future for future in under_way if future.status not in ("pending", "lost")]
            for future in done:
                outcome = self._outcome(future)
                if outcome is not None:
                    yield under_way.pop(future).name, outcome
            away_since = self._away(away_since)
            if not done:
                time.sleep(0.01)

    def close(self) -> None:
        """See Workers."""
        with suppress(*_BROKEN):  # a scheduler that has gone away says no goodbye
            self._client.close(timeout=1)

    def _outcome(self, future: Any) -> dict[str, Any] | None:
        """None: the worker that had it died before it was fetched, and another one computes it."""
        if future.status == "cancelled":
            raise self._gone()
        try:
            error = future.exception(timeout=SCHEDULER_S)
            found = dict(future.result(timeout=SCHEDULER_S)) if error is None else {}
        except _BROKEN as broken:
            self._late += 1
            alive = self._client.status == "running" and self._late < MOST_LATE
            if isinstance(broken, TimeoutError) and alive:
                return None
            raise self._gone() from broken
        self._late = 0
        if error is None:
            return found
        if type(error).__name__ in ("CommClosedError", "FutureCancelledError", "CancelledError"):
            raise self._gone() from error  # nothing of the run's own: it is to be run again
        return _failed(error)

    def _away(self, since: float | None) -> float | None:
        if self._client.status == "running":
            return None
        since = since or time.monotonic()
        if self._client.status == "closed" or time.monotonic() - since > AWAY_S:
            raise self._gone()
        return since

    def _gone(self) -> SchedulerGone:
        return SchedulerGone(
            f"--scheduler {self._address}: the scheduler has gone away\n"
            "  remedy: what is finished is kept: start it again, and give the same command"
        )


@contextmanager
def workers(scheduler: str | None, jobs: int | None) -> Iterator[Workers]:
    """A cluster's, or this machine's. Raises SchedulerGone, LabError, WrongOption."""
    if scheduler == "":  # a variable of a shell that is not set: not this machine instead
        raise WrongOption("--scheduler: an address, as tcp://HOST:PORT")
    if scheduler and jobs:
        raise WrongOption("--jobs: a cluster has as many processes as it has: leave out --jobs")
    found: Workers
    if scheduler:
        found = DaskWorkers(_client_at(scheduler), scheduler)
    else:
        found = LocalWorkers(jobs or cores())
    try:
        yield found
    finally:
        found.close()
