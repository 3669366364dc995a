"""The fixture of this folder."""

import pytest
from network_star import Lab, Star, star_wiring

from labtests.simlab.network import Network, SwitchMemory


@pytest.fixture
def star() -> Lab:
    def make(
        hosts: int = 3,
        *,
        seed: int = 1,
        rate_bits_per_s: int = 10_000_000_000,
        length_m: float = 3,
        memory: SwitchMemory | None = None,
    ) -> Star:
        wiring = star_wiring(hosts, rate_bits_per_s, length_m)
        network = Network(wiring, seed=seed, memory=memory)
        return Star(network, hosts).trust_dscp()

    return make
