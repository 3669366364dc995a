"""`labtests check`, without the command line around it."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.table import Table
from rich.text import Text

from labtests.check import CHECKS, CheckFinding, check, judged
from labtests.check.finding import Subject
from labtests.core.console import table_console
from labtests.core.errors import DeviceError, LabError, LabErrors, Unreachable
from labtests.core.output import clean
from labtests.drivers import driver_module
from labtests.inventory import Device, Testbed
from labtests.lab.lab import Lab
from labtests.recovery import held_by, left_behind
from labtests.recovery.snapshot.session import Access, opened
from labtests.transport.commands import program
from labtests.transport.ssh.connecting import SHELL

FIT, NOT_FIT, UNREACHABLE = 0, 10, 15
IDLE_S = 5.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What the command line asks for."""

    testbed: Testbed
    dry_run: bool = False
    faults: Sequence[str] = ()
    tolerated: Sequence[str] = ()
    strict: bool = False
    as_json: bool = False
    every: bool = False
    idle_s: float = IDLE_S


def run(asked: CheckRequest, say: Say, tell: Say = lambda _: None) -> int:
    """Check, print, and the exit code; `tell` hears what is waited for. Raises LabError for what
    can never be."""
    tolerated = expect_checks(asked.tolerated)
    found = judged(_found(asked, tell), tolerated=tolerated, strict=asked.strict)
    if asked.as_json:
        say(json.dumps([each.plain() for each in found], indent=1))
    else:
        show(found, every=asked.every)
        say(total(found))
    return code_of(found)


def expect_checks(names: Sequence[str]) -> frozenset[str]:
    """These checks. Raises LabError that lists what there is."""
    if unknown := [name for name in names if name not in CHECKS]:
        raise LabError(f"no check is called {unknown[0]!r}; there are: {', '.join(CHECKS)}")
    return frozenset(names)


def code_of(found: Iterable[CheckFinding]) -> int:
    """The exit code: 15 when a device is not reachable, 10 for any other failure, else 0."""
    failed = {each.check for each in found if each.level == "failure"}
    if "reachable" in failed:
        return UNREACHABLE
    return NOT_FIT if failed else FIT


def _found(asked: CheckRequest, tell: Say) -> Iterator[CheckFinding]:
    if not asked.dry_run:
        yield from unfinished(asked.testbed)
    testbed = asked.testbed
    try:
        yield from _of_lab(asked, testbed, tell)
    except LabErrors as errors:
        gone = list(_unreachable(errors))
        if not gone:
            raise
        yield from gone
        rest = without(testbed, {each.device for each in gone})
        if rest.devices:
            yield from _of_lab(asked, rest, tell)


def _of_lab(asked: CheckRequest, testbed: Testbed, tell: Say) -> list[CheckFinding]:
    access = Access(testbed=testbed, dry_run=asked.dry_run, faults=asked.faults)
    with opened(access) as lab:
        expect_usable(lab)
        done = check(lab, idle_s=asked.idle_s, progress=lambda text: tell(f"check: {text}"))
        return list(done.findings)


def expect_usable(lab: Lab) -> None:
    """Every host runs a first command. Raises LabErrors with all those whose login runs none."""
    refused = lab.of_each(lambda device: _refused(lab, device))
    if errors := [error for error in refused.values() if error is not None]:
        raise LabErrors(f"{len(errors)} of {len(refused)} devices cannot be used", errors)


def _refused(lab: Lab, device: Device) -> Unreachable | None:
    if driver_module(device.platform).SESSION != SHELL:
        return None
    try:
        lab.transports[device.name].run(program("true"))
    except Unreachable as error:
        return error
    return None


def unfinished(testbed: Testbed) -> Iterator[CheckFinding]:
    """Journals of runs on this machine that died, or still run."""
    for run in left_behind(testbed, dry_run=False, say=lambda text: None):
        yield Subject("leftovers", testbed.name).says(
            "failure",
            held_by(run)
            or f"run {run.run} ({run.runner}) crashed, and its changes were not undone",
            run.restore_command,
        )


def _unreachable(errors: LabErrors) -> Iterator[CheckFinding]:
    for error in errors.exceptions:
        if isinstance(error, LabErrors):
            yield from _unreachable(error)
        elif isinstance(error, Unreachable | DeviceError):
            yield Subject("reachable", error.device).says("failure", error.problem, error.remedy)


def without(testbed: Testbed, names: set[str]) -> Testbed:
    """The testbed without these devices and their cables."""
    return replace(
        testbed,
        devices=tuple(device for device in testbed.devices if device.name not in names),
        links=tuple(link for link in testbed.links if not {link.a.device, link.b.device} & names),
    )


def total(found: Sequence[CheckFinding]) -> str:
    """The last line."""
    counts = [(level, sum(each.level == level for each in found)) for level in _COLOURS]
    return ", ".join(
        f"{count} {level}{'s' * (count != 1 and level in _MANY)}"
        for level, count in counts
        if count or level != "note"
    )


_MANY = ("failure", "warning", "note")
_COLOURS = {
    "failure": "bold red",
    "warning": "yellow",
    "not known": "cyan",
    "note": "dim",
    "ok": "green",
}


def show(found: Sequence[CheckFinding], *, every: bool) -> None:
    """One table. What is good is one line for each check and device, unless `every` is asked."""
    console = table_console()
    table = Table()
    for column in ("level", "check", "device", "finding", "remedy"):
        table.add_column(column, overflow="fold")
    for each in found if every else shortened(found):
        where = f"{each.device}:{each.port}" if each.port else each.device
        level = Text(each.level, style=_COLOURS[each.level])
        table.add_row(
            level, *(Text(clean(t)) for t in (each.check, where, each.finding, each.remedy))
        )
    console.print(table)


def shortened(found: Sequence[CheckFinding]) -> Iterator[CheckFinding]:
    """Good lines of one check are one line."""
    good: dict[str, list[CheckFinding]] = {}
    for each in found:
        if each.level == "ok":
            good.setdefault(each.check, []).append(each)
        else:
            yield each
    for of_check in good.values():
        names = ", ".join(dict.fromkeys(each.device for each in of_check))
        texts = list(dict.fromkeys(each.finding for each in of_check))
        told = texts[0] if len(texts) == 1 else f"{len(of_check)} checks passed"
        yield replace(of_check[0], device=names, port="", finding=told)
