"""Guards against endless pause: pause watchdogs, and detection of deadlocks.

A port's guard polls (software does; a chip's timer ticks likewise). At a poll, a priority whose
egress queue holds packets and was kept from sending by pauses, without a gap, for at least the
detection time is shut; so that happens between the detection time and one poll period later.

    shut      at the first poll  >= blocked since + detection time
    restored  at the first poll  >= last pause frame received + quiet time     (auto-restore)
              or the first poll  >= shut + fixed time                          (fixed-restore)

blocked since: when the pause began that still lasts, or the first packet in the queue arrived,
whichever is later. While a priority is shut, PFC is off for it on this port, both ways, and
- DROP: what its queue held is dropped (drained), so are packets bound for it (dropped), and what
  arrives at the port with this priority (ingress dropped);
- FORWARD: its queue is served in spite of pauses;
- ALERT: nothing but the counting; PFC stays on.
"""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.events import wake_by
from labtests.simlab.network.memory import is_dynamic, recount_lossy
from labtests.simlab.network.pausing import hold, paused_queue
from labtests.simlab.network.rows import (
    clock_at,
    guard_at,
    lane_at,
    packet_at,
    port_at,
    queue_at,
    switch_at,
)
from labtests.simlab.network.switching import SHUT_QUEUE_DROP, count_drop, take_from_switch
from labtests.simlab.network.tables import NONE, State

DROP, FORWARD, ALERT = 0, 1, 2


@compiled
def is_stuck(t: State, p: int, i: int) -> bool:
    """Whether priority i of port p has been kept from sending for the detection time."""
    now = clock_at(t, 0).now
    lane = lane_at(t, 8 * p + i)
    head = queue_at(t, paused_queue(t, p, i)).head
    if lane.paused_since == NONE or lane.paused_until <= now or head == NONE:
        return False
    blocked_since = max(lane.paused_since, packet_at(t, head).at)
    return bool(now - blocked_since >= guard_at(t, 8 * p + i).detect_ps)


@compiled
def may_restore(t: State, p: int, i: int) -> bool:
    """Whether a shut priority has been without pauses, or shut, for long enough."""
    now = clock_at(t, 0).now
    guard = guard_at(t, 8 * p + i)
    if guard.quiet_ps and now - guard.pause_seen_at >= guard.quiet_ps:
        return True
    return bool(guard.fixed_ps and now - guard.shut_at >= guard.fixed_ps)


@compiled
def turn_pfc(t: State, p: int, i: int, on: bool) -> None:
    """PFC of priority i works on port p, or not: so its group is lossless, or lossy."""
    port = port_at(t, p)
    port.pfc_on = port.pfc_on | 1 << i if on else port.pfc_on & ~(1 << i)
    if is_dynamic(t, port.switch):
        for q in range(8 * clock_at(t, 0).ports):
            if port_at(t, q >> 3).switch == port.switch:
                recount_lossy(t, q)


@compiled
def stop_pfc(t: State, p: int, i: int) -> None:
    """Port p neither obeys nor sends pauses of priority i."""
    turn_pfc(t, p, i, False)
    port_at(t, p).pfc_pending &= ~(1 << i)
    lane_at(t, 8 * p + i).xoff = 0
    hold(t, p, i, 0)


@compiled
def drain(t: State, p: int, i: int) -> None:
    """Everything in the egress queue of priority i is dropped."""
    q = paused_queue(t, p, i)
    while queue_at(t, q).head != NONE:
        guard_at(t, 8 * p + i).drained += 1
        count_drop(t, q, take_from_switch(t, q), SHUT_QUEUE_DROP)


@compiled
def shut(t: State, p: int, i: int) -> None:
    """The guard of port p acts on priority i."""
    guard = guard_at(t, 8 * p + i)
    guard.shut = 1
    guard.shut_at = clock_at(t, 0).now
    guard.shutdowns += 1
    guard.drained = 0
    guard.dropped = 0
    guard.ingress_dropped = 0
    if guard.action == ALERT:
        return
    stop_pfc(t, p, i)
    if guard.action == DROP:
        guard.drops_ingress = 1
        guard_at(t, paused_queue(t, p, i)).drops_egress = 8 * p + i + 1
        switch_at(t, port_at(t, p).switch).shut += 1
        drain(t, p, i)


@compiled
def restore(t: State, p: int, i: int) -> None:
    """Priority i of port p, which was shut, works as before."""
    guard = guard_at(t, 8 * p + i)
    guard.shut = 0
    guard.restored_at = clock_at(t, 0).now
    guard.restored += 1
    if guard.action == ALERT:
        return
    turn_pfc(t, p, i, True)
    if guard.action == DROP:
        guard.drops_ingress = 0
        for q in range(8 * p, 8 * p + 8):
            if guard_at(t, q).drops_egress == 8 * p + i + 1:
                guard_at(t, q).drops_egress = 0
        switch_at(t, port_at(t, p).switch).shut -= 1


@compiled
def poll(t: State, p: int) -> None:
    """The guard of port p looks at each priority it watches."""
    for i in range(8):
        if (port_at(t, p).guard >> i) & 1:
            if guard_at(t, 8 * p + i).shut:
                if may_restore(t, p, i):
                    restore(t, p, i)
            elif is_stuck(t, p, i):
                shut(t, p, i)


@compiled
def watch_pauses(t: State, p: int) -> None:
    """Poll if that is due; see to it that port p's timer wakes for the next poll."""
    timer = guard_at(t, 8 * p)
    if timer.next_poll <= clock_at(t, 0).now:
        poll(t, p)
        timer.next_poll += timer.poll_ps
    wake_by(t, 2 * clock_at(t, 0).ports + p, timer.next_poll)
