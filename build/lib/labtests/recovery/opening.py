"""A lab, opened for one command of the command line: run folder, transcript, signals, the end.

Suites have the same by pytest_plugin/run.py, with a report on top.
"""

import secrets as random_words
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from labtests.core.errors import LabError
from labtests.core.private_files import private_folder
from labtests.inventory import LeasePlace, Testbed
from labtests.journal import FILE_NAME, Begun, ChangeJournal, this_runner
from labtests.lab.lab import Lab
from labtests.lease.holding import Terms, holding, lease_host
from labtests.recovery import claim, expect_put_back
from labtests.recovery.snapshot import session
from labtests.recovery.snapshot.session import Access
from labtests.transport.chronicle import COMPRESSED, NAME
from labtests.transport.ssh.connecting import SHELL, connect_all

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """How a lab is to be opened. `word` ends the run folder's name; no `limit`: all devices.

    `changes`: there is a change journal, and other runs are kept out meanwhile; `why` is what they
    are told."""

    testbed: Testbed
    word: str
    changes: bool
    limit: tuple[str, ...] = ()
    dry_run: bool = False
    seed: int | None = None
    faults: Sequence[str] = ()
    run_dir: Path | None = None
    recover: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedLab:
    """An open lab, and where its transcript and journal are."""

    lab: Lab
    folder: Path
    run: str


@contextmanager
def opened(asked: OpenRequest, say: Say) -> Iterator[OpenedLab]:
    """The lab. What is changed and not kept is undone at the end, last first, also after Ctrl-C,
    SIGTERM and SIGHUP. Raises LabError; LabHeld and NotPutBack as a suite's start does;
    WrongOption before anything is made."""
    session.expect_dry(asked.dry_run, faults=asked.faults, seed=asked.seed)
    session.faults_of(asked.testbed, asked.faults)  # a wrong one leaves no folder
    expect_put_back(asked.testbed, dry_run=asked.dry_run, may_recover=asked.recover, say=say)
    run = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{random_words.token_hex(3)}"
    default = Path("reports") / asked.testbed.name / f"{run}-{asked.word}"
    folder = run_folder(asked.run_dir or default)
    with ExitStack() as stack:
        access = Access(
            testbed=asked.testbed,
            limit=asked.limit,
            dry_run=asked.dry_run,
            seed=asked.seed,
            faults=asked.faults,
            transcript=folder / NAME,
            run=run,
        )
        lab = stack.enter_context(session.opened(access))
        if asked.changes:
            whole = _whole(asked, lab)
            _reach_lease(whole, lab)
            terms = Terms(run=run, testbed=whole)
            why = asked.why or f"labtests {asked.word}"
            stack.enter_context(holding(lab, why=why, terms=terms, say=say))
            lab.ahead = change_journal(lab, asked.testbed, folder, run, dry_run=asked.dry_run)
            stack.callback(_forget_dry_run, lab, asked.dry_run)
        yield OpenedLab(lab=lab, folder=folder, run=run)


def _forget_dry_run(lab: Lab, dry_run: bool) -> None:
    """A lab of our own ends with us."""
    if dry_run and lab.ahead.registered is not None:
        lab.ahead.registered.remove()


def _whole(asked: OpenRequest, lab: Lab) -> Testbed:
    """Whose lease it is: that of all devices. A dry run knows only those that it simulates, and
    must never ask another one: of a part, its first host keeps the lease."""
    if not asked.dry_run:
        return asked.testbed
    some = asked.limit and lab.testbed.lease is not None
    return replace(lab.testbed, lease=LeasePlace()) if some else lab.testbed


def _reach_lease(testbed: Testbed, lab: Lab) -> None:
    """There is a session with the host that keeps the lease, also when the lab is without it: the
    lease is that of the whole testbed. Raises LabErrors when that host does not let us in."""
    host = lease_host(testbed)
    if host is not None and host.name not in lab.unrecorded:
        own = connect_all((host,), lambda _: SHELL, clock=lab.clock)
        lab.unrecorded = {**lab.unrecorded, **own}  # the lab closes it, after its last undo


def change_journal(
    lab: Lab, testbed: Testbed, folder: Path, run: str, *, dry_run: bool
) -> ChangeJournal:
    """A new one in the run folder, which the next run finds. `testbed` is the whole one. Raises
    LabError."""
    begun = Begun(
        run=run,
        runner=this_runner(),
        testbed=testbed.name,
        file=str(testbed.file.absolute()),
        backend=lab.backend,
        dry_run=dry_run,
        devices=lab.testbed.devices,
        lease=lab.testbed.lease,
    )
    assert lab.transcript is not None
    journal = ChangeJournal.begin(folder / FILE_NAME, begun, lab.transcript.redaction)
    try:
        claim(journal, begun)
    except LabError:
        if not dry_run:  # nobody else can have a lab of our own
            journal.end()
            raise
    return journal


def run_folder(folder: Path) -> Path:
    """It is there, for its owner only. What an earlier run left is never written over. Raises
    LabError, NotPrivate."""
    try:
        private_folder(folder)
    except OSError as error:
        raise LabError(f"{folder}: cannot create the run folder: {error.strerror}") from error
    if any((folder / name).exists() for name in (NAME, COMPRESSED)):
        raise LabError(f"{folder} holds an earlier run; give another --run-dir")
    return folder
