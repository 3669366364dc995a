"""The command line of the catalogue: `labtests faults list | run | page`."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from labtests.core.output import say, tell
from labtests.core.seeds import SEED_AT_MOST
from labtests.inventory import located

USUAL = (
    *("h3c-s6550-cx4", "two-leaves", "h3c-dot1p", "h3c-ring"),
    *("nexus-cx5", "sonic-cx5", "cumulus-cx5", "onyx-cx5", "two-spines", "linux-lab"),
)
TESTBED = click.option(
    "--testbed",
    "testbeds",
    multiple=True,
    help="Testbed file, or the name of one in testbeds/; may be repeated. A fault runs on the "
    f"first that can have it.  [default: {', '.join(USUAL)}]",
)
RESULTS = click.option(
    "--results",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("reports/faults.jsonl"),
    show_default=True,
    help="Where results are kept, a line of JSON each.",
)


@click.group()
def faults() -> None:
    """Faults of real labs, and the suites that have to see them."""


@faults.command(name="list")
@click.option("--family", default="", help="Only this one.")
def show(family: str) -> None:
    """Show the catalogue: what is broken, and which suites have to be red."""
    for line in _command().listed(family):
        say(line)


@faults.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@TESTBED
@RESULTS
@click.option("--suite", "suites", multiple=True, help="Only this suite; may be repeated.")
@click.option("--family", default="", help="Only faults of this one.")
@click.option("--all-suites", is_flag=True, help="Every suite, not only those that a fault names.")
@click.option("--quick", is_flag=True, help="Only the first suite that each fault names.")
@click.option("--draw", type=click.IntRange(1), default=None, help="Only so many, by the seed.")
@click.option("--seed", type=click.IntRange(0, SEED_AT_MOST), default=1, show_default=True)
@click.option("--jobs", type=click.IntRange(1), default=None, help="At once.  [default: CPUs]")
@click.option("--anew", is_flag=True, help="Also what there are results of.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path("suites"),
    show_default=True,
    help="Of the suites.",
)
@click.pass_context
def run(ctx: click.Context, /, testbeds: Sequence[str], **options: Any) -> None:
    """Run the suites that faults name, in dry runs that have the fault.

    Without NAME all faults that the testbed can have; what --results has is not run again. Exit
    code 1 when a suite that a fault names is not red, or blames something else, or when a fault
    was not met.
    """
    command = _command()
    request = command.GateRequest(testbeds=_files(testbeds), **options)
    ctx.exit(command.run(request, say))


@faults.command()
@RESULTS
@click.option(
    "--into",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write this file, such as docs/faults.md; one with more results stays as it is.",
)
def page(results: Path, into: Path | None) -> None:
    """Print docs/faults.md: the catalogue, with the last results of each."""
    _command().paged(results, into, say, tell)


def _files(testbeds: Sequence[str]) -> tuple[Path, ...]:
    return tuple(located(each) for each in testbeds or USUAL)


def _command() -> Any:
    return importlib.import_module("labtests.faults.command")
