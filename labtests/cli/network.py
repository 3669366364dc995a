"""`labtests network run | validate | figures`: the packet network by itself."""

import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from labtests.core.errors import LabError
from labtests.core.figure_file import check_name, in_folder, kind_option, write_figure
from labtests.core.finite import FiniteRange
from labtests.core.interpreter import simulation
from labtests.core.output import say, tell
from labtests.core.seeds import SEED_AT_MOST
from labtests.core.signals import Noted, noted

TELLING_S = 5.0
"""So often a long run says how far it is."""


class Teller:
    """Says how far a run is, and ends it when a signal has come."""

    def __init__(self, signalled: Noted, unit: str = "ms") -> None:
        self._signalled, self._unit = signalled, unit
        self._begun_s = self._told_s = 0.0

    def ends(self, reached_ms: float, duration_ms: float, /) -> bool:
        """Whether the run ends here."""
        now_s = time.monotonic()
        if not self._begun_s:  # what was compiled before is not part of the pace
            self._begun_s = self._told_s = now_s
        if now_s - self._told_s >= TELLING_S and reached_ms > 0:
            self._told_s = now_s
            left_s = (now_s - self._begun_s) * (duration_ms / reached_ms - 1)
            reached = f"{reached_ms:.6g} of {duration_ms:g} {self._unit}"
            tell(f"{reached} ({reached_ms / duration_ms:.1%}), {_span(left_s)} left")
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
@click.option(
    "--seeds",
    type=click.IntRange(1, 100_000),
    default=None,
    help="So many runs, with seeds from that one on, on all CPUs: means and 95 % intervals.",
)
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="Processes for --seeds.")
@click.option("--json", "as_json", is_flag=True, help="All figures, series included, as JSON.")
@click.option(
    "--tables",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Write tidy tables (flows, slowdowns, queues, series, ...) as CSV into this folder.",
)
@click.option("--parquet", is_flag=True, help="Tables as parquet (needs the package pyarrow).")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Draw goodput and queues over time into this file: .svg, .pdf or .png.",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Draw all that came out (latency, slowdown, rates, ...) into this folder, a file each.",
)
@kind_option("pdf", "Kind of --figures.")
@click.option(
    "--width-mm",
    type=FiniteRange(60, 1000),
    default=180.0,
    show_default=True,
    help="How wide --plot and --figures are; their type is 8 pt at this width.",
)
@click.option("--caption", is_flag=True, help="Words on drawings that say what they show.")
@click.pass_context
def run_case(ctx: click.Context, /, case: str, **options: Any) -> None:
    """Run a CASE file (docs/network-cases.md) and show what came out.

    A run of more than some seconds says on stderr how far it is. Ctrl-C ends it early: what came
    out so far is shown, and the exit code is 130 (SIGTERM: 143, SIGHUP: 129).
    """
    if options["parquet"] and options["tables"] is None:
        raise click.UsageError("--parquet is how --tables are written: give both")
    if options["seeds"] and options["plot"]:
        raise click.UsageError("--plot draws one run: not with --seeds")
    if options["plot"] is not None:
        check_name(options["plot"])
    if options["figures"] is not None:
        check_name(options["figures"] / f"course.{options['kind']}")
    cases = simulation("network.cases")
    loaded = cases.load(case)
    seed = loaded.seed if options["seed"] is None else options["seed"]
    with noted() as signalled:
        if options["seeds"]:
            runs = _replicated(loaded, range(seed, seed + options["seeds"]), options, signalled)
            early = len(runs) < options["seeds"]
        else:
            runs = [cases.run(loaded, seed=seed, onlooker=Teller(signalled))]
            early = runs[0].duration_ms < runs[0].planned_ms
    if runs:
        _show(runs, options)
    else:
        tell("ended before a run was done: there is nothing to show")
    if signalled and early:
        ctx.exit(128 + signal.Signals[signalled.name])


def _replicated(
    case: Any, seeds: Sequence[int], options: Mapping[str, Any], signalled: Noted
) -> list[Any]:
    """The runs that there are when all are done or a signal has come, by their seeds."""
    teller = Teller(signalled, "runs")
    jobs = options["jobs"] or len(os.sched_getaffinity(0))
    replications = simulation("network.cases.replications")
    runs = replications.replicated(
        case, seeds, jobs=jobs, ends=lambda done: teller.ends(done, len(seeds))
    )
    return sorted(runs, key=lambda figures: figures.seed)


def _show(runs: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Raises LabError for a file that cannot be written: behind all that can be."""
    unwritten = []
    for write in (_plot, _draw, _write_tables):
        try:
            write(runs, options)
        except LabError as error:
            unwritten.append(str(error))
    _say(runs, options)
    if unwritten:
        raise LabError("\n".join(unwritten))


def _plot(runs: Sequence[Any], options: Mapping[str, Any]) -> None:
    if options["plot"] is not None:
        words = {"width_mm": options["width_mm"], "caption": options["caption"]}
        write_figure(options["plot"], simulation("network.cases.drawing").svg(runs[0], **words))


def _draw(runs: Sequence[Any], options: Mapping[str, Any]) -> None:
    if options["figures"] is None:
        return
    drawing = simulation("network.cases.drawing")
    words = {"width_mm": options["width_mm"], "caption": options["caption"]}
    names = []
    for name, svg in drawing.drawings(runs, **words):
        tell(str(in_folder(options["figures"], name, options["kind"], svg)))
        names.append(name)
    missing = drawing.left_out(names, seeds=bool(options["seeds"]))
    if missing:
        tell(f"left out: {missing}")


def _write_tables(runs: Sequence[Any], options: Mapping[str, Any]) -> None:
    if options["tables"] is not None:
        tidy = simulation("network.cases.tidy")
        made = tidy.tables(runs)
        for file in tidy.write_tables(made, options["tables"], parquet=options["parquet"]):
            tell(str(file))


def _say(runs: Sequence[Any], options: Mapping[str, Any]) -> None:
    if options["as_json"]:
        plain = [figures.plain() for figures in runs]
        say(json.dumps(plain if options["seeds"] else plain[0], indent=1))
        return
    printing = simulation("network.cases.printing")
    if options["seeds"]:
        found = simulation("network.cases.replications").intervals(runs)
        shown = printing.interval_lines(found, runs)
    else:
        shown = printing.lines(runs[0])
    for line in shown:
        say(line)


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
    help="Folder for the drawings, made if need be.",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Put what was measured into this document too (docs/figures.md).",
)
@kind_option("svg", "Kind of file (PDF and PNG need the package vl-convert-python).")
@click.pass_context
def draw_figures(
    ctx: click.Context, names: Sequence[str], out: Path, page: Path | None, kind: str
) -> None:
    """Draw known ills, cures and closed forms.

    All of docs/figures.md unless NAMEd.

    Prints what each shows beside what it should show. Exit code 1 when a result is out of
    tolerance.
    """
    gallery = simulation("network.pictures.gallery")
    pictures = []
    for picture in gallery.made(names):
        pictures.append(picture)
        say(str(gallery.write(picture, out, kind)))
        for line in gallery.lines(picture.rows):
            say(line)
    if page is not None:
        gallery.quote(page, pictures)
    if any(row.verdict != "pass" for picture in pictures for row in picture.rows):
        ctx.exit(1)
