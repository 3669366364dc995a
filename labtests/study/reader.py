"""From a sweep file to a study that can run, or to the list of everything that is wrong with it."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labtests.core.errors import InventoryError
from labtests.inventory.document import Document, Readable, read_file
from labtests.inventory.form import checked
from labtests.inventory.mistakes import Mistakes, nearest
from labtests.inventory.mistakes import Path as Where
from labtests.network.cases.form import CaseFile
from labtests.network.cases.reader import load as load_case
from labtests.study import patterns
from labtests.study.form import MOST_POINTS, SweepFile, VaryPart
from labtests.study.measures import MEASURES
from labtests.study.points import Base, StudyJob
from labtests.study.tree import steps
from labtests.study.varying import at, count, listed, points

PROFILE = "profile."
_NO_FRACTION = (3 - math.sqrt(5)) / 2
"""A share of a range at which there is no round value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What a sweep file asks for, and its case and profile."""

    form: SweepFile
    base: Base

    @property
    def patterns(self) -> tuple[str, ...]:
        """By name; "" is the case's own traffic, and what is run on a lab."""
        asked = self.form.patterns
        if asked is None or not self.base.case_tree:
            return ("",)
        fitting, _ = patterns.fitting(self.base.case_tree)
        return tuple(fitting) if asked == "all" else tuple(asked)

    @property
    def jobs_count(self) -> int:
        """Runs of the packet network, each counted once."""
        many = sum(1 for _ in points(self.form))
        return many * len(self.patterns) * len(self.form.seeds)

    def jobs(self) -> Iterator[StudyJob]:
        """All runs, point by point."""
        names = self.patterns
        for values in points(self.form):
            for pattern in names:
                for seed in self.form.seeds:
                    yield StudyJob(values=values, pattern=pattern, seed=seed)


def load(path: Path | str, *, on_lab: bool = False) -> Sweep:
    """The sweep that a file describes; `on_lab`: a lab is its network, not its case.
    Raises InventoryError with every mistake of the file."""
    file = Path(path)
    document = read_file(Readable(file))
    mistakes, form = document.mistakes, None
    if document.tree is not None or not mistakes.lines():
        form = checked(document.tree, SweepFile, "a sweep file", mistakes)
    if form is None:
        raise InventoryError(mistakes.lines())
    sound = _check_form(form, mistakes)
    _check_lists(form, mistakes)
    _check_overlaps(form, mistakes)
    base = (_base_on_lab if on_lab else _base)(file, form, mistakes)
    if base is not None:
        _check_keys(sound, form.method, base, mistakes, on_lab=on_lab)
        if not on_lab:
            _check_patterns(form, base, mistakes)
            if not mistakes.lines():
                _check_undone(form, base, mistakes)
    if lines := mistakes.lines():
        raise InventoryError(lines)
    assert base is not None
    return Sweep(form=form, base=base)


def _check_form(form: SweepFile, mistakes: Mistakes) -> dict[str, VaryPart]:
    """The keys whose values can be made are returned."""
    sound = dict(form.vary)
    for key, part in form.vary.items():
        for name, problem in _of_range(part, form.method):
            mistakes.add(("vary", key, name), problem)
            sound.pop(key, None)
    if (form.points is None) == (form.method in ("random", "latin-hypercube")):
        needed = form.points is None
        problem = f"{form.method} needs it" if needed else f"a {form.method} has as many as it has"
        mistakes.add(("points",), problem)
    if form.method == "list" and len({len(p.values or ()) for p in form.vary.values()}) > 1:
        mistakes.add(("vary",), "a list takes the n-th value of each key: as many of each")
    if not mistakes.lines() and count(form) * len(form.seeds) > MOST_POINTS:
        mistakes.add(("vary",), f"{count(form)} points: more than {MOST_POINTS}")
    return sound


def _check_overlaps(form: SweepFile, mistakes: Mistakes) -> None:
    """Of two keys that lead to the same place, one would undo the other."""
    seen: list[tuple[str, Where]] = []
    for key in form.vary:
        mine = steps(key)
        for other, path in seen:
            common = min(len(mine), len(path))
            if mine[:common] == path[:common]:
                problem = f"lies in or over {other}: one of them would undo the other"
                mistakes.add(("vary", key), problem, key=True)
        seen.append((key, mine))


def _check_lists(form: SweepFile, mistakes: Mistakes) -> None:
    for number, name in enumerate(form.measure):
        if name not in MEASURES:
            problem = f"{name} is not measured: {nearest(name, MEASURES)}"
            mistakes.add(("measure", number), problem)
    for what in ("patterns", "seeds", "measure"):
        _check_repeats(what, getattr(form, what), mistakes)


def _check_repeats(what: str, given: object, mistakes: Mistakes) -> None:
    for number, each in enumerate(given if isinstance(given, list) else ()):
        if each in given[:number]:  # type: ignore[index]
            mistakes.add((what, number), f"{each} is given twice: it is run once")


def _of_range(part: VaryPart, method: str) -> Iterator[tuple[str, str]]:
    """Keys of a range that say nothing, or contradict."""
    ranged = part.low is not None and part.high is not None
    if (part.values is None) != ranged or (part.values is not None and part.steps is not None):
        yield "values", "either values, or from and to (and steps, in a grid)"
        return
    if method == "list" and ranged:
        yield "from", "a list needs values"
    if ranged and float(part.low or 0) > float(part.high or 0):
        yield "from", f"{part.low} is above to ({part.high}): nothing is in between"
    if ranged and part.scale == "log" and float(part.low or 0) <= 0:
        yield "from", "must be above 0 on a log scale"
    if ranged and (part.steps is None) == (method == "grid"):
        yield "steps", "a grid needs it" if method == "grid" else f"{method} needs none"


def _base(file: Path, form: SweepFile, mistakes: Mistakes) -> Base | None:
    """The case and profile that points are made of."""
    if (form.case is None) == (form.testbed is None):
        mistakes.add(("case",), "what network: case or testbed, one of them")
        return None
    if form.profile is None:
        for key in form.vary:
            if key.startswith(PROFILE):
                mistakes.add(("vary", key), "there is no profile: add profile: FILE", key=True)
    try:
        return base_of(*(_near(file, name) for name in (form.case, form.testbed, form.profile)))
    except InventoryError as error:
        for line in error.mistakes:
            mistakes.add(("case",) if form.case else ("testbed",), line)
        return None


def _base_on_lab(file: Path, form: SweepFile, mistakes: Mistakes) -> Base | None:
    """A lab has no keys but those of a profile."""
    if form.profile is None:
        mistakes.add(("profile",), "on a lab a point is a profile: profile: FILE")
    for key in form.vary:
        if not key.startswith(PROFILE):
            problem = f"a lab is set by profiles: its keys begin with {PROFILE}"
            mistakes.add(("vary", key), problem, key=True)
    if (profile := _near(file, form.profile)) is None:
        return None
    try:
        return Base(case_tree={}, profile_tree=_profile_tree(profile))
    except InventoryError as error:
        for line in error.mistakes:
            mistakes.add(("profile",), line)
        return None


def _near(file: Path, name: str | None) -> Path | None:
    return None if name is None else file.parent / name


def base_of(case: Path | None, testbed: Path | None, profile: Path | None) -> Base:
    """What points are made of. Raises InventoryError with every mistake of these files."""
    if testbed is not None:
        from labtests.study.of_testbed import case_tree

        tree = case_tree(testbed)
    else:
        assert case is not None
        tree = _with_flows(_tree(read_file(Readable(case))), load_case(case))
    return Base(case_tree=tree, profile_tree=None if profile is None else _profile_tree(profile))


def _with_flows(tree: dict[str, Any], case: CaseFile) -> dict[str, Any]:
    """The tree of a case, and in it the flows of its table (`flows_from`)."""
    if case.flows_from is None:
        return tree
    own = tree.get("flows") or []
    more = [flow.model_dump(exclude_unset=True) for flow in case.flows[len(own) :]]
    return {k: v for k, v in tree.items() if k != "flows_from"} | {"flows": [*own, *more]}


def _profile_tree(file: Path) -> dict[str, Any]:
    from labtests.profile.reader import load as load_profile

    load_profile(file)
    return _tree(read_file(Readable(file)))


def _tree(document: Document) -> dict[str, Any]:
    if document.mistakes.lines() or not isinstance(document.tree, dict):
        raise InventoryError(document.mistakes.lines() or ["not a mapping"])
    return document.tree


def _check_undone(form: SweepFile, base: Base, mistakes: Mistakes) -> None:
    """A key of the case may set what one of the profile does: that would do nothing, then."""
    ends = {key: _ends(part) for key, part in form.vary.items()}
    for key, two in ends.items():
        for other in ends if key.startswith(PROFILE) else ():
            if not other.startswith(PROFILE) and _undoes(base, (other, ends[other][0]), (key, two)):
                problem = f"sets what {key} sets: one of them would undo the other"
                mistakes.add(("vary", other), problem, key=True)


def _undoes(base: Base, one: tuple[str, Any], other: tuple[str, list[Any]]) -> bool:
    """Whether the other key makes a difference, and none once the first one is set."""
    key, values = other
    alone = [base.tree({key: value}) for value in values]
    beside = [base.tree({key: value, one[0]: one[1]}) for value in values]
    return alone[0] != alone[-1] and beside[0] == beside[-1]


def _ends(part: VaryPart) -> list[Any]:
    """The first value of a key and the last other one, without those between."""
    if part.values is not None:
        others = [value for value in part.values if value != part.values[0]]
        return [part.values[0], *others[-1:]]
    return listed(part.model_copy(update={"steps": 2}))


def _between(part: VaryPart, method: str) -> list[Any]:
    """Of a range, one more value that is run, or is like those: its ends may be whole numbers, and
    the values between them not."""
    if part.values is not None or part.steps in (1, 2):
        return []
    return [at(part, 1 / (part.steps - 1) if method == "grid" and part.steps else _NO_FRACTION)]


def _check_keys(
    vary: Mapping[str, VaryPart], method: str, base: Base, mistakes: Mistakes, *, on_lab: bool
) -> None:
    """Each key alone, with some of its values: unknown keys and values that cannot be."""
    for key, part in vary.items():
        if key == "seed":
            mistakes.add(("vary", key), "a run has one of `seeds`: list them there", key=True)
            continue
        tried = {json.dumps(value): value for value in [*_ends(part), *_between(part, method)]}
        for value in tried.values():
            problem = base.problem_of_key(key, value, on_lab=on_lab)
            if problem:
                mistakes.add(("vary", key), problem, key=True)
                break


def _check_patterns(form: SweepFile, base: Base, mistakes: Mistakes) -> None:
    if not isinstance(form.patterns, list):
        return
    known = patterns.catalogue()
    _, unfit = patterns.fitting(base.case_tree)
    for number, name in enumerate(form.patterns):
        where: Where = ("patterns", number)
        if name not in known:
            mistakes.add(where, f"no pattern {name}: {nearest(name, known)}")
        elif name in unfit:
            mistakes.add(where, unfit[name])
