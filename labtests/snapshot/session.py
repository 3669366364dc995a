"""A lab that is open for one command of the command line."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from labtests.clock import WallClock
from labtests.errors import LabError
from labtests.inventory import Testbed
from labtests.journal import Journal
from labtests.lab import Lab
from labtests.snapshot.reader import Reader
from labtests.ssh.passwords import names_of_passwords, passwords_of


@contextmanager
def opened(
    testbed: Testbed,
    *,
    dry_run: bool = False,
    faults: Sequence[str] = (),
    journal: Path | None = None,
) -> Iterator[Lab]:
    """The lab, or with `dry_run` a simulated one with these faults (JSON, simlab/faults.py).

    What is said goes to `journal`, or is not kept. Raises LabError, LabErrors with every device
    that cannot be reached."""
    if faults and not dry_run:
        raise LabError("--fault is for a simulated lab: give --dry-run too")
    with ExitStack() as stack:
        clock: Any = WallClock()
        if dry_run:
            from labtests.simlab.control import LabProcess  # only a dry run needs the simulator

            process = stack.enter_context(
                LabProcess(testbed.file, seed=1, without=names_of_passwords(testbed.devices))
            )
            for fault in faults:
                process.fault(**_fault(fault))
            testbed, clock = process.reroute(testbed), process.clock
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="labtests-"))
        known = () if dry_run else passwords_of(testbed.devices)
        paper = Journal(journal or Path(folder) / "journal.jsonl", secrets=known, clock=clock)
        stack.callback(paper.close)
        yield stack.enter_context(
            Lab.open(
                testbed,
                clock=clock,
                backend="simulated" if dry_run else "hardware",
                journal=paper,
            )
        )


def readers_of(lab: Lab) -> list[Reader]:
    """A reader for every device of an open lab."""
    return [Reader(device, lab.transports[device.name]) for device in lab.testbed.devices]


def _fault(text: str) -> dict[str, Any]:
    try:
        fault = json.loads(text)
    except ValueError as error:
        raise LabError(f"--fault {text}: {error}") from error
    if not isinstance(fault, dict):
        raise LabError(f"--fault {text}: give a JSON object (labtests/simlab/faults.py)")
    return fault
