"""docs/faults.md: the catalogue, and what its last runs have shown."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from labtests.faults.declared import FAMILIES, Declared
from labtests.faults.judging import as_declared
from labtests.faults.matrix import LEGEND, SIGNS, by_place, rows
from labtests.faults.running import GateResult
from labtests.faults.suites import SUITES

HEAD = """# The catalogue of faults

What goes wrong in real labs, and which suites have to be red then, in which words. `make faults` (`labtests faults run`) runs each of these suites in a dry run that has the fault, behind SSH, where drivers cannot tell;
it ends with 1 when one of them is green, blames something else, or when the fault was not met. `labtests faults list` shows the catalogue, `labtests faults run NAME --suite s1` runs one fault, `--all-suites` the whole matrix. A run that was killed goes on where it was.

A fault is one declaration in [labtests/faults/families](../labtests/faults/families), in roles, so that it runs on any testbed: `labtests faults run --testbed nexus-cx5`. This page is generated: `labtests faults page --into docs/faults.md`.
Words in braces are roles; of words with "or" one has to be there. *Unseen*: no counter that a real lab has shows it, and the verdict claims no more than was seen."""  # noqa: E501


def lines(catalogue: Sequence[Declared], results: Iterable[GateResult]) -> Iterator[str]:
    """The whole page."""
    yield HEAD
    yield ""
    yield from declarations(catalogue)
    yield from _results(catalogue, list(results))


def faults_run(page: str) -> int:
    """Of how many faults a page has results."""
    found = re.search(r"^(\d+) of \d+ faults were run as they are declared now", page, re.MULTILINE)
    return int(found[1]) if found else 0


def declarations(catalogue: Sequence[Declared]) -> Iterator[str]:
    """What the catalogue says, family by family."""
    yield f"## {len(catalogue)} faults in {len(FAMILIES)} families"
    for family in FAMILIES:
        mine = [each for each in catalogue if each.family == family]
        yield ""
        yield f"### {family}: {len(mine)}"
        yield ""
        yield "| fault | what is broken | when | red | words |"
        yield "|---|---|---|---|---|"
        for each in mine:
            red = f"*unseen*: {each.unseen} ({', '.join(each.red)})"
            red = red if each.unseen else ", ".join(each.red)
            cells = (each.name, each.what, each.when, red, _words(each))
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _words(declared: Declared) -> str:
    said = [each if isinstance(each, str) else " or ".join(each) for each in declared.says]
    only = [*declared.switches, *declared.hosts]
    told = ", ".join(said)
    return f"{told} ({', '.join(only)} only)" if only else told


def _results(catalogue: Sequence[Declared], results: list[GateResult]) -> Iterator[str]:
    yield ""
    yield "## Last results"
    yield ""
    now = {each.digest for each in catalogue}
    there = [each for each in results if each.digest in now]
    done = {each.fault for each in there}
    left = [each.name for each in catalogue if each.name not in done]
    run = len(catalogue) - len(left)
    yield f"{run} of {len(catalogue)} faults were run as they are declared now."
    if left:
        yield f"Not run: {', '.join(left)}."
    for testbed, _ in Counter(each.testbed for each in there).most_common():
        yield ""
        found = by_place((each for each in there if each.testbed == testbed), catalogue)
        yield from _matrix(catalogue, found, testbed)


def _matrix(
    catalogue: Sequence[Declared], found: dict[tuple[str, str], GateResult], testbed: str
) -> Iterator[str]:
    shown = [each for each in catalogue if any(name == each.name for name, _ in found)]
    used = [suite for suite in SUITES if any((each.name, suite) in found for each in shown)]
    named = [found[each.name, s] for each in shown for s in each.red if (each.name, s) in found]
    right = sum(
        all(
            as_declared(each, found[each.name, s].seen)
            for s in each.red
            if (each.name, s) in found and found[each.name, s].seen != "skipped"
        )
        for each in shown
    )
    commits = sorted({each.commit for each in found.values()})
    dates = sorted({each.date for each in found.values()})
    seeds = sorted({each.seed for each in found.values()})
    signs = ", ".join(
        f"{count} {seen}" for seen in SIGNS if (count := sum(each.seen == seen for each in named))
    )
    yield f"### {testbed}: {right} of {len(shown)} faults as declared"
    yield ""
    yield (
        f"Commit {', '.join(commits)}; {dates[0]}{f' to {dates[-1]}' if len(dates) > 1 else ''}; "
        f"seed {', '.join(map(str, seeds))}; "
        f"{len(named)} of the {sum(len(each.red) for each in shown)} runs that they name: {signs}. "
        f"{LEGEND}."
    )
    yield ""
    yield f"| fault | {' | '.join(used)} |"
    yield "|---|" + "---|" * len(used)
    for name, cells in rows(shown, found):
        mine = [cell for suite, cell in zip(SUITES, cells, strict=True) if suite in used]
        yield f"| {name} | {' | '.join(mine)} |"
