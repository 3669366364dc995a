"""What `labtests faults` does: lists, runs, and writes the page."""

import os
import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from labtests.core.errors import LabError, WrongOption
from labtests.core.private_files import write_whole
from labtests.core.stem import Stem
from labtests.faults import page
from labtests.faults.catalogue import CATALOGUE
from labtests.faults.declared import FAMILIES, Declared
from labtests.faults.matrix import by_place, text, wrong
from labtests.faults.places import Places
from labtests.faults.running import DRY_RUN, Bench, Job, jobs, results_of, run_all
from labtests.faults.suites import SUITES
from labtests.inventory import load

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """As the command line has it. A fault runs on the first testbed that can have it."""

    testbeds: tuple[Path, ...]
    results: Path
    names: Sequence[str] = ()
    suites: Sequence[str] = ()
    family: str = ""
    all_suites: bool = False
    quick: bool = False
    draw: int | None = None
    seed: int = 1
    jobs: int | None = None
    anew: bool = False
    folder: Path = Path("suites")


def run(asked: GateRequest, say: Say) -> int:
    """The exit code."""
    chosen = _chosen(asked)
    suites = _suites(asked)
    left, status, count = list(chosen), 0, 0
    for file in asked.testbeds:
        places = Places(load(file))
        todo = list(jobs(left, suites, places, quick=asked.quick))
        here = {job.declared.name for job in todo}
        mine = [each for each in left if each.name in here]
        left = [each for each in left if each.name not in here]
        count += len(mine)
        status |= _run_here(asked, mine, todo, places, say) if mine else 0
    if left:
        say(f"not for these testbeds: {', '.join(each.name for each in left)}")
    if not count:
        raise WrongOption("no fault was chosen: `labtests faults list` shows them")
    return status


def _run_here(
    asked: GateRequest, mine: Sequence[Declared], todo: Sequence[Job], places: Places, say: Say
) -> int:
    known = {} if asked.anew else results_of(asked.results)
    keys = {(job.declared.digest, job.suite, places.testbed.name, asked.seed): job for job in todo}
    missing = [job for key, job in keys.items() if key not in known]
    say(f"{places.testbed.name}: {len(mine)} faults, {len(keys)} runs, {len(missing)} to do, "
        f"seed {asked.seed}")  # fmt: skip
    at_once = asked.jobs or os.cpu_count() or 1
    if missing:
        with Stem(*DRY_RUN) as grown:
            bench = Bench(
                stem=grown.path,
                places=places,
                suites=asked.folder,
                seed=asked.seed,
                commit=_commit(),
            )
            run_all(missing, bench, asked.results, at_once=at_once, say=say)
    now = results_of(asked.results)
    found = by_place((now[key] for key in keys), mine)
    for line in text(mine, found):
        say(line)
    problems = wrong(mine, found)
    for line in problems:
        say(f"WRONG  {line}")
    say(f"{len(mine)} faults, {len(found)} runs: {len(problems)} not as declared")
    return int(bool(problems))


def listed(family: str) -> Iterator[str]:
    """A line for each fault."""
    for each in _of_family(family):
        red = ", ".join(each.red)
        how = f"unseen by {red}: {each.unseen}" if each.unseen else f"red: {red}"
        yield f"{each.name}  [{each.family}]  {each.what} ({how})"
    yield f"{len(list(_of_family(family)))} faults"


def paged(results: Path, into: Path | None, say: Say, tell: Say) -> None:
    """docs/faults.md, printed or into that file. Raises LabError, and leaves a page as it is that
    has results of more faults than there are here."""
    known = results_of(results).values()
    lines = list(page.lines(CATALOGUE, known))
    if not known:
        tell(f"{results} has no results: neither has this page")
    if into is None:
        for line in lines:
            say(line)
        return
    had, has = page.faults_run(_text(into)), page.faults_run("\n".join(lines))
    if had > has:
        raise LabError(
            f"{into} has results of {had} faults and {results} of {has}: they would be lost\n"
            "  remedy: labtests faults run, or --results with the file of the machine that ran them"
        )
    write_whole(into, "\n".join([*lines, ""]))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def _of_family(family: str) -> Iterator[Declared]:
    if family not in ("", *FAMILIES):
        raise WrongOption(f"--family {family}: one of {', '.join(FAMILIES)}")
    return (each for each in CATALOGUE if family in ("", each.family))


def _chosen(asked: GateRequest) -> list[Declared]:
    there = list(_of_family(asked.family))
    if unknown := set(asked.names) - {each.name for each in CATALOGUE}:
        raise WrongOption(f"no such fault: {', '.join(sorted(unknown))} (`labtests faults list`)")
    if asked.names:
        there = [each for each in there if each.name in asked.names]
    if asked.draw is None or asked.draw >= len(there):
        return there
    return random.Random(asked.seed).sample(there, asked.draw)


def _suites(asked: GateRequest) -> Sequence[str]:
    if unknown := set(asked.suites) - set(SUITES):
        raise WrongOption(f"--suite {', '.join(sorted(unknown))}: one of {', '.join(SUITES)}")
    return asked.suites or (tuple(SUITES) if asked.all_suites else ())


def _commit() -> str:
    """Of the clone that this runs in; "" where there is none."""
    try:
        said = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return said.stdout.strip()
