"""The command line: `labtests linuxlab up | down | status`."""

from pathlib import Path

import click

from labtests.core.errors import InventoryError, LabError
from labtests.core.output import say
from labtests.core.private_files import NotPrivate
from labtests.inventory import LINUX_LAB_FOLDER, Readable, chosen, load, to_dial

DEFAULT = Path("testbeds/linux-lab.yaml")
TESTBED = click.argument("testbed", required=False, envvar="LABTESTS_LINUXLAB_TESTBED")


@click.group()
def linuxlab() -> None:
    """A lab of network namespaces on this machine.

    Real sshd, real queues (docs/linux-lab.md).
    """


@linuxlab.command()
@TESTBED
def up(testbed: str | None) -> None:
    """Make the lab that TESTBED describes, or repair it. Needs root."""
    from labtests.linuxlab import command

    command.up(load(_meant(testbed)), say)


@linuxlab.command()
@TESTBED
def down(testbed: str | None) -> None:
    """Remove the lab of TESTBED. Needs root.

    TESTBED is a file, or the lab's name; nothing of the lab is left.
    """
    from labtests.linuxlab import command

    command.down(_name(testbed), say)


@linuxlab.command()
@TESTBED
@click.pass_context
def status(ctx: click.Context, testbed: str | None) -> None:
    """Say of each device of TESTBED whether it is as it should be. Exit code 10 when one is not."""
    from labtests.linuxlab import command

    ctx.exit(command.status(load(_meant(testbed)), say))


def _meant(text: str | None) -> Readable:
    """Namespaces are made and removed because of it, and processes ended."""
    return to_dial(DEFAULT, named=False) if text is None else chosen(text)


def _name(text: str | None) -> str:
    """The lab's name: of the file, or the text itself when a lab of that name is there."""
    try:
        source = _meant(text)
    except InventoryError:
        return str(text)
    try:
        lab = load(source)
    except NotPrivate:
        raise
    except LabError as error:
        raise LabError(
            f"{error}\n  remedy: correct the file, or name the lab: labtests linuxlab down NAME "
            f"(ls {LINUX_LAB_FOLDER})"
        ) from None
    return lab.name
