"""`labtests render | open | journal`: what a run left, looked at again."""

from collections.abc import Iterator
from pathlib import Path

import click

from labtests.core.errors import LabError
from labtests.core.output import say, tell
from labtests.core.printable import for_terminal
from labtests.core.private_files import write_told
from labtests.transport.chronicle import COMPRESSED, NAME, Chronicle, Exchange, exchanges

REPORTS = Path("reports")
LATEST = "latest"
ANSWER_LINES = 40
"""Of one answer, unless all is asked for."""


def folder_of(run: str) -> Path:
    """A run folder, a testbed whose last whole run is meant, or the id of a run in reports/."""
    places = [Path(run)]
    if Path(run).name == run:
        places += [REPORTS / run / LATEST, REPORTS / run, *sorted(REPORTS.glob(f"*/{run}"))]
    for place in places:
        if any((place / name).is_file() for name in ("run.json", NAME, COMPRESSED)):
            return place
    remedy = f"name a run folder, the id of a run in {REPORTS}/, or a testbed"
    if newest := _newest(run):
        remedy += f"; the newest run is {newest}"
    what = "no whole run is there" if newest or run == LATEST else "no such run"
    raise LabError(f"{run}: {what}\n  remedy: {remedy}")


def _newest(run: str) -> Path | None:
    """Of a testbed that has been asked for parts of its suites only, or of all testbeds."""
    labs = REPORTS.glob("*") if run == LATEST else [REPORTS / Path(run).name]
    found = [file for lab in labs for file in lab.glob("*/run.json")]
    return max((each.parent for each in found), key=lambda folder: folder.name, default=None)


@click.command()
@click.argument("run_folder", type=click.Path(path_type=Path))
def render(run_folder: Path) -> None:
    """Render RUN_FOLDER/run.json again, to RUN_FOLDER/rendered.html."""
    from labtests import report  # with SQLAlchemy behind them
    from labtests.history.background import background
    from labtests.history.entering import place_of

    run = report.read_run(run_folder)
    target = run_folder / "rendered.html"
    known = background(place_of(REPORTS), run, run_folder)
    past = report.past_of(run, known, report.earlier_run(run, run_folder.resolve().parent))
    journal = Chronicle.of(run_folder)
    write_told(target, report.page(run, past=past, journal=journal))
    say(str(target))


@click.command("open")
@click.argument("run", default=LATEST)
def open_page(run: str) -> None:
    """Open the page of RUN in the browser.

    RUN is a run folder, the id of a run, or a testbed; without it, the last whole run.
    """
    folder = folder_of(run)
    pages = [folder / name for name in ("report.html", "rendered.html")]
    there = [page for page in pages if page.is_file()]
    if not there:
        raise LabError(f"{folder} has no report.html\n  remedy: labtests render {folder}")
    newest = max(there, key=lambda page: page.stat().st_mtime)
    say(str(newest))
    click.launch(str(newest.resolve()))


@click.command()
@click.argument("run", default=LATEST)
@click.option("--device", default="", help="Only what this device was asked.")
@click.option("--test", default="", help="Only tests whose id has this text.")
@click.option("--grep", default="", help="Only commands or answers that have this text.")
@click.option("--failed", is_flag=True, help="Only what was not answered, or not with success.")
@click.option("--whole", is_flag=True, help="Every line of every answer.")
def journal(run: str, *, failed: bool, whole: bool, **wanted: str) -> None:
    """What devices were asked in RUN, and what they answered.

    RUN is a run folder, the id of a run, or a testbed; without it, the last whole run.
    """
    current, count, shown = None, 0, 0
    devices: set[str] = set()
    for one in exchanges(folder_of(run)):
        count, devices = count + 1, devices | {one.device}
        if not _is_wanted(one, **wanted) or (failed and not one.failed):
            continue
        shown += 1
        if one.test != current and (current := one.test):
            _print(f"\n{one.test}")
        for line in _lines(one, whole=whole):
            _print(line)
    if not shown:
        tell(f"none of {count} exchanges, with {', '.join(sorted(devices))}, is of that kind")


def _is_wanted(one: Exchange, *, device: str, test: str, grep: str) -> bool:
    return (
        (not device or one.device == device)
        and test in one.test
        and grep in f"{one.command}\n{one.text}"
    )


def _print(line: str) -> None:
    say(for_terminal(line))


def _lines(one: Exchange, *, whole: bool) -> Iterator[str]:
    ended = f"  [{one.problem or f'status {one.status}'}]" if one.failed else ""
    yield f"{one.time_s:.3f} s  {one.device}  {one.kind}: {one.command}{ended}"
    lines = one.text.splitlines()
    shown = lines if whole else lines[:ANSWER_LINES]
    yield from (f"    {line}" for line in shown)
    if len(shown) < len(lines):
        yield f"    … {len(lines) - len(shown)} more lines (--whole)"
