"""The questions that suites ask. Evidence in, one verdict out; pure, and total on any evidence."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities.records import FlowResult
from labtests.measure.evidence import Difference, Evidence, Place
from labtests.verdicts import (
    checks,
    cnps,
    goodput,
    idle,
    outcome,
    packets,
    path,
    port_drops,
    streamed,
    witnesses,
)
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Verdict,
    conclude,
    fact_of,
    failed,
    missing,
    name_of,
    numbered,
    passed,
    unless_contradicted,
    unproven,
)

ARRIVED_SHARE = 0.5
"""Of the datagrams: a receiver that loses more has no say in who got how much."""
SLOWED_LEAST_SHARE = 0.75
"""Of the line, all senders together under DCQCN: below, something else than marks holds them.
The source experiment had 0.76 of it, healthy simulated labs of 1G to 100G 0.85 and more; with one
of two senders at 60 % of a CPU it is 0.73."""
FAIR_AMONG_PEERS = 0.5
"""Of the mean of the other senders in its queue: 0.85 and more in healthy simulated labs, 0.46 of a
sender at 40 % of a CPU."""
FAIR_SHARE_LEAST = 0.1
"""Of its fair share, each sender under DCQCN while all send: below, it is starved. The source had
0.15 of it, healthy simulated labs half of it and more."""
SOLO_LEAST = 0.75
"""Of its link or the line, a sender that is alone: in healthy simulated labs 0.9 and more."""
ROWS = 0.01
"""How far a rate may be off by the times of a tool's rows."""
FULL_SHARE = 0.97
"""Of what is due to a sender: less is another rate, and not the edges of rows."""
ALIKE_SHARE = 0.9
"""Of the mean of all senders, the least that one gets where no host stands out."""
OTHERS_SHARE = 0.05
"""Of line rate, in queues that are not under test: then no sender is said to have left it empty."""
HALF = 0.5
"""Of the bottleneck: what others leave at least, or it is their incast and not ours."""
OFFERS = 0.95
"""Of what it was asked: less, and a sender that is alone is itself the bottleneck."""
ALL_OFFERED = 0.99
"""Of what it was asked: so much is all of it, but for the edges of a tool's clock."""


def lossless(
    evidence: Evidence, queues: Iterable[int], *, controls: tuple[Evidence, ...] = ()
) -> Verdict:
    """Exactly 0 packets were dropped in these queues, under proven pressure, by live counters.

    `controls` are the phases of this session that dropped on purpose. Rules: docs/verdicts.md.
    """
    queues = sorted(set(queues))
    moved = [port_drops.queue_forwarded(evidence, q).increase or 0 for q in queues]
    return conclude(
        f"{'Was' if len(queues) == 1 else 'Were'} {numbered(queues)} lossless?",
        evidence,
        _lossless(evidence, queues, controls),
        passing=f"0 of {sum(moved)} packets dropped in {numbered(queues)} under congestion"
        f"{witnesses.remark_on_hosts(evidence)}",
        remedy=_of_drops(evidence, queues),
    )


def _of_drops(evidence: Evidence, queues: Iterable[int]) -> str:
    """Where to look, by what holds the senders: PFC as it was read, else marks."""
    if not evidence.pfc or not any(port_drops.queue_drops(evidence, q).increase for q in queues):
        return ""
    if any(setting.mode != "off" for setting in evidence.pfc.values()):
        refused = ", ".join(_refused(evidence))
        return (
            f"look at xoff and headroom of the ports where it came in{refused and f' ({refused})'},"
            " and at PFC of these priorities at both ends of the senders' cables"
        )
    return (
        "look at Kmin, Kmax and Pmax of these queues, and at the senders' reaction points and the "
        "receiver's notification point"
    )


def _refused(evidence: Evidence) -> Iterator[str]:
    """Which ports refused packets on their way in, where they count that."""
    for where in path.opposite(evidence):
        packets_in = evidence.change(where, "port", None, c.BUFFER_DROPPED_IN_PACKETS).increase
        if packets_in:
            yield f"{' '.join(where)} refused {packets_in}"


def _lossless(
    evidence: Evidence, queues: list[int], controls: tuple[Evidence, ...]
) -> Iterator[Finding]:
    if not queues:
        yield unproven("no queue was monitored")
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    for queue in queues:
        yield from port_drops.no_drop(evidence, queue)
        yield port_drops.counter_proven(evidence, queue, controls)
    yield from packets.by_the_nics(evidence, queues)
    yield from idle.quiet_queues(evidence, queues)
    yield idle.quiet_marks(evidence)
    yield from port_drops.switch_ports_kept(evidence)
    yield from _ends_saw_no_loss(evidence, queues)
    yield checks.congestion_proven(evidence)
    yield checks.receiver_silent(evidence)
    yield from streamed.third_witness(evidence)


def _ends_saw_no_loss(evidence: Evidence, queues: list[int]) -> Iterator[Finding]:
    """What the hosts know of losses, by the kind of traffic that ran. Datagrams of other queues may
    be lost there, and no more than those dropped: what a host lost of them is not this queue's
    excuse. RDMA has no counter of losses by class."""
    if any(f.sent_datagrams is not None or f.lost_datagrams is not None for f in evidence.flows):
        yield from witnesses.datagrams_accounted(_of_queues(evidence, queues))
        if others := sorted({place.queue for place in evidence.senders} - set(queues)):
            drops = (port_drops.queue_drops(evidence, queue).increase or 0 for queue in others)
            yield from witnesses.datagrams_accounted(evidence, dropped_packets=sum(drops))
    if any(f.is_rdma for f in evidence.flows):
        yield from witnesses.rdma_saw_no_loss(evidence)


def _of_queues(evidence: Evidence, queues: list[int]) -> Evidence:
    """The same, of the flows into these queues."""
    pairs = zip(evidence.senders, evidence.flows, strict=False)
    own = [(place, flow) for place, flow in pairs if place.queue in queues]
    return replace(evidence, senders=tuple(p for p, _ in own), flows=tuple(flow for _, flow in own))


def paused(evidence: Evidence) -> Verdict:
    """Each sender's port was paused, at its own priority only, the faster sender's the most."""
    early, *_ = evidence.senders
    sent = pauses_sent(evidence, early).increase
    free = [
        place.device
        for place, flow in zip(evidence.senders, evidence.flows, strict=False)
        if _needed_no_pause(evidence, place, flow)
    ]
    but = f" but {', '.join(free)}, which sent all it offered," if free else ""
    return conclude(
        "Did PFC pause the senders?",
        evidence,
        _paused(evidence),
        passing=f"every sender{but} was paused at its own priority only; {early.device} the most "
        f"({sent} frames)",
    )


def _paused(evidence: Evidence) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    yield from each_was_paused(evidence)
    most = unless_contradicted(
        _first_paused_most(evidence),
        (witnesses.pauses_agree(evidence, place) for place in evidence.senders),
    )
    yield checks.only_under_congestion(evidence, most)
    yield from idle.quiet_queues(evidence, evidence.queues)


def each_was_paused(evidence: Evidence, free: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """At its own priority, by PFC and nothing else, and as often as its NIC says; those that are
    `free` need not be."""
    for place, flow in zip(evidence.senders, evidence.flows, strict=False):
        if not _needed_no_pause(evidence, place, flow) and place.device not in free:
            grew = unless_contradicted(
                _grew(pauses_sent(evidence, place), "frames"),
                (witnesses.pauses_agree(evidence, place),),
            )
            yield checks.only_under_congestion(evidence, grew)
        yield from _not_paused_elsewhere(evidence, place)
        yield from _no_link_pause(evidence, place)
        yield witnesses.pauses_agree(evidence, place)


def _needed_no_pause(evidence: Evidence, place: Place, flow: FlowResult) -> bool:
    """Its port counted no pause frame, it sent all that it offered, and its queue dropped nothing,
    as with a slow link beside fast ones: its part of the buffer never filled. The first sender has
    to give way."""
    sent, asked, _ = checks.sent_and_asked(flow)
    return (
        place is not evidence.senders[0]
        and pauses_sent(evidence, place).increase == 0
        and port_drops.queue_drops(evidence, place.queue).increase == 0
        and asked > 0
        and sent >= ALL_OFFERED * asked
    )


def pauses_sent(evidence: Evidence, place: Place, priority: int | None = None) -> Difference:
    """Frames that the switch sent to a sender, of its own priority or another one."""
    at = place.priority if priority is None else priority
    return evidence.change((place.switch, place.switch_port), "priority", at, c.PFC_TX_FRAMES)


def _not_paused_elsewhere(evidence: Evidence, place: Place) -> Iterator[Finding]:
    """Other priorities: 0 frames, or PFC not enabled there by the device's own account. Where
    somebody else's traffic goes, no more frames than it has packets: one fills no buffer."""
    for priority in sorted(set(range(8)) - {place.priority}):
        other = pauses_sent(evidence, place, priority)
        nic = (place.device, place.port)
        others = evidence.change(nic, "priority", priority, c.TX_PACKETS).increase
        if others and (other.increase or 0) <= others:
            continue  # somebody else's traffic, and their pauses
        if others:
            yield unproven(
                f"{name_of(other)} grew by {other.increase}, for {others} packets of others: what "
                "it paused is not known"
            )
        elif other.increase:
            yield failed(
                f"{name_of(other)} grew by {other.increase}: pause frames on a priority "
                "that carries no traffic"
            )
        elif other.increase is None and not cannot_pause(evidence, place, other):
            yield missing(other, "= 0", "frames")


def cannot_pause(evidence: Evidence, place: Place, frames: Difference) -> bool:
    """No number of frames is no gap where PFC is off for their priority: by the counter's own
    account, or as its setting was read."""
    read = evidence.pfc.get((place.switch, place.switch_port))
    off = read is not None and read.mode != "auto" and frames.key[3] not in read.priorities
    return off or checks.not_enabled(frames)


def _no_link_pause(evidence: Evidence, place: Place) -> Iterator[Finding]:
    """802.3x holds a whole port: what its NIC got is no more than the PFC frames of all priorities,
    where a NIC counts those among them; it may count them for its own priorities only, and the
    switch for all."""
    nic = (place.device, place.port)
    every = evidence.change(nic, "port", None, c.PAUSE_RX_FRAMES)
    if every.increase is None and every.key in evidence.numbers:
        yield missing(every, "known", "frames")
    by_priority = [
        evidence.change(nic, "priority", each, c.PFC_RX_FRAMES).increase for each in range(8)
    ]
    opposite = (place.switch, place.switch_port)
    sent = [
        evidence.change(opposite, "priority", each, c.PFC_TX_FRAMES).increase for each in range(8)
    ]
    most = max(sum(n or 0 for n in counted) for counted in (by_priority, sent))
    if (every.increase or 0) > most:
        yield unproven(
            f"{name_of(every)} grew by {every.increase}, more than PFC frames of all priorities: "
            "802.3x pauses held the whole port; turn link pause off at both ends"
        )


def _first_paused_most(evidence: Evidence) -> Finding:
    """By the time that PFC held each of them, where NICs tell it, or by the frames. A long cable
    makes frames fewer; a sender that seldom sends is held long by each. Where it is neither the one
    nor the other, another one was held more."""
    sent = [pauses_sent(evidence, place) for place in evidence.senders]
    if not sent or any(each.increase is None for each in sent):
        return unproven("not every port's pause counter could be read")
    held = [round(checks.held_s(evidence, place), 6) for place in evidence.senders]
    frames = [each.increase or 0 for each in sent]
    first = evidence.senders[0].device
    ways = [_most_of(f"{name_of(sent[0])} against the most of any other sender", frames, "frames")]
    if all(held):
        ways.insert(0, _most_of(f"{first}: held by PFC, against any other sender", held, "s"))
    if most := [fact for fact in ways if fact.margin is not None and fact.margin > 0]:
        return passed(most[0])
    numbers = " / ".join(f"{fact.measured} {fact.unit}, {fact.bound}" for fact in ways)
    return failed(f"the faster sender was paused no more than another ({numbers})", *ways)


def _most_of(name: str, counts: Sequence[float], unit: str) -> Fact:
    """Of the first, against the most of the others."""
    most = max(counts[1:], default=0)
    margin = round(counts[0] - most, 6)
    return Fact(name=name, measured=counts[0], bound=f"> {most}", unit=unit, margin=margin)


def throttled(evidence: Evidence, *, ceiling_bits_per_s: float, buffers_bytes: int = 0) -> Verdict:
    """UDP classes of equal weight: the faster one gives way, the slower one keeps what it offers.

    The sum is within 5 % of the bottleneck's goodput ceiling, and above it by no more than what
    the buffers on the way (`buffers_bytes`) hold; the first sender loses at least a third of what
    it had alone, the others together lose at most a tenth of what they offer. What other people's
    traffic took meanwhile, in other queues, is not there to be had. None of it is judged where a
    sender sent less than pauses left it.
    """
    return conclude(
        "Was only the faster sender slowed?",
        evidence,
        [
            *checks.ran(evidence),
            *checks.kept_pace(evidence),
            *_arrived(evidence),
            *(
                checks.only_under_congestion(evidence, f)
                for f in _throttled(evidence, ceiling_bits_per_s, buffers_bytes)
            ),
            *idle.quiet_queues(evidence, evidence.queues),
        ],
        passing=_shares(evidence),
    )


def _throttled(evidence: Evidence, ceiling: float, buffers_bytes: int) -> Iterator[Finding]:
    alone, shared = goodput.alone(evidence), goodput.together(evidence)
    if not alone or not shared:
        yield unproven("interval reports do not cover both the solo and the shared period")
        return
    first = evidence.flows[0].offered_bits_per_s
    if first and alone < OFFERS * first:
        yield unproven(
            f"{evidence.flows[0].sender} sent {alone / 1e9:.2f} of the {first / 1e9:.2f} Gb/s that "
            "it was asked for while nobody else sent, so its slowdown cannot be measured"
        )
        return
    left = 1 - goodput.others_share(evidence)
    if astray := tuple(packets.elsewhere(evidence)):
        yield from astray
        return
    if left < HALF:
        yield unproven(f"background traffic took {1 - left:.0%} of the bottleneck")
        return
    ceiling *= left
    offered = sum(f.offered_bits_per_s or 0.0 for f in evidence.flows[1:])
    shares = [
        _within_ceiling(evidence, sum(shared), ceiling, buffers_bytes),
        checks.bounded("first sender: goodput shared / solo", shared[0] / alone, at_most=2 / 3),
    ]
    if offered:
        kept = sum(shared[1:]) / offered
        shares.append(checks.bounded("other senders: goodput / offered", kept, at_least=0.9 * left))
    else:
        yield unproven("what the other senders offered is not known")
    stalled = min(_slower_than_pauses(evidence, shared, ceiling), default=(1.0, ""))
    yield from _unless_stalled(shares, stalled[1])


def _unless_stalled(shares: Iterable[Finding], said: str) -> Iterator[Finding]:
    """Who stands still leaves the line to the others: their shares then prove nothing."""
    return (outcome.or_unproven(share, said) if said else share for share in shares)


def _slower_than_pauses(
    evidence: Evidence, shared: tuple[float, ...], ceiling: float
) -> Iterator[tuple[float, str]]:
    """Who sent less, while all sent, than what it was asked for in the time that pauses left it:
    the share of that, and a sentence. (A tool makes up for some of a pause, and not for all.) Only
    where another one had its fair share: a port that serves too slowly gives it to nobody."""
    seconds = goodput.seconds_together(evidence)
    fair = FULL_SHARE * ceiling / len(shared)
    if max(shared) < fair:
        return
    for place, flow, got in zip(evidence.senders, evidence.flows, shared, strict=False):
        held = min(checks.held_s(evidence, place) / seconds, 1.0) if seconds else 0.0
        link = place.link_bits_per_s or evidence.line_bits_per_s
        due = (1 - held) * min(flow.offered_bits_per_s or math.inf, link)
        if got < FULL_SHARE * min(due, fair):
            yield (
                got / due,
                f"{place.device} sent {got / 1e9:.3g} Gb/s while all sent, and PFC, which held it "
                f"for {100 * held:.0f} % of that time, left it {due / 1e9:.3g}: the limit of "
                f"{place.device}, or it stalled",
            )


def _arrived(evidence: Evidence) -> Iterator[Finding]:
    """Most datagrams came to the receivers: goodput is what senders say, and says nothing when the
    receiving host throws away what it gets."""
    for flow in evidence.flows:
        if not flow.sent_datagrams or flow.lost_datagrams is None:
            continue
        share = 1 - flow.lost_datagrams / flow.sent_datagrams
        finding = checks.bounded(
            f"{flow.sender} -> {flow.receiver}: arrived / sent", share, at_least=ARRIVED_SHARE
        )
        yield outcome.or_unproven(finding)


def _within_ceiling(evidence: Evidence, sent: float, ceiling: float, buffers_bytes: int) -> Finding:
    """What senders count as sent may still lie in a buffer, or was dropped behind them. Where no
    queue dropped, more than the line carries cannot have been sent."""
    seconds = goodput.seconds_together(evidence)
    held = 8 * buffers_bytes / seconds / ceiling if seconds else 0.0
    name = "total goodput / theoretical maximum"
    if held:
        name += f" ({buffers_bytes / 2**20:.0f} MiB of buffers in {seconds:.3g} s: {held:.4f})"
    finding = checks.bounded(name, sent / ceiling, at_least=0.95, at_most=1 + ROWS + held)
    dropped = any(port_drops.queue_drops(evidence, queue).increase for queue in evidence.queues)
    if sent < ceiling or dropped:
        return finding
    return outcome.or_unproven(finding, "the rows of the tools do not cover the same time")


def slowed_by_marks(evidence: Evidence) -> Verdict:
    """The switch marked, the receiver sent CNPs, every sender's RP handled some and gave way."""
    marks = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS).increase
    return conclude(
        "Did DCQCN slow the senders?",
        evidence,
        [
            *checks.ran(evidence),
            marked(evidence),
            *(checks.only_under_congestion(evidence, f) for f in _slowed(evidence)),
            *checks.not_paused(evidence),
            *(
                finding
                for flow in evidence.flows
                for finding in checks.kept_sending(evidence, flow)
            ),
            *idle.quiet_queues(evidence, evidence.queues),
            idle.quiet_congestion_control(evidence),
        ],
        passing=f"{marks} packets marked, every sender handled CNPs; {_shares(evidence)}",
    )


def marked(evidence: Evidence) -> Finding:
    """The bottleneck marked. A queue that dropped was full, whatever became of the flows: go-back-N
    without marks can end in queue pairs that complete nothing at all."""
    finding = unless_contradicted(
        _marks_or_cnps(evidence, evidence.bottleneck, c.ECN_MARKED_PACKETS),
        (witnesses.marks_agree(evidence),),
    )
    full = any(port_drops.queue_drops(evidence, queue).increase for queue in evidence.queues)
    return finding if full else checks.only_under_congestion(evidence, finding)


def told_by_cnps(evidence: Evidence) -> Iterator[Finding]:
    """Each sender was told to slow down, often enough to be held by it, and heeded that."""
    receiver = (evidence.receiver.device, evidence.receiver.port)
    balance = cnps.all_came(evidence)
    yield unless_contradicted(_marks_or_cnps(evidence, receiver, c.NP_CNP_SENT), (balance,))
    for place in evidence.senders:
        handled = _marks_or_cnps(evidence, (place.device, place.port), c.RP_CNP_HANDLED)
        yield unless_contradicted(handled, (balance,))
        yield from cnps.often_enough(evidence, place, goodput.seconds_together(evidence))
        yield from cnps.heeded(evidence, place)
    yield witnesses.marks_agree(evidence)
    yield balance
    yield from cnps.of_marks(evidence)
    yield from cnps.in_their_class(evidence)


def _slowed(evidence: Evidence) -> Iterator[Finding]:
    yield from told_by_cnps(evidence)
    alone, shared = goodput.alone(evidence), goodput.together(evidence)
    if not alone or not shared:
        yield unproven("interval reports do not cover both the solo and the shared period")
        return
    stalls = [
        finding.because
        for flow in evidence.flows
        for finding in checks.kept_sending(evidence, flow)
    ]
    yield from _unless_stalled(_shares_slowed(evidence, alone, shared), next(iter(stalls), ""))


def _shares_slowed(
    evidence: Evidence, alone: float, shared: tuple[float, ...]
) -> Iterator[Finding]:
    yield _gave_way(evidence, shared[0], alone)
    line = evidence.line_bits_per_s
    total = sum(shared) / line
    yield outcome.or_unproven(
        checks.bounded("total goodput / line rate", total, at_least=SLOWED_LEAST_SHARE),
        least_of_all(evidence, shared),
    )
    yield from _as_fast_as_its_peers(evidence, shared)
    yield outcome.or_unproven(
        checks.bounded("total goodput / line rate", total, at_most=checks.OVER_THE_LINE),
        "the rows of the tools do not cover the same time",
    )
    for place, got in zip(evidence.senders, shared, strict=False):
        part = checks.equal_part(evidence, place.device, got, FAIR_SHARE_LEAST)
        empty = f"the line was left empty by {100 * (1 - total):.0f} %"
        yield outcome.or_unproven(part, empty) if total < SLOWED_LEAST_SHARE else part


def _gave_way(evidence: Evidence, shared: float, alone: float) -> Finding:
    """Of a sender that had less than the line, or its link, to itself, this cannot be measured."""
    first = evidence.senders[0]
    due = min(evidence.line_bits_per_s, first.link_bits_per_s or math.inf)
    finding = checks.bounded("first sender: goodput shared / solo", shared / alone, at_most=0.75)
    if alone >= SOLO_LEAST * due or _was_held_alone(evidence, first):
        return finding
    return outcome.or_unproven(
        finding,
        f"{first.device} sent {alone / 1e9:.3g} of {due / 1e9:.3g} Gb/s while nobody else sent, "
        "the limit of its host or a stall",
    )


def _was_held_alone(evidence: Evidence, first: Place) -> bool:
    """Whether its reaction point handled CNPs before anybody else sent, as many as that of one that
    is held: then the port was full."""
    starts = [s for flow in evidence.flows[1:] if (s := goodput.began_s(flow)) is not None]
    key = (first.device, first.port, c.RP_CNP_HANDLED)
    seen = [
        (reading.time_s, reading.value)
        for reading in evidence.samples
        if (reading.device, reading.port, reading.counter) == key
        and reading.value is not None
        and reading.time_s <= min(starts, default=0.0)
    ]
    counts = [count for _, count in seen]
    if len(seen) < 2 or counts != sorted(counts):
        return False
    return counts[-1] - counts[0] >= cnps.LEAST_PER_S * (seen[-1][0] - seen[0][0]) > 0


def least_of_all(evidence: Evidence, shared: tuple[float, ...]) -> str:
    """Who left the line empty, for a sentence. Where all got alike, none of them did it alone."""
    got, who = min(zip(shared, (place.device for place in evidence.senders), strict=False))
    others = goodput.others_share(evidence)
    if others >= OTHERS_SHARE:
        return f"other queues forwarded {100 * min(others, 1.0):.0f} % of the line rate meanwhile"
    part = evidence.line_bits_per_s / len(shared)
    if got >= ALIKE_SHARE * sum(shared) / len(shared):
        return (
            f"all senders got alike: {' '.join(evidence.bottleneck)} serves below its line rate, "
            "or rates come back too slowly after a CNP"
        )
    return (
        f"{who} sent {got / 1e9:.3g} Gb/s, {got / part:.2f} of its fair share, and nobody else "
        f"took what it left: the limit of {who}, or rates that come back too slowly after a CNP"
    )


def _as_fast_as_its_peers(evidence: Evidence, shared: tuple[float, ...]) -> Iterator[Finding]:
    """Senders of one queue are marked alike, so that one far below the others, and below its link,
    is held by itself."""
    got = tuple(zip(evidence.senders, shared, strict=False))
    for place, rate in got:
        who, queue = place.device, place.queue
        others = [r for other, r in got if other.queue == queue and other is not place]
        if not others or not sum(others):
            continue
        due = min(sum(others) / len(others), place.link_bits_per_s or math.inf)
        finding = checks.bounded(
            f"{who}: goodput / mean of the others in queue {queue}, or its link",
            rate / due,
            at_least=FAIR_AMONG_PEERS,
        )
        yield outcome.or_unproven(finding, f"the limit of {who}: marks hold all of a queue alike")


def _marks_or_cnps(evidence: Evidence, where: tuple[str, str], counter: str) -> Finding:
    return _grew(evidence.change(where, "port", None, counter), "packets")


def _grew(difference: Difference, unit: str) -> Finding:
    if difference.increase is None:
        return missing(difference, "> 0", unit)
    fact = fact_of(difference, "> 0", unit, margin=difference.increase)
    return passed(fact) if difference.increase else failed(f"{name_of(difference)} stayed 0", fact)


def drops_as_expected(
    evidence: Evidence, *, dropping: int, clean: int, controls: tuple[Evidence, ...] = ()
) -> Verdict:
    """One queue dropped, the other exactly nothing, and every packet is accounted for."""
    dropped = port_drops.queue_drops(evidence, dropping).increase
    return conclude(
        f"Did queue {dropping} drop packets and queue {clean} none?",
        evidence,
        _drops_as_expected(evidence, dropping, clean, controls),
        passing=f"queue {dropping} dropped {dropped} packets, queue {clean} dropped 0",
    )


def _drops_as_expected(
    evidence: Evidence, dropping: int, clean: int, controls: tuple[Evidence, ...]
) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    balances = (
        *packets.by_the_nics(evidence, (dropping, clean)),
        *port_drops.switch_ports_kept(evidence),
    )
    some = unless_contradicted(port_drops.some_drop(evidence, dropping), balances)
    yield checks.only_under_congestion(evidence, some)
    yield from port_drops.no_drop(evidence, clean)
    yield port_drops.counter_proven(evidence, clean, controls)
    yield from balances
    yield from _clean_ones_sent(evidence, clean)
    yield from checks.full_while_it_dropped(evidence)
    yield from checks.not_paused(evidence)
    if any(flow.is_rdma for flow in evidence.flows):
        yield cnps.all_came(evidence)
        yield from cnps.of_marks(evidence)
        yield from cnps.in_their_class(evidence)
        yield from witnesses.came_back(evidence)
    for place, flow in zip(evidence.senders, evidence.flows, strict=False):
        if place.queue == clean and flow.is_rdma:
            yield from witnesses.sender_repeated_nothing(evidence, place)
    yield from idle.quiet_queues(evidence, (dropping, clean))
    yield checks.receiver_silent(evidence)


def _clean_ones_sent(evidence: Evidence, clean: int) -> Iterator[Finding]:
    """Who loses nothing is not starved either, nor for a time."""
    shared = goodput.together(evidence)
    if shared is None:
        yield unproven("interval reports do not cover the shared period")
        return
    for place, flow, got in zip(evidence.senders, evidence.flows, shared, strict=False):
        if place.queue == clean:
            finding = checks.equal_part(evidence, place.device, got, FAIR_SHARE_LEAST)
            yield outcome.or_unproven(finding, "next to no traffic was sent into the clean queue")
            yield from checks.kept_sending(evidence, flow)


def _shares(evidence: Evidence) -> str:
    alone, shared = goodput.alone(evidence), goodput.together(evidence)
    if not alone or not shared:
        return "no goodput over time"
    got = " + ".join(f"{rate / 1e9:.2f}" for rate in shared)
    first = evidence.senders[0].device
    return f"{first} had {alone / 1e9:.2f} Gb/s alone; together {got} Gb/s"
