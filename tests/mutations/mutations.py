"""Recorded evidence of every suite, mutated and judged again: nothing that is lost may stay a pass.

    python tests/mutations/mutations.py [--each 10000] [--seed 1] [--suite WORD ...] [--kept DIR]

Takes what green dry runs have asked (capturing.py keeps it, once, in minutes; `--again` anew), and
prints suite by kind of mutation: made, and of these declared harmless (tests/mutations/harmless.py)
and green without a reason. It goes on where it was stopped; the exit status is 1 for any green.
`--reasons` prints of each suite what was excused by which reason, for a reader who doubts it.
"""

import argparse
import gzip
import json
import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from capturing import Case
from harmless import why_harmless
from judging import Judge, phases
from mutating import KINDS, Mutation

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
CHUNK = 250
SHOWN = 400
RUNS = {
    "testbeds/sonic-cx5.yaml": (),
    "testbeds/h3c-s6550-cx4.yaml": ("-k", "early or dcbx or edge"),
    "testbeds/h3c-dot1p.yaml": ("-k", "priority_tags"),
    "testbeds/h3c-ring.yaml": ("-k", "deadlock or escape"),
    "testbeds/nexus-cx5.yaml": ("-k", "pause_timeout"),
    "testbeds/cumulus-cx5.yaml": ("-k", "roce_mode"),
    "testbeds/two-spines.yaml": ("-k", "paths or link_failure"),
    "testbeds/incast-5to1.yaml": ("-k", "scale"),
    "testbeds/linux-switch-cx5.yaml": ("-k", "go_back"),
}
"""Testbeds, and words for pytest, that have every suite between them."""
LEFT_OUT = frozenset({"rdma_ecn", "soak"})  # soft-RoCE; and the hours that it is told to take


@dataclass
class Told:
    """What became of the mutations of one chunk of one case."""

    case: str
    seed: int
    chunk: int
    made: Counter[str] = field(default_factory=Counter)
    harmless: Counter[str] = field(default_factory=Counter)
    green: Counter[str] = field(default_factory=Counter)
    sentences: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)


def drawn(rng: random.Random, judge: Judge) -> Iterator[tuple[Any, Mutation]]:
    """Mutations without end, of a phase of the case each; every kind that the phases have."""
    seen, kinds = phases(judge.case), list(KINDS)
    while True:
        was = rng.choice(seen)
        mutation = KINDS[rng.choice(kinds)](was, rng)
        if mutation is not None:
            yield was, mutation


@lru_cache(maxsize=2)
def judge_of(file: Path) -> Judge:
    case: Case = pickle.loads(gzip.decompress(file.read_bytes()))
    return Judge(case)


def chunk(file: Path, seed: int, number: int, count: int) -> Told:
    """So many mutations of a case."""
    judge = judge_of(file)
    suite = judge.case.suite
    told = Told(file.name.partition(".pickle")[0], seed, number)
    rng = random.Random(f"{seed} {told.case} {number}")
    for _, (was, mutation) in zip(range(count), drawn(rng, judge), strict=False):
        told.made[mutation.kind] += 1
        if not judge.green(was, mutation.seen):
            continue
        if because := why_harmless(suite, mutation):
            told.harmless[mutation.kind] += 1
            told.reasons[f"{because} | {_where(mutation)}"] += 1
        else:
            told.green[mutation.kind] += 1
            told.sentences.append(f"{mutation.kind}: {mutation.place}: {mutation.what}")
    return told


def _where(mutation: Mutation) -> str:
    seen, load = mutation.seen, "" if mutation.load else " (idle)"
    at = f"{seen.kind} {seen.name} | {mutation.place}{load} | {mutation.counter}"
    return f"{at} | {mutation.kind}"


def capture(folder: Path) -> None:
    """Dry runs of all suites that pass, one after another."""
    for testbed, words in RUNS.items():
        command = [sys.executable, "-m", "pytest", "suites", "-q", "--dry-run", *words,
                   "--testbed", testbed, "-p", "capturing",
                   "-p", "no:cacheprovider", "--keep-asked", str(folder)]  # fmt: skip
        where = os.environ | {"PYTHONPATH": str(HERE)}
        print(f"running the suites on {testbed}", flush=True)
        done = subprocess.run(command, cwd=ROOT, env=where, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"no green run to mutate:\n{done.stdout}{done.stderr}")
    if untold := not_captured(folder):
        sys.exit(f"no testbed of these runs has what {', '.join(untold)} needs: add one to RUNS")


def not_captured(folder: Path) -> list[str]:
    """Suites of which no run has kept what it asked: skipped everywhere."""
    suites = {file.stem.removeprefix("test_") for file in (ROOT / "suites").glob("test_*.py")}
    told = {file.name.partition("--")[2].partition(".")[0] for file in folder.glob("*.pickle.gz")}
    return sorted(suites - told - LEFT_OUT)


def todo(files: list[Path], asked: argparse.Namespace, done: dict[tuple[str, int, int], int]):
    """File, seed, number of the chunk and mutations in it."""
    for file in files:
        for number in range(-(-asked.each // CHUNK)):
            count = min(CHUNK, asked.each - number * CHUNK)
            if done.get((file.name.partition(".pickle")[0], asked.seed, number), 0) < count:
                yield file, asked.seed, number, count


def kept(file: Path) -> list[dict[str, Any]]:
    if not file.is_file():
        return []
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _key(told: dict[str, Any]) -> tuple[str, int, int]:
    return told["case"], told["seed"], told["chunk"]


def matrix(results: list[dict[str, Any]]) -> int:
    """Prints it; the number of mutations that stayed green without a reason."""
    cases = sorted({each["case"] for each in results})
    total: Counter[str] = Counter()
    for case in cases:
        sums: dict[str, Counter[str]] = {
            "made": Counter(),
            "harmless": Counter(),
            "green": Counter(),
        }
        for each in results:
            if each["case"] == case:
                for name, counter in sums.items():
                    counter.update(each[name])
        print(f"\n{case}")
        for kind in KINDS:
            made, harmless, green = (sums[name][kind] for name in sums)
            if made:
                print(f"  {kind:20} {made:6} made {harmless:6} harmless {green:6} green")
        for name, counter in sums.items():
            total[name] += counter.total()
    print(f"\n{len(cases)} suites, {total['made']} mutations: {total['harmless']} harmless, as "
          f"declared, {total['green']} green without a reason")  # fmt: skip
    return total["green"]


def excuses(results: list[dict[str, Any]]) -> None:
    """Prints what was excused: suite, reason, and where, with how many."""
    for case in sorted({each["case"] for each in results}):
        total: Counter[str] = Counter()
        for each in results:
            if each["case"] == case:
                total.update(each.get("reasons", {}))
        for where, number in sorted(total.items()):
            print(f"EXCUSED {case} | {where} | {number}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=10_000, help="mutations of each suite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suite", action="append", default=[], help="only those with this in it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--kept", type=Path, default=ROOT / "reports" / "mutations")
    parser.add_argument("--again", action="store_true", help="capture and judge all anew")
    parser.add_argument("--reasons", action="store_true", help="print what was excused, and why")
    asked = parser.parse_args()
    asked.kept.mkdir(parents=True, exist_ok=True)
    results = asked.kept / "results.jsonl"
    if asked.again:
        for old in (results, *asked.kept.glob("*.pickle.gz")):
            old.unlink(missing_ok=True)
    if not list(asked.kept.glob("*.pickle.gz")):
        capture(asked.kept)
    files = [
        file
        for file in sorted(asked.kept.glob("*.pickle.gz"))
        if not asked.suite or any(word in file.name for word in asked.suite)
    ]
    names = {file.name.partition(".pickle")[0] for file in files}
    done = {_key(each): sum(each["made"].values()) for each in kept(results)}
    with ProcessPoolExecutor(asked.jobs) as pool, results.open("a", encoding="utf-8") as out:
        for told in pool.map(chunk, *zip(*todo(files, asked, done), strict=True) or ([],) * 4):
            out.write(json.dumps(vars(told)) + "\n")
            out.flush()
            print(f"{told.case} {told.chunk}: {told.made.total()} made, "
                  f"{told.green.total()} green", flush=True)  # fmt: skip
            for sentence in told.sentences[:SHOWN]:
                print(f"GREEN {told.case}: {sentence}", flush=True)
    last = {_key(each): each for each in kept(results)}  # a chunk that was made longer since
    ours = [r for r in last.values() if r["case"] in names and r["seed"] == asked.seed]
    if asked.reasons:
        excuses(ours)
    return int(matrix(ours) > 0)


if __name__ == "__main__":
    sys.exit(main())
