"""Lines that stand under other lines: what a display shows of a port, of a queue of it, and so on.

    PORT = cli.record(
        "Interface: <interface:port>",
        cli.line("Direction: outbound"),
        cli.record("Queue <queue:0-7>", ..., make=QueueCount, into="queues", times=SOME),
        make=PortQueues, times=SOME)

    read(reply, PORT)  # a tuple of PortQueues

A line belongs to the innermost open line that has it among those under it. What it says are values
of the line above; with `into`, its record (without `make`: its last value) is gathered there.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from labtests.drivers.displays.columns import Column
from labtests.drivers.displays.shapes import KINDS, Shape, ValueKind, made
from labtests.drivers.parsing import BLANK_OR_RULER, SAVE_IT, incomplete, refuse, whole_lines
from labtests.transport.protocol import Reply

T = TypeVar("T")
Times = tuple[int, int]
Order = Literal["any", "unique", "ascending", "from 0"]

_MANY = 1_000_000
ONCE: Times = (1, 1)
MAYBE: Times = (0, 1)
SOME: Times = (1, _MANY)
ANY: Times = (0, _MANY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line(Generic[T]):
    """A declared line. `order` is that of the first value of each. A line of a later `stage` ends
    the earlier ones. `indent`: the widths of its margin, where that tells it from another.
    `refused`: a line that is known, and why it is not read."""

    shape: Shape
    under: tuple["Line[Any]", ...] = ()
    times: Times = ONCE
    make: Callable[..., T] | None = None
    into: str = ""
    order: Order = "any"
    stage: int = 0
    indent: range = range(_MANY)
    refused: str = ""
    remedy: str = SAVE_IT


@dataclass(frozen=True, slots=True)
class Notation:
    """How the displays of one platform are declared: with its kinds of values."""

    kinds: Mapping[str, ValueKind] = field(default_factory=dict)

    def also(self, **kinds: ValueKind) -> "Notation":
        """The same with more kinds of values."""
        return Notation({**self.kinds, **kinds})

    def shape(self, text: str) -> Shape:
        """A shape with the platform's kinds of values."""
        return Shape.of(text, {**KINDS, **self.kinds})

    def line(self, shape: str, *under: Line[Any], **more: Any) -> Line[None]:
        """A line that is there once; its values are those of the line above."""
        return Line(shape=self.shape(shape), under=under, **more)

    def lines(self, *shapes: str, **more: Any) -> tuple[Line[None], ...]:
        """Lines that are there once each."""
        return tuple(self.line(shape, **more) for shape in shapes)

    def maybe(self, shape: str, *under: Line[Any], **more: Any) -> Line[None]:
        """A line that may be there."""
        return self.line(shape, *under, times=MAYBE, **more)

    def many(self, shape: str, *under: Line[Any], **more: Any) -> Line[None]:
        """A line that is there any number of times."""
        return self.line(shape, *under, times=ANY, **more)

    def record(self, shape: str, *under: Line[Any], make: Callable[..., T], **more: Any) -> Line[T]:
        """A line that, with those under it, makes a record; there is at least one."""
        more = {"times": SOME, "into": "records", **more}
        return Line(shape=self.shape(shape), under=under, make=make, **more)

    def up_to(
        self,
        most: int,
        shape: str,
        *under: Line[Any],
        make: Callable[..., T],
        into: str,
        **more: Any,
    ) -> Line[T]:
        """Records of which there are at most so many, each of another thing."""
        return self.record(
            shape, *under, make=make, into=into, times=(0, most), order="unique", **more
        )

    def columns(self, heads: Mapping[str, str]) -> tuple[Column, ...]:
        """Columns: what stands over each, and `name:kind` (`name:kind?` where it may be blank)."""
        return tuple(
            Column(head=head, shape=self.shape(f"<{value.rstrip('?')}>"), blank=value.endswith("?"))
            for head, value in heads.items()
        )


@dataclass(slots=True)
class _OpenLine:
    """A line that was met, while those under it are read."""

    line: Line[Any]
    title: str
    values: dict[str, Any]
    stage: int = 0
    met: dict[int, int] = field(default_factory=dict)  # how often each line under it was
    keys: dict[int, dict[Any, None]] = field(default_factory=dict)  # the first value of each


def read(
    reply: Reply, top: Line[T], *beside: Line[Any], skip: re.Pattern[str] = BLANK_OR_RULER
) -> tuple[T, ...]:
    """Every record of an answer that holds nothing else than these, and lines `beside` them."""
    whole: Line[None] = Line(shape=Shape.of(""), under=(top, *beside))
    return tuple(_read_under(reply, whole, skip).values.get(top.into, ()))


def read_one(reply: Reply, what: Line[T], skip: re.Pattern[str] = BLANK_OR_RULER) -> T:
    """The record of an answer that is one, and has no line above the others."""
    record: T = _made(reply, _read_under(reply, what, skip))
    return record


def _read_under(reply: Reply, what: Line[Any], skip: re.Pattern[str]) -> _OpenLine:
    whole = _OpenLine(what, "", {})
    opened = [whole]
    for number, line in enumerate(whole_lines(reply), start=1):
        if not skip.fullmatch(line) and not _is_taken(reply, opened, line):
            known = any(each.shape.pattern.fullmatch(line.strip()) for each in what.under)
            problem = "out of order" if known else "unrecognised"
            refuse(reply, f"line {number} is {problem}: {line!r}")
    _close(reply, opened, 0)
    return whole


def _is_taken(reply: Reply, opened: list[_OpenLine], text: str) -> bool:
    """Whether an open line has this one under it; the innermost takes it."""
    margin = len(text) - len(text.lstrip())
    for depth in reversed(range(len(opened))):
        for index, line in enumerate(opened[depth].line.under):
            if line.stage < opened[depth].stage or margin not in line.indent:
                continue
            if match := line.shape.pattern.fullmatch(text.strip()):
                _close(reply, opened, depth + 1)
                opened.append(_met(reply, opened[-1], index, match))
                return True
    return False


def _met(reply: Reply, above: _OpenLine, index: int, match: re.Match[str]) -> _OpenLine:
    line = above.line.under[index]
    values = line.shape.values(reply, match)
    if line.refused:
        refuse(reply, line.refused.format(above=above.title, **values), line.remedy)
    times = above.met.get(index, 0)
    if times >= line.times[1]:
        refuse(reply, f"{above.title or 'it'} has two lines {line.shape.begins!r}")
    key = next(iter(values.values()), None)
    title = key if isinstance(key, str) and not above.title else f"{above.title} {match[0]}".strip()
    keys = above.keys.setdefault(index, {})
    if line.order == "from 0" and key != times:
        refuse(reply, f"row {times} is missing before {match[0]!r}")
    if not _is_in_order(line.order, key, keys):
        refuse(reply, f"{title} is out of order or appears twice")
    above.met[index], keys[key], above.stage = times + 1, None, line.stage
    return _OpenLine(line, title, values)


def _is_in_order(order: Order, key: Any, earlier: dict[Any, None]) -> bool:
    if order == "ascending" and earlier:
        return bool(next(reversed(earlier)) < key)
    return order == "any" or key not in earlier


def _close(reply: Reply, opened: list[_OpenLine], depth: int) -> None:
    """The open lines from this depth on have ended."""
    while len(opened) > depth:
        done = opened.pop()
        for index, line in enumerate(done.line.under):
            times, least = done.met.get(index, 0), line.times[0]
            if times < least:
                lacks = f"has {times} of {least} lines" if times else "lacks the line"
                incomplete(reply, f"{done.title or 'it'} {lacks} {line.shape.begins!r}")
            if line.into:
                done.values[line.into] = tuple(done.values.get(line.into, ()))
        if opened:
            _tell(reply, opened[-1], done)


def _tell(reply: Reply, above: _OpenLine, done: _OpenLine) -> None:
    """Give what a line said to the line above it."""
    if done.line.into:
        above.values.setdefault(done.line.into, []).append(_made(reply, done))
    elif twice := above.values.keys() & done.values.keys():
        refuse(reply, f"{above.title} gives its {min(twice)} twice")
    else:
        above.values.update(done.values)


def _made(reply: Reply, done: _OpenLine) -> Any:
    if done.line.make is None:
        return list(done.values.values())[-1]
    return made(reply, done.line.make, done.values, done.title)
