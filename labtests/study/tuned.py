"""What `labtests tune` does."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from labtests.core.errors import InventoryError, WrongOption
from labtests.core.private_files import write_told
from labtests.inventory.mistakes import nearest
from labtests.profile.form import ProfileFile
from labtests.study import bounds, patterns, proposal, tables
from labtests.study.goals import FAR, MEASURES, by_bound, standings
from labtests.study.ledger import StudyLedger
from labtests.study.points import Base, case_of
from labtests.study.reader import base_of
from labtests.study.running import StudyBench, Told
from labtests.study.tuning import Search, SearchPlan, out_of, steps_around
from labtests.study.tuning import proposal as best_of
from labtests.study.working import workers

UNSEEN_EVERY = 3
"""Each third pattern is kept from the search."""
WORST_OFF = 8
PAGE = "page.html"
Options = Mapping[str, Any]


def tuned(file: Path, folder: Path, options: Options, told: Told) -> Iterator[str]:
    """The profile and the page are written. Raises LabError."""
    base = base_of(options["case"], options["testbed"], file)
    own = base.profile({})
    out = options["write"] or folder / f"{own.name}-tuned.yaml"
    if options["write"]:
        _expect_room(out)
    _expect_marking(file, own)
    case = case_of(base.tree({}), "case")
    ranges = bounds.ranges(case, own, timers=options["timers"], given=options["bounds"])
    seen, unseen = _split(base, options["patterns"])
    with StudyLedger(folder) as ledger, workers(options["scheduler"], options["jobs"]) as at:
        bench = StudyBench(base, MEASURES, ledger, at)
        plan = SearchPlan(
            ranges=ranges,
            patterns=seen,
            seeds=tuple(range(1, 1 + options["seeds"])),
            trials=options["trials"],
            minutes=options["minutes"],
            sampler=options["sampler"],
            storage=options["storage"] or out_of(folder.absolute()),
            title=_title(str(own.name), base, seen, options["seeds"], ranges),
        )
        told(f"{len(seen)} patterns are searched, {len(unseen)} are kept for the check")
        search = Search(plan, bench, told)
        tried = search.run()
        evidence = _evidence(str(own.name), search, plan, tried, unseen)
        tables.write_points(list(ledger.rows.values()), folder)
    assert base.profile_tree is not None
    write_told(out, proposal.written(base.profile_tree, evidence.chosen.values))
    write_told(folder / PAGE, proposal.page(evidence))
    yield from proposal.lines(evidence)
    for warning in proposal.checked_profile(out):
        yield f"warning: {warning}"
    yield f"{out}, {folder / PAGE}"


def _expect_room(out: Path) -> None:
    """Before a search of hours. Raises WrongOption."""
    if not out.parent.is_dir():
        raise WrongOption(f"--write: {out.parent} is not there: make the folder first")
    if not os.access(out if out.exists() else out.parent, os.W_OK):
        raise WrongOption(f"--write: {out} may not be written")


def _title(name: str, base: Base, seen: tuple[str, ...], seeds: int, ranges: Iterable[str]) -> str:
    """What stands for a search: the same where all that its objectives hang on is the same."""
    told = json.dumps([base.digest, sorted(seen), seeds, sorted(ranges)])
    return f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:24]}"


def _expect_marking(file: Path, profile: ProfileFile) -> None:
    if len(profile.ecn) != 1:
        problem = "a profile to tune has one entry: Kmin, Kmax and Pmax are what is searched"
        raise InventoryError([f"{file}:1:1: ecn: {problem}"])


def _split(base: Base, asked: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns of the search, and those that it never sees: each third one."""
    fit, unfit = patterns.fitting(base.case_tree)
    if asked != "all":
        names = [name.strip() for name in asked.split(",")]
        problems = list(_problems(names, fit, unfit))
        if problems:
            raise WrongOption("\n".join(f"--patterns: {each}" for each in problems))
        fit = names
    if len(fit) < UNSEEN_EVERY:
        raise WrongOption(f"--patterns: {len(fit)} patterns: at least {UNSEEN_EVERY}")
    unseen = fit[UNSEEN_EVERY - 1 :: UNSEEN_EVERY]
    return tuple(name for name in fit if name not in unseen), tuple(unseen)


def _problems(names: Sequence[str], fit: Sequence[str], unfit: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with the names of patterns."""
    for number, name in enumerate(names):
        if not name:
            yield "an empty name: names, with commas between them"
        elif name in unfit:
            yield unfit[name]
        elif name not in fit:
            yield f"no pattern {name}: {nearest(name, [*fit, *unfit])}"
        elif name in names[:number]:
            yield f"{name} is given twice"


def _evidence(
    name: str, search: Search, plan: SearchPlan, tried: list[Any], unseen: tuple[str, ...]
) -> proposal.TuningEvidence:
    chosen = best_of(tried)
    fresh_seed = max(plan.seeds) + 1
    worst = sorted(chosen.figures, key=lambda each: -_bad(chosen.figures[each]))[:WORST_OFF]
    near = []
    for what, values in steps_around(chosen.values, plan.ranges):
        near.append((what, _short(search.figures(values, worst, plan.seeds[:1]))))
    return proposal.TuningEvidence(
        title=name,
        tried=tried,
        unseen=search.figures(chosen.values, unseen, [fresh_seed]),
        near=near,
        near_base=_short(search.figures(chosen.values, worst, plan.seeds[:1])),
    )


def _bad(figures: tuple[float, float, float]) -> float:
    return sum(min(float(ratio), FAR) for ratio in by_bound(*figures))


def _short(figures: Any) -> float:
    return sum(each.short for each in standings(figures))
