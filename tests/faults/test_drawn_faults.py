"""Ten faults of the catalogue, drawn, against a suite each: red in the right words, or unseen."""

from pathlib import Path
from random import Random

import fast_starts
import pytest
from drawing import seed_of

from labtests.faults.catalogue import CATALOGUE
from labtests.faults.judging import as_declared
from labtests.faults.places import Places
from labtests.faults.running import Bench, Job, jobs
from labtests.inventory import load

ROOT = Path(__file__).parents[2]
DRAWN = 10
PLACES = Places(load(ROOT / "testbeds" / "h3c-s6550-cx4.yaml"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = list(jobs(CATALOGUE, (), PLACES))
    drawn = Random(f"faults {seed_of(metafunc.config)}").sample(every, DRAWN)
    metafunc.parametrize("job", drawn, ids=lambda job: f"{job.declared.name}-{job.suite}")


def test_a_drawn_fault_is_seen(job: Job) -> None:
    bench = Bench(stem=fast_starts.path(), places=PLACES, suites=ROOT / "suites", seed=1, commit="")
    result = bench.run(job.declared, job.suite)
    told = f"{' '.join(bench.command(job.declared, job.suite))}\n{result.seen}: {result.words}"
    assert as_declared(job.declared, result.seen), told
