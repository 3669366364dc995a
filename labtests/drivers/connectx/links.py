"""A ConnectX port and its cable: ethtool, `ip link`, `rdma`, ibv_devinfo, show_gids."""

import re

from labtests.capabilities import RdmaDevices
from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.connectx.ethtool import ETHTOOL, parse_ethtool_statistics
from labtests.drivers.connectx.rdma import gid_rows
from labtests.drivers.connectx.session import HostSession
from labtests.drivers.connectx.telemetry import NicCounters
from labtests.errors import CommandRejected, ToolMissing, UnreadableOutput
from labtests.facts import (
    ClockReading,
    LinkErrors,
    LinkFacts,
    LinkState,
    OwnClock,
    RoceFacts,
    RocePorts,
)
from labtests.reading import incomplete, matches, refuse
from labtests.records import Reading
from labtests.transport import Reply

IP = Tool(name="ip", install="install the package iproute2 on this host")
IBV_DEVINFO = Tool(
    name="ibv_devinfo",
    install="install ibverbs-utils (Debian) or libibverbs-utils (RHEL) on this host",
    complaints=(
        Complaint(says=r"wasn't found|No IB devices", remedy="see `rdma link` for the devices"),
    ),
)
DATE = Tool(name="date", install="install coreutils on this host")

_SETTING = re.compile(r"^\t([A-Z][^:\t]*):[ \t]*(.*?)\s*$")
_SETTINGS_OF = re.compile(r"^Settings for (\S+):$")
_MORE_OF_THE_SAME = re.compile(r"^\t[ \t]+\S.*$")
_SPEED = re.compile(r"([0-9]+)Mb/s")
_FEC = re.compile(
    r"^(FEC parameters for|.*[Cc]onfigured FEC encodings?|Active FEC encodings?)\s*(.*)$"
)
_LINK = re.compile(r"^[0-9]+: ([^@:\s]+)(?:@\S+)?: <([A-Za-z0-9_,-]*)> mtu ([0-9]+) .*$")
_ADDRESS = re.compile(r"^\s+link/\S+ ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})(?: .*)?$")
_MORE_OF_A_LINK = re.compile(r"^\s+(?:alias|altname|vf|promiscuity) .*$")
_DEVICE = re.compile(r"^hca_id:\s*(\S+)$")
_PORT = re.compile(r"^\t+port:\s*([0-9]+)$")
_ACTIVE_MTU = re.compile(r"^\t+active_mtu:\s*([0-9]+) \([0-9]+\)$")

ERRORS = (
    "rx_crc_errors_phy",
    "rx_symbol_err_phy",
    "rx_pcs_symbol_err_phy",
    "link_down_events_phy",
)
"""Of `ethtool -S`: what a bad cable, plug or port does (mlx5 counters, Linux documentation)."""


def parse_ethtool_settings(reply: Reply) -> dict[str, str]:
    """`ethtool IF`: what it says of the port, by name; long lists are cut to their first line."""
    expect_success(reply, ETHTOOL)
    rules = (_SETTINGS_OF, _SETTING, _MORE_OF_THE_SAME)
    found = {line[1]: line[2] for line in matches(reply, *rules) if line.re is _SETTING}
    if "Link detected" not in found:
        incomplete(reply, "there is no line `Link detected:`")
    return found


def parse_ethtool_fec(reply: Reply) -> str:
    """`ethtool --show-fec IF`: the encoding in force, in small letters; "off" for none."""
    expect_success(reply, ETHTOOL)
    active = [line[2] for line in matches(reply, _FEC) if line[1].startswith("Active")]
    if len(active) != 1:
        refuse(reply, "there is no single line `Active FEC encoding:`")
    word = active[0].removeprefix(":").strip().lower()
    return "off" if word == "none" else word


def parse_ip_link(reply: Reply) -> LinkFacts:
    """`ip link show dev IF`: state, MTU and address; no speed."""
    expect_success(reply, IP)
    lines = list(matches(reply, _LINK, _ADDRESS, _MORE_OF_A_LINK))
    links = [line for line in lines if line.re is _LINK]
    addresses = [line[1] for line in lines if line.re is _ADDRESS]
    if len(links) != 1 or len(addresses) != 1:
        refuse(reply, f"{len(links)} links with {len(addresses)} addresses, not one")
    flags = links[0][2].split(",")
    return LinkFacts(
        up="LOWER_UP" in flags,
        mtu_bytes=int(links[0][3]),
        mac=addresses[0].replace(":", ""),
    )


def roce_addresses(reply: Reply) -> dict[tuple[str, int], frozenset[str]]:
    """`show_gids`: (RDMA device, port) -> IPv4 addresses with a RoCEv2 GID. Raises UnreadableOutput
    also for a GID without a version."""
    found: dict[tuple[str, int], frozenset[str]] = {}
    for row in gid_rows(reply):
        if not row.version:
            refuse(reply, f"a GID of {row.rdma} has no version")
        own = {row.ipv4} if row.ipv4 and row.version.lower() == "v2" else set()
        found[row.rdma, row.port] = found.get((row.rdma, row.port), frozenset()) | own
    return found


def parse_ibv_devinfo(reply: Reply) -> dict[tuple[str, int], int]:
    """`ibv_devinfo`: (RDMA device, port) -> the MTU that RDMA uses there, in bytes. The rest of
    this output is not read."""
    expect_success(reply, IBV_DEVINFO)
    found: dict[tuple[str, int], int] = {}
    device, port = "", 0
    for line in reply.text.splitlines():
        if match := _DEVICE.match(line):
            device, port = match[1], 0
        elif match := _PORT.match(line):
            port = int(match[1])
        elif match := _ACTIVE_MTU.match(line):
            found[device, port] = int(match[1])
    if not found:
        refuse(reply, "no port has an active_mtu")
    return found


def parse_date(reply: Reply) -> float:
    """`date +%s.%N`: seconds since 1970 UTC."""
    expect_success(reply, DATE)
    text = reply.text.strip()
    if not re.fullmatch(r"[0-9]+\.[0-9]{9}", text):
        refuse(reply, f"{text!r} is not a time in seconds")
    return float(text)


class Links(NicCounters, RdmaDevices, LinkState, RocePorts, LinkErrors, OwnClock):
    """Links, the RDMA side of ports, and the clock of a host."""

    def link(self, port: str) -> LinkFacts:
        """State, MTU and address by `ip`, speed and FEC by ethtool."""
        facts = parse_ip_link(self._run(f"ip link show dev {self._interface(port)}"))
        settings = parse_ethtool_settings(self._run(f"ethtool {self._interface(port)}"))
        speed = _SPEED.fullmatch(settings.get("Speed", ""))
        return LinkFacts(
            up=facts.up and settings["Link detected"] == "yes",
            speed_bits_per_s=int(speed[1]) * 1_000_000 if speed else None,
            mtu_bytes=facts.mtu_bytes,
            fec=self._fec(port),
            mac=facts.mac,
        )

    def _fec(self, port: str) -> str | None:
        try:
            return parse_ethtool_fec(self._run(f"ethtool --show-fec {self._interface(port)}"))
        except (CommandRejected, UnreadableOutput):  # drivers and ethtools differ in it
            return None

    def roce(self, port: str) -> RoceFacts:
        """By `rdma link`, ibv_devinfo and show_gids; what a missing tool would tell is None."""
        link = self._rdma_link(port)
        key = (link.rdma, link.rdma_port)
        return RoceFacts(
            rdma=link.rdma,
            active=link.state == "ACTIVE" or link.state == "Up",
            active_mtu_bytes=self._active_mtus().get(key),
            v2_addresses=self._gids(key),
        )

    def _active_mtus(self) -> dict[tuple[str, int], int]:
        try:
            return parse_ibv_devinfo(self._run("ibv_devinfo"))
        except ToolMissing:
            return {}

    def _gids(self, key: tuple[str, int]) -> frozenset[str] | None:
        try:
            return roce_addresses(self._run("show_gids")).get(key, frozenset())
        except ToolMissing:
            return None

    def link_errors(self, port: str) -> tuple[Reading, ...]:
        """CRC and symbol errors, and how often the link went down."""
        reply = self._statistics(port)
        statistics = parse_ethtool_statistics(reply)
        return tuple(
            Reading(
                device=reply.device,
                port=port,
                scope="port",
                index=None,
                counter=name,
                unit="events",
                value=statistics.get(name),
                time_s=reply.time_s,
                source=f"ethtool -S {name}",
                missing="" if name in statistics else f"ethtool shows no {name}",
            )
            for name in ERRORS
        )

    def own_clock(self) -> ClockReading:
        """By date, to the millisecond that an exchange takes."""
        reply = self._run("date +%s.%N")
        return ClockReading(device_s=parse_date(reply), lab_s=reply.time_s, resolution_s=0.0)


def link_commands(session: HostSession, port: str) -> tuple[str, ...]:
    """What `link` and `roce` of this port send."""
    name = session._interface(port)
    return (
        f"ip link show dev {name}",
        f"ethtool {name}",
        f"ethtool --show-fec {name}",
        "rdma -j link",
        "ibv_devinfo",
        "show_gids",
    )
