"""The command line: `labtests init | new | validate | schema | inventory | profile | plan | apply |
simlab | network | topology | linuxlab | faults | check | snapshot | diff | restore | lock |
unlock | who | render | open | journal | history | compare | site | prune | metrics | night |
sweep | tune`.

Exit codes: 0 done; 1 the packet network is not as its references say, a difference, a run that is
worse, or buffers that can wait for each other; 2 a wrong option or file, or a lab that cannot be
(without a traceback); 10 and 15: a lab that is not usable, something left on it; unreachable, in
use.
Every option is also an environment variable, e.g. LABTESTS_SIMLAB_SERVE_SEED.
"""

import errno
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from labtests import __version__
from labtests.cli import states
from labtests.cli.network import network
from labtests.cli.new import new
from labtests.cli.runs import journal, open_page, render
from labtests.core.errors import InventoryError, LabError
from labtests.core.interpreter import simulation
from labtests.core.output import clean, say, tell
from labtests.core.printable import for_terminal
from labtests.core.seeds import SEED_AT_MOST
from labtests.core.shipped import copy_shipped
from labtests.faults.cli import faults
from labtests.history.cli import compare, history, metrics, prune, site
from labtests.inventory import Testbed, chosen, json_schema, load, located
from labtests.lease.cli import lock, unlock, who
from labtests.linuxlab.cli import linuxlab
from labtests.night.cli import night
from labtests.profile.cli import apply, plan, profile
from labtests.study.cli import sweep, tune
from labtests.topology.cli import topology


@contextmanager
def _harmless() -> Iterator[None]:
    """What click says repeats arguments: with `*`, names of anybody's files."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        said = for_terminal(clean(error.format_message()))
        raise click.UsageError(said, error.ctx) from error


_BY_WHAT_ONE_WANTS = {
    "To begin": ("init", "new", "validate", "inventory", "schema", "simlab", "linuxlab"),
    "A lab": ("check", "watch", "snapshot", "diff", "restore", "lock", "unlock", "who"),
    "Its configuration": ("profile", "plan", "apply"),
    "Runs": ("open", "journal", "render", "compare", "history", "site", "prune"),
    "Nights": ("night", "metrics"),
    "Studies": ("faults", "network", "topology", "sweep", "tune"),
}
"""Commands in the order in which somebody meets them; those that stand nowhere come last."""


class _Commands(click.Group):
    """A LabError is an answer: its text on stderr and exit code 2."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See click; in sections."""
        known = {name for names in _BY_WHAT_ONE_WANTS.values() for name in names}
        left = tuple(name for name in self.list_commands(ctx) if name not in known)
        width = max(map(len, self.commands))
        for title, names in {**_BY_WHAT_ONE_WANTS, "Others": left}.items():
            rows = [
                (name.ljust(width), self.commands[name].get_short_help_str(formatter.width))
                for name in names
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        """See click."""
        with _harmless():
            return super().make_context(*given, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """See click."""
        try:
            with _harmless():
                return super().invoke(ctx)
        except LabError as error:
            tell(str(error))
            ctx.exit(2)
        except OSError as error:
            if error.errno in (None, errno.EPIPE):  # ours; who reads has gone away
                raise
            place = error.filename2 or error.filename or "the result cannot be written"
            tell(f"{place}: {error.strerror}")
            ctx.exit(2)


@click.group(
    name="labtests",
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "LABTESTS"},
)
@click.version_option(__version__, prog_name="labtests")
def main() -> None:
    """Prove from counters whether a lossless-Ethernet lab loses nothing.

    Tests are run by pytest: pytest suites --testbed FILE [--dry-run | --plan]
    """


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def validate(files: Sequence[str]) -> None:
    """Check testbed FILEs; report every mistake in every file."""
    mistakes: list[str] = []
    for file in files:
        try:
            testbed = load(located(file))
        except InventoryError as error:
            mistakes += error.mistakes
        else:
            say(f"OK {testbed.file}: {summary(testbed)}")
    if mistakes:
        raise InventoryError(mistakes)


@main.command()
def schema() -> None:
    """Print the JSON Schema of testbed files, for editors."""
    say(json.dumps(json_schema(), indent=2))


for _command in (states.check, states.watch, states.snapshot, states.diff, network):
    main.add_command(_command)


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
def init(folder: Path) -> None:
    """Copy suites, testbeds and profiles to FOLDER.

    To be changed there. What is there already is not written over.
    """
    for line in copy_shipped(folder):
        say(line)


@main.group()
def inventory() -> None:
    """Look into testbed files."""


@inventory.command()
@click.argument("file")
def show(file: str) -> None:
    """Show devices, ports, links and roles of a testbed FILE.

    Defaults and groups are applied.
    """
    from labtests.inventory import tables

    tables.show(load(located(file)))


@main.group()
def simlab() -> None:
    """The simulated lab: emulated devices behind real SSH."""


@simlab.command()
@click.argument("testbed")
@click.option(
    "--seed",
    type=click.IntRange(0, SEED_AT_MOST),
    default=1,
    show_default=True,
    help="Same seed, same figures.",
)
@click.option("--driven", is_flag=True, help="A runner drives the clock by JSON lines on stdin.")
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Folder for keys and ssh_config, made if need be; a temporary one unless given. Its keys "
    "are used again.",
)
@click.option(
    "--ports-from",
    type=click.IntRange(1024, 65535),
    default=None,
    help="SSH port of the first device, the next ones after it; free ports unless given.",
)
@click.option("--password-env", default=None, help="Environment variable with the password.")
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write a testbed file that leads to this lab.",
)
def serve(testbed: str, **options: Any) -> None:
    """Serve a simulated lab made from TESTBED.

    TESTBED is a file, or the name of one in testbeds/. With --directory, --ports-from and
    --password-env it is the same for its clients after a restart.
    """
    file = located(testbed)
    simulation("simlab.serving").serve(load(file), file, **options)


@simlab.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("fault")
def fault(directory: Path, fault: str) -> None:
    """Something goes wrong in a lab that is served from DIRECTORY. FAULT is a JSON object, such as
    '{"kind": "reboot", "device": "S6550"}'; all kinds are in docs/simulated-lab.md."""
    try:
        asked = json.loads(fault)
    except ValueError as error:
        raise click.UsageError(f"FAULT is not JSON: {error}") from error
    simulation("simlab.injection").inject(directory, asked)


@simlab.command()
def warm() -> None:
    """Compile the packet network now, so that the first dry run need not."""
    simulation("network.warming").warm()


@main.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--list", "only_list", is_flag=True, help="Only say which runs are unfinished.")
@click.option("--testbed", default=None, help="Testbed file with the current addresses.")
@click.option(
    "--runner-is-dead", is_flag=True, help="Confirm that the runner on another machine is dead."
)
@click.option("--without-lease", is_flag=True, help="Proceed although the lease cannot be read.")
@click.option(
    "--yes",
    is_flag=True,
    help="Do not ask before contacting devices named in a journal or snapshot.",
)
@click.option("--forget", is_flag=True, help="Give up RUN: change nothing, and let others work.")
@click.pass_context
def restore(ctx: click.Context, /, **options: Any) -> None:
    """Put back what runs that died have left changed. RUN is an id or a run folder; without one,
    all unfinished runs of this machine that no longer run. A snapshot (a file of `labtests
    snapshot`, or a run's state-before.json) in place of RUN: make every setting as it says.

    Asks before contacting a device that no testbed file you named has used before.

    Exit code 0 when nothing is left, 10 when something is (the commands to type by hand are
    printed), 15 when a run is still alive.
    """
    if options["testbed"] is not None:
        options["testbed"] = load(chosen(options["testbed"]))
    agree = _agree if not options.pop("yes") else lambda told: True
    from labtests.recovery import command, restoring

    if restoring.is_meant(options["runs"]):
        place = Path(options["runs"][0])
        ctx.exit(restoring.reinstate(place, testbed=options["testbed"], say=say, agree=agree))
    ctx.exit(command.restore(command.RecoveryRequest(**options, agree=agree), say))


def _agree(told: str) -> bool:
    """A person at a terminal has read it and says yes."""
    say(told)
    try:
        return click.confirm("go on?")
    except click.Abort:  # nobody is there
        return False


def summary(testbed: Testbed) -> str:
    """What a testbed has, counted."""
    ports = sum(len(device.ports) for device in testbed.devices)
    counts = ((len(testbed.devices), "device"), (ports, "port"), (len(testbed.links), "link"))
    text = ", ".join(f"{count} {word}{'s' * (count != 1)}" for count, word in counts)
    roles = ", ".join(f"{role} {len(ends)}" for role, ends in testbed.roles.items())
    return f"{text}; roles: {roles or 'none'}"


for command in (
    new,
    profile,
    plan,
    apply,
    lock,
    unlock,
    who,
    topology,
    linuxlab,
    faults,
    history,
    compare,
    site,
    prune,
    metrics,
    night,
    sweep,
    tune,
    render,
    open_page,
    journal,
):
    main.add_command(command)


if __name__ == "__main__":
    main(prog_name="labtests")
