"""The command line of the lease: `labtests lock | unlock | who`."""

from pathlib import Path
from typing import Any

import click

from labtests.core.output import say
from labtests.inventory import Testbed, chosen, load

TESTBED = click.argument("testbed", required=False, envvar="LABTESTS_TESTBED")


@click.command()
@TESTBED
@click.option("--why", default="", help="Shown to everybody who wants the lab meanwhile.")
@click.option("--for", "lasting", default="", help="Such as 30m, 2h, 3d; else until unlocked.")
@click.option("--force", is_flag=True, help="Take it from whoever has it: a run stops then.")
@click.pass_context
def lock(ctx: click.Context, /, testbed: str | None, **options: Any) -> None:
    """Keep all runs away from TESTBED.

    TESTBED is a file, or the name of one in testbeds/. A run that goes on is not interrupted: then
    the exit code is 15, with who has the lab.
    """
    from labtests.lease import command

    ctx.exit(command.lock(_testbed(testbed), command.LeaseRequest(**options), say))


@click.command()
@TESTBED
@click.option("--force", is_flag=True, help="Also somebody else's, a run's, or garbage.")
@click.pass_context
def unlock(ctx: click.Context, /, testbed: str | None, **options: Any) -> None:
    """Let others use TESTBED again. Exit code 15 when it is not your lock."""
    from labtests.lease import command

    ctx.exit(command.unlock(_testbed(testbed), command.LeaseRequest(**options), say))


@click.command()
@TESTBED
@click.pass_context
def who(ctx: click.Context, /, testbed: str | None) -> None:
    """Say who has TESTBED, since when and why. Exit code 0, also when somebody has."""
    from labtests.lease import command

    ctx.exit(command.who(_testbed(testbed), say))


def _testbed(text: str | None) -> Testbed:
    from labtests.lease.command import only_testbed

    return load(chosen(text) if text else only_testbed(Path("testbeds")))
