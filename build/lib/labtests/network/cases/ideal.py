"""How long a flow would take if it were alone: what its slowdown is measured by.

Frames go through a chain of links, each wholly received before it is sent on. Of n frames, all of F
bytes on the wire but the last of L <= F, the last one is there after

    max over q of   sum over links i <= q of F / r_i
                  + (n - 2) F / (slowest r_i of those)
                  + sum over links i >= q of L / r_i          (n = 1: the sum of L / r_i)

and the propagation of all links; then the ACK comes back the same way. Windows, pacing, tunnels and
pauses are not in it; of several shortest paths the first counts.
"""

from collections import deque

from labtests.network.cases.form import CaseFile, FlowPart, LinkPart
from labtests.network.cases.pauses import NS_PER_US
from labtests.network.notifying import ACK_FRAME_BYTES
from labtests.network.tables import MIN_FRAME_BYTES, TAG_BYTES
from labtests.network.wiring import NS_PER_M

Hop = tuple[float, float, int]
"""Of a link: us a byte takes, us one way, preamble and gap in bytes."""


class IdealTimes:
    """Times of flows alone in the network of a case."""

    def __init__(self, case: CaseFile) -> None:
        self._beside: dict[str, list[tuple[str, LinkPart]]] = {}
        for link in case.links:
            for one, other in (link.between, link.between[::-1]):
                self._beside.setdefault(one, []).append((other, link))
        self._hops: dict[tuple[str, str], list[Hop]] = {}

    def of(self, flow: FlowPart) -> float | None:
        """In us, until its last ACK is back; None for one that does not end by size."""
        if flow.kind != "rc" or flow.size_bytes is None or flow.verb == "read":
            return None
        ends = flow.source, flow.target
        if ends not in self._hops:
            self._hops[ends] = self._path(*ends)
        hops = self._hops[ends]
        tag = 0 if flow.pcp is None else TAG_BYTES
        packets, last = _packets(flow)
        full = _frame(flow.mtu_bytes + flow.header_bytes + tag)
        there = _last_arrival_us(hops, packets, full, _frame(last + flow.header_bytes + tag))
        ack = _frame(ACK_FRAME_BYTES + tag)
        back = sum((ack + extra) * per_byte for per_byte, _, extra in hops)
        return there + back + 2 * sum(delay for _, delay, _ in hops)

    def _path(self, source: str, target: str) -> list[Hop]:
        """The links of a shortest path."""
        came: dict[str, tuple[str, LinkPart] | None] = {source: None}
        frontier = deque([source])
        while frontier and target not in came:
            name = frontier.popleft()
            for other, link in self._beside.get(name, ()):
                if other not in came:
                    came[other] = name, link
                    frontier.append(other)
        hops, at = [], came.get(target)
        while at is not None:
            name, link = at
            hops.append(_hop(link))
            at = came[name]
        return hops[::-1]


def _hop(link: LinkPart) -> Hop:
    delay_us = link.delay_us
    if link.length_m is not None:
        delay_us = link.length_m * NS_PER_M / NS_PER_US
    return 8 / (link.rate_gbit_per_s * 1000), delay_us or 0.0, link.overhead_bytes


def _frame(frame_bytes: int) -> int:
    return max(MIN_FRAME_BYTES, frame_bytes)


def _packets(flow: FlowPart) -> tuple[int, int]:
    """How many, and the payload of the last one; each message ends with a packet of its own."""
    whole, tail = divmod(flow.size_bytes or 0, flow.message_bytes)
    each = -(-flow.message_bytes // flow.mtu_bytes)
    if tail == 0:
        whole, tail = whole - 1, flow.message_bytes
    rest = -(-tail // flow.mtu_bytes)
    return whole * each + rest, tail - (rest - 1) * flow.mtu_bytes


def _last_arrival_us(hops: list[Hop], packets: int, full: int, last: int) -> float:
    of_full = [(full + extra) * per_byte for per_byte, _, extra in hops]
    of_last = [(last + extra) * per_byte for per_byte, _, extra in hops]
    if packets == 1:
        return sum(of_last)
    return max(
        sum(of_full[: q + 1]) + (packets - 2) * max(of_full[: q + 1]) + sum(of_last[q:])
        for q in range(len(hops))
    )
