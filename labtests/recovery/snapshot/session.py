"""A lab that is open for one command of the command line: sessions, journal, signals.

The only place where a command opens a lab. For changes opening.py adds the run folder, the lease
and the change journal; suites have the same by pytest_plugin/run.py.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labtests.core.clock import WallClock
from labtests.core.errors import LabError
from labtests.core.redaction import redacted_logs
from labtests.core.signals import as_ctrl_c
from labtests.inventory import Testbed
from labtests.lab.lab import Lab
from labtests.transport.protocol import Clock
from labtests.transport.ssh.passwords import names_of_passwords, passwords_of
from labtests.transport.transcript import Journal

if TYPE_CHECKING:
    from labtests.simlab.control import LabProcess


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Which lab, and how. `limit`: these devices only; none: all. With `dry_run` a simulated lab,
    in which `faults` (JSON, simlab/faults.py) are wrong. What is said goes to `journal`, or is not
    kept. `run` marks processes that are started."""

    testbed: Testbed
    limit: tuple[str, ...] = ()
    dry_run: bool = False
    faults: Sequence[str] = ()
    seed: int = 1
    journal: Path | None = None
    run: str = ""


@contextmanager
def opened(asked: Access) -> Iterator[Lab]:
    """The lab, closed at the end, also after Ctrl-C, SIGTERM and SIGHUP. No log record shows a
    password meanwhile. Raises LabError, LabErrors with every device that cannot be reached."""
    if asked.faults and not asked.dry_run:
        raise LabError("--fault is for a simulated lab: give --dry-run too")
    with ExitStack() as stack:
        stack.enter_context(as_ctrl_c())
        journal = stack.enter_context(_journal(asked, stack))
        stack.enter_context(redacted_logs(journal.redaction))
        testbed, clock = _reached(asked, stack)
        yield stack.enter_context(
            Lab.open(
                limited(testbed, asked.limit),
                clock=clock,
                backend="simulated" if asked.dry_run else "hardware",
                journal=journal,
                run=asked.run,
            )
        )


def limited(testbed: Testbed, limit: tuple[str, ...]) -> Testbed:
    """The testbed with these devices only. Raises NotInTestbed for a name that it does not have."""
    chosen = {testbed.device(name).name for name in limit}
    if not limit:
        return testbed
    return replace(testbed, devices=tuple(d for d in testbed.devices if d.name in chosen))


def _journal(asked: Access, stack: ExitStack) -> Journal:
    """A dry run logs in nowhere: nobody is asked for a password then."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="labtests-"))
    known = () if asked.dry_run else passwords_of(asked.testbed.devices)
    return Journal(asked.journal or Path(folder) / "journal.jsonl", secrets=known)


def _reached(asked: Access, stack: ExitStack) -> tuple[Testbed, Clock]:
    if not asked.dry_run:
        return asked.testbed, WallClock()
    process = stack.enter_context(simulation(asked.testbed, seed=asked.seed, faults=asked.faults))
    return process.reroute(asked.testbed), process.clock


def simulation(testbed: Testbed, *, seed: int, faults: Sequence[str]) -> "LabProcess":
    """A simulated lab made from the testbed, in a process of its own, in which these (JSON) are
    wrong. Raises LabError."""
    from labtests.simlab.control import LabProcess  # only a dry run needs the simulator

    known = [_fault(fault) for fault in faults]
    process = LabProcess(testbed.file, seed=seed, without=names_of_passwords(testbed.devices))
    try:
        for fault in known:
            process.fault(**fault)
    except BaseException:
        process.close()
        raise
    return process


def _fault(text: str) -> dict[str, Any]:
    try:
        fault = json.loads(text)
    except ValueError as error:
        raise LabError(f"--fault {text}: {error}") from error
    if not isinstance(fault, dict):
        raise LabError(f"--fault {text}: give a JSON object (labtests/simlab/faults.py)")
    return fault
