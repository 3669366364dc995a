"""How long the parts of a phase take, in seconds of the lab's clock."""

from dataclasses import dataclass, replace

from labtests.capabilities import QueueTelemetry
from labtests.facts import LiveCounters
from labtests.telemetry import Devices


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Durations of one phase. A switch that refreshes its counters every few seconds (5 to 10 s is
    common) needs `settle_step_s` above that, or two equal reads prove nothing."""

    lab_seconds: float  # from the first sender's start to the end of all
    stagger_s: float  # how long the first sender is alone
    quiet_s: float
    sample_every_s: float
    row_every_s: int  # perftest's report interval; iperf3's too
    load_s: int  # a load in which all start together
    settle_step_s: float
    settle_deadline_s: float

    def lasting(self, lab_seconds: float) -> "Pace":
        """The same proportions over another duration (at least two report rows alone)."""
        share = self.stagger_s / self.lab_seconds
        stagger_s = max(2.0 * self.row_every_s, round(share * lab_seconds))
        return replace(self, lab_seconds=lab_seconds, stagger_s=stagger_s)


HARDWARE = Pace(
    lab_seconds=20.0,
    stagger_s=8.0,
    quiet_s=5.0,
    sample_every_s=2.0,
    row_every_s=1,
    load_s=8,
    settle_step_s=10.0,
    settle_deadline_s=60.0,
)
SIMULATED = Pace(
    lab_seconds=5.0,
    stagger_s=2.0,
    quiet_s=0.5,
    sample_every_s=0.5,
    row_every_s=1,
    load_s=1,
    settle_step_s=0.2,
    settle_deadline_s=3.0,
)
LIVE = Pace(
    lab_seconds=10.0,
    stagger_s=4.0,
    quiet_s=1.0,
    sample_every_s=1.0,
    row_every_s=1,
    load_s=4,
    settle_step_s=0.5,
    settle_deadline_s=15.0,
)
"""Of a switch whose counters are those of the moment in which it answers."""


def real_pace(devices: Devices | None) -> Pace:
    """HARDWARE, until it is known that every switch of the lab counts live."""
    switches = {} if devices is None else devices.able(QueueTelemetry)
    live = {} if devices is None else devices.able(LiveCounters)
    known = [name in live and live[name].counts_live() for name in switches]
    return LIVE if known and all(known) else HARDWARE
