"""The RDMA side of a host in /sys/class/infiniband, for any driver and without any vendor's tool.

Linux, Documentation/ABI/stable/sysfs-class-infiniband: `ports/N/state`, and of each GID its value,
its type and its net device. A GID that is not in use is all zeros, and its type cannot be read.
"""

import re
from ipaddress import IPv6Address

from labtests.capabilities.nic import RdmaLink
from labtests.drivers.linux.sysfs import those_readable
from labtests.drivers.parsing import refuse
from labtests.transport.commands import Shell, script
from labtests.transport.protocol import Reply

_CLASS = "/sys/class/infiniband"
LINKS_IN_SYSFS = script(
    "grep -s -H . CLASS/*/ports/*/state CLASS/*/ports/*/gid_attrs/ndevs/0", CLASS=_CLASS
)
_UNUSED = "^0000:0000:0000:0000:0000:0000:0000:0000$"
_NAME = re.compile(rf"^{_CLASS}/([^/]+)/ports/([0-9]+)/(state|gid_attrs/ndevs/0)$")
_STATE = re.compile(r"^[0-9]+: ([A-Z]+)$")  # `4: ACTIVE`
_GID = re.compile(r"/ports/[0-9]+/(gids|gid_attrs/types|gid_attrs/ndevs)/([0-9]+)$")
_V2 = "RoCE v2"
_RNIC = "4: RNIC"  # iWARP (siw, cxgb4): it has no RoCE GIDs


def parse_sysfs_links(reply: Reply) -> tuple[RdmaLink, ...]:
    """Every RDMA link, with the net device of its first GID; none without RDMA."""
    found: dict[tuple[str, int], dict[str, str]] = {}
    for path, text in those_readable(reply).items():
        match = _NAME.match(path)
        if match is None:
            refuse(reply, f"{path} is not a state or a net device of an RDMA link")
        found.setdefault((match[1], int(match[2])), {})[match[3]] = text
    return tuple(
        RdmaLink(
            rdma=rdma,
            rdma_port=port,
            interface=told.get("gid_attrs/ndevs/0", ""),
            state=_word(reply, told.get("state", "")),
        )
        for (rdma, port), told in found.items()
    )


def gids_command(link: RdmaLink) -> Shell:
    """Reads the GIDs of one link, and what kind of device it is."""
    device = f"{_CLASS}/{link.rdma}"
    return script(
        "grep -s -H -v UNUSED DEVICE/node_type PORT/gids/* PORT/gid_attrs/types/* "
        "PORT/gid_attrs/ndevs/*",
        UNUSED=_UNUSED,
        DEVICE=device,
        PORT=f"{device}/ports/{link.rdma_port}",
    )


def parse_gids(reply: Reply) -> frozenset[str] | None:
    """The IPv4 addresses that have a RoCEv2 GID; None when it is not a RoCE device, or unknown."""
    files = those_readable(reply)
    told: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        if match := _GID.search(path):
            told.setdefault(match[2], {})[match[1]] = text
        elif not path.endswith("/node_type"):
            refuse(reply, f"{path} does not belong to a GID")
        elif text == _RNIC:
            return None
    if not told:
        return None
    v2 = [gid.get("gids", "") for gid in told.values() if gid.get("gid_attrs/types") == _V2]
    mapped = [_address(reply, gid).ipv4_mapped for gid in v2 if gid]
    return frozenset(str(address) for address in mapped if address is not None)


def _address(reply: Reply, gid: str) -> IPv6Address:
    try:
        return IPv6Address(gid)
    except ValueError:
        refuse(reply, f"{gid!r} is not a GID")


def _word(reply: Reply, text: str) -> str:
    match = _STATE.match(text)
    if match is None:
        refuse(reply, f"{text!r} is not a state of an RDMA link")
    return match[1]
