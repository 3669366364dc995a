"""A ConnectX port and its cable: what ethtool and show_gids add."""

import re

from labtests.capabilities import counters as c
from labtests.capabilities.facts import LinkFacts, RoceFacts
from labtests.capabilities.nic import RdmaLink
from labtests.capabilities.readings import Reading
from labtests.core.errors import ToolMissing
from labtests.drivers.answers import expect_success
from labtests.drivers.connectx.ethtool import nic_readings
from labtests.drivers.connectx.rdma import gid_rows
from labtests.drivers.connectx.telemetry import ConnectxCounters
from labtests.drivers.linux.ethtool import ETHTOOL
from labtests.drivers.linux.links import (
    HostLinks,
    fec_command,
    fec_of,
    parse_ip_link,
    shown_command,
)
from labtests.drivers.linux.statistics import driver_command
from labtests.drivers.parsing import incomplete, matches, refuse
from labtests.transport.asking import Asking, ask, ask_each, attempt, both
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

_SETTING = re.compile(r"^\t([A-Z][^:\t]*):[ \t]*+((?:.*\S)?)\s*$")
_SETTINGS_OF = re.compile(r"^Settings for (\S+):$")
_MORE_OF_THE_SAME = re.compile(r"^\t[ \t]+\S.*$")
_SPEED = re.compile(r"([0-9]+)Mb/s")

_SHOW_GIDS = program("show_gids")

ERRORS = (c.RX_CRC_ERRORS, c.RX_SYMBOL_ERRORS, c.PCS_SYMBOL_ERRORS, c.LINK_DOWNS)
"""What a bad cable, plug or port does; bits that FEC has corrected are no fault."""


def parse_ethtool_settings(reply: Reply) -> dict[str, str]:
    """`ethtool IF`: what it says of the port, by name; long lists are cut to their first line."""
    expect_success(reply, ETHTOOL)
    rules = (_SETTINGS_OF, _SETTING, _MORE_OF_THE_SAME)
    found = {line[1]: line[2] for line in matches(reply, *rules) if line.re is _SETTING}
    if "Link detected" not in found:
        incomplete(reply, "there is no line `Link detected:`")
    return found


def parse_show_gids(reply: Reply) -> dict[tuple[str, int], frozenset[str]]:
    """`show_gids`: (RDMA device, port) -> IPv4 addresses with a RoCEv2 GID. Raises UnreadableOutput
    also for a GID without a version."""
    found: dict[tuple[str, int], frozenset[str]] = {}
    for row in gid_rows(reply):
        if not row.version:
            refuse(reply, f"a GID of {row.rdma} has no version")
        own = {row.ipv4} if row.ipv4 and row.version.lower() == "v2" else set()
        found[row.rdma, row.port] = found.get((row.rdma, row.port), frozenset()) | own
    return found


class ConnectxLinks(ConnectxCounters, HostLinks):
    """Links by ethtool, RoCE addresses by show_gids; the rest as on any Linux host."""

    def link(self, port: str) -> Asking[LinkFacts]:
        """State, MTU and address by `ip`, speed and FEC by ethtool."""
        name = self._interface(port)
        shown, told, fec = yield from ask_each(
            shown_command(name), settings_command(name), fec_command(name)
        )
        facts, settings = parse_ip_link(shown), parse_ethtool_settings(told)
        speed = _SPEED.fullmatch(settings.get("Speed", ""))
        return LinkFacts(
            up=facts.up and settings["Link detected"] == "yes",
            speed_bits_per_s=int(speed[1]) * 1_000_000 if speed else None,
            mtu_bytes=facts.mtu_bytes,
            fec=fec_of(fec),
            mac=facts.mac,
        )

    def roce(self, port: str) -> Asking[RoceFacts | None]:
        """As of any host; what show_gids says is asked in the same round."""
        facts, _ = yield from both(super().roce(port), attempt(ask(_SHOW_GIDS)))
        return facts

    def _gids(self, link: RdmaLink) -> Asking[frozenset[str] | None]:
        reply = yield from ask(_SHOW_GIDS)
        try:
            found = parse_show_gids(reply)
        except ToolMissing:
            return None
        return found.get((link.rdma, link.rdma_port), frozenset())

    def link_errors(self, port: str) -> Asking[tuple[Reading, ...]]:
        """CRC and symbol errors, and how often the link went down."""
        reply = yield from ask(driver_command(self._interface(port)))
        return tuple(each for each in nic_readings(reply, port) if each.counter in ERRORS)


def settings_command(interface: str) -> Shell:
    """Reads speed and link of an interface."""
    return program("ethtool", interface)
