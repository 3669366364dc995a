"""Every suite on labs in which nothing is wrong: no verdict may be red, none open without reason.

    python tests/healthy/healthy.py [--seeds 1-3] [--lab NAME ...] [--jobs N] [--keep DIR]

Runs `pytest suites --dry-run` on the shipped testbeds with each seed, and on the testbeds that
labs.py makes from the first one, a process each, as many at once as there are CPUs. Prints a line
for each suite of each: testbed, suite, outcome, seconds, and what it says. What a lab said is kept
in a file (--results) when its run ends, so that a night that was stopped goes on where it was; it
counts for the same words on the same commit only, and never where files differ from the commit's.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from labs import SHAPES, made

from labtests.core.interpreter import child_environment, module_command
from labtests.core.stem import Stem
from labtests.core.stem import run as run_branch
from labtests.faults.running import BARE, DRY_RUN

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "reports" / "healthy.jsonl"
SHIPPED = tuple(sorted((ROOT / "testbeds").glob("*.yaml")))
ENDS_WITHIN_S = 3600
HEALTHY = ("pass", "skipped")


@dataclass(frozen=True)
class Job:
    """One run of all suites."""

    name: str
    seed: int
    options: list[str]


@dataclass(frozen=True)
class Told:
    """What one suite said in one run."""

    lab: str
    seed: int
    suite: str
    outcome: str
    seconds: float
    sentence: str

    def __str__(self) -> str:
        where = f"{self.lab} seed {self.seed}"
        return (
            f"{where:34} {self.suite:62} {self.outcome:12} {self.seconds:5.0f} s  {self.sentence}"
        )


def jobs(asked: argparse.Namespace, folder: Path) -> Iterator[Job]:
    """What is to be run. Labs that were made are left in the folder."""
    for seed in asked.seeds:
        for file in SHIPPED:
            if not asked.lab or file.stem in asked.lab:
                yield Job(file.stem, seed, ["--testbed", str(file), "--dry-run"])
    seed = asked.seeds[0]
    for shape in SHAPES:
        if not asked.lab or shape.name in asked.lab:
            lab = made(shape, seed)
            file = folder / f"{lab.name}.yaml"
            file.write_text(lab.text, encoding="utf-8")
            yield Job(shape.name, seed, lab.options(str(file)))


def run(job: Job, folder: Path, more: list[str], stem: str) -> list[Told]:
    """All suites of one lab."""
    target = folder / f"{job.name}-{job.seed}"
    inherited = {name for name in os.environ if name.startswith(("LABTESTS_", "PYTEST_"))}
    words = ["suites", *BARE, "-q"]
    words += [*job.options, "--seed", str(job.seed), "--run-dir", str(target), *more]
    started_s = time.monotonic()
    code, said = run_branch(
        stem, module_command("pytest", *words), cwd=ROOT, env=child_environment(inherited),
        timeout_s=ENDS_WITHIN_S,
    )  # fmt: skip
    (folder / f"{job.name}-{job.seed}.txt").write_text(said, encoding="utf-8")
    taken_s = time.monotonic() - started_s
    file = target / "run.json"
    tests = json.loads(file.read_text(encoding="utf-8"))["tests"] if file.is_file() else []
    told = [_told(job, test) for test in tests]
    if code not in (0, 1) or not told:
        end = " / ".join(said.strip().splitlines()[-6:])
        told.append(Told(job.name, job.seed, "the run", "error", taken_s, end))
    return told


@dataclass(frozen=True)
class Kept:
    """What runs of one commit, with these further words for pytest, have said so far."""

    file: Path
    commit: str
    more: list[str]

    def of(self, job: Job) -> list[Told]:
        """Of its run; empty where that has not ended."""
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.is_file() else []
        for line in reversed(lines):
            with suppress(ValueError):  # cut short by a kill
                run = json.loads(line)
                if run["run"] == self._key(job):
                    return [Told(**told) for told in run["told"]]
        return []

    def add(self, job: Job, told: list[Told]) -> None:
        """Unless one cannot say of which files it is."""
        if not self.commit:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"run": self._key(job), "told": [asdict(each) for each in told]})
        with self.file.open("a", encoding="utf-8") as file:
            file.write(f"\n{line}")  # what a kill has cut short ends here

    def _key(self, job: Job) -> list[Any]:
        return [self.commit, job.name, job.seed, self.more]


def commit() -> str:
    """Of the files that run; "" where there is none."""
    words = ["git", "-C", str(ROOT)]
    try:
        if subprocess.check_output([*words, "status", "--porcelain"], stderr=subprocess.DEVNULL):
            return ""
        return subprocess.check_output([*words, "rev-parse", "HEAD"], text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def kept_or_run(job: Job, folder: Path, kept: Kept, stem: str) -> list[Told]:
    """What its run says, or has said."""
    told = kept.of(job)
    if not told:
        told = run(job, folder, kept.more, stem)
        kept.add(job, told)
    return told


def _told(job: Job, test: dict[str, Any]) -> Told:
    suite = test["id"].partition("/test_")[2]
    verdicts = [v for v in test["verdicts"] if not v["as_expected"]] or test["verdicts"]
    said = [f"({v['role']}) {v['because']}" for v in verdicts if v["role"] == "main" or
            not v["as_expected"]]  # fmt: skip
    sentence = "; ".join(said) or str(test.get("error") or "").replace("\n", " ")
    return Told(job.name, job.seed, suite, test["outcome"], test["duration_s"], sentence)


def seeds(text: str) -> list[int]:
    """Of "1", "1-30" or "2,5"."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def main() -> int:
    """0 when every suite of every lab passed, or was skipped."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=seeds, default=[1], help="such as 1-30 (default: 1)")
    parser.add_argument("--lab", action="append", help="only this one; may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at once")
    parser.add_argument("--keep", type=Path, help="a folder for testbeds and reports")
    parser.add_argument("--results", type=Path, default=RESULTS, help="to go on from")
    parser.add_argument("more", nargs="*", help="further words for pytest, after --")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        kept, wrong, count = Kept(asked.results, commit(), asked.more), 0, 0
        with Stem(*DRY_RUN) as grown, ThreadPoolExecutor(max_workers=asked.jobs) as pool:
            all_told = partial(kept_or_run, folder=folder, kept=kept, stem=grown.path)
            for told in pool.map(all_told, jobs(asked, folder)):
                for each in told:
                    print(each, flush=True)
                    count += 1
                    wrong += each.outcome not in HEALTHY
    print(f"{count} suites on healthy labs: {wrong} neither passed nor were skipped")
    return int(wrong > 0 or not count)


if __name__ == "__main__":
    sys.exit(main())
