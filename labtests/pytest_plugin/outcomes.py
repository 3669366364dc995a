"""How verdicts reach pytest's terminal, its JUnit file, its HTML page, and run.json."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_html import extras

from labtests.errors import LabError
from labtests.experiment import NotPassed, record
from labtests.pytest_plugin.fixtures import CHANGES_BEFORE, INCAST
from labtests.pytest_plugin.run import Run
from labtests.report import css, summary_html, test_html
from labtests.verdicts import Outcome

PLANNED = "planned: nothing was changed and nothing was proven"
INTERRUPTED = "interrupted before its verdict"
LABELS = {
    Outcome.INCONCLUSIVE: ("inconclusive", "I", "INCONCLUSIVE"),
    Outcome.ERROR: ("error", "E", "ERROR"),
}


class Labels:
    """Hooks of one run with a testbed."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._records: dict[str, dict[str, Any]] = {}
        self._begun: dict[str, pytest.Item] = {}  # tests without a finished record

    # -- while tests run ---------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Label a red test as fail, inconclusive or error; collect its record."""
        report = yield
        entry = self._records.setdefault(item.nodeid, self._blank(item))
        self._begun[item.nodeid] = item
        entry["duration_s"] += report.duration
        self._judge(entry, report, call)
        if report.when == "call" and report.passed and self._planned:
            _skip(item, report, entry)
        if report.when == "call":
            report.labtests_outcome = entry["outcome"]  # type: ignore[attr-defined]
            self._stamp(item, entry)
        if report.when == "teardown":
            self._complete(item, entry)
            report.extras = [extras.html(test_html(entry))]  # type: ignore[attr-defined]
        return report

    def _blank(self, item: pytest.Item) -> dict[str, Any]:
        doc = (getattr(item, "function", None) and item.function.__doc__) or item.name  # type: ignore[attr-defined]
        return {
            "id": item.nodeid,
            "title": doc.strip().splitlines()[0],
            "outcome": "skipped",
            "duration_s": 0.0,
            "error": None,
            "rerun": self._run.rerun(item.nodeid),
            "verdicts": [],
            "phases": [],
            "changes": [],
        }

    def _judge(
        self, entry: dict[str, Any], report: pytest.TestReport, call: pytest.CallInfo[None]
    ) -> None:
        if report.when == "call" and report.passed:
            entry["outcome"] = Outcome.PASS.value
        if not report.failed or call.excinfo is None:
            return
        raised = call.excinfo.value
        entry["outcome"] = _outcome_of(raised, report).value
        entry["error"] = str(raised) or type(raised).__name__
        if isinstance(raised, NotPassed | LabError):
            report.longrepr = str(raised)  # the sentence, not our stack

    def _stamp(self, item: pytest.Item, entry: dict[str, Any]) -> None:
        """The dry run is stamped in JUnit as well."""
        properties: list[tuple[str, object]] = [
            ("backend", self._run.backend),
            ("outcome", entry["outcome"]),
        ]
        if (experiment := item.stash.get(INCAST, None)) is not None:
            properties += [
                ("control" if judged.control else "verdict", str(judged.verdict))
                for judged in experiment.judged
            ]
        item.user_properties += properties  # junitxml takes those of the teardown report

    @property
    def _planned(self) -> bool:
        return self._run.lab is not None and self._run.lab.planned is not None

    def _complete(self, item: pytest.Item, entry: dict[str, Any]) -> None:
        """The test's record is whole: it joins the run's."""
        experiment = item.stash.get(INCAST, None)
        if experiment is not None:
            made = experiment.lab.changes[item.stash[CHANGES_BEFORE] :]
            entry["changes"] = record.of_changes(made)
        if experiment is not None and not self._planned:
            entry.update(record.of_incast(experiment))
            _save_tables(self._run.folder / "tests", item, experiment)
        self._run.tests.append(entry)
        self._begun.pop(item.nodeid, None)

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """`I` and INCONCLUSIVE in the terminal, and its own group in the totals."""
        outcome = getattr(report, "labtests_outcome", None)
        if getattr(report, "when", "") == "call" and report.failed and outcome in LABELS:
            return LABELS[Outcome(outcome)]
        return None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """JUnit's failure type says which kind of red it is."""
        from _pytest.junitxml import xml_key

        xml = self._run.config.stash.get(xml_key, None)
        if xml is None or report.when != "call" or not report.failed:
            return
        for node in xml.node_reporter(report).nodes:
            if node.tag == "failure":
                node.set("type", getattr(report, "labtests_outcome", Outcome.FAIL.value))

    # -- the HTML page -----------------------------------------------------------------------

    def pytest_html_report_title(self, report: Any) -> None:
        """The page's title names the lab, and says when it is simulated."""
        stamp = " (SIMULATED)" if self._run.backend == "simulated" else ""
        report.title = f"labtests: {self._run.testbed.name}{stamp}"

    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """The first screen: lab, backend, verdicts; tests that were cut off among them."""
        run = self._run.as_json()
        run["tests"] = [*run["tests"], *(self._records[nodeid] for nodeid in self._begun)]
        prefix.extend([f"<style>{css()}</style>", summary_html(run)])

    def pytest_html_results_table_row(self, report: Any, cells: list[str]) -> None:
        """The result column says Inconclusive where pytest only knows Failed."""
        outcome = getattr(report, "labtests_outcome", None)
        if outcome in LABELS and cells:
            cells[0] = f'<td class="col-result">{LABELS[Outcome(outcome)][2].capitalize()}</td>'

    # -- the end -----------------------------------------------------------------------------

    def pytest_keyboard_interrupt(self) -> None:
        """A test that was cut off has a record too, and it is no pass."""
        self._run.problem = self._run.problem or "interrupted: tests are missing or without verdict"
        for item in self._begun.values():
            self._records[item.nodeid] |= {"outcome": Outcome.ERROR.value, "error": INTERRUPTED}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Iterator[None]:
        """The whole JUnit file is stamped. run.json is written last, when the lab has been put
        back, whatever happened."""
        from _pytest.junitxml import xml_key

        self._run.exit_code = int(exitstatus)
        if (xml := self._run.config.stash.get(xml_key, None)) is not None:
            xml.add_global_property("backend", self._run.backend)
            xml.add_global_property("testbed", self._run.testbed.name)
        try:
            return (yield)
        finally:
            for item in tuple(self._begun.values()):
                self._complete(item, self._records[item.nodeid])
            self._run.finish()

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Verdicts with their controls, or the plan, and where the report is."""
        if self._planned:
            _print_plan(terminalreporter, self._run)
            return
        terminalreporter.section(f"verdicts ({self._run.backend})")
        cut_off = [self._records[nodeid] for nodeid in self._begun]
        for entry in [*self._run.tests, *cut_off]:
            _print_verdicts(terminalreporter, entry)
        if self._run.problem:
            terminalreporter.write_line(self._run.problem, red=True)
        terminalreporter.write_line(f"report: {self._run.config.option.htmlpath}")
        terminalreporter.write_line(f"run folder: {self._run.folder}")


def _skip(item: pytest.Item, report: pytest.TestReport, entry: dict[str, Any]) -> None:
    """A planned test is no pass."""
    path, line, _ = item.location
    report.outcome, report.longrepr = "skipped", (path, line or 0, PLANNED)
    entry["outcome"] = "skipped"


def _outcome_of(raised: BaseException, report: pytest.TestReport) -> Outcome:
    if isinstance(raised, NotPassed) and report.when == "call":
        return raised.outcome
    if report.when == "call" and isinstance(raised, AssertionError):
        return Outcome.FAIL
    return Outcome.ERROR


def _save_tables(folder: Path, item: pytest.Item, experiment: Any) -> None:
    """All readings of each phase as one tidy CSV table beside the report."""
    from labtests.telemetry import table

    target = folder / item.name
    target.mkdir(parents=True, exist_ok=True)
    for number, phase in enumerate(experiment.phases, start=1):
        seen = phase.evidence
        readings = (*seen.quiet_before, *seen.before, *seen.samples, *seen.after)
        table(readings).to_csv(target / f"phase-{number}-counters.csv", index=False)


def _print_verdicts(terminal: pytest.TerminalReporter, entry: dict[str, Any]) -> None:
    colour = {"pass": "green", "inconclusive": "yellow"}.get(entry["outcome"], "red")
    terminal.write_line(f"{entry['outcome'].upper():<13} {entry['title']}", **{colour: True})
    for verdict in entry["verdicts"]:
        if verdict["role"] == "main":
            line = f"{verdict['outcome']}: {verdict['because']}"
        elif verdict["as_expected"]:
            line = f"control red, as it must be ({verdict['phase']}): {verdict['because']}"
        else:
            line = f"CONTROL DID NOT GO RED ({verdict['phase']}): {verdict['because']}"
        terminal.write_line(f"    {line}")
    if entry["error"] and not entry["verdicts"]:
        terminal.write_line(f"    {entry['error']}")


def _print_plan(terminal: pytest.TerminalReporter, run: Run) -> None:
    terminal.section("plan: nothing was changed")
    assert run.lab is not None
    for device in run.testbed.devices:
        changes = [change for change in run.lab.changes if change.device == device.name]
        commands = [(change, line) for change in changes for line in change.commands]
        terminal.write_line(f"{device.name}:")
        for change, line in commands:
            terminal.write_line(f"    {line}{'    # put back' if change.undo else ''}")
        if not commands:
            terminal.write_line("    nothing to change")
