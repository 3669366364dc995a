"""RED at the queues of a port: what tc is to be told, without a device (tc-red(8)).

Thresholds are bytes. tc derives the weight of the average (`ewma`, Wlog) from `burst`, so a burst
is looked for that gives the wanted one. A RED that labtests made has a handle fe..:, and keeps the
queue's own fifo below itself: so what was there before is read from the tree. One that somebody
else made is written into the setting's profile, handle and all, so that it can come back.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass

from labtests.capabilities.records import EcnSetting, WredQueue
from labtests.drivers.linux_switch.handles import Handle
from labtests.drivers.linux_switch.idling import DEFAULT_BITS_PER_S, bandwidth_for, idle_exponent
from labtests.drivers.linux_switch.qdiscs import Qdisc, Red
from labtests.drivers.linux_switch.tree import Leaf, Tree
from labtests.drivers.marking import red_curve
from labtests.transport.commands import Word

OURS = "labtests-red"
"""The profile of a port where only labtests made REDs."""
OUR_RED, OUR_FIFO, PASSING = 0xFE00, 0xFD00, 0xFC00
"""Handles of ours: a RED, a fifo that stays where a RED of others was, and one that is there for a
moment (the kernel does not move a qdisc to another parent: it goes, and comes back)."""
AVERAGE_PACKET_BYTES = 1000
FRAME_BYTES = 1514
"""A full Ethernet frame as tc counts it: what a packet of a pfifo's limit stands for."""

_DETAIL = re.compile(
    r"queue (?P<queue>\d+): red (?P<handle>[0-9a-f]+): limit (?P<limit>\d+)"
    r"(?: idle (?P<idle>\d+))?"
    r"(?: probability (?P<probability>[0-9.e+-]+))?(?P<flags>(?: (?:harddrop|adaptive|nodrop))*)"
    r"(?: over (?P<below>[bp]fifo [0-9a-f]+: limit \d+))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What a WredQueue cannot say of a RED that is not ours. `below` is its own fifo, if it has a
    name."""

    queue: int
    handle: int
    limit_bytes: int
    idle: int | None  # idling.py; None: as tc has it by itself
    probability: float | None
    flags: tuple[str, ...]
    below: str

    def __str__(self) -> str:
        parts = [f"queue {self.queue}: red {self.handle:x}: limit {self.limit_bytes}"]
        parts += [] if self.idle is None else [f"idle {self.idle}"]
        parts += [] if self.probability is None else [f"probability {self.probability:g}"]
        parts += [*self.flags, *([f"over {self.below}"] if self.below else [])]
        return " ".join(parts)


def details(profile: str | None) -> dict[int, Detail]:
    """By queue, from a profile as `setting` writes it."""
    found = (_DETAIL.fullmatch(part) for part in (profile or "").split("; "))
    return {
        int(m["queue"]): Detail(
            queue=int(m["queue"]),
            handle=int(m["handle"], 16),
            limit_bytes=int(m["limit"]),
            idle=None if m["idle"] is None else int(m["idle"]),
            probability=None if m["probability"] is None else float(m["probability"]),
            flags=tuple(m["flags"].split()),
            below=m["below"] or "",
        )
        for m in found
        if m is not None
    }


def setting(tree: Tree) -> EcnSetting:
    """RED of all queues of a port that have one."""
    queues = [(leaf, curve) for leaf in tree.leaves if (curve := curve_of(leaf)) is not None]
    if not queues:
        return EcnSetting()
    foreign = [str(d) for leaf, _ in queues if (d := detail_of(leaf)) is not None]
    return EcnSetting(
        profile="; ".join(foreign) or OURS, queues=tuple(curve for _, curve in queues)
    )


def curve_of(leaf: Leaf) -> WredQueue | None:
    """RED of a queue."""
    red = None if leaf.red is None else leaf.red.red
    if red is None:
        return None
    percent, exponent = round(100 * (red.probability or 0)), red.ewma or 0
    limits = (red.min_bytes, red.max_bytes)
    return red_curve(leaf.queue, limits, percent, ecn=red.ecn, exponent=exponent)


def detail_of(leaf: Leaf) -> Detail | None:
    """What else there is to say of it; None of one that is ours and has nothing special."""
    node = leaf.red
    if node is None or node.red is None:
        return None
    percent = 100 * (node.red.probability or 0)
    whole = abs(percent - round(percent)) < 1e-3
    if is_ours(node) and whole and not node.red.flags:
        return None
    fifo = leaf.fifo
    return Detail(
        queue=leaf.queue,
        handle=node.handle.major,
        limit_bytes=node.red.limit_bytes,
        idle=_idle(node.red),
        probability=None if whole else node.red.probability,
        flags=node.red.flags,
        below=fifo_words(fifo) if fifo is not None and fifo.handle.major else "",
    )


def _idle(red: Red) -> int | None:
    if red.idle is None or red.ewma is None or not 1 <= red.ewma <= 31:
        return None
    by_itself = idle_exponent(red.ewma, AVERAGE_PACKET_BYTES, DEFAULT_BITS_PER_S)
    return None if red.idle == by_itself else red.idle


def is_ours(node: Qdisc) -> bool:
    """Whether labtests gave it its handle."""
    return node.handle.major & 0xFF00 in (OUR_RED, OUR_FIFO)


def our_handle(kind: int, place: Handle | None) -> int:
    """Of a RED or fifo of ours, by the class it is in."""
    return kind | (0 if place is None else place.minor & 0xFF)


def fifo_words(fifo: Qdisc) -> str:
    """As `tc qdisc replace ... handle` wants it after the handle's word."""
    return f"{fifo.kind} {fifo.handle.major:x}: limit {fifo.limit}"


def limit_bytes(fifo: Qdisc) -> int:
    """How much a fifo holds; packets count as full frames."""
    assert fifo.limit is not None
    return fifo.limit * (FRAME_BYTES if fifo.kind == "pfifo" else 1)


def burst_for(exponent: int, min_bytes: int) -> int | None:
    """The least `burst` from which tc derives this weight (tc/tc_red.c, tc_red_eval_ewma); None
    where there is none up to a million packets. The weight never falls with the burst."""
    bursts = range(1, 1_000_000)
    found = bisect_left(bursts, exponent, key=lambda burst: _exponent(burst, min_bytes))
    if (
        not 1 <= exponent <= 31
        or found == len(bursts)
        or _exponent(bursts[found], min_bytes) != exponent
    ):
        return None
    return bursts[found]


def _exponent(burst: int, min_bytes: int) -> int:
    """0 for a burst that is too small, 32 for one that is too great."""
    wanted = burst + 1 - min_bytes / AVERAGE_PACKET_BYTES
    if wanted < 1:
        return 0
    for exponent in range(1, 32):
        weight = 0.5**exponent
        if wanted <= (1 - (1 - weight) ** burst) / weight:
            return exponent
    return 32


def red_words(curve: WredQueue, detail: Detail | None, limit: int, burst: int) -> tuple[Word, ...]:
    """The options of `tc qdisc ... red`."""
    percent = curve.drop_probability_percent / 100
    exact = None if detail is None else detail.probability
    idle = None if detail is None else detail.idle
    exponent = curve.weighting_exponent
    rate = None if idle is None else bandwidth_for(idle, exponent, AVERAGE_PACKET_BYTES)
    return (
        *("limit", limit, "min", curve.low_limit, "max", curve.high_limit),
        *("avpkt", AVERAGE_PACKET_BYTES, "burst", burst, "probability", f"{exact or percent:g}"),
        *(() if rate is None else ("bandwidth", f"{rate}bit")),
        *(("ecn",) if curve.ecn else ()),
        *(() if detail is None else detail.flags),
    )
