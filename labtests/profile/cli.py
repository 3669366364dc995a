"""The command line of profiles: `labtests profile check | schema | rules`."""

import json
from collections.abc import Sequence

import click

from labtests.errors import InventoryError
from labtests.inventory import located
from labtests.profile.form import json_schema
from labtests.profile.reader import load
from labtests.profile.sense import rules


@click.group()
def profile() -> None:
    """Look into profile files: intended lossless configurations (docs/profiles.md)."""


@profile.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: Sequence[str]) -> None:
    """Check profile FILEs; all mistakes of all of them, each as file:line:column.

    A warning is printed and does not change the exit code.
    """
    mistakes: list[str] = []
    for file in files:
        try:
            found = load(located(file, "profiles"))
        except InventoryError as error:
            mistakes += error.mistakes
            continue
        for warning in found.warnings:
            click.echo(f"warning: {warning}", err=True)
        lossless = ", ".join(map(str, found.form.lossless))
        click.echo(f"OK {found.file}: lossless {lossless}; {len(found.warnings)} warnings")
    if mistakes:
        raise InventoryError(mistakes)


@profile.command()
def schema() -> None:
    """Print the JSON Schema of profile files, for editors."""
    click.echo(json.dumps(json_schema(), indent=2))


@profile.command(name="rules")
def show_rules() -> None:
    """Print every rule that a profile is checked by."""
    for severity, name, meaning in rules():
        click.echo(f"{severity:<8} {name:<26} {' '.join(meaning.split())}")
