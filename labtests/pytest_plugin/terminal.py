"""What a run prints at its end: verdicts with their controls, or the plan; and where it all is."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from labtests.experiment import Span
from labtests.profile.rendering import command_lines
from labtests.pytest_plugin.fixtures import UNREACHABLE_EXIT, UNUSABLE_EXIT
from labtests.pytest_plugin.run import Run
from labtests.recovery.snapshot.command import lines
from labtests.report import in_short
from labtests.report.suites import case_of
from labtests.report.view import LABELS, UNJUDGED, label_of, standing_of
from labtests.verdicts import right_control, wrong_control

WITHOUT_SUMMARY = frozenset({UNUSABLE_EXIT, UNREACHABLE_EXIT})
"""Exit codes after which pytest prints no summary by itself."""

_WIDE = 13
_COLOURS = {"pass": "green", "inconclusive": "yellow", "skipped": "yellow", UNJUDGED: "yellow"}


def print_summary(terminal: pytest.TerminalReporter, run: Run) -> None:
    """Verdicts, or the plan."""
    if run.asked.planning:
        _print_plan(terminal, run)
    elif run.tests:
        terminal.section(f"verdicts ({run.backend})")
    for entry in run.tests:
        if not run.asked.planning or entry["outcome"] != "skipped":
            _print_verdicts(_PlainLines(terminal, run), entry)
    if run.not_run:
        terminal.write_line(f"not run: {', '.join(run.not_run)}", yellow=True)
    _print_proof(terminal, run)
    _print_not_met(terminal, run)
    if run.tests and not run.asked.planning:
        terminal.section("in short")
        for word, said in in_short(run.as_json()):
            colour = _COLOURS.get(word, "red") if word.upper() in LABELS.values() else "bold"
            terminal.write_line(run.clean(f"{word + ':':<{_WIDE}} {said}"), **{colour: True})
    _print_places(terminal, run)


def print_problem(run: Run, title: str, *, summarised: bool) -> None:
    """Why the lab could not be used, or a report not be written, where pytest prints no summary by
    itself; and what is known, if nobody has said it yet."""
    terminal = run.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None:
        return
    terminal.write_line("")  # a row of dots may stand there
    unsaid = not summarised and any(entry["verdicts"] for entry in run.tests)
    if unsaid:
        print_summary(terminal, run)
    terminal.section(title)
    terminal.write_line(run.clean(run.problem), red=True)
    if not unsaid:
        _print_not_met(terminal, run)
        _print_places(terminal, run)


def _print_proof(terminal: pytest.TerminalReporter, run: Run) -> None:
    if run.proof.differences == ():
        terminal.write_line("lab restored: settings, links and versions match the initial snapshot")
    for line in run.lab.overridden if run.lab else ():
        terminal.write_line(run.clean(line), yellow=True)
    for line in lines(run.proof.differences or ()):
        terminal.write_line(line, red=True)
    if run.proof.red:
        terminal.write_line(run.proof.problem, red=True)


def _print_not_met(terminal: pytest.TerminalReporter, run: Run) -> None:
    for each in run.timed_faults.not_met:
        terminal.write_line(run.clean(f"fault not met: {each['fault']}: {each['why']}"), red=True)


def _print_places(terminal: pytest.TerminalReporter, run: Run) -> None:
    if run.left:
        terminal.write_line(run.left, red=True)
    if run.transcript.problem:
        terminal.write_line(run.clean(f"journal cut off: {run.transcript.problem}"), red=True)
    if run.has_page:
        terminal.write_line(f"report: {run.page}")
    else:
        terminal.write_line(f"no report: {run.page} could not be written whole", red=True)
    terminal.write_line(f"run folder: {run.folder}")


class _PlainLines:
    """Lines that may hold a device's words."""

    def __init__(self, terminal: pytest.TerminalReporter, run: Run) -> None:
        self._terminal, self._run = terminal, run

    def write_line(self, line: str, **markup: bool) -> None:
        """Without secrets, and without what a terminal would obey."""
        self._terminal.write_line(self._run.clean(line), **markup)


def title_of(entry: dict[str, Any]) -> str:
    """Of a parametrised test with its case."""
    case = case_of(entry)
    return f"{entry['title']} [{case}]" if case else str(entry["title"])


def _print_verdicts(terminal: _PlainLines, entry: dict[str, Any]) -> None:
    colour = _COLOURS.get(standing_of(entry), "red")
    label = label_of(standing_of(entry))
    terminal.write_line(f"{label:<13} {title_of(entry)}", **{colour: True})
    if label == label_of(UNJUDGED):
        terminal.write_line("    no verdict was asked for")
    for verdict in entry["verdicts"]:
        if verdict["role"] == "main":
            line = f"{verdict['outcome']}: {verdict['because']}"
        elif verdict["as_expected"]:
            what = f"negative control {right_control(verdict['expected'])}"
            line = f"{what} ({verdict['phase']}): {verdict['because']}"
        else:
            what = wrong_control(verdict["outcome"], verdict["expected"])
            line = f"{what} ({verdict['phase']}): {verdict['because']}"
        terminal.write_line(f"    {line}")
    if entry["error"] and (entry["outcome"] in ("error", "skipped") or not entry["verdicts"]):
        for line in entry["error"].splitlines():
            terminal.write_line(f"    {line}")


def _print_plan(terminal: pytest.TerminalReporter, run: Run) -> None:
    terminal.section(f"plan: nothing was changed ({run.backend})")
    made = run.lab.changes if run.lab is not None else []
    plan = run.lab.planned if run.lab is not None else None
    for device in run.testbed.devices:
        changes = [change for change in made if change.device == device.name]
        for line in command_lines(device.name, changes):
            terminal.write_line(run.clean(line))
        for own in plan.beside.get(device.name, ()) if plan is not None else ():
            terminal.write_line(run.clean(f"    issued by the suite: {own}"))
    for line in _times(run.spans):
        terminal.write_line(run.clean(line))


def _times(spans: Mapping[str, Span]) -> Iterator[str]:
    """How long a run takes, test by test and together."""
    if not spans:
        return
    yield "estimated duration (lab time, excluding command latency; docs/pace.md):"
    for test, span in spans.items():
        yield f"    {_at_least(span)}  {test}"
    yield f"    {_at_least(sum(spans.values(), Span(least_s=0.0, most_s=0.0)))}  together"


def _at_least(span: Span) -> str:
    return f"{_in_words(span.least_s)}, {_in_words(span.most_s)} at most"


def _in_words(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, left_s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {left_s} s"
