"""A port of a host and its cable: `ip link`, sysfs, ethtool; its RDMA side; the host's clock."""

import re
from dataclasses import replace

from labtests.capabilities.facts import (
    LinkErrors,
    LinkFacts,
    LinkState,
    OwnClock,
    RoceFacts,
    RocePorts,
)
from labtests.capabilities.nic import RdmaLink
from labtests.capabilities.readings import ClockReading, Reading
from labtests.core.errors import CommandRejected, LabError, ToolMissing, UnreadableOutput
from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.linux.ethtool import ETHTOOL
from labtests.drivers.linux.link import IP
from labtests.drivers.linux.roce import gids_command, parse_gids
from labtests.drivers.linux.statistics import PortStatistics, error_readings, kernel_readings
from labtests.drivers.linux.telemetry import HostCounters
from labtests.drivers.parsing import matches, refuse, whole, whole_lines
from labtests.transport.asking import Asking, ask, ask_each, attempt, both
from labtests.transport.commands import Shell, program, script
from labtests.transport.protocol import Reply

IBV_DEVINFO = Tool(
    install="install ibverbs-utils (Debian) or libibverbs-utils (RHEL) on this host",
    complaints=(
        Complaint(says=r"wasn't found|No IB devices", remedy="see `rdma link` for the devices"),
    ),
)
DATE = Tool(install="install coreutils on this host")

PHYSICAL = script("ls -d /sys/class/net/*/device")
IBV_DEVINFO_COMMAND = program("ibv_devinfo")
DATE_COMMAND = program("date", "+%s.%N")

_DEVICE_FOLDER = re.compile(r"^/sys/class/net/([^/]+)/device$")
_NO_SUCH = re.compile(r"No such file or directory|nonexistent|not found")
_FEC = re.compile(
    r"^(FEC parameters for|.*[Cc]onfigured FEC encodings?|Active FEC encodings?)\s*+(.*)$"
)
_LINK = re.compile(r"^[0-9]+: ([^@:\s]+)(?:@\S+)?: <([A-Za-z0-9_,-]*)> mtu ([0-9]+) .*$")
_ADDRESS = re.compile(r"^\s+link/\S+ ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})(?: .*)?$")
_MORE_OF_A_LINK = re.compile(r"^\s+(?:alias|altname|vf|promiscuity) .*$")
_DEVICE = re.compile(r"^hca_id:\s*(\S+)$")
_PORT = re.compile(r"^\t+port:\s*([0-9]+)$")
_ACTIVE_MTU = re.compile(r"^\t+active_mtu:\s*([0-9]+) \([0-9]+\)$")


def parse_physical(reply: Reply) -> frozenset[str]:
    """`ls -d /sys/class/net/*/device`: the interfaces that belong to a device of a bus."""
    found = [match[1] for line in whole_lines(reply) if (match := _DEVICE_FOLDER.match(line))]
    if not found and not _NO_SUCH.search(reply.errors):
        refuse(reply, "it names no interface, and does not say that there is none")
    return frozenset(found)


def parse_speed(reply: Reply) -> int | None:
    """`cat /sys/class/net/IF/speed`, in bits per second: None where the driver does not know it
    (-1), or refuses because the link is down."""
    text = whole(reply).strip()
    return int(text) * 1_000_000 if re.fullmatch(r"[1-9][0-9]*", text) else None


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


def parse_ibv_devinfo(reply: Reply) -> dict[tuple[str, int], int]:
    """`ibv_devinfo`: (RDMA device, port) -> the MTU that RDMA uses there, in bytes. The rest of
    this output is not read."""
    expect_success(reply, IBV_DEVINFO)
    found: dict[tuple[str, int], int] = {}
    device, port = "", 0
    for line in whole_lines(reply):
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
    text = whole(reply).strip()
    if not re.fullmatch(r"[0-9]+\.[0-9]{9}", text):
        refuse(reply, f"{text!r} is not a time in seconds")
    return float(text)


class DateClock(OwnClock):
    """The clock of anything that runs Linux."""

    def own_clock(self) -> Asking[ClockReading]:
        """By date, to the millisecond that an exchange takes."""
        reply = yield from ask(DATE_COMMAND)
        return ClockReading(device_s=parse_date(reply), lab_s=reply.time_s, resolution_s=0.0)


class Cables(PortStatistics, LinkState, LinkErrors, DateClock):
    """Links and the clock of any Linux box, a server or a switch."""

    def link(self, port: str) -> Asking[LinkFacts]:
        """State, MTU and address by `ip`, speed by sysfs, FEC by ethtool where that is there. A
        virtual port (veth, bridge, tap) has neither: what its driver claims is not a fact."""
        name = self._interface(port)
        shown, physical, speed, fec = yield from ask_each(
            shown_command(name), PHYSICAL, speed_command(name), fec_command(name)
        )
        facts = parse_ip_link(shown)
        if port not in parse_physical(physical):
            return replace(facts, virtual=True)
        return replace(facts, speed_bits_per_s=parse_speed(speed), fec=fec_of(fec))

    def link_errors(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Errors of the net device, and how often its link went down."""
        reply, own = yield from self._net_statistics(port)
        return error_readings(kernel_readings(reply, port, own))


class HostLinks(Cables, HostCounters, RocePorts):
    """The same, and the RDMA side of a host's ports."""

    def roce(self, port: str) -> Asking[RoceFacts | None]:
        """By `rdma link`, ibv_devinfo and sysfs; None where no RDMA device belongs to the port.
        What a missing tool would tell is None."""
        link, mtus = yield from both(self._rdma_link(port), attempt(self._active_mtus()))
        if link is None:
            return None
        if isinstance(mtus, LabError):
            raise mtus
        return RoceFacts(
            rdma=link.rdma,
            active=link.state == "ACTIVE" or link.state == "Up",
            active_mtu_bytes=mtus.get((link.rdma, link.rdma_port)),
            v2_addresses=(yield from self._gids(link)),
        )

    def _active_mtus(self) -> Asking[dict[tuple[str, int], int]]:
        reply = yield from ask(IBV_DEVINFO_COMMAND)
        try:
            return parse_ibv_devinfo(reply)
        except ToolMissing:
            return {}

    def _gids(self, link: RdmaLink) -> Asking[frozenset[str] | None]:
        return parse_gids((yield from ask(gids_command(link))))


def fec_of(reply: Reply) -> str | None:
    """What `ethtool --show-fec` says, where it says it: drivers and ethtools differ."""
    try:
        return parse_ethtool_fec(reply)
    except (CommandRejected, ToolMissing, UnreadableOutput):
        return None


def shown_command(interface: str) -> Shell:
    """Reads state, MTU and address of an interface."""
    return program("ip", "link", "show", "dev", interface)


def speed_command(interface: str) -> Shell:
    """Reads its speed."""
    return program("cat", f"/sys/class/net/{interface}/speed")


def fec_command(interface: str) -> Shell:
    """Reads which FEC is in force."""
    return program("ethtool", "--show-fec", interface)
