"""Background noise: what grew while nothing of ours ran makes a verdict over it inconclusive.

It never excuses anything: a drop stays a failure, because a failure outweighs what is said here.
"""

from collections.abc import Iterable, Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence, Key, Noise
from labtests.verdicts.outcome import Fact, Finding, name_of, passed, unproven

REMEDY = "find and stop the source, or test another queue"


def quiet_queues(evidence: Evidence, queues: Iterable[int]) -> Iterator[Finding]:
    """Nobody else used these queues: neither the bottleneck's, nor the same class at the NICs, nor
    pause frames for it. What a queue's own counters did while it was idle has to be known."""
    queues = sorted(set(queues))
    yield quiet(evidence, [key for queue in queues for key in _keys_of(evidence, queue)])
    for queue in queues:
        for counter in (c.QUEUE_DROPPED_PACKETS, c.QUEUE_FORWARDED_PACKETS):
            seen = evidence.background(evidence.bottleneck, "queue", queue, counter)
            if seen.increase is None:
                yield unproven(
                    f"unknown whether {name_of(seen)} was idle before the phase: {seen.unusable}"
                )


def quiet_marks(evidence: Evidence) -> Finding:
    """Nobody else's packets were marked at the bottleneck."""
    return quiet(evidence, [(*evidence.bottleneck, "port", -1, c.ECN_MARKED_PACKETS)])


def quiet_congestion_control(evidence: Evidence) -> Finding:
    """Nobody else's flows were marked, told so, or slowed down."""
    nic = (evidence.receiver.device, evidence.receiver.port)
    keys: list[Key] = [(*evidence.bottleneck, "port", -1, c.ECN_MARKED_PACKETS)]
    keys += [(*nic, "port", -1, name) for name in (c.NP_ECN_MARKED_PACKETS, c.NP_CNP_SENT)]
    keys += [
        (place.device, place.port, "port", -1, counter)
        for place in evidence.senders
        for counter in (c.RP_CNP_HANDLED, c.RP_CNP_IGNORED)
    ]
    return quiet(evidence, keys)


def quiet(evidence: Evidence, keys: Iterable[Key]) -> Finding:
    """None of these counters grew in the idle lab, as far as it was watched."""
    wanted = frozenset(keys)
    found = [noise for noise in evidence.disturbances if noise.difference.key in wanted]
    if not found:
        return passed()
    return unproven(
        f"background noise: {'; '.join(_sentence(noise) for noise in found)}, and nothing of "
        f"labtests ran; {REMEDY}",
        *(_fact(noise) for noise in found),
    )


def _keys_of(evidence: Evidence, queue: int) -> Iterator[Key]:
    """Of all that a verdict about this queue rests on."""
    for counter in (c.QUEUE_DROPPED_PACKETS, c.QUEUE_FORWARDED_PACKETS):
        yield (*evidence.bottleneck, "queue", queue, counter)
    for place in evidence.senders:
        priority, receiver = place.priority, evidence.receiver
        if place.queue != queue or priority is None:
            continue
        yield (place.device, place.port, "priority", priority, c.TX_PACKETS)
        yield (place.device, place.port, "priority", priority, c.PFC_RX_FRAMES)
        yield (place.switch, place.switch_port, "priority", priority, c.PFC_TX_FRAMES)
        yield (receiver.device, receiver.port, "priority", priority, c.RX_PACKETS)


def _sentence(noise: Noise) -> str:
    seen = noise.difference
    return f"{name_of(seen)} grew by {seen.increase} in {noise.seconds:.3g} s ({noise.when})"


def _fact(noise: Noise) -> Fact:
    reading = noise.difference.after
    return Fact(
        name=f"{name_of(noise.difference)}, {noise.when}",
        measured=noise.difference.increase,
        bound="= 0",
        unit=reading.unit if reading else "",
    )
