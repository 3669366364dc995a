"""Configuration text: `display current-configuration interface ...` and `display this`.

Displays tell what operates; only the configuration tells what was asked for and therefore what has
to be written to put it back. Lines nobody here knows are kept and left alone.
"""

from labtests.drivers import displays
from labtests.drivers.comware.names import full_name, wrong_port
from labtests.drivers.comware.values import COMWARE
from labtests.transport.protocol import Reply

_INTERFACE = COMWARE.shape("interface <name:text>")
_CONFIGURATION = displays.Marked(
    mark="#",
    end="return",
    cut_remedy="the output seems cut off; check that paging is off (`screen-length disable`)",
)


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
