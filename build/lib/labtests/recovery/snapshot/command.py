"""`labtests snapshot` and `labtests diff`, without the command line around them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from labtests.core.errors import LabError
from labtests.inventory import Testbed
from labtests.recovery.snapshot import files
from labtests.recovery.snapshot.comparing import SnapshotDifference, compare
from labtests.recovery.snapshot.session import Access, opened
from labtests.recovery.snapshot.taking import take

SAME, DIFFERENT = 0, 1

Say = Callable[[str], None]


def snapshot(testbed: Testbed, *, out: Path | None, dry_run: bool, say: Say) -> None:
    """Take one, into a file or as text. Raises LabError."""
    with opened(Access(testbed=testbed, dry_run=dry_run)) as lab:
        taken = take(lab)
    if out is None:
        say(files.text(taken).removesuffix("\n"))
        return
    files.write(taken, out)
    say(f"{out}: {summary(taken)}")


def summary(taken: files.Snapshot) -> str:
    """What is in it, counted."""
    ports = [port for state in taken.devices.values() for port in state.get("ports", {}).values()]
    gone = sum("unreadable" in state for state in taken.devices.values())
    settings = [fact for port in ports for fact in port["settings"].values()]
    dark = sum("unreadable" in fact for fact in settings)
    return (
        f"{len(taken.devices)} devices{f' ({gone} of them not readable)' if gone else ''}, "
        f"{len(ports)} ports, {len(settings)} settings"
        f"{f', {dark} of them not readable' if dark else ''} ({taken.backend})"
    )


def diff(places: Sequence[Path], *, as_json: bool, say: Say) -> int:
    """The difference of two snapshots or runs, or of one run's before and after; the exit code."""
    before, after = _two(places)
    found = compare(before, after)
    if as_json:
        say(json.dumps([difference.plain() for difference in found], indent=1))
    elif not found:
        say(f"no difference: {summary(after)}")
    else:
        for line in lines(found):
            say(line)
    return DIFFERENT if found else SAME


def lines(found: Sequence[SnapshotDifference]) -> list[str]:
    """For a person: a line for each fact; values of several lines below it, before and after."""
    told = []
    for each in found:
        where = f"{each.device}:{each.port}" if each.port else each.device
        if "\n" not in each.before + each.after:
            told.append(f"{where} {each.setting}: {each.before} -> {each.after}")
            continue
        told.append(f"{where} {each.setting}")
        for word, value in (("before", each.before), ("after", each.after)):
            first, *more = value.splitlines() or [""]
            told += [f"    {word:<7} {first}", *(f"            {line}" for line in more)]
    return told


def _two(places: Sequence[Path]) -> tuple[files.Snapshot, files.Snapshot]:
    if len(places) == 2:
        return files.read(places[0]), files.read(places[1])
    if len(places) == 1 and places[0].is_dir():
        return files.read(places[0]), files.read(places[0] / files.AFTER)
    raise LabError("give two snapshots or run folders, or one run folder")
