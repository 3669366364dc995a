"""CNPs in their class: a notification that waits behind data comes too late to slow anybody."""

import math
from collections.abc import Iterator
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.measure.evidence import CnpClass, CnpReturn, Difference, Evidence, Place
from labtests.verdicts import checks, path, witnesses
from labtests.verdicts.bounds import NONE, at_least, at_most
from labtests.verdicts.outcome import (
    Finding,
    disagreement,
    fact_of,
    failed,
    held_to,
    missing,
    passed,
    unproven,
)

SAME_DSCP_SHARE = 0.5
"""Of the CNPs that a NIC got, through their queue: one NIC gives all of them the same DSCP."""
HEEDED_SHARE = 0.9
"""Of the CNPs; the rest may be of queue pairs that are gone."""
LEAST_PER_S = 100
"""CNPs to a sender that is held: its RP speeds up every 300 us (rpg_time_reset) and
is back at its earlier rate after five of these. Healthy labs of 10G to 100G: some 2000."""


def in_their_class(evidence: Evidence) -> Iterator[Finding]:
    """The queue of the CNPs' DSCP is none of the data's, and at the senders' switch ports it
    forwarded at least as many packets as the receiver sent CNPs."""
    if evidence.cnp is None:
        yield unproven("could not read the receiver's CNP DSCP")
        return
    dscp, receiver = evidence.cnp.dscp, evidence.receiver
    for switch, port, queue in evidence.cnp.queues:
        if queue in evidence.queues:
            yield failed(
                f"CNPs of {receiver.device} (cnp_dscp {dscp}) share queue {queue} of {switch} "
                f"{port} with the data"
            )
            return
    yield _counted(evidence, dscp, evidence.cnp.queues)
    for switch, port, queue in (*evidence.cnp.queues, *_before(evidence.cnp)):
        yield from _kept(evidence, (switch, port), queue)
    for place in evidence.senders:
        yield from _came(evidence, place)
    for each in evidence.cnp.returns:
        yield from _passed(evidence, each, dscp)


def all_came(evidence: Evidence) -> Finding:
    """Sent = handled + ignored. Where not, the senders are named whose switch port forwarded more
    packets in the CNPs' queue than their NIC counted."""
    finding = witnesses.cnps_agree(evidence)
    said = [_short_of(evidence, place) for place in evidence.senders]
    named = "; ".join(dict.fromkeys(filter(None, said)))
    if not finding.disagreement or not named:
        return finding
    return replace(finding, because=f"{finding.because}; {named}")


def _short_of(evidence: Evidence, place: Place) -> str:
    counted = got(evidence, place)
    for switch, port, queue in _queues_towards(evidence, place):
        came = evidence.change((switch, port), "queue", queue, c.QUEUE_FORWARDED_PACKETS).increase
        if came is not None and counted is not None and came > counted:
            return (
                f"queue {queue} of {switch} {port} forwarded {came} packets to {place.device}, "
                f"which counted {counted} CNPs"
            )
    return ""


_GOT = (c.RP_CNP_HANDLED, c.RP_CNP_IGNORED)


def _of_nic(evidence: Evidence, place: Place, counter: str) -> Difference:
    return evidence.change((place.device, place.port), "port", None, counter)


def _queues_towards(evidence: Evidence, place: Place) -> list[tuple[str, str, int]]:
    """Those of the CNPs at the switch port opposite a sender."""
    queues = () if evidence.cnp is None else evidence.cnp.queues
    return [(s, p, q) for s, p, q in queues if (s, p) == (place.switch, place.switch_port)]


def got(evidence: Evidence, place: Place) -> int | None:
    """CNPs that a sender's NIC counted, handled or not; None: not known."""
    counts = [_of_nic(evidence, place, counter).increase for counter in _GOT]
    return None if None in counts else sum(n or 0 for n in counts)


def of_marks(evidence: Evidence) -> Iterator[Finding]:
    """A notification point sends at most one CNP for a CE packet (mlx5: np_cnp_sent)."""
    receiver = (evidence.receiver.device, evidence.receiver.port)
    sent = evidence.change(receiver, "port", None, c.NP_CNP_SENT)
    seen = evidence.change(receiver, "port", None, c.NP_ECN_MARKED_PACKETS)
    if sent.increase is None or seen.increase is None:
        return  # said elsewhere
    fact = fact_of(sent, at_most(seen.increase, " CE packets"), "CNPs")
    many = f"{receiver[0]} sent {sent.increase} CNPs for {seen.increase} CE packets"
    yield passed(fact) if sent.increase <= seen.increase else disagreement(many, fact)


def often_enough(evidence: Evidence, place: Place, seconds: float) -> Iterator[Finding]:
    """So many CNPs that they can have held the sender for all this time."""
    handled = evidence.change((place.device, place.port), "port", None, c.RP_CNP_HANDLED)
    if not handled.increase or not seconds:
        return  # said elsewhere
    due = math.ceil(LEAST_PER_S * seconds)
    fact = fact_of(handled, at_least(due), "CNPs")
    few = f"{handled.increase} CNPs cannot have held {place.device} for {seconds:.3g} s"
    yield passed(fact) if handled.increase >= due else unproven(few, fact)


def heeded(evidence: Evidence, place: Place) -> Iterator[Finding]:
    """The sender's reaction point handled most of the CNPs that it got."""
    nic = (place.device, place.port)
    handled = evidence.change(nic, "port", None, c.RP_CNP_HANDLED)
    ignored = evidence.change(nic, "port", None, c.RP_CNP_IGNORED)
    if handled.increase is None or ignored.increase is None or not handled.increase:
        return  # said elsewhere
    got = handled.increase + ignored.increase
    yield checks.bounded(
        f"{place.device}: CNPs handled / {got} got, {ignored.increase} of them ignored",
        handled.increase / got,
        at_least=HEEDED_SHARE,
    )


def _came(evidence: Evidence, place: Place) -> Iterator[Finding]:
    """The CNPs that a sender's NIC got went through their queue of its own switch port."""
    seen = [_of_nic(evidence, place, counter) for counter in _GOT]
    unread = [each for each in seen if each.increase is None]
    if unread:
        yield from (missing(d, "known", "packets") for d in unread if evidence.has(d))
        return
    got = sum(each.increase or 0 for each in seen)
    for switch, port, queue in _queues_towards(evidence, place):
        came = evidence.change((switch, port), "queue", queue, c.QUEUE_FORWARDED_PACKETS)
        if came.increase is not None and came.increase < got:  # None is said by _counted
            yield disagreement(
                f"{place.device} got {got} CNPs, and queue {queue} of "
                f"{switch} {port} forwarded {came.increase} packets: some carried another DSCP"
            )
        yield from _others_came_beside(evidence, place, (switch, port), queue)


def _others_came_beside(
    evidence: Evidence, place: Place, port: path.Where, queue: int
) -> Iterator[Finding]:
    """What a sender's NIC got in the classes of the flows (acknowledgements) came out of the other
    queues of its switch port: else it was in that of the CNPs, which hides where these were."""
    classes = {p.priority for p in evidence.senders if p.priority is not None}
    nic = (place.device, place.port)
    got = [evidence.change(nic, "priority", each, c.RX_PACKETS).increase for each in classes]
    every = path.of_queues(evidence, port, c.QUEUE_FORWARDED_PACKETS)
    others = [each.increase for each in every if each.key[3] != queue]
    if None in got or None in others or not others:
        return  # said elsewhere
    back, came = (sum(n or 0 for n in side) for side in (got, others))
    if came < back:
        yield disagreement(
            f"{place.device} got {back} packets in the classes of the flows, and the queues of "
            f"{' '.join(port)} beside {queue}, that of the CNPs, forwarded {came}: some went "
            "through the CNPs' queue, or a counter stood still"
        )


def _passed(evidence: Evidence, back: CnpReturn, dscp: int) -> Iterator[Finding]:
    """The CNPs that these senders got went through their queue of a port before, too."""
    came = evidence.change(back.port, "queue", back.queue, c.QUEUE_FORWARDED_PACKETS)
    if came.increase is None:
        yield from [missing(came, "known", "packets")] if evidence.has(came) else []
        return
    got = sum(_got(evidence, each) for each in _nics(evidence) if each.device in back.senders)
    if came.increase >= got:
        return
    every = path.of_queues(evidence, back.port, c.QUEUE_FORWARDED_PACKETS)
    others = sum(each.increase or 0 for each in every) - came.increase
    said = (
        f"{', '.join(back.senders)} got {got} CNPs by way of {' '.join(back.port)}, and queue "
        f"{back.queue} there forwarded {came.increase} packets"
    )
    fact = fact_of(came, at_least(got, " CNPs"), "packets")
    if came.increase < SAME_DSCP_SHARE * got <= others:
        yield failed(f"{said}: {back.port[0]} does not classify by DSCP {dscp}", fact)
    else:
        yield disagreement(f"{said}: some carried another DSCP, or its counter stood still", fact)


def _counted(evidence: Evidence, dscp: int, queues: tuple[tuple[str, str, int], ...]) -> Finding:
    receiver = evidence.receiver
    sent = evidence.change((receiver.device, receiver.port), "port", None, c.NP_CNP_SENT)
    seen = [
        evidence.change((switch, port), "queue", queue, c.QUEUE_FORWARDED_PACKETS)
        for switch, port, queue in queues
    ]
    for difference in (sent, *seen):
        if difference.increase is None:
            return missing(difference, "known", "packets")
    due, came = sent.increase or 0, sum(d.increase or 0 for d in seen)
    where = ", ".join(f"{switch} {port}" for switch, port, _ in queues)
    numbers = ", ".join(map(str, sorted({queue for _, _, queue in queues})))
    fact = held_to(
        f"packets through queue {numbers} of the senders' ports (CNPs, DSCP {dscp})",
        came,
        at_least(due, " CNPs sent"),
        "packets",
    )
    if came >= due:
        return passed(fact)
    if _elsewhere(evidence) and _arrived(evidence) >= due:
        return failed(
            f"{receiver.device} sent {due} CNPs with DSCP {dscp} by its setting, but queue "
            f"{numbers} of the senders' switch ports ({where}) forwarded {came} packets: they have "
            "another DSCP, or a switch on their way does not classify by it",
            fact,
        )
    said = (
        f"{receiver.device} sent {due} CNPs, and queue {numbers} of the senders' switch ports "
        f"({where}) forwarded {came} packets"
    )
    if _arrived(evidence) >= due:
        why = f"{due - came} with another DSCP, or past a counter that stood still"
        return disagreement(f"{said}: all of them arrived, {why}", fact)
    return disagreement(
        f"{said}: {due - came} of them were lost on the way back, from the cable of "
        f"{receiver.device} on",
        fact,
    )


def _before(cnp: CnpClass) -> Iterator[tuple[str, str, int]]:
    return ((*each.port, each.queue) for each in cnp.returns)


def _kept(evidence: Evidence, port: tuple[str, str], queue: int) -> Iterator[Finding]:
    """The CNPs' queue dropped nothing. What it did drop, and no CNP is missing, was somebody else's
    packet of their class: the next one may be a CNP."""
    drops = evidence.change(port, "queue", queue, c.QUEUE_DROPPED_PACKETS)
    if drops.increase is None:
        yield from [missing(drops, "= 0", "packets")] if evidence.has(drops) else []
        return
    fact = fact_of(drops, NONE, "packets")
    if not drops.increase:
        yield passed(fact)
        return
    receiver, where = evidence.receiver, " ".join(port)
    sent = evidence.change((receiver.device, receiver.port), "port", None, c.NP_CNP_SENT).increase
    gone = (sent or 0) - _arrived(evidence)
    said = f"queue {queue} of {where}, that of the CNPs, dropped {drops.increase} packets"
    if gone > 0:
        yield failed(f"{said}, and {gone} of {sent} CNPs did not arrive", fact)
    else:
        whole = "every CNP arrived: others have their class, or the counter grew by itself"
        yield disagreement(f"{said}, and {whole}", fact)


def _arrived(evidence: Evidence) -> int:
    """CNPs that the reaction points counted."""
    return sum(_got(evidence, place) for place in _nics(evidence))


def _nics(evidence: Evidence) -> tuple[Place, ...]:
    return tuple({(place.device, place.port): place for place in evidence.senders}.values())


def _got(evidence: Evidence, place: Place) -> int:
    return sum(_of_nic(evidence, place, counter).increase or 0 for counter in _GOT)


def _elsewhere(evidence: Evidence) -> bool:
    """Whether at no sender's switch port the CNPs went through their queue, and all that its NIC
    got came out of the port's queues: out of another one, then."""
    return all(_past(evidence, place) for place in _nics(evidence) if _got(evidence, place))


def _past(evidence: Evidence, place: Place) -> bool:
    got = _got(evidence, place)
    port = (place.switch, place.switch_port)
    for _, _, queue in _queues_towards(evidence, place):
        came = evidence.change(port, "queue", queue, c.QUEUE_FORWARDED_PACKETS).increase
        if came is None or came >= SAME_DSCP_SHARE * got:
            return False
    every = path.of_queues(evidence, port, c.QUEUE_FORWARDED_PACKETS)
    received = path.received_by_nic(evidence, place.device, place.port)
    sides = [[d.increase for d in side] for side in (every, received)]
    if any(None in side for side in sides):
        return True  # nobody speaks against it
    forwarded, arrived = (sum(n or 0 for n in side) for side in sides)
    return arrived - forwarded < SAME_DSCP_SHARE * got
