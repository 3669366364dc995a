"""The event loop: ports start frames, frames arrive, timers run out, flows go on."""

from labtests.network.arrivals import arrive, lose_wire, settle
from labtests.network.compiled import compiled, entered, inlined
from labtests.network.events import next_slot, schedule, timer_slot, wake_by
from labtests.network.hosting import next_from_host, packet_at_once, wake_flow
from labtests.network.pause_frames import pause_frame
from labtests.network.pausing import forget_pauses, next_expiry
from labtests.network.planning import end_plan, end_plans, fulfil_plan, go_on
from labtests.network.rows import (
    clock_at,
    flow_at,
    host_at,
    port_at,
    queue_at,
)
from labtests.network.stops import hear_going, hear_stop
from labtests.network.switching import (
    LINK_DOWN_DROP,
    count_drop,
    next_from_switch,
    take_from_switch,
)
from labtests.network.tables import NEVER, NONE, State
from labtests.network.timers import wake_timers
from labtests.network.wire import transmit

SPARE_PACKETS = 64
"""An event makes at most this many packets: a read's first window of requests, and a few."""


@compiled
def wait(t: State, p: int) -> None:
    """Port p has nothing to start now: it looks again when a pause of it ends, or a rate allows it.
    At a NIC its timers see to the end of a pause (flows.make_ready): a pause that arrives when the
    last one ends makes one of two."""
    port = port_at(t, p)
    until = next_expiry(t, p) if port.up else NEVER
    if port.host != NONE and not port.limited:
        schedule(t, p, NEVER)
        wake_by(t, timer_slot(t, p), until)
    else:
        schedule(t, p, until)


@inlined
def next_frame(t: State, p: int) -> int:
    """The packet that port p, free now, sends next; NONE: it sleeps until something changes."""
    port = port_at(t, p)
    if port.pfc_pending and port.up:
        k = pause_frame(t, p)
    elif port.host == NONE:
        k = next_from_switch(t, p)
    else:
        hear_stop(t, p)
        k = next_from_host(t, p)
    if k == NONE:
        wait(t, p)
    return k


@inlined
def arrive_from(t: State, p: int) -> None:
    """A frame of port p is at the far end, be it the one that is planned."""
    port = port_at(t, p)
    end_plan(t, port.peer)
    if port.going != NONE:
        hear_going(t, p)
        return
    if port.wire_head == NONE:
        fulfil_plan(t, p)
    arrive(t, p)


@compiled
def wake_unplanned(t: State, f: int) -> None:
    """A timer of flow f is due; nothing is planned any more at the NICs of its ends."""
    end_plan(t, host_at(t, flow_at(t, f).source).port)
    end_plan(t, host_at(t, flow_at(t, f).target).port)
    wake_flow(t, f)


@inlined
def happen(t: State, slot: int) -> None:
    """What the slot stands for happens now."""
    ports = clock_at(t, 0).ports
    p = slot
    k = NONE
    paced = NONE
    if slot < ports:
        k = next_frame(t, p)
    elif slot < 2 * ports:
        arrive_from(t, slot - ports)
    elif slot < 3 * ports:
        end_plan(t, slot - 2 * ports)
        wake_timers(t, slot - 2 * ports)
    elif (slot - 3 * ports) & 1:
        paced = (slot - 3 * ports) >> 1
        p = flow_at(t, paced).lane >> 3
        end_plan(t, p)
        hear_stop(t, p)
        k = packet_at_once(t, paced)
    else:
        wake_unplanned(t, (slot - 3 * ports) >> 1)
    if k != NONE:
        transmit(t, p, k)
        if paced != NONE:
            go_on(t, paced, p, k)


@entered
def advance(t: State, until: int) -> bool:
    """Everything up to `until` ps has happened; False: it stopped early for want of packets."""
    clock = clock_at(t, 0)
    while clock.free_packets > SPARE_PACKETS:
        slot = clock.due  # the slot of port p is p
        clock.due = NONE
        if slot == NONE:
            slot = next_slot(t, until)
        if slot == NONE:
            clock.now = until
            clock.turn = NEVER
            end_plans(t)
            settle(t)
            return True
        happen(t, slot)
    return False


@entered
def cut_port(t: State, p: int) -> None:
    """Port p's link is down: what is on its wire, or queued in a switch for it, is lost."""
    port = port_at(t, p)
    port.up = 0
    lose_wire(t, p)
    forget_pauses(t, p)
    for i in range(8):
        while port.host == NONE and queue_at(t, 8 * p + i).head != NONE:
            k = take_from_switch(t, 8 * p + i)
            count_drop(t, 8 * p + i, k, LINK_DOWN_DROP)
