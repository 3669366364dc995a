"""Every regular expression of labtests, as it is used, against texts that were made to strain it: a
device chooses what is printed, and the runner must not stand still over it."""

import ast
import importlib
import inspect
import pkgutil
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import pytest
from pumping import LENGTH, pumped

import labtests
from labtests.transport.ssh.terminal import Prompt

ROOT = Path(labtests.__file__).parent

_LOOKING = ("search", "finditer", "findall", "sub", "subn", "split")
_WHOLE = ("match", "fullmatch")
_SIMULATED = "labtests.simlab"  # what it reads is the runner's own


class Slow(BaseException):
    """The time is over; nothing on the way catches this."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises Slow when the process has worked for longer. (pytest-timeout has the other timer.)"""

    def over(*_: object) -> None:
        raise Slow

    earlier = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, earlier)


@cache
def limit_s() -> float:
    """Of this machine's CPU, however fast it is: an eighth of what it takes here to look at each
    character as often as there are others, which is several times what one look at each takes."""
    began = time.process_time()
    re.search(r"^\s*%\s", "\n" * LENGTH, re.MULTILINE)
    return (time.process_time() - began) / 8


def modules() -> list[str]:
    names = [each.name for each in pkgutil.walk_packages(labtests.__path__, "labtests.")]
    return [n for n in names if not n.startswith(_SIMULATED) and not n.endswith("__main__")]


def patterns_in(value: object, deep: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif deep and isinstance(value, dict):
        yield from (
            p for pair in value.items() for each in pair for p in patterns_in(each, deep - 1)
        )
    elif is_dataclass(value) and not isinstance(value, type):  # what a driver declares
        yield from (
            found for each in fields(value) for found in patterns_in(getattr(value, each.name))
        )
    elif deep and isinstance(value, (tuple, list, set, frozenset)):
        yield from (found for each in value for found in patterns_in(each, deep - 1))


@cache
def tree_of(file: Path) -> ast.AST:
    return ast.parse(file.read_text(encoding="utf-8"))


def looked_with(tree: ast.AST) -> set[str]:
    """Names with which a module looks into a text; what is only handed on is held against the
    beginning of a line."""
    return {
        each.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in _LOOKING
        for each in ast.walk(node.value)
        if isinstance(each, ast.Name)
    }


def compiled_late(value: object) -> object:
    """What a module compiles when it is first needed: by a function that is kept and asks for
    nothing."""
    kept = hasattr(value, "cache_parameters") and not inspect.signature(value).parameters
    return value() if kept and "_Unseen" in str(value.__annotations__) else value


def named() -> Iterator[tuple[str, re.Pattern[str], tuple[str, ...]]]:
    for module in modules():
        found = importlib.import_module(module)
        looking = looked_with(tree_of(Path(found.__file__ or "")))
        for name, value in vars(found).items():
            if not name.startswith("__"):
                uses = ("search",) if name in looking else _WHOLE
                for number, pattern in enumerate(patterns_in(compiled_late(value))):
                    yield f"{module}.{name}.{number}", pattern, uses


def written_in_place() -> Iterator[tuple[str, re.Pattern[str], tuple[str, ...]]]:
    """`re.search("...", text)` and the like."""
    for file in sorted(ROOT.rglob("*.py")):
        if "simlab" in file.parts:
            continue
        for node in ast.walk(tree_of(file)):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                    args=[ast.Constant(value=str(text)), *_],
                ) if method in (*_LOOKING, *_WHOLE):
                    use = ("search",) if method in _LOOKING else (method,)
                    yield f"{file.name}:{node.lineno}", re.compile(text), use


def of_prompts() -> Iterator[tuple[str, re.Pattern[str], tuple[str, ...]]]:
    for text in ("<H3C>", "switch#", "admin@sonic:~$"):
        yield f"prompt {text} here", Prompt(text).here, ("search",)
        yield f"prompt {text} any", Prompt(text).any_view, ("search",)


def every() -> list[tuple[str, re.Pattern[str], tuple[str, ...]]]:
    """Each pattern with all its uses, once."""
    found: dict[tuple[str, int], tuple[str, re.Pattern[str], set[str]]] = {}
    for name, pattern, uses in (*named(), *written_in_place(), *of_prompts()):
        place = found.setdefault((pattern.pattern, pattern.flags), (name, pattern, set()))
        place[2].update(uses)
    return [(name, pattern, tuple(sorted(uses))) for name, pattern, uses in found.values()]


def slow(pattern: re.Pattern[str], uses: Iterable[str], texts: Iterable[str]) -> str:
    """The first use and text, cut, that took too long; "" when none did."""
    for text in texts:
        for use in uses:
            look: Callable[[str], object] = getattr(pattern, use)
            try:
                with within(limit_s()):
                    look(text + "\n!" if use == "search" else text)
            except Slow:
                return f"{use}: {text[:120]!r}..."
    return ""


def test_no_pattern_stands_still_over_a_text() -> None:
    found = every()
    assert len(found) > 200
    strained = {
        name: line
        for name, pattern, uses in found
        if (line := slow(pattern, uses, pumped(pattern)))
    }
    assert strained == {}


@pytest.mark.parametrize(
    ("text", "use"),
    [
        (r"^\s*%\s", "search"),
        (r"(a+)+b", "match"),
        (r"(?:\s*(?:warning:.*)?\n)*\s*x", "match"),
        (r"Interface:\s*(\S.*?)\s*$", "match"),
        (r"([0-9]+)Mb/s", "search"),
        (r"(?i)^sudo(?:-rs)?: .*(?:validation failure|account .*expired|is locked)", "search"),
        (r"(?i)^sudo(?:-rs)?: .*(?:no valid sources|/sudoers\S* is (?:owned by|mode ))", "search"),
        (r"(?i)^timeout: \S*sh\S*: Permission denied|^sh: .*exec: timeout", "search"),
        (r"^(?:\S+ )?(\S+)(?: \(.*?\) .*?fw \S+)? port ([0-9]+)(?: \(.*?\))? ==> (.*)$", "match"),
        (r"(?i)x(?=.*account .*expired)", "match"),
    ],
)
def test_the_look_itself_finds_what_is_slow(text: str, use: str) -> None:
    pattern = re.compile(text, re.MULTILINE)
    assert slow(pattern, (use,), pumped(pattern)) != ""
