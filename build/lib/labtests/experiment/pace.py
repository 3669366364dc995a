"""How long the parts of a phase take, in seconds of the lab's clock (docs/pace.md)."""

from dataclasses import dataclass, replace

from labtests.capabilities.device import QueueTelemetry
from labtests.capabilities.facts import LiveCounters
from labtests.measure.telemetry import DriverSource

SAMPLES_AT_MOST = 60
"""In one phase: a report of an hour of traffic is still a page that a browser opens."""

MINUTE_S = 60.0
"""The longest time between two samples of a load of hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """How long something takes, in seconds of the lab's clock, without what commands and the starts
    of tools take. `most_s`: with counters that never settle."""

    least_s: float
    most_s: float

    def __add__(self, other: "Span") -> "Span":
        return Span(least_s=self.least_s + other.least_s, most_s=self.most_s + other.most_s)

    def __mul__(self, times: int) -> "Span":
        return Span(least_s=self.least_s * times, most_s=self.most_s * times)


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
    late_s: tuple[float, ...]  # one after the other, while counters do not add up

    @property
    def settling(self) -> Span:
        """Two equal reads, or the deadline and the step after it."""
        most_s = self.settle_deadline_s + self.settle_step_s
        return Span(least_s=self.settle_step_s, most_s=most_s)

    @property
    def phase(self) -> Span:
        """One phase from its quiet window to settled counters."""
        known_s = self.quiet_s + self.lab_seconds
        late = Span(least_s=0.0, most_s=sum(self.late_s))
        return Span(least_s=known_s, most_s=known_s) + self.settling + late

    def lasting(self, lab_seconds: float) -> "Pace":
        """The same proportions over another duration (at least two report rows alone, and not more
        than SAMPLES_AT_MOST)."""
        share = self.stagger_s / self.lab_seconds
        return replace(
            self,
            lab_seconds=lab_seconds,
            stagger_s=max(2.0 * self.row_every_s, round(share * lab_seconds)),
            sample_every_s=max(self.sample_every_s, lab_seconds / SAMPLES_AT_MOST),
        )


_LATE_S = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Buffer drops of SONiC are refreshed every 60 s."""

HARDWARE = Pace(
    lab_seconds=20.0,
    stagger_s=8.0,
    quiet_s=5.0,
    sample_every_s=2.0,
    row_every_s=1,
    load_s=8,
    settle_step_s=10.0,
    settle_deadline_s=60.0,
    late_s=_LATE_S,
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
    late_s=_LATE_S,
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
    late_s=(),
)
"""Of a switch whose counters are those of the moment in which it answers."""


def real_pace(devices: DriverSource | None) -> Pace:
    """HARDWARE, until it is known that every switch of the lab counts live."""
    switches = {} if devices is None else devices.able(QueueTelemetry)
    live = {} if devices is None else devices.able(LiveCounters)
    known = [name in live and live[name].counts_live() for name in switches]
    return LIVE if known and all(known) else HARDWARE
