"""What one vendor's command line is made of."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as File

from labtests.simlab.switch_cli.configuration import Path, SectionKind
from labtests.simlab.switch_cli.grammar import Argument, CliCommand, Problem

Filter = Callable[[list[str], list[bool]], list[str]]
"""Gets the lines of a display and whether the pattern is in each; returns those that are shown."""


def including(lines: list[str], hits: list[bool]) -> list[str]:
    """Those with the pattern."""
    return [line for line, hit in zip(lines, hits, strict=True) if hit]


def excluding(lines: list[str], hits: list[bool]) -> list[str]:
    """Those without."""
    return [line for line, hit in zip(lines, hits, strict=True) if not hit]


def beginning(lines: list[str], hits: list[bool]) -> list[str]:
    """From the first with the pattern on."""
    return lines[hits.index(True) :] if True in hits else []


FILTERS: Mapping[str, Filter] = {
    "include": including,
    "exclude": excluding,
    "begin": beginning,
}
"""Behind a `|`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CliWords:
    """What the vendor calls things and says."""

    problems: Mapping[Problem, str]
    show: str
    """The word that displays begin with; only they may be filtered."""
    comment: str
    """A line that begins so is none."""
    denied: str
    """What somebody hears who may do nothing but `operators_may` (first words of commands)."""
    operators_may: frozenset[str]
    filters: Mapping[str, Filter] = field(default_factory=lambda: FILTERS)
    help_title: str = ""
    """Stands above the commands of a view, which is `{view}`."""
    caret_padded: bool = False
    """The line with the caret is as long as the line above it."""
    port_description: str = "{port}"
    """How LLDP describes a port that nobody has described."""

    def rejection(self, problem: Problem, column: int, echoed: str) -> str:
        """The caret under the place in the echoed line, then the sentence."""
        caret = (" " * column + "^").ljust(len(echoed) if self.caret_padded else 0)
        return f"{caret}\n{self.problems[problem]}\n"

    def split(self, line: str) -> tuple[str, re.Match[str] | None]:
        """The command, and the filter behind a `|`."""
        first = line.split(maxsplit=1)[0].lower()
        matched = _FILTER.search(line) if self.show.startswith(first) else None
        return (line[: matched.start()], matched) if matched else (line, None)


_FILTER = re.compile(r"\s\|\s*(?P<how>\w+)\s+(?P<pattern>.+?)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pager:
    """How long outputs stop and go on."""

    banner: str = ""
    more: str
    erase: str
    lines: int
    """A page; 0: the client's window, without the line for `more`."""
    page_keys: str = " "
    line_keys: str = "\r\n"
    end_keys: str = "q\x03"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Where a session can be. Prompts have places for `{host}` and the section's `{name}`."""

    prompt: str
    commands: Mapping[str, CliCommand]
    several: str = ""
    """The prompt when several sections are configured at once."""
    up: str = ""
    """The view that one comes to by leaving it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingRules:
    """What the vendor counts in its own way."""

    overhead_bytes: int = 0
    """Counted beside the frame for each forwarded packet: preamble and gap, or nothing."""
    growing: Mapping[str, str] = field(default_factory=dict)
    """Counters of drops that a fault may let grow: the switch's word, and PortDrops' for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchCli:
    """One vendor's command line. The first view is where a session begins."""

    words: CliWords
    pager: Pager
    arguments: Callable[[tuple[str, ...]], Mapping[str, Argument]]
    """Gets the names of the switch's ports; returns the kinds of arguments by name."""
    views: Mapping[str, View]
    kinds: Mapping[str, SectionKind]
    """Of sections; "" is the root, `interface` those of the ports."""
    screens: File
    """The folder with the templates."""
    types: Mapping[str, str]
    """Short names of types of interfaces, by long ones."""
    hostname: str
    """Key of the line that names the switch."""
    there: tuple[Path, ...] = ()
    """Sections that are there from the start, beside those of the ports."""
    counting: CountingRules = field(default_factory=CountingRules)
    map_lines: Callable[[tuple[int, ...], tuple[str, ...]], list[str]] = lambda classes, ports: []
    """What is typed so that each DSCP has this class, and the ports trust DSCP."""

    @property
    def first_view(self) -> str:
        """Where a session begins."""
        return next(iter(self.views))
