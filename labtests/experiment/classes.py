"""Sending counted packets of every DSCP, and what the bottleneck's queues counted meanwhile."""

from collections.abc import Callable
from dataclasses import dataclass

from labtests import counters as c
from labtests.evidence import Evidence
from labtests.experiment.pace import Pace, Span
from labtests.experiment.phase import PhaseRecord, place
from labtests.experiment.roles import Role, Roles
from labtests.lab import Lab
from labtests.telemetry import Telemetry, Watch
from labtests.verdicts import undisturbed
from labtests.workloads import Party, send_marked

PER_ROUND = 8
TRIES = 3
"""Of a round in which somebody else's packets (ARP above all) were counted too."""

ROUNDS = tuple(
    tuple((first + 8 * n << 2, 1 << n) for n in range(PER_ROUND)) for first in range(PER_ROUND)
)
"""(TOS byte, packets): in each round one DSCP of every group of eight, 1 to 128 packets of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRounds:
    """Eight rounds from the first sender to the receiver, all 64 DSCPs together."""

    lab: Lab
    roles: Roles
    pace: Pace
    queues: tuple[int, ...]  # the bottleneck's map
    progress: Callable[[str], None]

    @property
    def span(self) -> Span:
        """How long all rounds take; at most, with each tried as often as can be."""
        once = self.pace.settling
        return Span(least_s=once.least_s, most_s=TRIES * once.most_s) * len(ROUNDS)

    def run(self) -> tuple[tuple[PhaseRecord, ...], ...]:
        """Round by round, each with the tries that were disturbed first."""
        return tuple(self._round(number) for number in range(len(ROUNDS)))

    def _round(self, number: int) -> tuple[PhaseRecord, ...]:
        records: list[PhaseRecord] = []
        while len(records) < TRIES and not (records and undisturbed(records[-1].evidence)):
            again = f", again ({len(records)})" if records else ""
            records.append(self._once(number, f"round {number + 1} of {len(ROUNDS)}{again}"))
        return tuple(records)

    def _once(self, number: int, name: str) -> PhaseRecord:
        self.lab.expect_lease()
        self.progress(f"experiment {name!r}: {2**PER_ROUND - 1} packets of {PER_ROUND} DSCPs")
        clock, telemetry = self.lab.clock, Telemetry(self.lab, self.lab.clock)
        at = self.roles.bottleneck
        watch = Watch(ports={at.device: (at.interface,)}, bottleneck=(at.device, at.interface))
        sender, receiver = self.roles.senders[0], self.roles.receiver
        before = telemetry.snapshot(watch)
        started_s = clock.now_s()
        flows = send_marked(self._party(sender), self._party(receiver), ROUNDS[number])
        ended_s = clock.now_s()
        keys = frozenset(r.key for r in before if r.counter == c.QUEUE_FORWARDED_PACKETS)
        after, settled = telemetry.settled(
            watch, keys, step_s=self.pace.settle_step_s, deadline_s=self.pace.settle_deadline_s
        )
        evidence = Evidence(
            name=name,
            kind="experiment",
            backend=self.lab.backend,
            start_s=started_s,
            end_s=ended_s,
            line_bits_per_s=self.roles.line_bits_per_s,
            senders=tuple(place(sender, None, self.queues[tos >> 2]) for tos, _ in ROUNDS[number]),
            receiver=place(receiver, None, 0),
            flows=flows,
            before=before,
            after=after,
            settled=settled,
        )
        return PhaseRecord(evidence=evidence)

    def _party(self, role: Role) -> Party:
        transport = self.lab.transports[role.name]
        return Party(name=role.name, transport=transport, address=role.address)
