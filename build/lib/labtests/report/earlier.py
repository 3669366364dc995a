"""The run before: the newest whole one of the same lab and backend, and what is another since."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from labtests.report.runs import (
    Json,
    UnreadableRun,
    entries,
    lab_of,
    number,
    read_head,
    was_whole,
    with_tables,
)
from labtests.report.view import kept_its_word, standing_of

TRIES = 30
"""Folders that are looked into."""
STILL = 0.005
"""A share below this is no movement."""
_KEY = ("device", "port", "ability")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A figure that is another one than in the earlier run; the share is of the earlier figure,
    None when that was 0."""

    name: str
    before: int | float
    now: int | float
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """A test beside itself in the earlier run. `was` is "" when there is nothing to compare."""

    was: str = ""
    changed: bool = False
    most: Moved | None = None
    facts: tuple[Moved, ...] = ()
    settings: tuple[Json, ...] = ()

    @classmethod
    def of(cls, test: Json, before: Json | None, passed: Json | None = None) -> Self:
        """What is different. Settings are compared with a run in which the test passed: the one
        before, or else the last that is known."""
        if before is None:
            return cls(settings=tuple(_other_settings(test, passed)) if passed else ())
        was = standing_of(before)
        moved = tuple(_moved_facts(test, before))
        right = before if was == "pass" else passed
        return cls(
            was=was,
            changed=was != standing_of(test),
            most=max(moved, key=_size, default=None),
            facts=moved,
            settings=tuple(_other_settings(test, right)) if right else (),
        )


def earlier_run(run: Json, runs: Path) -> Json | None:
    """The newest whole run in a folder of runs that began before this one, of its testbed and
    backend; None when there is none."""
    began = str(run.get("started") or "")
    folders = sorted((f for f in _folders(runs)), key=lambda f: f.name, reverse=True)
    for folder in folders[:TRIES]:
        try:
            found = read_head(folder)
            if _comparable(run, found) and str(found.get("started") or "") < began:
                return {**with_tables(folder, found), "folder": folder.name}
        except UnreadableRun:
            continue
    return None


def _folders(runs: Path) -> list[Path]:
    try:
        return [f for f in runs.iterdir() if f.is_dir() and not f.is_symlink()]
    except OSError:
        return []


def _comparable(run: Json, found: Json) -> bool:
    return (
        was_whole(found)
        and lab_of(found).get("name") == lab_of(run).get("name")
        and found.get("backend") == run.get("backend")
        and not found.get("faults")
    )


def _moved_facts(test: Json, before: Json) -> list[Moved]:
    """Of the verdicts that are asked; a fact of one name in one verdict is one figure."""
    earlier = _facts(before)
    found = []
    for key, (name, now) in _facts(test).items():
        then = earlier.get(key)
        if then is None or then[1] == now:
            continue
        share = (now - then[1]) / abs(then[1]) if then[1] else None
        if share is None or abs(share) >= STILL:
            found.append(Moved(name=name, before=then[1], now=now, share=share))
    return found


def _facts(test: Json) -> dict[tuple[str, ...], tuple[str, int | float]]:
    found: dict[tuple[str, ...], tuple[str, int | float]] = {}
    for verdict in entries(test.get("verdicts")):
        if verdict.get("role") == "control" or not kept_its_word(verdict):
            continue
        for fact in entries(verdict.get("facts")):
            measured, name = number(fact.get("measured")), str(fact.get("name") or "")
            if measured is not None:
                key = (str(verdict.get("question")), str(verdict.get("phase")), name)
                found[key] = (name, measured)
    return found


def _size(moved: Moved) -> float:
    return abs(moved.share) if moved.share is not None else 0.0


def _other_settings(test: Json, before: Json) -> list[Json]:
    """Settings that were read otherwise in the phase of the same name."""
    earlier = {str(p.get("name")): p for p in entries(before.get("phases"))}
    found: dict[tuple[str, ...], Json] = {}
    for phase in entries(test.get("phases")):
        then = {
            tuple(str(row.get(k)) for k in _KEY): row.get("value")
            for row in entries(earlier.get(str(phase.get("name")), {}).get("settings"))
        }
        for row in entries(phase.get("settings")):
            key = tuple(str(row.get(k)) for k in _KEY)
            if key in then and then[key] != row.get("value"):
                found.setdefault(key, {**row, "before": then[key]})
    return list(found.values())
