"""Several equally short ways: does a switch spread its flows over all of them?

A flow keeps its way, by a hash of addresses and ports, so that a switch can only spread flows, and
by chance: of n flows, each way of w has n/w as a mean, and seldom far fewer.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import comb

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import among, checks, outcome, path
from labtests.verdicts.bounds import NONE, Bound
from labtests.verdicts.outcome import (
    Finding,
    Outcome,
    Verdict,
    conclude,
    fact_of,
    failed,
    held_to,
    missing,
    name_of,
    passed,
    unproven,
)

Ways = Mapping[str, Sequence[path.Where]]
"""Of a switch: the ports by which it can send on to the receiver, all equally good."""

BY_CHANCE = 1e-6
"""How often a good hash may leave a way with less than it is held to."""
HASHES = (
    "look at what the switch's hash is made of (UDP ports have to be in it), and at its seed: "
    "switches of several tiers with one seed choose alike"
)
LOSSES = "look at PFC and headroom of both ends of the cables into it"
ROUGHLY = 0.5
"""Flows are not equally fast: a way with so many has at least this part of their equal share."""
FULL_SPEED = 0.75
"""Of its links, what a host sends to another one that nobody else sends to: less, and something on
the way is slower than its cables. Healthy simulated labs: the figure in docs/verdicts.md."""


def spread_over(evidence: Evidence, ways: Ways, *, flows: Mapping[str, int]) -> Verdict:
    """Each of these ways was taken, and none lost what it took. `flows`: how many come by each
    switch, of which each may take a way of its own (queue pairs, connections)."""
    lost = tuple(_lost_on_the_way(evidence, ways))
    return conclude(
        "Were all equally short ways taken?",
        evidence,
        (*_spread_over(evidence, ways, flows), *lost),
        passing="; ".join(_said(evidence, each) for each in ways.values()),
        remedy="; ".join((LOSSES, *_in_other_queues(evidence)))
        if any(each.outcome is Outcome.FAIL for each in lost)
        else HASHES,
    )


def full_speed(evidence: Evidence, ways: Ways) -> Verdict:
    """Hosts that share nothing but these ways, each of which carries all of them, have what their
    links carry; and no way lost what it took."""
    return conclude(
        "Were all equally short ways as fast as their cables?",
        evidence,
        (*_full_speed(evidence, ways), *_lost_on_the_way(evidence, ways)),
        passing="; ".join(
            (
                f"{len(evidence.flows)} flows, each at "
                f"{min(_shares(evidence), default=0.0):.0%} of its links and more",
                *(_said(evidence, each) for each in ways.values()),
            )
        ),
        remedy=LOSSES,
    )


def _full_speed(evidence: Evidence, ways: Ways) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    shares = _shares(evidence)
    if not shares:
        yield unproven("no flow was asked for")
        return
    least, flow = min(zip(shares, evidence.flows, strict=True), key=lambda each: each[0])
    name = f"{flow.sender} -> {flow.receiver}: goodput / its links, the least of {len(shares)}"
    ports = ", ".join(" ".join(port) for each in ways.values() for port in each)
    yield outcome.or_unproven(
        checks.bounded(name, least, at_least=FULL_SPEED),
        f"a host's own limit, or a way is slower than its cables: look at speeds, rate limits and "
        f"shapers of both ends of each (they begin at {ports})",
    )


def _shares(evidence: Evidence) -> list[float]:
    """Of each flow: its goodput by the speed of the slower one of its two links."""
    shares = []
    for number, flow in enumerate(evidence.flows):
        ends = (evidence.senders[number], evidence.receiver_of(number))
        line = min(end.link_bits_per_s or evidence.line_bits_per_s for end in ends)
        shares.append((flow.goodput_bits_per_s or 0.0) / line)
    return shares


def _spread_over(evidence: Evidence, ways: Ways, flows: Mapping[str, int]) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    if not ways:
        yield unproven("no switch has several ways to choose from")
    for switch, ports in ways.items():
        moved = [_packets(evidence, port) for port in ports]
        known = [packets for packets in moved if packets is not None]
        if len(known) != len(moved) or not sum(known):
            yield unproven(f"{switch}: it is not counted what left by its ways, or nothing did")
            continue
        for port, packets in zip(ports, known, strict=True):
            yield _taken(port, packets / sum(known), len(ports), flows.get(switch, 0))


def _lost_on_the_way(evidence: Evidence, ways: Ways) -> Iterator[Finding]:
    """A way is none where it loses what it takes: of each port that flows pass, what queues of
    these flows have dropped, where they count it; and what NICs sent again. Where nothing was
    dropped, packets of a flow that take several ways overtake each other."""
    to_hosts = (each[:2] for each in among.egresses(evidence))
    for port in dict.fromkeys((*evidence.transit, evidence.bottleneck, *to_hosts)):
        for drops in path.of_queues(evidence, port, c.QUEUE_DROPPED_PACKETS):
            ours = drops.key[3] in evidence.queues
            said = f"{name_of(drops)} grew by {drops.increase}"
            if drops.increase is None and ours:
                yield missing(drops, "= 0", "packets")
            elif drops.increase:
                fact = fact_of(drops, NONE, "packets")
                other = "no flow is of its class, unless a port puts packets into another queue"
                yield failed(said, fact) if ours else unproven(f"{said}: {other}", fact)
    yield from map(unproven, _in_other_queues(evidence))
    if evidence.kind == "experiment":
        yield from among.repeated_nothing(evidence)
        if _asked_again(evidence):
            yield unproven(
                f"or nothing was lost, and packets overtake each other: look whether "
                f"{', '.join(ways)} chooses a way for each packet (spraying, adaptive routing)"
            )


def _in_other_queues(evidence: Evidence) -> Iterator[str]:
    """Ports between switches by which most packets went in a queue of no flow."""
    for port in evidence.transit:
        moved = path.of_queues(evidence, port, c.QUEUE_FORWARDED_PACKETS)
        most = max(moved, key=lambda each: each.increase or 0, default=None)
        if most and (most.increase or 0) > path.STRAYS and most.key[3] not in evidence.queues:
            yield (
                f"{name_of(most)} grew by {most.increase}, more than any queue of these flows "
                f"there: {port[0]} may put their packets into it, where nothing pauses them"
            )


def _asked_again(evidence: Evidence) -> bool:
    """A receiver missed packets in a sequence, and no queue on the way has dropped one."""
    ports = dict.fromkeys((*evidence.transit, evidence.bottleneck))
    drops = (d for port in ports for d in path.of_queues(evidence, port, c.QUEUE_DROPPED_PACKETS))
    naks = (
        evidence.change((place.device, place.port), "port", None, c.PACKET_SEQ_ERR)
        for place in evidence.senders
    )
    return any(each.increase for each in naks) and not any(each.increase for each in drops)


def _packets(evidence: Evidence, port: path.Where) -> int | None:
    """What left by a port, in all its queues."""
    each = [d.increase for d in path.of_queues(evidence, port, c.QUEUE_FORWARDED_PACKETS)]
    return None if not each or None in each else sum(number or 0 for number in each)


def _taken(port: path.Where, share: float, ways: int, flows: int) -> Finding:
    """A way with next to no packets has none of the flows: acknowledgements of others are few."""
    least = ROUGHLY * fewest(flows, ways) / flows if flows else 0.0
    fact = held_to(
        f"packets by {' '.join(port)} / by all {ways} ways",
        share,
        Bound(said=f">= {least:.4g}", least=least, digits=4),
        "ratio",
    )
    if not least:
        return unproven(
            f"{flows} flows may leave one of {ways} ways empty by chance: more are needed", fact
        )
    if share >= least:
        return passed(fact)
    return failed(
        f"{' '.join(port)} carried {100 * share:.1f} % of the packets, and {flows} flows leave no "
        f"way of {ways} with less than {100 * least:.1f} %: the hash of {port[0]} is polarised",
        fact,
    )


def fewest(flows: int, ways: int) -> int:
    """So many of these flows take each of the ways at least, but for one in a million times."""
    below, number = 0.0, -1
    while below <= BY_CHANCE and number < flows:
        number += 1
        chance = comb(flows, number) * (ways - 1) ** (flows - number) / ways**flows
        below += chance
    return number


def _said(evidence: Evidence, ports: Sequence[path.Where]) -> str:
    moved = [_packets(evidence, port) or 0 for port in ports]
    parts = ", ".join(
        f"{port} {100 * packets / max(sum(moved), 1):.0f} %"
        for (_, port), packets in zip(ports, moved, strict=True)
    )
    return f"{ports[0][0]} sent by {parts}"
