"""A configuration as a tree of sections and lines, and the settings that put lines into it.

What is typed is what is kept: a line stands in its section as the switch prints it, with the values
of its arguments beside it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from labtests.simlab.switch_cli.grammar import CliCall, first_words

Path = tuple[tuple[str, str], ...]
"""Where a section is: kind and name of it and of those around it, outermost first."""

ROOT: Path = ()


class CommandRefused(Exception):
    """The switch understood and will not do it. The text is what it prints."""


@dataclass(frozen=True, slots=True)
class CliLine:
    """One line. `template` is the key of its setting, `order` what the arguments in it are."""

    text: str
    values: Mapping[str, Any]
    template: str
    order: tuple[Any, ...]


@dataclass(slots=True)
class CliSection:
    """A header with lines below it, by key, and sections inside."""

    path: Path
    lines: dict[str, CliLine] = field(default_factory=dict)
    sections: dict[tuple[str, str], "CliSection"] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """`interface`, for example; the root has none."""
        return self.path[-1][0] if self.path else ""

    @property
    def name(self) -> str:
        """That of the port, table, map."""
        return self.path[-1][1] if self.path else ""

    def text(self, key: str) -> str:
        """The line with this key; empty when there is none."""
        return self.lines[key].text if key in self.lines else ""

    def rest(self, key: str) -> str:
        """What stands behind the key in its line."""
        return self.text(key).removeprefix(key).strip()

    def value(self, key: str, argument: str, default: Any) -> Any:
        """An argument of the line with this key; the default when either is not there."""
        line = self.lines.get(key)
        return default if line is None else line.values.get(argument, default)

    def under(self, beginning: str) -> list[CliLine]:
        """The lines whose keys begin with these words."""
        return [line for key, line in self.lines.items() if f"{key} ".startswith(f"{beginning} ")]

    def clear(self, beginning: str) -> None:
        """None of these lines is there any more."""
        for key in [key for key in self.lines if f"{key} ".startswith(f"{beginning} ")]:
            del self.lines[key]


def _once(call: CliCall) -> Iterable[Mapping[str, Any]]:
    return [call.values]


def _nothing(*_: Any) -> None:
    """There is nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CliSetting:
    """A line of configuration: how it is typed, what it replaces, how it is undone and printed.

    `key` names the line: a later one with the same key replaces it. By default it is the pattern's
    first words, and also what is typed behind the word for undoing.
    """

    pattern: str
    key: str
    undo: tuple[str, ...]
    line: str = ""
    """As it is printed, from `spread`'s values; empty: as typed, spelled out."""
    usual: str = ""
    """The line that says what holds anyway, and is not kept."""
    on: bool = False
    """It holds without a line; undone, its undoing is what is printed."""
    spread: Callable[[CliCall], Iterable[Mapping[str, Any]]] = _once
    """The values of each line that one command makes."""
    before: Callable[[Any, CliSection, CliCall], None] = _nothing
    """Gets the switch and the section first, also of its undoing. May raise CommandRefused."""

    def put(self, section: CliSection, call: CliCall) -> None:
        """The section has the command's lines."""
        for values in self.spread(call):
            key, text = fill(self.key, values), fill(self.line, values) or call.text
            if text == fill(self.usual, values):
                section.lines.pop(key, None)
            else:
                section.lines[key] = self.made(text, values)

    def drop(self, section: CliSection, call: CliCall) -> None:
        """The section has them no more."""
        for values in self.spread(call):
            key = fill(self.key, values)
            section.lines.pop(key, None)
            if self.on:
                section.lines[key] = self.made(call.text, {})

    def made(self, text: str, values: Mapping[str, Any]) -> CliLine:
        """The line, to be put into a section."""
        order = tuple(values[name] for name in _PLACE.findall(self.key) if name in values)
        return CliLine(text, values, self.key, order)


def setting(
    pattern: str, *, key: str = "", undo: Iterable[str] | None = None, **more: Any
) -> CliSetting:
    """A CliSetting, with the usual key and undoing unless it says another."""
    key = key or first_words(pattern)
    return CliSetting(
        pattern=pattern, key=key, undo=(key,) if undo is None else tuple(undo), **more
    )


_PLACE = re.compile(r"<([^>]+)>")


def fill(template: str, values: Mapping[str, Any]) -> str:
    """The template with the values in its `<places>`."""
    return _PLACE.sub(lambda place: str(values[place[1]]), template).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionKind:
    """What sections of one kind have in common; their lines stand in the order of `settings`."""

    header: str = ""
    settings: tuple[CliSetting, ...] = ()
    fixed: tuple[str, ...] = ()
    """Lines that are always there."""
    together: bool = False
    """All lines of one queue (the first argument of their keys) stand together."""
    inside: str = ""
    """The kind of section that it is in; empty: it is in none."""
    missing: str = ""
    """What the switch says when there is none of this name."""
    changed: Callable[[Any, CliSection], None] = _nothing
    """Gets the switch and the section: the network follows what the section says now."""


class Configuration:
    """All sections."""

    def __init__(self, kinds: Mapping[str, SectionKind]) -> None:
        self.kinds = kinds
        self.root = CliSection(ROOT)

    def find(self, path: Path) -> CliSection:
        """The section there. Raises CommandRefused."""
        section = self.root
        for kind, name in path:
            if (kind, name) not in section.sections:
                raise CommandRefused(self.kinds[kind].missing)
            section = section.sections[kind, name]
        return section

    def of(self, kind: str) -> dict[str, CliSection]:
        """Those of this kind, by name."""
        return {name: each for (of, name), each in self.root.sections.items() if of == kind}

    def create(self, path: Path) -> CliSection:
        """The section is there; as it was, if it was before."""
        around = self.find(path[:-1])
        return around.sections.setdefault(path[-1], CliSection(path))

    def remove(self, path: Path) -> None:
        """The section is not there any more."""
        del self.find(path[:-1]).sections[path[-1]]

    def header(self, section: CliSection) -> str:
        """Its first line; the root has none."""
        return self.kinds[section.kind].header.format(name=section.name)

    def body(self, section: CliSection, indent: str = " ") -> list[str]:
        """The lines below its header, as the running configuration has them."""
        kind = self.kinds[section.kind]
        rank = {setting.key: place for place, setting in enumerate(kind.settings)}

        def place(line: CliLine) -> tuple[Any, ...]:
            first = line.order[:1] if kind.together else ()
            return (*first, rank[line.template], *line.order)

        own = [line.text for line in sorted(section.lines.values(), key=place)]
        inner = section.sections.values() if section.path else ()
        return [*kind.fixed, *own, *(line for each in inner for line in self._inner(each, indent))]

    def shown(self, section: CliSection) -> tuple[str, list[str]]:
        """Header and body."""
        return self.header(section), self.body(section)

    def _inner(self, section: CliSection, indent: str) -> Iterator[str]:
        yield self.header(section)
        yield from (indent + line for line in self.body(section, indent))

    def everything(self, section: CliSection | None = None) -> Iterator[CliSection]:
        """Every section below this one, or at all."""
        for each in (section or self.root).sections.values():
            yield each
            yield from self.everything(each)

    def saved(self) -> CliSection:
        """A copy of all of it, to start with again."""
        return deepcopy(self.root)

    def load(self, saved: CliSection) -> None:
        """It is what was saved, and nothing else."""
        self.root = deepcopy(saved)
