"""Break runs in every way at steps of their change journals, and count what comes back.

    python tests/recovery/breaking.py [--seed N] [WAY ...]

Serves a lab by hand. A run of pytest changes something on every device and has an iperf3 server
running; something goes wrong at a line of its journal (ways.py, sabotage.py). Then

- no test of it is a pass, unless everything is already as it was before;
- whatever is not as before is in a journal that the next start finds;
- its processes end by themselves;
- `recover`, or the next run with --recover, leaves every setting of every device and the raw
  configurations as they were. While a device still lies or hangs, the commands that are printed
  for it, typed by hand, do;
- and the next run passes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import sabotage
from fast_starts import FastStarts
from recovery_lab import QUICK_START, Project, ServedLab, everything, nothing_runs, opened
from ways import WAYS, Point, chosen

from labtests.errors import LabErrors
from labtests.journal import FILE_NAME, unfinished_runs
from labtests.lab import Lab
from labtests.recovery import Recovered, forget, recover
from labtests.simlab.injection import inject

ENDS_WITHIN_S = 10
BOOTS_WITHIN_S = 20
SMALL_DISK = "size=8m"
NOBODY_LEFT_TO_SAY = ("kill -9", "SIGINT twice")
LOOK = "def test_look(lab):\n    pass\n"
SUITE = '''
from labtests.records import PfcSetting, TrustSetting


def test_broken(incast):
    """Something on every kind of device, one setting twice, and traffic tools that run."""
    lab, sender, receiver = incast.lab, incast.senders[0].nic, incast.senders[1].nic
    (out,) = lab.testbed.roles["receiver"]
    port = lab.testbed.peer(out)
    ecn = lab.driver(port.device, object).ecn_on({2, 3})
    server = lab.transports[out.device].start("iperf3 -s -p 5333", limit_s=600)
    lab.change(sender, "trust", TrustSetting(source="dscp"))
    lab.change(port, "pfc", PfcSetting(mode="on", priorities=frozenset({3})))
    lab.change(port, "ecn", ecn)
    lab.change(port, "pfc", PfcSetting(mode="auto", priorities=frozenset({3, 4})))
    lab.change(receiver, "reaction_point", frozenset({1, 2}))
    lab.change(sender, "pfc", PfcSetting(mode="on", priorities=frozenset({5})))
    server.close()
'''


@dataclass
class Tried:
    """What a point did to the run and the lab, and what was wrong afterwards."""

    point: Point
    code: int = 0
    changed: int = 0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        after = "; ".join(self.wrong) or "all as before, no process left"
        return f"{self.point}: exit {self.code:3}, {self.changed:2} differences; {after}"


@dataclass
class Bench:
    """The lab as it was found, and how runs are started on it."""

    project: Project
    starts: FastStarts
    disk: Path | None
    found: dict[str, object] = field(default_factory=dict)
    _runs: int = 0

    def run(self, *words: str, point: Point | None = None) -> tuple[int, str, Path]:
        """One pytest run of the suite: exit code, what it printed, its folder."""
        self._runs += 1
        small = self.disk if point is not None and point.way == "full disk" else None
        folder = (small or self.project.folder) / f"run-{self._runs}"
        env = dict(self.project.environment) | {
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])
        }
        if point is not None:
            asked = {"kind": point.way, "step": point.step, "how": point.how}
            asked |= {"lab": str(self.project.served.directory)}
            asked |= {"filler": str(small / "filler") if small else ""}
            env["BREAK"] = json.dumps(asked)
        argv = ["pytest", "test_broken.py", "-q", *QUICK_START, "-p", "sabotage"]
        argv += ["--testbed=served.yaml", f"--run-dir={folder}", *words]
        output = self.project.folder / f"run-{self._runs}.txt"
        code, said = self.starts.run(argv, cwd=self.project.folder, env=env, output=output)
        return code, said, folder

    def differences(self, lab: Lab) -> list[str]:
        """What is not as it was found."""
        now = everything(lab)
        return [name for name in self.found if now[name] != self.found[name]]

    def heal(self) -> None:
        """Devices do what they are told again; there is room on the disk."""
        for device in self.project.testbed.devices:
            inject(self.project.served.directory, {"kind": "heal", "device": device.name})
        if self.disk is not None:
            (self.disk / "filler").unlink(missing_ok=True)

    def start_again(self) -> None:
        """For the next point, whatever this one has left."""
        for run in unfinished_runs():
            forget(run)
        for device in self.project.testbed.devices:
            fault = {"kind": "reboot", "device": device.name, "seconds": 0.1}
            inject(self.project.served.directory, fault)


@contextmanager
def when_up(bench: Bench) -> Iterator[Lab]:
    """The lab, as soon as every device lets us in."""
    until_s = time.monotonic() + BOOTS_WITHIN_S
    while True:
        try:
            with opened(bench.project.testbed) as lab:
                yield lab
            return
        except LabErrors:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.2)


def break_at(bench: Bench, point: Point, number: int) -> Tried:
    """One point: break, look, recover, compare, run again."""
    code, said, folder = bench.run(point=point)
    tried = Tried(point, code)
    if WAYS[point.way].harmless:
        tried.wrong += [] if code == 0 else [f"the run did not pass: {said[-800:]}"]
    with when_up(bench) as lab:
        tried.wrong += [] if nothing_runs(lab, ENDS_WITHIN_S) else ["processes are left"]
        left = bench.differences(lab)
        tried.changed = len(left)
        tried.wrong += wrong_report(point, tried, said, folder)
        tried.wrong += second_refused(bench) if point.way == "second run" else []
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


def second_refused(bench: Bench) -> list[str]:
    """The run that was started in the middle of the other one."""
    code, _, said = (bench.project.folder / "second.txt").read_text().partition("\n")
    return [] if code == "15" and "still runs" in said else [f"second run: {code} {said[-800:]}"]


def mend_by_hand(bench: Bench, lab: Lab) -> list[str]:
    """A device that still lies or hangs can not be put back: then the commands are named with
    which a person can, once it does what it is told."""
    wrong = []
    for done in [recover(run) for run in unfinished_runs()]:
        hands = [row for row in done.rows if row.how == "cannot"]
        wrong += [f"no command for {row}" for row in hands if not row.by_hand]
        wrong += done.problems
        bench.heal()
        for row in hands:
            lab.transports[row.device].configure(row.by_hand)
        if hands:
            left = bench.differences(lab)
            wrong += [f"{name} is not as it was after {hands}" for name in left]
    return wrong


def recovered() -> list[str]:
    """`labtests restore` of everything that is unfinished."""
    done: list[Recovered] = [recover(run) for run in unfinished_runs()]
    return [line for each in done if not each.complete for line in each.lines()]


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A file system of its own for run folders; None where this user cannot mount one."""
    place = folder / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", SMALL_DISK, "labtests-small-disk", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    try:
        yield place if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], check=True)


@contextmanager
def bench_of(served: ServedLab, starts: FastStarts, folder: Path) -> Iterator[Bench]:
    """A project in this folder, on this lab."""
    project = Project(folder, served, starts)
    os.environ["LABTESTS_STATE_DIR"] = str(project.state / "labtests")
    (folder / "test_broken.py").write_text(SUITE)
    (folder / "test_look.py").write_text(LOOK)
    with sabotage.patience(sabotage.PATIENCE_S), small_disk(folder) as disk:
        bench = Bench(project, starts, disk)
        with opened(project.testbed) as lab:
            bench.found = everything(lab)
        yield bench


def journal_of(bench: Bench) -> list[str]:
    """The kinds of the lines of a run that nothing breaks."""
    code, said, folder = bench.run()
    assert code == 0, said
    lines = (folder / FILE_NAME).read_text().splitlines()
    return [json.loads(line)["kind"] for line in lines]


def tally(tried: Sequence[Tried]) -> Iterator[str]:
    """Points tried and survived, by way."""
    tries, fell = (
        Counter(t.point.way for t in tried),
        Counter(t.point.way for t in tried if t.wrong),
    )
    for way, number in tries.items():
        yield f"{way:12} {number:3} points tried, {number - fell[way]:3} survived"
    yield f"{'all':12} {len(tried):3} points tried, {len(tried) - sum(fell.values()):3} survived"


def main() -> int:
    """Print each point and the tally; 1 when one did not survive."""
    parser = argparse.ArgumentParser(description="break runs at steps of their change journals")
    parser.add_argument("--seed", type=int, default=1, help="which points (default: 1)")
    parser.add_argument("--quick", action="store_true", help="only those of the tests")
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"of: {', '.join(WAYS)}")
    asked = parser.parse_args()
    tried: list[Tried] = []
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        served, starts = ServedLab(Path(folder) / "lab"), FastStarts()
        try:
            with bench_of(served, starts, Path(folder)) as bench:
                points = chosen(journal_of(bench), seed=asked.seed, quick=asked.quick)
                for number, point in enumerate(points):
                    if asked.ways and point.way not in asked.ways:
                        continue
                    tried.append(break_at(bench, point, number))
                    print(tried[-1], flush=True)
        finally:
            starts.close()
            served.end()
    kind = "a tmpfs of 8 MiB" if bench.disk else "RLIMIT_FSIZE (no right to mount)"
    print(f"\nseed {asked.seed}; full disk: {kind}; {time.monotonic() - begun_s:.0f} s")
    for line in tally(tried):
        print(line)
    return int(any(t.wrong for t in tried))


if __name__ == "__main__":
    sys.exit(main())
