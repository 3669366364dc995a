"""The RDMA tools of mlnx-tools: ibdev2netdev, show_gids."""

import re
from typing import NamedTuple

from labtests.capabilities.nic import RdmaLink
from labtests.drivers.answers import Tool, expect_success
from labtests.drivers.linux.rdma import each_once
from labtests.drivers.parsing import incomplete, matches, refuse
from labtests.transport.protocol import Reply

IBDEV2NETDEV = Tool(
    install="install iproute2 for `rdma link`, or mlnx-tools for `ibdev2netdev`, on this host",
)
SHOW_GIDS = Tool(install="install mlnx-tools on this host")

_IBDEV = re.compile(
    r"^(?:\S+ )?(\S+)(?: \([^)]*\) .*fw \S+)? port ([0-9]+)(?: \([^()]*\))? ==> (.*)$"
)
_IBDEV_END = re.compile(r"^(\S+)? ?\((\w*)\)$")
_GIDS_TITLE = re.compile(r"^DEV\s+PORT\s+INDEX\s+GID\s+IPv4\s+VER\s+DEV\s*$")
_GIDS_RULER = re.compile(r"^---\s+----\s+-----\s+---\s+-+\s+---\s+---\s*$")
_GID = re.compile(
    r"^(\S+)\s+([0-9]+)\s+([0-9]+)\s+([0-9a-f:]{39})"
    r"(?:\s+([0-9]+(?:\.[0-9]+){3}))?(?:\s+([vV][0-9.]+))?(?:\s+(\S+))?\s*$"
)
_GIDS_END = re.compile(r"^n_gids_found=([0-9]+)\s*$")


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
