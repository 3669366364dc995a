"""A port's timers: pauses to send again, pauses to obey, storms, guards."""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.events import schedule
from labtests.simlab.network.guarding import watch_pauses
from labtests.simlab.network.pause_frames import blow, refresh_pauses, timer_slot
from labtests.simlab.network.pausing import obey_waiting
from labtests.simlab.network.rows import control_at, port_at
from labtests.simlab.network.tables import NEVER, NONE, State


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
