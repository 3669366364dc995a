"""Configuration text: `display current-configuration interface ...` and `display this`.

Displays tell what operates; only the configuration tells what was asked for and therefore what has
to be written to put it back. Lines nobody here knows are kept and left alone.
"""

from typing import Any

from labtests.capabilities.records import PfcSetting
from labtests.drivers import displays
from labtests.drivers.comware.names import full_name, wrong_port
from labtests.drivers.comware.values import COMWARE
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply

_INTERFACE = COMWARE.shape("interface <name:text>")
_PFC_MODE = COMWARE.shape("priority-flow-control <mode:enable|auto>")
_PFC_LIST = COMWARE.shape("priority-flow-control no-drop dot1p <listed:priorities>")
_WRED_APPLY = COMWARE.shape("qos wred apply( <table>)?")
_CONFIGURATION = displays.Marked(
    mark="#",
    end="return",
    cut_remedy="the output seems cut off; check that paging is off (`screen-length disable`)",
)
DEFAULT_TABLE = ""
"""What `applied_wred_table` says of `qos wred apply` without a name."""


class ConfigSection(displays.Section):
    """One part of a configuration: its first line (`interface X`) and the lines under it."""

    @property
    def interface(self) -> str | None:
        """The interface this section is about: full name where its type is known."""
        match = _INTERFACE.pattern.fullmatch(self.head)
        return None if match is None else full_name(match["name"]) or match["name"]


def parse_configuration(reply: Reply) -> tuple[ConfigSection, ...]:
    """Every section of a configuration, in order. `#` ends one; `return` ends the text, and a text
    without it was cut."""
    found = _CONFIGURATION.sections(reply)
    return tuple(ConfigSection(head=each.head, lines=each.lines) for each in found)


def interface_section(reply: Reply, port: str) -> ConfigSection:
    """The configuration of exactly this port (full name), which must be all there is."""
    sections = parse_configuration(reply)
    if [s.interface for s in sections] != [port]:
        wrong_port(reply, port, ", ".join(s.head for s in sections) or "nothing")
    return sections[0]


def configured_pfc(reply: Reply, section: ConfigSection) -> PfcSetting:
    """PFC as configured: no `priority-flow-control enable|auto` line means off.

    The no-drop list stays when PFC is off, so it is part of the setting either way. PFC thresholds,
    deadlock detection and early warnings are other settings and stay as they are.
    """
    undone = [line for line in section.lines if line.startswith("undo priority-flow-control")]
    if undone:
        refuse(reply, f"{section.interface} takes back what the system view says: {undone[0]!r}")
    mode: Any = (section.said(reply, _PFC_MODE) or {"mode": "off"})["mode"]
    no_drop = section.said(reply, _PFC_LIST) or {"listed": frozenset()}
    return PfcSetting(mode="on" if mode == "enable" else mode, priorities=no_drop["listed"])


def applied_wred_table(reply: Reply, section: ConfigSection) -> str | None:
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
    applied = [m for line in section.lines if (m := _WRED_APPLY.pattern.fullmatch(line))]
    return (applied[-1]["table"] or DEFAULT_TABLE) if applied else None


def priority_list(wanted: frozenset[int]) -> str:
    """The shortest way the CLI takes: ranges joined by commas, at most 16 characters (H3C)."""
    runs: list[list[int]] = []
    for priority in sorted(wanted):
        if runs and priority == runs[-1][-1] + 1:
            runs[-1].append(priority)
        else:
            runs.append([priority])
    return ",".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)
