"""Which way packets take in a simulated lab of several equally short ones."""

import pytest

from labtests.inventory import Endpoint
from labtests.network import Cable, HostPort, Network, SwitchPort, Wiring
from labtests.simlab.routes import Routes

HOSTS = {"a": "10.0.0.1", "b": "10.0.0.2"}


def two_spines() -> Wiring:
    def cable(a: HostPort | SwitchPort, b: HostPort | SwitchPort) -> Cable:
        return Cable(a=a, b=b, rate_bits_per_s=10**9, length_m=1.0)

    def port(device: str, interface: str) -> SwitchPort:
        return SwitchPort(device=device, interface=interface)

    def host(name: str) -> HostPort:
        return HostPort(device=name, interface="eth0", address=HOSTS[name])

    return Wiring(
        cables=(
            cable(host("a"), port("leaf1", "1")),
            cable(host("b"), port("leaf2", "1")),
            *(
                cable(port(leaf, spine[-1] + "0"), port(spine, leaf[-1]))
                for leaf in ("leaf1", "leaf2")
                for spine in ("spine1", "spine2")
            ),
        )
    )


@pytest.fixture
def dead() -> set[Endpoint]:
    """Ends of cables that are out."""
    return set()


@pytest.fixture
def routes(dead: set[Endpoint]) -> Routes:
    wiring = two_spines()
    return Routes(Network(wiring, seed=1), wiring, lambda end: end not in dead)


def static(routes: Routes) -> set[tuple[str, str, tuple[str, ...]]]:
    routes.follow()
    return {(each.switch, each.to, each.via) for each in routes.network.routing.static}


def test_all_equally_short_ways_are_used(routes):
    assert routes.choices == {"leaf1", "leaf2"}
    assert routes.network.routing.ways == "ecmp"
    assert static(routes) == set()


def test_a_dead_cable_behind_the_next_switch_is_avoided_and_taken_again(routes, dead):
    dead.add(Endpoint(device="leaf2", interface="20"))
    found = static(routes)
    assert ("leaf1", HOSTS["b"], ("10",)) in found
    assert ("spine2", HOSTS["b"], ("1",)) in found, "back, and by the other spine"
    dead.clear()
    assert static(routes) == set()


def test_a_polarised_switch_takes_the_first_way_that_is_left(routes, dead):
    routes.polarised.add("leaf1")
    assert static(routes) == {("leaf1", HOSTS["b"], ("10",))}
    dead.add(Endpoint(device="leaf1", interface="10"))
    assert ("leaf1", HOSTS["b"], ("20",)) in static(routes)
