"""Go-back-N: a receiver takes packets in their order only, and a sender starts again at the first
that is missing (InfiniBand specification 9.7). Go-back-0: at the first of its message."""

from labtests.network.compiled import compiled
from labtests.network.notifying import send_control
from labtests.network.rows import clock_at, flow_at, host_at
from labtests.network.tables import RC_NAK, State


@compiled
def complain(t: State, f: int) -> bool:
    """A packet is missing: say so once, and again after the repeat time. Whether it was said."""
    flow = flow_at(t, f)
    now = clock_at(t, 0).now
    if flow.nak_sent and now - flow.nak_at < flow.nak_repeat_ps:
        return False
    flow.nak_sent = 1
    flow.nak_at = now
    if flow.whole_messages:
        flow.expected_psn -= flow.expected_psn % flow.packets_per_message
    if flow.read:
        host_at(t, flow.target).implied_nak += 1
    send_control(t, f, RC_NAK, flow.expected_psn)
    return True


@compiled
def go_back(t: State, f: int, psn: int) -> None:
    """The source starts again at `psn`."""
    flow = flow_at(t, f)
    if psn >= flow.una_psn:
        flow.next_psn = psn
