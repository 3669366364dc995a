"""Did hosts and cables do their part? Asked of every phase, whatever else is asked of it.

What a network does with its packets can only be judged when the traffic ran as it was asked to, and
when what is missing was not lost in a NIC or on a cable.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.capabilities.readings import Scope
from labtests.measure.evidence import Difference, Evidence, Place
from labtests.verdicts import (
    astray,
    bit_errors,
    checks,
    datagrams,
    ecn,
    idle,
    packets,
    path,
    port_drops,
    witnesses,
)
from labtests.verdicts.bounds import NONE, at_least, at_most, between
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
    unproven,
)

STARVED_SHARE = 0.001
TOLD_SHARE = 0.9
"""Of the bytes that tools tell: rows begin and end a little beside the counters' reads."""


def sound(evidence: Evidence) -> Verdict:
    """The traffic ran as it was asked to, no NIC discarded a packet, no cable damaged a frame.

    A control is only asked whether its traffic ran, whether each packet was forwarded or dropped,
    and whether a cable damaged any: it loses on purpose, in the queues and nowhere else. Of a queue
    pair whose queue dropped and whose NIC sent it is not even asked that it completed anything
    (go-back-N begins again with each loss).
    """
    return conclude(
        "Did hosts and cables do their part?",
        evidence,
        _sound(evidence),
        passing="; ".join(_said(evidence)),
    )


def _sound(evidence: Evidence) -> Iterator[Finding]:
    broken = _broken_by_the_control(evidence)
    yield passed(Fact(name="flows", measured=len(evidence.flows), bound="> 0", unit="flows"))
    yield from checks.ran(evidence, excused=broken)
    yield from checks.kept_pace(evidence)
    yield from _nobody_was_starved(evidence, broken)
    if evidence.kind == "control":
        yield from (f for f in _forwarded_or_dropped(evidence) if f.disagreement)
        damaged = chain.from_iterable(map(kept, path.of_part(evidence, "cable")))
        yield from (f for f in damaged if f.outcome is Outcome.FAIL)
        yield from idle.quiet_queues(evidence, evidence.queues)
        return
    for station in path.of_part(evidence, "NIC", "cable"):
        yield from kept(station)
    yield from switch_ports_kept(evidence)
    for station in path.of_part(evidence, "switch port"):
        yield from _filtered(evidence, station)
    yield from cables_carried(evidence)
    yield from bit_errors.within_fec(evidence)
    yield from astray.astray_on_the_way(evidence)
    yield from _undamaged(evidence)
    yield from _in_order(evidence)
    paused = checks.pauses_of_the_receiver(evidence)
    if evidence.storm is None and any(pauses.increase for pauses in paused):
        yield checks.receiver_silent(evidence)
    yield from nics_sent_it(evidence)
    yield from _nics_sent_each(evidence)
    yield from _hosts_sent_it(evidence)


def switch_ports_kept(evidence: Evidence) -> Iterator[Finding]:
    """No switch port of the way lost a packet outside of its queues (transmit errors, overruns)."""
    for station in path.of_part(evidence, "switch port"):
        others = tuple(d for d in station.losses if d.key[-1] not in path.BY_CLASS)
        outside = tuple(d for d in others if not path.by_filters(d))
        yield from kept(replace(station, losses=outside))


def _filtered(evidence: Evidence, station: path.Station) -> Iterator[Finding]:
    """What a port dropped beside its queues for what it is (filters, STP) is not of these flows
    when every packet of theirs came; else it may be."""
    dropped = sum(
        each.increase or 0
        for each in path.of_queues(evidence, station.ends[0], c.QUEUE_DROPPED_PACKETS)
    )
    for difference in filter(path.by_filters, station.losses):
        if difference.key[-1] == c.WATCHDOG_DROPPED_PACKETS and _is_stormed(evidence, station):
            continue  # on purpose
        if difference.increase is None:
            yield missing(difference, "= 0", "packets")
            continue
        untaken = difference.key[-1] == c.NET_RX_DROPPED
        most = dropped + (path.STRAYS if untaken else 0)
        fact = fact_of(difference, at_most(most), "packets")
        if difference.increase <= most or _every_packet_came(evidence):
            yield passed(fact)
        else:
            yield unproven(
                f"{name_of(difference)} grew by {difference.increase}, and not every packet of "
                "these flows is accounted for: look at filters, STP and storm control of the port",
                fact,
            )


def _is_stormed(evidence: Evidence, station: path.Station) -> bool:
    storm = evidence.storm
    return storm is not None and (storm.switch, storm.switch_port) in station.ends


def _every_packet_came(evidence: Evidence) -> bool:
    """To the last one: by class at every NIC, both ways, or as the tools tell."""
    if evidence.by_class:
        back = witnesses.came_back(evidence) if evidence.of_rdma else ()
        return port_drops.whole_by_class(evidence) and not any(each.because for each in back)
    told = [(flow.sent_datagrams, flow.received_datagrams) for flow in evidence.flows]
    return bool(told) and all(sent is not None and sent == got for sent, got in told)


def _broken_by_the_control(evidence: Evidence) -> tuple[FlowResult, ...]:
    """Queue pairs of a control that completed next to nothing, because their queue dropped packets:
    their NIC sent at least as many in the class. One that did not, or does not tell, has no excuse:
    its tool is dead, and the drops are somebody else's."""
    if evidence.kind != "control":
        return ()
    return tuple(
        flow
        for place, flow in zip(evidence.senders, evidence.flows, strict=False)
        if flow.is_rdma
        and (flow.status is not FlowStatus.COMPLETE or _hardly_ran(evidence, flow))
        and _sent_what_was_dropped(evidence, place)
    )


def _sent_what_was_dropped(evidence: Evidence, place: Place) -> bool:
    if place.priority is None:
        return False
    nic = (place.device, place.port)
    sent = evidence.change(nic, "priority", place.priority, c.TX_PACKETS).increase
    dropped = port_drops.queue_drops(evidence, place.queue).increase
    return bool(dropped) and sent is not None and sent >= (dropped or 0)


def _hardly_ran(evidence: Evidence, flow: FlowResult) -> bool:
    """Next to nothing of a fair share of the line; a goodput that is not known is none."""
    return (flow.goodput_bits_per_s or 0.0) < _least_bits_per_s(evidence)


def _least_bits_per_s(evidence: Evidence) -> float:
    return STARVED_SHARE * evidence.line_bits_per_s / max(len(evidence.flows), 1)


def _nobody_was_starved(
    evidence: Evidence, excused: tuple[FlowResult, ...] = ()
) -> Iterator[Finding]:
    """Flows that are as fast as they can be had some part of the line: a load, not a word. A
    transfer that its sender's NIC waited in, by its time-outs, is as long as these."""
    excused = (*excused, *_waiting(evidence))
    unpaced = [f for f in evidence.flows if not f.offered_bits_per_s and f not in excused]
    least = _least_bits_per_s(evidence)
    for flow in unpaced:
        if flow.goodput_bits_per_s is not None and flow.goodput_bits_per_s < least:
            yield unproven(
                f"{flow.sender} sent {flow.goodput_bits_per_s / 1e9:.3g} Gb/s by {flow.tool}: less "
                f"than {STARVED_SHARE:g} of its fair share of the line is not a load"
            )
        if evidence.kind == "experiment" and flow.retransmits is not None:
            for row in flow.intervals:
                if row.goodput_bits_per_s < least:
                    yield unproven(
                        f"{flow.sender} stalled: it sent nothing by {flow.tool} from "
                        f"{row.start_s:.3g} to {row.end_s:.3g} s"
                    )


def _waiting(evidence: Evidence) -> Iterator[FlowResult]:
    """Transfers of a number of messages, whose sender's NIC counted time-outs. What these are due
    to is asked elsewhere (witnesses.py, repeating.py)."""
    for place, flow in zip(evidence.senders, evidence.flows, strict=False):
        waited = witnesses.waits(evidence, (place.device, place.port)) > 0
        if flow.is_rdma and flow.ran_s is not None and waited:
            yield flow


def nics_sent_it(evidence: Evidence) -> Iterator[Finding]:
    """What the tools of a class say that they sent went through the NICs' ports, by their bytes."""
    classes = dict.fromkeys((p.device, p.port, p.priority) for p in evidence.senders)
    for device, port, priority in classes:
        told = sum(
            _payload_bytes(flow)
            for place, flow in zip(evidence.senders, evidence.flows, strict=False)
            if (place.device, place.port, place.priority) == (device, port, priority)
        )
        scope: Scope = "port" if priority is None else "priority"
        sent = evidence.change((device, port), scope, priority, c.TX_BYTES)
        if sent.increase is None:
            continue  # another witness counts packets
        margin = round(sent.increase - TOLD_SHARE * told)
        fact = fact_of(sent, f">= {TOLD_SHARE:g} of {told} (the tools')", "bytes", margin)
        yield _held(
            fact,
            f"the tools on {device} report {told} bytes sent, {name_of(sent)} grew by "
            f"{sent.increase}",
        )


def _nics_sent_each(evidence: Evidence) -> Iterator[Finding]:
    """A NIC sent every packet of the datagrams that its tools say they sent, but for those that a
    tool may not have written and those that the host counts as lost."""
    for device, port, priority in dict.fromkeys(
        (place.device, place.port, place.priority) for place in evidence.senders
    ):
        flows = [
            flow
            for place, flow in zip(evidence.senders, evidence.flows, strict=False)
            if (place.device, place.port, place.priority) == (device, port, priority)
        ]
        scope: Scope = "port" if priority is None else "priority"
        sent = evidence.change((device, port), scope, priority, c.TX_PACKETS)
        written = sum(flow.sent_datagrams or 0 for flow in flows)
        if not written or sent.increase is None:
            continue  # said elsewhere
        each = _packets_each(evidence, flows, sent.increase / written)
        stations = path.of_device(evidence, device, "sending stack", "NIC")
        kept = sum(_most(station, whole=True) for station in stations)
        kept += sum(flow.unsure_datagrams or 0 for flow in flows)
        least = each * (written - kept) - sum(_most(s, whole=False) for s in stations)
        fact = fact_of(sent, at_least(least, " (the tools')"), "packets")
        otherwise = "" if priority is None else ", or left it in another class"
        yield _held(
            fact,
            f"the tools on {device} report {written} datagrams sent, of {each} packets each, and "
            f"{name_of(sent)} grew by {sent.increase}: {least - sent.increase} packets were lost "
            f"inside {device}{otherwise}",
        )


_WHOLE = frozenset({c.UDP_SNDBUF_ERRORS, c.IP_OUT_NO_ROUTES})
"""Count datagrams; the other counters of a sending host count packets, of which each has many."""


def _most(station: path.Station, *, whole: bool) -> int:
    """Losses by one of its counters: another one may have the same. Whole datagrams, or packets."""
    ours = (d for d in station.losses if d.key not in station.restless)
    return max((d.increase or 0 for d in ours if (d.key[-1] in _WHOLE) is whole), default=0)


def _packets_each(evidence: Evidence, flows: list[FlowResult], seen: float) -> int:
    """Of a datagram, by the host's own MTU, or by the smallest of all (which it may have learned of
    the way): the one that what the NIC sent for each is next to. Where its own is not known, any
    number up to that; a few that were lost do not make it one less."""
    own = evidence.own_mtu_bytes.get(flows[0].sender)
    most, least = (
        max(datagrams.packets_each(flow, mtu) for flow in flows)
        for mtu in (evidence.mtu_bytes, own)
    )
    if own is not None:
        return min((most, least), key=lambda each: abs(each - seen))
    return max(min(math.floor(seen + min(0.02 * seen, 0.5)), most), 1)


def _hosts_sent_it(evidence: Evidence) -> Iterator[Finding]:
    """A host's IP stack sent each datagram that its tools say they sent, but for those that a tool
    counts before it writes them."""
    for device in dict.fromkeys(flow.sender for flow in evidence.flows if flow.sent_datagrams):
        flows = [flow for flow in evidence.flows if flow.sender == device]
        told = sum(flow.sent_datagrams or 0 for flow in flows)
        unsure = sum(flow.unsure_datagrams or 0 for flow in flows)
        sent = evidence.change((device, ""), "host", None, c.UDP_OUT_DATAGRAMS)
        if sent.increase is None:
            if evidence.has(sent):
                yield missing(sent, f">= {told - unsure}", "datagrams")
            continue  # where no host counts them, NICs count packets
        least = told - unsure
        fact = fact_of(sent, at_least(least, " (the tools')"), "datagrams")
        yield _held(
            fact,
            f"the tools on {device} report {told} datagrams sent, its IP stack {sent.increase}",
        )


def cables_carried(evidence: Evidence, *, but: Collection[path.Where] = ()) -> Iterator[Finding]:
    """What one end of a cable counts on its way out came in at the other, where both count: data
    one way, acknowledgements and CNPs the other. It names the cable, or the port that stands still;
    to the packet it is asked by class, where nothing passes between two reads. Cables of the ports
    `but` are left out."""
    hosts = (*evidence.senders, *evidence.receivers, evidence.receiver)
    for place in {(p.device, p.port): p for p in hosts}.values():
        nic, port = (place.device, place.port), (place.switch, place.switch_port)
        arrived = evidence.change(port, "port", None, c.RX_PACKETS)
        yield from _carried(evidence, (nic, port), path.sent_by_nic(evidence, *nic), (arrived,))
        forwarded = path.of_queues(evidence, port, c.QUEUE_FORWARDED_PACKETS)
        if forwarded:
            received = path.received_by_nic(evidence, *nic)
            yield from _carried(evidence, (port, nic), forwarded, received)
    for a, b in path.between_switches(evidence):
        for out, into in () if a in but or b in but else ((a, b), (b, a)):
            if forwarded := path.of_queues(evidence, out, c.QUEUE_FORWARDED_PACKETS):
                arrived = evidence.change(into, "port", None, c.RX_PACKETS)
                yield from _carried(evidence, (out, into), forwarded, (arrived,))


def _carried(
    evidence: Evidence,
    ends: tuple[path.Where, path.Where],
    sent: tuple[Difference, ...],
    arrived: tuple[Difference, ...],
) -> Iterator[Finding]:
    """Some may pass between the reads of the two ends: no more than in the quiet window. More than
    that may neither be missing nor come on top."""
    unread = [d for d in (*sent, *arrived) if d.increase is None]
    if unread:  # a device that does not count so is none that failed to tell
        yield from (missing(d, "known", "packets") for d in unread if evidence.has(d))
        return
    left, came = (sum(d.increase or 0 for d in side) for side in (sent, arrived))
    noise = evidence.noise
    others = max(
        sum(noise[d.key].increase or 0 for d in side if d.key in noise) for side in (sent, arrived)
    )
    at, to = (" ".join(end) for end in ends)
    most = path.STRAYS + others
    if came > left:  # frames of a switch's own that no queue counts, while late counters were read
        most += round(_seconds_between(sent, arrived))
    fact = held_to(f"sent by {at} - received by {to}", left - came, between(-most, most), "packets")
    what = "lost" if left > came else "doubled"
    yield _held(
        fact,
        f"{left} packets left {at} and {came} came to {to}: {what} on the cable between, or "
        "miscounted",
    )


def _seconds_between(*sides: tuple[Difference, ...]) -> float:
    """From the first read of these counters to the last one."""
    reads = [r.time_s for d in chain(*sides) for r in (d.before, d.after) if r is not None]
    return max(reads) - min(reads) if reads else 0.0


def out_of_balance(evidence: Evidence) -> tuple[str, ...]:
    """What does not add up between counters that are refreshed by themselves: of hosts and switch
    ports, of ports and queues, of both ends' pauses and marks. A sentence each."""
    return tuple(f.because for f in _balances(evidence) if f.disagreement)


def _balances(evidence: Evidence) -> Iterator[Finding]:
    yield from _forwarded_or_dropped(evidence)
    yield from cables_carried(evidence)
    yield from port_drops.switch_ports_agree(evidence)
    by_class = (place for place in evidence.senders if place.priority is not None)
    yield from (witnesses.pauses_agree(evidence, place) for place in by_class)
    if evidence.of_rdma:
        yield witnesses.marks_agree(evidence)
    if evidence.flows and all(flow.retransmits is not None for flow in evidence.flows):
        yield _some_mark(evidence)


def _forwarded_or_dropped(evidence: Evidence) -> Iterator[Finding]:
    """Every packet that was sent, where NICs count by class or tools count datagrams."""
    for queue in evidence.queues:
        if evidence.by_class:
            yield from witnesses.conserved(evidence, queue)
        elif all(flow.sent_datagrams is not None for flow in evidence.flows):
            yield packets.by_the_tool(evidence, queue)
    if all(flow.retransmits is not None for flow in evidence.flows) and not evidence.by_class:
        yield from packets.of_streams(evidence)


def _some_mark(evidence: Evidence) -> Finding:
    """TCP has no second witness of marks that a switch may show late: none at all is waited for."""
    marks = sum(each.increase or 0 for each in ecn.marked(evidence))
    if marks or evidence.kind == "control":
        return passed()
    return disagreement("no packet is shown as marked")


def _held(fact: Fact, otherwise: str) -> Finding:
    """Within its bound, or two witnesses say different things."""
    return passed(fact) if (fact.margin or 0) >= 0 else disagreement(otherwise, fact)


def _undamaged(evidence: Evidence) -> Iterator[Finding]:
    """A datagram whose checksum is wrong passed every FCS: a switch or a NIC damages data. Hosts
    count such of all their ports: only where packets of the flows are missing, they may be ours."""
    host = evidence.receiver.device
    for counter in _checksums(evidence):
        wrong = evidence.change((host, ""), "host", None, counter)
        quiet = evidence.background((host, ""), "host", None, counter)
        if wrong.increase is None and evidence.has(wrong):
            yield missing(wrong, "= 0", "packets")
        if wrong.increase and not quiet.increase and _some_are_missing(evidence):
            yield unproven(
                f"{name_of(wrong)} +{wrong.increase}: received data was corrupted in transit, "
                "behind or between the checks of the cables; look for a switch or NIC with bad "
                "memory"
            )


def _some_are_missing(evidence: Evidence) -> bool:
    """Datagrams that receivers miss, segments that were sent again: more than the bottleneck
    dropped and hosts have lost otherwise. Unknown is yes."""
    dropped = sum(port_drops.queue_drops(evidence, q).increase or 0 for q in evidence.queues)
    told = [f.lost_datagrams if f.retransmits is None else f.retransmits for f in evidence.flows]
    known = [n for n in told if n is not None]
    return len(known) != len(told) or sum(known) > dropped + datagrams.lost_by_hosts(evidence)


def _in_order(evidence: Evidence) -> Iterator[Finding]:
    """Datagrams of one stream that overtook each other: RoCE would have sent them all again."""
    for flow in evidence.flows:
        if flow.late_datagrams:
            yield unproven(
                f"{flow.sender} -> {flow.receiver}: {flow.late_datagrams} datagrams came out of "
                "order; RoCE takes each for a loss: look for links in parallel that are not chosen "
                "by flow, and for a sender whose queue changes in the middle of a flow"
            )


def _checksums(evidence: Evidence) -> tuple[str, ...]:
    """Those of the flows' own protocols; of RDMA the NIC looks at them."""
    found: dict[str, None] = {}
    for flow in evidence.flows:
        if flow.retransmits is not None:
            found |= {c.TCP_IN_CSUM_ERRORS: None, c.IP_IN_CSUM_ERRORS: None}
        elif flow.iterations is None:
            found |= {c.UDP_IN_CSUM_ERRORS: None, c.IP_IN_CSUM_ERRORS: None}
    return tuple(found)


def _payload_bytes(flow: FlowResult) -> int:
    if flow.sent_bytes is not None:
        return flow.sent_bytes
    told = sum(r.goodput_bits_per_s * (r.end_s - r.start_s) for r in flow.intervals) / 8
    return round(told) if math.isfinite(told) else 0  # said elsewhere


def kept(station: path.Station) -> Iterator[Finding]:
    """A station that counted no loss."""
    if not station.losses and station.part == "NIC":
        yield unproven(f"{station.name}: no counter of this device says whether it discarded any")
    for difference in station.losses:
        if difference.increase is None:
            yield missing(difference, "= 0", "packets")
        elif not difference.increase:
            yield passed(fact_of(difference, NONE, ""))
    if station.lost:
        yield _lost(station)


def _lost(station: path.Station) -> Finding:
    facts = (fact_of(d, NONE, "") for d in station.lost)
    what, remedy = _SAYING[station.part]
    return failed(f"{station.name} {what}: {path.in_words(station)}; {remedy}", *facts)


_SAYING: Mapping[path.Part, tuple[str, str]] = {
    "cable": (
        "damaged or interrupted",
        "clean or replace the cable and its optics, compare FEC of both ends",
    ),
    "NIC": (
        "dropped packets",
        "look at its rings, its PFC and the host's CPU (ethtool -g, -S)",
    ),
    "switch port": (
        "lost packets outside its queues",
        "look at the port's errors, its module and its driver",
    ),
}


def _said(evidence: Evidence) -> Iterator[str]:
    """What passing rests on, and what no device here counts."""
    broken = len(_broken_by_the_control(evidence))
    yield f"{len(evidence.flows) - broken} flows ran as requested"
    if broken:
        yield f"{broken} queue pairs lost packets in their queue, as is meant here"
    if evidence.kind == "control":
        return
    yield "no NIC and no cable counted a loss"
    for station in path.of_part(evidence, "cable"):
        if not station.losses:
            yield f"errors not counted at either end of {station.name}"
