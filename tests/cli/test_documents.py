"""Documents name files that are there, and rows and documents that docs/sources.md explains."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
_PATH = re.compile(r"`((?:labtests|tests|docs|suites|testbeds|profiles|benchmarks)/[\w./-]*\w)`")
_ROW = re.compile(r"\bS([1-9][0-9]?)\b(?!-)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_paths_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    lost = [link for link in _LINK.findall(text) if not (document.parent / link).exists()]
    lost += [path for path in _PATH.findall(text) if not (ROOT / path).exists()]
    assert lost == []


def test_modules_that_the_code_names_are_there() -> None:
    """`name.py` in a docstring or comment, where no other project's file is meant."""
    names = {
        path.name
        for folder in ("labtests", "tests", "suites", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
    }
    lost = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sorted((ROOT / "labtests").rglob("*.py"))
        for name in re.findall(r"(?<![\w.-])(\w+\.py)\b", file.read_text(encoding="utf-8"))
        if name not in names and name != "conftest.py"
    ]
    assert lost == []


def test_each_row_of_the_sources_that_is_named_is_explained() -> None:
    explained = set(_ROW.findall((ROOT / "docs" / "sources.md").read_text(encoding="utf-8")))
    named = set()
    for file in [*DOCUMENTS, *(ROOT / "labtests").rglob("*.py"), *(ROOT / "suites").glob("*.py")]:
        named |= set(_ROW.findall(file.read_text(encoding="utf-8")))
    assert named - explained == set()
