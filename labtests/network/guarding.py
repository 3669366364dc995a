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
A pause timeout is coarser (DROP_PORT): all queues of the port are drained, and all that is bound
for it is dropped, until the first poll without a pause in force (a defect: and the quiet time
behind the last pause frame); what comes in is not; PFC stays on.
"""

from labtests.network.compiled import compiled, entered
from labtests.network.events import timer_slot, wake_by
from labtests.network.memory import is_dynamic, recount_lossy
from labtests.network.pausing import hold, paused_queue
from labtests.network.rows import (
    clock_at,
    guard_at,
    lane_at,
    packet_at,
    port_at,
    queue_at,
    switch_at,
)
from labtests.network.switching import SHUT_QUEUE_DROP, count_drop, take_from_switch
from labtests.network.tables import NONE, State

DROP, FORWARD, ALERT, DROP_PORT = 0, 1, 2, 3


@compiled
def is_held(t: State, p: int, i: int) -> bool:
    """Whether a pause of priority i is in force on port p."""
    lane = lane_at(t, 8 * p + i)
    return bool(lane.paused_since != NONE and lane.paused_until > clock_at(t, 0).now)


@compiled
def is_stuck(t: State, p: int, i: int) -> bool:
    """Whether priority i of port p has been kept from sending for the detection time."""
    head = queue_at(t, paused_queue(t, p, i)).head
    if head == NONE or not is_held(t, p, i):
        return False
    blocked_since = max(lane_at(t, 8 * p + i).paused_since, packet_at(t, head).at)
    return bool(clock_at(t, 0).now - blocked_since >= guard_at(t, 8 * p + i).detect_ps)


@compiled
def may_restore(t: State, p: int, i: int) -> bool:
    """Whether a shut priority has been without pauses, or shut, for long enough."""
    now = clock_at(t, 0).now
    guard = guard_at(t, 8 * p + i)
    if guard.action == DROP_PORT:
        return not is_held(t, p, i) and now - guard.pause_seen_at >= guard.quiet_ps
    if guard.quiet_ps and now - guard.pause_seen_at >= guard.quiet_ps:
        return True
    return bool(guard.fixed_ps and now - guard.shut_at >= guard.fixed_ps)


@compiled
def turn_pfc(t: State, p: int, i: int, sends: int, obeys: int) -> None:
    """Port p sends pauses of priority i (1) or not (0): so its group is lossless, or lossy; and it
    obeys them, or not."""
    port = port_at(t, p)
    port.pfc_on = port.pfc_on & ~(1 << i) | sends << i
    port.pfc_obeyed = port.pfc_obeyed & ~(1 << i) | obeys << i
    if is_dynamic(t, port.switch):
        for q in range(8 * clock_at(t, 0).ports):
            if port_at(t, q >> 3).switch == port.switch:
                recount_lossy(t, q)


@compiled
def stop_pfc(t: State, p: int, i: int) -> None:
    """Port p neither obeys nor sends pauses of priority i."""
    port, guard = port_at(t, p), guard_at(t, 8 * p + i)
    guard.sent_pauses = (port.pfc_on >> i) & 1
    guard.obeyed_pauses = (port.pfc_obeyed >> i) & 1
    turn_pfc(t, p, i, 0, 0)
    port.pfc_pending &= ~(1 << i)
    lane_at(t, 8 * p + i).xoff = 0
    hold(t, p, i, 0)


@compiled
def close_queue(t: State, p: int, i: int, q: int) -> None:
    """What egress queue q of port p holds, and what comes for it, is dropped for priority i."""
    guard_at(t, q).drops_egress = 8 * p + i + 1
    while queue_at(t, q).head != NONE:
        guard_at(t, 8 * p + i).drained += 1
        count_drop(t, q, take_from_switch(t, q), SHUT_QUEUE_DROP)


@compiled
def start_dropping(t: State, p: int, i: int) -> None:
    """The queue of priority i, or every queue of the port, is closed."""
    switch_at(t, port_at(t, p).switch).shut += 1
    if guard_at(t, 8 * p + i).action == DROP:
        guard_at(t, 8 * p + i).drops_ingress = 1
        close_queue(t, p, i, paused_queue(t, p, i))
    else:
        for q in range(8 * p, 8 * p + 8):
            close_queue(t, p, i, q)


@compiled
def stop_dropping(t: State, p: int, i: int) -> None:
    """What start_dropping did is over."""
    switch_at(t, port_at(t, p).switch).shut -= 1
    guard_at(t, 8 * p + i).drops_ingress = 0
    for q in range(8 * p, 8 * p + 8):
        if guard_at(t, q).drops_egress == 8 * p + i + 1:
            guard_at(t, q).drops_egress = 0


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
    if guard.action == DROP or guard.action == FORWARD:
        stop_pfc(t, p, i)
    if guard.action == DROP or guard.action == DROP_PORT:
        start_dropping(t, p, i)


@entered
def restore(t: State, p: int, i: int) -> None:
    """Priority i of port p, which was shut, works as before."""
    guard = guard_at(t, 8 * p + i)
    guard.shut = 0
    guard.restored_at = clock_at(t, 0).now
    guard.restored += 1
    if guard.action == DROP or guard.action == FORWARD:
        turn_pfc(t, p, i, guard.sent_pauses, guard.obeyed_pauses)
    if guard.action == DROP or guard.action == DROP_PORT:
        stop_dropping(t, p, i)


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


@entered
def watch_pauses(t: State, p: int) -> None:
    """Poll if that is due; see to it that port p's timer wakes for the next poll."""
    timer = guard_at(t, 8 * p)
    if timer.next_poll <= clock_at(t, 0).now:
        poll(t, p)
        timer.next_poll += timer.poll_ps
    wake_by(t, timer_slot(t, p), timer.next_poll)
