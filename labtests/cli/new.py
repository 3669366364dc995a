"""`labtests new suite`, `labtests new testbed`: files to begin with, which run as they are."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from labtests.cli.leaf_spine import LeafSpine
from labtests.core.errors import LabError
from labtests.core.output import say
from labtests.inventory import Readable, load

SKELETON = "suite.txt"
LONGEST = 60
_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{LONGEST - 1}}}")


@click.group()
def new() -> None:
    """Write a file to begin with."""


@new.command()
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
def suite(name: str, folder: Path) -> None:
    """Write a suite of this NAME into FOLDER, which runs as it is.

    One test: a load that no queue drops, and its control. docs/writing-suites.md goes on from it.
    """
    plain = name.replace("-", "_").removeprefix("test_")
    if not _NAME.fullmatch(plain):
        raise LabError(
            f"{name!r} names no suite\n  remedy: small letters, digits and _, beginning with a "
            f"letter, {LONGEST} at most, such as half_load"
        )
    file = folder / f"test_{plain}.py"
    _begin(file, skeleton(plain))
    say(f"{file}\nrun it: pytest {file} --testbed FILE --dry-run")


@new.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--hosts", default=64, show_default=True, help="The last one receives.")
@click.option(
    "--leaves", default=4, show_default=True, help="Switches that hosts are plugged into."
)
@click.option("--spines", default=2, show_default=True, help="Switches between the leaves.")
@click.option("--platform", default="comware", show_default=True, help="Of all switches.")
@click.option("--down", default="Twenty-FiveGigE1/0/{}", show_default=True, help="A leaf's ports.")
@click.option("--up", default="HundredGigE1/0/{}", show_default=True, help="Leaf to spine.")
@click.option("--gbit", default=25.0, show_default=True, help="Of a host's cable, in Gb/s.")
@click.option("--spine-gbit", default=400.0, show_default=True, help="Of a spine's, in Gb/s.")
def testbed(file: Path, gbit: float, spine_gbit: float, **shape: Any) -> None:
    """Write a testbed FILE of two tiers.

    Hosts are on leaf switches, of which each has a cable to each spine.
    """
    _expect_switches(shape["platform"])
    drawn = LeafSpine(host_gbit_per_s=gbit, spine_gbit_per_s=spine_gbit, **shape)
    text = drawn.text(file.stem)
    _expect_valid(file, text)
    _begin(file, text)
    say(f"{file}\nlook at it: labtests validate {file}")


def _expect_switches(platform: str) -> None:
    """Raises LabError where no switch is of this platform."""
    from labtests.drivers import driver_module

    if driver_module(platform).KIND != "switch":
        raise LabError(f"{platform} is a platform of hosts, not of switches (docs/testbeds.md)")


def _expect_valid(file: Path, text: str) -> None:
    """Raises LabError with the first mistake that `labtests validate` would find."""
    try:
        load(Readable(file, lambda *_, **__: text.encode()))
    except LabError as error:
        first = str(error).splitlines()[0]
        raise LabError(f"of these options comes no testbed file: {first}") from error


def _begin(file: Path, text: str) -> None:
    """A new file, in a folder that is made where it is not."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as begun:
            begun.write(text)
    except FileExistsError as error:
        raise LabError(f"{file} is there already\n  remedy: give another name") from error
    except OSError as error:
        raise LabError(f"{file} cannot be written: {error.strerror}") from error


def skeleton(name: str) -> str:
    """The text of a suite of this name."""
    text = (files("labtests.cli") / SKELETON).read_text(encoding="utf-8")
    return text.replace("NAME", name)
