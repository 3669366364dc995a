"""Which way packets go where there are several: what a routing protocol would have made of it.

Switches use all equally short ways, each flow one by a hash of its addresses and ports. A port
whose link is down is left out at once by its own switch, and a little later by those behind it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from labtests.inventory import Endpoint
from labtests.network import Network, Routing, StaticRoute, Wiring
from labtests.network.paths import Ways, next_hops
from labtests.network.wiring import HostPort

CONVERGES_NS = 100_000_000
"""From a link that goes down or comes up to routes that know of it. Chosen, not measured: between
BFD, which needs some tens of milliseconds, and a routing protocol's own hellos."""


@dataclass(slots=True)
class Routes:
    """Of one network. `has_link` tells whether a cable is plugged in at both ends. `polarised` are
    switches that send all flows the same way."""

    network: Network
    wiring: Wiring
    has_link: Callable[[Endpoint], bool]
    polarised: set[str] = field(default_factory=set)
    choices: set[str] = field(default_factory=set, init=False)
    """Switches that have several ways to some host."""

    def __post_init__(self) -> None:
        self.choices = {
            switch for (switch, _), outs in next_hops(self.wiring, equal=True).items() if outs[1:]
        }
        if self.choices:
            self.network.reroute(Routing(ways="ecmp"))

    def follow(self) -> None:
        """From now on packets go by the links that are up."""
        if self.choices:
            self.network.reroute(Routing(ways="ecmp", static=tuple(self._others())))

    def _others(self) -> Iterator[StaticRoute]:
        """Ways that are not all shortest ones of the whole network. To whom there is none, packets
        go on as before, and are lost."""
        cables = tuple(c for c in self.wiring.cables if self._up(c.a.device, c.a.interface))
        left = Wiring(cables=cables)
        whole, now = _named(self.wiring), _named(left)
        for (switch, address), ports in now.items():
            chosen = ports[:1] if switch in self.polarised else ports
            if chosen != whole[switch, address]:
                yield StaticRoute(switch=switch, to=address, via=chosen)

    def _up(self, device: str, interface: str) -> bool:
        return self.has_link(Endpoint(device=device, interface=interface))


def _named(wiring: Wiring) -> dict[tuple[str, str], tuple[str, ...]]:
    """(switch, address of a host) -> ports towards it."""
    ends = tuple(wiring.ports())
    ways: Ways = next_hops(wiring, equal=True)
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for (switch, number), outs in ways.items():
        host = ends[int(number)]
        if isinstance(host, HostPort):
            found[switch, host.address] = tuple(ends[out].interface for out in outs)
    return found
