"""What queues, priority groups and PFC count (`nv show interface PORT counters qos`).

Only the JSON has the numbers: the table rounds, and prints counts of frames as bytes (75.19 KB for
76993 frames). A table is not read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities.device import DropTelemetry, PfcTelemetry, QueueTelemetry
from labtests.capabilities.readings import Reading
from labtests.drivers.cumulus.session import expected, shown
from labtests.drivers.displays.trees import Node, parse
from labtests.drivers.parsing import READ_AGAIN
from labtests.drivers.parts import PlatformPart
from labtests.drivers.readings import Answered, Counted
from labtests.transport.asking import Asking, ask_each
from labtests.transport.protocol import Reply

QUEUES = range(8)
_EGRESS, _INGRESS = "egress-queue-stats", "ingress-buffer-stats"
_PFC, _PORT = "pfc-stats", "port-stats"
_TAIL, _WRED, _MARKS = "tx-uc-buffer-discards", "wred-discards", "ecn-marked-frames"
_KNOWN: Mapping[str, tuple[str, ...]] = {
    _EGRESS: ("tx-frames", "tx-bytes", _TAIL, _WRED, _MARKS),
    _INGRESS: ("rx-frames", "rx-buffer-discards", "rx-shared-buffer-discards"),
    _PFC: ("rx-pause-frames", "rx-pause-duration", "tx-pause-frames", "tx-pause-duration"),
}
_SIDES = {
    "rx-stats": ("pause-frames",),
    "tx-stats": ("ecn-marked-packets", "mc-buffer-discards", "pause-frames"),
}
_MOST = 16
"""Queues of a port: 8 to 15 are of multicast packets."""
_FORWARDED = {"tx-frames": c.QUEUE_FORWARDED_PACKETS, "tx-bytes": c.QUEUE_FORWARDED_BYTES}
_PAUSES = {"rx-pause-frames": c.PFC_RX_FRAMES, "tx-pause-frames": c.PFC_TX_FRAMES}
Counts = dict[str, dict[str, int | None]]
"""By queue, group, priority or side, and the switch's own word."""


def parse_counters(reply: Reply) -> dict[str, Counts]:
    """By kind: all queues, groups and priorities that are shown."""
    whole = parse(reply)
    whole.only(*_KNOWN, _PORT)
    if not whole.has(_EGRESS):
        whole.refuse(f"lacks the field {_EGRESS!r}", READ_AGAIN)
    found = {kind: dict(_rows(whole.below(kind), words)) for kind, words in _KNOWN.items()}
    port = whole.below(_PORT)
    port.only(*_SIDES)
    return {**found, _PORT: {side: _row(port.below(side), words) for side, words in _SIDES.items()}}


def _rows(of: Node, words: tuple[str, ...]) -> Iterator[tuple[str, dict[str, int | None]]]:
    for number, node in of.numbered(_MOST):
        yield str(number), _row(node, words)


def _row(of: Node, words: tuple[str, ...]) -> dict[str, int | None]:
    of.only(*words)
    return {word: of.count(word) for word in words}


class CumulusQueues(PlatformPart, QueueTelemetry, DropTelemetry, PfcTelemetry):
    """What a port counts of its queues and pauses. What RED drops is not among what a queue drops
    at its tail, so both together are what it drops."""

    def queue_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Four counters of each of the eight queues."""
        (shown_,) = yield from _counted(port)
        return tuple(reading for queue in QUEUES for reading in _of_queue(shown_[_EGRESS], queue))

    def drop_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Sums of the port."""
        (by_kind,) = yield from _counted(port)
        groups, queues = _whole(by_kind[_INGRESS]), _whole(by_kind[_EGRESS])
        sides, lost = by_kind[_PORT], _KNOWN[_INGRESS][1:]
        refused = [each.get(word) for each in groups.counts.values() for word in lost]
        at = Answered(groups.reply, port)
        return (
            at.reading((c.BUFFER_DROPPED_IN_PACKETS, "packets"), _all(refused),
                       f"{groups.source}: {' and '.join(lost)}", groups.missing),
            sides.of("tx-stats", "ecn-marked-packets", c.ECN_MARKED_PACKETS),
            queues.sum(_WRED, "queue_wred_dropped_packets", lambda name: int(name) in QUEUES),
            sides.of("tx-stats", "mc-buffer-discards", "other_queues_dropped_packets"),
        )  # fmt: skip

    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        """One display of each port."""
        shown_ = yield from _counted(*ports)
        return tuple(
            each[_PFC].of(str(priority), word, counter, "priority", priority)
            for each in shown_
            for word, counter in _PAUSES.items()
            for priority in range(8)
        )


def _counted(*ports: str) -> Asking[tuple[dict[str, Counted], ...]]:
    """By kind, of each port."""
    replies = yield from ask_each(*(shown("interface", port, "counters", "qos") for port in ports))
    return tuple(
        {
            kind: Counted(
                reply=reply,
                port=port,
                counts=counts,
                source=f"{reply.command}: {kind}",
                missing="this release does not show it, or says n/a",
            )
            for kind, counts in parse_counters(expected(reply)).items()
        }
        for port, reply in zip(ports, replies, strict=True)
    )


def _whole(counted: Counted) -> Counted:
    """With a row for each that a sum needs: of one that is left out nothing is known."""
    gone = [str(number) for number in QUEUES if str(number) not in counted.counts]
    if not gone or not counted.counts:
        return counted
    rows: Counts = {name: {} for name in gone}
    why = f"the answer leaves out {', '.join(gone)}, so the sum of all is not known"
    return replace(counted, counts={**counted.counts, **rows}, missing=why)


def _of_queue(counted: Counted, queue: int) -> Iterator[Reading]:
    name, at = str(queue), Answered(counted.reply, counted.port, "queue", queue)
    for word, counter in _FORWARDED.items():
        yield counted.of(name, word, counter, "queue", queue)
    told = counted.counts.get(name, {})
    lost = _all([told.get(_TAIL), told.get(_WRED)])
    words = f"{counted.source}: {name} {_TAIL} and {_WRED}"
    yield at.reading((c.QUEUE_DROPPED_PACKETS, "packets"), lost, words, counted.missing)
    yield counted.of(name, _MARKS, c.QUEUE_MARKED_PACKETS, "queue", queue)


def _all(told: list[int | None]) -> int | None:
    """Their sum. Where one is not known, it is not."""
    known = [each for each in told if each is not None]
    return sum(known) if known and len(known) == len(told) else None
