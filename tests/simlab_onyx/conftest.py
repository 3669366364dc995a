"""One emulated Onyx switch between three hosts that only the packet network knows."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "switch_cli"))

from silent_hosts import silence, star

from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli import CliSession, CliSwitch

PORTS = tuple(f"Eth1/{n}" for n in range(1, 9))
HOSTS = {"C": PORTS[0], "A": PORTS[1], "B": PORTS[2]}


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> SimulatedLab:
    silence(monkeypatch)
    return SimulatedLab(star("SN2700", "onyx", PORTS, HOSTS), seed=1)


@pytest.fixture
def session(lab: SimulatedLab) -> CliSession:
    switch = lab.devices["SN2700"]
    assert isinstance(switch, CliSwitch)
    return switch.session()


@pytest.fixture
def typed(session: CliSession) -> Callable[..., str]:
    return lambda *lines: "".join(session.run(line) for line in lines)
