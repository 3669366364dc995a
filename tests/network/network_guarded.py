"""A star whose port 0 is guarded, and host 0 pauses it."""

from network_star import Lab, Star

from labtests.network import (
    GuardCounters,
    RcFlow,
)
from labtests.network.pause_frames import frame_of
from labtests.network.pausing import receive_pause
from labtests.network.watchdog import Guard

MS = 1_000_000  # ns
XOFF, XON = 65535, 0
SWITCH_PORT_0 = 1  # row of the switch's port towards host 0
STORM_STARTS = 5 * MS


def pause(lab: Star, priority: int, quanta: int) -> None:
    """A PFC frame arrives from host 0."""
    state = lab.network.state
    receive_pause(state, SWITCH_PORT_0, frame_of(state, priority, quanta))


def storm(lab: Star, duration_ms: int, priority: int = 3) -> None:
    """Host 0 sends a pause of 2.6 ms or more every ms, and goes on sending data."""
    for _ in range(duration_ms):
        pause(lab, priority, XOFF)
        lab.run_ms(1)


def goodput_in_storm(lab: Star, flow: RcFlow, duration_ms: int) -> float:
    """Gbit/s of payload that arrives while host 0 goes on pausing."""
    before = flow.delivered_bytes
    storm(lab, duration_ms)
    return (flow.delivered_bytes - before) * 8 / duration_ms / 1e6


def release(lab: Star, priority: int = 3) -> None:
    pause(lab, priority, XON)


def guarded(lab: Lab, guard: Guard | None, seed: int = 1) -> Star:
    """Two senders at 25G into host 0, for so long that its queue is never empty."""
    made = lab(4, seed=seed, rate_bits_per_s=25 * 10**9).lossless(3, 4).without_dcqcn()
    made.switch.guards.set("p0", guard)
    made.rc(1, 3)
    made.rc(2, 3)
    made.run_ms(5)
    return made


def counted(lab: Star, priority: int = 3) -> GuardCounters:
    return lab.switch.guards.counters("p0")[priority]


def next_poll(time_ns: float, poll_ms: float, phase_ms: float) -> float:
    """The first time at or after `time_ns` at which a guard polls."""
    period, offset = poll_ms * MS, phase_ms * MS
    return offset - (offset - time_ns) // period * period
