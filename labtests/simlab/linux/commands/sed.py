"""sed with one command: `s/…/…/`, or p or d for lines by number or pattern."""

import re
from collections.abc import Callable

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.commands.files import texts
from labtests.simlab.linux.commands.text import python_regex
from labtests.simlab.linux.options import NotEmulated, read_options
from labtests.simlab.linux.processes import Program

_SUBSTITUTION = re.compile(
    r"s(?P<by>[^\w\s])(?P<old>(?:\\.|(?!(?P=by)).)*)(?P=by)"
    r"(?P<new>(?:\\.|(?!(?P=by)).)*)(?P=by)(?P<flags>[gpI]*)$"
)
_ADDRESSED = re.compile(
    r"(?:(?P<first>[0-9]+)(?:,(?P<last>[0-9]+|\$))?|/(?P<pattern>(?:\\.|[^/\\])*)/)?"
    r"(?P<what>[pdq])$"
)


def _sed(call: Call) -> Program:
    arguments = list(call.arguments)
    options, words = read_options(arguments, "-nEr -e=*")
    script = options["e"] if "e" in options else words.pop(0) if words else ""
    try:
        edit = _sed_command(script, extended=bool({"E", "r"} & set(options)))
    except ValueError:
        raise NotEmulated(f"{script!r}") from None
    found, status = yield from texts(call, words)
    for number, line in enumerate((line for _, text in found for line in text.splitlines()), 1):
        kept, printed = edit(number, line)
        for shown in [*printed, *([] if "n" in options or kept is None else [kept])]:
            call.out(shown + "\n")
    return status


SedEdit = Callable[[int, str], tuple[str | None, list[str]]]


def _sed_command(script: str, *, extended: bool) -> SedEdit:
    """What becomes of a line (None: deleted), and what `p` prints. Raises ValueError."""
    if (substitution := _SUBSTITUTION.match(script)) is not None:
        return _substitute(substitution, extended=extended)
    addressed = _ADDRESSED.match(script)
    if addressed is None or addressed["what"] == "q":
        raise ValueError(script)

    def chosen(number: int, line: str) -> bool:
        if addressed["pattern"] is not None:
            return re.search(python_regex(addressed["pattern"], extended), line) is not None
        if addressed["first"] is None:
            return True
        first, last = int(addressed["first"]), addressed["last"]
        return first <= number and (last == "$" or number <= int(last or first))

    def edit(number: int, line: str) -> tuple[str | None, list[str]]:
        if not chosen(number, line):
            return line, []
        return (None, []) if addressed["what"] == "d" else (line, [line])

    return edit


def _substitute(found: re.Match[str], *, extended: bool) -> SedEdit:
    by, flags = found["by"], found["flags"]
    old = found["old"].replace("\\" + by, by)
    new = re.sub(r"(?<!\\)&", r"\\g<0>", found["new"].replace("\\" + by, by)).replace("\\&", "&")
    try:
        pattern = re.compile(python_regex(old, extended), re.IGNORECASE if "I" in flags else 0)
        pattern.sub(new, "")
    except re.error as error:
        raise ValueError(old) from error

    def edit(number: int, line: str) -> tuple[str | None, list[str]]:
        edited, count = pattern.subn(new, line, count=0 if "g" in flags else 1)
        return edited, [edited] if count and "p" in flags else []

    return edit


TOOLS: Tools = {"sed": _sed}
