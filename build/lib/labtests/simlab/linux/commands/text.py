"""grep, wc, sort, cut and seq."""

import re
from collections.abc import Generator, Iterator

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.commands.files import texts
from labtests.simlab.linux.options import BadOption, NotEmulated, read_options, whole
from labtests.simlab.linux.processes import Pause, Program

_GREP = """-i,--ignore-case -E,--extended-regexp -F,--fixed-strings -v,--invert-match -c,--count
-H,--with-filename -h,--no-filename -q,--quiet -r,--recursive -slnwxoz -m= -e,--regexp=*"""


def _grep(call: Call) -> Program:
    options, names = read_options(call.arguments, _GREP)
    if "e" not in options and not names:
        raise BadOption("no pattern is given")
    patterns = (options["e"] if "e" in options else names.pop(0)).split("\n")
    if call.name == "egrep":
        options["E"] = ""
    chosen = _matcher(patterns, options)
    found: list[tuple[str, str]] = []
    status = 0
    many = len(names) > 1
    names, problems = _expanded(call, names, options)
    if names or not many:
        found, status = yield from texts(call, names, quiet="s" in options)
    titled = "H" in options or ((many or "r" in options) and "h" not in options)
    hits = sum(_grep_one(call, (name, text), chosen, (options, titled)) for name, text in found)
    if "q" in options and hits:
        return 0
    return 2 if status or problems else int(not hits)


def _matcher(patterns: list[str], options: dict[str, str]) -> re.Pattern[str]:
    if "F" in options:
        joined = "|".join(re.escape(pattern) for pattern in patterns)
    else:
        joined = "|".join(f"(?:{python_regex(each, 'E' in options)})" for each in patterns)
    if "w" in options:
        joined = rf"(?<!\w)(?:{joined})(?!\w)"  # grep(1): no letter, digit or _ beside it
    if "x" in options:
        joined = rf"^(?:{joined})$"
    return re.compile(joined, re.IGNORECASE if "i" in options else 0)


def python_regex(pattern: str, extended: bool) -> str:
    r"""A POSIX expression as Python's: basic ones have `\|`, `\(` where extended have `|`, `(`."""
    pattern = pattern.replace("[:space:]", r"\s").replace("[:digit:]", "0-9")
    if "[:" in pattern or "\\<" in pattern or "\\>" in pattern:
        raise NotEmulated(pattern)
    if extended:
        return pattern
    swapped = re.sub(r"\\([|(){}+?])|([|(){}+?])", lambda m: m[1] or "\\" + m[2], pattern)
    return re.sub(r"^\*", r"\\*", swapped)


def _expanded(call: Call, names: list[str], options: dict[str, str]) -> tuple[list[str], bool]:
    """With -r the files below folders; without, folders are complained about."""
    files: list[str] = []
    problems = False
    for name in names or (["."] if "r" in options else []):
        if name == "-" or not call.host.tree.is_folder(call.path(name)):
            files.append(name)
        elif "r" in options:
            files += _below(call, name)
        else:
            call.fail(f"{name}: Is a directory")
            problems = True
    return files, problems


def _below(call: Call, name: str) -> Iterator[str]:
    for entry in call.host.tree.entries(call.path(name)):
        path = entry if name == "." else f"{name.rstrip('/')}/{entry}"
        if call.host.tree.is_folder(call.path(path)):
            yield from _below(call, path)
        else:
            yield path


def _grep_one(
    call: Call,
    source: tuple[str, str],
    chosen: re.Pattern[str],
    manner: tuple[dict[str, str], bool],
) -> int:
    (name, text), (options, titled) = source, manner
    prefix = f"{'(standard input)' if name == '-' else name}:" if titled else ""
    hits = 0
    lines = text.split("\0") if "z" in options else text.splitlines()
    for number, line in enumerate(lines, 1):
        match = chosen.search(line)
        if (match is None) is not ("v" in options):
            continue
        hits += 1
        if not {"c", "q", "l"} & set(options):
            found = [match[0] for match in chosen.finditer(line)] if "o" in options else [line]
            for shown in found:
                call.out(f"{prefix}{f'{number}:' if 'n' in options else ''}{shown}\n")
        if hits >= whole(options, "m", len(lines), "max count"):
            break
    if "c" in options:
        call.out(f"{prefix}{hits}\n")
    if "l" in options and hits:
        call.out(f"{name}\n")
    return hits


def _wc(call: Call) -> Program:
    options, names = read_options(call.arguments, "-lwc")
    if len(names) > 1:
        raise NotEmulated("several files")
    found, status = yield from texts(call, names)
    wanted = [letter for letter in "lwc" if letter in options] or list("lwc")
    for name, text in found:
        counts = {
            "l": text.count("\n"),
            "w": len(text.split()),
            "c": len(text.encode("utf-8", "surrogateescape")),
        }
        width = 1 if len(wanted) == 1 else 7
        shown = " ".join(f"{counts[letter]:{width}}" for letter in wanted)
        call.out(f"{shown}{'' if name == '-' else ' ' + name}\n")
    return status


def lines_of(call: Call, names: list[str]) -> Generator[Pause, None, tuple[list[str], int]]:
    """All lines of the operands, or of stdin; and 1 when one could not be read."""
    found, status = yield from texts(call, names)
    return [line for _, text in found for line in text.splitlines()], status


def _sort(call: Call) -> Program:
    options, names = read_options(call.arguments, "-nru -kt=")
    field = re.fullmatch(r"([0-9]+)(,[0-9]+)?([nr]*)", options.get("k", "0"))
    if field is None or (int(field[1]) and "u" in options):
        raise NotEmulated(f"sort -k {options['k']}")
    options |= dict.fromkeys(field[3], "")
    first, last = max(int(field[1]) - 1, 0), int(field[2][1:]) if field[2] else None
    lines, status = yield from lines_of(call, names)

    def key(line: str) -> tuple[float, str, str]:
        fields = line.split(options.get("t"))
        text = " ".join(fields[first:last]) if "k" in options else line
        number = re.match(r"\s*-?[0-9.]+", text)
        return (float(number[0]) if number and "n" in options else 0.0, text, line)

    lines.sort(key=key, reverse="r" in options)
    if "u" in options:
        lines = list(dict.fromkeys(lines))
    call.out("".join(line + "\n" for line in lines))
    return status


def _cut(call: Call) -> Program:
    options, names = read_options(call.arguments, "-df=")
    ranges = [re.fullmatch(r"(\d+)(-?)(\d*)", each) for each in options.get("f", "").split(",")]
    if None in ranges:
        raise NotEmulated(" ".join(call.arguments))
    lines, status = yield from lines_of(call, names)
    delimiter = options.get("d", "\t")
    for line in lines:
        fields = line.split(delimiter)
        chosen = [field for at, field in enumerate(fields, 1) if any(_in(at, r) for r in ranges)]
        call.out((delimiter.join(chosen) if len(fields) > 1 else line) + "\n")
    return status


def _in(at: int, asked: re.Match[str] | None) -> bool:
    """Whether a field is meant by `2`, `2-4` or `2-`."""
    assert asked is not None
    last = asked[3] or (at if asked[2] else asked[1])
    return int(asked[1]) <= at <= int(last)


def _seq(call: Call) -> str:
    """Whole numbers: `seq LAST`, `seq FIRST LAST`."""
    if not all(re.fullmatch(r"[0-9]{1,6}", word) for word in call.arguments[:3]):
        raise NotEmulated(" ".join(call.arguments))
    if not 1 <= len(call.arguments) <= 2:
        raise BadOption("missing operand" if not call.arguments else "extra operand")
    *first, last = map(int, call.arguments)
    return "".join(f"{number}\n" for number in range((first or [1])[0], last + 1))


TOOLS: Tools = {
    "seq": _seq,
    "grep": _grep,
    "egrep": _grep,
    "wc": _wc,
    "sort": _sort,
    "cut": _cut,
}
