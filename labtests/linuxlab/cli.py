"""The command line: `labtests linuxlab up | down | status`."""

import importlib
import os
from types import ModuleType

import click

from labtests.core.errors import LabError
from labtests.core.output import say
from labtests.inventory import LINUX_LAB_FOLDER, load, located

DEFAULT = "testbeds/linux-lab.yaml"
TESTBED = click.argument("testbed", default=DEFAULT, envvar="LABTESTS_LINUXLAB_TESTBED")


@click.group()
def linuxlab() -> None:
    """A lab of network namespaces on this machine: real sshd, real queues (docs/linux-lab.md)."""


@linuxlab.command()
@TESTBED
def up(testbed: str) -> None:
    """Make the lab that TESTBED describes, or repair it. Needs root."""
    _command().up(load(located(testbed)), say)


@linuxlab.command()
@TESTBED
def down(testbed: str) -> None:
    """Remove the lab of TESTBED (a file, or the lab's name): nothing of it is left. Needs root."""
    _command().down(_name(testbed), say)


@linuxlab.command()
@TESTBED
@click.pass_context
def status(ctx: click.Context, testbed: str) -> None:
    """Say of each device of TESTBED whether it is as it should be. Exit code 10 when one is not."""
    ctx.exit(_command().status(load(located(testbed)), say))


def _command() -> ModuleType:
    return importlib.import_module("labtests.linuxlab.command")  # with all of SSH behind it


def _name(text: str) -> str:
    """The lab's name: of the file, or the text itself when a lab of that name is there."""
    path = located(text)
    if not path.exists() and os.sep not in text:
        return text
    try:
        lab = load(path)
    except LabError as error:
        raise LabError(
            f"{error}\n  remedy: mend the file, or name the lab: labtests linuxlab down NAME "
            f"(ls {LINUX_LAB_FOLDER})"
        ) from None
    return lab.name
