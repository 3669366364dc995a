"""Evidence of RDMA put together by hand, in which everything is as it should be: two senders that
marks hold, two that pauses hold, and three hosts of which each writes to both others."""

from dataclasses import replace

from handmade import reading, rows

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.capabilities.records import PfcSetting
from labtests.measure.evidence import CnpClass, Evidence, Place

CEILING = 9.26e9
PACKETS = 600_000  # of each flow
HOSTS = {"a": "p1", "b": "p2", "r": "p3"}
RDMA = (
    *(c.OUT_OF_SEQUENCE, c.DUPLICATE_REQUEST, c.PACKET_SEQ_ERR),
    *(c.LOCAL_ACK_TIMEOUT, c.IMPLIED_NAK_SEQ_ERR),
)


def place(host, queue=3):
    return Place(
        device=host, port="eth0", switch="sw", switch_port=HOSTS[host], priority=3, queue=queue,
        link_bits_per_s=10e9,
    )  # fmt: skip


def flow(sender, receiver="r", rate=4.6, tool="ib_send_bw"):
    return FlowResult(
        sender=sender, receiver=receiver, tool=tool, tos=96, status=FlowStatus.COMPLETE, because="",
        command="ib …", intervals=rows(10, (rate, rate)), goodput_bits_per_s=rate * 1e9,
        iterations=1000,
    )  # fmt: skip


def evidence(grown, senders, flows, **more):
    """`grown`: what each counter grew by."""

    def at(time_s, share):
        return tuple(reading(key, 1000 + share * n, time_s) for key, n in grown.items())

    return Evidence(
        name="on", kind="experiment", backend="simulated", start_s=10.0, end_s=12.2,
        line_bits_per_s=10e9, senders=senders, receiver=place("r"), flows=flows,
        quiet_before=at(9.0, 0), before=at(9.5, 0), after=at(13.0, 1), settled=True, **more,
    )  # fmt: skip


def _of_incast():
    """Packets and their losses."""
    grown = {
        ("sw", "p3", "queue", 3, c.QUEUE_FORWARDED_PACKETS): 2 * PACKETS,
        ("sw", "p3", "queue", 3, c.QUEUE_DROPPED_PACKETS): 0,
        ("r", "eth0", "priority", 3, c.RX_PACKETS): 2 * PACKETS,
        ("r", "eth0", "port", -1, c.PAUSE_TX_FRAMES): 0,
    }
    for host in "ab":
        grown[host, "eth0", "priority", 3, c.TX_PACKETS] = PACKETS
        for priority in range(8):
            grown["sw", HOSTS[host], "priority", priority, c.PFC_TX_FRAMES] = 0
        grown[host, "eth0", "priority", 3, c.PFC_RX_FRAMES] = 0
    for host, counter in ((h, n) for h in HOSTS for n in RDMA):
        grown[host, "eth0", "port", -1, counter] = 0
    return grown


def held_by_marks() -> Evidence:
    """PFC and DCQCN."""
    grown = _of_incast()
    grown["sw", "p3", "port", -1, c.ECN_MARKED_PACKETS] = 9000
    grown["r", "eth0", "port", -1, c.NP_ECN_MARKED_PACKETS] = 9000
    grown["r", "eth0", "port", -1, c.NP_CNP_SENT] = 4000
    for host in "ab":
        grown[host, "eth0", "port", -1, c.RP_CNP_HANDLED] = 2000
        grown[host, "eth0", "port", -1, c.RP_CNP_IGNORED] = 0
        grown["sw", HOSTS[host], "queue", 6, c.QUEUE_FORWARDED_PACKETS] = 2000
    cnp = CnpClass(dscp=48, queues=(("sw", "p1", 6), ("sw", "p2", 6)))
    return evidence(grown, (place("a"), place("b")), (flow("a"), flow("b")), cnp=cnp)


def held_by_pfc(tool="ib_send_bw") -> Evidence:
    """PFC alone."""
    grown = _of_incast()
    for host in "ab":
        grown["sw", HOSTS[host], "priority", 3, c.PFC_TX_FRAMES] = 4000
        grown[host, "eth0", "priority", 3, c.PFC_RX_FRAMES] = 4000
        grown[host, "eth0", "port", -1, c.RP_CNP_HANDLED] = 0
    pfc = {("sw", port): PfcSetting(mode="on", priorities=frozenset({3})) for port in ("p1", "p2")}
    flows = flow("a", tool=tool), flow("b", tool=tool)
    return evidence(grown, (place("a"), place("b")), flows, pfc=pfc)


WAYS = [(a, b) for a in HOSTS for b in HOSTS if a != b]


def any_to_any() -> Evidence:
    """Each host gets what two flows send, and acknowledges a hundredth of it."""
    grown, acks = {}, PACKETS // 100
    for host, port in HOSTS.items():
        both = 2 * (PACKETS + acks)
        grown[host, "eth0", "priority", 3, c.TX_PACKETS] = both
        grown[host, "eth0", "priority", 3, c.RX_PACKETS] = both
        grown["sw", port, "port", -1, c.RX_PACKETS] = both
        grown["sw", port, "queue", 3, c.QUEUE_FORWARDED_PACKETS] = both
        grown["sw", port, "queue", 3, c.QUEUE_DROPPED_PACKETS] = 0
        grown["sw", port, "port", -1, c.BUFFER_DROPPED_IN_PACKETS] = 0
        grown[host, "eth0", "port", -1, c.RX_CRC_ERRORS] = 0
        grown[host, "eth0", "port", -1, c.NIC_RX_DISCARDED_PACKETS] = 0
        for counter in RDMA:
            grown[host, "eth0", "port", -1, counter] = 0
    return evidence(
        grown,
        tuple(place(sender) for sender, _ in WAYS),
        tuple(flow(*way, tool="ib_write_bw") for way in WAYS),
        receivers=tuple(place(receiver) for _, receiver in WAYS),
    )


def dropping(seen: Evidence, drops=5000) -> Evidence:
    """A control: each host sent so many more, which its port opposite dropped."""
    more = {c.TX_PACKETS, c.QUEUE_DROPPED_PACKETS}
    more_at_switch = {("port", c.RX_PACKETS)}
    after = tuple(
        replace(r, value=r.value + drops)
        if r.counter in more or (r.scope, r.counter) in more_at_switch
        else r
        for r in seen.after
    )
    return replace(seen, name="off", kind="control", after=after)


def with_value(seen: Evidence, key, value) -> Evidence:
    """One counter grew by this; None: it has no number at the end."""
    after = tuple(
        replace(r, value=None if value is None else 1000 + value, missing="" if value else "gone")
        if r.key == key
        else r
        for r in seen.after
    )
    return replace(seen, after=after)


def keys(seen: Evidence):
    return [r.key for r in seen.after]
