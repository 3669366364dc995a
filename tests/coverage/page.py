"""docs/coverage.md, from the marks of the suites and the list of cases:

python tests/coverage/page.py > docs/coverage.md
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARK = "covers"
HEAD = """# What is covered

Cases of lossless Ethernet and RoCE that public projects test, in our words with their source, and which suite has each of them. Generated from the suites' own marks (`@pytest.mark.covers`):
`python tests/coverage/page.py > docs/coverage.md`. *But* says what a suite leaves out of a case."""  # noqa: E501
GROUPS = {
    "A": "Nothing is lost under congestion",
    "B": "Pauses that a switch gets",
    "C": "Thresholds, headroom, watermarks",
    "D": "Classes and scheduling",
    "E": "Marks, DCQCN, lost packets",
    "F": "Watchdogs and storms",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One of the list. `why`: no suite has it; where one does, what it leaves out."""

    number: str
    what: str
    source: str
    why: str


def cases() -> tuple[dict[str, str], tuple[Case, ...]]:
    """Roots of sources by their letters, and every case."""
    text = (Path(__file__).parent / "cases.txt").read_text(encoding="utf-8")
    lines = [line.split(" | ") for line in text.splitlines() if line and line[0] != "#"]
    roots = {line[0]: line[1] for line in lines if len(line) == 2}
    found = (
        Case(number=number, what=what, source=source, why=" | ".join(why))
        for number, what, source, *why in (line for line in lines if len(line) > 2)
    )
    return roots, tuple(found)


def covered() -> dict[str, list[tuple[str, str]]]:
    """By case: file and test of each that is marked with it."""
    found: dict[str, list[tuple[str, str]]] = {}
    for file in sorted((ROOT / "suites").glob("test_*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for number in _marks(node):
                    found.setdefault(number, []).append((file.name, node.name))
    return found


def _marks(test: ast.FunctionDef) -> Iterator[str]:
    for each in test.decorator_list:
        if isinstance(each, ast.Call) and ast.unparse(each.func) == f"pytest.mark.{MARK}":
            yield from (ast.literal_eval(argument) for argument in each.args)


def lines() -> Iterator[str]:
    """The whole page."""
    roots, every = cases()
    by_case = covered()
    yield HEAD
    yield ""
    yield f"{sum(c.number in by_case for c in every)} of {len(every)} cases are covered."
    for letter, name in GROUPS.items():
        yield ""
        yield f"## {name}"
        yield ""
        yield "| case | source | suite |"
        yield "|---|---|---|"
        for case in (each for each in every if each.number[0] == letter):
            yield f"| {case.number} {case.what} | {_source(case, roots)} | {_told(case, by_case)} |"


def _source(case: Case, roots: dict[str, str]) -> str:
    letters, _, rest = case.source.partition(" ")
    return f"{roots[letters]}{rest}" if letters in roots else case.source


def _told(case: Case, by_case: dict[str, list[tuple[str, str]]]) -> str:
    tests = [
        f"[{test.removeprefix('test_').replace('_', ' ')}](../suites/{file})"
        for file, test in by_case.get(case.number, ())
    ]
    if not tests:
        return f"– {case.why}"
    return ", ".join(tests) + (f". *But:* {case.why}" if case.why else "")


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
