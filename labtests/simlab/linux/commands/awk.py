"""awk, as far as one-liners over counters go: patterns, print, `+=`. Anything else is refused."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.commands.files import texts
from labtests.simlab.linux.commands.text import python_regex
from labtests.simlab.linux.options import NOT_HERE, Refused, read_options
from labtests.simlab.linux.processes import Program

BAD_PROGRAM = 2

_RULE = re.compile(r"\s*(?P<pattern>[^{]*?)\s*(?:\{(?P<action>[^}]*)\}|$|(?=\n))")
_TERM = re.compile(
    r"\s*(?:\"(?P<text>(?:\\.|[^\"])*)\"|(?P<number>[0-9]+(?:\.[0-9]+)?)|\$(?P<field>NF|[0-9]+)"
    r"|(?P<name>[A-Za-z_]\w*))\s*"
)
_REGEX = re.compile(r"/(?:\\.|[^/\\])+/")
_OF_AWK = {"FNR", "FS", "OFS", "ORS", "RS", "FILENAME", "SUBSEP", "OFMT", "length", "getline"}
_COMPARISON = re.compile(r"(?P<left>[^=!<>~]+?)\s*(?P<how>==|!=|<=|>=|<|>|!?~)\s*(?P<right>.+)")

Value = float | str


class Misunderstood(Exception):
    """Not of the awk known here."""


@dataclass(slots=True)
class _Awk:
    """One run: its variables, and the line at hand."""

    variables: dict[str, Value]
    separator: str | None
    line: str = ""

    @property
    def fields(self) -> list[str]:
        return [
            self.line,
            *(re.split(self.separator, self.line) if self.separator else self.line.split()),
        ]

    def matches(self, pattern: str) -> bool:
        """Whether the line is one for this rule."""
        if not pattern:
            return True
        if "&&" in pattern:
            return all(self.matches(part.strip()) for part in pattern.split("&&"))
        if _REGEX.fullmatch(pattern):
            return re.search(python_regex(pattern[1:-1], extended=True), self.line) is not None
        comparison = _COMPARISON.fullmatch(pattern)
        if comparison is None:
            raise Misunderstood(pattern)
        return self._compare(comparison)

    def _compare(self, comparison: re.Match[str]) -> bool:
        left, how, right = self.value(comparison["left"]), comparison["how"], comparison["right"]
        if how.endswith("~") and not _REGEX.fullmatch(right) and not _TERM.fullmatch(right):
            raise Misunderstood(right)
        if how.endswith("~"):
            expression = python_regex(right.strip('/"'), extended=True)
            return (re.search(expression, _shown(left)) is not None) == (how == "~")
        order = _order(left, self.value(right))
        return {
            "==": order == 0,
            "!=": order != 0,
            "<": order < 0,
            ">": order > 0,
            "<=": order <= 0,
            ">=": order >= 0,
        }[how]

    def act(self, action: str) -> Iterator[str]:
        """What the statements print."""
        for statement in filter(None, (part.strip() for part in re.split(r"[;\n]", action))):
            if re.match(r"print\b", statement):
                yield self._print(statement[5:])
                continue
            assignment = re.fullmatch(r"(\w+)\s*(\+?)=\s*(.+)|(\w+)\+\+", statement)
            if assignment is None:
                raise Misunderstood(statement)
            name = assignment[1] or assignment[4]
            if name in {*_OF_AWK, "NF", "NR"}:
                raise Misunderstood(name)
            added = self.value(assignment[3]) if assignment[3] else 1.0
            before = _number(self.variables.get(name, ""))
            plain = assignment[2] == "" and assignment[3]
            self.variables[name] = added if plain else before + _number(added)

    def _print(self, arguments: str) -> str:
        if not arguments.strip():
            return self.line + "\n"
        parts = re.findall(r"(?:\"(?:\\.|[^\"])*\"|[^,\"])+", arguments)
        return " ".join(_shown(self.value(part)) for part in parts) + "\n"

    def value(self, expression: str) -> Value:
        """A field, text, number or variable."""
        term = _TERM.fullmatch(expression)
        if term is None:
            raise Misunderstood(expression)
        if term["text"] is not None:
            return term["text"].replace("\\t", "\t").replace("\\n", "\n")
        if term["number"] is not None:
            return float(term["number"])
        last = len(self.fields) - 1
        if term["name"] in _OF_AWK:
            raise Misunderstood(expression)
        if term["name"] is not None:
            return float(last) if term["name"] == "NF" else self.variables.get(term["name"], "")
        number = last if term["field"] == "NF" else int(term["field"])
        return self.fields[number] if number <= last else ""


def _number(value: Value) -> float:
    if isinstance(value, float):
        return value
    digits = re.match(r"\s*[-+]?[0-9]*\.?[0-9]+", value)
    return float(digits[0]) if digits else 0.0


def _shown(value: Value) -> str:
    if isinstance(value, str):
        return value
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def _order(left: Value, right: Value) -> int:
    """Negative, 0 or positive: as numbers when both look like numbers, else as texts."""
    numeric = re.compile(r"\s*[-+]?[0-9]*\.?[0-9]+\s*")
    if all(isinstance(value, float) or numeric.fullmatch(value) for value in (left, right)):
        a, b = _number(left), _number(right)
        return (a > b) - (a < b)
    one, other = _shown(left), _shown(right)
    return (one > other) - (one < other)


def _awk(call: Call) -> Program:
    options, words = read_options(call.arguments, "-F= -v=*", stop_early=True)
    if not words:
        usage = "usage: awk [-F fs][-v var=value][prog | -f progfile][file ...]\n"
        raise Refused(usage, BAD_PROGRAM)
    program = words.pop(0)
    rules = [(m["pattern"], m["action"]) for m in _RULE.finditer(program) if m[0].strip()]
    separator = options.get("F")
    if separator is not None and (len(separator) == 1 and separator != " "):
        separator = re.escape(separator)
    given = [line.partition("=") for line in options.get("v", "").splitlines()]
    run = _Awk({name: value for name, _, value in given}, None if separator == " " else separator)
    reads = any(pattern != "BEGIN" for pattern, _ in rules)
    found, status = (yield from texts(call, words)) if reads else ([], 0)
    try:
        for text in _awk_output(run, rules, [line for _, t in found for line in t.splitlines()]):
            call.out(text)
    except (Misunderstood, re.error):
        call.fail(f"{NOT_HERE}: more of awk than patterns, print, = and +=")
        call.err(f"awk: syntax error at source line 1\n context is\n\t >>> {program} <<<\n")
        return BAD_PROGRAM
    return status


def _awk_output(run: _Awk, rules: list[tuple[str, str | None]], lines: list[str]) -> Iterator[str]:
    def those(wanted: str) -> Iterator[str]:
        for pattern, action in rules:
            if pattern == wanted:
                yield from run.act(action or "")

    yield from those("BEGIN")
    for number, run.line in enumerate(lines, 1):
        run.variables["NR"] = float(number)
        for pattern, action in rules:
            if pattern not in ("BEGIN", "END") and run.matches(pattern):
                yield from run.act("print" if action is None else action)
    yield from those("END")


TOOLS: Tools = {"awk": _awk, "gawk": _awk, "mawk": _awk}
