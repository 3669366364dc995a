"""How often devices refresh the counters that they show: measured, before anything rests on them.

Many switches read their hardware every 5 to 10 s and answer from memory in between; so may a NIC.
Two equal reads that are closer together than that say nothing; so packets are sent one by one, and
the counters of the way are read after each, until they have been seen to change often enough. After
each phase one packet more says whether that still holds: it may have become slower meanwhile.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from labtests.capabilities import counters as c
from labtests.capabilities.device import NicTelemetry, QueueTelemetry
from labtests.capabilities.facts import LiveCounters
from labtests.capabilities.readings import Reading
from labtests.experiment.roles import Role, Roles, ways_out
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab
from labtests.measure.evidence import LIVE, Refresh
from labtests.transport.asking import side_by_side
from labtests.workloads import Party, send_marked

STEP_S = 0.25
CHANGES = 3
MOST_S = 100.0
"""Three refreshes of a switch that does it every 33 s."""
TRIES = 5
"""Of packets that may take other ways each time."""
PACKETS = frozenset({c.QUEUE_FORWARDED_PACKETS, c.TX_PACKETS, c.RX_PACKETS})
PROBE: tuple[tuple[int, int], ...] = ((0, 1),)
"""One packet of DSCP 0: the class of iperf3's own control connections and of ping."""


@dataclass(slots=True)
class _RefreshReading:
    """When what a device shows was seen to change, and how far apart the reads were."""

    counters: Callable[[], Iterable[Reading]]
    prompt: bool  # until a packet is not seen at once: a host's kernel counts as it goes
    last: int | None = None
    changed_s: list[float] = field(default_factory=list)
    step_s: float = 0.0

    def read(self, now_s: Callable[[], float]) -> None:
        asked_s = now_s()
        shown = sum(r.value or 0 for r in self.counters() if r.counter in PACKETS)
        if self.last is not None and shown != self.last:
            self.changed_s.append(now_s())
        elif self.last is not None:
            self.prompt = False
        self.last = shown
        self.step_s = max(self.step_s, now_s() - asked_s)

    @property
    def known(self) -> bool:
        """Enough of them to tell a period."""
        return len(self.changed_s) >= CHANGES

    @property
    def period_s(self) -> float:
        """At most so long."""
        if self.prompt:
            return 0.0
        return max(b - a for a, b in pairwise(self.changed_s)) + self.step_s


def measure(lab: Lab, roles: Roles, progress: Callable[[str], None] = lambda _: None) -> Refresh:
    """The longest time for which a device of the way showed the same while packets went through.
    One whose counters are those of the moment is not watched."""
    waiting = _to_be_watched(lab, roles)
    if not waiting:
        return LIVE
    progress(f"measuring the counter refresh interval of {', '.join(waiting)}")
    known: dict[str, _RefreshReading] = {}
    end_s = lab.clock.now_s() + MOST_S
    while waiting and lab.clock.now_s() < end_s:
        lab.expect_lease()
        _send(lab, roles)
        for seen in waiting.values():
            seen.read(lab.clock.now_s)
        known |= {name: seen for name, seen in waiting.items() if seen.known}
        waiting = {name: seen for name, seen in waiting.items() if not seen.known}
        lab.clock.sleep(STEP_S)
    if waiting:
        return Refresh(
            seconds=None,
            because=f"the packets that {', '.join(waiting)} shows changed less than {CHANGES} "
            f"times in {MOST_S:g} s in which packets were sent",
        )
    found_s = max(seen.period_s for seen in known.values())
    if not found_s:
        return LIVE
    lab.clock.sleep(found_s)  # what was sent here is counted before anything begins
    return Refresh(seconds=found_s)


def still(lab: Lab, roles: Roles, refresh: Refresh) -> Refresh:
    """The same, if each device showed one packet more within that time; else not known. Where there
    are several equally short ways, packets are sent a few times: all may go by one of them."""
    watched = _to_be_watched(lab, roles)
    for seen in watched.values():
        seen.read(lab.clock.now_s)
    for _ in range(TRIES if ways_out(lab.testbed, roles) else 1):
        _send(lab, roles)
        lab.clock.sleep((refresh.seconds or 0.0) + STEP_S)
        for seen in watched.values():
            seen.read(lab.clock.now_s)
        stale = [name for name, seen in watched.items() if not seen.changed_s]
        if not stale:
            return refresh
    return Refresh(
        seconds=None,
        because=f"{', '.join(stale)} had not counted a packet {refresh.seconds or 0.0:.3g} s after "
        "it was sent, though before the phase it had",
    )


def _to_be_watched(lab: Lab, roles: Roles) -> dict[str, _RefreshReading]:
    live, queues = lab.able(LiveCounters), lab.able(QueueTelemetry)
    nics = lab.able(NicTelemetry)
    ends = [roles.bottleneck, *roles.transit, *(role.nic for role in roles.senders)]
    ports: dict[str, list[Endpoint]] = {}
    for end in (*ends, *roles.behind, roles.receiver.nic):
        if not (end.device in live and live[end.device].counts_live()):
            ports.setdefault(end.device, []).append(end)
    reads = {name: queues[name].queue_counters for name in ports if name in queues}
    reads |= {name: nics[name].nic_counters for name in ports if name in nics}

    def of_ports(name: str) -> tuple[Reading, ...]:
        interfaces = dict.fromkeys(end.interface for end in ports[name])
        each = lab.ask(name, side_by_side([reads[name](port) for port in interfaces]))
        return tuple(reading for readings in each for reading in readings)

    return {name: _RefreshReading(partial(of_ports, name), prompt=name in nics) for name in reads}


def _send(lab: Lab, roles: Roles) -> None:
    for role in roles.senders:
        if role == roles.receiver:  # in a ring everybody sends
            continue
        send_marked(_party(lab, role), _party(lab, roles.receiver), PROBE)


def _party(lab: Lab, role: Role) -> Party:
    return Party(name=role.name, transport=lab.transports[role.name], address=role.address)
