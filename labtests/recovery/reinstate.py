"""Putting a lab back to a snapshot: every setting of it, through `Lab.change`."""

import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from labtests.errors import LabError, LeaseLost
from labtests.intents import SETTINGS
from labtests.inventory import Endpoint, NotInTestbed, Testbed, load
from labtests.journal import FILE_NAME, Begun, ChangeJournal, Redaction, this_runner
from labtests.journal.values import unpack
from labtests.lab import Lab
from labtests.lease.holding import Terms, holding
from labtests.private import private_folder
from labtests.recovery.guard import claim, expect_put_back
from labtests.snapshot import Snapshot, compare, read, take
from labtests.snapshot.command import lines
from labtests.snapshot.session import opened, readers_of
from labtests.ssh.passwords import passwords_of

DONE, LEFT = 0, 10

Say = Callable[[str], None]


def reinstate(place: Path, *, testbed: Testbed | None, say: Say) -> int:
    """Make every setting as the snapshot has it, and read the lab again; the exit code.

    The changes are written ahead in a folder of their own; who is interrupted leaves the lab as it
    was before. Raises LabError when the lab cannot be used, LeaseBusy when somebody else has it."""
    wanted = read(place)
    testbed = testbed or load(Path(wanted.file))
    expect_put_back(testbed, dry_run=False, may_recover=False, say=say)
    run = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-restore-{secrets.token_hex(3)}"
    folder = Path("reports") / testbed.name / run
    private_folder(folder)
    terms = Terms(run=run)
    with (
        opened(testbed, journal=folder / "journal.jsonl") as lab,
        holding(lab, why=f"restore {place}", terms=terms, say=say),
    ):
        lab.ahead = _journal(folder, run, lab)
        problems = list(_changed(lab, wanted))
        lab.ahead.keep()
        found = take(testbed, readers_of(lab), backend=lab.backend)
    left = [each for each in compare(wanted, found) if each.setting in SETTINGS]
    for text in problems:
        say(text)
    if not left:
        say(f"the lab is as in {place} ({len(lab.changes)} changes; {folder})")
        return DONE
    say(f"still different from {place} (before: the snapshot, after: the lab):")
    for line in lines(left):
        say(line)
    return LEFT


def _journal(folder: Path, run: str, lab: Lab) -> ChangeJournal:
    begun = Begun(
        run=run,
        runner=this_runner(),
        testbed=lab.testbed.name,
        file=str(lab.testbed.file.absolute()),
        backend=lab.backend,
        dry_run=False,
        devices=lab.testbed.devices,
        lease=lab.testbed.lease,
    )
    journal = ChangeJournal.begin(
        folder / FILE_NAME, begun, Redaction(passwords_of(lab.testbed.devices))
    )
    claim(journal, begun)
    return journal


def _changed(lab: Lab, wanted: Snapshot) -> Iterator[str]:
    """Every setting that the snapshot knows; what could not be made."""
    for device, state in wanted.devices.items():
        for port, facts in state["ports"].items():
            at = Endpoint(device=device, interface=port)
            for setting in SETTINGS:
                fact = facts["settings"].get(setting, {})
                if "value" in fact:
                    yield from _change(lab, at, setting, unpack(fact["value"]))


def _change(lab: Lab, at: Endpoint, setting: str, value: object) -> Iterator[str]:
    try:
        lab.testbed.port(at)
        lab.change(at, setting, value)
    except LeaseLost:
        raise
    except NotInTestbed as error:
        yield str(error)
    except LabError as error:
        yield f"{at} {setting} could not be made so: {error}"
        try:
            commands = lab.commands(at, setting, lab.current(at, setting), value)
        except LabError:
            return
        yield f"    type these commands by hand on {at.device}:"
        yield from (f"        {line}" for line in commands)
