"""Which queue each DSCP gets, told by counts alone.

The DSCPs of a round are sent in different powers of two: 1, 2, 4, ... packets. Whatever a queue
counts is the sum of exactly one selection of them, so that its count says which DSCPs it got.

A round of all DSCPs, each in another number, is told by its sums: one that came astray is missing
in one queue and too much in another.

Where each is sent several times as often (8, 16, 32, ...), a rest below the least of them is
somebody else's (ARP, LLDP, STP). It excuses nothing: what is lost of ours lacks in the multiples.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.core.units import dscp_of_tos
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import astray, checks, path, port_drops, witnesses
from labtests.verdicts.bounds import exactly
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Outcome,
    Verdict,
    conclude,
    failed,
    held_to,
    missing,
    name_of,
    numbered,
    passed,
    unproven,
)

DSCPS = frozenset(range(64))
SHOWN = 4  # sentences of those that came astray


def classified(rounds: Sequence[Evidence], queues: Sequence[int]) -> Verdict:
    """Every packet of each DSCP came into the queue that `queues` (64 of them) has for it, and no
    other queue got any; and into its class at a NIC that was asked. A round in which others sent as
    well tells nothing."""
    assert rounds, "no round was sent"
    counts = [flow.sent_datagrams or 0 for seen in rounds for flow in seen.flows]
    used = len(set(queues))
    return conclude(
        "Does each DSCP reach its configured queue?",
        rounds[0],
        _classified(rounds, queues),
        passing=f"{len(DSCPS)} DSCPs in {used} queues as the map says, {sum(counts)} packets, "
        "each in its queue and none elsewhere",
    )


def in_their_queues(evidence: Evidence, queues: Mapping[int, int]) -> Verdict:
    """Every packet of the flows of each class went through its queue of the bottleneck (`queues`:
    by TOS byte), or was dropped there, as their NICs count it by class."""
    own = sorted(set(queues.values()))
    moved = sum(port_drops.queue_forwarded(evidence, queue).increase or 0 for queue in own)
    return conclude(
        "Did each class go through its queue?",
        evidence,
        _through(evidence, queues),
        passing=f"{moved} packets went through {numbered(own)}, each class in its own",
        remedy="look at what those ports classify what comes in by",
    )


def _through(evidence: Evidence, queues: Mapping[int, int]) -> Iterator[Finding]:
    yield from checks.told(evidence)
    if not evidence.by_class or any(flow.tos not in queues for flow in evidence.flows):
        yield unproven("NICs do not tell how many packets of each class they sent")
        return
    lacking: dict[int, int] = {}
    for queue in sorted(set(queues.values())):
        sent = [
            evidence.change((device, port), "priority", priority, c.TX_PACKETS)
            for device, port, priority in _classes_of(evidence, queues, queue)
        ]
        came = [port_drops.queue_forwarded(evidence, queue)]
        came.append(port_drops.queue_drops(evidence, queue))
        equal = witnesses.equal(f"sent by NICs = forwarded + dropped, queue {queue}", sent, came)
        if any(each.increase is None for each in (*sent, *came)) or not equal.because:
            yield equal
            continue
        left, here = (sum(each.increase or 0 for each in side) for side in (sent, came))
        lacking[queue] = left - here
        if left - here <= astray.PART_ASTRAY * left:
            yield equal
    yield from _in_others(evidence, queues, lacking)


def _classes_of(
    evidence: Evidence, queues: Mapping[int, int], queue: int
) -> dict[tuple[str, str, int | None], None]:
    pairs = zip(evidence.senders, evidence.flows, strict=False)
    own = (place for place, flow in pairs if queues[flow.tos] == queue)
    return dict.fromkeys((place.device, place.port, place.priority) for place in own)


def _in_others(
    evidence: Evidence, queues: Mapping[int, int], lacking: Mapping[int, int]
) -> Iterator[Finding]:
    """What a queue has not got, others have more than was sent to them: another class's, or one of
    none."""
    every = {
        each.key[3]: each.increase or 0
        for each in path.of_queues(evidence, evidence.bottleneck, c.QUEUE_FORWARDED_PACKETS)
    }
    none = {queue: n for queue, n in every.items() if queue not in queues.values()}
    surplus = none | {queue: -n for queue, n in lacking.items() if n < 0}
    for queue, packets_lacking in lacking.items():
        sent = _sent_by(evidence, queues, queue)
        if packets_lacking <= astray.PART_ASTRAY * sum(sent.values()):
            continue
        took, most = max(surplus.items(), key=lambda each: each[1], default=(queue, 0))
        alone = [at for at, n in sent.items() if abs(n - packets_lacking) <= path.STRAYS]
        whose = " and ".join(alone[:1] or sent)
        said = (
            f"queue {queue} of {' '.join(evidence.bottleneck)} got {packets_lacking} packets fewer "
            f"than {whose} sent to it"
        )
        if 2 * most >= packets_lacking:
            yield failed(f"{said}, and queue {took} got {most} more than was sent to it")
        else:
            yield unproven(f"{said}, and no other one got as many more")


def _sent_by(evidence: Evidence, queues: Mapping[int, int], queue: int) -> dict[str, int]:
    """Packets of the classes of a queue, by the switch port and the host behind it."""
    found: dict[str, int] = {}
    for place in {(p.device, p.port): p for p in evidence.senders}.values():
        sent = [
            evidence.change((device, port), "priority", priority, c.TX_PACKETS).increase or 0
            for device, port, priority in _classes_of(evidence, queues, queue)
            if (device, port) == (place.device, place.port)
        ]
        if sent:
            found[f"{place.device} (at {place.switch} {place.switch_port})"] = sum(sent)
    return found


def undisturbed(evidence: Evidence) -> bool:
    """Whether the queues counted as many packets as were sent: then the counts can be read."""
    return all(finding.outcome is Outcome.PASS for finding in _whole(evidence))


def _classified(rounds: Sequence[Evidence], queues: Sequence[int]) -> Iterator[Finding]:
    sent = {dscp_of_tos(flow.tos) for seen in rounds for flow in seen.flows}
    if sent != DSCPS or len(queues) != len(DSCPS):
        yield unproven(f"only {len(sent)} of 64 DSCPs were sent, {len(queues)} are in the map")
        return
    for seen in rounds:
        yield from _whole(seen)
    whole = [seen for seen in rounds if undisturbed(seen)]
    ports = [(seen, seen.bottleneck) for seen in whole]
    ports += [(seen, port) for seen in whole for port in _passed(seen)]
    yield from _shortened([_as_mapped(seen, port, queues) for seen, port in ports])


def _whole(seen: Evidence) -> Iterator[Finding]:
    counts = [flow.sent_datagrams or 0 for flow in seen.flows]
    for flow in seen.flows:
        if flow.status is not FlowStatus.COMPLETE:
            yield unproven(f"{flow.sender} -> {flow.receiver} ({flow.tool}): {flow.because}")
    if not all(counts) or len(set(counts)) < len(counts):
        yield unproven(f"counts of {counts} packets cannot be told apart")
    yield from (unproven(sentence) for sentence in (*seen.unreachable, *seen.changed))
    yield from checks.counters_of_the_end(seen)
    yield from _none_dropped(seen)
    moved = [port_drops.queue_forwarded(seen, queue) for queue in seen.read_queues]
    for port in (each.port for each in seen.crossings):
        moved += _counted(seen, port)
        if _is_nic(seen, port) and not _counted(seen, port):
            yield unproven(f"{' '.join(port)} does not tell how many packets of each class it got")
    for difference in moved:
        if difference.increase is None:
            yield missing(difference, "known", "packets")
    yield from (_all_came(seen, port) for port in (seen.bottleneck, *_passed(seen)))


def _passed(seen: Evidence) -> tuple[path.Where, ...]:
    """The ports before the bottleneck of which counters of queues were asked for, and the NIC
    behind it of which those of classes were."""
    return tuple(each.port for each in seen.crossings if _counted(seen, each.port))


def _counted(seen: Evidence, port: path.Where) -> tuple[Difference, ...]:
    """What each queue of a switch port forwarded, or a NIC got in each class."""
    if _is_nic(seen, port):
        return path.of_classes(seen, port, c.RX_PACKETS)
    return path.of_queues(seen, port, c.QUEUE_FORWARDED_PACKETS)


def _called(seen: Evidence, port: path.Where, queue: int) -> str:
    """A queue of the bottleneck or of another port, or a class of a NIC."""
    if port == seen.bottleneck:
        return f"queue {queue}"
    return f"{'priority' if _is_nic(seen, port) else 'queue'} {queue} of {' '.join(port)}"


def _is_nic(seen: Evidence, port: path.Where) -> bool:
    return port == (seen.receiver.device, seen.receiver.port)


def _all_came(seen: Evidence, port: path.Where) -> Finding:
    """The queues of a port counted every packet."""
    sent = sum(flow.sent_datagrams or 0 for flow in seen.flows)
    total = sum(_ours(seen, port, queue) for queue in _grown(seen, port))
    stray = sum(_grown(seen, port).values()) - total
    where = "" if port == seen.bottleneck else f" of {' '.join(port)}"
    counting = f"{'priorities' if _is_nic(seen, port) else 'queues'}{where}"
    note = f"and {stray} of others" if stray else ""
    name = f"packets through all {counting}, {seen.name}"
    fact = held_to(name, total, exactly(sent), "packets", note)
    if sent and total == sent:
        return passed(fact)
    return unproven(
        f"{sent} packets were sent and the {counting} counted {total}: lost, late, or "
        "somebody else's",
        fact,
    )


def _grown(seen: Evidence, port: path.Where) -> dict[int, int]:
    """What each queue of a port forwarded."""
    return {each.key[3]: each.increase or 0 for each in _counted(seen, port)}


def _none_dropped(seen: Evidence) -> Iterator[Finding]:
    for drops in port_drops.drops_of_bottleneck(seen, seen.read_queues):
        if drops.increase:
            yield unproven(f"{name_of(drops)} grew by {drops.increase}: whose packets is not known")


def _ours(seen: Evidence, port: path.Where, queue: int) -> int:
    """What a queue counted, without the rest that is not a multiple of the least count sent."""
    got = _grown(seen, port).get(queue, 0)
    least = min((flow.sent_datagrams or 0 for flow in seen.flows), default=0)
    return got - got % least if least else got


def _as_mapped(seen: Evidence, port: path.Where, queues: Sequence[int]) -> Finding:
    """At a port; `queues` is the map of the bottleneck."""
    expected = _expected(seen, port, queues)
    got = {queue: _ours(seen, port, queue) for queue in sorted({*_grown(seen, port), *expected})}
    facts = [
        _count(_called(seen, port, queue), {dscp_of_tos(f.tos) for f in due}, count, _sum(due))
        for queue, count in got.items()
        for due in [expected.get(queue, ())]
    ]
    sender = seen.flows[0].sender
    astray = [
        f"DSCP {dscp} of {sender} reached {_called(seen, port, came)}, expected {due}"
        for dscp, came, due in (_by_code(expected, got) if _is_coded(seen) else ())
    ]
    off = {queue: n for queue, n in got.items() if n != _sum(expected.get(queue, ()))}
    if off and not astray:
        told = ", ".join(
            f"{_called(seen, port, queue)} got {n} of {_sum(expected.get(queue, ()))} packets"
            for queue, n in off.items()
        )
        astray.append(f"{sender}: {told}{_by_sums(expected, got)}")
    return failed("; ".join(sorted(astray)), *facts) if astray else passed(*facts)


Due = Mapping[int, tuple[FlowResult, ...]]
"""The flows of each queue, by a map."""
Astray = Iterator[tuple[int, int, int]]
"""DSCP, the queue that it came into, the queue that it is due in."""


def _expected(seen: Evidence, port: path.Where, queues: Sequence[int]) -> Due:
    crossed = next((each.queues for each in seen.crossings if each.port == port), None)
    found: dict[int, tuple[FlowResult, ...]] = {}
    for number, flow in enumerate(seen.flows):
        queue = queues[dscp_of_tos(flow.tos)] if crossed is None else crossed.get(number)
        if queue is not None:
            found[queue] = (*found.get(queue, ()), flow)
    return found


def _sum(flows: Iterable[FlowResult]) -> int:
    return sum(flow.sent_datagrams or 0 for flow in flows)


def _is_coded(seen: Evidence) -> bool:
    """Whether every sum of the counts is that of one selection only: powers of two."""
    counts = [flow.sent_datagrams or 0 for flow in seen.flows]
    return not any(count & (count - 1) for count in counts)


def _by_code(expected: Due, got: Mapping[int, int]) -> Astray:
    due = {flow: queue for queue, flows in expected.items() for flow in flows}
    for queue, count in got.items():
        for flow, own in due.items():
            if own != queue and count & (flow.sent_datagrams or 0):
                yield dscp_of_tos(flow.tos), queue, own


def _by_sums(expected: Due, got: Mapping[int, int]) -> str:
    """Where one DSCP alone explains what is missing in a queue and too much in another one."""
    off = {queue: count - _sum(expected.get(queue, ())) for queue, count in got.items()}
    found = [
        f"DSCP {dscp_of_tos(flow.tos)} in queue {other}"
        for queue, flows in expected.items()
        for flow in flows
        for other, more in off.items()
        if more == -off.get(queue, 0) == flow.sent_datagrams
    ]
    return f": as {found[0]} would be" if len(found) == 1 else ""


def _count(queue: str, due: set[int], got: int, wanted: int) -> Fact:
    names = ", ".join(map(str, sorted(due)))
    return held_to(
        f"{queue}: packets of {f'DSCP {names}' if due else 'no DSCP'}",
        got,
        exactly(wanted),
        "packets",
    )


def _shortened(findings: list[Finding]) -> Iterator[Finding]:
    """One sentence for all that came astray."""
    yield from (f for f in findings if f.outcome is Outcome.PASS)
    red = [f for f in findings if f.outcome is not Outcome.PASS]
    said = [part for f in red for part in f.because.split("; ")]
    more = f"; and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    if red:
        facts = (fact for f in red for fact in f.facts)
        yield failed("; ".join(said[:SHOWN]) + more, *facts)
