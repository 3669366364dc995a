"""Reading options the way getopt does: `-ab`, `-n5`, `-n 5`, `--name=value`, `--`."""

import getopt
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
def _declared(declared: str) -> tuple[str, list[str], dict[str, tuple[str, bool]]]:
    """The short and the long options as getopt wants them, and what each is called in the end,
    and whether its values are collected."""
    short, long = "", []
    known: dict[str, tuple[str, bool]] = {}
    for item in declared.split():
        names, kind = item.rstrip("=*").split(","), item[len(item.rstrip("=*")) :]
        if len(names) == 1 and item[:2] != "--":
            names = [f"-{letter}" for letter in item[1:].rstrip("=*")]
            known |= {name: (name[1], kind == "=*") for name in names}
        else:
            known |= dict.fromkeys(names, (names[0].lstrip("-"), kind == "=*"))
        short += "".join(name[1] + kind[:1].replace("=", ":") for name in names if len(name) == 2)
        long += [name[2:] + kind[:1] for name in names if len(name) > 2]
    return short, long, known


def read_options(
    arguments: Sequence[str], declared: str, *, stop_early: bool = False
) -> tuple[dict[str, str], list[str]]:
    """Options by letter or first name (flags with value ""), and the other words.

    `declared` are all that there are, as `-abc` (flags), `-n=` (with a value), `-n,--lines=`,
    `--verbose` and `-e=*`, whose values are lines of one text when it comes often. `stop_early`
    ends at the first other word, as wrappers such as `timeout` do.
    """
    short, long, known = _declared(declared)
    options: dict[str, str] = {}
    words: list[str] = []
    left = list(arguments)
    while left:
        try:
            found, behind = getopt.getopt(left, short, long)
        except getopt.GetoptError as error:
            raise _refusal(error, arguments) from None
        for option, value in found:
            name, collected = known[option]
            options[name] = f"{options[name]}\n{value}" if collected and name in options else value
        if stop_early or left[: len(left) - len(behind)][-1:] == ["--"]:
            return options, words + behind
        words, left = words + behind[:1], behind[1:]
    return options, words


def _refusal(error: getopt.GetoptError, arguments: Sequence[str]) -> BadOption:
    """What Python says, in the words of the C library."""
    lacks = "requires" in error.msg and "must not" not in error.msg
    if len(error.opt) == 1:
        if lacks:
            return BadOption(f"option requires an argument -- '{error.opt}'")
        return UnknownOption(f"invalid option -- '{error.opt}'")
    if lacks:
        return BadOption(f"option '--{error.opt}' requires an argument")
    typed = next((word for word in arguments if word.startswith(f"--{error.opt}")), error.opt)
    return UnknownOption(f"unrecognized option '{typed}'")
