"""`labtests check | snapshot | diff`: the commands that read a lab and change nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from labtests.core.errors import LabError, unreachable
from labtests.core.finite import FiniteRange
from labtests.core.output import say, tell
from labtests.inventory import Readable, chosen, load, located

UNREACHABLE = 15
TESTBED = click.option(
    "--testbed",
    envvar="LABTESTS_TESTBED",
    required=True,
    help="Testbed file, or the name of one in testbeds/.",
)


@click.command()
@TESTBED
@click.option("--dry-run", is_flag=True, help="Use a simulated lab made from the testbed file.")
@click.option("--fault", "faults", multiple=True, help="Fault to inject, as JSON (dry run only).")
@click.option(
    "--tolerate",
    "tolerated",
    multiple=True,
    help="Failures of this check only warn; may be repeated.",
)
@click.option("--strict", is_flag=True, help="Treat warnings and unknowns as failures.")
@click.option("--json", "as_json", is_flag=True, help="Print findings as JSON.")
@click.option("--all", "every", is_flag=True, help="Also show passed checks.")
@click.option(
    "--idle-s",
    type=FiniteRange(0, 3600),
    default=5.0,
    show_default=True,
    help="How long to watch for noise and errors; 0 leaves that out.",
)
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Is the lab fit for a run? Changes nothing (docs/check.md).

    Exit code 0 without a failure, 10 with one, 15 when a device is not reachable.
    """
    from labtests.check import command

    options["testbed"] = load(_meant(options["testbed"], options["dry_run"]))
    ctx.exit(command.run(command.CheckRequest(**options), say, tell))


@click.command()
@TESTBED
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write to this file.",
)
@click.option("--dry-run", is_flag=True, help="Read a simulated lab made from the testbed file.")
@click.pass_context
def snapshot(ctx: click.Context, testbed: str, out: Path | None, dry_run: bool) -> None:
    """Read the whole QoS state of every device, as JSON.

    Changes nothing (docs/snapshot.md). Exit code 15 when a device is not reachable.
    """
    from labtests.recovery.snapshot import command

    lab = load(_meant(testbed, dry_run))
    try:
        command.snapshot(lab, out=out, dry_run=dry_run, say=say)
    except LabError as error:
        if not unreachable(error):
            raise
        tell(str(error))
        ctx.exit(UNREACHABLE)


@click.command()
@click.argument("places", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="A [B]")
@click.option("--json", "as_json", is_flag=True, help="Print differences as JSON.")
@click.pass_context
def diff(ctx: click.Context, places: Sequence[Path], as_json: bool) -> None:
    """Say what differs between snapshots or runs A and B.

    A run stands for what it found; of one run A alone: between before and after. Exit code 1 when
    something differs."""
    from labtests.recovery.snapshot import command

    ctx.exit(command.diff(places, as_json=as_json, say=say))


def _meant(testbed: str, dry_run: bool) -> Readable | Path:
    """A dry run dials nobody."""
    return located(testbed) if dry_run else chosen(testbed)


@click.command()
@TESTBED
@click.option("--dry-run", is_flag=True, help="Use a simulated lab made from the testbed file.")
@click.option("--fault", "faults", multiple=True, help="Fault to inject, as JSON (dry run only).")
@click.option("--seconds", type=FiniteRange(1, 604800), help="End after so long.")
@click.option("--all", "every", is_flag=True, help="Also show what is 0.")
@click.option("--record", type=click.Path(path_type=Path), help="Add all records, as JSON lines.")
@click.option("--influx", type=click.Path(path_type=Path), help="The same in line protocol.")
@click.option("--metrics-port", type=click.IntRange(1, 65535), help="Answer Prometheus here.")
@click.option("--metrics-address", default="127.0.0.1", show_default=True)
@click.pass_context
def watch(ctx: click.Context, /, **options: Any) -> None:
    """Ports and priorities as their switches stream them (docs/telemetry.md).

    Rate, queue, pauses, marks and drops, until Ctrl-C.
    """
    from labtests.watching import command, export

    port, address = options.pop("metrics_port"), options.pop("metrics_address")
    wanted = export.WantedExports(
        record=options.pop("record"),
        influx=options.pop("influx"),
        metrics=(address, port) if port else None,
    )
    options["testbed"] = load(_meant(options["testbed"], options["dry_run"]))
    ctx.exit(command.watch(command.WatchRequest(wanted=wanted, **options), say))
