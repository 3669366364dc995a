"""Packets that are planned: a flow alone at its NIC port sends without an event of its own.

A flow that waits for its pace has an event when that allows its next packet, and the packet has
another at the far end. Between the two nobody can see whether it was sent, unless something happens
at the NIC. So the port plans it: when it will start is known, and when it will arrive. Only its
arrival is in the calendar; the packet is made then, at its time. Whatever happens at the NIC before
ends the plan: the packet is made if its time has come, else the flow waits for its pace. Nobody can
tell the difference, and a third of all events is saved.
"""

from labtests.network.compiled import compiled, inlined
from labtests.network.events import arrival_slot, schedule
from labtests.network.flows import pace_flow_by, pace_slot
from labtests.network.hosting import note_turn
from labtests.network.reliable import next_rc_packet, refresh
from labtests.network.rows import clock_at, flow_at, host_at, packet_at, port_at
from labtests.network.tables import ACTIVE, CONNECTX, NEVER, NONE, State
from labtests.network.wire import start_frame


@inlined
def keeps_its_rate(t: State, f: int, frame_bytes: int, until: int) -> bool:
    """Whether the rate of flow f stays as it is until then, one more frame included."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    if not flow.limited or host.form != CONNECTX or flow.next_increase < until:
        return False
    return bool(host.byte_reset == 0 or flow.byte_count + frame_bytes < host.byte_reset)


@inlined
def is_like(t: State, f: int) -> bool:
    """Whether the next packet of flow f is of the message of the last one, and not its end."""
    flow = flow_at(t, f)
    if flow.life != ACTIVE or flow.lost or flow.next_psn >= flow.window_psn:
        return False
    return bool(flow.next_psn < flow.last_psn and flow.next_psn + 1 != flow.total_psn)


@inlined
def can_plan(t: State, f: int, p: int, k: int) -> bool:
    """Whether all is known of the packet of flow f behind packet k, which starts on port p now."""
    port = port_at(t, p)
    flow = flow_at(t, f)
    packet = packet_at(t, k)
    if not port.plans or port.uneven or port.backlog | port.pfc_pending:
        return False
    if port_at(t, port.peer).stop_at != NEVER:
        return False
    under_way = packet.at - clock_at(t, 0).now
    if flow.send_at < packet.at or flow.gap_ps < under_way or not is_like(t, f):
        return False
    if flow.timeout_at == NEVER and not flow.read:
        return False
    return keeps_its_rate(t, f, packet.frame_bytes, flow.send_at + under_way)


@inlined
def plan_next(t: State, f: int, p: int, k: int) -> None:
    """Packet k of flow f starts on port p now; the flow's next one is planned, or waits."""
    if not can_plan(t, f, p, k):
        refresh(t, f)
        return
    clock = clock_at(t, 0)
    port = port_at(t, p)
    port.planned = f
    port.planned_at = flow_at(t, f).send_at + packet_at(t, k).at - clock.now
    clock.free_packets -= 1


@inlined
def go_on(t: State, f: int, p: int, k: int) -> None:
    """Packet k has started on port p at the pace of flow f. Of several flows at their paces each
    would end the other's plan."""
    port = port_at(t, p)
    if port.paced == f:
        plan_next(t, f, p, k)
    else:
        port.paced = f
        refresh(t, f)


@inlined
def send_planned(t: State, p: int) -> int:
    """The planned packet, alone on port p's wire; it is the time when it started."""
    clock = clock_at(t, 0)
    port = port_at(t, p)
    f = port.planned
    port.planned = NONE
    clock.free_packets += 1
    clock.now = flow_at(t, f).send_at
    k = next_rc_packet(t, f)
    note_turn(t, p, flow_at(t, f).lane & 7, k)
    start_frame(t, p, k)
    packet_at(t, k).next = NONE
    port.wire_head = k
    port.wire_tail = k
    return k


@inlined
def fulfil_plan(t: State, p: int) -> None:
    """The packet that port p has planned is at the far end now."""
    clock = clock_at(t, 0)
    now = clock.now
    f = port_at(t, p).planned
    k = send_planned(t, p)
    plan_next(t, f, p, k)
    clock.now = now


@compiled
def give_up_plan(t: State, p: int) -> None:
    """The packet that port p has planned was sent, or its flow waits for its pace."""
    clock = clock_at(t, 0)
    port = port_at(t, p)
    f = port.planned
    now = clock.now
    send_at = flow_at(t, f).send_at
    if send_at < now or (send_at == now and pace_slot(t, f) < clock.turn):
        send_planned(t, p)
        refresh(t, f)
        clock.now = now
        return
    port.planned = NONE
    clock.free_packets += 1
    if port.wire_head == NONE:
        schedule(t, arrival_slot(t, p), NEVER)
    pace_flow_by(t, f, send_at)


@inlined
def end_plan(t: State, p: int) -> None:
    """Something happens at port p: nothing is planned any more."""
    if port_at(t, p).planned != NONE:
        give_up_plan(t, p)


@compiled
def end_plans(t: State) -> None:
    """Somebody is going to look."""
    for p in range(clock_at(t, 0).ports):
        end_plan(t, p)
