"""A port's timers: pauses to send again, to obey, and whose end a NIC waits for; storms, guards,
slow hosts."""

from labtests.network.compiled import compiled
from labtests.network.events import schedule, timer_slot, wake_by, wake_port
from labtests.network.guarding import watch_pauses
from labtests.network.hosting import take_in
from labtests.network.pause_frames import blow, refresh_pauses
from labtests.network.pausing import obey_waiting
from labtests.network.receiving import take_delivered
from labtests.network.rows import clock_at, control_at, port_at
from labtests.network.tables import NEVER, NONE, State


@compiled
def deliver_first(t: State, p: int) -> None:
    """The host takes in the packet that has come over from its NIC, or waits until it has."""
    control = control_at(t, p)
    if control.delivered_at <= clock_at(t, 0).now:
        take_in(t, take_delivered(t, p))
    else:
        wake_by(t, timer_slot(t, p), control.delivered_at)


@compiled
def wake_timers(t: State, p: int) -> None:
    """Something of port p may be due; each part sets its next time with wake_by."""
    schedule(t, timer_slot(t, p), NEVER)
    control = control_at(t, p)
    refresh_pauses(t, p)
    if control.waiting_head != NONE:
        obey_waiting(t, p)
    if control.storm:
        blow(t, p)
    if port_at(t, p).guard:
        watch_pauses(t, p)
    if port_at(t, p).host != NONE and port_at(t, p).backlog:
        wake_port(t, p)  # a pause that held it may be over: flows.make_ready
    if control.buffer_head != NONE:
        deliver_first(t, p)
