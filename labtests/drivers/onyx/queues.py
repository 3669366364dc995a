"""What the traffic classes of a port count (`show interfaces ethernet 1/13 counters tc 3`), and its
drops and marks.

What RED dropped is told in two places: by a class (`WRED discard`), and, while it has a curve, by
`congestion-control`. Both are taken for one counter.
"""

from collections.abc import Iterator
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.device import DropTelemetry, QueueTelemetry
from labtests.capabilities.readings import Reading
from labtests.drivers.displays import MAYBE, read
from labtests.drivers.onyx.egress import CONGESTION, QUEUES, Congestion
from labtests.drivers.onyx.session import ONYX, OnyxPart, line
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking, ask_each, both
from labtests.transport.protocol import Reply

_LOST, _BY_RED = "unicast no buffer discard", "WRED discard"
_FORWARDED = {
    "packets": (c.QUEUE_FORWARDED_PACKETS, "packets"),
    "bytes": (c.QUEUE_FORWARDED_BYTES, "bytes"),
}
_NO_LINE = "the switch shows no such line"
Words = dict[str, int]


def _class(queue: int, **counts: int) -> tuple[int, Words]:
    return queue, {name.replace("_", " "): number for name, number in counts.items()}


def _of_port(port: str, classes: tuple[tuple[int, Words], ...]) -> tuple[str, tuple[int, Words]]:
    return port, classes[0]


CLASSES = ONYX.record(
    "<port:port>:?",
    ONYX.record(
        "TC <queue:0-7>:?",
        *(
            ONYX.maybe(f"<{words.replace(' ', '_')}:number> {words}")
            for words in (*_FORWARDED, _LOST, _BY_RED)
        ),
        ONYX.many("<:number> (unicast |multicast )?queue depth"),
        make=_class,
        into="classes",
        times=(1, 1),
    ),
    make=_of_port,
    times=MAYBE,
)


def parse_class(reply: Reply) -> dict[str, tuple[int, Words]]:
    """The class that is counted, and its counters by the switch's own words, of the one port."""
    return dict(read(reply, CLASSES))


def _dropped(words: Words, red: int | None) -> tuple[int | None, str]:
    """What a class lost, or why that is not known. `red`: what its curve dropped, if it has one."""
    wred = words.get(_BY_RED)
    if red is not None and wred is not None and red != wred:
        told = f"{wred} {_BY_RED}, and `congestion-control` {red} RED dropped packets"
        return None, f"the switch shows {told}: one of them is wrong, or cleared alone"
    if _LOST not in words:
        return None, _NO_LINE
    return words[_LOST] + (wred if wred is not None else red or 0), ""


class OnyxQueues(OnyxPart, QueueTelemetry, DropTelemetry):
    """What a port counts of its queues. A port counts its marks, and not those of each queue."""

    def queue_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Three counters of each of the eight queues."""
        replies, (_, curves) = yield from both(self._asked(port), self.shown(CONGESTION, port))
        return tuple(
            reading
            for queue, reply in zip(QUEUES, replies, strict=True)
            for reading in self._of_queue(reply, port, queue, curves)
        )

    def _asked(self, port: str) -> Asking[tuple[Reply, ...]]:
        words = ("show", "interfaces", *self.at(port), "counters", "tc")
        replies = yield from ask_each(*(line(*words, queue) for queue in QUEUES))
        for reply in replies:
            self.cli.refusals.expect_answer(reply)
        return replies

    def _of_queue(
        self, reply: Reply, port: str, queue: int, curves: Congestion
    ) -> Iterator[Reading]:
        found = parse_class(reply)
        if {name: each[0] for name, each in found.items()} != {self.port(port): queue}:
            told = ", ".join(f"{name} TC {each[0]}" for name, each in found.items()) or "nothing"
            self.cli.names.wrong(reply, f"{self.port(port)} TC {queue}", told)
        words, at = found[self.port(port)][1], Answered(reply, port, "queue", queue)
        for word, counter in _FORWARDED.items():
            yield at.reading(counter, words.get(word), f"{reply.command}: {word}", _NO_LINE)
        source = f"{reply.command}: {_LOST} and {_BY_RED}"
        dropped, missing = _dropped(words, dict(curves.dropped).get(queue))
        yield at.reading((c.QUEUE_DROPPED_PACKETS, "packets"), dropped, source, missing)

    def drop_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Sums of the port."""
        reply, found = yield from self.shown(CONGESTION, port)
        at, by_red = Answered(reply, port), sum(dropped for _, dropped in found.dropped)
        told: tuple[tuple[str, int, Any], ...] = (
            (c.ECN_MARKED_PACKETS, found.marked, "ECN marked packets"),
            ("queue_wred_dropped_packets", by_red, "RED dropped packets of all classes"),
        )
        return tuple(
            at.reading((name, "packets"), value, f"{reply.command}: {words}")
            for name, value, words in told
        )
