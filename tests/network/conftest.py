"""The fixtures of this folder, and what is looked at after each test and after the last."""

from collections.abc import Iterator

import pytest
from network_canaries import canaries  # noqa: F401 - a fixture of every test here
from network_star import Lab, Star, star_wiring

from labtests.network import Network, SwitchMemory
from labtests.network.compiled import FUNCTIONS, use_compiled


def pytest_collection_finish() -> None:
    """What is compiled now takes no test's time."""
    use_compiled()


@pytest.fixture(scope="session", autouse=True)
def _compiled_ahead() -> Iterator[None]:
    """What Python calls was not compiled here: ahead.py has it, with the types of each call."""
    yield
    missed = {f.py_func.__name__: list(f.stats.cache_misses) for f in FUNCTIONS}
    assert {n: types for n, types in missed.items() if types} == {}


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
