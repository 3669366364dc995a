"""Which flows of a NIC may send now: a chain per priority, served in turn."""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.events import schedule, wake_by, wake_port
from labtests.simlab.network.tables import NONE, TRUST_DSCP, Tables


@compiled
def host_priority(t: Tables, host: int, dscp: int) -> int:
    """The priority that a NIC gives a packet: by DSCP, or 0 if it trusts the (absent) VLAN tag."""
    if t.host[host].trust == TRUST_DSCP:
        return t.host[host].dscp_map[dscp]
    return 0


@compiled
def make_ready(t: Tables, f: int) -> None:
    """Flow f waits for its turn at its NIC, and the NIC's port knows."""
    flow = t.flow[f]
    if flow.queued:
        return
    flow.queued = 1
    flow.next_ready = NONE
    p = t.host[flow.source].port
    i = host_priority(t, flow.source, flow.dscp)
    queue = t.queue[8 * p + i]
    if queue.ready_head == NONE:
        queue.ready_head = f
    else:
        t.flow[queue.ready_tail].next_ready = f
    queue.ready_tail = f
    t.port[p].backlog |= 1 << i
    wake_port(t, p)


@compiled
def take_ready(t: Tables, q: int) -> int:
    """The flow whose turn it is in NIC queue q, taken out."""
    queue = t.queue[q]
    f = queue.ready_head
    queue.ready_head = t.flow[f].next_ready
    t.flow[f].queued = 0
    if queue.head == NONE and queue.ready_head == NONE:
        t.port[q >> 3].backlog &= ~(1 << (q & 7))
    return f


@compiled
def flow_slot(t: Tables, f: int) -> int:
    """The calendar slot of flow f."""
    return 3 * t.clock[0].ports + f


@compiled
def wake_flow_by(t: Tables, f: int, time: int) -> None:
    """Flow f looks at its timers at `time` at the latest."""
    wake_by(t, flow_slot(t, f), time)


@compiled
def wake_flow_at(t: Tables, f: int, time: int) -> None:
    """Flow f looks at its timers at `time`."""
    schedule(t, flow_slot(t, f), time)
