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
LINK = 8
"""Stands for all priorities, where a link pause holds them together."""
EVERY: Priorities = frozenset(range(8))
IDENTITY = tuple(range(8))


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
    """Switches and what joins them.

    - `lossless`: priorities with PFC, by (switch, port), of ports between switches; a port that is
      not named has `everywhere`.
    - `link_pause`: whether a port sends, and obeys, link pauses (802.3x).
    - `queues`: of a switch, the queue of each priority, where it is not the same number.
    - `arriving`: priorities that packets can have at a port, where not all.
    - `tunnels`: pairs of switches. `unplugged`: cables that no switch is at.
    - `later`: explicit routes from a time in us on, instead of `told`.
    """

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
    link_pause: Mapping[tuple[str, str], tuple[bool, bool]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    queues: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    arriving: Mapping[tuple[str, str], Priorities] = field(
        default_factory=lambda: MappingProxyType({})
    )
    tunnels: tuple[tuple[str, str], ...] = ()
    unplugged: tuple[str, ...] = ()
    later: tuple[tuple[float, tuple[ToldRoute, ...]], ...] = ()

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

    @cached_property
    def parts(self) -> list[list[str]]:
        """Switches that cables join, directly or through others, each once."""
        left, found = dict.fromkeys(range(len(self.switches))), []
        while left:
            part = [left.popitem()[0]]
            for here in part:
                near = [self.heads[c] for c in self.leads[here] if self.heads[c] in left]
                for other in dict.fromkeys(near):
                    del left[other]
                    part.append(other)
            found.append([self.switches[each] for each in sorted(part)])
        return found[::-1]

    @property
    def alike(self) -> bool:
        """No switch is set otherwise than another one, and routes do not tell them apart."""
        special = self.told or self.tunnels or self.lossless or self.link_pause
        return not (special or self.queues or self.arriving or self.ways == "shortest")

    @cached_property
    def held(self) -> list[Priorities]:
        """Of each channel, the priorities that pauses hold, and LINK where pauses hold all: the
        head pauses, the tail obeys."""
        return [self._held(channel) for channel in range(len(self.heads))]

    def _held(self, channel: int) -> Priorities:
        tail = (self.switches[self.tail(channel)], self.port_out(channel))
        head = (self.switches[self.heads[channel]], self.port_out(channel ^ 1))
        one, other = (self.lossless.get(end, self.everywhere) for end in (tail, head))
        link = self.link_pause.get(head, (False,))[0] and self.link_pause.get(tail, (False,))[-1]
        return (one & other & self.arriving.get(head, EVERY)) | (frozenset({LINK} if link else ()))

    @cached_property
    def planes(self) -> tuple[tuple[Priorities, frozenset[int]], ...]:
        """Priorities with the channels that pauses can hold, alike ones together."""
        found: dict[frozenset[int], Priorities] = {}
        for priority in sorted(frozenset().union(*self.held)):
            held = frozenset(c for c, those in enumerate(self.held) if priority in those)
            found[held] = found.get(held, frozenset()) | {priority}
        return tuple((priorities, held) for held, priorities in found.items())

    @property
    def entangled(self) -> bool:
        """A priority can wait for another one: they share a queue, or a pause holds both."""
        shared = any(len({*queues}) < len(queues) for queues in self.queues.values())
        return shared or bool(self.link_pause)

    def passed_on(self, switch: int, one: int, other: int) -> bool:
        """Whether what came in with a priority waits where pauses of another one hold."""
        if LINK in (one, other):
            return True
        queues = self.queues.get(self.switches[switch], IDENTITY)
        return queues[one] == queues[other]
