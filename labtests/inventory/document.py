"""YAML text as a plain tree with the position of every value, refusing what YAML leaves unclear.

PyYAML reads YAML 1.1: `no` is false, `12:30:45` is 45045, `010` is 8, the last of two equal keys
wins silently. Editors and people read YAML 1.2. So a value that the two read differently is
refused, and so are duplicate keys, tags, merge keys and aliases that grow without bound. One such
value is no riddle: `1e-5`, as programs write it, is a number (in YAML 1.1 a text).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import cast

import yaml

from labtests.core.errors import InventoryError
from labtests.core.trusted_files import NotAFile, Reader, TooLong, handed
from labtests.inventory.mistakes import Mistakes, Path, Position, YamlPlace, quoted
from labtests.inventory.names import names_a_secret

DEPTH_LIMIT = 20
"""How deep a testbed file may nest; the format itself needs 6."""

ALIAS_LIMIT = 10_000
"""How many values may come from aliases. Ten aliases of ten aliases … are 10**n values."""

SIZE_LIMIT_BYTES = 2**20
"""A lab of 1000 devices is some 300 kB."""

_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"-?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_EXPONENT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?[eE][-+]?[0-9]{1,3}")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LITERALS: dict[str, bool | None] = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file's tree (dict, list, str, int, float, bool, None), and what is wrong with its text.

    `tree is None` when the text is not YAML at all; `mistakes` then says why.
    """

    tree: object
    mistakes: Mistakes


@dataclass(frozen=True, slots=True)
class Readable:
    """A file, and how it is read: `read` refuses one that others may have written than are believed
    there (trusted_files.py), by what it has open."""

    path: FilePath
    read: Reader = handed

    @classmethod
    def of(cls, named: "Readable | FilePath | str") -> "Readable":
        """The same; of a path what anybody's file says."""
        return named if isinstance(named, Readable) else cls(FilePath(named))


def read_file(source: Readable, *, most_bytes: int = SIZE_LIMIT_BYTES) -> Document:
    """The tree of a file. Raises InventoryError when it cannot be read, and what its reader raises.

    Only a regular file is, and no more than it may have: /dev/zero and a pipe are refused."""
    file = source.path
    try:
        content = source.read(file, most_bytes=most_bytes)
    except OSError as error:
        raise InventoryError([f"{file}:1:1: file: cannot be read: {error.strerror}"]) from error
    except TooLong as error:
        raise InventoryError([f"{file}:1:1: file: {_too_long(most_bytes)}"]) from error
    except NotAFile as error:
        raise InventoryError([f"{file}:1:1: file: {error}"]) from error
    return read(str(file), content, most_bytes=most_bytes)


def _too_long(most_bytes: int) -> str:
    return f"larger than {most_bytes} bytes: no file of labtests needs that"


def read(file: str, content: bytes, *, most_bytes: int = SIZE_LIMIT_BYTES) -> Document:
    """The tree of a file's content."""
    mistakes = Mistakes(file=file)
    text = _decoded(content, mistakes, most_bytes)
    if text is None:
        return Document(tree=None, mistakes=mistakes)
    try:
        _check_depth(text)
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        _report(error, mistakes)
        return Document(tree=None, mistakes=mistakes)
    if node is None:
        mistakes.add((), "the file is empty")
        return Document(tree=None, mistakes=mistakes)
    walk = _YamlWalk(mistakes=mistakes)
    mistakes.places = walk.places
    tree = walk.value(node, (), _position(node.start_mark))
    return Document(tree=None if walk.too_big else tree, mistakes=mistakes)


def _decoded(content: bytes, mistakes: Mistakes, most_bytes: int) -> str | None:
    if len(content) > most_bytes:
        mistakes.add((), _too_long(most_bytes))
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8", errors="replace")
        byte = error.object[error.start]
        mistakes.add_at(_end_of(before), (), f"byte 0x{byte:02x} is not UTF-8: save it as UTF-8")
        return None
    strange = _UNPRINTABLE.search(text)
    if strange:
        problem = f"the character U+{ord(strange[0]):04X} is not allowed in YAML"
        mistakes.add_at(_end_of(text[: strange.start()]), (), problem)
        return None
    return text


def _check_depth(text: str) -> None:
    """Before anything recursive sees the text: nesting is bounded."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEPTH_LIMIT:
            raise yaml.MarkedYAMLError(
                problem=f"nested deeper than {DEPTH_LIMIT} levels",
                problem_mark=cast(yaml.Mark, event.start_mark),
            )


def _report(error: yaml.MarkedYAMLError, mistakes: Mistakes) -> None:
    mark = error.problem_mark or error.context_mark
    position = _position(mark) if mark else Position(line=1, column=1)
    context = ""
    if error.context:
        since = error.context_mark
        began = f" that began in line {since.line + 1}" if since else ""
        context = f" ({error.context}{began})"
    mistakes.add_at(position, (), f"not valid YAML: {error.problem}{context}")


def _position(mark: yaml.Mark) -> Position:
    return Position(line=mark.line + 1, column=mark.column + 1)


def _end_of(text: str) -> Position:
    lines = text.split("\n")
    return Position(line=len(lines), column=len(lines[-1]) + 1)


@dataclass(slots=True, kw_only=True)
class _YamlWalk:
    """Turns YAML nodes into values, once each, and notes where they stand."""

    mistakes: Mistakes
    places: dict[Path, YamlPlace] = field(default_factory=dict)
    too_big: bool = False
    _seen: set[int] = field(default_factory=set)
    _open: set[int] = field(default_factory=set)
    _from_aliases: int = 0

    def value(self, node: yaml.Node, path: Path, key: Position) -> object:
        self.places[path] = YamlPlace(key=key, value=_position(node.start_mark))
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node, lambda problem: self._unclear(path, problem))
        if self.too_big or self._refused(node, path):
            return None
        self._open.add(id(node))
        result: object
        if isinstance(node, yaml.MappingNode):
            result = self._mapping(node, path)
        else:
            result = [
                self.value(item, (*path, number), _position(item.start_mark))
                for number, item in enumerate(node.value)
            ]
        self._open.discard(id(node))
        return result

    def _unclear(self, path: Path, problem: str) -> None:
        """A secret's value must not reach a message; its key is refused later anyway."""
        if not any(isinstance(part, str) and names_a_secret(part) for part in path):
            self.mistakes.add(path, problem)

    def _refused(self, node: yaml.Node, path: Path) -> bool:
        """Bounds what aliases can do: no value inside itself, no explosion."""
        if id(node) in self._open:
            self.mistakes.add(path, "an alias that contains itself")
            return True
        if id(node) in self._seen:
            self._from_aliases += 1 + len(node.value)
        self._seen.add(id(node))
        if self._from_aliases > ALIAS_LIMIT:
            self.too_big = True
            self.mistakes.add(path, f"aliases expand to more than {ALIAS_LIMIT} values")
            return True
        if node.tag not in (f"{_TAG}map", f"{_TAG}seq"):
            self._unclear(path, f"the tag {quoted(node.tag)} is not read here: remove it")
            return True
        return False

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        result: dict[str, object] = {}
        first: dict[str, Position] = {}
        for key_node, value_node in node.value:
            where = _position(key_node.start_mark)
            key = self._key(key_node, path)
            if key is None:
                continue
            if key in first:
                self.mistakes.add_at(
                    where,
                    (*path, key),
                    f"key given twice: here and in line {first[key].line}; remove one",
                )
                continue
            first[key] = where
            result[key] = self.value(value_node, (*path, key), where)
        return result

    def _key(self, node: yaml.Node, path: Path) -> str | None:
        """The key's text; a key that is not a plain word is a mistake."""
        where = _position(node.start_mark)

        def report(problem: str) -> None:
            self.mistakes.add_at(where, path, f"key: {problem}")

        if not isinstance(node, yaml.ScalarNode):
            report("a list or mapping cannot be a key")
            return None
        if node.tag == f"{_TAG}merge":
            report("merge keys (<<) are not read here: use groups and defaults")
            return None
        shown = quoted(node.value)
        key = _scalar(node, lambda _: report(f"YAML 1.1 does not read {shown} as text: quote it"))
        if key is None or isinstance(key, bool):
            report(f"{shown} is not a name: write it in quotes if it is meant as text")
            return None
        return str(node.value)


def _scalar(node: yaml.ScalarNode, report: Callable[[str], None]) -> object:
    """One value, as YAML 1.1 and 1.2 both read it; else its text, and a report."""
    kind, text = node.tag.removeprefix(_TAG), str(node.value)
    if kind == "str":
        plain = not node.style  # neither quoted nor a block
        return _number(text) if plain and _EXPONENT.fullmatch(text) else text
    if kind in ("bool", "null") and text in _LITERALS:
        return _LITERALS[text]
    if kind == "int" and _INT.fullmatch(text) and len(text) <= 18:
        return int(text)
    if kind == "float" and _FLOAT.fullmatch(text):
        return _number(text)
    report(_why_unclear(kind, text))
    return text


def _number(text: str) -> float | int:
    """`1E6` is whole: it may stand where a whole number has to."""
    number = float(text)
    whole = "e" in text.lower() and number.is_integer() and abs(number) <= 2**53
    return int(number) if whole else number


def _why_unclear(kind: str, text: str) -> str:
    shown = quoted(text)
    match kind:
        case "bool":
            return f"{shown} is a truth value only in YAML 1.1: write true or false, or quote it"
        case "int" | "float" if ":" in text:
            return f"{shown} is a number in base 60 in YAML 1.1: write it in quotes"
        case "int" | "float":
            return f"{shown} is not a plain decimal number: write it in decimal, or quote it"
        case "timestamp":
            return f"{shown} is a date in YAML 1.1: write it in quotes"
        case _:
            return f"the tag of {shown} ({quoted(kind)}) is not read here: quote the value"
