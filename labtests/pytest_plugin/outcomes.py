"""How verdicts reach pytest's terminal, its JUnit file, its HTML page, and run.json."""

import re
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from labtests.core.errors import LabError
from labtests.core.output import clean, told
from labtests.core.packed import packed
from labtests.core.printable import visible
from labtests.core.private_files import write_bytes
from labtests.core.signals import counted, noted
from labtests.experiment import Incast, NotPassed, record
from labtests.pytest_plugin import terminal
from labtests.pytest_plugin.cleaning import clean_report
from labtests.pytest_plugin.disproof import no_pass
from labtests.pytest_plugin.fixtures import (
    CHANGES_BEFORE,
    INCAST,
    UNREACHABLE_EXIT,
    UNUSABLE_EXIT,
    needs_lab,
    progress_of,
    why_no_lab,
)
from labtests.pytest_plugin.junit import add_not_run
from labtests.pytest_plugin.record import blank_test
from labtests.pytest_plugin.run import Run
from labtests.pytest_plugin.terminal import title_of
from labtests.report import trust
from labtests.report.view import label_of, standing_of
from labtests.verdicts import Outcome

PLANNED = "planned: nothing was changed and nothing was proven"
AGAIN = "interrupted again, while the lab was being put back"
LABELS = {
    Outcome.INCONCLUSIVE: ("inconclusive", "I", "INCONCLUSIVE"),
    Outcome.ERROR: ("error", "E", "ERROR"),
}
PARTS = ("setup", "call", "teardown")
_TIMEOUT = re.compile(r"Timeout \(>.*pytest-timeout")


class Labels:
    """Hooks of one run with a testbed."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._records: dict[str, dict[str, Any]] = {}
        self._running: pytest.Item | None = None  # stays when the session is cut off in it
        self._reported: list[str] = []  # its parts that are over
        self._waiting: dict[str, pytest.Item] = {}
        self._count = 0
        self._unreachable = False
        self._unwritten = False  # reports, at least in part
        self._summarised = False

    def pytest_report_header(self) -> list[str]:
        """Which lab, how far it is to be trusted, and where the results go: known before anything
        can go wrong."""
        run = self._run
        mode = ", plan" if run.asked.planning else ""
        mode += ", dry run" if run.asked.dry else ""
        head = [f"labtests: {run.testbed.name}{mode}, run folder {run.folder}"]
        head += [run.clean(f"lab: {line}") for line in run.testbed.description.splitlines()[:1]]
        if run.backend != "hardware":  # what is dialled may still say that it is emulated
            seed = run.asked.seed if run.asked.dry else None
            head.append(f"trust: {trust({'backend': run.backend, 'seed': seed})}")
        return head

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """So many tests ask the lab."""
        self._waiting = {item.nodeid: item for item in session.items if needs_lab(item)}
        self._count = len(self._waiting)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Which test of how many begins, by its case too."""
        if (item := self._waiting.pop(nodeid, None)) is not None:
            begun = self._count - len(self._waiting)
            progress_of(self._run)(f"{begun} of {self._count}: {title_of(self._blank_of(item))}")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """How it ended, before the summary of all."""
        entry = self._records.get(report.nodeid)
        if report.when == "teardown" and entry and entry["verdicts"]:
            label = label_of(standing_of(entry))
            progress_of(self._run, below=True)(f"{label} after {entry['duration_s']:.0f} s")

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """By -k, -m, --deselect, --lf: such a run is not whole."""
        self._run.picked = self._run.picked or bool(items)

    # -- while tests run ---------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Remember which test runs."""
        self._running, self._reported = item, []
        self._run.transcript.mark(item.nodeid)
        handled = yield
        self._run.transcript.mark("")
        self._running = None
        return handled

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """A control that did not go red is red, also in a test that judges nothing."""
        called = yield
        experiment = pyfuncitem.stash.get(INCAST, None)
        if experiment is not None and not all(j.as_expected for j in experiment.judged):
            raise NotPassed(experiment.judged)
        return called

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Label a red test as fail, inconclusive or error; collect its record."""
        report = yield
        self._reported.append(report.when)
        entry = self._records.setdefault(item.nodeid, self._blank_of(item))
        entry["duration_s"] += report.duration
        if report.when == "call" and report.passed and self._run.asked.planning and needs_lab(item):
            _skip(item, report)
        self._judge(entry, report, call)
        if gone := why_no_lab(call.excinfo.value if call.excinfo else None):
            self._unreachable = True
            item.session.shouldstop = gone  # neither its sessions nor the lease come back
        self._label(item, entry, report)
        clean_report(report, self._run.clean)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """What cannot be collected says why, without secrets."""
        report = yield
        clean_report(report, self._run.clean)
        if report.failed:
            blank = self._blank(report.nodeid, "could not be collected")
            error = {"outcome": Outcome.ERROR.value, "error": report.longreprtext}
            self._run.tests.append(blank | error)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: object) -> None:
        """A mistake of ours shows no secret either."""
        clean_report(excrepr, self._run.clean)

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: Any) -> None:
        """Nor does a warning."""
        warning_message.message = self._run.clean(str(warning_message.message))

    def _blank(self, nodeid: str, title: str, file: Path | None = None) -> dict[str, Any]:
        """pytest's id of a test outside of its rootdir has no file."""
        place = f"{file}{nodeid}" if file is not None and nodeid.startswith("::") else nodeid
        return blank_test(nodeid, title, self._run.asked.rerun(place))

    def _blank_of(self, item: pytest.Item) -> dict[str, Any]:
        doc = (getattr(item, "function", None) and item.function.__doc__) or item.name  # type: ignore[attr-defined]
        return self._blank(item.nodeid, doc.strip().splitlines()[0], item.path)

    def _judge(
        self, entry: dict[str, Any], report: pytest.TestReport, call: pytest.CallInfo[None]
    ) -> None:
        if report.when == "call" and report.passed:
            entry["outcome"] = Outcome.PASS.value
        if report.skipped and isinstance(report.longrepr, tuple):
            entry["error"] = report.longrepr[2].removeprefix("Skipped: ")
        if not report.failed or call.excinfo is None:
            return
        raised = call.excinfo.value
        entry["outcome"] = self._outcome_of(raised, report).value
        said = str(raised) or type(raised).__name__
        entry["error"] = "\n".join(filter(None, [entry["error"], said]))  # of call, then teardown
        if isinstance(raised, NotPassed | LabError):
            report.longrepr = str(raised)  # the sentence, not our stack

    def _outcome_of(self, raised: BaseException, report: pytest.TestReport) -> Outcome:
        if report.when != "call" or self._run.asked.planning:  # a plan has no evidence to fail on
            return Outcome.ERROR
        if isinstance(raised, NotPassed):
            return raised.outcome
        if isinstance(raised, pytest.fail.Exception):
            return Outcome.ERROR if _TIMEOUT.match(str(raised)) else Outcome.FAIL
        return Outcome.FAIL if isinstance(raised, AssertionError) else Outcome.ERROR

    def _label(self, item: pytest.Item, entry: dict[str, Any], report: pytest.TestReport) -> None:
        report.labtests_outcome = entry["outcome"]  # type: ignore[attr-defined]
        report.user_properties = [*item.user_properties, *self._properties(item, entry)]
        if report.when == "teardown":
            with noted() as signalled:  # the test is over: what it has found is kept
                self._complete(item, entry)
            if signalled:
                item.session.shouldstop = item.session.shouldstop or _cut_off_by(signalled.name)

    def _properties(self, item: pytest.Item, entry: dict[str, Any]) -> list[tuple[str, object]]:
        """What JUnit shows of a test; the dry run is stamped there as well."""
        experiment = item.stash.get(INCAST, None)
        return [
            ("backend", self._run.backend),
            ("outcome", entry["outcome"]),
            *(
                ("control" if judged.control else "verdict", str(judged.verdict))
                for judged in (experiment.judged if experiment else ())
            ),
        ]

    def _complete(self, item: pytest.Item, entry: dict[str, Any]) -> None:
        """The test's record is whole: it joins the run's."""
        try:
            self._add_evidence(item, entry)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other tests are told
            self._not_written(item.session, error)
        clean = self._run.transcript.redaction.value(entry)
        entry.update(clean)
        self._run.tests.append(entry)

    def _add_evidence(self, item: pytest.Item, entry: dict[str, Any]) -> None:
        experiment = item.stash.get(INCAST, None)
        if experiment is None:
            return
        entry.update(record.of_incast(experiment))
        made = experiment.lab.changes[item.stash[CHANGES_BEFORE] :]
        entry["changes"] = record.of_changes(made)
        if experiment.phases:
            _save_tables(self._run.folder / "tests", item.name, experiment)

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """`I` and INCONCLUSIVE in the terminal, and its own group in the totals."""
        outcome = getattr(report, "labtests_outcome", None)
        if getattr(report, "when", "") == "call" and report.failed and outcome in LABELS:
            return LABELS[Outcome(outcome)]
        return None

    # -- the HTML page -----------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_report_title(self, report: Any) -> None:
        """The page's title names the lab, and says when it is not hardware."""
        real = self._run.backend == "hardware"
        stamp = "" if real else f" ({self._run.backend.upper()})"
        report.title = f"labtests: {self._run.testbed.name}{stamp}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """The page: its frame is pytest-html's."""
        prefix.append(self._run.body())

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_html_results_table_header(self, cells: list[str]) -> None:
        """Its list and its counts would be a second one: it leaves inconclusive tests out."""
        cells.clear()

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_html_results_table_row(self, cells: list[str]) -> None:
        """A row without cells is neither kept nor counted."""
        cells.clear()

    # -- the end -----------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_keyboard_interrupt(
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> Generator[None, Any, Any]:
        """Why the session was cut off: Ctrl-C, a signal, or a lab that cannot be used. A second
        Ctrl-C while pytest puts the first into words ends nothing: the lab is put back next."""
        said = str(excinfo.value)
        by_exit = isinstance(excinfo.value, pytest.exit.Exception | pytest.Session.Interrupted)
        self._run.problem = self._run.problem or (said if by_exit else _cut_off_by(said))
        with counted():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Iterator[None]:
        """The lab is put back before the reporters write, and the test that was cut off is in all
        of their files. run.json is written last, whatever happened. A signal that comes when the
        lab is back changes nothing: the run is told to its end."""
        if self._unreachable:
            session.exitstatus = UNREACHABLE_EXIT
        self._run.exit_code = int(session.exitstatus)
        telling = ExitStack()
        session.config.add_cleanup(telling.close)
        try:
            self._end_running(session)
            telling.enter_context(noted())
            self._prove(session)
            self._run.leave_out(getattr(session, "items", []))
            self._stamp_junit()
            self._run.write_page()
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, run.json is written
            self._not_written(session, error)
        finally:
            self._finish(session, exitstatus)

    def _finish(self, session: pytest.Session, exitstatus: int) -> None:
        self._run.leave_out(getattr(session, "items", []))
        self._run.exit_code = int(session.exitstatus)
        try:
            self._run.finish()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            self._not_written(session, error)
        if exitstatus in terminal.WITHOUT_SUMMARY or self._unwritten:
            title = "a report is missing" if self._unwritten else "no verdict"
            terminal.print_problem(self._run, title, summarised=self._summarised)

    def _not_written(self, session: pytest.Session, error: Exception) -> None:
        """What has no report is not a pass."""
        problem = f"reports are missing or incomplete: {_why(error)}"
        self._run.problem = "\n".join(dict.fromkeys(filter(None, [self._run.problem, problem])))
        self._unwritten = True
        session.exitstatus = max(session.exitstatus, pytest.ExitCode.TESTS_FAILED)

    def _prove(self, session: pytest.Session) -> None:
        """A lab that is not as it was found makes the run red, whatever its verdicts are. Where
        that is not even known, none of them is a pass."""
        if problem := self._run.proof.problem:
            session.exitstatus = max(int(session.exitstatus), UNUSABLE_EXIT)
            self._run.exit_code = int(session.exitstatus)
            self._run.problem = "\n".join(filter(None, [self._run.problem, problem]))
            if self._run.proof.unknown:
                no_pass(session, self._run, problem)

    def _end_running(self, session: pytest.Session) -> None:
        """What pytest would do later, after JUnit's file is written: fixtures are torn down."""
        ended = pytest.CallInfo.from_call(
            lambda: session._setupstate.teardown_exact(None), "teardown"
        )
        left = str(ended.excinfo.value) if ended.excinfo else ""
        if ended.excinfo is not None and ended.excinfo.errisinstance(KeyboardInterrupt):
            left = AGAIN
            self._run.abandon_lab()
        self._run.problem = "\n".join(filter(None, [self._run.problem, left]))
        if self._running is not None:
            self._report_cut_off(self._running)

    def _report_cut_off(self, item: pytest.Item) -> None:
        """As an error of the part of the test that was cut off, and of the whole test."""
        problem = self._run.problem or "interrupted"
        entry = self._records.setdefault(item.nodeid, self._blank_of(item))
        entry |= {"outcome": Outcome.ERROR.value, "error": problem}
        parts: list[tuple[Any, Any, str | None]] = [("teardown", "passed", None)]
        cut_off = PARTS[min(len(self._reported), 2)]
        parts[: cut_off == "teardown"] = [(cut_off, "failed", problem)]
        for when, outcome, said in parts:
            report = pytest.TestReport(
                item.nodeid, item.location, {item.name: 1}, outcome, said, when
            )
            self._label(item, entry, report)
            clean_report(report, self._run.clean)
            item.ihook.pytest_runtest_logreport(report=report)

    def _stamp_junit(self) -> None:
        """The file and each of its tests; the type says which kind of red it is."""
        from _pytest.junitxml import xml_key

        if (xml := self._run.config.stash.get(xml_key, None)) is None:
            return
        add_not_run(xml, self._run)
        xml.add_global_property("backend", self._run.backend)
        xml.add_global_property("testbed", self._run.testbed.name)
        for reporter in xml.node_reporters_ordered:
            case = reporter.to_xml()
            outcome = case.find("properties/property[@name='outcome']")
            kind = Outcome.FAIL.value if outcome is None else outcome.get("value", "")
            for failure in case.findall("failure"):
                failure.set("type", kind)
            for error in case.findall("error"):
                error.set("type", Outcome.ERROR.value)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Verdicts with their controls, or the plan, and where the report is."""
        self._summarised = True
        terminal.print_summary(terminalreporter, self._run)


def _cut_off_by(signal: str) -> str:
    """In words; "" is Ctrl-C's, as is its signal."""
    return f"interrupted by {'Ctrl-C' if signal in ('', 'SIGINT') else signal}"


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        said = error.strerror or str(error)
        return f"{error.filename}: {said}" if error.filename else said
    return told(f"{type(error).__name__}: {error} (a defect of labtests)")


def _skip(item: pytest.Item, report: pytest.TestReport) -> None:
    """A planned test is not a pass."""
    path, line, _ = item.location
    report.outcome, report.longrepr = "skipped", (path, line or 0, PLANNED)


def _save_tables(folder: Path, name: str, experiment: Incast) -> None:
    """All readings of each phase as one tidy CSV table beside the report."""
    from labtests.measure.telemetry import table

    plain = re.sub(r"[^\w.,=+-]", "_", name).lstrip(".") or "test"
    target, number = folder / plain, 1
    while target.exists():  # another module has a test of this name
        number += 1
        target = folder / f"{plain}-{number}"
    target.mkdir(parents=True)
    for number, phase in enumerate(experiment.phases, start=1):
        seen = phase.evidence
        frame = table((*seen.quiet_before, *seen.before, *seen.samples, *seen.after))
        for column in ("device", "port", "counter", "unit", "source", "missing"):
            hidden = {text: clean(text) for text in frame[column].unique()}
            frame[column] = frame[column].map(hidden)  # CSV doubles quotes: it would not be known
        content = packed(visible(frame.to_csv(index=False)).encode())
        write_bytes(target / f"phase-{number}-counters.csv.gz", content)
