"""Reading options the way getopt does: `-ab`, `-n5`, `-n 5`, `--name=value`, `--`."""

import re
from collections.abc import Sequence

STATUS_OF_USAGE = {
    **dict.fromkeys(("ls", "sort", "grep", "egrep", "ping", "pgrep", "pkill"), 2),
    **dict.fromkeys(("timeout", "stdbuf", "nohup"), 125),
    "ss": 255,
}
"""Exit statuses after a BadOption, other than 1."""
SAY_NO_MORE = ("ping", "ss", "ibv_devinfo")  # others point to their --help


class NotEmulated(Exception):
    """A real program does this; the text says what."""


class BadOption(Exception):
    """An option that does not exist or lacks its value; the words are getopt's."""


def whole(options: dict[str, str], letter: str, default: int, what: str) -> int:
    """The number given to an option. `what` is how getopt's users name it when it is none."""
    text = options.get(letter, str(default))
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        raise BadOption(f"invalid {what}: ‘{text}’")
    return int(text)


def read_options(
    arguments: Sequence[str],
    flags: str,
    valued: str = "",
    *,
    long: dict[str, str] | None = None,
    stop_early: bool = False,
) -> tuple[dict[str, str], list[str]]:
    """Options by letter (flags with value ""), and the other words.

    `long` maps long names to their letter; `stop_early` ends at the first other word, as wrappers
    such as `timeout` and `env` do.
    """
    options: dict[str, str] = {}
    words: list[str] = []
    queue = list(arguments)
    while queue:
        word = queue.pop(0)
        if word == "--":
            words += queue
            break
        if word.startswith("--"):
            _long(word, queue, options, (valued, long or {}))
        elif word.startswith("-") and word != "-":
            _short(word[1:], queue, options, (flags, valued))
        else:
            words.append(word)
            if stop_early:
                words += queue
                break
    return options, words


def _short(letters: str, queue: list[str], options: dict[str, str], known: tuple[str, str]) -> None:
    flags, valued = known
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in valued:
            if not letters and not queue:
                raise BadOption(f"option requires an argument -- '{letter}'")
            options[letter] = letters or queue.pop(0)
            return
        if letter not in flags:
            raise BadOption(f"invalid option -- '{letter}'")
        options[letter] = ""


def _long(
    word: str, queue: list[str], options: dict[str, str], known: tuple[str, dict[str, str]]
) -> None:
    valued, names = known
    name, equals, value = word[2:].partition("=")
    if name not in names:
        raise BadOption(f"unrecognized option '{word}'")
    letter = names[name]
    if letter in valued and not equals:
        if not queue:
            raise BadOption(f"option '--{name}' requires an argument")
        value = queue.pop(0)
    options[letter] = value
