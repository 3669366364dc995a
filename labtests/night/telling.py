"""Whom a night's end concerns, and how they are told: by the package apprise, which knows mail,
Slack, Teams, webhooks and more. Its URLs have secrets in them and come from the environment only.
"""

import importlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from labtests.core.output import clean, used
from labtests.history.records import KeptRun
from labtests.history.store import History, KeptSummary
from labtests.history.trends import moved, that_day
from labtests.night.form import NotifyForm
from labtests.night.running import RunEnd
from labtests.report import in_short
from labtests.report.runs import UnreadableRun, read_head

Say = Callable[[str], None]
_RED = ("fail", "error", "inconclusive")
INTERRUPTED = 2
"""pytest's exit code after Ctrl-C, or a signal."""
_MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class News:
    """One thing that somebody wants to know, and on which occasion."""

    occasion: str
    line: str


def news_of(end: RunEnd, history: History | None) -> list[News]:
    """What a run's end has of it. Without a history nothing is known of earlier nights."""
    head, link = end.head, end.folder / "report.html"
    if end.why:
        return [News("red", f"{head}: not run: {end.why}")]
    if end.kept is None:
        return [News("red", f"{head}: ERROR, exit code {end.code}; no report, but {end.log}")]
    if end.kept.outcome in _RED:
        return [News("red", f"{head}: {end.kept.outcome.upper()}: {_why(end)}; {link}")]
    if history is None:
        return []
    past = _Past.of(end.kept, history)
    found = [News("margin", f"{head}: {line}; {link}") for line in past.shrunk()]
    if past.was_red():
        since = next((each.run.when for each in past.runs if not past.is_red(each)), "")
        was = since and f", for the first time since {since}"
        found.append(News("first-green", f"{head}: PASS{was}; {link}"))
    return found


def _why(end: RunEnd) -> str:
    """The sentence at the top of its page; without a page the red tests."""
    assert end.kept is not None
    try:
        return dict(in_short(read_head(end.folder)))["answer"]
    except UnreadableRun:
        red = [test for test in end.kept.tests if test.outcome in _RED]
        told = [f"{test.title or test.name} ({test.outcome}): {test.reason}" for test in red[:3]]
        more = [f"{len(red) - 3} more"] if len(red) > 3 else []
        return "; ".join(filter(None, [end.kept.problem.partition("\n")[0], *told, *more]))


@dataclass(frozen=True, slots=True)
class _Past:
    """What of a history is older than a run: `runs`, newest first, that had one of its tests, none
    of them broken on purpose. A night may have several runs of a lab, and all of them are in the
    history when the first one's news is told. `number` of the run; None where it is not entered."""

    history: History
    kept: KeptRun
    number: int | None
    numbers: tuple[int, ...]
    runs: tuple[KeptSummary, ...]

    @classmethod
    def of(cls, kept: KeptRun, history: History) -> "_Past":
        """Of a run that has ended."""
        found = history.summaries(testbed=kept.testbed, backend=kept.backend)
        at = next((n for n, each in enumerate(found) if each.run.identity == kept.identity), None)
        if at is None:
            before = [each for each in found if each.run.started < kept.started]
        else:
            before = found[at + 1 :]
        names = {test.name for test in kept.tests}
        same = (each for each in before if names & _said(each.run))
        return cls(
            history,
            kept,
            None if at is None else found[at].number,
            tuple(each.number for each in before),
            tuple(each for each in same if each.run.faults == "[]"),
        )

    def was_red(self) -> bool:
        """Whether the last run before was, as far as this one has asked the same."""
        return bool(self.runs) and self.is_red(self.runs[0])

    def is_red(self, each: KeptSummary) -> bool:
        """Whether one of these tests was, or the lab."""
        names = {test.name for test in self.kept.tests}
        answers = each.run.answers.items()
        lab_lost = each.run.exit_code not in (0, 1, INTERRUPTED)
        return lab_lost or any(name in names and word in _RED for name, word in answers)

    def shrunk(self) -> list[str]:
        """Margins that are smaller since this run."""
        if self.number is None:
            return []
        lab = {"testbed": self.kept.testbed, "backend": self.kept.backend}
        rows = self.history.margins(**lab, runs=(*self.numbers, self.number))
        return [
            "; ".join((f"a margin shrinks: {shift}", *[*that_day(self.history, shift)][1:]))
            for shift in moved(rows)
            if shift.shrunk and shift.run == self.number
        ]


def _said(run: KeptRun) -> set[str]:
    """The tests that a run says something of: one that somebody ended is no red night."""
    whole = run.exit_code != INTERRUPTED
    return {test.name for test in run.tests} if whole else {*run.answers}


def notify(title: str, news: Sequence[News], form: NotifyForm, say: Say) -> None:
    """Whoever wants to know is told; when that fails it is said here, and nothing else happens."""
    wanted = [each.line for each in news if each.occasion in form.when]
    urls = os.environ.get(form.urls_env, "").split()
    if not wanted:
        return
    if not urls:
        say(f"nobody is told: {form.urls_env} is not set")
        return
    for url in urls:
        used(url)
    body = clean("\n".join(wanted[:_MOST_LINES]))
    if len(wanted) > _MOST_LINES:
        body += f"\n... and {len(wanted) - _MOST_LINES} more"
    say(_sent(title, body, urls))


def _sent(title: str, body: str, urls: Sequence[str]) -> str:
    try:
        apprise = importlib.import_module("apprise")
    except ImportError:
        return "nobody is told: that needs the package apprise: pip install 'labtests[notify]'"
    logging.getLogger("apprise").setLevel(logging.CRITICAL)  # it names the URL
    told = apprise.Apprise()
    try:
        wrong = sum(not told.add(url) for url in urls)
        sent = bool(len(told)) and told.notify(title=title, body=body)
    except Exception as error:  # noqa: BLE001 of somebody else's plugin: no night fails of it
        return f"not everybody is told: {type(error).__name__}"
    why = [f"apprise knows nothing of {wrong} of {len(urls)} URLs"] if wrong else []
    why += ["a service did not take it"] if len(told) and not sent else []
    if why:
        return f"not everybody is told: {'; '.join(why)}"
    return f"told: {len(told)} of {len(urls)} services"
