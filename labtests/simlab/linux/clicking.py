"""How programs made with click and tabulate print: tables, and complaints about words."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence, Set
from inspect import signature
from typing import Any

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux.processes import Pause

_PADDING = 2
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def tabulated(heads: Sequence[str], rows: Sequence[Sequence[Any]], *, right: bool = True) -> str:
    """`tablefmt="simple"`: a column of numbers is on the right, a text where `right` says."""
    texts = [[str(cell) for cell in row] for row in rows]
    columns = list(zip(*texts, strict=True)) if texts else [()] * len(heads)
    widths, sides = [], []
    for head, column in zip(heads, columns, strict=True):
        widths.append(max(len(head) + _PADDING, *map(len, column), 0))
        is_number = bool(column) and all(_NUMBER.fullmatch(cell) for cell in column)
        sides.append(str.rjust if right or is_number else str.ljust)
    ruler = ["-" * width for width in widths]
    lines = [
        "  ".join(side(cell, width) for cell, width, side in zip(row, widths, sides, strict=True))
        for row in ([*heads], ruler, *texts)
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def usage(path: str, problem: str) -> Refused:
    """The program ends with this complaint."""
    words = f'Usage: {path} [OPTIONS] COMMAND [ARGS]...\nTry "{path} -h" for help.\n\n'
    return Refused(f"{words}Error: {problem}\n", 2)


def number(path: str, text: str, low: int, high: int) -> str:
    """A whole number in a range. Raises Refused."""
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise usage(path, f"Invalid value: {text} is not in the valid range of {low} to {high}.")
    return text


def choice(path: str, name: str, text: str, words: Sequence[str]) -> str:
    """One of these words. Raises Refused."""
    if text not in words:
        known = ", ".join(map(repr, words))
        raise usage(path, f"Invalid value for {name}: {text!r} is not one of {known}.")
    return text


def confirmed(call: Call, question: str) -> Generator[Pause, None, None]:
    """Somebody says yes. Raises Refused."""
    call.out(question)
    answer = yield from call.read_some()
    if answer.strip().lower() not in ("y", "yes"):
        raise Refused("Aborted!\n", 1)


def expect_root(call: Call) -> None:
    """Raise Refused for anybody else."""
    if call.process.user != "root":
        raise Refused("Root privileges are required for this operation\n")


def called(path: str, act: Callable[..., Any], *given: Any) -> Any:
    """What a command does with its own first argument and the words behind its name. Raises
    Refused where these are too many, or too few."""
    try:
        signature(act).bind(*given)
    except TypeError as wrong:
        if str(wrong).startswith("missing"):
            raise usage(path, "Missing argument.") from None
        raise usage(path, f"Got unexpected extra argument ({given[-1]})") from None
    return act(*given)


def chosen(
    call: Call, commands: Mapping[str, Any], others: Sequence[str] | None = None
) -> tuple[Any, tuple[str, ...]]:
    """The command that is meant, `queue counters`, and the words behind it. `others`: a program
    that takes beginnings of words, and what it has beside these. Raises Refused, NotEmulated."""
    given, words = call.arguments, list[str]()
    known = [each.split() for each in commands] + [each.split() for each in others or ()]
    for word in given:
        place = len(words)
        names = {each[place] for each in known if each[:place] == words and len(each) > place}
        if not names or (named := _named(word, names, call, words, others is not None)) is None:
            break
        words.append(named)
    for length in range(len(words), 0, -1):
        if (found := commands.get(" ".join(words[:length]))) is not None:
            return found, given[length:]
    if (named := " ".join(words)) in (others or ()):
        raise NotEmulated(f"{call.name} {named}")
    path = " ".join([call.name, *words])
    if len(words) < len(given):
        raise usage(path, f'No such command "{given[len(words)]}".')
    raise usage(path, "Missing command.")


def _named(
    word: str, names: Set[str], call: Call, above: Sequence[str], abbreviated: bool
) -> str | None:
    """This word of a command, or the one that it begins (sonic-utilities' AbbreviationGroup)."""
    if word in names or not abbreviated:
        return word if word in names else None
    found = sorted(each for each in names if each.lower().startswith(word.lower()))
    shortest = min(found, key=len, default=None)
    if shortest is not None and not all(each.startswith(shortest) for each in found):
        path = " ".join([call.name, *above])
        raise usage(path, f"Too many matches: {', '.join(found)}")
    return shortest
