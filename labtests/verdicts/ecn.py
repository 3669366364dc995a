"""ECN on a TCP incast: marks instead of drops (RFC 3168), beside the same incast without ECN."""

from collections import Counter
from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import (
    checks,
    datagrams,
    goodput,
    idle,
    outcome,
    packets,
    path,
    port_drops,
    witnesses,
)
from labtests.verdicts.bounds import MORE_THAN_NONE, Bound, at_least, at_most
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Outcome,
    Verdict,
    conclude,
    disagreement,
    fact_of,
    failed,
    held_to,
    missing,
    name_of,
    passed,
    unless_contradicted,
    unproven,
)

LEAST_SHARE, LEAST_RDMA_SHARE = 0.5, 0.1
"""Of the line, all senders together: TCP, and soft-RoCE (0.23 was seen beside RED with ECN)."""
FAIR = 0.05
"""Of a fair share of that, each sender."""
NEAR = 0.02
"""Of its marks, what may be dropped behind them."""
FEW = 0.1
"""Drops with ECN, of those without it: slow start may fill the queue before the first mark acts."""


def marked_not_dropped(evidence: Evidence, *, without: tuple[Evidence, ...] = ()) -> Verdict:
    """The switch marked, and dropped at most a few; without ECN the same incast did drop.

    `without` are phases of the same incast without ECN. Retransmissions are the senders' witness.
    No other queue of the bottleneck dropped anything, and no port on the way to it.
    """
    marks = sum(d.increase or 0 for d in marked(evidence))
    again = f", {_sum(witnesses.retransmitted(evidence))} segments retransmitted"
    return conclude(
        "Did the switch mark instead of dropping?",
        evidence,
        _marked_not_dropped(evidence, without),
        passing=f"{marks} packets marked and {_sum(dropped(evidence))} dropped"
        f"{'' if evidence.of_rdma else again}; without ECN "
        f"{max((_sum(dropped(e)) for e in without), default=0)} dropped"
        f"{datagrams.remark_on_hosts(evidence)}",
    )


def marked(evidence: Evidence) -> tuple[Difference, ...]:
    """Per queue under load where the switch counts it so, else of the whole port."""
    by_queue = tuple(
        evidence.change(evidence.bottleneck, "queue", queue, c.QUEUE_MARKED_PACKETS)
        for queue in evidence.queues
    )
    if any(d.increase is not None or d.key in evidence.numbers for d in by_queue):
        return by_queue
    return (evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS),)


def marks_came(evidence: Evidence) -> Iterator[Finding]:
    """The receiver's IP stack, where it counts CE, got as many as the bottleneck counted, or twice
    as many in tunnels. Another switch, a host or a port that does not count all may mark, too."""
    came = evidence.change((evidence.receiver.device, ""), "host", None, c.IP_IN_CE_PACKETS)
    told = _sum(marked(evidence))
    if evidence.of_rdma or not evidence.has(came):  # NICs take RDMA past the stack
        return
    if came.increase is None:
        yield missing(came, "known", "packets")
        return
    room = round(NEAR * told) + path.STRAYS
    fact = fact_of(came, f"{told} marks within {room}, or twice that", "packets")
    if min(abs(came.increase - each * told) for each in (1, 2)) <= room:
        yield passed(fact)
        return
    yield disagreement(
        f"{name_of(came)} grew by {came.increase}, and {' '.join(evidence.bottleneck)} counted "
        f"{told} marks: it does not count them all, something takes them off, or another port or "
        "a host marks",
        fact,
    )


def dropped(evidence: Evidence) -> tuple[Difference, ...]:
    """Of the queues under load."""
    return tuple(port_drops.queue_drops(evidence, queue) for queue in evidence.queues)


def _marked_not_dropped(evidence: Evidence, without: tuple[Evidence, ...]) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from idle.quiet_queues(evidence, evidence.queues)
    again = () if evidence.of_rdma else witnesses.retransmitted(evidence)
    for difference in (*marked(evidence), *dropped(evidence), *again):
        if difference.increase is None:
            yield missing(difference, "known", "packets")
    marks = _sum(marked(evidence))
    fact = held_to("packets marked", marks, MORE_THAN_NONE, "packets")
    if all(difference.increase is not None for difference in marked(evidence)):
        yield passed(fact) if marks else _no_mark(evidence, without, fact)
    proven = [port_drops.counter_proven(evidence, queue, without) for queue in evidence.queues]
    few = _few_drops(evidence, without)
    counts = all(finding.outcome is Outcome.PASS for finding in proven)
    yield from (*proven, few if counts else outcome.or_unproven(few))
    yield from _everybody_got_some(evidence)
    yield from checks.not_paused(evidence)
    under_load = evidence.queues
    others = set(evidence.read_queues) - set(under_load)
    yield from packets.none_dropped(evidence, others)
    yield from port_drops.switch_ports_kept(evidence)
    yield from packets.of_streams(evidence)
    yield from _few_sent_again(evidence, without)
    yield from _tools_agree(evidence)
    yield from marks_came(evidence)


def _no_mark(evidence: Evidence, without: tuple[Evidence, ...], fact: Fact) -> Finding:
    """Where marking is not what the switch does, it drops as it does without. Where it neither
    marks nor drops, less came than in the control, or the counter stood still."""
    none = failed(f"{name_of(marked(evidence)[0])} stayed 0", fact)
    if not checks.has_run(evidence):  # too little came to be marked: no fault of the switch
        return outcome.or_unproven(none, "but the traffic did not run")
    before = max((_sum(dropped(e)) for e in without if e is not evidence), default=0)
    if before and not _sum(dropped(evidence)):
        return outcome.or_unproven(none, f"nor was a packet dropped, and without ECN {before} were")
    return unless_contradicted(none, packets.of_streams(evidence))


def _few_drops(evidence: Evidence, without: tuple[Evidence, ...]) -> Finding:
    lost = _sum(dropped(evidence))
    known = [_sum(dropped(e)) for e in without if all(d.increase is not None for d in dropped(e))]
    most = max(known, default=0)
    if not most:
        return unproven(
            "the control without ECN dropped nothing, so there was nothing for ECN to prevent"
        )
    fact = held_to(
        "packets dropped",
        lost,
        Bound(said=f"<= {FEW:g} of {most} without", most=FEW * most, digits=1),
        "packets",
    )
    if lost > FEW * most:
        is_own = any(each is evidence for each in without)
        other = "this is the run without ECN" if is_own else f"{most} in the run without ECN"
        return failed(f"{lost} packets were dropped; {other}", fact)
    return passed(fact)


def _everybody_got_some(evidence: Evidence) -> Iterator[Finding]:
    """Marks slow senders down and do not stop them. A software NIC is slow by itself. All of them
    got no more than the line carries, from the first one's start to the last one's end."""
    rates = [flow.goodput_bits_per_s or 0.0 for flow in evidence.flows]
    if not rates:
        return
    line = evidence.line_bits_per_s
    least = LEAST_RDMA_SHARE if evidence.of_rdma else LEAST_SHARE
    shares = [checks.bounded("total goodput / line rate", sum(rates) / line, at_least=least)]
    for flow, rate in zip(evidence.flows, rates, strict=True):
        shares.append(checks.equal_part(evidence, flow.sender, rate, FAIR * least))
    yield from (outcome.or_unproven(share, "next to no traffic was sent") for share in shares)
    carried = goodput.of_all(evidence)
    if carried is not None:
        most = checks.bounded(
            "total goodput / line rate", carried / line, at_most=checks.OVER_THE_LINE
        )
        yield outcome.or_unproven(most, "what the tools report is impossible")


def _few_sent_again(evidence: Evidence, without: tuple[Evidence, ...]) -> Iterator[Finding]:
    """TCP repeats what was dropped, and now and then what was not; more was lost unseen."""
    losing = [each for each in without if _sum(dropped(each))]
    if evidence.of_rdma or not losing:
        return
    before = max(_sum(witnesses.retransmitted(each)) for each in losing)
    if not before:
        yield unproven("without ECN packets were dropped and no sender's kernel retransmitted one")
        return
    repeated, lost = _repeated(evidence), _sum(dropped(evidence))
    most = lost + round(FEW * before)
    fact = held_to(
        "segments retransmitted",
        repeated,
        at_most(most, f": {lost} dropped, and {FEW:g} of those without ECN"),
        "segments",
    )
    beside = _sum(witnesses.retransmitted(evidence)) - repeated
    if beside > round(FEW * before):
        yield unproven(
            f"the kernels of {_whose(evidence)} retransmitted {beside} segments more than their "
            "tools report: "
            "other connections of these hosts, or incomplete tool output"
        )
    if repeated > most:
        yield unproven(
            f"{repeated} segments to {evidence.receiver.device} were retransmitted, but the switch "
            f"dropped {lost}: the others were lost where nothing counts it, or sent again "
            "needlessly (late or reordered acknowledgements)",
            fact,
        )
    else:
        yield passed(fact)


def _whose(evidence: Evidence) -> str:
    """Senders whose kernel has sent more segments again than their own tools say."""
    told = Counter[str]()
    for flow in evidence.flows:
        told[flow.sender] += flow.retransmits or 0
    grown = {each.key[0]: each.increase or 0 for each in witnesses.retransmitted(evidence)}
    return ", ".join(host for host, count in grown.items() if count > told[host])


def _repeated(evidence: Evidence) -> int:
    """By the tools, where all of them tell: kernels count every connection of a host."""
    told = [flow.retransmits for flow in evidence.flows]
    if not told or None in told:
        return _sum(witnesses.retransmitted(evidence))
    return sum(n or 0 for n in told)


def _tools_agree(evidence: Evidence) -> Iterator[Finding]:
    """The tool cannot have sent more again than the kernel. perftest does not tell, rxe counts
    its packets (every_packet)."""
    if evidence.of_rdma:
        return
    told = [flow.retransmits for flow in evidence.flows]
    if not told or None in told:
        yield unproven("a sender did not report its retransmissions")
        return
    by_tool, by_kernel = sum(n for n in told if n), _sum(witnesses.retransmitted(evidence))
    fact = held_to(
        "segments retransmitted, by the kernels",
        by_kernel,
        at_least(by_tool, " (the tool's)"),
        "segments",
    )
    if by_tool > by_kernel:
        yield disagreement(
            f"the tool reports {by_tool} segments retransmitted, the kernels {by_kernel}", fact
        )
    else:
        yield passed(fact)


def _sum(differences: tuple[Difference, ...]) -> int:
    return sum(d.increase or 0 for d in differences)
