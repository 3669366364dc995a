"""Which RDMA device belongs to which net device, and RDMA counters, as `rdma` of iproute2 tells."""

from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.records import RdmaLink, Reading
from labtests.core.trusted_files import json_of
from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.linux.sysfs import LIFESPAN
from labtests.drivers.parsing import READ_AGAIN, refuse
from labtests.drivers.readings import Answered
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

RDMA = Tool(
    name="rdma",
    install="install the package iproute2 (or rdma-core) on this host",
    complaints=(
        Complaint(
            says=r"Wrong device name",
            remedy="check the RDMA device in the testbed file against `rdma link` on the host",
        ),
    ),
)
RDMA_LINKS = program("rdma", "-j", "link")
_NO_RDMA_IN_THE_KERNEL = "Failed to open NETLINK_RDMA socket"  # iproute2, rdma/utils.c

Counters = dict[tuple[str, int], dict[str, int]]
"""(RDMA device, port) -> counter -> value."""

_KNOWN = {  # the names of counters.py are those of mlx5; meanings: NVIDIA's RDMA counter table
    c.NP_ECN_MARKED_PACKETS: "packets",
    c.NP_CNP_SENT: "packets",
    c.RP_CNP_HANDLED: "packets",
    c.RP_CNP_IGNORED: "packets",
    c.OUT_OF_SEQUENCE: "packets",
    c.PACKET_SEQ_ERR: "events",
    c.LOCAL_ACK_TIMEOUT: "events",
    c.DUPLICATE_REQUEST: "events",
    c.RNR_NAK_RETRY: "events",
    c.RDMA_OUT_OF_BUFFER: "packets",
    c.IMPLIED_NAK_SEQ_ERR: "events",
    c.RX_ICRC_ERRORS: "packets",
    c.ADAPTIVE_RETRANSMISSIONS: "events",
    c.ADAPTIVE_RETRANSMISSION_TIMEOUTS: "events",
}
_OTHER_WORDS = {  # rdma_rxe (Linux, drivers/infiniband/sw/rxe): the same events by its own names
    "out_of_seq_request": c.OUT_OF_SEQUENCE,  # a responder got a request out of its order
    "rcvd_seq_err": c.PACKET_SEQ_ERR,  # a requester got a NAK for that
    "rcvd_rnr_err": c.RNR_NAK_RETRY,  # a requester got a NAK: the receiver was not ready
    "send_rnr_err": c.RDMA_OUT_OF_BUFFER,  # a responder had no receive request, and dropped
}


def no_rdma_in_the_kernel(reply: Reply) -> bool:
    """Whether `rdma` said that this kernel knows nothing of RDMA."""
    return _NO_RDMA_IN_THE_KERNEL in reply.errors


def parse_rdma_links(reply: Reply) -> tuple[RdmaLink, ...]:
    """`rdma -j link`: every link. `interface` is "" where the link has no net device."""
    expect_success(reply, RDMA)
    links: list[RdmaLink] = []
    for entry in _json_objects(reply):
        port = _integer(reply, entry, "port")
        links.append(
            RdmaLink(
                # old iproute2 writes the port into the name: "mlx5_0/1"
                rdma=_text(reply, entry, "ifname").removesuffix(f"/{port}"),
                rdma_port=port,
                interface=_text(reply, entry, "netdev") if "netdev" in entry else "",
                state=_text(reply, entry, "state"),
            )
        )
    return each_once(reply, links)


def rdma_statistic_command(link: RdmaLink) -> Shell:
    """Reads the counters of one link."""
    return program("rdma", "-j", "statistic", "show", "link", f"{link.rdma}/{link.rdma_port}")


def parse_rdma_statistic(reply: Reply) -> Counters:
    """`rdma -j statistic`: the flat counters of each link (lifespan is a setting: left out)."""
    expect_success(reply, RDMA)
    counters: Counters = {}
    for entry in _json_objects(reply):
        port = _integer(reply, entry, "port")
        link = (_text(reply, entry, "ifname").removesuffix(f"/{port}"), port)
        if link in counters:
            refuse(reply, f"{link[0]} port {port} is there twice")
        names = [name for name in entry if name not in ("ifindex", "ifname", "port", LIFESPAN)]
        counters[link] = {name: _integer(reply, entry, name) for name in names}
    return counters


def rdma_readings(
    reply: Reply, port: str, tool: str, counters: dict[str, int]
) -> tuple[Reading, ...]:
    """Every counter of the RDMA device behind a port; a known one that is not shown is None."""
    shown = {_OTHER_WORDS.get(name, name): name for name in counters}
    missing = [name for name in _KNOWN if name not in shown]
    return tuple(
        Answered(reply, port).reading(
            (name, _KNOWN.get(name) or _unit(name)),
            counters[shown[name]] if name in shown else None,
            f"{tool} {shown.get(name, name)}",
            f"{tool} has no {name}",
        )
        for name in [*shown, *missing]
    )


def _unit(name: str) -> str:
    if name.endswith("_bytes"):
        return "bytes"
    of_packets = name.endswith(("_packets", "_pkts")) or name == c.RDMA_SEND_ERRORS
    return "packets" if of_packets else "events"


def _json_objects(reply: Reply) -> list[dict[str, Any]]:
    try:
        entries = json_of(reply.text)
    except ValueError as error:
        refuse(reply, f"this is not JSON, or not all of it: {error}", READ_AGAIN)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        refuse(reply, "this is not a list of links")
    return entries


def _integer(reply: Reply, entry: dict[str, Any], name: str) -> int:
    value = entry.get(name)
    if type(value) is not int or value < 0:  # bool is an int to isinstance
        refuse(reply, f"{name} should be a whole number, not {value!r}")
    return value


def _text(reply: Reply, entry: dict[str, Any], name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not value:
        refuse(reply, f"{name} should be a name, not {value!r}")
    return value


def each_once(reply: Reply, links: list[RdmaLink]) -> tuple[RdmaLink, ...]:
    """The links. Raises UnreadableOutput when one is there twice."""
    if len({(link.rdma, link.rdma_port) for link in links}) != len(links):
        refuse(reply, "an RDMA link is there twice")
    return tuple(links)
