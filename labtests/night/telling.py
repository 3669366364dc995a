"""Whom a night's end concerns, and how they are told: by the package apprise, which knows mail,
Slack, Teams, webhooks and more. Its URLs have secrets in them and come from the environment only.
"""

import importlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from labtests.core.output import clean, used
from labtests.history.store import History, KeptSummary
from labtests.history.trends import moved
from labtests.night.form import NotifyForm
from labtests.night.running import RunEnd

Say = Callable[[str], None]
_RED = ("fail", "error", "inconclusive")
_MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class News:
    """One thing that somebody wants to know, and on which occasion."""

    occasion: str
    line: str


def news_of(end: RunEnd, history: History | None) -> list[News]:
    """What a run's end has of it. Without a history nothing is known of earlier nights."""
    run, link = end.run, end.folder / "report.html"
    head = f"{run.testbed.name} ({run.backend})"
    if end.why:
        return [News("red", f"{head}: not run: {end.why}")]
    if end.kept is None:
        return [News("red", f"{head}: ERROR, exit code {end.code}; no report")]
    if end.kept.outcome in _RED:
        red = [test for test in end.kept.tests if test.outcome in _RED]
        names = ", ".join(f"{test.title or test.name} ({test.outcome})" for test in red[:3])
        more = f" and {len(red) - 3} more" if len(red) > 3 else ""
        problem = end.kept.problem.partition("\n")[0]
        what = f"{names}{more}" or problem
        return [News("red", f"{head}: {end.kept.outcome.upper()}: {what}; {link}")]
    if history is None:
        return []
    earlier = _earlier(end, history)
    found = [News("margin", f"{head}: {line}; {link}") for line in _shrunk(end, history)]
    if earlier and earlier[0].run.outcome in _RED:
        since = next((each for each in earlier if each.run.outcome not in _RED), None)
        was = "" if since is None else f", for the first time since {since.run.when}"
        found.append(News("first-green", f"{head}: PASS{was}; {link}"))
    return found


def _earlier(end: RunEnd, history: History) -> list[KeptSummary]:
    """Runs of this lab before this one, newest first; none that was broken on purpose."""
    assert end.kept is not None
    found = history.summaries(testbed=end.kept.testbed, backend=end.kept.backend)
    sound = (each for each in found if each.run.faults == "[]")
    return [each for each in sound if each.run.identity != end.kept.identity]


def _shrunk(end: RunEnd, history: History) -> list[str]:
    """Margins that are smaller since this run."""
    assert end.kept is not None
    rows = history.margins(testbed=end.kept.testbed, backend=end.kept.backend)
    newest = rows[-1]["run"] if rows else 0
    return [
        f"a margin shrinks: {shift}"
        for shift in moved(rows)
        if shift.shrunk and shift.run == newest
    ]


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
    if wrong:
        return f"not everybody is told: {wrong} URLs are none that apprise knows"
    if not sent:
        return "not everybody is told: a service did not take it"
    return f"told: {len(urls)} services"
