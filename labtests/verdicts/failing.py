"""A link that fails and comes back: what was lost, and how long it took until nothing was.

Convergence is taken from losses (RFC 6413, 4.4: loss-derived): of a flow that is sent at a known
rate, so many seconds are missing as packets of it are.
"""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import checks, elsewhere, path
from labtests.verdicts.bounds import Bound
from labtests.verdicts.outcome import (
    Finding,
    Verdict,
    conclude,
    failed,
    held_to,
    missing,
    name_of,
    passed,
    unproven,
)

HEALS_IN_S = 0.5
"""Down and up together: a switch leaves out its own dead port at once, and those behind it are told
of it. Routing protocols without BFD take longer, and are red here."""
RUNS_AGAIN = 0.9
"""Of what a flow was asked to send, in the last of its rows."""


def ran_on(evidence: Evidence) -> Verdict:
    """The traffic ran to its end. What was lost is another question, with a failed link."""
    return conclude(
        "Did all flows run to their end?",
        evidence,
        checks.ran(evidence),
        passing=f"{len(evidence.flows)} flows ran to their end",
    )


def healed(evidence: Evidence) -> Verdict:
    """Ports were shut while traffic went through them, and it lost no more than what a short time
    carries, all of it by the switches of these ports, and went on as before."""
    return conclude(
        "Did traffic go on when a link failed, and when it came back?",
        evidence,
        _healed(evidence),
        passing=_said(evidence),
        remedy="look at the routes of all switches on the way (ECMP, BFD), and at ports that "
        "stayed down",
    )


def _healed(evidence: Evidence) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from _it_failed(evidence)
    for flow in evidence.flows:
        yield _short(flow)
        yield _went_on(flow)
    yield from elsewhere.nothing_lost_elsewhere(evidence)


def _it_failed(evidence: Evidence) -> Iterator[Finding]:
    failure = evidence.failure
    if failure is None or failure.shut_s is None:
        yield unproven("no link failed while the traffic ran")
        return
    if failure.open_s is None:
        yield unproven("no link came back while the traffic ran")
    for port in failure.ports:
        carried = _carried(evidence, port)
        if carried.increase is None:
            yield missing(carried, "> 0", "packets")
        elif not carried.increase:
            yield unproven(f"{name_of(carried)} did not move: no flow went by the link that failed")
        elif failure.open_s is not None:
            yield _carried_again(evidence, carried, failure.shut_s)


def _carried_again(evidence: Evidence, carried: Difference, shut_s: float) -> Finding:
    """The port sent more than it had when it was shut: by the first sample in which all of that is
    shown, and the counters of the end."""
    shown_s = shut_s + (evidence.refresh.seconds or 0.0)
    then = [
        (reading.time_s, reading.value)
        for reading in evidence.samples_of.get(carried.key, ())
        if reading.value is not None and reading.asked_s is not None and reading.asked_s >= shown_s
    ]
    end = None if carried.after is None else carried.after.value
    if not then or end is None:
        return unproven(f"{name_of(carried)}: not read while the link was down, or after it")
    more = end - min(then)[1]
    fact = held_to(
        f"{name_of(carried)} after the link came back",
        more,
        Bound(said=f"> {path.STRAYS}", least=path.STRAYS + 1),
        "packets",
    )
    if more > path.STRAYS:
        return passed(fact)
    return unproven(
        f"{name_of(carried)} grew by {more} after the link had come back: it stayed down, or no "
        "route leads by it again",
        fact,
    )


def _carried(evidence: Evidence, port: path.Where) -> Difference:
    """Of the classes' queue there; where that has another number, of the fullest queue."""
    each = path.of_queues(evidence, port, c.QUEUE_FORWARDED_PACKETS)
    whole = evidence.change(port, "port", None, c.TX_PACKETS)
    return max(each, key=lambda d: d.increase or 0, default=whole)


def outage_s(flow: FlowResult) -> float | None:
    """How long a paced flow was away, by what is missing of it; None: not told."""
    if flow.sent_datagrams is None or flow.received_datagrams is None or not flow.asked_s:
        return None
    gone = flow.sent_datagrams - flow.received_datagrams
    return gone / flow.sent_datagrams * flow.asked_s if flow.sent_datagrams else None


def _short(flow: FlowResult) -> Finding:
    who, away_s = f"{flow.sender} -> {flow.receiver}", outage_s(flow)
    fact = held_to(
        f"{who}: time without traffic, by its losses",
        away_s,
        Bound(said=f"<= {HEALS_IN_S:g}", most=HEALS_IN_S, digits=4),
        "s",
    )
    if away_s is None:
        return unproven(f"{who}: {flow.tool} did not tell what was sent and received", fact)
    if away_s < 0:
        return unproven(f"{who}: {flow.tool} tells more datagrams received than sent", fact)
    if away_s <= HEALS_IN_S:
        return passed(fact)
    return failed(f"{who} was away for {away_s:.2f} s, by what is missing of it", fact)


def _went_on(flow: FlowResult) -> Finding:
    """In the last whole row it has what it was asked for."""
    who = f"{flow.sender} -> {flow.receiver}"
    if not flow.intervals or not flow.offered_bits_per_s:
        return unproven(f"{who}: no rows of a paced flow")
    last = flow.intervals[-1].goodput_bits_per_s / flow.offered_bits_per_s
    return checks.bounded(f"{who}: last row / offered", last, at_least=RUNS_AGAIN)


def _said(evidence: Evidence) -> str:
    away = [outage_s(flow) or 0.0 for flow in evidence.flows]
    lost = sum(
        (flow.sent_datagrams or 0) - (flow.received_datagrams or 0) for flow in evidence.flows
    )
    ports = evidence.failure.ports if evidence.failure else ()
    named = ", ".join(" ".join(port) for port in ports)
    return (
        f"{named} failed and came back: {lost} packets of {len(away)} flows were lost, none was "
        f"away for more than {max(away, default=0.0):.3f} s"
    )
