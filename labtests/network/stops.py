"""PFC frames that tell a NIC to stop and are no events, or to go on and are no packets.

A NIC that is told to stop does nothing then: the next time it looks for a frame to send, it finds
that it may not. So the port that sends such a frame keeps when it arrives (`stop_at`) and for which
priority (`stopped`), and the NIC is held, from that time on, when it looks, or when it is told to
go on. Nobody can tell the difference, and half of an incast's pauses need no event.

It is so where the frame names one priority for the longest time, which no earlier pause outlasts;
the NIC obeys at once (no frame waits for its response) and has no packet planned (planning.py; only
switches watch pauses); and on the wire no frame may be lost, and bytes last whole picoseconds. One
such frame is under way at a time. Its place in the pool of packets is kept for it: if it is still
under way when somebody is going to look, it is put on the wire as any other. Sent: pause_frames.py;
obeyed: pausing.py.

A frame that tells a NIC to go on is an event: the NIC may send then. But alone on its wire it is no
packet: `going` has its priority, and the wire's slot of the calendar its time. It becomes one when
another frame follows it, or somebody is going to look (wire.show_going).
"""

from labtests.network.compiled import compiled, inlined
from labtests.network.events import arrival_slot, schedule
from labtests.network.packets import frame_of
from labtests.network.pausing import obey_stop, obey_told
from labtests.network.rows import clock_at, packet_at, port_at
from labtests.network.tables import LONGEST_QUANTA, NEVER, NONE, State


@inlined
def hear_stop(t: State, p: int) -> None:
    """NIC port p looks for a frame to send: what has told it to stop before counts."""
    clock = clock_at(t, 0)
    wire = port_at(t, p).peer
    at = port_at(t, wire).stop_at
    if at <= clock.now and (at < clock.now or arrival_slot(t, wire) < clock.turn):
        obey_stop(t, p)


@inlined
def hear_going(t: State, p: int) -> None:
    """Port p's peer is told now that it may go on."""
    port = port_at(t, p)
    now = clock_at(t, 0).now
    i = port.going
    port.going = NONE
    if port.stop_at <= now:
        obey_stop(t, port.peer)
    obey_told(t, port.peer, i, now, 0)


@compiled
def thread(t: State, p: int, k: int) -> None:
    """Frame k is on port p's wire between those that arrive before and after it, a loud one."""
    port = port_at(t, p)
    packet = packet_at(t, k)
    before = NONE
    loud_before = NONE
    packet.next = port.wire_head
    packet.next_loud = port.loud_head
    while packet.next != NONE and packet_at(t, packet.next).at < packet.at:
        before = packet.next
        if before == packet.next_loud:
            loud_before = before
            packet.next_loud = packet_at(t, before).next_loud
        packet.next = packet_at(t, before).next
    if before == NONE:
        port.wire_head = k
    else:
        packet_at(t, before).next = k
    if packet.next == NONE:
        port.wire_tail = k
    if loud_before == NONE:
        port.loud_head = k
        schedule(t, arrival_slot(t, p), packet.at)
    else:
        packet_at(t, loud_before).next_loud = k
    if packet.next_loud == NONE:
        port.loud_tail = k


@compiled
def end_stop(t: State, p: int) -> None:
    """Somebody is going to look: the stop that port p has sent has arrived, or is a frame again."""
    port = port_at(t, p)
    if port.stop_at <= clock_at(t, 0).now:
        obey_stop(t, port.peer)
        return
    clock_at(t, 0).free_packets += 1
    k = frame_of(t, port.stopped, LONGEST_QUANTA)
    packet_at(t, k).at = port.stop_at
    port.stop_at = NEVER
    thread(t, p, k)
