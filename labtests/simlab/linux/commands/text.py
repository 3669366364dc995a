"""grep, wc, sort, cut, uniq, tr and seq."""

import re
from collections.abc import Generator, Iterator
from itertools import groupby

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.commands.files import texts
from labtests.simlab.linux.commands.printing import unescaped
from labtests.simlab.linux.options import BadOption, NotEmulated, only, read_options
from labtests.simlab.linux.processes import Pause, Program

_GREP = """-i,--ignore-case -E,--extended-regexp -F,--fixed-strings -v,--invert-match -c,--count
-H,--with-filename -h,--no-filename -q,--quiet -r,--recursive -GslnwxoRPaz -mABC= -e,--regexp=*"""


def _grep(call: Call) -> Program:
    options, names = read_options(call.arguments, _GREP)
    if {"A", "B", "C"} & set(options):
        raise NotEmulated("grep with context")
    if "e" not in options and not names:
        raise BadOption("no pattern is given")
    patterns = (options["e"] if "e" in options else names.pop(0)).split("\n")
    if call.name == "egrep":
        options["E"] = ""
    try:
        chosen = _matcher(patterns, options)
    except re.error:
        return call.fail("Invalid regular expression", 2)
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
        extended = "E" in options or "P" in options
        joined = "|".join(f"(?:{python_regex(pattern, extended)})" for pattern in patterns)
    if "w" in options:
        joined = rf"\b(?:{joined})\b"
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
        elif "r" in options or "R" in options:
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
        if "m" in options and hits >= int(options["m"]):
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


Listed = Generator[Pause, None, tuple[list[str], int]]


def _lines(call: Call, names: list[str]) -> Listed:
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
    lines, status = yield from _lines(call, names)

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
    options, names = read_options(call.arguments, "-dfcb=")
    wanted = options.get("f", options.get("c", options.get("b", "")))
    if not re.fullmatch(r"(\d+(-\d*)?|-\d+)(,(\d+(-\d*)?|-\d+))*", wanted):
        return call.fail("invalid byte, character or field list")
    lines, status = yield from _lines(call, names)
    delimiter = options.get("d", "\t") if "f" in options else ""
    call.out("".join(_cut_line(line, wanted.split(","), delimiter) + "\n" for line in lines))
    return status


def _cut_line(line: str, wanted: list[str], delimiter: str) -> str:
    """These fields, or characters where there is no delimiter."""
    pieces = line.split(delimiter) if delimiter else list(line)
    if delimiter and len(pieces) == 1:
        return line
    chosen: set[int] = set()
    for item in wanted:
        first, dash, last = item.partition("-")
        start = int(first or 1)
        end = int(last) if last else (len(pieces) if dash else start)
        chosen |= set(range(start - 1, min(end, len(pieces))))
    return delimiter.join(pieces[at] for at in sorted(chosen))


def _uniq(call: Call) -> Program:
    options, names = read_options(call.arguments, "-c")
    only(names[1:])
    lines, status = yield from _lines(call, names)
    for line, same in groupby(lines):
        call.out(f"{len(list(same)):7} {line}\n" if "c" in options else f"{line}\n")
    return status


def _tr(call: Call) -> Program:
    options, sets = read_options(call.arguments, "-ds")
    if len(sets) not in {"": (2,), "d": (1,), "s": (1, 2)}.get("".join(options), ()) or "" in sets:
        raise NotEmulated(" ".join(call.argv))
    source, target = _characters(sets[0]), _characters(sets[-1])
    text = yield from call.read_all()
    wide = target.ljust(len(source), target[-1:] or " ")[: len(source)]
    changes = dict.fromkeys(map(ord, source)) if "d" in options else str.maketrans(source, wide)
    text = text.translate(changes)
    if "s" in options and target:
        text = re.sub(f"([{re.escape(target)}])\\1+", r"\1", text)
    call.out(text)
    return 0


def _characters(text: str) -> str:
    """Those of a set of tr, with `a-z` written out."""
    if "[:" in text or "[=" in text:
        raise NotEmulated(text)

    def between(match: re.Match[str]) -> str:
        return "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1)))

    return re.sub(r"(.)-(.)", between, unescaped(text))


def _seq(call: Call) -> int | str:
    """Whole numbers: `seq LAST`, `seq FIRST LAST`, `seq FIRST STEP LAST`."""
    for word in call.arguments:
        if re.match(r"-[^0-9]", word):
            raise NotEmulated(word)
        if not re.fullmatch(r"-?[0-9]{1,6}", word):
            return call.fail(f"invalid floating point argument: ‘{word}’")
    numbers = [int(word) for word in call.arguments]
    if not 1 <= len(numbers) <= 3:
        raise BadOption("missing operand" if not numbers else "extra operand")
    first, step = (numbers[0] if len(numbers) > 1 else 1), numbers[1] if len(numbers) == 3 else 1
    if step == 0:
        return call.fail("invalid Zero increment value: ‘0’")
    last = numbers[-1] + (1 if step > 0 else -1)
    return "".join(f"{number}\n" for number in range(first, last, step))


TOOLS: Tools = {
    "seq": _seq,
    "grep": _grep,
    "egrep": _grep,
    "wc": _wc,
    "sort": _sort,
    "cut": _cut,
    "uniq": _uniq,
    "tr": _tr,
}
