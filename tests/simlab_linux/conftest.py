"""Fixtures of the Linux face's tests; what they are made of: linux_bench.py."""

from collections.abc import Callable

import pytest
from linux_bench import FluidNetwork, Hands, three_servers, without_switch_face

from labtests.inventory import Vlan
from labtests.simlab import lab as lab_module


@pytest.fixture
def make_lab(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Hands]:
    """A lab of hosts around a fluid network; `real=True` takes the packet network."""
    real_face, real_network = lab_module.face_module, lab_module.Network

    def make(
        *, seed: int = 1, real: bool = False, unplugged: bool = False, vlan: Vlan | None = None
    ) -> Hands:
        network = real_network if real else FluidNetwork
        monkeypatch.setattr(lab_module, "Network", network)
        monkeypatch.setattr(
            lab_module, "face_module", lambda device: without_switch_face(device, real_face)
        )
        testbed = three_servers(unplugged=unplugged, vlan=vlan)
        return Hands(lab_module.SimulatedLab(testbed, seed=seed))

    return make


@pytest.fixture
def hands(make_lab: Callable[..., Hands]) -> Hands:
    return make_lab()
