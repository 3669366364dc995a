"""Break runs in every way at steps of their change journals, and count what comes back.

    python tests/recovery/breaking.py [--seed N] [--testbed NAME] [WAY ...]

Serves a lab by hand. A run of pytest changes something on every device and has an iperf3 server
running; something goes wrong at a line of its journal (ways.py, sabotage.py). Then

- no test of it is a pass, unless everything is already as it was before;
- whatever is not as before is in a journal that the next start finds;
- its processes end by themselves;
- `recover`, or the next run with --recover, leaves every setting of every device and the raw
  configurations as they were. While a device still lies or hangs, the commands that are printed
  for it, typed by hand, do;
- and the next run passes.

A point where nothing went wrong (tripped.py) is counted as such, never as survived.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parents[1]))  # pytest has it there by tests/conftest.py

from bench import Bench, bench_of, journal_of, when_up
from recovery_lab import ROOT, SETTINGS, ServedLab, nothing_runs
from tripped import Evidence, changed_by_both, not_tripped
from typed import typed
from ways import WAYS, Point, chosen

from labtests.journal import unfinished_runs
from labtests.lab.lab import Lab
from labtests.recovery import Recovered, recover

ENDS_WITHIN_S = 10
NOBODY_LEFT_TO_SAY = ("kill -9", "SIGINT twice")


@dataclass
class Tried:
    """What a point did to the run and the lab, and what was wrong afterwards."""

    point: Point
    code: int = 0
    changed: int = 0
    wrong: list[str] = field(default_factory=list)
    not_tripped: str = ""

    @property
    def survived(self) -> bool:
        return not (self.wrong or self.not_tripped)

    def __str__(self) -> str:
        if self.not_tripped:
            self.wrong.insert(0, f"NOT TRIPPED: {self.not_tripped}")
        after = "; ".join(self.wrong) or "all as before, no process left"
        return f"{self.point}: exit {self.code:3}, {self.changed:2} differences; {after}"


def break_at(bench: Bench, point: Point, number: int) -> Tried:
    """One point: break, look, recover, compare, run again."""
    said, seen = bench.broken(point)
    code = seen.code
    tried = Tried(point, code)
    if WAYS[point.way].harmless:
        tried.wrong += [] if code == 0 else [f"the run did not pass: {said[-800:]}"]
    with when_up(bench) as lab:
        tried.not_tripped = not_tripped(point.way, seen, lab)
        tried.wrong += [] if nothing_runs(lab, ENDS_WITHIN_S) else ["processes are left"]
        left = bench.differences(lab)
        tried.changed = len(left)
        tried.wrong += wrong_report(point, tried, said, seen.folder)
        tried.wrong += WRONG_WITH_OTHER[point.way](seen) if point.way in WRONG_WITH_OTHER else []
        by_hand = mend_by_hand(bench, lab) if point.way in ("lie", "hang") else []
        tried.wrong += by_hand
    bench.heal()
    tried.wrong += recovered() if number % 2 else []
    code, said, _ = bench.run(*([] if number % 2 else ["--recover"]))
    tried.wrong += [] if code == 0 else [f"the next run: exit {code}: {said[-800:]}"]
    with when_up(bench) as lab:
        tried.wrong += [f"{name} is not as it was" for name in bench.differences(lab)]
        tried.wrong += [] if nothing_runs(lab, 1) else ["processes are left by the next run"]
    tried.wrong += [f"{run.run} is still unfinished" for run in unfinished_runs()]
    if tried.wrong:
        bench.start_again()
    return tried


def wrong_report(point: Point, tried: Tried, said: str, folder: Path) -> list[str]:
    """What the broken run says of itself, or leaves for the next one."""
    wrong = []
    if tried.changed and not unfinished_runs():
        wrong.append("what is left is in no journal")
    if tried.changed and point.way not in NOBODY_LEFT_TO_SAY and "labtests restore" not in said:
        wrong.append(f"it does not say how to put back what is left: {said[-800:]}")
    if tried.code != 0 or tried.changed:
        wrong += [f"{name} is a pass" for name in passes(folder)]
    if "Traceback (most recent call last)" in said or "INTERNALERROR" in said:
        wrong.append(f"a traceback: {said[-1500:]}")
    return wrong


def passes(folder: Path) -> Iterator[str]:
    """Tests that run.json or JUnit's file calls passed."""
    with suppress(OSError, ValueError):
        run = json.loads((folder / "run.json").read_text())
        yield from (f"run.json: {t['id']}" for t in run["tests"] if t["outcome"] == "pass")
    with suppress(OSError, ElementTree.ParseError):
        for case in ElementTree.parse(folder / "junit.xml").iter("testcase"):
            if not {"failure", "error", "skipped"} & {child.tag for child in case}:
                yield f"junit.xml: {case.get('name')}"


def second_refused(seen: Evidence) -> list[str]:
    """The run that was started in the middle of the other one."""
    code, _, said = seen.second.partition("\n")
    return [] if code == "15" and "still runs" in said else [f"second run: {code} {said[-800:]}"]


def both_changed(seen: Evidence) -> list[str]:
    """Two runners never both change the lab: who was frozen stops, and the other has a lab of its
    own, and leaves it as it found it."""
    wrong = [f"changed while another had the lab: {each}" for each in changed_by_both(seen)]
    wrong += [] if seen.second.rstrip().endswith("\nexit 0") else [f"other run: {seen.second}"]
    return wrong + ([] if seen.code != 0 else ["the frozen run passed"])


WRONG_WITH_OTHER = {"second run": second_refused, "frozen": both_changed}


def mend_by_hand(bench: Bench, lab: Lab) -> list[str]:
    """A device that still lies or hangs cannot be put back: then the commands are named with
    which a person can, once it does what it is told."""
    wrong = []
    for done in [recover(run) for run in unfinished_runs()]:
        hands = [row for row in done.rows if row.how == "cannot"]
        wrong += [f"no command for {row}" for row in hands if not row.by_hand]
        named = {f"{row.device}:{row.port}" for row in hands}
        unnamed = settings_left(bench, lab) - named
        wrong += done.problems
        bench.heal()
        for row in hands:
            lab.transports[row.device].configure(typed(row.by_hand))
        if hands:
            left = bench.differences(lab)
            wrong += [f"{name} is not as it was after {hands}" for name in left]
        # of a switch whose ports share a setting, all are named by one
        wrong += [f"{at} is left and not named" for at in unnamed & settings_left(bench, lab)]
    return wrong


def settings_left(bench: Bench, lab: Lab) -> set[str]:
    """The ports with a setting that is not as it was found."""
    left = (name.rpartition(" ") for name in bench.differences(lab))
    return {at for at, _, setting in left if setting in SETTINGS}


def recovered() -> list[str]:
    """`labtests restore` of everything that is unfinished."""
    done: list[Recovered] = [recover(run) for run in unfinished_runs()]
    return [line for each in done if not each.complete for line in each.lines()]


def tally(tried: Sequence[Tried]) -> Iterator[str]:
    """Points tried, those where it really went wrong, and those survived, by way."""
    for way in dict.fromkeys(t.point.way for t in tried):
        yield _counts(way, [t for t in tried if t.point.way == way])
    yield _counts("all", tried)


def _counts(name: str, tried: Sequence[Tried]) -> str:
    tripped = sum(not each.not_tripped for each in tried)
    survived = sum(each.survived for each in tried)
    return f"{name:12} {len(tried):3} points tried, {tripped:3} tripped, {survived:3} survived"


def main() -> int:
    """Print each point and the tally; 1 when one did not survive."""
    parser = argparse.ArgumentParser(description="break runs at steps of their change journals")
    parser.add_argument("--seed", type=int, default=1, help="which points (default: 1)")
    parser.add_argument("--quick", action="store_true", help="only those of the tests")
    parser.add_argument("--testbed", default="h3c-s6550-cx4", help="of testbeds/ (default: H3C's)")
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"of: {', '.join(WAYS)}")
    asked = parser.parse_args()
    tried: list[Tried] = []
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        testbed = ROOT / "testbeds" / f"{asked.testbed}.yaml"
        served = ServedLab(Path(folder) / "lab", testbed)
        try:
            with bench_of(served, Path(folder)) as bench:
                points = chosen(journal_of(bench), seed=asked.seed, quick=asked.quick)
                for number, point in enumerate(points):
                    if asked.ways and point.way not in asked.ways:
                        continue
                    if point.way == "full disk" and bench.disk is None:
                        continue
                    tried.append(break_at(bench, point, number))
                    print(tried[-1], flush=True)
        finally:
            served.end()
    kind = "a tmpfs of 8 MiB" if bench.disk else "not tried, no right to mount one"
    print(f"\nseed {asked.seed}; full disk: {kind}; {time.monotonic() - begun_s:.0f} s")
    for line in tally(tried):
        print(line)
    return int(not all(t.survived for t in tried))


if __name__ == "__main__":
    sys.exit(main())
