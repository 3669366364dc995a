"""How long a flow would take if it were alone: what its slowdown is measured by.

Frames go through a chain of links, each wholly received before it is sent on, so frame k has left
link i at

    t(i, k) = max(t(i, k - 1), t(i - 1, k)) + L(k) / r(i)

and the last one is there with the propagation of all links; then the ACK comes back the same way. A
message ends with a frame of its own, as short as it must be. A chain in its stride takes each more
frame in the time of its slowest link, so no more than some thousands are looked at. Windows,
pacing, several queue pairs, tunnels and pauses are not in it; of several shortest paths the first
counts.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from labtests.network.cases.form import CaseFile, FlowPart, LinkPart
from labtests.network.cases.pauses import NS_PER_US
from labtests.network.notifying import ACK_FRAME_BYTES
from labtests.network.tables import MIN_FRAME_BYTES, TAG_BYTES
from labtests.network.wiring import NS_PER_M

MOST_FRAMES = 2048
"""So many of a flow, and of a message, are looked at one by one."""
FrameSizes = npt.NDArray[np.int64]
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
        there = last_arrival_us(hops, flow, flow.header_bytes + tag)
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


def last_arrival_us(hops: Sequence[Hop], flow: FlowPart, around: int) -> float:
    """When its last frame is there, without propagation; `around` bytes are round the payload."""
    whole, tail = divmod(flow.size_bytes or 0, flow.message_bytes)
    if tail == 0:
        whole, tail = whole - 1, flow.message_bytes
    kept = min(whole, max(2, MOST_FRAMES * flow.mtu_bytes // flow.message_bytes))
    each, left_out = _frames(flow.message_bytes, flow.mtu_bytes, around)
    last, more = _frames(tail, flow.mtu_bytes, around)
    sizes = np.concatenate([np.tile(each, kept), last])
    full = _frame(flow.mtu_bytes + around)
    slowest = max((full + extra) * per_byte for per_byte, _, extra in hops)
    message = max(((each + extra) * per_byte).sum() for per_byte, _, extra in hops)
    gone = (whole * left_out + more) * slowest + (whole - kept) * message
    return float(_through(hops, sizes) + gone)


def _frames(message_bytes: int, mtu_bytes: int, around: int) -> tuple[FrameSizes, int]:
    """The frames of a message, each at most so large, and how many full ones more it has."""
    full, rest = divmod(message_bytes - 1, mtu_bytes)
    kept = min(full, MOST_FRAMES)
    sizes = [_frame(mtu_bytes + around)] * kept + [_frame(rest + 1 + around)]
    return np.array(sizes, np.int64), full - kept


def _through(hops: Sequence[Hop], sizes: FrameSizes) -> float:
    """When the last of these frames has been received at the end of these links."""
    there = np.zeros(len(sizes))
    for per_byte, _, extra in hops:
        takes = (sizes + extra) * per_byte
        ahead = np.cumsum(takes) - takes
        there = np.maximum.accumulate(there - ahead) + ahead + takes
    return float(there[-1])
