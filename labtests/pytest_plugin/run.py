"""One run: its folder, its transcript, its lab, and what is left in run.json."""

import os
import secrets
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from labtests import __version__
from labtests.core.clock import WallClock
from labtests.core.errors import LabError
from labtests.core.output import tell
from labtests.core.private_files import replace_private, write_private
from labtests.core.redaction import redacted_logs
from labtests.experiment import Span
from labtests.inventory import Testbed, load
from labtests.lab.changes import Planned
from labtests.lab.lab import Lab
from labtests.lab.streaming import expect_packages, open_streams
from labtests.lease.holding import Terms, holding, tried_until
from labtests.measure.evidence import Refresh
from labtests.profile import planning
from labtests.pytest_plugin.cleaning import cleaner
from labtests.pytest_plugin.command_line import CommandLine
from labtests.pytest_plugin.commit import commit_of
from labtests.pytest_plugin.folder import default_reports, home, made, point_latest
from labtests.pytest_plugin.options import (
    asked_profile,
    asked_run_directory,
    asked_testbed,
    option,
    testbed_source,
)
from labtests.pytest_plugin.preflight import Preflight, versions_of
from labtests.pytest_plugin.proof import Proof
from labtests.pytest_plugin.record import Versions, lab_record
from labtests.pytest_plugin.timed_faults import TimedFaults
from labtests.recovery import expect_put_back
from labtests.recovery.opening import change_journal
from labtests.recovery.snapshot.session import faults_of, simulation
from labtests.report import (
    FORMAT,
    WHOLE_EXITS,
    Past,
    body,
    earlier_run,
    page,
    past_of,
    sealed,
    write_run,
)
from labtests.transport.chronicle import COMPRESSED, NAME, Chronicle
from labtests.transport.ssh.passwords import names_of_passwords, passwords_of
from labtests.transport.transcript import Transcript
from labtests.watching.export import Exporting, WantedExports

MODELLED = (
    "packets, shared buffer, PFC, WRED/ECN, DCQCN and go-back-N of a switch and its hosts; not "
    "firmware, cables, optics or vendor defects (docs/simulated-lab.md)."
)

_END_BYTES = 64


def _end_exports(exporting: Exporting, say: Callable[[str], None]) -> None:
    exporting.close()
    for sentence in exporting.missing:
        say(sentence)


@dataclass(slots=True)
class Run:
    """Everything about one run of the suites. Ends with `finish`."""

    config: pytest.Config
    testbed: Testbed
    folder: Path
    transcript: Transcript
    started: datetime
    id: str
    timed_faults: TimedFaults
    asked: CommandLine
    tests: list[dict[str, Any]] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    versions: Versions = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)  # how long each planned test would take
    logs: ExitStack = field(default_factory=ExitStack)
    lease: ExitStack = field(default_factory=ExitStack)
    exports: ExitStack = field(default_factory=ExitStack)  # of what is streamed
    lab: Lab | None = None
    proof: Proof = field(init=False)
    preflight: Preflight = field(init=False)
    process: Any = None
    refresh: Refresh | None = None  # of the switches' counters, once it has been measured
    problem: str = ""
    history_problem: str = ""  # why it could not be asked
    exit_code: int | None = None
    picked: bool = False  # some tests were left out on purpose

    def __post_init__(self) -> None:
        self.proof = Proof(self.folder)
        self.preflight = Preflight(self.folder)

    @classmethod
    def begin(cls, config: pytest.Config) -> "Run":
        """Read the testbed and make the run folder. Raises InventoryError, NotPrivate."""
        path = asked_testbed(config)
        assert path is not None
        testbed = load(testbed_source(config, path))
        asked = CommandLine(config, asked_profile(config))
        faults = faults_of(testbed, option(config, "fault"))  # a wrong one leaves no folder
        started = datetime.now(UTC)
        name = f"{started:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        folder = asked_run_directory(config) or home(config) / "reports" / testbed.name / name
        transcript = Transcript(made(folder) / NAME, secrets=_secrets(config, testbed))
        default_reports(config, folder)
        timed = TimedFaults(faults)
        run = cls(config, testbed, folder, transcript, started, name, timed, asked)
        run.logs.enter_context(redacted_logs(transcript.redaction))
        return run

    @property
    def backend(self) -> str:
        """The word that every verdict is stamped with. Emulated devices say so themselves, so a
        lab that somebody serves by hand is stamped as well."""
        if self.lab is not None:
            return self.lab.backend
        real = "hardware" if self.testbed.linux_lab is None else "namespaces"
        return "simulated" if self.asked.dry else real

    @property
    def page(self) -> Path:
        """The HTML report: pytest-html's, or without that plugin ours."""
        asked = self.config.getoption("htmlpath", None)
        return Path(asked) if asked else self.folder / "report.html"

    @property
    def has_page(self) -> bool:
        """Whether the report is there to its end: a disk may have been full."""
        try:
            with self.page.open("rb") as file:
                file.seek(-min(_END_BYTES, self.page.stat().st_size), os.SEEK_END)
                return b"</html>" in file.read()
        except OSError:
            return False

    def open_lab(self, say: Callable[[str], None]) -> Lab:
        """Connect to every device, simulated or real, and take the lab's lease. Raises LabError;
        LabHeld, LeaseBusy and NotPutBack when somebody else has the lab, or has left changes."""
        testbed, clock = self.testbed, WallClock()
        deadline_s = clock.now_s() + 60 * option(self.config, "wait_for_lease")
        self._expect_free(deadline_s, say)
        expect_packages(testbed)
        if self.asked.dry:
            faults = self.timed_faults.at_start
            self.process = simulation(testbed, seed=self.asked.seed, faults=faults, tell=say)
            testbed, clock = self.process.reroute(testbed), self.process.clock
        self.transcript.clock = clock
        say(f"connecting to {', '.join(device.name for device in testbed.devices)}")
        self.lab = Lab.open(
            testbed,
            clock=clock,
            backend="simulated" if self.asked.dry else "hardware",
            transcript=self.transcript,
            run=self.id,
        )
        self.lab.exact = self.process
        if self.asked.planning:
            self.lab.planned = Planned()
        else:
            self._take_lease(self.lab, max(deadline_s - WallClock().now_s(), 0.0), say)
            self.lab.ahead = change_journal(
                self.lab, self.testbed, self.folder, self.id, dry_run=self.asked.dry
            )
        self.versions = versions_of(self.lab)
        return self.lab

    def apply_profile(self, lab: Lab, say: Callable[[str], None]) -> None:
        """The lab is as --profile says until it is put back. Raises LabError when it cannot be:
        then nothing was changed, or what was is put back at the end."""
        profile = self.asked.profile
        if profile is None:
            return
        plans = planning.planned(profile.form, lab)
        impossible = [trouble for plan in plans for trouble in plan.impossible]
        if impossible:
            first = impossible[0]
            raise LabError(
                f"{len(impossible)} settings cannot be as the profile {profile.name} wants: "
                f"{first.at} {first.setting}: {first.problem}\n"
                f"  remedy: labtests plan {profile.file} --testbed {self.testbed.file} has all"
            )
        if self.asked.planning:
            for plan in plans:
                lab.make(plan.device, plan.steps)
            return
        done = planning.made(profile.form, lab, plans)
        say(f"profile {profile.name}: {len(done)} settings changed and read back")

    def open_streams(self, lab: Lab, say: Callable[[str], None]) -> None:
        """Those that the testbed names, behind the first look at the lab: one that is told to
        stream is another one. Raises DeviceError, WrongOption."""
        open_streams(lab, say, epoch_s=0.0 if self.process is None else self.process.clock.epoch_s)
        file, port = option(self.config, "stream_influx"), option(self.config, "stream_metrics")
        wanted = WantedExports(
            influx=None if file is None else Path(file),
            metrics=None if port is None else ("127.0.0.1", port),
        )
        if lab.streams is not None and wanted.anything:
            exporting = Exporting(lab.streams, self.testbed.name, wanted)
            self.exports.callback(_end_exports, exporting, say)

    def _expect_free(self, deadline_s: float, say: Callable[[str], None]) -> None:
        """As far as this machine knows."""
        may_recover = bool(option(self.config, "recover"))

        def look() -> None:
            expect_put_back(self.testbed, dry_run=self.asked.dry, may_recover=may_recover, say=say)

        tried_until(deadline_s, WallClock(), look, say)

    def _take_lease(self, lab: Lab, wait_s: float, say: Callable[[str], None]) -> None:
        why = self.transcript.redaction.text(self.asked.typed)
        under_lock = bool(option(self.config, "under_lock"))
        terms = Terms(run=self.id, wait_s=wait_s, under_lock=under_lock)
        self.lease.enter_context(holding(lab, why=why, terms=terms, say=say))

    def close_lab(self) -> None:
        """Put the lab back, end the sessions and the simulated lab, whatever happened."""
        try:
            with self.lease:
                if self.lab is not None:
                    self._put_back(self.lab)
        finally:
            self._end_process()

    def abandon_lab(self) -> None:
        """End the sessions and the simulated lab, and put nothing back any more."""
        if self.lab is not None:
            self.lab.abandon()
        self._end_process()

    def heard(self, line: str) -> None:
        """The run says how far it is: faults that are due by it happen."""
        if self.process is not None:
            self.timed_faults.heard(line, self.process.fault)

    def _end_process(self) -> None:
        if self.process is not None:
            self.timed_faults.end(self.process)
            self.process.close()
            if self.lab is not None and self.lab.ahead.registered is not None:
                self.lab.ahead.registered.remove()

    def _put_back(self, lab: Lab) -> None:
        with ExitStack() as after:  # each of them, whatever becomes of those before
            after.callback(lab.close)
            after.callback(self.proof.end, lab)
            after.callback(lab.restore)
            after.callback(self.exports.close)
            if lab.streams is not None:
                lab.streams.close()

    @property
    def left(self) -> str:
        """What is still to be put back, and how; "" when nothing is."""
        entries = [] if self.lab is None or self.process is not None else self.lab.ahead.entries
        if not entries:
            return ""
        return f"{len(entries)} changes not yet undone; run: labtests restore {self.id}"

    @property
    def whole(self) -> bool:
        """Whether all suites of the folders that were asked for ran to their end: a part of them, a
        plan, and a run that was cut off prove nothing of the rest."""
        parts = self.picked or not self.asked.whole_folders
        ended = self.exit_code in WHOLE_EXITS and not self.not_run
        judged = any(entry["verdicts"] for entry in self.tests)
        return judged and ended and not parts and not self.asked.planning

    @property
    def _is_news(self) -> bool:
        """Whether it says how the lab is: whole, and nobody broke the lab for it."""
        return self.whole and not self.asked.faults

    def body(self) -> str:
        """The page but its frame, with what was asked of devices until now."""
        run = self.as_json()
        return body(run, past=self._past(run), journal=Chronicle.of(self.folder))

    def _past(self, run: dict[str, Any]) -> Past:
        """Earlier runs, of the history and of the folder beside."""
        from labtests.history.background import background  # with SQLAlchemy behind it
        from labtests.history.entering import place_of

        known = background(place_of(self.asked.kept_in), run, self.folder)
        self.history_problem = known.problem
        return past_of(run, known, earlier_run(run, self.asked.reports / self.testbed.name))

    def leave_out(self, items: Iterable[pytest.Item]) -> None:
        """What was collected and has no outcome was not run."""
        ran = {entry["id"] for entry in self.tests}
        self.not_run = [item.nodeid for item in items if item.nodeid not in ran]

    def write_page(self) -> None:
        """The HTML report, where pytest-html makes none."""
        if not self.config.getoption("htmlpath", None):
            run = self.as_json()
            told = page(run, past=self._past(run), journal=Chronicle.of(self.folder))
            write_private(self.page, told)

    def finish(self) -> None:
        """Write run.json and compress the journal; `latest` points here after a whole run."""
        write_run(self.folder, self.as_json())
        if self.config.getoption("htmlpath", None) and self.page.is_file():
            replace_private(self.page, sealed(self.page.read_text(encoding="utf-8")))
        self.transcript.close()
        self.logs.close()
        if self._is_news and self.folder.resolve().is_relative_to(self.asked.reports.resolve()):
            point_latest(self.asked.reports, self.folder)
        self.transcript.pack(self.folder / COMPRESSED)
        if self.tests:
            self._enter()

    def _enter(self) -> None:
        """Into the history."""
        from labtests.history.entering import enter_run

        enter_run(self.folder, self.asked.kept_in, tell, problem=self.history_problem)

    def clean(self, text: str) -> str:
        """The text for a terminal: no secret, and nothing that a terminal would obey."""
        return cleaner(self.transcript.redaction)(text)

    def as_json(self) -> dict[str, Any]:
        """The run as docs/run-json.md describes it, without secrets."""
        told = {
            "format": FORMAT,
            "lab": lab_record(self.testbed, self.versions),
            "id": self.id,
            "whole": self.whole,
            "backend": self.backend,
            "modelled": MODELLED if self.backend == "simulated" else "",
            "seed": self.asked.seed if self.asked.dry else None,
            "faults": self.asked.faults,
            "faults_not_met": self.timed_faults.not_met,
            "started": self.started.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "profile": "" if self.asked.profile is None else self.asked.profile.name,
            "planned_s": self._planned_s,
            "command_line": self.asked.typed,
            "labtests_version": __version__,
            "commit_of_suites": commit_of(self.config.rootpath),
            "python_version": sys.version.split()[0],
            "exit_code": self.exit_code,
            "problem": self.problem,
            "journal": COMPRESSED,
            "check": self.preflight.plain(),
            "state": self.proof.plain(),
            "changed_by_others": list(self.lab.overridden) if self.lab else [],
            "tests": [],
            "not_run": self.not_run,
        }
        clean = self.transcript.redaction.value(told)
        return {**clean, "tests": self.tests}  # those are clean already

    @property
    def _planned_s(self) -> list[float] | None:
        """How long the planned tests take, at the least and at the most."""
        if not self.asked.planning:
            return None
        span = sum(self.spans.values(), Span(least_s=0.0, most_s=0.0))
        return [span.least_s, span.most_s]


RUN = pytest.StashKey[Run]()


def _secrets(config: pytest.Config, testbed: Testbed) -> tuple[str, ...]:
    """What is never to be written down. A dry run logs in nowhere: nobody is asked then."""
    if not option(config, "dry_run"):
        return passwords_of(testbed.devices)
    names = names_of_passwords(testbed.devices)
    return tuple(value for name in sorted(names) if (value := os.environ.get(name)))
