"""How a line shows, written almost as a manual writes it:

    Forwarded: <packets:count> packets, <bytes:count> bytes(, <:count> pps, <:count> bps)?

`<name:kind>` is a value, `<name>` one word, `<:kind>` a value that nobody needs. A kind that is no
word is a regular expression: `<name:up|down>`. A blank stands for any number of blanks, also for
none beside `:` and after `,`. All else is a regular expression, held against the whole line without
its margins.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from labtests.drivers.parsing import SAVE_IT, kept, refuse
from labtests.transport.protocol import Reply

T = TypeVar("T")


class Unfit(Exception):
    """What is shown cannot be: raised by what reads a value or makes a record, and refused."""

    def __init__(self, problem: str, remedy: str = SAVE_IT) -> None:
        super().__init__(problem)
        self.remedy = remedy


def made(reply: Reply, make: Callable[..., T], values: Mapping[str, Any], title: str) -> T:
    """The record of these values."""
    try:
        return make(**values)
    except Unfit as problem:
        refuse(reply, f"{title} {problem}", problem.remedy)


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A kind of value: the regular expression of its text, and how that is read."""

    looks: str
    read: Callable[[str], Any] = str


Kinds = Mapping[str, ValueKind]
KINDS: Kinds = {
    "": ValueKind(r"\S+"),
    "text": ValueKind(r"\S(?:.*\S)?"),
    "word": ValueKind(r"\S+"),
    "number": ValueKind(r"[0-9]{1,40}", int),
    "whole": ValueKind(r"[0-9]{1,40}", int),
    "0-7": ValueKind(r"[0-7]", int),
}
_PART = re.compile(
    r"\\.|\(\?\w*:|\[[^\[\]]*\]"
    r"|<(?P<name>\w*)(?::(?P<kind>[^<>]*))?>|\((?!\?)| *: *(?![?*+ ])|, +| +"
)
_BEGIN = re.compile(r"[\w /-]*")


@dataclass(frozen=True, slots=True)
class Shape:
    """A compiled shape. `values` are in the order of the line."""

    text: str
    pattern: re.Pattern[str]
    readers: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, kinds: Kinds = KINDS) -> "Shape":
        """Compile it. Raises KeyError for a kind that is not among them."""
        found = {m["name"]: m["kind"] or "" for m in _PART.finditer(text) if m["name"]}
        pattern = re.compile(_PART.sub(lambda part: _regex(part, kinds), text))
        return cls(text, pattern, {name: _kind(each, kinds).read for name, each in found.items()})

    @property
    def begins(self) -> str:
        """What a line of this shape begins with, for a refusal."""
        begin = _BEGIN.match(self.text)
        return (begin[0].strip() if begin else "") or self.text

    def first(self, lines: Iterable[str]) -> dict[str, Any]:
        """What the first of these lines says that is of this shape; nothing where there is none."""
        match = next((found for text in lines if (found := self.pattern.fullmatch(text))), None)
        told = {} if match is None else match.groupdict()
        return {name: self.readers[name](text) for name, text in told.items() if text is not None}

    def values(self, reply: Reply, match: re.Match[str]) -> dict[str, Any]:
        """The values of a line; one whose part of the line is not there is left out."""
        try:
            return {
                name: read(kept(reply, match[name], name))
                for name, read in self.readers.items()
                if match[name] is not None
            }
        except Unfit as problem:
            refuse(reply, f"{match[0]!r}: {problem}", problem.remedy)


def _regex(part: re.Match[str], kinds: Kinds) -> str:
    if part["name"] is not None:
        looks = _kind(part["kind"] or "", kinds).looks
        return f"(?P<{part['name']}>{looks})" if part["name"] else f"(?:{looks})"
    whole = part[0]
    if whole == "(":
        return "(?:"
    if whole.strip() in (":", ",") or not whole.strip():
        return {":": r"\s*:\s*", ",": r",\s*", "": r"\s+"}[whole.strip()]
    return whole


def _kind(name: str, kinds: Kinds) -> ValueKind:
    return kinds[name] if name in kinds or name.isidentifier() else ValueKind(name)
