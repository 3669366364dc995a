"""A device that places its password across the character at which labtests cuts its words: half a
secret is no longer known as one, so a text is cleaned before it is cut."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _pytest._io.saferepr import saferepr

import labtests
from labtests.core import output
from labtests.core.errors import LabError
from labtests.core.output import clean, excerpt
from labtests.drivers.linux_switch.qdiscs import parse_qdiscs
from labtests.drivers.parsing import whole_number
from labtests.lease.record import SHOWN_AT_MOST, shown
from labtests.transport.protocol import Reply

SECRET = "Hunter2-Geheim"
ROOT = Path(labtests.__file__).parent
OWN = ("simlab", "network")  # emulated, or computed here: no device says anything there


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_used", {SECRET})


def said(text: str) -> Reply:
    return Reply(device="A", command="show", text=text, time_s=0)


CUT: dict[str, Callable[[str], object]] = {
    "qdiscs": lambda text: parse_qdiscs(said(text)),
    "number": lambda text: whole_number(said(""), text, "a counter"),
}


@pytest.mark.parametrize("where", CUT)
@pytest.mark.parametrize("before", range(66, 81))
def test_an_error_has_no_part_of_a_secret(where: str, before: int) -> None:
    with pytest.raises(LabError) as raised:
        CUT[where]("x" * before + SECRET + " and more")
    assert "xHunte" not in clean(str(raised.value))


@pytest.mark.parametrize("before", range(SHOWN_AT_MOST - 14, SHOWN_AT_MOST + 1))
def test_what_a_record_says_has_no_part_of_one(before: int) -> None:
    assert "Hunte" not in clean(shown("x" * before + SECRET))


@pytest.mark.parametrize(
    "between", ["\x1b[31m", "\x9b31m", "\x1b]0;title\x07", "\x1b\x07[31m", "\x1b[31\x18"]
)
def test_what_a_record_says_is_cleaned_before_it_is_made_printable(between: str) -> None:
    assert shown(f"by Hunter{between}2-Geheim.") == "by ***."


def test_the_last_characters_have_no_end_of_one() -> None:
    assert excerpt(SECRET + "z" * 67, 80, last=True) == "***" + "z" * 67
    assert excerpt("ab", 1, last=True) == "b"


def test_a_text_that_is_too_long_to_look_at_is_not_shown() -> None:
    assert excerpt(SECRET * 100_000, 80) == "1400000 characters"


@pytest.mark.parametrize("before", range(104, 124))
def test_what_pytest_cuts_out_of_a_local_leaves_no_part_of_a_secret(before: int) -> None:
    local = saferepr("x" * before + SECRET + "z" * 300)
    assert "xHunter" not in clean(local)
    last = saferepr("x" * 300 + SECRET + "z" * before)
    assert "-Geheimz" not in clean(last)


def cuts(tree: ast.AST) -> Iterator[int]:
    """Lines on which a text is cut inside a sentence: `f"{text[:80]}"`."""
    for sentence in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
        for node in ast.walk(sentence):
            match node:
                case ast.Subscript(slice=ast.Slice(upper=ast.Constant(value=int(most)))):
                    yield from [node.lineno] if most >= 20 else []
                case ast.Subscript(
                    slice=ast.Slice(lower=ast.UnaryOp(operand=ast.Constant(value=int(most))))
                ):
                    yield from [node.lineno] if most >= 20 else []


def test_no_sentence_cuts_a_text_by_itself() -> None:
    assert list(cuts(ast.parse("f'{a[:80]!r} {b[-80:]} {c[:3]}'"))) == [1, 1]
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in sorted(ROOT.rglob("*.py"))
        if file.relative_to(ROOT).parts[0] not in OWN
        for line in cuts(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert found == []
