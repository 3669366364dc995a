"""Which RDMA device belongs to which net device, and RDMA counters, as `rdma` of iproute2 tells."""

from collections.abc import Sequence

from labtests.capabilities import counters as c
from labtests.capabilities.nic import RdmaLink
from labtests.capabilities.readings import Reading
from labtests.core.errors import CommandRejected, ToolMissing
from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.displays import Fields, Notation, Rows, read_json
from labtests.drivers.linux.sysfs import LIFESPAN
from labtests.drivers.parsing import refuse
from labtests.drivers.readings import Answered
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

RDMA = Tool(
    install="install the package iproute2 (or rdma-core) on this host",
    complaints=(
        Complaint(
            says=r"Wrong device name",
            remedy="check the RDMA device in the testbed file against `rdma link` on the host",
        ),
    ),
)
RDMA_LINKS = program("rdma", "-j", "link")
RDMA_STATISTIC = program("rdma", "-j", "statistic")
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


def _link(rdma: str, rdma_port: int, state: str, interface: str = "") -> RdmaLink:
    # old iproute2 writes the port into the name: "mlx5_0/1"
    name = rdma.removesuffix(f"/{rdma_port}")
    return RdmaLink(rdma=name, rdma_port=rdma_port, interface=interface, state=state)


_NAME = {"ifname": "rdma:word", "port": "rdma_port:whole"}
_LINKS = Rows(
    Fields(_NAME | {"netdev?": "interface:word", "state": "state:word"}, make=_link, open=True)
)
_COUNTERS = Rows(
    Fields(
        _NAME | {"ifindex?": ":number", f"{LIFESPAN}?": ":number"},
        make=lambda rdma, rdma_port, counters: (_link(rdma, rdma_port, ""), counters),
        rest="counters:whole",
    )
)


def parse_rdma_links(reply: Reply) -> tuple[RdmaLink, ...]:
    """`rdma -j link`: every link. `interface` is "" where the link has no net device."""
    expect_success(reply, RDMA)
    return each_once(reply, read_json(reply, _LINKS, Notation()))


def rdma_statistic_command(link: RdmaLink) -> Shell:
    """Reads the counters of one link."""
    return program("rdma", "-j", "statistic", "show", "link", f"{link.rdma}/{link.rdma_port}")


def parse_rdma_statistic(reply: Reply) -> Counters:
    """`rdma -j statistic`: the flat counters of each link (lifespan is a setting: left out)."""
    expect_success(reply, RDMA)
    found = read_json(reply, _COUNTERS, Notation())
    each_once(reply, [link for link, _ in found])
    return {(link.rdma, link.rdma_port): counters for link, counters in found}


def counts(reply: Reply, name: str) -> bool:
    """Whether `rdma -j statistic` shows a counter of this name, of any link; not where there is no
    such program."""
    try:
        return any(name in counters for counters in parse_rdma_statistic(reply).values())
    except (CommandRejected, ToolMissing):
        return False


def rdma_readings(
    reply: Reply, port: str, tool: str, counters: dict[str, int]
) -> tuple[Reading, ...]:
    """Every counter of the RDMA device behind a port; a known one that is not shown is None.
    rdma_rxe has none of those that are mlx5's alone."""
    shown = {_OTHER_WORDS.get(name, name): name for name in counters}
    known = _OTHER_WORDS.values() if c.RDMA_RETRIES in counters else _KNOWN
    missing = [name for name in known if name not in shown]
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


def each_once(reply: Reply, links: Sequence[RdmaLink]) -> tuple[RdmaLink, ...]:
    """The links. Raises UnreadableOutput when one appears twice."""
    if len({(link.rdma, link.rdma_port) for link in links}) != len(links):
        refuse(reply, "an RDMA link appears twice")
    return tuple(links)
