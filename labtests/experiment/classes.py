"""Sending counted packets of every DSCP, and what the bottleneck's queues counted meanwhile.

The first sender sends all 64, a few at a time. Which queue a packet gets may be decided where it
comes in, so every other sender sends all of them, too: in one round, each in another number.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from labtests.capabilities import counters as c
from labtests.capabilities.settings import DSCP_MAP
from labtests.core.errors import LabError
from labtests.experiment.crossings import Queues, crossings
from labtests.experiment.pace import Pace, Span
from labtests.experiment.phase import PhaseRecord, in_words, place, settling
from labtests.experiment.roles import Role, Roles
from labtests.experiment.settings import set_by_others, settings_seen
from labtests.lab.lab import Lab
from labtests.measure.evidence import LIVE, Crossing, Evidence, Refresh
from labtests.measure.telemetry import Telemetry, Watch
from labtests.verdicts import undisturbed
from labtests.workloads import Party, send_marked

PER_ROUND = 8
SPACINGS = (1, 4, 16)
"""Of a round in which somebody else's packets (ARP, LLDP, STP) were counted too, another try sends
each packet so many times: what a queue counted beside whole multiples is not ours."""
TRIES = len(SPACINGS)

ROUNDS = tuple(
    tuple((first + 8 * n << 2, 1 << n) for n in range(PER_ROUND)) for first in range(PER_ROUND)
)
"""(TOS byte, packets): in each round one DSCP of every group of eight, 1 to 128 packets of it."""
EVERY = tuple((dscp << 2, pow(2, dscp, 67)) for dscp in range(64))
"""All of them in one round, no two in the same number, 1 to 66 (2 is a primitive root of 67), and
in no order: of DSCPs that change places together, as maps have them, the sums are not the same."""

Counts = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRounds:
    """Eight rounds from the first sender to the receiver, one of all DSCPs from every other one.
    `in_one`: from the first one, too. Where all have one DSCP behind the port that they come in by
    (`outer_dscp` of the roles), the NIC at the end tells, too, in which class they came."""

    lab: Lab
    roles: Roles
    pace: Pace
    queues: tuple[int, ...]  # the bottleneck's map
    progress: Callable[[str], None]
    refresh: Refresh = LIVE
    in_one: bool = False

    @property
    def span(self) -> Span:
        """How long all rounds take; at most, with each tried as often as can be."""
        once = self.pace.settling
        return Span(least_s=once.least_s, most_s=TRIES * once.most_s) * len(self.rounds)

    @property
    def rounds(self) -> tuple[tuple[Role, Counts], ...]:
        """Who sends what, one after the other."""
        first, *others = self.roles.senders
        coded = (EVERY,) if self.in_one else ROUNDS
        return (*((first, counts) for counts in coded), *((role, EVERY) for role in others))

    def run(self) -> tuple[tuple[PhaseRecord, ...], ...]:
        """Round by round, each with the tries that were disturbed first."""
        rounds, seen = self.rounds, settings_seen(self.lab, self.roles)
        maps = seen.queues
        self._expect_one_map(maps)
        before_it = set_by_others(self.lab, seen)
        found = tuple(
            self._round(f"round {number} of {len(rounds)}, {sender.name}", sender, counts, maps)
            for number, (sender, counts) in enumerate(rounds, start=1)
        )
        now = settings_seen(self.lab, self.roles, after=True)
        changed = before_it + now.changed_since(seen)
        return tuple(tuple(_with(each, changed) for each in tries) for tries in found)

    def _expect_one_map(self, maps: Queues) -> None:
        """Of the switch with the bottleneck, where maps can be set: they are of the port that a
        packet comes in by, and what is judged is the bottleneck's. Raises LabError."""
        at = self.roles.bottleneck
        for entry in (role.switch for role in self.roles.senders if at in maps):
            pairs = enumerate(zip(maps.get(entry, maps[at]), maps[at], strict=True))
            odd = next(((n, *both) for n, both in pairs if len(set(both)) > 1), None)
            if odd and entry.device == at.device and self.lab.has(at.device, DSCP_MAP):
                raise LabError(
                    f"{entry} puts DSCP {odd[0]} into queue {odd[1]}, and {at} into {odd[2]}\n"
                    "  remedy: give all ports of this switch that the testbed names one DSCP map"
                )

    def _round(
        self, name: str, sender: Role, counts: Counts, maps: Queues
    ) -> tuple[PhaseRecord, ...]:
        records: list[PhaseRecord] = []
        for spacing in SPACINGS:
            spaced = tuple((tos, spacing * count) for tos, count in counts)
            again = f", again ({len(records)})" if records else ""
            records.append(self._once(name + again, sender, spaced, maps))
            if undisturbed(records[-1].evidence):
                break
        return tuple(records)

    def _once(self, name: str, sender: Role, counts: Counts, maps: Queues) -> PhaseRecord:
        self.lab.expect_lease()
        total = sum(count for _, count in counts)
        self.progress(f"experiment {name!r}: {total} packets of {len(counts)} DSCPs")
        clock, telemetry = self.lab.clock, Telemetry(self.lab, self.lab.clock)
        at = self.roles.bottleneck
        passed = self._passed(sender, [tos for tos, _ in counts], maps)
        ports: dict[str, tuple[str, ...]] = {at.device: (at.interface,)}
        for device, port in (each.port for each in passed):
            ports[device] = (*ports.get(device, ()), port)
        watch = Watch(ports=ports, bottleneck=(at.device, at.interface))
        receiver = self.roles.receiver
        before = telemetry.snapshot(watch)
        started_s = clock.now_s()
        flows = send_marked(self._party(sender), self._party(receiver), counts)
        ended_s = clock.now_s()
        keys = frozenset(
            r.key
            for r in before
            if r.counter == c.QUEUE_FORWARDED_PACKETS
            or (r.counter, r.scope) == (c.RX_PACKETS, "priority")
        )
        step_s, deadline_s = settling(self.pace, self.refresh)
        after, moving = telemetry.settled(watch, keys, step_s=step_s, deadline_s=deadline_s)
        evidence = Evidence(
            name=name,
            kind="experiment",
            backend=self.lab.backend,
            start_s=started_s,
            end_s=ended_s,
            line_bits_per_s=self.roles.line_bits_per_s,
            senders=tuple(place(sender, None, self.queues[tos >> 2]) for tos, _ in counts),
            receiver=place(receiver, None, 0),
            crossings=passed,
            flows=flows,
            before=before,
            after=after,
            settled=not moving,
            restless=in_words(moving),
            refresh=self.refresh,
        )
        return PhaseRecord(evidence=evidence)

    def _passed(self, sender: Role, toses: list[int], maps: Queues) -> tuple[Crossing, ...]:
        """Ports between switches, and the NIC that all is for."""
        found = crossings(self.roles, maps, [(sender, tos) for tos in toses])
        nic, dscp = self.roles.receiver.nic, self.roles.outer_dscp
        if dscp is None:
            return found
        classes = dict.fromkeys(range(len(toses)), maps[nic][dscp])
        return (*found, Crossing(port=(nic.device, nic.interface), queues=classes))

    def _party(self, role: Role) -> Party:
        transport = self.lab.transports[role.name]
        return Party(name=role.name, transport=transport, address=role.address)


def _with(record: PhaseRecord, changed: tuple[str, ...]) -> PhaseRecord:
    if not changed:
        return record
    return replace(record, evidence=replace(record.evidence, changed=changed))
