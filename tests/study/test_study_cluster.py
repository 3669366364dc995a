"""A sweep on a dask cluster: a real scheduler and two workers, which may go away."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.core.errors import LabError
from labtests.study.ledger import FILE
from labtests.study.working import DaskWorkers, Task
from labtests.study.working import workers as at_scheduler

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "docs" / "studies" / "small.yaml"


def started(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *map(str, arguments[1:])],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )


def wait_for(there, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if there():
            return
        time.sleep(0.1)
    pytest.fail("it did not come up in time")


@pytest.fixture
def cluster(tmp_path):
    known = tmp_path / "scheduler.json"
    ends = ["--host", "127.0.0.1", "--port", 0, "--no-dashboard"]
    scheduler = started("dask_scheduler", *ends, "--scheduler-file", known)
    wait_for(known.exists)
    address = json.loads(known.read_text())["address"]
    one = ["--nthreads", 1, "--no-dashboard", "--no-nanny", "--host", "127.0.0.1"]
    workers = [
        started("dask_worker", address, *one, "--local-directory", tmp_path / f"w{n}")
        for n in range(2)
    ]

    def both():
        with at_scheduler(address, None) as at:
            return at.count == 2

    wait_for(both)
    yield address, scheduler, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def sweep(tmp_path, seeds):
    text = SMALL.read_text().replace("duration_ms: 4", "duration_ms: 0.4")
    (tmp_path / "case.yaml").write_text(text.replace("warmup_ms: 2", "warmup_ms: 0.2"))
    file = tmp_path / "sweep.yaml"
    file.write_text(
        "name: tiny\ncase: case.yaml\nvary: {switch.ecn.0.low_bytes: {values: [20000, 60000]}}\n"
        f"patterns: [incast-2-local]\nmeasure: [throughput]\nseeds: {list(range(seeds))}\n"
    )
    return file


def run(*arguments):
    return CliRunner().invoke(main, ["sweep", *map(str, arguments)], prog_name="labtests")


def test_a_cluster_gives_what_this_machine_gives(cluster, tmp_path):
    file, figures = sweep(tmp_path, 5), []
    for name, where in (("a", ["--scheduler", cluster[0]]), ("b", ["--jobs", 1])):
        assert run(file, "--out", tmp_path / name, *where).exit_code == 0
        lines = (tmp_path / name / FILE).read_text().splitlines()
        figures.append({row["key"]: row["measured"] for row in map(json.loads, lines)})
    assert figures[0] == figures[1]
    assert len(figures[0]) == 10


def _slow(number):
    time.sleep(0.2)
    return {"measured": {"x": number}}


def test_a_worker_that_is_killed_takes_no_run_with_it(cluster):
    address, _, workers = cluster
    found = {}
    with at_scheduler(address, None) as at:
        for name, outcome in at.outcomes(Task(str(n), _slow, (n,)) for n in range(20)):
            found[name] = outcome
            if len(found) == 3:
                workers[0].send_signal(signal.SIGKILL)
    assert found == {str(n): {"measured": {"x": n}} for n in range(20)}


def test_a_scheduler_that_goes_away_is_said_and_what_is_finished_is_kept(cluster, tmp_path):
    address, scheduler, _ = cluster
    file = sweep(tmp_path, 100)
    command = [sys.executable, "-m", "labtests", "sweep", str(file), "--out", str(tmp_path / "o")]
    process = subprocess.Popen(
        [*command, "--scheduler", address], stderr=subprocess.PIPE, text=True
    )
    kept = tmp_path / "o" / FILE
    wait_for(lambda: kept.exists() and kept.read_text().count("\n") > 5)
    scheduler.kill()
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 2, told
    assert f"--scheduler {address}: the scheduler has gone away" in told
    assert '"failed"' not in kept.read_text()  # what was under way is to be run again
    assert "Traceback" not in told
    assert kept.read_text().count("\n") > 5


def test_a_scheduler_that_is_not_there_is_said(tmp_path):
    with (
        pytest.raises(LabError, match="no scheduler answers"),
        at_scheduler("tcp://127.0.0.1:9", None),
    ):
        raise AssertionError("there is one")


class _LostFuture:
    """Its worker dies before the result has been fetched: it is computed again, elsewhere."""

    def __init__(self, *states):
        self._states = list(states)
        self.status = "finished"

    def exception(self, timeout):
        state = self._states.pop(0)
        self.status = self._states[0] if self._states else "finished"
        if state == "late":
            raise TimeoutError(f"timed out after {timeout} s.")

    def result(self, timeout):
        return {"measured": {}}


class _LiveClient:
    status = "running"

    def __init__(self, future):
        self._future = future

    def submit(self, *_, **__):
        return self._future

    def nthreads(self):
        return {"worker": 1}


def test_a_result_that_is_lost_with_its_worker_is_waited_for():
    at = DaskWorkers(_LiveClient(_LostFuture("late", "finished")), "tcp://x")
    assert list(at.outcomes([Task("a", len, ())])) == [("a", {"measured": {}})]


def test_a_scheduler_that_never_hands_a_result_out_has_gone_away():
    at = DaskWorkers(_LiveClient(_LostFuture(*["late"] * 99)), "tcp://x")
    with pytest.raises(LabError, match="has gone away"):
        list(at.outcomes([Task("a", len, ())]))


def test_processes_of_a_cluster_are_not_asked_for():
    with pytest.raises(LabError, match="leave out --jobs"), at_scheduler("tcp://127.0.0.1:9", 2):
        pass
