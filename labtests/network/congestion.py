"""Congestion control of RC: the seam between a queue pair (reliable.py, notifying.py) and what it
does about CNPs.

One file per algorithm: dcqcn.py (ConnectX), reaction.py (DCQCN as two ns-3 models have it). A flow
that is `limited` sends at its `rate`; an algorithm sets both.
"""

from labtests.network.compiled import compiled, inlined
from labtests.network.dcqcn import advance_timer, count_frame, obey_cnp
from labtests.network.reaction import count_sent, react, run_timers
from labtests.network.rows import clock_at, flow_at, host_at, port_at
from labtests.network.tables import CONNECTX, State

_BIT_PS_PER_S = 8e12


@compiled
def handle_cnp(t: State, f: int) -> None:
    """The reaction point of flow f has received a CNP."""
    if host_at(t, flow_at(t, f).source).form == CONNECTX:
        obey_cnp(t, f)
    else:
        react(t, f)


@inlined
def gap_ps(t: State, f: int, frame_bytes: int) -> int:
    """Time from the start of one frame to the start of the next at the flow's rate."""
    flow = flow_at(t, f)
    if flow.gap_bytes != frame_bytes or flow.gap_rate != flow.rate:
        overhead = port_at(t, host_at(t, flow.source).port).overhead_bytes
        flow.gap_ps = int((frame_bytes + overhead) * _BIT_PS_PER_S / flow.rate)
        flow.gap_bytes = frame_bytes
        flow.gap_rate = flow.rate
    return int(flow.gap_ps)


@inlined
def pace(t: State, f: int, frame_bytes: int) -> None:
    """A frame of flow f starts now: count its bytes and set when the next one may start."""
    flow = flow_at(t, f)
    if not flow.limited:
        flow.send_at = clock_at(t, 0).now
    elif host_at(t, flow.source).form == CONNECTX:
        count_frame(t, f, frame_bytes)
        gap = gap_ps(t, f, frame_bytes)
        flow.send_at = max(flow.send_at, clock_at(t, 0).now - gap) + gap
    else:
        run_timers(t, f)
        count_sent(t, f, frame_bytes)
        flow.send_at = clock_at(t, 0).now + gap_ps(t, f, frame_bytes)


@inlined
def hasten(t: State, f: int) -> None:
    """The rate may have grown while the flow waited: one gap from now is the longest wait."""
    flow = flow_at(t, f)
    if flow.limited and host_at(t, flow.source).form == CONNECTX:
        advance_timer(t, f)
        soonest = clock_at(t, 0).now + gap_ps(t, f, flow.frame_bytes)
        flow.send_at = min(flow.send_at, soonest)


@inlined
def next_look(t: State, f: int) -> int:
    """When a flow that has to wait may send, or may have a higher rate."""
    flow = flow_at(t, f)
    if flow.limited and host_at(t, flow.source).form == CONNECTX:
        return int(min(flow.send_at, flow.next_increase))
    return int(flow.send_at)
