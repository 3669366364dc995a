"""Results as one sees them: a matrix of faults and suites, and what is wrong with labtests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from labtests.faults.declared import Declared
from labtests.faults.judging import as_declared
from labtests.faults.running import GateResult
from labtests.faults.suites import SUITES

SIGNS: Mapping[str, str] = {
    "red": "R",
    "blames another": "B",
    "green": "g",
    "skipped": "-",
    "not met": "N",
    "broken": "X",
}
LEGEND = (
    "R red, in its words; g green; B red, in other words; - skipped; N fault not met; "
    "X no verdict; in brackets: not asked for"
)

ByPlace = Mapping[tuple[str, str], GateResult]


def by_place(
    results: Iterable[GateResult], chosen: Sequence[Declared]
) -> dict[tuple[str, str], GateResult]:
    """Results of these declarations as they are now, by the names of fault and suite."""
    now = {declared.digest for declared in chosen}
    return {(each.fault, each.suite): each for each in results if each.digest in now}


def rows(chosen: Sequence[Declared], found: ByPlace) -> Iterator[tuple[str, list[str]]]:
    """Name and signs of each fault; "" where there is no result."""
    for declared in chosen:
        yield declared.name, [_sign(declared, suite, found) for suite in SUITES]


def _sign(declared: Declared, suite: str, found: ByPlace) -> str:
    result = found.get((declared.name, suite))
    if result is None:
        return ""
    sign = SIGNS[result.seen]
    return sign if suite in declared.red else f"({sign})"


def wrong(chosen: Sequence[Declared], found: ByPlace) -> list[str]:
    """What is not as declared, a line each: a defect of labtests, or of the declaration. A suite
    that this testbed skips says nothing, but one of them has to."""
    lines = []
    for declared in chosen:
        there = [found[declared.name, s] for s in declared.red if (declared.name, s) in found]
        tried = [each for each in there if each.seen != "skipped"]
        lines += [
            f"{each.fault} x {each.suite}: {each.seen}: {each.words[:400]}"
            for each in (tried or there)
            if not as_declared(declared, each.seen)
        ]
    return lines


def text(chosen: Sequence[Declared], found: ByPlace) -> Iterator[str]:
    """The matrix for a terminal."""
    shown = [each for each in chosen if any((each.name, suite) in found for suite in SUITES)]
    used = [suite for suite in SUITES if any((each.name, suite) in found for each in shown)]
    width = max((len(each.name) for each in shown), default=0)
    yield " " * width + "  " + "  ".join(used)
    for name, signs in rows(shown, found):
        cells = [
            (sign or ".").ljust(len(suite))
            for suite, sign in zip(SUITES, signs, strict=True)
            if suite in used
        ]
        yield f"{name:{width}}  " + "  ".join(cells)
    yield LEGEND
