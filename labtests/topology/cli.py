"""The command line: `labtests topology FILE [--check]`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from labtests.core.errors import InventoryError, LabError
from labtests.core.figure_file import check_name, write_figure
from labtests.core.interpreter import simulation
from labtests.core.output import say, tell
from labtests.core.private_files import told_of, write_told
from labtests.core.seeds import SEED_AT_MOST
from labtests.inventory import Readable, located
from labtests.inventory import load as load_testbed
from labtests.inventory.document import read_file

MOST_LOADS = 100_000


def _priorities(
    ctx: click.Context, option: click.Parameter, value: str | None
) -> frozenset[int] | None:
    """0 to 7, with commas; None where the option is not given."""
    if value is None:
        return None
    words = [word.strip() for word in value.split(",")]
    if not all(word in tuple("01234567") for word in words):
        raise click.BadParameter(f"{value!r} is no list of priorities 0 to 7, such as 3,4")
    return frozenset(map(int, words))


@click.command()
@click.argument("file", metavar="TESTBED|CASE")
@click.option("--check", "wanted", is_flag=True, help="Look for cyclic buffer dependencies.")
@click.option(
    "--failures",
    type=click.IntRange(0, 2),
    default=2,
    show_default=True,
    help="Links or switches that fail at once.",
)
@click.option(
    "--convergence/--no-convergence",
    default=True,
    show_default=True,
    help="Also while routes change.",
)
@click.option(
    "--routing",
    type=click.Choice(["ecmp", "shortest", "up-down"]),
    default=None,
    help="Of a case: as it says unless given. Of a testbed: ecmp (all shortest paths).",
)
@click.option(
    "--lossless",
    metavar="N,...",
    default=None,
    callback=_priorities,
    help="Of a testbed: priorities with PFC, on every port [3].",
)
@click.option(
    "--prove",
    is_flag=True,
    help="Deadlock each cycle in the packet network, then try each remedy. Implies --check.",
)
@click.option(
    "--loads",
    type=click.IntRange(0, MOST_LOADS),
    default=0,
    help="Random loads in the packet network, where it has no cycle as it is.",
)
@click.option("--seed", type=click.IntRange(0, SEED_AT_MOST), default=1, help="Of random loads.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Draw the cycles into this file: .svg, .pdf or .png.",
)
@click.option(
    "--cases",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="With --prove: write the cases of the packet network into this folder.",
)
@click.pass_context
def topology(ctx: click.Context, /, **options: Any) -> None:
    """Look for cyclic buffer dependencies that PFC can lock.

    Looks at the network of TESTBED or CASE (docs/topology.md) as it is, with one and two links or
    switches failed, and while routes change. Exit code 0 when there is no cycle, 1 when there is
    one.
    """
    if options["cases"] and not options["prove"]:
        raise click.UsageError("--cases writes the cases of --prove")
    if options["plot"] is not None:
        check_name(options["plot"])
    from labtests.topology import answers, wording

    fabric, base = _fabric(options["file"], options)
    if not (options["wanted"] or options["prove"] or options["loads"] or options["plot"]):
        say(f"{wording.heading(fabric)}\nadd --check to look for cyclic buffer dependencies")
        return
    found = answers.answer(
        fabric,
        failures=options["failures"],
        convergence=options["convergence"],
        progress=lambda text: tell(f"topology: {text}"),
    )
    found, tried = _tried(found, base, options)
    undrawn = _drawn(found, options["plot"])
    if options["as_json"]:
        say(json.dumps({**wording.plain(found), **tried}, indent=1))
    else:
        for line in (*wording.lines(found), *wording.tried(tried)):
            say(line)
    if undrawn is not None:
        raise undrawn
    ctx.exit(0 if found.free and not tried.get("random_loads_locked") else 1)


def _fabric(file: str, options: dict[str, Any]) -> tuple[Any, dict[str, Any] | None]:
    """The network of a file, and the settings of a case. Raises InventoryError."""
    path = located(file)
    document = read_file(Readable(path))
    tree = document.tree if isinstance(document.tree, dict) else {}
    ways = options["routing"]
    if "devices" in tree:
        from labtests.topology import of_testbed

        testbed = load_testbed(path)
        of_testbed.expect_wired(testbed)
        told = {"everywhere": options["lossless"]} if options["lossless"] is not None else {}
        return of_testbed.fabric_of(testbed, ways=ways or "ecmp", **told), None
    if "hosts" in tree or "links" in tree:
        if options["lossless"] is not None:
            raise click.UsageError(f"--lossless is for testbeds: {file} says it in `switch: pfc`")
        case = simulation("network.cases").load(path)
        from labtests.topology.of_case import fabric_of_case

        fabric = fabric_of_case(case, str(path), ways)
        return fabric, case.model_dump(exclude_unset=True)
    mistakes = document.mistakes
    if not mistakes.lines():
        problem = "neither a testbed (it has `devices`) nor a case (`hosts`, `switches`, `links`)"
        mistakes.add((), problem)
    raise InventoryError(mistakes.lines())


def _tried(
    found: Any, base: dict[str, Any] | None, options: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The answer without remedies that the packet network refutes, and what that has shown."""
    if not options["prove"] and not options["loads"]:
        return found, {}
    proving = simulation("topology.proving")
    shown: dict[str, Any] = {}
    if options["prove"]:
        shown["proofs"], left = [], []
        for number, each in enumerate(found.found, 1):
            tell(f"topology: cycle {number} of {len(found.found)} in the packet network")
            proof = proving.proof(each, base)
            left.append(proving.without_refuted(each, proof))
            shown["proofs"].append({"locks": proof.locks, "with_remedy": dict(proof.with_remedy)})
            for name, case in proof.cases.items() if options["cases"] else ():
                text = json.dumps(case.model_dump(exclude_unset=True), indent=1)
                _write(options["cases"] / f"{number}-{name}.yaml", text + "\n")
        found = replace(found, found=tuple(left))
    if options["loads"] and found.steady:
        shown["no_random_loads"] = "there is a cycle in steady state"
    elif options["loads"]:
        tried, locked = proving.locked_by_random(
            found, options["loads"], seed=options["seed"], base=base
        )
        shown |= {"random_loads": tried, "random_loads_locked": len(locked)}
    return found, shown


def _drawn(found: Any, file: Path | None) -> LabError | None:
    """Why there is no drawing, to be said behind the answer: that may have taken hours."""
    if file is None:
        return None
    from labtests.topology.drawing import svg

    try:
        _make_folder_of(file)
        write_figure(file, svg(found))
    except LabError as error:
        return error
    return None


def _make_folder_of(file: Path) -> None:
    with told_of(file):
        file.parent.mkdir(parents=True, exist_ok=True)


def _write(file: Path, text: str) -> None:
    _make_folder_of(file)
    write_told(file, text)
