"""The RDMA tools of mlnx-tools: ibdev2netdev, show_gids, show_counters."""

import re
from typing import NamedTuple

from labtests.capabilities.records import RdmaLink
from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.linux.rdma import Counters, each_once
from labtests.drivers.linux.sysfs import LIFESPAN
from labtests.drivers.parsing import incomplete, matches, refuse, whole_number
from labtests.transport.protocol import Reply

IBDEV2NETDEV = Tool(
    name="ibdev2netdev",
    install="install iproute2 for `rdma link`, or mlnx-tools for `ibdev2netdev`, on this host",
)
SHOW_GIDS = Tool(name="show_gids", install="install mlnx-tools on this host")
SHOW_COUNTERS = Tool(
    name="show_counters",
    install="install mlnx-tools on this host",
    complaints=(
        Complaint(
            says=r"^Device \S+ not found",
            remedy="check the RDMA device in the testbed file against `rdma link` on the host",
        ),
    ),
)

_IBDEV = re.compile(r"^(?:\S+ )?(\S+)(?: \(.*?\) .*?fw \S+)? port ([0-9]+)(?: \(.*?\))? ==> (.*)$")
_IBDEV_END = re.compile(r"^(\S+)? ?\((\w*)\)$")
_GIDS_TITLE = re.compile(r"^DEV\s+PORT\s+INDEX\s+GID\s+IPv4\s+VER\s+DEV\s*$")
_GIDS_RULER = re.compile(r"^---\s+----\s+-----\s+---\s+-+\s+---\s+---\s*$")
_GID = re.compile(
    r"^(\S+)\s+([0-9]+)\s+([0-9]+)\s+([0-9a-f:]{39})"
    r"(?:\s+([0-9]+(?:\.[0-9]+){3}))?(?:\s+([vV][0-9.]+))?(?:\s+(\S+))?\s*$"
)
_GIDS_END = re.compile(r"^n_gids_found=([0-9]+)\s*$")
_COUNTERS_TITLE = re.compile(r"^Port ([0-9]+) (hw|cm) counters:\s*$")
_COUNTER = re.compile(r"^([A-Za-z0-9_]+): (\S+)\s*$")
_COMMAND_DEVICE = re.compile(r"show_counters\s+(\S+)")


def parse_ibdev2netdev(reply: Reply) -> tuple[RdmaLink, ...]:
    """`ibdev2netdev` (also -v): `mlx5_0 port 1 ==> ens4f0 (Down)`."""
    expect_success(reply, IBDEV2NETDEV)
    links: list[RdmaLink] = []
    for line in matches(reply, _IBDEV):
        end = _IBDEV_END.match(line[3].strip())
        if end is None:
            refuse(reply, f"{line[3]!r} is not an interface with its state")
        links.append(
            RdmaLink(
                rdma=line[1],
                rdma_port=int(line[2]),
                interface=end[1] or "",
                state=end[2],
            )
        )
    return each_once(reply, links)


class GidRow(NamedTuple):
    """A line of `show_gids`. What a line leaves out is ""."""

    rdma: str
    port: int
    ipv4: str
    version: str
    interface: str


def gid_rows(reply: Reply) -> tuple[GidRow, ...]:
    """`show_gids`: every GID. Raises UnreadableOutput when they are not as many as it says."""
    expect_success(reply, SHOW_GIDS)
    rows: list[GidRow] = []
    announced = None
    for line in matches(reply, _GIDS_TITLE, _GIDS_RULER, _GID, _GIDS_END):
        if announced is not None:
            refuse(reply, f"{line[0]!r} comes after the last line")
        if line.re is _GIDS_END:
            announced = int(line[1])
        elif line.re is _GID:
            rows.append(GidRow(line[1], int(line[2]), line[5] or "", line[6] or "", line[7] or ""))
    if announced != len(rows):
        incomplete(reply, f"{len(rows)} GIDs, but n_gids_found={announced}")
    return tuple(rows)


def parse_show_gids(reply: Reply) -> tuple[RdmaLink, ...]:
    """`show_gids`: the links that have a GID; it does not tell their state.

    Rows of the same link are one; a row without net device counts when no other row has one.
    """
    interfaces: dict[tuple[str, int], str] = {}
    for row in gid_rows(reply):
        key = (row.rdma, row.port)
        if interfaces.get(key) and row.interface and interfaces[key] != row.interface:
            refuse(reply, f"{row.rdma} has two net devices")
        interfaces[key] = interfaces.get(key) or row.interface
    return tuple(
        RdmaLink(rdma=rdma, rdma_port=port, interface=interface, state="")
        for (rdma, port), interface in interfaces.items()
    )


def parse_show_counters(reply: Reply) -> Counters:
    """`show_counters DEV`: the hw counters of each port (not those of the connection manager)."""
    expect_success(reply, SHOW_COUNTERS)
    device = _device_of(reply)
    counters: Counters = {}
    title: re.Match[str] | None = None
    for line in matches(reply, _COUNTERS_TITLE, _COUNTER):
        if line.re is _COUNTERS_TITLE:
            title = line
        elif title is None:
            refuse(reply, f"{line[0]!r} comes before 'Port N hw counters:'")
        elif title[2] == "hw":
            of_port = counters.setdefault((device, int(title[1])), {})
            if line[1] in of_port:
                refuse(reply, f"{line[1]} is there twice")
            of_port[line[1]] = whole_number(reply, line[2], line[1])
    if not counters:
        refuse(reply, "there is no counter in it")
    for of_port in counters.values():
        of_port.pop(LIFESPAN, None)
    return counters


def _device_of(reply: Reply) -> str:
    match = _COMMAND_DEVICE.search(reply.command)
    if match is None:
        refuse(reply, "the command does not name a device")
    return match[1]
