"""The command line of profiles: `labtests profile check | schema | rules`, `plan` and `apply`."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from labtests.core.errors import InventoryError
from labtests.core.output import say, tell
from labtests.core.seeds import SEED_AT_MOST, SEED_UNLESS_ASKED
from labtests.inventory import Testbed, chosen, located
from labtests.inventory import load as load_testbed
from labtests.profile.form import json_schema
from labtests.profile.reader import Profile, load
from labtests.profile.sense import rules


@click.group()
def profile() -> None:
    """Look into profile files (docs/profiles.md)."""


@profile.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--testbed",
    default=None,
    metavar="FILE",
    help="Testbed file, or the name of one: can PFC of the profile lock this network?",
)
def check(files: Sequence[str], testbed: str | None) -> None:
    """Check profile FILEs; report every mistake in every file.

    A warning is printed and does not change the exit code.
    """
    mistakes: list[str] = []
    lab = None if testbed is None else load_testbed(located(testbed))
    for file in files:
        try:
            found = load(located(file, "profiles"))
        except InventoryError as error:
            mistakes += error.mistakes
            continue
        told = list(_locks(lab, found))
        warnings = [*found.warnings, *(text for level, text in told if level == "warning")]
        for text in (text for level, text in told if level == "note"):
            tell(f"note: {text}")
        for warning in warnings:
            tell(f"warning: {warning}")
        lossless = ", ".join(map(str, found.form.lossless)) or "none"
        say(f"OK {found.file}: lossless {lossless}; {len(warnings)} warnings")
    if mistakes:
        raise InventoryError(mistakes)


def _locks(lab: Testbed | None, found: Profile) -> Iterator[tuple[str, str]]:
    """Cyclic buffer dependencies that a profile makes: level (a note: on purpose) and text."""
    if lab is None or not found.form.lossless:
        return
    from labtests.check.deadlock import of_priorities

    for told in of_priorities(lab, frozenset(found.form.lossless)):
        remedy = f"; remedy: {told.remedy}" if told.remedy else ""
        yield told.level, f"{found.file}: on {lab.name}: {told.finding}{remedy}"


@profile.command()
def schema() -> None:
    """Print the JSON Schema of profile files, for editors."""
    say(json.dumps(json_schema(), indent=2))


@profile.command(name="rules")
def show_rules() -> None:
    """Print every rule that a profile is checked by."""
    for severity, name, meaning in rules():
        say(f"{severity:<8} {name:<26} {' '.join(meaning.split())}")


def _names(ctx: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The names in a list with commas; none where the option is not given. An empty list is a
    mistake (a shell variable that is not set), never all devices."""
    if value is None:
        return ()
    names = tuple(name.strip() for name in value.split(","))
    if not all(names):
        raise click.BadParameter(f"{value!r} has an empty name; leave it out for all devices")
    return names


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """What `plan` and `apply` have in common."""
    folder = click.Path(path_type=Path, file_okay=False)
    for option in (
        click.argument("profile_file", metavar="PROFILE"),
        click.option(
            "--testbed",
            envvar="LABTESTS_TESTBED",
            required=True,
            metavar="FILE",
            help="Testbed file, or the name of one in testbeds/.",
        ),
        click.option(
            "--limit",
            metavar="DEVICE,...",
            default=None,
            callback=_names,
            help="Only these devices.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
        click.option(
            "--dry-run", is_flag=True, help="Use a simulated lab made from the testbed file."
        ),
        click.option(
            "--seed",
            type=click.IntRange(0, SEED_AT_MOST),
            default=None,
            help=f"Random seed (dry run only; {SEED_UNLESS_ASKED} unless given).",
        ),
        click.option(
            "--fault", "faults", multiple=True, help="Fault to inject, as JSON (dry run only)."
        ),
        click.option("--run-dir", type=folder, default=None, help="Folder for the journals."),
        click.option("--recover", is_flag=True, help="First undo changes left by a crashed run."),
    ):
        command = option(command)
    return command


@click.command()
@_options
@click.pass_context
def plan(ctx: click.Context, /, **options: Any) -> None:
    """Show what PROFILE would change on a lab. Changes nothing.

    Prints the exact commands. Exit code 0 when everything could be read, 1 when something cannot
    be as the profile wants, 10 when an earlier run has left changes, 15 when a device cannot be
    reached or is in use.
    """
    ctx.exit(_run(options, changes=False))


@click.command()
@_options
@click.option(
    "--tolerate",
    "tolerated",
    multiple=True,
    type=click.Choice(["obstacles"]),
    help="Continue although lldpad, DCBX or the like may override it.",
)
@click.option(
    "--partial",
    is_flag=True,
    help="Apply what is possible even if some settings cannot be applied.",
)
@click.pass_context
def apply(ctx: click.Context, /, **options: Any) -> None:
    """Apply PROFILE and verify by read-back. Running it again changes nothing.

    Nothing is saved to a startup configuration. Exit code 0 when the lab matches PROFILE, 1 when
    something cannot be (nothing is changed then, without --partial) or a change failed (everything
    is put back), 10 when an earlier run has left changes, or something such as lldpad would undo
    these (nothing is changed then), 15 when a device cannot be reached or is in use.
    """
    ctx.exit(_run(options, changes=True))


def _run(options: dict[str, Any], *, changes: bool) -> int:
    from labtests.profile import command
    from labtests.recovery import opening

    limit = options["limit"]
    meant = located if options["dry_run"] else chosen  # a dry run dials nobody
    testbed = load_testbed(meant(options["testbed"]))
    for name in limit:
        testbed.device(name)  # a wrong name is a wrong option
    asked = command.ProfileRequest(
        profile=load(meant(options["profile_file"], "profiles")),
        opening=opening.OpenRequest(
            testbed=testbed,
            word="apply" if changes else "plan",
            changes=changes,
            limit=limit,
            **{name: options[name] for name in ("dry_run", "seed", "faults", "run_dir", "recover")},
        ),
        as_json=options["as_json"],
        partial=options.get("partial", False),
        tolerated=options.get("tolerated", ()),
    )
    return command.run(asked, say, tell)
