"""The network that is looked at: switches, cables between them, who is plugged in where, PFC.

A channel is one direction of a cable between switches: what its head has taken in by it is one
buffer. Cable n has channels 2n (a to b) and 2n + 1 (b to a); c ^ 1 is the other direction of c.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from labtests.core.errors import LabError

Ways = Literal["shortest", "ecmp", "up-down"]
Priorities = frozenset[int]
Dead = frozenset[int]
"""Channels that carry nothing; always both directions of a cable."""
NONE_DEAD: Dead = frozenset()


class NoTiers(LabError):
    """Up-down routing was asked of a network that has no tiers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchCable:
    """A cable between two switches: their names, and the ports it is plugged into."""

    switches: tuple[str, str]
    ports: tuple[str, str]
    bits_per_s: int
    length_m: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldRoute:
    """At `switch`, packets to these hosts leave by one of these ports, whatever is shortest."""

    switch: str
    hosts: frozenset[str]
    via: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """What can fail: cable `number`, or switch `number`."""

    kind: Literal["link", "switch"]
    number: int


@dataclass(frozen=True, kw_only=True)
class Fabric:
    """Switches and what joins them. `lossless`: priorities with PFC, by (switch, port), of ports
    between switches; a port that is not named has `everywhere`. `share_queue`: sets of priorities
    that wait in one queue somewhere."""

    name: str
    switches: tuple[str, ...]
    cables: tuple[SwitchCable, ...]
    hosts: Mapping[str, str]
    ways: Ways = "ecmp"
    told: tuple[ToldRoute, ...] = ()
    everywhere: Priorities = frozenset({3})
    lossless: Mapping[tuple[str, str], Priorities] = field(
        default_factory=lambda: MappingProxyType({})
    )
    share_queue: tuple[Priorities, ...] = ()

    @cached_property
    def number(self) -> dict[str, int]:
        """Of each switch by its name."""
        return {name: n for n, name in enumerate(self.switches)}

    @cached_property
    def heads(self) -> list[int]:
        """The switch that each channel leads to."""
        return [self.number[cable.switches[end]] for cable in self.cables for end in (1, 0)]

    @cached_property
    def leads(self) -> list[list[int]]:
        """The channels that leave each switch, in the order of the cables."""
        found: list[list[int]] = [[] for _ in self.switches]
        for channel in range(2 * len(self.cables)):
            found[self.heads[channel ^ 1]].append(channel)
        return found

    @cached_property
    def tiers(self) -> list[int]:
        """Of each switch, how many cables it is above the nearest switch with hosts; -1: cut
        off."""
        found = [-1] * len(self.switches)
        waiting = deque(sorted({self.number[name] for name in self.hosts.values()}))
        for switch in waiting:
            found[switch] = 0
        while waiting:
            here = waiting.popleft()
            for channel in self.leads[here]:
                if found[self.heads[channel]] < 0:
                    found[self.heads[channel]] = found[here] + 1
                    waiting.append(self.heads[channel])
        return found

    def expect_tiers(self) -> None:
        """Every cable joins two tiers. Raises NoTiers, with a cable that does not."""
        for cable in self.cables:
            one, other = (self.tiers[self.number[name]] for name in cable.switches)
            if one == other:
                raise NoTiers(
                    f"{self.name}: up-down routing needs tiers, and {' - '.join(cable.switches)} "
                    f"joins two switches of tier {one} (counted from the switches with hosts)\n"
                    "  remedy: check the routes that the network has: --routing ecmp or shortest"
                )

    def tail(self, channel: int) -> int:
        """The switch that a channel leaves."""
        return self.heads[channel ^ 1]

    def port_out(self, channel: int) -> str:
        """The port of its tail."""
        return self.cables[channel >> 1].ports[channel & 1]

    def spelled(self, channel: int) -> str:
        """A channel for people: `s1:eth1 -> s2:eth2`."""
        tail, head = (self.switches[each] for each in (self.tail(channel), self.heads[channel]))
        return f"{tail}:{self.port_out(channel)} -> {head}:{self.port_out(channel ^ 1)}"

    def elements(self) -> Iterator[Element]:
        """All that can fail."""
        for number in range(len(self.cables)):
            yield Element(kind="link", number=number)
        for number in range(len(self.switches)):
            yield Element(kind="switch", number=number)

    def named(self, element: Element) -> str:
        """An element for people."""
        if element.kind == "switch":
            return self.switches[element.number]
        return self.spelled(2 * element.number).replace("->", "-")

    def dead(self, *failed: Element) -> Dead:
        """The channels that are gone with these."""
        gone: set[int] = set()
        for element in failed:
            if element.kind == "link":
                gone |= {2 * element.number, 2 * element.number + 1}
            else:
                gone |= {each for c in self.leads[element.number] for each in (c, c ^ 1)}
        return frozenset(gone)

    def _priorities(self, channel: int) -> Priorities:
        """Those that both ends of a channel are lossless for: the head pauses, the tail obeys."""
        ends = ((self.heads[c ^ 1], self.port_out(c)) for c in (channel, channel ^ 1))
        one, other = (
            self.lossless.get((self.switches[switch], port), self.everywhere)
            for switch, port in ends
        )
        return one & other

    @cached_property
    def planes(self) -> tuple[tuple[Priorities, frozenset[int]], ...]:
        """Priorities with the channels that pauses can hold, alike ones together. Priorities that
        share a queue wait for each other, and are taken for one."""
        of_channel = [self._priorities(channel) for channel in range(len(self.heads))]
        found: dict[frozenset[int], Priorities] = {}
        for group in _joined(frozenset().union(*of_channel), self.share_queue):
            held = frozenset(c for c, those in enumerate(of_channel) if those & group)
            found[held] = found.get(held, frozenset()) | group
        return tuple((priorities, held) for held, priorities in found.items() if held)


def _joined(priorities: Priorities, shared: tuple[Priorities, ...]) -> list[Priorities]:
    groups = [frozenset({each}) for each in sorted(priorities)]
    for share in shared:
        touched = [group for group in groups if group & share]
        groups = [group for group in groups if not group & share]
        groups += [frozenset().union(*touched)] if touched else []
    return groups
