"""One run of a study: a point, a pattern of traffic and a seed; what it gives."""

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labtests.core.errors import InventoryError, LabError
from labtests.inventory.form import checked
from labtests.inventory.mistakes import Mistakes
from labtests.network.cases.form import CaseFile
from labtests.network.cases.reader import check_references
from labtests.profile.form import ProfileFile
from labtests.study import patterns
from labtests.study.measures import VERSION, measured
from labtests.study.overlay import laid_over
from labtests.study.tree import with_values

PROFILE = "profile."


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyJob:
    """What is run: values of keys, a pattern ("": the case's own traffic), a seed."""

    values: Mapping[str, Any]
    pattern: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The trees of the case and the profile that points change."""

    case_tree: dict[str, Any]
    profile_tree: dict[str, Any] | None

    @property
    def digest(self) -> str:
        """Of all that decides what a run of a job gives, but the job and what is measured."""
        text = json.dumps([VERSION, self.case_tree, self.profile_tree], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def tree(self, values: Mapping[str, Any], pattern: str = "") -> dict[str, Any]:
        """The case of a point. Raises LookupError, InventoryError."""
        found = self.case_tree
        if self.profile_tree is not None:
            found = laid_over(found, self.profile(values))
        found = with_values(found, {k: v for k, v in values.items() if not k.startswith(PROFILE)})
        return patterns.applied(found, patterns.catalogue()[pattern]) if pattern else dict(found)

    def profile(self, values: Mapping[str, Any]) -> ProfileFile:
        """The profile of a point. Raises LookupError, InventoryError."""
        mistakes = Mistakes(file="profile")
        form = checked(self.profile_with(values), ProfileFile, "a profile", mistakes)
        if form is None:
            raise InventoryError(mistakes.lines())
        return form

    def profile_with(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The tree of the profile of a point. Raises LookupError."""
        own = {k.removeprefix(PROFILE): v for k, v in values.items() if k.startswith(PROFILE)}
        return dict(with_values(self.profile_tree, own))

    def problem_of_key(self, key: str, value: object, *, on_lab: bool) -> str:
        """Why this key cannot have this value by itself; "" when it can."""
        try:
            if on_lab:
                self.profile({key: value})
            else:
                case_of(self.tree({key: value}), "case", references=False)
        except (LookupError, TypeError) as error:
            return f"there is no such key: {error}"
        except InventoryError as error:
            return f"{value!r}: {error.mistakes[0].split(': ', 1)[-1]}"
        return ""


def case_of(tree: dict[str, Any], name: str, *, references: bool = True) -> CaseFile:
    """The case of a tree. Raises InventoryError."""
    mistakes = Mistakes(file=name)
    case = checked(tree, CaseFile, "a case file", mistakes)
    if case is not None and references:
        check_references(case, mistakes, len(case.flows), None)
    if case is None or mistakes.lines():
        raise InventoryError(mistakes.lines())
    return case


def key_of(base: str, job: StudyJob, measure: Sequence[str]) -> str:
    """What stands for a run: the same for the same figures, in any sweep file."""
    told = [base, dict(job.values), job.pattern, job.seed, sorted(measure)]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:24]


def ran(base: Base, job: StudyJob, measure: Sequence[str]) -> dict[str, Any]:
    """A job's figures, or in `failed` why there are none. Runs in a worker."""
    began = time.monotonic()
    try:
        case = case_of(base.tree(job.values, job.pattern), "case")
        found: dict[str, Any] = {"measured": measured(case, job.seed, measure)}
    except InventoryError as error:
        found = {"failed": "; ".join(map(_without_place, error.mistakes[:3]))}
    except (LabError, LookupError, TypeError, ValueError, MemoryError) as error:
        found = {"failed": f"{type(error).__name__}: {error}"}
    return {**found, "took_s": round(time.monotonic() - began, 4)}


def _without_place(mistake: str) -> str:
    """A point is in no file: no file, line and column."""
    return re.sub(r"^\w+:\d+:\d+: ", "", mistake)
