"""`labtests restore SNAPSHOT`: every setting as it says, through `Lab.change`, as apply does it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from labtests.capabilities.settings import SETTINGS, kind_of
from labtests.capabilities.values import expect_value
from labtests.core.errors import InventoryError, LabError, LeaseBusy, LeaseLost
from labtests.core.trusted_files import owned
from labtests.inventory import Endpoint, NotInTestbed, Readable, Testbed, load
from labtests.journal.values import unpack
from labtests.lab.lab import Lab
from labtests.recovery.asking import Agree, Source, expect_yes
from labtests.recovery.opening import OpenedLab, OpenRequest, opened
from labtests.recovery.snapshot import Snapshot, compare, is_snapshot, read, take
from labtests.recovery.snapshot.command import lines

DONE, LEFT, HELD = 0, 10, 15

Say = Callable[[str], None]
Values = list[tuple[Endpoint, str, object]]


def is_meant(places: Sequence[str]) -> bool:
    """Whether these arguments of `labtests restore` are one snapshot."""
    return len(places) == 1 and is_snapshot(Path(places[0]))


def reinstate(place: Path, *, testbed: Testbed | None, say: Say, agree: Agree | None = None) -> int:
    """Make every setting as the snapshot has it, and read the lab again; the exit code. Where only
    the snapshot says which testbed file that is, `agree` asks a person.

    The changes are written ahead in a folder of their own, under the lab's lease; who is
    interrupted leaves the lab as it was before. Raises LabError when the lab cannot be used."""
    wanted = read(place, to_be_done=True)
    values = _values(wanted)  # before anything is opened: each is a value of its setting
    if testbed is None:
        testbed = _named_by(place, Path(wanted.file))
        source = Source(what=f"{place} names {wanted.file}, which", file=wanted.file)
        expect_yes(source, testbed, agree)
    opening = OpenRequest(testbed=testbed, word="restore", changes=True, why=f"restore {place}")
    try:
        with opened(opening, say) as session:
            return _reinstated(place, wanted, values, session, say)
    except (LeaseBusy, LeaseLost) as error:
        say(str(error))
        return HELD
    except KeyboardInterrupt as signal:  # closing the lab has undone what was changed
        by = f" by {signal}" if str(signal) else ""
        say(f"interrupted{by}; run `labtests restore --list` to see what was left changed")
        return LEFT


def _named_by(place: Path, file: Path) -> Testbed:
    """What the testbed file says that a snapshot names: one that nobody else can write. What is
    wrong with it is not told, as that repeats words of it: it may be any file. Raises LabError."""
    try:
        return load(Readable(file, owned))
    except InventoryError as error:
        raise LabError(
            f"{place} names {file}, which cannot be read as a testbed file\n"
            "  remedy: name the testbed file yourself (--testbed FILE); that lists its mistakes"
        ) from error


def _reinstated(place: Path, wanted: Snapshot, values: Values, session: OpenedLab, say: Say) -> int:
    lab = session.lab
    if wanted.backend != lab.backend:
        raise LabError(
            f"{place} is of a lab that is {wanted.backend}, and this one is {lab.backend}: nothing "
            "was changed\n  remedy: name a snapshot of this lab"
        )
    problems = [text for each in values for text in _change(lab, *each)]
    lab.ahead.keep()
    found = take(lab)
    left = [each for each in compare(wanted, found) if each.setting in SETTINGS]
    for text in problems:
        say(text)
    if not left:
        say(f"the lab is as in {place} ({len(lab.changes)} changes; {session.folder})")
        return DONE
    say(f"still different from {place} (before: the snapshot, after: the lab):")
    for line in lines(left):
        say(line)
    return LEFT


def _values(wanted: Snapshot) -> Values:
    """Every setting that the snapshot knows. Raises LabError for one that is not a value of it."""
    found = []
    for device, state in wanted.devices.items():
        for port, facts in state.get("ports", {}).items():
            at = Endpoint(device=device, interface=port)
            for setting in SETTINGS:
                fact = facts.get("settings", {}).get(setting, {})
                if "value" in fact:
                    value = unpack(fact["value"])
                    expect_value(setting, value)
                    found.append((at, setting, value))
    return found


def _change(lab: Lab, at: Endpoint, setting: str, value: object) -> Iterator[str]:
    try:
        lab.testbed.port(at)
        lab.change(at, kind_of(setting), value)
    except LeaseLost:
        raise
    except NotInTestbed as error:
        yield str(error)
    except LabError as error:
        yield f"{at} {setting} could not be set: {error}"
        try:
            commands = lab.by_hand(at, setting, value)
        except LabError:
            return
        yield f"    type these commands by hand on {at.device}:"
        yield from (f"        {line}" for line in commands)
