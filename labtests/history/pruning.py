"""Old run folders go, by a rule that somebody gives; never by themselves. The history keeps its
rows."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from labtests.core.errors import LabError
from labtests.history.records import of_folder
from labtests.journal import unfinished_runs

Say = Callable[[str], None]
_RUN = re.compile(r"(?P<when>\d{8}-\d{6})-[0-9a-f]{6}")
_LEFT = ("run.json", "journal.jsonl", "journal.jsonl.gz", "changes.jsonl")
_AGE = re.compile(r"(\d{1,4})d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Runs of so many days stay, and with `keep_red` all that did not pass. `only_list`: nothing is
    removed."""

    days: int
    keep_red: bool
    only_list: bool

    @classmethod
    def of(cls, keep: str, *, keep_red: bool, only_list: bool) -> "Rule":
        """Of a text such as 30d. Raises LabError."""
        found = _AGE.fullmatch(keep)
        if found is None:
            raise LabError(f"--keep {keep}: give days, such as 30d")
        return cls(days=int(found[1]), keep_red=keep_red, only_list=only_list)


def prune(reports: Path, rule: Rule, now: datetime, say: Say) -> None:
    """Run folders below `reports` that the rule does not keep are removed, one line each.

    What is no run folder, the newest run of each lab, and runs whose changes are not put back yet
    stay. Raises LabError, OSError."""
    unfinished = {entry.journal.parent for entry in unfinished_runs()}
    kept, freed = 0, 0
    for lab in _labs(reports):
        runs = sorted(_runs(lab))
        newest = max((each for each in runs if not _is_ahead(each, now)), default=None)
        pointed = {(place / "latest").resolve() for place in (reports, lab)}
        for folder in runs:
            if (
                folder == newest
                or folder.resolve() in unfinished | pointed
                or _stays(folder, rule, now)
            ):
                kept += 1
                continue
            freed += _bytes(folder)
            say(f"{'would remove' if rule.only_list else 'removed'}: {folder}")
            if not rule.only_list:
                shutil.rmtree(folder)
    word = "run" if kept == 1 else "runs"
    say(f"kept {kept} {word}; {'to free' if rule.only_list else 'freed'}: {freed / 1e6:.1f} MB")


def _labs(reports: Path) -> Iterator[Path]:
    """The folders of labs; `latest` is a link, and passed by."""
    yield from sorted(lab for lab in reports.iterdir() if lab.is_dir() and not lab.is_symlink())


def _runs(lab: Path) -> Iterator[Path]:
    for folder in lab.iterdir():
        if _RUN.fullmatch(folder.name) and _is_run(folder):
            yield folder


def _is_run(folder: Path) -> bool:
    """A folder, and no link, with what a run leaves."""
    kept = any((folder / name).is_file() for name in _LEFT)
    return folder.is_dir() and not folder.is_symlink() and kept


def _began(folder: Path) -> datetime | None:
    """By its name."""
    found = _RUN.fullmatch(folder.name)
    assert found is not None
    try:
        return datetime.strptime(found["when"], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _is_ahead(folder: Path, now: datetime) -> bool:
    """One that a wrong clock has named is not the newest."""
    return (_began(folder) or now) > now


def _stays(folder: Path, rule: Rule, now: datetime) -> bool:
    when = _began(folder)
    if when is None:
        return True
    return now - when < timedelta(days=rule.days) or (rule.keep_red and not _passed(folder))


def _passed(folder: Path) -> bool:
    """A run that cannot be read, or has not ended, did not."""
    try:
        return of_folder(folder).outcome in ("pass", "skipped")
    except LabError:
        return False


def _bytes(folder: Path) -> int:
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir())
