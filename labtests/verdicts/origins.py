"""Where what a queue dropped had come in, as far as counters tell it: for the sentence of a loss.

Of a queue that one port alone feeds, that port; its PFC is suspected unless it paused as often as
at other times. Of several, those that sent no pause frame while
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
            off = ": its PFC may have been off for a while"
            if len(ports) == 1 and _paused_on(evidence, queue, place):
                off = ", which paused as often as at other times"
            yield f"what {numbered([queue])} lost came in at {where} {alone}{off}"


def _feeding(evidence: Evidence, queue: int) -> list[Place]:
    return [place for place in evidence.senders if place.queue == queue]


PAUSED_ON = 0.9
"""Of its pauses in other samples: with less, it may have been silent for a while."""


def _paused_on(evidence: Evidence, queue: int, place: Place) -> bool:
    """Whether it paused as often as usual in each span of samples in which the queue dropped, and
    in those beside it: a switch that refreshes its counters may show either a span later."""
    when, sent = _dropping(evidence, queue), _pauses(evidence, place)
    spans = sorted(sent)
    near = {n + by for n, span in enumerate(spans) if span in when for by in (-1, 0, 1)}
    meanwhile = [sent[spans[n]] for n in near if 0 <= n < len(spans)]
    others = [sent[span] for n, span in enumerate(spans) if n not in near and sent[span]]
    if not (meanwhile and others and when <= set(spans)):
        return False
    return min(meanwhile) >= PAUSED_ON * sum(others) / len(others)


def _silent(evidence: Evidence, queue: int, feeding: list[Place]) -> list[Place]:
    """Those that did not pause in any interval of samples in which the queue dropped."""
    if evidence.refresh.seconds != 0:
        return []  # counters of queues and of pauses are then of different moments
    when = _dropping(evidence, queue)
    found, pausing = list[Place](), False
    for place in feeding:
        sent = _pauses(evidence, place)
        if not when or not when <= set(sent):
            return []
        meanwhile = sum(sent[span] for span in when)
        pausing = pausing or meanwhile > 0
        if not meanwhile and any(sent.values()):
            found.append(place)
    return found if pausing else []


def _dropping(evidence: Evidence, queue: int) -> set[float]:
    """The spans of samples in which it did."""
    lost = _growth(evidence, (*evidence.bottleneck, "queue", queue, c.QUEUE_DROPPED_PACKETS))
    return {span for span, more in lost.items() if more}


def _pauses(evidence: Evidence, place: Place) -> dict[float, int]:
    priority = place.queue if place.priority is None else place.priority
    port = (place.switch, place.switch_port)
    return _growth(evidence, (*port, "priority", priority, c.PFC_TX_FRAMES))


def _growth(evidence: Evidence, key: tuple[str, str, str, int, str]) -> dict[float, int]:
    """By when the samples in between were asked for; empty where one has no number."""
    shown = [(r.asked_s, r.value) for r in evidence.samples_of.get(key, ())]
    if any(value is None or asked_s is None for asked_s, value in shown):
        return {}
    known = sorted((asked_s or 0.0, value or 0) for asked_s, value in shown)
    return {asked_s: after - before for (_, before), (asked_s, after) in pairwise(known)}
