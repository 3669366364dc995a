"""A configuration as a tree of sections and lines, and the settings that put lines into it.

What is typed is what is stored: a line as the switch prints it, with the values of its arguments.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from labtests.simlab.switch_cli.grammar import CliCall, CliCommand, first_words

Path = tuple[tuple[str, str], ...]
"""Address of a section: (kind, name) of each enclosing section and of itself, outermost first."""

ROOT: Path = ()


def top(kind: str, name: str) -> Path:
    """The path of a section at the top level."""
    return ((kind, name),)


class CommandRefused(Exception):
    """The command is valid and the switch refuses it. The text is what it prints."""


@dataclass(frozen=True, slots=True)
class ConfigLine:
    """A stored line. `template` is the key of its setting, `order` its key's arguments."""

    text: str
    values: Mapping[str, Any]
    template: str
    order: tuple[Any, ...]


@dataclass(slots=True)
class CliSection:
    """Lines by key, and nested sections."""

    path: Path
    lines: dict[str, ConfigLine] = field(default_factory=dict)
    sections: dict[tuple[str, str], "CliSection"] = field(default_factory=dict)
    choice: str = ""
    """Of its kind's `choices`, if one was typed."""

    @property
    def kind(self) -> str:
        """Such as `interface`; empty for the root."""
        return self.path[-1][0] if self.path else ""

    @property
    def name(self) -> str:
        """Of the port, table or map; empty for the root."""
        return self.path[-1][1] if self.path else ""

    def text(self, key: str) -> str:
        """The line with this key, or an empty string."""
        return self.lines[key].text if key in self.lines else ""

    def rest(self, key: str) -> str:
        """The part of the line after its key."""
        return self.text(key).removeprefix(key).strip()

    def value(self, key: str, argument: str, default: Any) -> Any:
        """An argument of the line with this key, or the default."""
        line = self.lines.get(key)
        return default if line is None else line.values.get(argument, default)

    def under(self, beginning: str) -> list[ConfigLine]:
        """The lines whose keys start with these words."""
        return [line for key, line in self.lines.items() if f"{key} ".startswith(f"{beginning} ")]

    def clear(self, beginning: str) -> None:
        """These lines are removed."""
        for key in [key for key in self.lines if f"{key} ".startswith(f"{beginning} ")]:
            del self.lines[key]


def _once(call: CliCall) -> Iterable[Mapping[str, Any]]:
    return [call.values]


def _nothing(*_: Any) -> None:
    """There is nothing to do."""


def _free(*_: Any) -> str:
    """Nothing keeps it."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CliSetting:
    """A configuration line: how it is typed, what it replaces, how it is undone and printed.

    `key` identifies the line: a later line with the same key replaces it. By default it is the
    pattern's leading keywords, which are also what is typed after `undo` or `no`.
    """

    pattern: str
    key: str
    undo: tuple[str, ...]
    line: str = ""
    """How it is printed, from `expand`'s values; empty: as typed, in full words."""
    default: str = ""
    """The line that states the default; it is not stored."""
    default_on: bool = False
    """Enabled by default: what is stored and printed is the command that undoes it."""
    expand: Callable[[CliCall], Iterable[Mapping[str, Any]]] = _once
    """The values of each line that one command stands for."""
    before: Callable[[Any, CliSection, CliCall], None] = _nothing
    """Called with the switch and the section before a change or undo. May raise CommandRefused."""

    def put(self, section: CliSection, call: CliCall) -> None:
        """The command's lines are stored."""
        for values in self.expand(call):
            key, text = fill(self.key, values), fill(self.line, values) or call.text
            if text == fill(self.default, values):
                section.lines.pop(key, None)
            else:
                section.lines[key] = self.made(text, values)

    def drop(self, section: CliSection, call: CliCall) -> None:
        """The command's lines are removed."""
        for values in self.expand(call):
            key = fill(self.key, values)
            section.lines.pop(key, None)
            if self.default_on:
                section.lines[key] = self.made(call.text, {})

    def made(self, text: str, values: Mapping[str, Any]) -> ConfigLine:
        """A line of this setting."""
        order = tuple(values[name] for name in _PLACE.findall(self.key) if name in values)
        return ConfigLine(text, values, self.key, order)


def setting(
    pattern: str,
    *,
    key: str = "",
    undo: Iterable[str] | None = None,
    optional: bool = False,
    **more: Any,
) -> CliSetting:
    """A CliSetting with the default key and undo form, unless given. `optional`: what stands behind
    the key may be left out there, or not."""
    key = key or first_words(pattern)
    if undo is None:
        undo = (f"{key} [ {pattern.removeprefix(key).strip()} ]" if optional else key,)
    return CliSetting(pattern=pattern, key=key, undo=tuple(undo), **more)


_PLACE = re.compile(r"<([^>]+)>")


def fill(template: str, values: Mapping[str, Any]) -> str:
    """The template with the values in its `<places>`."""
    return _PLACE.sub(lambda place: str(values[place[1]]), template).strip()


def apply_ports(switch: Any, section: CliSection) -> None:
    """A section has changed that ports may follow."""
    for port in (
        switch.configuration.of("interface").values() if section.kind != "interface" else ()
    ):
        switch.changed(port)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionKind:
    """What sections of one kind have in common; lines are printed in the order of `settings`."""

    header: str = ""
    choices: tuple[str, ...] = ()
    """Words of which its header has one (`{choice}`): the first where none was typed."""
    settings: tuple[CliSetting, ...] = ()
    fixed: tuple[str, ...] = ()
    """Lines that are always present."""
    grouped: bool = False
    """Lines are grouped by the first argument of their keys: all lines of queue 0 first."""
    inside: str = ""
    """The kind of the enclosing section; empty at the top level."""
    missing: str = ""
    """What the switch says when no section has the name."""
    changed: Callable[[Any, CliSection], None] = apply_ports
    """Called with the switch and the section after a change: applies it to the network."""
    typed: str = ""
    """What makes or enters one: the last word is its name (see objects.py)."""
    removable: bool = True
    entering: Callable[[Any, str], None] = _nothing
    """Called with the switch and the name before one is entered. May raise CommandRefused."""
    kept: Callable[[Any, str], str] = _free
    """Why the one with this name has to stay, if so."""
    prompt: str = ""
    """Of its view, and `several` of that of several at once."""
    several: str = ""
    more: Mapping[str, CliCommand] = field(default_factory=dict)
    """Commands of its view beside its settings."""


class Configuration:
    """The whole tree."""

    def __init__(self, kinds: Mapping[str, SectionKind]) -> None:
        self.kinds = kinds
        self.root = CliSection(ROOT)

    def find(self, path: Path) -> CliSection:
        """The section at this path. Raises CommandRefused."""
        section = self.root
        for kind, name in path:
            if (kind, name) not in section.sections:
                raise CommandRefused(self.kinds[kind].missing)
            section = section.sections[kind, name]
        return section

    def of(self, kind: str) -> dict[str, CliSection]:
        """The top-level sections of this kind, by name."""
        return {name: each for (of, name), each in self.root.sections.items() if of == kind}

    def create(self, path: Path, words: Iterable[str] = ()) -> CliSection:
        """The section exists; if it did before, unchanged but for the choice in these words."""
        section = self.find(path[:-1]).sections.setdefault(path[-1], CliSection(path))
        typed = (each for each in words if each in self.kinds[section.kind].choices)
        section.choice = next(typed, section.choice)
        return section

    def remove(self, path: Path) -> None:
        """The section is deleted."""
        del self.find(path[:-1]).sections[path[-1]]

    def header(self, section: CliSection) -> str:
        """Its first line; empty for the root."""
        kind = self.kinds[section.kind]
        choice = section.choice or next(iter(kind.choices), "")
        return kind.header.format(name=section.name, choice=choice)

    def body(self, section: CliSection, indent: str = " ") -> list[str]:
        """The lines below its header, as the running configuration prints them."""
        kind = self.kinds[section.kind]
        rank = {setting.key: place for place, setting in enumerate(kind.settings)}

        def place(line: ConfigLine) -> tuple[Any, ...]:
            first = line.order[:1] if kind.grouped else ()
            return (*first, rank[line.template], *line.order)

        own = [line.text for line in sorted(section.lines.values(), key=place)]
        inner = section.sections.values() if section.path else ()
        return [*kind.fixed, *own, *(line for each in inner for line in self._inner(each, indent))]

    def shown(self, section: CliSection, indent: str = " ") -> tuple[str, list[str]]:
        """Header and body."""
        return self.header(section), self.body(section, indent)

    def _inner(self, section: CliSection, indent: str) -> Iterator[str]:
        yield self.header(section)
        yield from (indent + line for line in self.body(section, indent))

    def everything(self, section: CliSection | None = None) -> Iterator[CliSection]:
        """Every section below this one; by default, every section."""
        for each in (section or self.root).sections.values():
            yield each
            yield from self.everything(each)

    def saved(self) -> CliSection:
        """A copy, as the startup configuration."""
        return deepcopy(self.root)

    def load(self, saved: CliSection) -> None:
        """The tree is replaced by the saved one."""
        self.root = deepcopy(saved)
