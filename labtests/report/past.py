"""What earlier runs say to this one: as the history tells it, or as far as run.json of the last run
goes. What is not known of them is None, and is never said to be the same."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from labtests.report.runs import Json, entries, lab_of
from labtests.report.view import UNJUDGED, standing_of, versions_of

_NOT_THERE = "not there"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabChange:
    """Something of the lab, or of the suites, that was another thing."""

    where: str
    before: str
    after: str


LabChanges = tuple[LabChange, ...] | None
"""None: not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedTest:
    """A red test's past. `passed`: it in the last run where it passed; `run`: that run. `since`:
    the first bad run after that, None when it is this one; `changed`: what was another thing there
    than where it passed."""

    passed: Json
    run: Json
    since: Json | None
    changed: LabChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Earlier whole runs of this lab and backend. `known`: there is a history; `problem`: why it
    cannot be asked. Runs are as run.json has them, with the name of their `folder`."""

    known: bool = False
    problem: str = ""
    last: Json | None = None
    last_changes: LabChanges = None
    green: Json | None = None
    green_changes: LabChanges = None
    tests: Mapping[str, RedTest] = field(default_factory=dict)
    shrunk: tuple[tuple[str, str], ...] = ()
    """Tests of which a margin has been smaller since this run, and which one, in words."""


def past_of(run: Json, history: Past, last: Json | None) -> Past:
    """What the history knows, and the last run of the folder beside where that is the newer one,
    or the same with all that it has."""
    if last is None or str((history.last or {}).get("started") or "") > str(last.get("started")):
        return history
    same = (history.last or {}).get("started") == last.get("started")
    changes = tuple(_changes(last, run))
    known = {one.where for one in changes}
    if same and history.last_changes is not None:
        changes += tuple(one for one in history.last_changes if one.where not in known)
    found = replace(history, last=last, last_changes=changes)
    return replace(found, green=last, green_changes=changes) if is_green(last) else found


def is_green(run: Json) -> bool:
    """Whether something passed, nothing was red, and the lab was left as found."""
    found = {standing_of(test) for test in entries(run.get("tests"))}
    return run.get("exit_code") == 0 and "pass" in found and found <= {"pass", "skipped", UNJUDGED}


def _changes(old: Json, new: Json) -> Iterator[LabChange]:
    """Versions and cables, as far as both runs say."""
    before, after = _facts(old), _facts(new)
    for where in {**before, **after}:
        was, now = before.get(where, _NOT_THERE), after.get(where, _NOT_THERE)
        if was != now:
            yield LabChange(where=where, before=was, after=now)


def _facts(run: Json) -> dict[str, str]:
    found = {}
    lab = lab_of(run)
    for device in entries(lab.get("devices")):
        for name, version in versions_of(device):
            found[f"{device.get('name')} version {name}"] = version or "not reported"
    for link in entries(lab.get("links")):
        ends = sorted(f"{e.get('device')}:{e.get('port')}" for e in entries(link.get("ends")))
        speed = link.get("speed_bits_per_s")
        found[f"cable {' to '.join(ends)}"] = "there" if speed is None else f"{speed} bit/s"
    for what in ("commit_of_suites", "labtests_version"):
        if run.get(what):
            found[{"commit_of_suites": "commit of the suites"}.get(what, "labtests")] = str(
                run[what]
            )
    return found
