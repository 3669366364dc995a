"""Witnesses held against each other. A disagreement is named and makes a verdict inconclusive.

Conservation on one bottleneck (perftest-in-practice: held exactly in seven recorded incasts):
sent by the NICs = forwarded + dropped by the queue, forwarded = received by the receiver's NIC.
In packets, because Comware's byte counts differ between forwarded and dropped.
"""

from collections.abc import Iterable, Iterator
from math import ceil

from labtests import counters as c
from labtests.evidence import Difference, Evidence, Place
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    disagreement,
    missing,
    name_of,
    passed,
    unproven,
)


def conserved(evidence: Evidence, queue: int) -> Iterator[Finding]:
    """Packets sent = forwarded + dropped, and forwarded = received, for one queue."""
    port = evidence.bottleneck
    places = {(p.device, p.port, p.priority): p for p in evidence.senders if p.queue == queue}
    sent = [_nic(evidence, p, c.TX_PACKETS) for p in places.values()]
    forwarded = evidence.change(port, "queue", queue, c.QUEUE_FORWARDED_PACKETS)
    dropped = evidence.change(port, "queue", queue, c.QUEUE_DROPPED_PACKETS)
    priorities = {p.priority for p in evidence.senders if p.queue == queue}
    received = [
        evidence.change(
            (evidence.receiver.device, evidence.receiver.port), "priority", p, c.RX_PACKETS
        )
        for p in sorted(p for p in priorities if p is not None)
    ]
    yield equal(
        evidence, f"sent by NICs = forwarded + dropped, queue {queue}", sent, [forwarded, dropped]
    )
    yield equal(evidence, f"forwarded = received by the NIC, queue {queue}", [forwarded], received)


def pauses_agree(evidence: Evidence, place: Place) -> Finding:
    """Pause frames the switch sent = pause frames the NIC received, at the sender's priority."""
    sent = evidence.change(
        (place.switch, place.switch_port), "priority", place.priority, c.PFC_TX_FRAMES
    )
    got = _nic(evidence, place, c.PFC_RX_FRAMES)
    return equal(evidence, f"pause sent = pause received, {place.device}", [sent], [got])


def marks_agree(evidence: Evidence) -> Finding:
    """Packets the switch marked = CE packets the receiver's notification point saw."""
    marked = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS)
    seen = _rdma(evidence, evidence.receiver, c.NP_ECN_MARKED_PACKETS)
    return equal(evidence, "marked by the switch = seen by the NP", [marked], [seen])


def cnps_agree(evidence: Evidence) -> Finding:
    """CNPs the NP sent = handled + ignored by the RPs."""
    sent = _rdma(evidence, evidence.receiver, c.NP_CNP_SENT)
    got = [
        _rdma(evidence, place, counter)
        for place in evidence.senders
        for counter in (c.RP_CNP_HANDLED, c.RP_CNP_IGNORED)
    ]
    return equal(evidence, "CNPs sent = handled + ignored", [sent], got)


def rdma_saw_no_loss(evidence: Evidence) -> Iterator[Finding]:
    """With no drop at the switch, no NIC may have asked for or made a retransmission."""
    watched = [_rdma(evidence, evidence.receiver, c.OUT_OF_SEQUENCE)]
    for place in evidence.senders:
        watched += [_rdma(evidence, place, n) for n in (c.PACKET_SEQ_ERR, c.LOCAL_ACK_TIMEOUT)]
    for difference in watched:
        yield _no_retransmission(difference)


def _no_retransmission(difference: Difference) -> Finding:
    if difference.increase is None:
        return missing(difference, "= 0", "events")
    fact = Fact(
        name=name_of(difference), measured=difference.increase, bound="= 0", unit="events", margin=0
    )
    if difference.increase:
        return disagreement(
            f"{name_of(difference)} grew by {difference.increase} without a drop at the switch",
            fact,
        )
    return passed(fact)


def datagrams_accounted(evidence: Evidence) -> Iterator[Finding]:
    """Datagrams that iperf3 misses are explained by the receiving host, or named as unexplained.

    UDP only. The host's own losses: RcvbufErrors (socket full) and ReasmFails (fragments).
    """
    lost = [f.lost_datagrams for f in evidence.flows]
    if any(n is None for n in lost):
        yield unproven("a receiver did not report how many datagrams it lost")
        return
    missed = sum(n for n in lost if n)
    host = (evidence.receiver.device, "")
    excuses = [
        evidence.change(host, "host", None, n) for n in (c.UDP_RCVBUF_ERRORS, c.IP_REASM_FAILS)
    ]
    if any(d.increase is None for d in excuses):
        yield from (missing(d, "known", "events") for d in excuses if d.increase is None)
        return
    by_host = sum(d.increase or 0 for d in excuses)
    facts = (
        Fact(
            name="datagrams lost by iperf3's account",
            measured=missed,
            bound="= 0",
            unit="datagrams",
        ),
        Fact(
            name="lost inside the receiving host",
            measured=by_host,
            bound="explains them",
            unit="events",
        ),
    )
    if missed and not by_host:
        yield disagreement(f"{missed} datagrams were lost and no counter says where", *facts)
    else:
        yield passed(*facts)


def equal(
    evidence: Evidence, what: str, left: Iterable[Difference], right: Iterable[Difference]
) -> Finding:
    """Two sums of counters are the same, but for what the quiet window showed as background."""
    left, right = tuple(left), tuple(right)
    for difference in (*left, *right):
        if difference.increase is None:
            return missing(difference, "known", "packets")
    a, b = (sum(d.increase or 0 for d in side) for side in (left, right))
    slack = sum(background(evidence, d) for d in (*left, *right))
    note = f"{_sum(left)} = {a}; {_sum(right)} = {b}; background allows {slack}"
    fact = Fact(
        name=what,
        measured=a - b,
        bound=f"|difference| <= {slack}",
        unit="",
        margin=slack - abs(a - b),
        note=note,
    )
    if abs(a - b) > slack:
        return disagreement(f"{what} does not hold: {note}", fact)
    return passed(fact)


def background(evidence: Evidence, difference: Difference) -> int:
    """What the counter would grow by in the run if it went on as in the quiet window."""
    quiet = evidence.noise.get(difference.key)
    if quiet is None or not quiet.increase or quiet.before is None or quiet.after is None:
        return 0
    quiet_s = quiet.after.time_s - quiet.before.time_s
    return ceil(quiet.increase * (evidence.end_s - evidence.start_s) / quiet_s)


def _sum(side: tuple[Difference, ...]) -> str:
    return " + ".join(name_of(d) for d in side)


def _nic(evidence: Evidence, place: Place, counter: str) -> Difference:
    return evidence.change((place.device, place.port), "priority", place.priority, counter)


def _rdma(evidence: Evidence, place: Place, counter: str) -> Difference:
    return evidence.change((place.device, place.port), "port", None, counter)
