"""What defines one vendor's command line."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as File

from labtests.simlab.switch_cli.configuration import Path, SectionKind
from labtests.simlab.switch_cli.grammar import Argument, CliCommand, Problem

Filter = Callable[[list[str], list[bool]], list[str]]
"""Takes the lines of a display and whether each matches; returns the lines to show."""


FILTERS: Mapping[str, Filter] = {
    "include": lambda lines, hits: [line for line, hit in zip(lines, hits, strict=True) if hit],
    "exclude": lambda lines, hits: [line for line, hit in zip(lines, hits, strict=True) if not hit],
    "begin": lambda lines, hits: lines[hits.index(True) :] if True in hits else [],
}
"""Filters after a `|`, by name: the lines that match, those that do not, all from the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CliWords:
    """The vendor's keywords and sentences."""

    problems: Mapping[Problem, str]
    show: str
    """First word of the display commands; only they can be filtered."""
    comment: str
    """Lines that start with this are ignored."""
    denied: str
    """The answer to a user with the operator role, except to commands in `operators_may`."""
    operators_may: frozenset[str]
    """First words of commands."""
    filters: Mapping[str, Filter] = field(default_factory=lambda: FILTERS)
    help_title: str = ""
    """Printed above the list of a view's commands; `{view}` is its name."""
    caret_padded: bool = False
    """The caret's line is padded to the length of the echoed line."""
    port_description: str = "{port}"
    """The LLDP port description of a port without `description`."""
    chain: str = ""
    """What parts several commands on one line; empty: a line is one command."""

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
    """How long output is paged."""

    banner: str = ""
    more: str
    erase: str
    lines: int
    """Lines per page; 0: the height of the client's window, minus one."""
    page_keys: str = " "
    line_keys: str = "\r\n"
    end_keys: str = "q\x03"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A mode of the command line. Prompts may contain `{host}`, the section's `{name}`, and of that
    the `{number}`: `1/13` of Eth1/13."""

    prompt: str
    commands: Mapping[str, CliCommand]
    several: str = ""
    """The prompt while several sections are configured at once."""
    up: str = ""
    """The view that `quit` or `exit` leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingRules:
    """How the vendor's counters differ from the network's."""

    overhead_bytes: int = 0
    """Added to the bytes of each forwarded packet, such as preamble and gap."""
    growing: Mapping[str, str] = field(default_factory=dict)
    """Drop counters for the fault `growing-counter`: PortDrops' fields, by the vendor's names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchCli:
    """One vendor's command line. Sessions start in the first view."""

    words: CliWords
    pager: Pager
    arguments: Callable[[tuple[str, ...]], Mapping[str, Argument]]
    """Takes the names of the switch's ports; returns the arguments by name."""
    views: Mapping[str, View]
    kinds: Mapping[str, SectionKind]
    """Of sections, by name: "" is the root, `interface` a port."""
    screens: File
    """The folder with the templates."""
    types: Mapping[str, str]
    """Short names of interface types, by long name."""
    hostname: str
    """Key of the line that sets the name of the switch."""
    initial_sections: tuple[Path, ...] = ()
    """Sections that exist from the start, besides those of the ports."""
    counting: CountingRules = field(default_factory=CountingRules)
    delivered: Callable[[tuple[str, ...]], list[str]] = lambda ports: []
    """The commands that somebody gave, and saved, before the lab begins."""
    map_lines: Callable[[tuple[int, ...], tuple[str, ...]], list[str]] = lambda classes, ports: []
    """The commands that map each DSCP to its class and make the ports trust DSCP."""

    @property
    def first_view(self) -> str:
        """Where sessions start."""
        return next(iter(self.views))
