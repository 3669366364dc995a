"""Questions about loads of known rates: below the bottleneck, above it, and lost in the host."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import checks, datagrams, goodput, idle, outcome, packets, port_drops
from labtests.verdicts.bounds import MORE_THAN_NONE, at_least
from labtests.verdicts.outcome import (
    Finding,
    Outcome,
    Verdict,
    conclude,
    disagreement,
    fact_of,
    held_to,
    missing,
    name_of,
    numbered,
    passed,
    unless_contradicted,
    unproven,
)


def no_loss(evidence: Evidence, *, controls: tuple[Evidence, ...] = ()) -> Verdict:
    """Exactly 0 packets were dropped in any queue of the bottleneck, at the load that there was.

    The drop counters of the queues under load are seen to count in the controls. It says nothing
    about congestion: `lossless` does.
    """
    moved = [port_drops.queue_forwarded(evidence, q).increase or 0 for q in evidence.queues]
    used = checks.mean_use(evidence)
    at = "" if used is None else f" at {100 * used:.0f} % of line rate"
    return conclude(
        "Was this load carried without loss?",
        evidence,
        _no_loss(evidence, controls),
        passing=f"0 of {sum(moved)} packets dropped in any queue{at}"
        f"{datagrams.remark_on_hosts(evidence)}",
    )


def _no_loss(evidence: Evidence, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    at_this_load = all(f.outcome is Outcome.PASS for f in checks.kept_pace(evidence))
    for finding in _dropped_nothing(evidence, controls):
        said = _beside_others(evidence, finding)
        yield said if at_this_load else outcome.or_unproven(said, _OTHER_LOAD)
    yield from _bytes_of_the_load(evidence)
    yield from idle.quiet_queues(evidence, evidence.queues)
    yield from packets.accounted(evidence)


_OTHER_LOAD = "not at this load, since a sender did not sustain its offered load"


def _beside_others(evidence: Evidence, finding: Finding) -> Finding:
    """A loss stays a loss; with whom the port was shared is said."""
    others = goodput.others_share(evidence)
    if finding.outcome is not Outcome.FAIL or others < OTHERS_SHARE:
        return finding
    return replace(
        finding,
        because=f"{finding.because}; other queues forwarded {100 * others:.0f} % of the line rate "
        "meanwhile, which is not of these flows",
    )


OTHERS_SHARE = 0.02
"""Of line rate, in queues that are not under test: less explains no loss."""


def _bytes_of_the_load(evidence: Evidence) -> Iterator[Finding]:
    """What the port says that it forwarded in bytes is no less than the payload that the tools
    report, and no more than the line carries."""
    yield from checks.bytes_told(evidence)
    used = checks.mean_use(evidence)
    carried = goodput.of_all(evidence)
    if used is None or carried is None:
        return
    least = checks.PACE_SHARE * carried / evidence.line_bits_per_s
    finding = checks.bounded(
        "mean egress use, by bytes", used, at_least=least, at_most=checks.OVER_THE_LINE
    )
    if finding.outcome is Outcome.PASS:
        yield finding
        return
    yield disagreement(
        f"{' '.join(evidence.bottleneck)} forwarded {100 * used:.0f} % of its line rate by its "
        f"counters of bytes, and the tools report {100 * carried / evidence.line_bits_per_s:.0f} %",
        *finding.facts,
    )


def _dropped_nothing(evidence: Evidence, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    under_load = evidence.queues
    for queue in under_load:
        yield from _clean(evidence, queue, controls)
    yield from packets.none_dropped(evidence, set(evidence.read_queues) - set(under_load))
    yield from port_drops.none_dropped_by_ports(evidence)
    yield from port_drops.switch_ports_kept(evidence)


def _clean(evidence: Evidence, queue: int, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    yield from port_drops.no_drop(evidence, queue)
    yield port_drops.counter_proven(evidence, queue, controls)


def drops_exactly_in(
    evidence: Evidence, queues: Iterable[int], *, controls: tuple[Evidence, ...] = ()
) -> Verdict:
    """Each of these queues dropped, and every other queue of the bottleneck exactly nothing."""
    due = sorted(set(queues))
    lost = [port_drops.queue_drops(evidence, q).increase or 0 for q in due]
    said = ", ".join(f"queue {q} dropped {n}" for q, n in zip(due, lost, strict=True))
    return conclude(
        f"Did exactly {numbered(due)} drop packets?",
        evidence,
        _drops_exactly_in(evidence, due, controls),
        passing=f"{said} packets, every other queue 0",
    )


def _drops_exactly_in(
    evidence: Evidence, due: list[int], controls: tuple[Evidence, ...]
) -> Iterator[Finding]:
    if not due:
        yield unproven("no queue was expected to drop")
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    yield from checks.full_while_it_dropped(evidence)
    ports = tuple(port_drops.switch_ports_kept(evidence))
    yield from ports
    for queue in due:
        balances = (*ports, packets.losses_told(evidence), packets.by_the_tool(evidence, queue))
        some = unless_contradicted(port_drops.some_drop(evidence, queue), balances)
        yield checks.only_under_congestion(evidence, some)
    yield from idle.quiet_queues(evidence, {*due, *evidence.queues})
    for queue in sorted(set(evidence.read_queues) - set(due)):
        if queue in evidence.queues:
            yield from _clean(evidence, queue, controls)
        else:
            yield from packets.none_dropped(evidence, [queue])


def every_packet(evidence: Evidence) -> Verdict:
    """Sent = forwarded + dropped in each queue under load, and forwarded = received, in packets.

    Witnesses: the tool, the sending hosts, the switch, the receiving host. One that says something
    else is named, and the verdict is inconclusive: somebody's counter, or the traffic, is not what
    it is taken for.
    """
    return conclude(
        "Is every packet accounted for?",
        evidence,
        [
            *checks.ran(evidence),
            *packets.accounted(evidence),
            *port_drops.switch_ports_kept(evidence),
            *idle.quiet_queues(evidence, evidence.queues),
        ],
        passing="; ".join(_ledger(evidence)),
    )


def _ledger(evidence: Evidence) -> Iterator[str]:
    for queue in evidence.queues:
        forwarded = port_drops.queue_forwarded(evidence, queue).increase or 0
        dropped = port_drops.queue_drops(evidence, queue).increase or 0
        yield (
            f"queue {queue}: sent {forwarded + dropped} = forwarded {forwarded} + dropped {dropped}"
        )


def lost_at_the_socket(evidence: Evidence, *, controls: tuple[Evidence, ...] = ()) -> Verdict:
    """Datagrams were lost, all of them at a socket of the receiving host, none in the switch.

    That the switch dropped none is said by counters that are seen to count in the controls.
    """
    host = evidence.receiver.device
    full = _socket(evidence).increase
    return conclude(
        f"Were datagrams lost in {host} and not in the switch?",
        evidence,
        _lost_at_the_socket(evidence, controls),
        passing=f"{full} datagrams lost at a full socket of {host} (RcvbufErrors), 0 in the switch",
    )


def _lost_at_the_socket(evidence: Evidence, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    for queue in evidence.queues:
        yield from _clean(evidence, queue, controls)
        yield packets.by_the_tool(evidence, queue)
    yield from idle.quiet_queues(evidence, evidence.queues)
    yield idle.quiet(evidence, [(evidence.receiver.device, "", "host", -1, c.UDP_RCVBUF_ERRORS)])
    yield from port_drops.switch_ports_kept(evidence)
    yield _socket_lost(evidence)
    yield _tool_lost(evidence)
    yield from _at_the_socket_only(evidence)
    yield packets.losses_told(evidence)


def _at_the_socket_only(evidence: Evidence) -> Iterator[Finding]:
    """The full socket lost what the tools noticed, and no more than they miss at all, which is that
    and a tail. Linux counts it among UDP's InErrors, too."""
    full, host = _socket(evidence), (evidence.receiver.device, "")
    every = evidence.change(host, "host", None, c.UDP_IN_ERRORS)
    told = sum(flow.lost_datagrams or 0 for flow in evidence.flows)
    if full.increase is None:
        return  # said by _socket_lost
    fact = fact_of(full, at_least(told, " that the tools noticed"), "datagrams")
    grew = f"{name_of(full)} grew by {full.increase}"
    if full.increase < told:
        yield disagreement(f"{grew}, and the tools miss {told}: the rest was lost elsewhere", fact)
    elif every.increase is not None and full.increase > every.increase:
        yield disagreement(f"{grew}, and {name_of(every)}, which has them, by {every.increase}")
    elif full.increase > (missed := _missed_at_all(evidence)):
        yield disagreement(
            f"{grew}, and the tools miss {missed}: datagrams of others are among them"
        )
    else:
        yield passed(fact)


def _missed_at_all(evidence: Evidence) -> float:
    """Datagrams that the tools sent and did not receive; no bound where one does not tell."""
    told = [(flow.sent_datagrams, flow.received_datagrams) for flow in evidence.flows]
    each = [math.inf if None in (sent, got) else (sent or 0) - (got or 0) for sent, got in told]
    return sum(each)


def _socket(evidence: Evidence) -> Difference:
    return evidence.change((evidence.receiver.device, ""), "host", None, c.UDP_RCVBUF_ERRORS)


def _socket_lost(evidence: Evidence) -> Finding:
    full = _socket(evidence)
    if full.increase is None:
        return missing(full, "> 0", "datagrams")
    fact = fact_of(full, "> 0", "datagrams")
    if not full.increase:
        return unproven(f"{name_of(full)} stayed 0: no socket of the host was full", fact)
    return passed(fact)


def _tool_lost(evidence: Evidence) -> Finding:
    lost = [flow.lost_datagrams for flow in evidence.flows]
    if not lost or None in lost:
        return unproven("a receiver did not report how many datagrams it lost")
    told = sum(n for n in lost if n)
    fact = held_to("datagrams lost, as reported by the tool", told, MORE_THAN_NONE, "datagrams")
    return passed(fact) if told else unproven("the tool lost nothing", fact)
