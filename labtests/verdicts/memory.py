"""Do the ports opposite the senders pause when they should, and is there headroom for what comes
then? By watermarks, held against what the ports say that they may hold.

A port pauses a priority that holds alpha times what is free of its pool. What was free at that
moment is not known; but at least the pool without the most that it ever held, and the priority's
own share was in use. So the most that it held of the pool is from alpha (pool - peak of the pool)
to alpha / (1 + alpha) pool. A static threshold is both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PortMemory, PriorityMemory
from labtests.measure.evidence import Evidence
from labtests.verdicts import checks, port_drops, witnesses
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Verdict,
    conclude,
    disagreement,
    failed,
    missing,
    name_of,
    passed,
    unproven,
)

Port = tuple[str, str]
Limits = Mapping[Port, PortMemory]
"""By device and port."""
SLACK_FRAMES = 2
CELL_BYTES = 256
"""The frame that goes beyond, and one that leaves meanwhile, in whole cells of at most so much."""
USUAL_MTU_BYTES, HEADERS_BYTES = 1500, 22


def held_within(
    evidence: Evidence, limits: Limits, *, controls: tuple[Evidence, ...] = ()
) -> Verdict:
    """Paused ports held as much as their threshold says, and no more than their headroom beyond;
    none refused a packet, by a counter that a control has made count."""
    return conclude(
        "Did pauses begin at their threshold, and was there headroom for what came then?",
        evidence,
        _held_within(evidence, limits, controls),
        passing="each port that paused did it at its threshold, within "
        f"{slack_bytes(evidence)} bytes; its headroom was used, sufficed, and nothing was refused",
    )


def with_thresholds(limits: Limits, times: float) -> Limits:
    """The same ports, if their thresholds were so many times what they are."""
    return {
        port: replace(told, priorities=tuple(_other(each, times) for each in told.priorities))
        for port, told in limits.items()
    }


def _other(limit: PriorityMemory, times: float) -> PriorityMemory:
    alpha = None if limit.alpha is None else limit.alpha * times
    static = None if limit.static_bytes is None else round(limit.static_bytes * times)
    return replace(limit, alpha=alpha, static_bytes=static)


def slack_bytes(evidence: Evidence) -> int:
    """How far a watermark may be from a threshold: two frames in whole cells."""
    frame_bytes = (evidence.mtu_bytes or USUAL_MTU_BYTES) + HEADERS_BYTES
    return SLACK_FRAMES * -(-frame_bytes // CELL_BYTES) * CELL_BYTES


def _held_within(
    evidence: Evidence, limits: Limits, controls: tuple[Evidence, ...]
) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    yield from (witnesses.pauses_agree(evidence, place) for place in evidence.senders)
    places = dict.fromkeys(
        ((place.switch, place.switch_port), place.priority) for place in evidence.senders
    )
    for port in dict.fromkeys(port for port, _ in places):
        into = evidence.change(port, "port", None, c.BUFFER_DROPPED_IN_PACKETS)
        yield from port_drops.exactly_zero(evidence, into)
        if not any(_refused(control, port) for control in controls):
            yield unproven(f"{name_of(into)}: no control has shown that it counts")
    for queue in sorted(evidence.queues):
        yield from port_drops.exactly_zero(evidence, port_drops.queue_drops(evidence, queue))
    paused = 0
    for port, priority in places:
        sent = evidence.change(port, "priority", priority, c.PFC_TX_FRAMES)
        if sent.increase is None:
            yield missing(sent, "known", "frames")
            continue
        paused += sent.increase > 0
        yield from _of_priority(evidence, port, _limit(limits, port, priority), sent.increase > 0)
    if not paused:
        yield unproven("no port sent a pause frame")


def _refused(control: Evidence, port: Port) -> bool:
    return bool(control.change(port, "port", None, c.BUFFER_DROPPED_IN_PACKETS).increase)


def _limit(limits: Limits, port: Port, priority: int | None) -> PriorityMemory:
    told = limits[port].priorities if port in limits else ()
    found = (each for each in told if each.priority == priority)
    return next(found, PriorityMemory(priority=priority or 0))


def _of_priority(
    evidence: Evidence, port: Port, limit: PriorityMemory, paused: bool
) -> Iterator[Finding]:
    peaks = {
        counter: evidence.peak(port, "priority", limit.priority, counter)
        for counter in (c.HEADROOM_PEAK_BYTES, c.SHARED_PEAK_BYTES, c.POOL_PEAK_BYTES)
    }
    where = f"{' '.join(port)} priority {limit.priority}"
    yield _headroom(where, limit, peaks[c.HEADROOM_PEAK_BYTES], paused)
    least, most = _thresholds(limit, peaks[c.POOL_PEAK_BYTES])
    held, slack = peaks[c.SHARED_PEAK_BYTES], slack_bytes(evidence)
    name = f"{where} {c.SHARED_PEAK_BYTES}"
    if more := _more_than_the_pool(where, limit, peaks[c.POOL_PEAK_BYTES]):
        yield more
    elif most is None or (paused and least is None):
        yield unproven(f"{where}: when it pauses is not known: {_why(peaks[c.POOL_PEAK_BYTES])}")
    elif held is None or held.value is None:
        yield unproven(f"{name}: {_why(held)}")
    elif held.value > most + slack:
        fact = _fact(name, held.value, f"<= {most:.0f} + {slack}", most + slack - held.value)
        yield failed(f"{name} is {held.value}, and it should pause at {most:.0f} at most", fact)
    elif paused and not held.value:
        yield unproven(f"{name} stayed 0 while it paused: it was not seen to count")
    elif paused and least is not None and held.value < least - slack:
        fact = _fact(name, held.value, f">= {least:.0f} - {slack}", held.value - least + slack)
        yield failed(f"{name} is {held.value}: it paused below its threshold, {least:.0f}", fact)
    else:
        low = least - slack if paused and least is not None else 0.0
        margin = min(most + slack - held.value, held.value - low)
        yield passed(_fact(name, held.value, f"{max(low, 0):.0f} to {most + slack:.0f}", margin))


def _headroom(where: str, limit: PriorityMemory, peak: Reading | None, paused: bool) -> Finding:
    name, room = f"{where} {c.HEADROOM_PEAK_BYTES}", limit.headroom_bytes
    if room is None:
        return unproven(f"{where}: how much headroom it has is not told")
    if peak is None or peak.value is None:
        return unproven(f"{name}: {_why(peak)}")
    fact = _fact(name, peak.value, f"<= {room}", room - peak.value)
    if peak.value > room:
        return failed(f"{name} is {peak.value}, and its headroom {room}", fact)
    if paused and not peak.value:
        return unproven(f"{name} stayed 0 while it paused: it was not seen to count", fact)
    return passed(fact)


def _thresholds(
    limit: PriorityMemory, pool_peak: Reading | None
) -> tuple[float | None, float | None]:
    """The least and the most that it may hold when it pauses; None: not known."""
    if limit.static_bytes is not None:
        return limit.static_bytes, limit.static_bytes
    if limit.alpha is None or limit.pool_bytes is None:
        return None, None
    most = limit.alpha / (1 + limit.alpha) * limit.pool_bytes
    held = None if pool_peak is None else pool_peak.value
    return (None if held is None else max(0.0, limit.alpha * (limit.pool_bytes - held))), most


def _more_than_the_pool(where: str, limit: PriorityMemory, peak: Reading | None) -> Finding | None:
    """A pool that held more than it has: one of the two is not of this pool, and no threshold
    follows from them."""
    size, held = limit.pool_bytes, None if peak is None else peak.value
    if size is None or held is None or held <= size:
        return None
    name = f"{where} {c.POOL_PEAK_BYTES}"
    return disagreement(
        f"{name} is {held}, and its pool has {size} bytes",
        _fact(name, held, f"<= {size}", size - held),
    )


def _why(reading: Reading | None) -> str:
    if reading is None:
        return "it was not read"
    return reading.missing or "the port does not tell its threshold"


def _fact(name: str, measured: int, bound: str, margin: float) -> Fact:
    return Fact(name=name, measured=measured, bound=bound, unit="bytes", margin=round(margin))
