"""One run: its folder, its transcript, its lab, and what is left in run.json."""

import json
import os
import secrets
import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from labtests import __version__
from labtests.core.clock import WallClock
from labtests.core.private_files import write_private
from labtests.core.redaction import redacted_logs
from labtests.core.seeds import SEED_UNLESS_ASKED
from labtests.experiment import HARDWARE, SIMULATED, Pace, Span, real_pace
from labtests.inventory import Testbed, load
from labtests.lab.changes import Planned
from labtests.lab.lab import Lab
from labtests.lease.holding import Terms, holding, tried_until
from labtests.measure.evidence import Refresh
from labtests.pytest_plugin.cleaning import cleaner
from labtests.pytest_plugin.folder import default_reports, made, point_latest
from labtests.pytest_plugin.options import (
    asked_run_directory,
    asked_testbed,
    testbed_source,
)
from labtests.pytest_plugin.preflight import Preflight, versions_of
from labtests.pytest_plugin.proof import Proof
from labtests.recovery import expect_put_back
from labtests.recovery.opening import change_journal
from labtests.recovery.snapshot.session import faults_of, simulation
from labtests.report import page, sealed
from labtests.transport.ssh.passwords import names_of_passwords, passwords_of
from labtests.transport.transcript import Transcript

MODELLED = (
    "packets, shared buffer, PFC, WRED/ECN, DCQCN and go-back-N of a switch and its hosts; not "
    "firmware, cables, optics or vendor defects (docs/simulated-lab.md)."
)

STARTS_WITHIN_S = 120.0  # three tries of servers and clients, and reading all counters
PHASES_AT_MOST = 12


@dataclass(slots=True)
class Run:
    """Everything about one run of the suites. Ends with `finish`."""

    config: pytest.Config
    testbed: Testbed
    folder: Path
    transcript: Transcript
    started: datetime
    id: str
    tests: list[dict[str, Any]] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)  # how long each planned test would take
    logs: ExitStack = field(default_factory=ExitStack)
    lease: ExitStack = field(default_factory=ExitStack)
    lab: Lab | None = None
    proof: Proof = field(init=False)
    preflight: Preflight = field(init=False)
    process: Any = None
    refresh: Refresh | None = None  # of the switches' counters, once it has been measured
    problem: str = ""
    exit_code: int | None = None

    def __post_init__(self) -> None:
        self.proof = Proof(self.folder)
        self.preflight = Preflight(self.folder)

    @classmethod
    def begin(cls, config: pytest.Config) -> "Run":
        """Read the testbed and make the run folder. Raises InventoryError, NotPrivate."""
        path = asked_testbed(config)
        assert path is not None
        testbed = load(testbed_source(config, path))
        faults_of(testbed, config.getoption("fault"))  # a wrong one leaves no folder
        started = datetime.now(UTC)
        name = f"{started:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        folder = asked_run_directory(config) or config.rootpath / "reports" / testbed.name / name
        transcript = Transcript(made(folder) / "journal.jsonl", secrets=_secrets(config, testbed))
        default_reports(config, folder)
        run = cls(config, testbed, folder, transcript, started, name)
        run.logs.enter_context(redacted_logs(transcript.redaction))
        return run

    @property
    def dry(self) -> bool:
        """Whether the lab is a simulated one."""
        return bool(self.config.getoption("dry_run"))

    @property
    def seed(self) -> int:
        """That of a simulated lab."""
        asked = self.config.getoption("seed")
        return SEED_UNLESS_ASKED if asked is None else int(asked)

    @property
    def backend(self) -> str:
        """The word that every verdict is stamped with. Emulated devices say so themselves, so a
        lab that somebody serves by hand is stamped as well."""
        if self.lab is not None:
            return self.lab.backend
        real = "hardware" if self.testbed.linux_lab is None else "namespaces"
        return "simulated" if self.dry else real

    @property
    def planning(self) -> bool:
        """Whether nothing is to be changed, only said."""
        return bool(self.config.getoption("plan"))

    @property
    def page(self) -> Path:
        """The HTML report: pytest-html's, or without that plugin ours."""
        asked = self.config.getoption("htmlpath", None)
        return Path(asked) if asked else self.folder / "report.html"

    @property
    def test_limit_s(self) -> float:
        """Wall time in which any test has ended: a dozen phases that wait their longest."""
        pace = self.pace
        return PHASES_AT_MOST * (pace.phase.most_s + STARTS_WITHIN_S)

    @property
    def pace(self) -> Pace:
        """Durations of the phases, as asked or by default."""
        pace = SIMULATED if self.dry else real_pace(self.lab)
        if self.config.getoption("hardware_pace"):
            pace = HARDWARE
        asked = self.config.getoption("lab_seconds")
        return pace if asked is None else pace.lasting(asked)

    @property
    def idle_s(self) -> float:
        """So long the check before the first change watches counters of the idle lab."""
        asked = self.config.getoption("idle_s")
        if self.planning:
            return 0.0
        return self.pace.quiet_s if asked is None else float(asked)

    def open_lab(self, say: Callable[[str], None]) -> Lab:
        """Connect to every device, simulated or real, and take the lab's lease. Raises LabError;
        LabHeld, LeaseBusy and NotPutBack when somebody else has the lab, or has left changes."""
        testbed, clock = self.testbed, WallClock()
        deadline_s = clock.now_s() + 60 * self.config.getoption("wait_for_lease")
        self._expect_free(deadline_s, say)
        if self.dry:
            faults = self.config.getoption("fault")
            self.process = simulation(testbed, seed=self.seed, faults=faults, tell=say)
            testbed, clock = self.process.reroute(testbed), self.process.clock
        self.transcript.clock = clock
        self.lab = Lab.open(
            testbed,
            clock=clock,
            backend="simulated" if self.dry else "hardware",
            transcript=self.transcript,
            run=self.id,
        )
        if self.planning:
            self.lab.planned = Planned()
        else:
            self._take_lease(self.lab, max(deadline_s - WallClock().now_s(), 0.0), say)
            self.lab.ahead = change_journal(
                self.lab, self.testbed, self.folder, self.id, dry_run=self.dry
            )
        self.versions = versions_of(self.lab)
        return self.lab

    def _expect_free(self, deadline_s: float, say: Callable[[str], None]) -> None:
        """As far as this machine knows."""
        may_recover = bool(self.config.getoption("recover"))

        def look() -> None:
            expect_put_back(self.testbed, dry_run=self.dry, may_recover=may_recover, say=say)

        tried_until(deadline_s, WallClock(), look, say)

    def _take_lease(self, lab: Lab, wait_s: float, say: Callable[[str], None]) -> None:
        under_lock = bool(self.config.getoption("under_lock"))
        terms = Terms(run=self.id, wait_s=wait_s, under_lock=under_lock)
        self.lease.enter_context(holding(lab, why=self._why(), terms=terms, say=say))

    def _why(self) -> str:
        words = shlex.join(["pytest", *self.config.invocation_params.args])
        return self.transcript.redaction.text(words)

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

    def _end_process(self) -> None:
        if self.process is not None:
            self.process.close()
            if self.lab is not None and self.lab.ahead.registered is not None:
                self.lab.ahead.registered.remove()

    def _put_back(self, lab: Lab) -> None:
        try:
            lab.restore()
        finally:
            try:
                self.proof.end(lab)
            finally:
                lab.close()

    @property
    def left(self) -> str:
        """What is still to be put back, and how; "" when nothing is."""
        entries = [] if self.lab is None or self.process is not None else self.lab.ahead.entries
        if not entries:
            return ""
        return f"{len(entries)} changes not yet undone; run: labtests restore {self.id}"

    def finish(self) -> None:
        """Write run.json; reports/latest points here, if anything was tried."""
        target, run = self.folder / "run.json", self.as_json()
        write_private(target, json.dumps(run, indent=1))
        if not self.config.getoption("htmlpath", None):
            write_private(self.page, page(run))
        elif self.page.is_file():
            write_private(self.page, sealed(self.page.read_text(encoding="utf-8")))
        self.transcript.close()
        self.logs.close()
        if self.tests:
            point_latest(self.config.rootpath / "reports", self.folder)

    def clean(self, text: str) -> str:
        """The text for a terminal: no secret, and nothing that a terminal would obey."""
        return cleaner(self.transcript.redaction)(text)

    def as_json(self) -> dict[str, Any]:
        """The run as docs/run-json.md describes it, without secrets."""
        told = {
            "format": "labtests-run/1",
            "lab": {
                "name": self.testbed.name,
                "file": str(self.testbed.file),
                "description": self.testbed.description,
                "devices": [
                    {
                        "name": device.name,
                        "platform": device.platform,
                        "roles": _roles(self.testbed, device.name),
                        "versions": self.versions.get(device.name, {}),
                    }
                    for device in self.testbed.devices
                ],
            },
            "backend": self.backend,
            "modelled": MODELLED if self.backend == "simulated" else "",
            "seed": self.seed if self.dry else None,
            "faults": list(self.config.getoption("fault") or ()),
            "started": self.started.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "command_line": shlex.join(["pytest", *self.config.invocation_params.args]),
            "labtests_version": __version__,
            "python_version": sys.version.split()[0],
            "exit_code": self.exit_code,
            "problem": self.problem,
            "journal": "journal.jsonl",
            "check": self.preflight.plain(),
            "state": self.proof.plain(),
            "changed_by_others": list(self.lab.overridden) if self.lab else [],
            "tests": [],
            "not_run": self.not_run,
        }
        clean = self.transcript.redaction.value(told)
        return {**clean, "tests": self.tests}  # those are clean already

    def rerun(self, nodeid: str) -> str:
        """The command line that runs one test again, the same way."""
        words = ["pytest", nodeid, "--testbed", str(asked_testbed(self.config))]
        if self.dry:
            words += ["--dry-run", "--seed", str(self.seed)]
        if (seconds := self.config.getoption("lab_seconds")) is not None:
            words += ["--lab-seconds", f"{seconds:g}"]
        flags = ("no_controls", "hardware_pace")
        words += [f"--{flag.replace('_', '-')}" for flag in flags if self.config.getoption(flag)]
        for fault in self.config.getoption("fault") or ():
            words += ["--fault", fault]
        return shlex.join(words)


RUN = pytest.StashKey[Run]()


def _secrets(config: pytest.Config, testbed: Testbed) -> tuple[str, ...]:
    """What is never to be written down. A dry run logs in nowhere: nobody is asked then."""
    if not config.getoption("dry_run"):
        return passwords_of(testbed.devices)
    names = names_of_passwords(testbed.devices)
    return tuple(value for name in sorted(names) if (value := os.environ.get(name)))


def _roles(testbed: Testbed, device: str) -> list[str]:
    return [role for role, ends in testbed.roles.items() if any(e.device == device for e in ends)]
