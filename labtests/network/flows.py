"""Which flows of a NIC may send now: a chain per priority, served in turn."""

from labtests.network.compiled import entered, inlined
from labtests.network.events import flow_slot, schedule, timer_slot, wake_by, wake_port
from labtests.network.rows import clock_at, flow_at, host_at, port_at, queue_at
from labtests.network.tables import NEVER, NONE, TRUST_DSCP, State


@inlined
def host_priority(t: State, host: int, dscp: int, pcp: int) -> int:
    """The priority that a NIC gives a packet: by its DSCP or by its tag, as the NIC trusts; 0 for
    one without a tag."""
    if host_at(t, host).trust == TRUST_DSCP:
        return int(host_at(t, host).dscp_map[dscp])
    return 0 if pcp == NONE else int(pcp)


@entered
def choose_lane(t: State, f: int) -> None:
    """The lane of its NIC in which flow f sends is that of its DSCP, or tag, now."""
    flow = flow_at(t, f)
    i = host_priority(t, flow.source, flow.dscp, flow.pcp)
    flow.lane = 8 * host_at(t, flow.source).port + i


@inlined
def make_ready(t: State, f: int) -> None:
    """Flow f waits for its turn at its NIC, and the NIC's port knows, if only that it is paused."""
    flow = flow_at(t, f)
    if flow.queued:
        return
    flow.queued = 1
    flow.next_ready = NONE
    queue = queue_at(t, flow.lane)
    if queue.ready_head == NONE:
        queue.ready_head = f
    else:
        flow_at(t, queue.ready_tail).next_ready = f
    queue.ready_tail = f
    port = port_at(t, flow.lane >> 3)
    port.backlog |= 1 << (flow.lane & 7)
    if queue.paused_until > clock_at(t, 0).now >= port.busy_until:
        wake_by(t, timer_slot(t, flow.lane >> 3), queue.paused_until)
    else:
        wake_port(t, flow.lane >> 3)


@inlined
def take_ready(t: State, q: int) -> int:
    """The flow whose turn it is in NIC queue q, taken out."""
    queue = queue_at(t, q)
    f = queue.ready_head
    queue.ready_head = flow_at(t, f).next_ready
    flow_at(t, f).queued = 0
    if queue.head == NONE and queue.ready_head == NONE:
        port_at(t, q >> 3).backlog &= ~(1 << (q & 7))
    return int(f)


@inlined
def pace_slot(t: State, f: int) -> int:
    """The calendar slot of flow f's pace."""
    return flow_slot(t, f) + 1


@inlined
def pace_flow_by(t: State, f: int, time: int) -> None:
    """Flow f may send at `time`, or looks again then."""
    wake_by(t, pace_slot(t, f), time)


@inlined
def wake_flow_by(t: State, f: int, time: int) -> None:
    """Flow f looks at its timers at `time` at the latest."""
    wake_by(t, flow_slot(t, f), time)


@entered
def unschedule_flow(t: State, f: int) -> None:
    """Flow f looks at its timers at no time, until it is woken."""
    schedule(t, flow_slot(t, f), NEVER)
