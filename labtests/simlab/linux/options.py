"""Reading options the way getopt does: `-ab`, `-n5`, `-n 5`, `--name=value`, `--`."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

STATUS_OF_USAGE = {
    **dict.fromkeys(
        ("ls", "sort", "awk", "gawk", "mawk", "grep", "egrep", "ping", "pgrep", "pkill"), 2
    ),
    **dict.fromkeys(("timeout", "stdbuf", "nohup"), 125),
    "ss": 255,
}
"""Exit statuses after a BadOption, other than 1."""
NOT_HERE = "the simulated box does not emulate this"
SAY_NO_MORE = ("ping", "ss", "ibv_devinfo")  # others point to their --help


class NotEmulated(Exception):
    """A real program does this; the text says what."""


class Refused(Exception):
    """The program ends, in its own words on stderr, perhaps after some on stdout."""

    def __init__(self, text: str = "", status: int = 1, *, printed: str = "") -> None:
        super().__init__(text)
        self.status, self.printed = status, printed


class BadOption(Exception):
    """An option that lacks its value, or operands that are wrong; the words are getopt's."""


class UnknownOption(BadOption):
    """One that does not exist, or that only the real program has; the words are getopt's."""


def whole(options: dict[str, str], letter: str, default: int, what: str) -> int:
    """The number given to an option. `what` is how getopt's users name it when it is none."""
    text = options.get(letter, str(default))
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        raise BadOption(f"invalid {what}: ‘{text}’")
    return int(text)


@dataclass(frozen=True, slots=True)
class NumberOption:
    """An option with a number: its field of a plan, its bounds, and the words about it."""

    field: str
    words: str
    low: float
    high: float


def read_numbers(
    options: dict[str, str],
    numbers: Mapping[str, NumberOption],
    read: Callable[[NumberOption, str], float],
    refusal: Callable[[NumberOption], Refused],
) -> dict[str, Any]:
    """The fields of a plan for the options that are given; the refusal of one out of bounds."""
    found = {}
    for name, number in numbers.items():
        if name in options:
            value = found[number.field] = read(number, options[name])
            if not number.low <= value <= number.high:
                raise refusal(number)
    return found


def only(words: Iterable[str], *known: str) -> None:
    """Raises NotEmulated for any word but these."""
    for word in words:
        if word not in known:
            raise NotEmulated(word)


@lru_cache
def _known(declared: str) -> dict[str, tuple[str, str]]:
    """What each option is called by in the end, and how it takes a value."""
    known: dict[str, tuple[str, str]] = {}
    for item in declared.split():
        names, kind = item.rstrip("=*").split(","), item[len(item.rstrip("=*")) :]
        if not names[0].startswith("--") and len(names) == 1:
            known |= {f"-{letter}": (letter, kind) for letter in names[0][1:]}
        else:
            known |= dict.fromkeys(names, (names[0].lstrip("-"), kind))
    return known


def read_options(
    arguments: Sequence[str], declared: str, *, stop_early: bool = False
) -> tuple[dict[str, str], list[str]]:
    """Options by letter or first name (flags with value ""), and the other words.

    `declared` are all that there are, as `-abc` (flags), `-n=` (with a value), `-n,--lines=`,
    `--verbose` and `-e=*`, whose values are lines of one text when it comes often. `stop_early`
    ends at the first other word, as wrappers such as `timeout` do.
    """
    known = _known(declared)
    options: dict[str, str] = {}
    words: list[str] = []
    queue = list(arguments)
    while queue:
        word = queue.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            _long(word, queue, options, known)
        elif word.startswith("-") and word != "-":
            _short(word[1:], queue, options, known)
        else:
            words.append(word)
            if stop_early:
                break
    return options, words + queue


def _short(
    letters: str, queue: list[str], options: dict[str, str], known: dict[str, tuple[str, str]]
) -> None:
    while letters:
        letter, letters = letters[0], letters[1:]
        if f"-{letter}" not in known:
            raise UnknownOption(f"invalid option -- '{letter}'")
        name, kind = known[f"-{letter}"]
        if kind and not letters and not queue:
            raise BadOption(f"option requires an argument -- '{letter}'")
        _take(options, name, kind, (letters or queue.pop(0)) if kind else "")
        if kind:
            return


def _long(
    word: str, queue: list[str], options: dict[str, str], known: dict[str, tuple[str, str]]
) -> None:
    option, equals, value = word.partition("=")
    if option not in known:
        raise UnknownOption(f"unrecognized option '{word}'")
    name, kind = known[option]
    if kind and not equals:
        if not queue:
            raise BadOption(f"option '{option}' requires an argument")
        value = queue.pop(0)
    _take(options, name, kind, value)


def _take(options: dict[str, str], name: str, kind: str, value: str) -> None:
    options[name] = f"{options[name]}\n{value}" if kind == "=*" and name in options else value
