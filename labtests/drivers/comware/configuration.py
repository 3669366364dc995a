"""Configuration text: `display current-configuration interface ...` and `display this`.

Displays tell what operates; only the configuration tells what was asked for and therefore what has
to be written to put it back. Lines nobody here knows are kept and left alone.
"""

import re
from dataclasses import dataclass

from labtests.capabilities.records import PfcSetting
from labtests.drivers.comware.names import full_name, wrong_port
from labtests.drivers.parsing import refuse, whole_lines
from labtests.transport.protocol import Reply

_INTERFACE = re.compile(r"interface (?P<name>\S.*)")
_PFC_MODE = re.compile(r"priority-flow-control (?P<mode>enable|auto)")
_PFC_LIST = re.compile(r"priority-flow-control no-drop dot1p (?P<list>\S.*)")
_WRED_APPLY = re.compile(r"qos wred apply(?: (?P<table>\S+))?")
_PRIORITY_RANGE = re.compile(r"(?P<first>[0-7])(?:-(?P<last>[0-7]))?")

CUT = "the output seems cut off; check that paging is off (`screen-length disable`)"
DEFAULT_TABLE = ""
"""What `applied_wred_table` says of `qos wred apply` without a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a configuration: its first line (`interface X`) and the lines under it."""

    head: str
    lines: tuple[str, ...]

    @property
    def interface(self) -> str | None:
        """The interface this section is about: full name where its type is known."""
        match = _INTERFACE.fullmatch(self.head)
        return None if match is None else full_name(match["name"]) or match["name"]


def parse_configuration(reply: Reply) -> tuple[Section, ...]:
    """Every section of a configuration, in order. `#` ends one; `return` ends the text, and a text
    without it was cut."""
    sections: list[Section] = []
    open_lines: list[str] = []
    texts = [line.strip() for line in whole_lines(reply) if line.strip()]
    if not texts or texts[-1] != "return":
        refuse(reply, "the configuration does not end with `return`", CUT)
    if "return" in texts[:-1] or texts[0] != "#" or texts[-2] != "#":
        refuse(reply, "this is not one configuration between `#` and `return`", CUT)
    for text in texts[1:-1]:
        if text != "#":
            open_lines.append(text)
        elif open_lines:
            sections.append(Section(head=open_lines[0], lines=tuple(open_lines[1:])))
            open_lines = []
    return tuple(sections)


def interface_section(reply: Reply, port: str) -> Section:
    """The configuration of exactly this port (full name), which must be all there is."""
    sections = parse_configuration(reply)
    if [s.interface for s in sections] != [port]:
        wrong_port(reply, port, ", ".join(s.head for s in sections) or "nothing")
    return sections[0]


def configured_pfc(reply: Reply, section: Section) -> PfcSetting:
    """PFC as configured: no `priority-flow-control enable|auto` line means off.

    The no-drop list stays when PFC is off, so it is part of the setting either way. PFC thresholds,
    deadlock detection and early warnings are other settings and stay as they are.
    """
    modes = [m["mode"] for line in section.lines if (m := _PFC_MODE.fullmatch(line))]
    lists = [m["list"] for line in section.lines if (m := _PFC_LIST.fullmatch(line))]
    if len(modes) > 1 or len(lists) > 1:
        refuse(reply, f"PFC is configured twice on {section.interface}")
    undone = [line for line in section.lines if line.startswith("undo priority-flow-control")]
    if undone:
        refuse(reply, f"{section.interface} takes back what the system view says: {undone[0]!r}")
    no_drop = priorities(reply, lists[0]) if lists else frozenset[int]()
    if not modes:
        return PfcSetting(mode="off", priorities=no_drop)
    return PfcSetting(mode="on" if modes[0] == "enable" else "auto", priorities=no_drop)


def applied_wred_table(reply: Reply, section: Section) -> str | None:
    """The WRED table this port applies; DEFAULT_TABLE for the unnamed one, None for none.

    Newer models can hold a port's own curves (`qos wred queue 3 ecn` in interface view). Those are
    refused: they have no name by which they could be put back.
    """
    own = [line for line in section.lines if line.startswith("qos wred queue ")]
    if own:
        refuse(
            reply,
            f"{section.interface} has WRED parameters of its own: {own[0]!r}",
            "move them into a table (`qos wred queue table NAME`) and apply that to the port",
        )
    tables = [m for line in section.lines if (m := _WRED_APPLY.fullmatch(line))]
    if not tables:
        return None
    return tables[-1]["table"] or DEFAULT_TABLE


def priorities(reply: Reply, text: str) -> frozenset[int]:
    """A list of priorities, as the CLI writes it."""
    found = priority_set(text)
    if found is None:
        refuse(reply, f"{text!r} is no list of priorities 0..7")
    return found


def priority_set(text: str) -> frozenset[int] | None:
    """`0-7`, `5`, `0,2-3,5-6`, `3 5`; None where this is no such list."""
    found: set[int] = set()
    for part in re.split(r",\s*|\s+", text.strip()):
        match = _PRIORITY_RANGE.fullmatch(part)
        if match is None or int(match["last"] or 7) < int(match["first"]):
            return None
        found.update(range(int(match["first"]), int(match["last"] or match["first"]) + 1))
    return frozenset(found)


def priority_list(wanted: frozenset[int]) -> str:
    """The shortest way the CLI takes: ranges joined by commas, at most 16 characters (H3C)."""
    runs: list[list[int]] = []
    for priority in sorted(wanted):
        if runs and priority == runs[-1][-1] + 1:
            runs[-1].append(priority)
        else:
            runs.append([priority])
    return ",".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)
