"""The command line of nights: `labtests night`."""

from pathlib import Path
from typing import Any

import click

from labtests.core.output import say


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--plan", "only_plan", is_flag=True, help="Only say what would run, and how long.")
@click.option("--shard", default="", help="This machine's part of the night, such as 2/5.")
@click.option("--jobs", type=click.IntRange(0, 1000), default=0, help="Labs at once; 0: all.")
@click.option(
    "--reports",
    default="reports",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
)
@click.pass_context
def night(ctx: click.Context, /, **options: Any) -> None:
    """Run the suites of FILE on its labs (docs/night.md).

    Labs run side by side, each in processes of its own. Exit code: that of the worst run; 5 when
    one was left out, 130, 143 or 129 when the night was ended by Ctrl-C, SIGTERM or SIGHUP.
    """
    from labtests.night import command

    ctx.exit(command.night(command.NightRequest(**options), say))
