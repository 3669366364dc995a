"""awk and sed, as far as they pick lines and fields: `awk '/rx/ {print $2}'`, `sed s/a/b/`."""

import re
from collections.abc import Callable
from functools import partial

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.commands.text import lines_of, python_regex
from labtests.simlab.linux.options import NotEmulated, Refused, read_options
from labtests.simlab.linux.processes import Program

Edit = Callable[[int, str], tuple[str | None, bool]]
"""What becomes of a line, by its number (None: it is deleted), and whether `p` prints it."""

_REGEX = r"/(?:\\.|[^/\\])*/"
_AWK = re.compile(
    rf"\s*(?P<patterns>(?:{_REGEX}(?:\s*&&\s*{_REGEX})*)?)\s*"
    r"(?P<action>\{\s*print\b(?P<items>[^{};]*)\}\s*)?"
)
_ITEM = re.compile(r'\s*(?:\$(?P<field>NF|[0-9]+)|"(?P<text>[^"\\]*)"|(?P<count>NF|NR))\s*')
_SUBSTITUTION = re.compile(
    r"s(?P<by>[^\w\s])(?P<old>(?:\\.|(?!(?P=by)).)*)(?P=by)"
    r"(?P<new>(?:\\.|(?!(?P=by)).)*)(?P=by)(?P<flags>[gpI]*)$"
)
_ADDRESSED = re.compile(
    rf"(?:(?P<first>[0-9]+)(?:,(?P<last>[0-9]+|\$))?|(?P<pattern>{_REGEX}))?(?P<what>[pd])$"
)


def _awk(call: Call) -> Program:
    """One rule: patterns, and a print."""
    options, words = read_options(call.arguments, "-F=", stop_early=True)
    if not words:
        raise Refused("usage: awk [-F fs][-v var=value][prog | -f progfile][file ...]\n", 2)
    rule = _AWK.fullmatch(words[0])
    items = [_ITEM.fullmatch(item) for item in (rule["items"] or "$0").split(",")] if rule else []
    if rule is None or None in items or not words[0].strip():
        raise NotEmulated(words[0])
    patterns = [python_regex(each[1:-1], True) for each in re.findall(_REGEX, rule["patterns"])]
    separator = options.get("F", " ")
    lines, status = yield from lines_of(call, words[1:])
    for number, line in enumerate(lines, 1):
        if all(re.search(pattern, line) for pattern in patterns):
            fields = line.split() if separator == " " else re.split(separator, line)
            shown = (_value(item, number, [line, *fields]) for item in items if item is not None)
            call.out(" ".join(shown) + "\n")
    return status


def _value(item: re.Match[str], number: int, fields: list[str]) -> str:
    """Of `$2`, `NF`, `"text"`."""
    if item["text"] is not None:
        return item["text"]
    last = len(fields) - 1
    if item["count"]:
        return str(number if item["count"] == "NR" else last)
    at = last if item["field"] == "NF" else int(item["field"])
    return fields[at] if at <= last else ""


def _sed(call: Call) -> Program:
    """One command: `s/…/…/`, or p or d for lines by number or pattern."""
    options, words = read_options(call.arguments, "-nEr -e=*")
    script = options["e"] if "e" in options else words.pop(0) if words else ""
    edit = _sed_command(script, bool({"E", "r"} & set(options)))
    lines, status = yield from lines_of(call, words)
    for number, line in enumerate(lines, 1):
        edited, printed = edit(number, line)
        times = printed + (edited is not None and "n" not in options)
        call.out(f"{edited}\n" * times)
    return status


def _sed_command(script: str, extended: bool) -> Edit:
    if (found := _SUBSTITUTION.match(script)) is not None:
        by = found["by"]
        old, new = (found[part].replace("\\" + by, by) for part in ("old", "new"))
        new = re.sub(r"(?<!\\)&", r"\\g<0>", new).replace("\\&", "&")
        ignores = re.IGNORECASE if "I" in found["flags"] else 0
        pattern = re.compile(python_regex(old, extended), ignores)
        pattern.sub(new, "")
        return partial(_substituted, pattern, new, found["flags"])
    addressed = _ADDRESSED.match(script)
    if addressed is None:
        raise NotEmulated(repr(script))
    return partial(_addressed, addressed, extended)


def _substituted(
    pattern: re.Pattern[str], new: str, flags: str, number: int, line: str
) -> tuple[str | None, bool]:
    edited, count = pattern.subn(new, line, count=0 if "g" in flags else 1)
    return edited, "p" in flags and count > 0


def _addressed(
    command: re.Match[str], extended: bool, number: int, line: str
) -> tuple[str | None, bool]:
    first, last = command["first"], command["last"] or command["first"]
    if command["pattern"]:
        meant = bool(re.search(python_regex(command["pattern"][1:-1], extended), line))
    else:
        meant = not first or int(first) <= number <= (number if last == "$" else int(last))
    deleted = meant and command["what"] == "d"
    return None if deleted else line, meant and not deleted


TOOLS: Tools = {"awk": _awk, "gawk": _awk, "mawk": _awk, "sed": _sed}
