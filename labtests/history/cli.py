"""The command line of the history: `labtests history list | show | trend | flaky | import`, and
`labtests compare`."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from labtests.core.output import say
from labtests.core.signals import noted

HISTORY = click.option(
    "--history",
    "where",
    envvar="LABTESTS_HISTORY",
    default="reports/history.sqlite",
    show_default=True,
    help="File, or postgresql://… URL.",
)


def _of_lab(command: Callable[..., None]) -> Callable[..., None]:
    """Options that choose one lab's runs."""
    command = click.option("--backend", default="", help="hardware, namespaces or simulated.")(
        command
    )
    return click.option("--testbed", default="", help="Name of the testbed.")(command)


@click.group()
def history() -> None:
    """What earlier runs came to (docs/history.md)."""


@history.command(name="list")
@HISTORY
@_of_lab
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="So many runs, newest first.",
)
def list_runs(where: str, testbed: str, backend: str, most: int) -> None:
    """One line for each run."""
    from labtests.history import command

    _lines(command.listed(where, testbed=testbed, backend=backend, most=most))


@history.command()
@HISTORY
@click.argument("run")
def show(where: str, run: str) -> None:
    """Tests, verdicts and margins of RUN.

    A number of the list, a run's folder, or the name of one.
    """
    from labtests.history import command

    _lines(command.shown(where, run))


@history.command()
@HISTORY
@_of_lab
@click.option("--test", default="", help="Only suites with this text in their name.")
@click.option("--all", "every", is_flag=True, help="All figures, not only those with a margin.")
@click.option(
    "--most", type=click.IntRange(min=1), default=365, show_default=True, help="So many runs."
)
def trend(where: str, **asked: Any) -> None:
    """Figures that moved, since when, and what changed that day."""
    from labtests.history import command

    _lines(command.trends(where, command.TrendRequest(**asked)))


@history.command()
@HISTORY
@_of_lab
def flaky(where: str, testbed: str, backend: str) -> None:
    """Outcomes that changed while lab and suites did not."""
    from labtests.history import command

    _lines(command.flaky_suites(where, testbed=testbed, backend=backend))


@history.command(name="import")
@HISTORY
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.pass_context
def import_runs(ctx: click.Context, /, where: str, folders: Sequence[Path]) -> None:
    """Enter the runs of FOLDERS.

    One that is there stays as it is.

    Exit code 1 when the run.json of one cannot be read.
    """
    from labtests.history import entering

    ctx.exit(0 if entering.enter_folders(list(folders), where, say) else 1)


@click.command()
@HISTORY
@click.option(
    "--out",
    default="reports/site",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the pages. Where it is there, each run writes it anew.",
)
def site(where: str, out: Path) -> None:
    """Write pages over the history.

    Labs, suites by nights, what moved, the last red of each suite.
    """
    from labtests.history import command

    _lines(command.site(where, out))


@click.command()
@HISTORY
@click.argument("old")
@click.argument("new")
@click.option(
    "--most",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Lines of each kind; 0: all.",
)
@click.pass_context
def compare(ctx: click.Context, /, where: str, old: str, new: str, most: int) -> None:
    """What is different between two runs.

    Outcomes, the lab, margins, settings, counters. A run is a folder, a number of `labtests history
    list`, or the name of a run's folder. Exit code 1 when something is worse: an outcome, or a
    margin of which less than two thirds are left.
    """
    from labtests.history import command

    lines, worse = command.compared(where, old, new, most=most)
    _lines(lines)
    ctx.exit(1 if worse else 0)


@click.group()
def metrics() -> None:
    """The newest run of each lab, for Prometheus."""


@metrics.command()
@HISTORY
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def write(where: str, file: Path) -> None:
    """Write FILE for node_exporter's textfile collector."""
    from labtests.history.metrics import write_metrics

    write_metrics(where, file)


@metrics.command()
@HISTORY
@click.option("--address", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(1, 65535), default=9797, show_default=True)
def serve(where: str, address: str, port: int) -> None:
    """Answer Prometheus until a signal comes."""
    from labtests.history import metrics as of_metrics

    with noted() as signalled:
        server = of_metrics.serve(where, address, port)
        say(f"http://{address}:{port}/metrics")
        while not signalled:
            time.sleep(0.2)
        server.shutdown()


@click.command()
@click.option("--keep", required=True, help="Runs of so many days stay, such as 30d.")
@click.option("--keep-red", is_flag=True, help="Also all that did not pass, however old.")
@click.option("--list", "only_list", is_flag=True, help="Only say what would go.")
@click.option(
    "--reports",
    default="reports",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
)
def prune(keep: str, keep_red: bool, only_list: bool, reports: Path) -> None:
    """Remove old run folders.

    The newest run of each lab stays, as do runs that have left changes on a lab. The history keeps
    what it has of all of them.
    """
    from labtests.history import pruning

    rule = pruning.Rule.of(keep, keep_red=keep_red, only_list=only_list)
    pruning.prune(reports, rule, datetime.now(UTC), say)


def _lines(lines: Sequence[str]) -> None:
    for line in lines:
        say(line)
