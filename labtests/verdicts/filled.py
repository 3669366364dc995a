"""How much a switch holds when it pauses a sender: counted from outside, packet by packet.

The receiver holds the egress queue by pauses, and a sender sends until its switch port pauses it,
too. From then on nothing moves, and what the NIC has sent, less what the queue has forwarded, is
what the port holds: its threshold, and what was on the cable when it was reached.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PriorityMemory
from labtests.measure.evidence import Evidence, Key, Place
from labtests.verdicts import pauses, port_drops, storms, witnesses
from labtests.verdicts.bounds import between
from labtests.verdicts.memory import CELL_BYTES, USUAL_MTU_BYTES, Limits
from labtests.verdicts.outcome import (
    Finding,
    Verdict,
    conclude,
    failed,
    held_to,
    name_of,
    passed,
    unproven,
)

FRAME_MORE_BYTES = 18
"""Of a frame beside its IP packet: Ethernet's header and FCS."""
SLACK_PACKETS = 3
"""One goes beyond the threshold, one is on the way, one is on its way out."""
REST_SAMPLES, REFRESHES = 3, 1.25
"""So many samples that say the same, so many refresh periods from the first to the last of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledMoment:
    """A sample: packets sent and forwarded since the phase began. `asked_s` is when it was asked
    for, `last_s` when the last of it was read, of the lab's clock."""

    asked_s: float
    last_s: float
    sent: int
    forwarded: int

    @property
    def held(self) -> int:
        """Packets."""
        return self.sent - self.forwarded


def pauses_at(evidence: Evidence, limits: Limits) -> Verdict:
    """The only sender's switch port held as many packets when it paused as its threshold says."""
    return conclude(
        "Did the port pause at its threshold, as counted from outside?",
        evidence,
        _pauses_at(evidence, limits),
        passing=_said(evidence, limits),
        remedy="look at the threshold (xoff) of the priority and at what shares its pool",
    )


def held_packets(evidence: Evidence) -> int | None:
    """What the switch held while nothing moved; None where that was not seen."""
    rest = at_rest(evidence)
    return rest.held if rest else None


def at_rest(evidence: Evidence) -> FilledMoment | None:
    """The last sample of those in which nothing moved, and the most was held."""
    if "rest" not in evidence.derived:
        evidence.derived["rest"] = max(_at_rest(evidence), key=lambda m: m.held, default=None)
    found: FilledMoment | None = evidence.derived["rest"]
    return found


def _pauses_at(evidence: Evidence, limits: Limits) -> Iterator[Finding]:
    yield from filled_alone(evidence)
    for place in evidence.senders[:1]:
        yield from _at_its_threshold(evidence, place, limits)


def filled_alone(evidence: Evidence) -> Iterator[Finding]:
    """One sender filled one switch until it was paused, and no packet is missing."""
    yield from storms.stormed(evidence)
    if len(evidence.senders) != 1:
        yield unproven(f"{len(evidence.senders)} senders: who of them holds the memory is not told")
        return
    (place,) = evidence.senders
    if place.switch != evidence.bottleneck[0]:
        yield unproven(
            f"from {place.switch} to {evidence.bottleneck[0]} every switch holds packets: how many "
            "of them each holds is not told from outside"
        )
        return
    yield _paused(evidence, place)
    yield witnesses.pauses_agree(evidence, place)
    yield from storms.nothing_is_missing(evidence)


def _at_its_threshold(evidence: Evidence, place: Place, limits: Limits) -> Iterator[Finding]:
    limit, held = _limit(limits, place), held_packets(evidence)
    bounds = _packets(evidence, limit)
    where = f"{place.switch} {place.switch_port} priority {place.priority}"
    if bounds is None:
        yield unproven(f"{where}: its threshold is not told")
    elif held is None:
        yield unproven(
            f"{where}: no {REST_SAMPLES} samples in which nothing moved while packets were held"
        )
    else:
        yield _within(where, held, bounds)


def took_what_came(evidence: Evidence, *, controls: tuple[Evidence, ...] = ()) -> Verdict:
    """What came behind the pause found room: the only sender's port refused nothing, by a counter
    that a control has made count."""
    return conclude(
        "Was there headroom for what came behind the pause?",
        evidence,
        _took_what_came(evidence, controls),
        passing=f"{held_packets(evidence)} packets were held, and none was refused",
        remedy="look at the headroom of the priority, against cable, MTU and speed",
    )


def _took_what_came(evidence: Evidence, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    yield from storms.stormed(evidence)
    for place in evidence.senders:
        port = (place.switch, place.switch_port)
        yield _paused(evidence, place)
        into = evidence.change(port, "port", None, c.BUFFER_DROPPED_IN_PACKETS)
        yield from port_drops.exactly_zero(evidence, into)
        if not any(
            each.change(port, "port", None, c.BUFFER_DROPPED_IN_PACKETS).increase
            for each in controls
        ):
            yield unproven(f"{name_of(into)}: no control has shown that it counts")
    if held_packets(evidence) is None:
        yield unproven("nothing was seen to be held")
    yield from storms.nothing_is_missing(evidence)


def behind_bytes(slowly: Evidence, fast: Evidence, *, frames: int = 0) -> int:
    """What headroom has to take of a fast load: the frame that goes beyond the threshold, as it
    does of a slow one, too, and what was held more; and `frames`, for neither run stops at the same
    frame when it is made again. In cells of CELL_BYTES."""
    more = (held_packets(fast) or 0) - (held_packets(slowly) or 0) + frames
    frame = FRAME_MORE_BYTES + max(fast.own_mtu_bytes.values(), default=USUAL_MTU_BYTES)
    return (1 + max(more, 0)) * -(-frame // CELL_BYTES) * CELL_BYTES


def _paused(evidence: Evidence, place: Place) -> Finding:
    sent = pauses.pauses_sent(evidence, place)
    if sent.increase:
        return passed()
    why = sent.unusable or "stayed 0: the load was over before its port was full"
    return unproven(f"pauses to {place.device} {why}")


def _within(where: str, held: int, bounds: tuple[int, int]) -> Finding:
    least, most = bounds
    fact = held_to(f"{where}: packets held when it paused", held, between(least, most), "packets")
    if least <= held <= most:
        return passed(fact)
    early = "paused below its threshold" if held < least else "should have paused before"
    return failed(f"{where} held {held} packets, not {least} to {most}: it {early}", fact)


def _packets(evidence: Evidence, limit: PriorityMemory) -> tuple[int, int] | None:
    """How many are at the threshold: each is in whole cells, of CELL_BYTES at most."""
    threshold = threshold_bytes(limit)
    if threshold is None:
        return None
    frame = frame_bytes(evidence)
    least = int(threshold / (frame + CELL_BYTES)) - SLACK_PACKETS
    return max(least, 1), int(threshold / frame) + SLACK_PACKETS


def frame_bytes(evidence: Evidence) -> int:
    """Of a load whose datagrams are as long as the hosts' smallest MTU takes in one packet."""
    smallest = min(evidence.own_mtu_bytes.values(), default=USUAL_MTU_BYTES)
    return (evidence.mtu_bytes or smallest) + FRAME_MORE_BYTES


def threshold_bytes(limit: PriorityMemory) -> float | None:
    """What a priority holds that has its pool for itself when it is paused: alpha times what is
    then free of it, or what is configured, beside what is reserved for it."""
    reserved = limit.reserved_bytes or 0
    if limit.static_bytes is not None:
        return float(reserved + limit.static_bytes)
    if limit.alpha is None or limit.pool_bytes is None:
        return None
    return reserved + limit.alpha / (1 + limit.alpha) * limit.pool_bytes


def _limit(limits: Limits, place: Place) -> PriorityMemory:
    told = limits.get((place.switch, place.switch_port))
    own = (each for each in (told.priorities if told else ()) if each.priority == place.priority)
    return next(own, PriorityMemory(priority=place.priority or 0))


def _at_rest(evidence: Evidence) -> Iterator[FilledMoment]:
    """The last sample each time nothing moved in so many of them."""
    least_s = REFRESHES * (evidence.refresh.seconds or 0.0)
    moments = list(_moments(evidence))
    for number, first in enumerate(moments):
        alike = [first]
        for later in moments[number + 1 :]:
            if (later.sent, later.forwarded) != (first.sent, first.forwarded):
                break
            alike.append(later)
        long = alike[-1].asked_s - first.last_s >= least_s
        if len(alike) >= REST_SAMPLES and long and first.held > 0:
            yield alike[-1]


def _moments(evidence: Evidence) -> Iterator[FilledMoment]:
    if not evidence.senders:
        return
    place = evidence.senders[0]
    sent: Key = (place.device, place.port, "priority", place.priority or 0, c.TX_PACKETS)
    out: Key = (*evidence.bottleneck, "queue", place.queue, c.QUEUE_FORWARDED_PACKETS)
    begun = {r.key: r.value for r in evidence.before if r.key in (sent, out)}
    rounds: dict[float | None, dict[Key, Reading]] = {}
    for key in (sent, out):
        for reading in evidence.samples_of.get(key, ()):
            rounds.setdefault(reading.asked_s, {})[key] = reading
    for each in rounds.values():
        values = [(each[k].value, begun.get(k)) for k in (sent, out) if k in each]
        counts = [now - then for now, then in values if now is not None and then is not None]
        if len(counts) == 2:
            times = [r.time_s for r in each.values()]
            yield FilledMoment(
                asked_s=min(r.asked_s or r.time_s for r in each.values()),
                last_s=max(times),
                sent=counts[0],
                forwarded=counts[1],
            )


def _said(evidence: Evidence, limits: Limits) -> str:
    if not evidence.senders or (held := held_packets(evidence)) is None:
        return "nothing was held"
    (place, *_) = evidence.senders
    bounds = _packets(evidence, _limit(limits, place))
    return (
        f"{place.switch} {place.switch_port} held {held} packets when it paused {place.device}; "
        f"its threshold is {' to '.join(map(str, bounds or ()))} of them"
    )
