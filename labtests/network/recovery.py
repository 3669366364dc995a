"""Loss recovery of RC: the seam between a queue pair (reliable.py) and what it does about a loss.

One file per algorithm: go_back_n.py, selective_repeat.py. The seam of congestion control is
congestion.py.
"""

from labtests.network.compiled import compiled, inlined
from labtests.network.go_back_n import complain, go_back
from labtests.network.rows import flow_at, host_at
from labtests.network.selective_repeat import (
    forget_lost,
    mark_lost,
    resend_all,
    store_early,
    take_lost,
)
from labtests.network.tables import SELECTIVE, State


@compiled
def meet_gap(t: State, f: int, psn: int) -> bool:
    """A packet later than the expected one has come. Whether the receiver has asked for one."""
    flow = flow_at(t, f)
    host_at(t, flow.target).out_of_sequence += 1
    if flow.recovery == SELECTIVE:
        return store_early(t, f, psn)
    return complain(t, f)


@compiled
def answer_nak(t: State, f: int, psn: int) -> None:
    """The source has been told that packet `psn` is missing."""
    flow = flow_at(t, f)
    source = host_at(t, flow.source)
    if flow.read:
        source.duplicate_request += 1
    else:
        source.packet_seq_err += 1
    if flow.recovery == SELECTIVE:
        mark_lost(t, f, psn)
    else:
        go_back(t, f, psn)


@inlined
def psn_to_send(t: State, f: int) -> int:
    """The packet that flow f sends next."""
    flow = flow_at(t, f)
    return take_lost(t, f) if flow.lost else int(flow.next_psn)


@inlined
def note_arrival(t: State, f: int, psn: int) -> None:
    """The source has learnt that everything below `psn` has arrived."""
    if flow_at(t, f).lost:
        forget_lost(t, f, psn)


@compiled
def start_again(t: State, f: int) -> None:
    """The retransmission timer has run out."""
    flow = flow_at(t, f)
    if flow.recovery == SELECTIVE:
        resend_all(t, f)
    else:
        flow.next_psn = flow.una_psn
