"""A run as the history keeps it: read from its folder, or from the database.

Whatever a run.json says may have come from a device, or from anybody: a run with a value of another
kind than it should have is refused as a whole, with the place of that value (parts.py).
"""

import hashlib
import json
import shlex
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.trusted_files import handed, json_of
from labtests.history.parts import Part, printed
from labtests.recovery.snapshot.comparing import in_words
from labtests.recovery.snapshot.files import read
from labtests.report.runs import WHOLE_EXITS, lab_of, read_run, was_whole

OUTCOMES = ("pass", "fail", "inconclusive", "error", "skipped")
BACKENDS = ("hardware", "namespaces", "simulated")
Place = tuple[str, ...]
"""Device, port and setting; or phase, device, port, scope, index and counter."""

MOST_OF_A_WORD = 16
"""Characters of a column for words of labtests."""

CABLE = "cable by LLDP"
"""The last part of a place of a run's state."""
AHEAD = " (a clock was ahead)"
_CLOCKS_AGREE = timedelta(minutes=10)
_SEP = "\x1f"  # unit separator: in no name
_MOST_BLOB_BYTES = 2**28


class NotEntered(LabError):
    """A run that has no place in the history; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFact:
    """One number of a verdict, what it was held to, and what was left of that."""

    name: str
    measured: float | None
    bound: str
    margin: float | None
    unit: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVerdict:
    """One question and its answer."""

    question: str
    phase: str
    role: str
    outcome: str
    as_expected: bool
    because: str
    facts: tuple[KeptFact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPhase:
    """What counters did in a phase, and the settings that it ran with. A counter without a
    difference has None; one that was not read is not there."""

    name: str
    kind: str
    counters: Mapping[Place, int | None] = field(default_factory=dict)
    settings: Mapping[Place, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTest:
    """One test of a run."""

    name: str
    title: str
    outcome: str
    duration_s: float | None
    error: str
    verdicts: tuple[KeptVerdict, ...] = ()
    phases: tuple[KeptPhase, ...] = ()

    __test__ = False  # pytest would take it for one

    @property
    def reason(self) -> str:
        """Why it is not green: what its reddest verdict says, a control that is not as it had to
        be, or what was raised."""
        mains = [verdict for verdict in self.verdicts if verdict.role != "control"]
        for outcome in ("fail", "error", "inconclusive"):
            for verdict in mains:
                if verdict.outcome == outcome:
                    return verdict.because
        wrong = (verdict.because for verdict in self.verdicts if not verdict.as_expected)
        return next(wrong, self.error.partition("\n")[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """One run. `state`: every fact of the lab as the run found it (versions, links, settings); None
    when it was not taken."""

    identity: str
    testbed: str
    backend: str
    started: str
    ended: str
    exit_code: int
    problem: str
    seed: str | None
    faults: str
    whole: bool
    commit_of_suites: str
    labtests_version: str
    command_line: str
    folder: str
    state: Mapping[Place, str] | None
    tests: tuple[KeptTest, ...] = ()

    @property
    def name(self) -> str:
        """The name of its folder: what people call it by."""
        return Path(self.folder).name

    @property
    def when(self) -> str:
        """When it started, for people; a clock that was wrong is told."""
        return self.started[:16].replace("T", " ") + (AHEAD if is_ahead(self.started) else "")

    @property
    def outcome(self) -> str:
        """The worst of its tests, or of the lab. A word that is none of OUTCOMES is an error."""
        found = {test.outcome for test in self.tests}
        if self.exit_code not in (0, 1) or found - set(OUTCOMES):
            return "error"
        worst = [word for word in ("fail", "error", "inconclusive") if word in found]
        return worst[0] if worst else ("pass" if "pass" in found else "skipped")

    @property
    def answers(self) -> dict[str, str]:
        """Outcomes by the names of its tests. The errors of a run that was cut off (Ctrl-C, a lab
        that was lost) are none of theirs."""
        cut_off = self.exit_code not in WHOLE_EXITS
        return {
            test.name: test.outcome
            for test in self.tests
            if not (cut_off and test.outcome == "error")
        }


def is_ahead(started: str) -> bool:
    """Whether a run began later than now."""
    return started > (datetime.now(UTC) + _CLOCKS_AGREE).isoformat(timespec="seconds")


def of_folder(folder: Path) -> KeptRun:
    """The run that ended in this folder. Raises NotEntered, UnreadableRun."""
    told = read_run(folder)
    run = Part(told, file := folder / "run.json")
    lab = Part(lab_of(told), file, "lab")
    if (exit_code := run.whole_number("exit_code")) is None:
        raise NotEntered(f"{folder}: the run has not ended")
    if not told["tests"]:
        raise NotEntered(f"{folder}: it has run no test")
    command_line = run.text("command_line")
    if "--plan" in _words(command_line):
        raise NotEntered(f"{folder}: it was a plan, and asked the lab nothing")
    return KeptRun(
        identity=hashlib.sha256(handed(file)).hexdigest(),
        testbed=_said(lab.text("name"), "its lab", folder),
        backend=run.word("backend", BACKENDS),
        started=_said(run.when("started"), "when it started", folder),
        ended=run.when("ended"),
        exit_code=exit_code,
        problem=run.text("problem"),
        seed=None if (seed := run.number("seed")) is None else str(seed),
        faults=json.dumps(run.texts("faults")),
        whole=was_whole(told),
        commit_of_suites=run.text("commit_of_suites"),
        labtests_version=run.text("labtests_version"),
        command_line=command_line,
        folder=printed(str(folder.resolve())),
        state=state_of(folder),
        tests=tuple(map(_test, run.parts("tests"))),
    )


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _test(test: Part) -> KeptTest:
    return KeptTest(
        name=test.text("id"),
        title=test.text("title"),
        outcome=test.word("outcome", OUTCOMES),
        duration_s=test.number("duration_s"),
        error=test.text("error"),
        verdicts=tuple(map(_verdict, test.parts("verdicts"))),
        phases=tuple(map(_phase, test.parts("phases"))),
    )


def _verdict(verdict: Part) -> KeptVerdict:
    return KeptVerdict(
        question=verdict.text("question"),
        phase=verdict.text("phase"),
        role=verdict.text("role", most=MOST_OF_A_WORD),
        outcome=verdict.text("outcome", most=MOST_OF_A_WORD),
        as_expected=verdict.told.get("as_expected") is True,
        because=verdict.text("because"),
        facts=tuple(map(_fact, verdict.parts("facts"))),
    )


def _fact(fact: Part) -> KeptFact:
    return KeptFact(
        name=fact.text("name"),
        measured=(measured := fact.number("measured")),
        bound=fact.text("bound"),
        margin=None if measured is None else fact.number("margin"),
        unit=fact.text("unit"),
        note=fact.text("note"),
    )


def _phase(phase: Part) -> KeptPhase:
    counters: dict[Place, int | None] = {}
    for counter in phase.parts("counters"):
        index, increase = counter.number("index"), counter.number("increase")
        place = (*_texts(counter, "device", "port", "scope"), "" if index is None else str(index))
        counters[(*place, counter.text("counter"))] = None if increase is None else int(increase)
    settings = {
        _texts(setting, "device", "port", "ability"): setting.text("value")
        for setting in phase.parts("settings")
    }
    return KeptPhase(
        name=phase.text("name"),
        kind=phase.text("kind", most=MOST_OF_A_WORD),
        counters=counters,
        settings=settings,
    )


def state_of(folder: Path) -> Mapping[Place, str] | None:
    """Every fact of the lab as the run found it, and what LLDP said of its cables; None where that
    cannot be read."""
    try:
        return {**in_words(read(folder)), **_cables(folder)}
    except LabError:
        return None


def _cables(folder: Path) -> dict[Place, str]:
    """Who is at the other end, as the check before the run has heard it; nothing where its file
    cannot be read."""
    file = folder / "check.json"
    try:
        found = json_of(handed(file)) if file.is_file() else []
    except (LabError, OSError, ValueError):  # who hears nothing knows nothing
        return {}
    heard = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return {
        (str(each.get("device")), str(each.get("port")), CABLE): str(each.get("finding"))
        for each in heard
        if each.get("check") == "cabling" and each.get("level") != "not known"
    }


def packed(values: Mapping[Place, Any] | None) -> bytes:
    """As a row keeps it."""
    plain = None if values is None else {_SEP.join(place): v for place, v in values.items()}
    return zlib.compress(json.dumps(plain, separators=(",", ":")).encode(), 6)


def unpacked(blob: bytes, kind: Any) -> dict[Place, Any] | None:
    """What a row keeps, values of this kind. Raises ValueError."""
    try:
        plain = json.loads(zlib.decompressobj().decompress(blob, _MOST_BLOB_BYTES))
    except (zlib.error, RecursionError) as error:
        raise ValueError(str(error)) from error
    if plain is None:
        return None
    if not isinstance(plain, dict) or not all(isinstance(value, kind) for value in plain.values()):
        raise ValueError("other values than there should be")
    return {tuple(place.split(_SEP)): value for place, value in plain.items()}


def _texts(told: Part, *names: str) -> Place:
    return tuple(told.text(name) for name in names)


def _said(found: str, what: str, folder: Path) -> str:
    if not found:
        raise NotEntered(f"{folder}: run.json does not say {what}")
    return found
