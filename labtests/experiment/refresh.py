"""How often switches refresh the counters that they show: measured, before anything rests on them.

Many switches read their hardware every 5 to 10 s and answer from memory in between. Two equal reads
that are closer together than that say nothing; so packets are sent one by one, and the counters of
the way are read after each, until they have been seen to change often enough.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from labtests import counters as c
from labtests.capabilities import QueueTelemetry
from labtests.evidence import LIVE, Refresh
from labtests.experiment.roles import Role, Roles
from labtests.facts import LiveCounters
from labtests.lab import Lab
from labtests.workloads import Party, send_marked

STEP_S = 0.25
CHANGES = 3
MOST_S = 100.0
"""Three refreshes of a switch that does it every 33 s."""
PROBE: tuple[tuple[int, int], ...] = ((0, 1),)
"""One packet of DSCP 0: the class of iperf3's own control connections and of ping."""


@dataclass(slots=True)
class _Seen:
    """When what a switch shows was seen to change, and how far apart the reads were."""

    ports: tuple[str, ...]
    last: int | None = None
    changed_s: list[float] = field(default_factory=list)
    step_s: float = 0.0

    def read(self, driver: QueueTelemetry, now_s: Callable[[], float]) -> None:
        asked_s = now_s()
        shown = sum(
            r.value or 0
            for port in self.ports
            for r in driver.queue_counters(port)
            if r.counter == c.QUEUE_FORWARDED_PACKETS
        )
        if self.last is not None and shown != self.last:
            self.changed_s.append(now_s())
        self.last = shown
        self.step_s = max(self.step_s, now_s() - asked_s)

    @property
    def known(self) -> bool:
        """Enough of them to tell a period."""
        return len(self.changed_s) >= CHANGES

    @property
    def period_s(self) -> float:
        """At most so long."""
        return max(b - a for a, b in pairwise(self.changed_s)) + self.step_s


def measure(lab: Lab, roles: Roles, progress: Callable[[str], None] = lambda _: None) -> Refresh:
    """The longest time for which a switch of the way showed the same while packets went through.
    A switch whose counters are those of the moment is not watched."""
    waiting = _to_be_watched(lab, roles)
    if not waiting:
        return LIVE
    progress(f"measuring how often {', '.join(waiting)} refreshes its counters")
    known: dict[str, _Seen] = {}
    end_s = lab.clock.now_s() + MOST_S
    while waiting and lab.clock.now_s() < end_s:
        lab.expect_lease()
        _send(lab, roles)
        for name, seen in waiting.items():
            seen.read(lab.driver(name, QueueTelemetry), lab.clock.now_s)
        known |= {name: seen for name, seen in waiting.items() if seen.known}
        waiting = {name: seen for name, seen in waiting.items() if not seen.known}
        lab.clock.sleep(STEP_S)
    if waiting:
        return Refresh(
            seconds=None,
            because=f"the forwarded packets that {', '.join(waiting)} shows changed less than "
            f"{CHANGES} times in {MOST_S:g} s in which packets were sent",
        )
    found_s = max(seen.period_s for seen in known.values())
    lab.clock.sleep(found_s)  # what was sent here is counted before anything begins
    return Refresh(seconds=found_s)


def _to_be_watched(lab: Lab, roles: Roles) -> dict[str, _Seen]:
    ends = [roles.bottleneck, *roles.transit]
    live, able = lab.able(LiveCounters), lab.able(QueueTelemetry)
    return {
        name: _Seen(tuple(dict.fromkeys(end.interface for end in ends if end.device == name)))
        for name in dict.fromkeys(end.device for end in ends)
        if name in able and not (name in live and live[name].counts_live())
    }


def _send(lab: Lab, roles: Roles) -> None:
    for role in roles.senders:
        send_marked(_party(lab, role), _party(lab, roles.receiver), PROBE)


def _party(lab: Lab, role: Role) -> Party:
    return Party(name=role.name, transport=lab.transports[role.name], address=role.address)
