"""`labtests night`, without the command line around it."""

import os
import re
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from labtests.core.errors import LabError
from labtests.core.signals import noted
from labtests.history.entering import update_site
from labtests.history.rows import NoHistory
from labtests.history.store import FILE, OFF, VARIABLE, History, asked
from labtests.night.form import Night, NightRun, read_night
from labtests.night.running import Conducted, RunEnd, command, worst
from labtests.night.telling import news_of, notify

Say = Callable[[str], None]
_LAST = 3
"""Runs whose durations tell what to expect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRequest:
    """What the command line asks for. `jobs`: labs at once, 0: all. `shard`: such as 2/5."""

    file: str
    reports: Path
    jobs: int
    shard: str
    only_plan: bool


def night(wanted: NightRequest, say: Say) -> int:
    """The night, its summary, and its exit code. Raises LabError."""
    say = say if wanted.only_plan else _unfailing(say)
    read = read_night(wanted.file)
    runs = sharded(read.runs, wanted.shard)
    where = asked() or str(wanted.reports.absolute() / FILE)
    with ExitStack() as stack:
        history = _opened(where, stack, say, makes=not wanted.only_plan)
        if wanted.only_plan:
            return _plan(runs, history, say)
        budget = read.form.budget_minutes
        conducted = Conducted(
            wanted.reports.absolute(),
            say,
            lambda run: expected_s(run, history),
            None if budget is None else budget * 60.0,
            _environment(read, where),
        )
        ends = conducted.through(runs, wanted.jobs or len(runs))
        code = 128 + signal.Signals[conducted.stopping] if conducted.stopping else worst(ends)
        with noted():  # all labs are put back: what the night came to is told to its end
            if history is not None:  # its runs are told where to write, and write no pages
                update_site(where, wanted.reports, say)
            _tell(read, ends, code, history, say)
    return code


def _unfailing(say: Say) -> Say:
    """A full disk, or a reader that has gone away, ends no night: what it would be told is lost."""

    def told(line: str) -> None:
        with suppress(OSError):
            say(line)

    return told


def _opened(where: str, stack: ExitStack, say: Say, *, makes: bool) -> History | None:
    """The history, unless it is off or cannot be opened: a night does without.
    A plan makes none."""
    if where == OFF:
        return None
    try:
        return stack.enter_context(History.open(where, makes=makes))
    except NoHistory as error:
        if asked():  # else it is the one that the first run makes
            say(str(error).splitlines()[0])
        return None
    except LabError as error:
        say(f"this night goes on without its history: {error}")
        return None


def _environment(read: Night, where: str) -> dict[str, str]:
    """Of the runs: with the history, which a run that is told where to write has not by itself,
    and without the URLs of those who are told."""
    urls = "" if read.form.notify is None else read.form.notify.urls_env
    kept = {name: value for name, value in os.environ.items() if name != urls}
    return {**kept, VARIABLE: where}


def sharded(runs: tuple[NightRun, ...], shard: str) -> tuple[NightRun, ...]:
    """The part of a night that is this machine's; the runs of a lab are never parted. Raises
    LabError."""
    if not shard:
        return runs
    found = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", shard)
    if found is None or int(found[1]) > int(found[2]):
        raise LabError(f"--shard {shard}: give number and count, such as 2/5")
    labs = list(dict.fromkeys(run.testbed.name for run in runs))
    mine = set(labs[int(found[1]) - 1 :: int(found[2])])
    return tuple(run for run in runs if run.testbed.name in mine)


def expected_s(run: NightRun, history: History | None) -> float:
    """How long it will take, by the longest of its last runs with as many suites; 0: not known."""
    if history is None:
        return 0.0
    try:
        found = history.summaries(testbed=run.testbed.name, backend=run.backend, most=_LAST)
    except LabError:  # it was there when the night began
        return 0.0
    return max(
        (sum(test.duration_s or 0 for test in each.run.tests) for each in found), default=0.0
    )


def _plan(runs: tuple[NightRun, ...], history: History | None, say: Say) -> int:
    for run in runs:
        known = expected_s(run, history)
        lasting = f"{known / 60:.1f} min" if known else "how long is not known"
        say(f"{run.testbed.name} ({run.backend}): {lasting}")
        say(f"  {' '.join(command(run, Path('RUN-FOLDER'))[1:])}")
    return 0


def _tell(read: Night, ends: list[RunEnd], code: int, history: History | None, say: Say) -> None:
    green = sum(
        end.code == 0 and end.kept is not None and end.kept.outcome == "pass" for end in ends
    )
    title = f"labtests, {read.form.night}: {green} of {len(ends)} runs green"
    say(f"{title} (exit code {code})")
    news = []
    for end in ends:
        try:
            news += news_of(end, history)
        except LabError as error:
            say(f"{end.run.testbed.name}: {error}")
    for each in news:
        say(f"  {each.line}")
    if read.form.notify is not None:
        notify(title, news, read.form.notify, say)
