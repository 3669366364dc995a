"""Where what a queue dropped had come in, as far as counters tell it: for the sentence of a loss.

Of a queue that one port alone feeds, that port. Of several, those that sent no pause frame while
the queue dropped, as samples show it, and did before or after. Behind several switches it is not
told: what is dropped came in by a cable between two of them.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence, Place
from labtests.verdicts.outcome import numbered


def came_in_at(evidence: Evidence, queues: Iterable[int]) -> Iterator[str]:
    """A sentence for each of these queues of which it is known."""
    if evidence.transit or evidence.congested:
        return
    for queue in queues:
        feeding = _feeding(evidence, queue)
        ports = {(each.switch, each.switch_port): each for each in feeding}
        silent = list(ports.values()) if len(ports) == 1 else _silent(evidence, queue, feeding)
        if len(silent) == 1:
            (place,) = silent
            where = f"{place.switch} {place.switch_port} (from {place.device})"
            alone = "alone" if len(ports) == 1 else "also, which sent no pause frame meanwhile"
            yield (
                f"what {numbered([queue])} lost came in at {where} {alone}: its PFC may have been "
                "off for a while"
            )


def _feeding(evidence: Evidence, queue: int) -> list[Place]:
    return [place for place in evidence.senders if place.queue == queue]


def _silent(evidence: Evidence, queue: int, feeding: list[Place]) -> list[Place]:
    """Those that did not pause in any interval of samples in which the queue dropped."""
    if evidence.refresh.seconds != 0:
        return []  # counters of queues and of pauses are then of different moments
    lost = _growth(evidence, (*evidence.bottleneck, "queue", queue, c.QUEUE_DROPPED_PACKETS))
    when = {span for span, more in lost.items() if more}
    found, pausing = list[Place](), False
    for place in feeding:
        priority = place.queue if place.priority is None else place.priority
        port = (place.switch, place.switch_port)
        sent = _growth(evidence, (*port, "priority", priority, c.PFC_TX_FRAMES))
        if not when or not when <= set(sent):
            return []
        meanwhile = sum(sent[span] for span in when)
        pausing = pausing or meanwhile > 0
        if not meanwhile and any(sent.values()):
            found.append(place)
    return found if pausing else []


def _growth(evidence: Evidence, key: tuple[str, str, str, int, str]) -> dict[float, int]:
    """By when the samples in between were asked for; empty where one has no number."""
    shown = [(r.asked_s, r.value) for r in evidence.samples if r.key == key]
    if any(value is None or asked_s is None for asked_s, value in shown):
        return {}
    known = sorted((asked_s or 0.0, value or 0) for asked_s, value in shown)
    return {asked_s: after - before for (_, before), (asked_s, after) in pairwise(known)}
