"""`labtests network run | validate | figures`: the packet network by itself."""

import importlib
import json
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import click

from labtests.core.errors import LabError
from labtests.core.interpreter import at_root
from labtests.core.output import say, tell
from labtests.core.private_files import write_private
from labtests.core.seeds import SEED_AT_MOST
from labtests.core.signals import Noted, noted

PACKAGES = frozenset({"asyncssh", "numba", "numpy"})
TELLING_S = 5.0
"""So often a long run says how far it is."""


def simulation(module: str) -> ModuleType:
    """A module of the network or the simulated lab. Raises LabError for a package that is an extra
    of this project and not installed. What they import (numba's settings, a linker that asyncssh
    runs) would take files of the current directory."""
    try:
        with at_root():
            return importlib.import_module(f"labtests.{module}")
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        raise LabError(
            f"the simulated lab needs the package {error.name}, which is not installed\n"
            "  remedy: pip install 'labtests[simlab]'; in a clone: make setup"
        ) from error


class Teller:
    """Says how far a run is, and ends it when a signal has come."""

    def __init__(self, signalled: Noted) -> None:
        self._signalled = signalled
        self._begun_s = self._told_s = 0.0

    def ends(self, reached_ms: float, duration_ms: float) -> bool:
        """Whether the run ends here."""
        now_s = time.monotonic()
        if not self._begun_s:  # what was compiled before is not part of the pace
            self._begun_s = self._told_s = now_s
        if now_s - self._told_s >= TELLING_S and reached_ms > 0:
            self._told_s = now_s
            left_s = (now_s - self._begun_s) * (duration_ms / reached_ms - 1)
            share = reached_ms / duration_ms
            tell(f"{reached_ms:.6g} of {duration_ms:g} ms ({share:.1%}), {_span(left_s)} left")
        return bool(self._signalled)


def _span(seconds: float) -> str:
    """As people say it: 42 s, 3 min 20 s, 2 h 5 min."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@click.group()
def network() -> None:
    """The packet network by itself: cases and references."""


@network.command(name="run")
@click.argument("case")
@click.option(
    "--seed",
    type=click.IntRange(0, SEED_AT_MOST),
    default=None,
    help="Override the seed in the case file.",
)
@click.option("--json", "as_json", is_flag=True, help="All figures, series included, as JSON.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Draw goodput and queues over time into this SVG file.",
)
@click.pass_context
def run_case(
    ctx: click.Context, case: str, seed: int | None, as_json: bool, plot: Path | None
) -> None:
    """Run a CASE file (docs/network-cases.md) and show what came out.

    A run of more than some seconds says on stderr how far it is. Ctrl-C ends it early: what came
    out so far is shown, and the exit code is 130 (SIGTERM: 143, SIGHUP: 129).
    """
    cases = simulation("network.cases")
    with noted() as signalled:
        figures = cases.run(cases.load(case), seed=seed, onlooker=Teller(signalled))
    if plot is not None:
        try:
            write_private(plot, simulation("network.cases.plotting").svg(figures))
        except OSError as error:
            raise LabError(f"{plot} cannot be written: {error.strerror}") from error
    if as_json:
        say(json.dumps(figures.plain(), indent=1))
    else:
        for line in simulation("network.cases.printing").lines(figures):
            say(line)
    if signalled and figures.duration_ms < figures.planned_ms:
        ctx.exit(128 + signal.Signals[signalled.name])


@network.command(name="validate")
@click.option("--quick", is_flag=True, help="Some checks of each kind, a few seconds.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option(
    "--reference",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=None,
    help="Compare with the checks and runs of this folder instead (docs/network-cases.md).",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    default=None,
    help="Processes to use; one with --quick, else one for each CPU.",
)
@click.pass_context
def validate_network(
    ctx: click.Context, quick: bool, as_json: bool, folder: Path | None, jobs: int | None
) -> None:
    """Run the reference cases and closed forms, and compare. Exit code 1 when a result is out of
    tolerance."""
    if quick and folder is not None:
        raise LabError("--quick chooses among the packaged checks: not with --reference")
    validation = simulation("network.reference.validation")
    jobs = jobs or (1 if quick else len(os.sched_getaffinity(0)))
    rows = []
    if not as_json:
        say(validation.HEADING)
    for row in validation.judged(quick=quick, folder=folder, jobs=jobs):
        rows.append(row)
        if not as_json:
            say(validation.line(row))
    if as_json:
        say(json.dumps([row.plain() for row in rows], indent=1))
    else:
        say(validation.tally(rows))
    if any(row.verdict == "fail" for row in rows):
        ctx.exit(1)


@network.command(name="figures")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("docs/figures"),
    show_default=True,
    help="Folder for the SVG files, made if need be.",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Put what was measured into this document too (docs/figures.md).",
)
@click.pass_context
def draw_figures(ctx: click.Context, names: Sequence[str], out: Path, page: Path | None) -> None:
    """Draw known ills, cures and closed forms.

    All of docs/figures.md unless NAMEd.

    Prints what each shows beside what it should show. Exit code 1 when a result is out of
    tolerance.
    """
    gallery = simulation("network.pictures.gallery")
    pictures = []
    for picture in gallery.made(names):
        pictures.append(picture)
        say(str(gallery.write(picture, out)))
        for line in gallery.lines(picture.rows):
            say(line)
    if page is not None:
        gallery.quote(page, pictures)
    if any(row.verdict != "pass" for picture in pictures for row in picture.rows):
        ctx.exit(1)
