"""Frames at the far ends of wires: received, each at its time, by NICs and switches."""

from labtests.network.compiled import compiled, entered, inlined
from labtests.network.events import arrival_slot, schedule, set_up
from labtests.network.hosting import receive_at_host
from labtests.network.impairments import is_damaged
from labtests.network.packets import free_packet
from labtests.network.pausing import receive_pause
from labtests.network.rows import clock_at, packet_at, port_at
from labtests.network.stops import end_stop
from labtests.network.switching import receive_at_switch
from labtests.network.tables import NEVER, NONE, PAUSE, State
from labtests.network.wire import show_going


@inlined
def receive(t: State, p: int, k: int) -> None:
    """Packet k, that port p has sent, is wholly at the far end."""
    peer = port_at(t, p).peer
    packet = packet_at(t, k)
    if port_at(t, peer).impaired and is_damaged(t, peer, k):
        return
    if packet.kind == PAUSE:
        receive_pause(t, peer, k)
    elif port_at(t, peer).host == NONE:
        receive_at_switch(t, peer, k)
    else:
        receive_at_host(t, peer, k)


@inlined
def take_over(t: State, p: int) -> None:
    """Every frame of port p that has arrived by now is received, at its time."""
    port = port_at(t, p)
    clock = clock_at(t, 0)
    now = clock.now
    while port.wire_head != NONE and packet_at(t, port.wire_head).at <= now:
        k = port.wire_head
        packet = packet_at(t, k)
        port.wire_head = packet.next
        if port.loud_head == k:
            port.loud_head = packet.next_loud
        clock.now = packet.at
        receive(t, p, k)
    clock.now = now


@compiled
def hand_over(t: State, p: int) -> None:
    """As take_over(), for all but the busiest."""
    take_over(t, p)


@inlined
def arrive(t: State, p: int) -> None:
    """The first frame on port p's wire that is not silent is at the far end."""
    port = port_at(t, p)
    k = port.wire_head
    if port.silence:
        take_over(t, p)
        following = port.loud_head
    else:
        following = port.wire_head = packet_at(t, k).next
    at = NEVER
    if following != NONE:
        at = packet_at(t, following).at
    elif port.planned != NONE:
        at = port.planned_at
    if at != NEVER:
        set_up(t, arrival_slot(t, p), at)
    if not port.silence:
        receive(t, p, k)


@compiled
def settle(t: State) -> None:
    """Silent frames that have arrived by now are received: somebody is going to look."""
    for p in range(clock_at(t, 0).ports):
        if port_at(t, p).going != NONE:
            show_going(t, p)
        if port_at(t, p).stop_at != NEVER:
            end_stop(t, p)
        if port_at(t, p).silence:
            hand_over(t, p)


@entered
def break_silence(t: State, p: int) -> None:
    """No frame on port p's wire is silent, now and from now on: some may be lost on it, or
    find no room at its end."""
    hand_over(t, p)
    port = port_at(t, p)
    port.silence = 0
    port.loud_head = NONE
    if port.wire_head != NONE:
        schedule(t, arrival_slot(t, p), packet_at(t, port.wire_head).at)


@compiled
def lose_wire(t: State, p: int) -> None:
    """What is on port p's wire is lost. From now on no frame on it is silent: receivers may expect
    other packets than those that were sent."""
    port = port_at(t, p)
    hand_over(t, p)
    while port.wire_head != NONE:
        k = port.wire_head
        port.wire_head = packet_at(t, k).next
        port.lost_on_wire += packet_at(t, k).kind != PAUSE
        free_packet(t, k)
    port.loud_head = NONE
    port.silence = 0
    schedule(t, arrival_slot(t, p), NEVER)
