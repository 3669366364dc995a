"""The command line: `labtests sweep SWEEP.yaml`, `labtests sweep show`, `labtests tune`."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from labtests.core.figure_file import kind_option
from labtests.core.finite import FiniteRange
from labtests.core.interpreter import of_extra
from labtests.core.output import say, tell
from labtests.core.signals import as_ctrl_c
from labtests.inventory import chosen, located
from labtests.inventory import load as load_testbed

PACKAGES = frozenset({"numba", "numpy", "scipy", "optuna"})
INTERRUPTED = 130


def _room(name: str) -> Any:
    """A module of this room. Raises LabError for a package that is an extra and not installed."""
    return of_extra(f"study.{name}", PACKAGES, "studies need", "simlab,study")


class _SweepGroup(click.Group):
    """`labtests sweep FILE` runs FILE; what is no command is a file."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """See click."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["run", *args]
        return super().resolve_command(ctx, args)


@click.group(cls=_SweepGroup, options_metavar="", subcommand_metavar="SWEEP.yaml|show ...")
def sweep() -> None:
    """Run a case at many points, and look at them.

    labtests sweep SWEEP.yaml, labtests sweep show FOLDER."""


_OUT = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Folder of the results; reports/studies/NAME unless given.",
)
_SCHEDULER = click.option("--scheduler", default=None, help="A dask cluster: tcp://HOST:PORT.")
_JOBS = click.option(
    "--jobs", type=click.IntRange(1, 1024), default=None, help="Processes; one for each core."
)


@sweep.command(name="run")
@click.argument("file", type=click.Path(path_type=Path), metavar="SWEEP.yaml")
@click.option("--plan", is_flag=True, help="Say how many runs there are and what they take.")
@_OUT
@_JOBS
@_SCHEDULER
@click.option("--lab", metavar="TESTBED", help="Run the points on this lab instead.")
@click.option("--dry-run", is_flag=True, help="With --lab: a simulated lab for each run.")
@click.option("--recover", is_flag=True, help="With --lab: first undo what a dead run has left.")
@click.option("--again", is_flag=True, help="Runs that have failed are run again.")
@click.pass_context
def run_sweep(
    ctx: click.Context, /, file: Path, plan: bool, out: Path | None, **where: Any
) -> None:
    """Run all points of SWEEP.yaml.

    Those that are not finished yet (docs/studies.md). With --lab, a point is a profile applied to
    the lab, suites that run there, and everything undone.
    Exit code 0 when all are done, 1 when some failed, 130 when it was interrupted.
    """
    if where["lab"] is not None:
        _on_lab(ctx, file, plan, out, where)
        return
    if where["dry_run"] or where["recover"]:
        raise click.UsageError("--dry-run and --recover are for a lab: --lab TESTBED")
    commands = _room("command")
    found = commands.loaded(file)
    folder = out or commands.STUDIES / found.form.name
    if plan:
        for line in commands.planned(found, folder, where):
            say(line)
        return
    with _interrupted(ctx):
        for line in commands.swept(found, folder, where, _told("sweep")):
            say(line)
    ctx.exit(1 if commands.has_failed(found, folder) else 0)


def _on_lab(
    ctx: click.Context, file: Path, plan: bool, out: Path | None, where: dict[str, Any]
) -> None:
    if where["jobs"] or where["scheduler"]:
        raise click.UsageError("a lab runs one point at a time: leave out --jobs and --scheduler")
    labs, reader = _room("on_lab"), _room("reader")
    found = reader.load(file, on_lab=True)
    meant = located if where["dry_run"] else chosen
    testbed = load_testbed(meant(where["lab"]))
    folder = out or Path("reports") / "studies" / f"{found.form.name}-on-{testbed.name}"
    asked = labs.LabSweep(
        sweep=found,
        testbed=testbed,
        folder=folder.absolute(),
        dry_run=where["dry_run"],
        recover=where["recover"],
        again=where["again"],
    )
    if plan:
        for line in labs.planned_on_lab(asked):
            say(line)
        return
    with _interrupted(ctx):
        for line in labs.swept_on_lab(asked, _told("sweep")):
            say(line)
    ctx.exit(1 if labs.has_failed(asked) else 0)


def _table_name(ctx: click.Context, option: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix not in (".csv", ".parquet"):
        raise click.BadParameter(f"{value}: a table is a file that ends in .csv or .parquet")
    return value


@sweep.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--table",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_table_name,
    help=".csv, .parquet",
)
@click.option("--page", type=click.Path(path_type=Path, dir_okay=False), help="An offline page.")
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    help="Maps and fronts into this folder, a file each.",
)
@kind_option("pdf", "Kind of --figures.")
@click.option("--caption", is_flag=True, help="With titles on --figures.")
def show(folder: Path, table: Path | None, page: Path | None, **drawn: Any) -> None:
    """Show what a sweep has found.

    Best points, what matters, what works together."""
    commands = _room("command")
    for line in commands.shown(folder, table, page):
        say(line)
    if drawn["figures"] is None:
        return
    for line in commands.drawn(folder, drawn["figures"], drawn["kind"], titled=drawn["caption"]):
        say(line)


def _bounds(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
    """NAME=LOW:HIGH, each once."""
    found = {}
    for each in value:
        name, _, span = each.partition("=")
        ends = span.split(":")
        known = ("kmin", "kmax", "pmax", "alpha", "headroom", "increase", "cut", "cnp")
        try:
            low, high = map(float, ends)
        except ValueError:
            raise click.BadParameter(f"{each!r} is not NAME=LOW:HIGH") from None
        if name not in known or not 0 < low <= high < math.inf:
            problem = f"{each!r}: a name of {', '.join(known)}, and two numbers, 0 < LOW <= HIGH"
            raise click.BadParameter(problem)
        if name in found:
            raise click.BadParameter(f"{name} is given twice")
        found[name] = (low, high)
    return found


@click.command()
@click.argument("profile", metavar="PROFILE")
@click.option("--case", type=click.Path(path_type=Path), help="The network, and its switches.")
@click.option("--testbed", help="Or that of a testbed file.")
@click.option("--patterns", default="all", show_default=True, help="Names, with commas.")
@click.option("--trials", type=click.IntRange(0, 100_000), default=40, show_default=True)
@click.option(
    "--minutes",
    type=FiniteRange(0.01),
    help="No new setting after so long.",
)
@click.option("--seeds", type=click.IntRange(1, 100), default=1, show_default=True)
@click.option("--sampler", type=click.Choice(["tpe", "nsga2"]), default="tpe", show_default=True)
@click.option("--storage", help="A database URL; search.sqlite in the folder unless given.")
@click.option("--timers", is_flag=True, help="The NICs' timers are searched too.")
@click.option(
    "--bound",
    "bounds",
    multiple=True,
    callback=_bounds,
    metavar="NAME=LOW:HIGH",
    help="Search between these: kmin, kmax, pmax, alpha, ...",
)
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="The new profile.")
@_OUT
@_JOBS
@_SCHEDULER
@click.pass_context
def tune(ctx: click.Context, /, profile: str, out: Path | None, **options: Any) -> None:
    """Search thresholds for PROFILE that meet three goals.

    Over many patterns of traffic: throughput, pauses and latency in the packet
    network (docs/studies.md). Ends with a profile for
    `labtests apply` and a page. The same command goes on with an interrupted search.
    """
    if (options["case"] is None) == (options["testbed"] is None):
        raise click.UsageError("what network: --case FILE or --testbed FILE, one of them")
    if options["testbed"] is not None:
        options["testbed"] = located(options["testbed"])
    file = located(profile, "profiles")
    folder = out or Path("reports") / "studies" / f"tune-{file.stem}"
    with _interrupted(ctx):
        for line in _room("tuned").tuned(file, folder, options, _told("tune")):
            say(line)


def _told(what: str) -> Any:
    return lambda text: tell(f"{what}: {text}")


@contextmanager
def _interrupted(ctx: click.Context) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP end it in order."""
    try:
        with as_ctrl_c():
            yield
    except KeyboardInterrupt:
        tell("interrupted: what is finished is kept; the same command goes on from there")
        ctx.exit(INTERRUPTED)
