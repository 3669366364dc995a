"""`labtests new suite`: a file to begin with, which runs as it is."""

import re
from importlib.resources import files
from pathlib import Path

import click

from labtests.core.errors import LabError
from labtests.core.output import say

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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as begun:
            begun.write(skeleton(plain))
    except FileExistsError as error:
        raise LabError(f"{file} is there already\n  remedy: give another name") from error
    except OSError as error:
        raise LabError(f"{file} cannot be written: {error.strerror}") from error
    say(f"{file}\nrun it: pytest {file} --testbed FILE --dry-run")


def skeleton(name: str) -> str:
    """The text of a suite of this name."""
    text = (files("labtests.cli") / SKELETON).read_text(encoding="utf-8")
    return text.replace("NAME", name)
