"""Who sends what: an experiment's classes as tools with their options, by what the lab carries."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from labtests.capabilities.settings import MTU
from labtests.core.units import BitsPerSecond
from labtests.experiment.fitting import (
    FULL,
    LONG_DATAGRAM_BYTES,
    Class,
    NotHere,
    early_and_late,
    expect_congestion,
    expect_marks_in_time,
    expect_one_bottleneck,
    expect_overload,
    expect_room,
    fastest_at_the_ends,
    fastest_without_a_queue,
    held_alone,
    one_packet_bytes,
    other_trunks,
    payload_share,
    roce_share,
    spread,
)
from labtests.experiment.pace import Pace
from labtests.experiment.patterns import Way
from labtests.experiment.phase import SenderPart
from labtests.experiment.roles import Role, Roles
from labtests.lab.lab import Lab
from labtests.workloads import FlowTool, Iperf3, Perftest
from labtests.workloads.iperf3 import FIRST_PORT as IPERF3_PORT
from labtests.workloads.perftest import FEWEST_MESSAGES
from labtests.workloads.perftest import FIRST_PORT as PERFTEST_PORT

USUAL_MTU_BYTES = 1500
"""Of hosts that do not tell theirs."""

ROOMY_BYTES = 400_000
"""Of a socket: what every Linux grants (net.core.wmem_max, 212992 by default, is doubled), so that
a sender which is woken late has something left to send, and a receiver some room."""

SWITCH_BYTES = 32 * 2**20
"""The packet memory of common switches of 10G to 100G without external memory: 9 to 42 MB. One with
more can absorb more; then S1 calls its senders' sum too high."""
SENDER_BYTES = 2 * 2**20
"""A socket's buffer and a NIC's ring of 1024 packets."""

ROWS_AT_MOST, LONGEST_ROW_S = 120, 60
"""Of a tool's report, in a load of up to two hours; iperf3 tells every minute at least."""
ROWS_LATE_S = 0.2
"""How late the last row of a flow may come."""
APART_S, JOINING = 0.1, 0.25
"""Between two starts of queue pairs; and at most this share of the time that is left, so that all
of them send together for the rest of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The senders of a lab, and what they can be asked."""

    roles: Roles
    pace: Pace
    own_mtu_bytes: Mapping[str, int]

    @property
    def mtu_bytes(self) -> int:
        """The smallest of the hosts' MTUs: what is sent by one must pass at all of them."""
        return min(self.own_mtu_bytes.values(), default=USUAL_MTU_BYTES)

    def lasting(self, seconds: float) -> "Traffic":
        """The same, in which loads last at least so long."""
        load_s = max(self.pace.load_s, math.ceil(seconds))
        row_every_s = max(self.pace.row_every_s, min(load_s // ROWS_AT_MOST, LONGEST_ROW_S))
        return replace(self, pace=replace(self.pace, load_s=load_s, row_every_s=row_every_s))

    @property
    def ceiling_bits_per_s(self) -> float:
        """The most goodput that long datagrams can have through the bottleneck."""
        return payload_share(self.mtu_bytes, LONG_DATAGRAM_BYTES) * self.roles.line_bits_per_s

    @property
    def roce_ceiling_bits_per_s(self) -> float:
        """The most goodput that RDMA can have through the bottleneck."""
        tagged = self.roles.tags is not None
        return roce_share(self.mtu_bytes, tagged=tagged) * self.roles.line_bits_per_s

    @property
    def buffers_bytes(self) -> int:
        """What can lie on the way to the receiver: in the switches' memories, in the senders."""
        switches = {
            self.roles.bottleneck.device,
            *(role.switch.device for role in self.roles.senders),
        }
        switches |= {at.device for at in self.roles.transit}
        return SWITCH_BYTES * len(switches) + SENDER_BYTES * len(self.roles.senders)

    def udp(self, early: Class, late: Class) -> tuple[SenderPart, ...]:
        """The sender with the fastest link offers one class; the others, later, share another."""
        senders = fastest_at_the_ends(self.roles.senders)
        shares = (early.offered_share or 1.0, late.offered_share or 1.0)
        line = self.roles.line_bits_per_s
        offered = early_and_late(shares, senders, line)
        asked = {role.name: share * line for role, share in zip(senders, offered, strict=True)}
        expect_room(asked, other_trunks(self.roles))
        return tuple(
            self._sending(role, self._long(number, late if number else early, share), number)
            for number, (role, share) in enumerate(zip(senders, offered, strict=True))
        )

    def loads(self, *classes: Class) -> tuple[SenderPart, ...]:
        """Sender by sender one class, and round again, all starting together, in datagrams of one
        packet each; `offered_share` is of the line rate, on the wire."""
        line = self.roles.line_bits_per_s
        parts = spread(classes, self.roles.senders, line)
        asked = dict.fromkeys((role.name for role, _ in parts), 0.0)
        for role, traffic in parts:
            asked[role.name] += (traffic.offered_share or 1.0) * line
        expect_room(asked, other_trunks(self.roles))
        tools = [self._short(number, traffic) for number, (_, traffic) in enumerate(parts)]
        crowds = [tool for tool in tools if tool.processes > 1]
        if crowds and any(each.window_bytes is not None for each in classes):
            raise NotHere(
                f"{(crowds[0].offered_bits_per_s or 0) / 1e9:.3g} Gb/s takes {crowds[0].processes} "
                "iperf3 processes, each of which may read its own small socket in time"
            )
        return tuple(
            SenderPart(role=role, tool=tool, starts_after_s=0.0)
            for (role, _), tool in zip(parts, tools, strict=True)
        )

    def alone(self, traffic: Class) -> tuple[SenderPart, ...]:
        """The same of one class by one sender, whose link is no faster than the receiver's: its
        bursts make no queue. Raises NotHere where all are faster."""
        one = fastest_without_a_queue(self.roles.senders, self.roles.line_bits_per_s)
        return replace(self, roles=replace(self.roles, senders=(one,))).loads(traffic)

    def beside_receiver(self) -> "Traffic":
        """By senders that are plugged into the receiver's switch alone. Raises NotHere where none
        is."""
        switch = self.roles.receiver.switch.device
        beside = tuple(role for role in self.roles.senders if role.switch.device == switch)
        if not beside:
            raise NotHere(
                f"no sender is plugged into {switch}, as the receiver is: what each of several "
                "switches holds is not told apart from outside"
            )
        return replace(self, roles=replace(self.roles, senders=beside))

    def one_flow(self, senders: tuple[Role, ...], traffic: Class) -> tuple[SenderPart, ...]:
        """The same by one of these, no faster than one process sends: each of several has a source
        port, and with it a way, of its own."""
        while (processes := self._short(0, traffic).processes) > 1:
            traffic = traffic.offering((traffic.offered_share or 1.0) / processes)
        return replace(self, roles=replace(self.roles, senders=senders)).alone(traffic)

    def paced(self, senders: Sequence[Role], traffic: Class) -> tuple[SenderPart, ...]:
        """Flows of one class, one for each of these senders, which together offer its share."""
        each = replace(traffic, offered_share=(traffic.offered_share or 1.0) / len(senders))
        return tuple(
            SenderPart(role=role, tool=self._short(number, each), starts_after_s=0.0)
            for number, role in enumerate(senders)
        )

    def tcp(self, traffic: Class, *, streams: int) -> tuple[SenderPart, ...]:
        """So many TCP connections of every sender, as fast as they can."""
        expect_congestion(self.roles.senders, self.roles.line_bits_per_s)
        expect_one_bottleneck(self.roles.senders, self.roles)
        return tuple(
            SenderPart(
                role=role,
                tool=Iperf3(
                    protocol="tcp",
                    tos=traffic.tos,
                    port=IPERF3_PORT + number,
                    offered_bits_per_s=None,
                    duration_s=self.pace.load_s,
                    parallel=streams,
                    interval_s=self.pace.row_every_s,
                ),
                starts_after_s=0.0,
            )
            for number, role in enumerate(self.roles.senders)
        )

    def rdma(self, early: Class, late: Class, *, pair: bool = False) -> tuple[SenderPart, ...]:
        """Every sender (of more than DCQCN alone holds, some) as fast as it can by ib_send_bw; the
        others later, one after the other, in another class. `pair`: the first and the last of them
        only, so that no two queue pairs are in one queue: where nothing slows them, they would
        leave each other next to nothing."""
        senders = held_alone(fastest_at_the_ends(self.roles.senders))
        for alone in (senders[0], senders[-1]):  # in controls
            expect_overload(alone, self.roles.line_bits_per_s)
        senders = (senders[0], senders[-1]) if pair else senders
        expect_congestion(senders, self.roles.line_bits_per_s)
        expect_one_bottleneck(senders, self.roles)
        return tuple(
            self._sending(
                role,
                Perftest(
                    tos=(late if number else early).tos,
                    port=PERFTEST_PORT + number,
                    report_every_s=self.pace.row_every_s,
                ),
                number,
                apart_s=self._apart_s(len(senders)),
            )
            for number, role in enumerate(senders)
        )

    def flows(
        self,
        ways: Sequence[Way],
        tools: Sequence[FlowTool],
        beside: tuple[SenderPart, ...],
        rows: int,
    ) -> tuple[SenderPart, ...]:
        """One flow for each way, by the tools in turn, all starting together; beside those others,
        with ports of their own. What probes starts when the others are halfway: it may take but a
        few milliseconds. Flows that all go to the receiver have to fill its port."""
        if ways and all(to == self.roles.receiver for _, to in ways):
            senders = [role for role, _ in ways]
            expect_congestion(senders, self.roles.line_bits_per_s)
            expect_one_bottleneck(senders, self.roles)
        return (*beside, *self.each(ways, tools, rows=rows, first=len(beside)))

    def each(
        self, ways: Sequence[Way], tools: Sequence[FlowTool], *, rows: int = 2, first: int = 0
    ) -> tuple[SenderPart, ...]:
        """The same, whether they fill a port or not."""
        every_s = self.pace.row_every_s
        seconds = max(self.pace.load_s, rows * every_s)
        return tuple(
            SenderPart(
                role=role,
                to=to,
                tool=tools[number % len(tools)].of_flow(
                    first + number, seconds=seconds, row_every_s=every_s
                ),
                starts_after_s=self.pace.load_s / 2 if tools[number % len(tools)].probes else 0.0,
                lasts_s=seconds + ROWS_LATE_S,
            )
            for number, (role, to) in enumerate(ways)
        )

    def messages(self, queue_pairs: int, message_bytes: int) -> int:
        """Of each queue pair, when all of them together fill the line for the time of a load."""
        bits = self.roce_ceiling_bits_per_s * self.pace.load_s
        return max(round(bits / 8 / message_bytes / queue_pairs), FEWEST_MESSAGES)

    def pressed(
        self, ways: Sequence[Way], slowing: FlowTool, deaf: FlowTool
    ) -> tuple[SenderPart, ...]:
        """The first way's flow for eight rows, the other's in the third and the fourth of them."""
        every_s = self.pace.row_every_s
        first, other = self.flows(ways, (slowing, deaf), (), rows=8)
        tool = deaf.of_flow(1, seconds=2 * every_s, row_every_s=every_s)
        return first, replace(other, tool=tool, starts_after_s=2.0 * every_s)

    def in_turns(self, groups: Sequence[Sequence[Way]], traffic: Class) -> tuple[SenderPart, ...]:
        """Long datagrams from each host of a group at its link's rate; group by group."""
        each_s = self.pace.load_s
        turns = [(turn, *way) for turn, group in enumerate(groups) for way in group]
        return tuple(
            SenderPart(
                role=role,
                to=to,
                tool=Iperf3(
                    protocol="udp",
                    tos=traffic.tos,
                    port=IPERF3_PORT + number,
                    offered_bits_per_s=FULL * role.link_bits_per_s,
                    duration_s=each_s,
                    interval_s=self.pace.row_every_s,
                ),
                starts_after_s=float(turn * each_s),
                lasts_s=float(len(groups) * each_s),
            )
            for number, (turn, role, to) in enumerate(turns)
        )

    def expect_marks_in_time(self, times: int = 1) -> None:
        """DCQCN can hold the senders here, or so many times as many. Raises NotHere."""
        held = times * len(self.roles.senders)
        expect_marks_in_time(held, self.roles.line_bits_per_s, self.mtu_bytes)

    def expect_equal_links(self, between: Iterable[float]) -> None:
        """Each host can get as much as another one sends, and no cable between switches (bits/s) is
        in the way of two of them, or of half of many. Raises NotHere."""
        speeds = sorted({role.link_bits_per_s for role in self.roles.hosts})
        if len(speeds) > 1:
            told = ", ".join(f"{speed / 1e9:g}" for speed in speeds)
            raise NotHere(f"the suite asks for hosts' links of one speed; there are {told} Gb/s")
        least = max(2, len(self.roles.hosts) // 2) * speeds[0]
        if slow := [speed for speed in between if speed < least]:
            raise NotHere(
                f"a cable between switches carries {min(slow) / 1e9:g} Gb/s, and hosts may send "
                f"{least / 1e9:g} Gb/s through it: it would be full before their own ports"
            )

    def _apart_s(self, senders: int) -> float:
        """From one late sender's start to the next one's. A queue pair starts at line rate, until
        the first CNPs come back, some tenths of a millisecond later: what one of them has sent by
        then, buffers hold, and what many have that start at once, they need not."""
        joining_s = JOINING * (self.pace.lab_seconds - self.pace.stagger_s)
        return min(APART_S, joining_s / max(senders - 2, 1))

    def _sending(
        self, role: Role, tool: FlowTool, number: int, *, apart_s: float = 0.0
    ) -> SenderPart:
        starts_after_s = self.pace.stagger_s + (number - 1) * apart_s if number else 0.0
        return SenderPart(role=role, tool=tool, starts_after_s=starts_after_s)

    def _short(self, number: int, traffic: Class) -> Iperf3:
        narrow = traffic.window_bytes is not None  # a long datagram might not fit in such a socket
        longest = min(self.mtu_bytes, USUAL_MTU_BYTES) if narrow else self.mtu_bytes
        datagram_bytes = one_packet_bytes(longest)
        payload = self.roles.line_bits_per_s * payload_share(self.mtu_bytes, datagram_bytes)
        return Iperf3(
            protocol="udp",
            tos=traffic.tos,
            port=IPERF3_PORT + number,
            offered_bits_per_s=BitsPerSecond(round((traffic.offered_share or 1.0) * payload)),
            duration_s=self.pace.load_s,
            datagram_bytes=datagram_bytes,
            window_bytes=traffic.window_bytes or ROOMY_BYTES,
            interval_s=self.pace.row_every_s,
        )

    def _long(self, number: int, traffic: Class, share: float) -> Iperf3:
        starts_s = self.pace.stagger_s if number else 0.0
        return Iperf3(
            protocol="udp",
            tos=traffic.tos,
            port=IPERF3_PORT + number,
            offered_bits_per_s=BitsPerSecond(round(share * self.roles.line_bits_per_s)),
            duration_s=round(self.pace.lab_seconds - starts_s),
            datagram_bytes=LONG_DATAGRAM_BYTES,
            interval_s=self.pace.row_every_s,
        )


def mtus_of(lab: Lab, roles: Iterable[Role]) -> dict[str, int]:
    """Of each host that has one."""
    return {r.name: lab.current(r.nic, MTU) for r in roles if lab.has(r.nic.device, MTU)}
