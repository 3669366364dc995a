"""A sweep on a lab: each point is a profile, laid on the lab by a run of pytest, which runs suites
and puts the lab back.

Runs are processes of their own, one after the other. Between them the lab is kept by this person's
lock (docs/lease.md), under which each run works; a simulated lab is made for each run and needs
none. What makes the next run senseless (a lab that cannot be reached, that somebody else has, or
that was not put back) ends the sweep; whatever else a run comes to is that point's.
"""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from labtests.core.errors import InventoryError, LabError, LeaseBusy
from labtests.core.private_files import open_private, private_folder, write_private
from labtests.core.trusted_files import handed
from labtests.history.records import KeptFact, KeptRun, KeptTest, of_folder
from labtests.inventory import Testbed
from labtests.lease.command import DONE, LeaseRequest, lock, unlock
from labtests.profile.reader import load as load_profile
from labtests.recovery import expect_put_back
from labtests.report.runs import read_head
from labtests.study import tables
from labtests.study.ledger import StudyLedger, left_of, row, rows_of
from labtests.study.measures import AT_LEAST, AT_MOST
from labtests.study.page import of_sweep
from labtests.study.points import StudyJob
from labtests.study.reader import Sweep
from labtests.study.running import Progress, Told, span

VERSION = 1
"""Of what the figures mean."""
SUITE = Path(__file__).with_name("as_configured.py")
GREEN_OR_RED, NOT_USABLE, UNREACHABLE = (0, 1), 10, 15
_SAYS = {3: "pytest ended by an error of its own", 4: "a wrong option", 5: "no test was found"}
_PUTTING_BACK_S = 25 * 60.0
_BOUND = re.compile(r"[<>]=? (?!0$)[0-9.e+-]+( and .*)?$|> 0$")
_COUNTED = re.compile(r"/ [0-9]")
_RED = frozenset({"fail", "error", "inconclusive"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabSweep:
    """A sweep, the lab that it runs on, and the folder with its results."""

    sweep: Sweep
    testbed: Testbed
    folder: Path
    dry_run: bool
    recover: bool = False
    again: bool = False  # points that have failed, too

    def jobs(self) -> dict[str, StudyJob]:
        """All points and repetitions, by what stands for them in the ledger."""
        form, base = self.sweep.form, self.sweep.base
        suites = {name: _digest(Path(name.partition("::")[0])) for name in self.suites}
        told: list[Any] = [VERSION, base.profile_tree, suites, form.lab.options, self.dry_run]
        told.append(_digest(self.testbed.file))
        common = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
        first: dict[str, StudyJob] = {}
        for job in self.sweep.jobs():
            key = hashlib.sha256(json.dumps([common, dict(job.values), job.seed]).encode())
            first.setdefault(key.hexdigest()[:24], job)
        return first

    @property
    def suites(self) -> list[str]:
        """What pytest is to run."""
        return self.sweep.form.lab.suites or [str(SUITE)]

    def command(self, job: StudyJob, profile: Path, run_dir: Path, *, plan: bool) -> list[str]:
        """The pytest of a point."""
        words = [sys.executable, "-m", "pytest", *self.suites]
        words += ["--testbed", str(self.testbed.file.absolute()), "--profile", str(profile)]
        words += ["--run-dir", str(run_dir), *self.sweep.form.lab.options]
        if self.dry_run:
            words += ["--dry-run", "--seed", str(job.seed)]
        elif self.locks and not plan:
            words += ["--under-lock"]
        return [*words, "--plan"] if plan else words

    @property
    def locks(self) -> bool:
        """Whether the lab is kept between runs."""
        return not self.dry_run and self.testbed.lease is not None


def _digest(file: Path) -> str:
    """Of a file; "" of a module or a folder, which are taken by their names."""
    return hashlib.sha256(handed(file)).hexdigest() if file.is_file() else ""


# -- planning ------------------------------------------------------------------------------------


def planned_on_lab(asked: LabSweep) -> Iterator[str]:
    """What the first point would do to the lab, command by command, and how long all take. The lab
    is read, and nothing is changed. Raises LabError."""
    jobs = asked.jobs()
    rows = {each["key"]: each for each in _rows(asked.folder) if each["key"] in jobs}
    took_s = {key: each["took_s"] for key, each in rows.items()}
    mine = left_of(jobs, rows, again=asked.again)
    left = {key: job for key, job in jobs.items() if key in mine}
    done = f"{len(jobs) - len(left)} finished"
    yield f"{asked.sweep.form.name} on {asked.testbed.name}: {len(jobs)} runs of pytest, {done}"
    if not left:
        return
    key, job = next(iter(left.items()))
    profile = _profile(asked, key, job)
    run_dir = _fresh(profile.parent)
    ended = subprocess.run(
        asked.command(job, profile, run_dir, plan=True), capture_output=True, text=True, check=False
    )
    yield ended.stdout.strip()
    if ended.returncode:
        raise LabError(f"pytest --plan ended with exit code {ended.returncode}, above")
    least_s, most_s = read_head(run_dir)["planned_s"]
    if took_s:
        each_s = sum(took_s.values()) / len(took_s)
        yield f"about {span(each_s * len(left))} for {len(left)} runs, as those before took"
    else:
        yield (
            f"{len(left)} runs: {span(least_s * len(left))} of lab time, "
            f"{span(most_s * len(left))} at most, without what connecting and commands take"
        )


def _rows(folder: Path) -> list[dict[str, Any]]:
    try:
        return rows_of(folder)
    except LabError:
        return []


# -- running -------------------------------------------------------------------------------------


def swept_on_lab(asked: LabSweep, told: Told) -> Iterator[str]:
    """Every point has run or has failed; tables and page are written. Raises LabError when it makes
    no sense to go on: what is finished is kept."""
    jobs = asked.jobs()
    with StudyLedger(asked.folder) as ledger:
        ledger.ask(jobs)
        mine = ledger.left(jobs, again=asked.again)
        left = {key: job for key, job in jobs.items() if key in mine}
        progress = Progress(len(jobs), told, done=len(jobs) - len(left))
        with _kept(asked, told) as keep:
            for key, job in left.items():
                outcome = _ran(asked, key, job, keep, told)
                more = {"pattern": "", "seed": job.seed, **outcome}
                ledger.add(row(key, job.values, more))
                progress.one("failed" in outcome)
        rows = [ledger.rows[key] for key in jobs]
    table = tables.write_points(rows, asked.folder)
    write_private(asked.folder / "page.html", of_sweep(asked.sweep.form.name, rows))
    bad = [each for each in rows if "failed" in each]
    red = sum(bool((each.get("measured") or {}).get("red_suites")) for each in rows)
    yield (
        f"{asked.sweep.form.name} on {asked.testbed.name}: {len(rows)} runs, {red} of them red, "
        f"{len(bad)} failed; {table}, {asked.folder / 'page.html'}"
    )
    for reason in list(dict.fromkeys(each["failed"] for each in bad))[:5]:
        yield f"failed: {reason}"


@contextmanager
def _kept(asked: LabSweep, told: Told) -> Iterator[Any]:
    """Nobody else changes the lab until the sweep ends, however it ends; the function says how long
    a point may keep it."""
    taken = False

    def keep(minutes: int, why: str) -> None:
        nonlocal taken
        if asked.dry_run:
            return
        expect_put_back(asked.testbed, dry_run=False, may_recover=asked.recover, say=told)
        if asked.locks:
            request = LeaseRequest(why=why, lasting=f"{minutes}m")
            if lock(asked.testbed, request, told if not taken else lambda _: None) != DONE:
                raise LeaseBusy(f"{asked.testbed.name}: the sweep cannot have the lab (above)")
            taken = True

    try:
        yield keep
    finally:
        if taken:
            unlock(asked.testbed, LeaseRequest(why="labtests sweep"), told)


def _ran(asked: LabSweep, key: str, job: StudyJob, keep: Any, told: Told) -> dict[str, Any]:
    """A point's figures, or in `failed` why there are none. Raises LabError when no other point can
    have any, KeyboardInterrupt when its run has put the lab back."""
    began = time.monotonic()
    try:
        profile = _profile(asked, key, job)
    except InventoryError as error:
        return {"failed": "; ".join(error.mistakes[:3]), "took_s": 0.0}
    # a run whose sweep was killed, and which went on to its end
    earlier = _finished(profile.parent, asked.again)
    if earlier is None:
        limit = asked.sweep.form.lab.limit_minutes
        keep(limit + round(_PUTTING_BACK_S / 60), f"labtests sweep {asked.sweep.form.name}")
        run_dir = _fresh(profile.parent)
        code = _process(asked.command(job, profile, run_dir, plan=False), run_dir, limit * 60.0)
        if code not in GREEN_OR_RED:
            return _without_figures(asked, code, run_dir, told, began)
        earlier = of_folder(run_dir)
    return {**outcome_of(earlier), "took_s": round(time.monotonic() - began, 1)}


def _profile(asked: LabSweep, key: str, job: StudyJob) -> Path:
    """The file of a point's profile. Raises InventoryError: the profile makes no sense."""
    folder = asked.folder / "points" / key
    private_folder(folder)
    file = folder / "profile.yaml"
    tree = asked.sweep.base.profile_with(job.values)
    write_private(file, yaml.safe_dump(tree, sort_keys=False, default_flow_style=None, width=100))
    load_profile(file)
    return file


def _runs(folder: Path) -> list[Path]:
    return sorted(each for each in folder.glob("run-*") if each.is_dir())


def _fresh(folder: Path) -> Path:
    return folder / f"run-{len(_runs(folder)) + 1:03d}"


def _finished(folder: Path, again: bool) -> KeptRun | None:
    """A run of this point that came to its end; `again`: and has figures."""
    for each in _runs(folder):
        try:
            found = of_folder(each)
        except LabError:
            continue
        if found.exit_code in GREEN_OR_RED and not (again and "failed" in outcome_of(found)):
            return found
    return None


def _process(command: list[str], run_dir: Path, limit_s: float) -> int:
    """The exit code of a run, which has put the lab back. After Ctrl-C, and when its time is over,
    it is told to end, and waited for."""
    log = run_dir.with_suffix(".txt")
    with os.fdopen(open_private(log, os.O_WRONLY | os.O_CREAT), "wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return _ended(process)
        except KeyboardInterrupt:
            _ended(process)
            raise


def _ended(process: "subprocess.Popen[bytes]") -> int:
    process.send_signal(signal.SIGTERM)
    return process.wait(_PUTTING_BACK_S)


def _without_figures(
    asked: LabSweep, code: int, run_dir: Path, told: Told, began: float
) -> dict[str, Any]:
    """Why a run has given none. Raises LabError when the next one would not either."""
    why = _SAYS.get(code, "")
    with suppress(LabError):
        why = str(read_head(run_dir).get("problem") or why)
    why = why or "it was ended, or took too long"
    why = f"exit code {code}: {why} ({run_dir.with_suffix('.txt')})"
    if code == UNREACHABLE:
        raise LabError(f"the sweep stops here: {why}\n  remedy: the same command goes on")
    if not asked.dry_run:  # a lab that is not as it was found is no lab for the next point
        expect_put_back(asked.testbed, dry_run=False, may_recover=asked.recover, say=told)
    return {"failed": why, "took_s": round(time.monotonic() - began, 1)}


# -- what a run came to --------------------------------------------------------------------------


def outcome_of(run: KeptRun) -> dict[str, Any]:
    """Of a run that has ended: suites that are red, packets that queues dropped, and each number
    that a verdict holds to a bound, by its name (of several suites, with the suite's)."""
    ran = [test for test in run.tests if test.outcome != "skipped"]
    if not ran:
        reasons = "; ".join(test.error for test in run.tests if test.error)
        return {"failed": f"every suite was skipped: {reasons or run.problem or run.folder}"}
    figures: dict[str, float] = {
        "red_suites": float(sum(test.outcome in _RED for test in ran)),
        "dropped_packets": float(sum(_dropped(test) for test in ran)),
    }
    for test in ran:
        head = f"{test.name.rpartition('::')[2]}: " if len(ran) > 1 else ""
        figures |= {head + name: value for name, value in _facts(test).items()}
    return {"measured": figures, "run": run.folder}


def _dropped(test: KeptTest) -> float:
    found = {
        fact.name: fact.measured or 0
        for verdict in test.verdicts
        if verdict.role == "main"
        for fact in verdict.facts
        if fact.unit == "packets" and fact.name.endswith(" dropped_packets")
    }
    return sum(found.values())


def _facts(test: KeptTest) -> Mapping[str, float]:
    """Numbers with a bound that leaves some margin; of two bounds of one number the nearer one."""
    nearest: dict[str, tuple[float, float]] = {}
    for verdict in test.verdicts:
        for fact in verdict.facts if verdict.role == "main" else ():
            if fact.measured is None or fact.margin is None or not _is_result(fact):
                continue
            name = fact.name + (AT_LEAST if fact.bound.startswith(">") else AT_MOST)
            old = nearest.get(name)
            if old is None or fact.margin < old[0]:
                nearest[name] = (fact.margin, fact.measured)
    return {name: measured for name, (_, measured) in nearest.items()}


def _is_result(fact: KeptFact) -> bool:
    """Not a count that is held to another count of the same run, nor one that has to stay 0."""
    return bool(_BOUND.match(fact.bound)) and not _COUNTED.search(fact.name)


def has_failed(asked: LabSweep) -> bool:
    """Whether a run of this sweep is red, or has failed."""
    jobs: Iterable[str] = asked.jobs()
    mine = [each for each in rows_of(asked.folder) if each["key"] in jobs]
    return any("failed" in each or each["measured"]["red_suites"] for each in mine)
