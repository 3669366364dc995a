"""Closed forms of schedulers, rate limits and frame times, counted at one egress port.

Frames of 318, 1086 and 4158 B compete, so that shares of packets and of bytes cannot be confused.
A round-robin share is exact but for the turn under way: at most weight x quantum and a frame.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labtests.network.cases.building import build, start
from labtests.network.reference.judging import Family, ValidationRow, check
from labtests.network.reference.stars import star
from labtests.network.scheduling import QUANTUM_BYTES
from labtests.network.tables import OVERHEAD_BYTES

MTU_BYTES = {1: 256, 2: 1024, 3: 4096}
HEADER_BYTES = 62
LARGEST_FRAME = 4096 + HEADER_BYTES + OVERHEAD_BYTES
LINE_BYTES_PER_MS = 25e9 / 8 / 1000
SMALLEST_DATAGRAM = 18  # + UDP 8 + IPv4 20 + Ethernet 18 = a frame of 64 B
NS_PER_MS = 1_000_000

Sent = Mapping[int, tuple[int, int]]
"""Of each queue: packets and bytes on the wire."""


def backlogged(*queues: int) -> list[dict[str, Any]]:
    """A flow for each queue that fills it; the hosts and frame sizes differ."""
    return [
        {"source": f"h{n}", "priority": n, "tx_depth": 2**12, "mtu_bytes": MTU_BYTES[n]}
        for n in queues
    ]


def sent(flows: Sequence[Mapping[str, Any]], port: Mapping[str, Any], **more: Any) -> Sent:
    """What the receiver's port sends from 5 ms (queues are full) until the end."""
    gigabit, duration_ms = more.get("gigabit", 25), more.get("duration_ms", 20)
    case = star(gigabit, flows, switch={"ports": {"receiver": port}})
    network = build(case)
    for flow in case.flows:
        start(network, case, flow)
    counts = []
    for time_ms in (5, duration_ms):
        network.advance_to(round(time_ms * NS_PER_MS))
        queues = network.switch("s1").queue_counters("receiver")
        counts.append([(q.forwarded_packets, q.forwarded_bytes) for q in queues])
    return {
        i: (p2 - p1, b2 - b1 + OVERHEAD_BYTES * (p2 - p1))
        for i, ((p1, b1), (p2, b2)) in enumerate(zip(*counts, strict=True))
    }


def round_robin(groups: Mapping[int, tuple[str, int]], unit: str) -> dict[str, Any]:
    """A schedule in which these queues have this group and weight."""
    queues = [groups.get(i, ("1", 1)) for i in range(8)]
    parts = [{"group": group, "weight": weight} for group, weight in queues]
    return {"schedule": {"discipline": "wrr", "unit": unit, "queues": parts}}


def weighted() -> Iterator[ValidationRow]:
    """WRR by bytes and by packets: w_i / sum(w), exact to the turn under way."""
    weights = {1: 1, 2: 2, 3: 4}
    for unit, column, quantum in (("byte-count", 1, QUANTUM_BYTES), ("weight", 0, 1)):
        groups = {i: ("1", weight) for i, weight in weights.items()}
        counts = sent(backlogged(1, 2, 3), round_robin(groups, unit))
        total = sum(counts[i][column] for i in weights)
        largest = LARGEST_FRAME if unit == "byte-count" else 1
        for i, weight in weights.items():
            quantity = "bytes on the wire" if column else "packets"
            share, turn = total * weight / 7, weight * quantum + largest
            bounds = (share - turn, share + turn)
            row = check(f"wrr_{unit}_queue{i}", quantity)
            yield row.between(counts[i][column], bounds, share)


def strict() -> Iterator[ValidationRow]:
    """SP: the highest takes all. SP + WRR: a strict queue takes what is offered, weights the rest.

    Two WRR groups share 1:1 in bytes of frames, whatever their weights.
    """
    counts = sent(backlogged(1, 2, 3), {"schedule": {"discipline": "sp"}})
    line = LINE_BYTES_PER_MS * 15
    bounds = (line - LARGEST_FRAME, line + LARGEST_FRAME)
    yield check("sp_highest", "bytes on the wire").between(counts[3][1], bounds, line)
    yield check("sp_others", "packets").between(counts[1][0] + counts[2][0], (0, 0), 0)
    groups = {6: ("sp", 1), 1: ("1", 1), 2: ("1", 3)}
    offered = {"source": "h3", "priority": 6, "kind": "udp", "rate_gbit_per_s": 5.0}
    counts = sent([*backlogged(1, 2), offered], round_robin(groups, "byte-count"))
    rest = line - counts[6][1]
    for i, weight in ((1, 1), (2, 3)):
        share, turn = rest * weight / 4, weight * QUANTUM_BYTES + 2 * LARGEST_FRAME
        row = check(f"sp_and_wrr_queue{i}", "bytes on the wire")
        yield row.between(counts[i][1], (share - turn, share + turn), share)
    payload = counts[6][1] * 65500 / (65508 + 45 * (38 + OVERHEAD_BYTES))
    yield check("sp_and_wrr_strict", "payload Gb/s").near(payload * 8e-6 / 15, 5.0, 0.002)
    yield from _groups()


def _groups() -> Iterator[ValidationRow]:
    groups = {1: ("1", 5), 2: ("1", 1), 3: ("2", 1)}
    counts = sent(backlogged(1, 2, 3), round_robin(groups, "byte-count"))
    frames = {i: bytes_ - OVERHEAD_BYTES * packets for i, (packets, bytes_) in counts.items()}
    half = sum(frames.values()) / 2
    bounds = (half - LARGEST_FRAME, half + LARGEST_FRAME)
    yield check("wrr_groups_1_to_1", "frame bytes of group 2").between(frames[3], bounds, half)
    first = counts[1][1] + counts[2][1]
    turn = 5 * QUANTUM_BYTES + LARGEST_FRAME
    bounds = (first * 5 / 6 - turn, first * 5 / 6 + turn)
    row = check("wrr_weights_in_group", "bytes on the wire of queue 1")
    yield row.between(counts[1][1], bounds, first * 5 / 6)


def rate_limits() -> Iterator[ValidationRow]:
    """A strict queue with a limit sends rate x time, to a frame; the others get all the rest."""
    for i, gigabit in ((1, 1.0), (2, 3.0), (3, 7.77), (2, 0.333)):
        limit = {"queues": [i], "rate_gbit_per_s": gigabit}
        others = [n for n in (1, 2, 3) if n != i]
        groups = {i: ("sp", 1)}
        port = round_robin(groups, "byte-count") | {"rate_limits": [limit]}
        counts = sent(backlogged(i, *others), port)
        expected = gigabit * 1e9 / 8 * 15e-3
        frame = MTU_BYTES[i] + HEADER_BYTES + OVERHEAD_BYTES
        row = check(f"rate_limit_{gigabit:g}g_{frame}B", "bytes on the wire")
        bounds = (expected - frame, expected + frame)
        yield row.between(counts[i][1], bounds, expected)
        rest, measured = LINE_BYTES_PER_MS * 15 - counts[i][1], sum(counts[n][1] for n in others)
        row = check(f"rate_limit_{gigabit:g}g_rest", "bytes on the wire of the others")
        bounds = (rest - 2 * LARGEST_FRAME, rest + 2 * LARGEST_FRAME)
        yield row.between(measured, bounds, rest)


def smallest_frames() -> Iterator[ValidationRow]:
    """84 B each with preamble and gap: 14.88 M/s at 10G, to a frame."""
    for gigabit in (10, 25, 100):
        flow = {"source": "h1", "kind": "udp", "priority": 3, "datagram_bytes": SMALLEST_DATAGRAM}
        flow["rate_gbit_per_s"] = float(gigabit)
        counts = sent([flow], {}, gigabit=gigabit, duration_ms=6)
        expected = gigabit * 1e9 / 8 / 84 * 1e-3
        row = check(f"smallest_frames_{gigabit}g", "frames of 64 B in 1 ms")
        yield row.between(counts[3][0], (expected - 1, expected + 1), expected)


QUICK: tuple[Family, ...] = (
    weighted,
    strict,
    rate_limits,
    smallest_frames,
)
