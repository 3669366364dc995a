"""One emulated switch between three hosts that only the packet network knows."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "switch_cli"))

from comware_bench import ComwareBench
from driven import driving
from silent_hosts import silence, star

from labtests.capabilities.records import PfcSetting, TrustSetting
from labtests.inventory import Testbed
from labtests.network import UdpRequest
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli import CliSession, CliSwitch

SWITCH = "S6550"
PORT = "Twenty-FiveGigE1/0/{}"
PORTS = (*(PORT.format(number) for number in (13, 14, 15, 16)), "HundredGigE1/0/25")
HOSTS = {"A": PORTS[1], "B": PORTS[2], "C": PORTS[0]}


@pytest.fixture
def testbed(monkeypatch: pytest.MonkeyPatch) -> Testbed:
    silence(monkeypatch)
    return star(SWITCH, "comware", PORTS, HOSTS)


@pytest.fixture
def simulation(testbed: Testbed) -> SimulatedLab:
    return SimulatedLab(testbed, seed=1)


@pytest.fixture
def switch(simulation: SimulatedLab) -> CliSwitch:
    return simulation.devices[SWITCH]


@pytest.fixture
def bench(switch: CliSwitch) -> ComwareBench:
    """Labtests' driver in front of it, without SSH."""
    return ComwareBench(switch)


@pytest.fixture
def driver(bench: ComwareBench) -> Any:
    return driving("comware")(bench)


@pytest.fixture
def overloaded(driver: Any, simulation: SimulatedLab) -> SimulatedLab:
    """A and B send together nearly twice the line of C, lossless: the switch pauses both."""
    for port in HOSTS.values():
        driver.set_trust(port, TrustSetting(source="dscp"))
        driver.set_pfc(port, PfcSetting(mode="on", priorities=frozenset({3})))
    for name in HOSTS:
        nic = simulation.network.nic(name, "eth0")
        nic.set_trust("dscp")
        nic.set_pfc(frozenset({3}))
    for name in "AB":
        simulation.network.start_udp(
            UdpRequest(
                device=name,
                interface="eth0",
                destination="192.168.10.12",
                tos=24 << 2,
                rate_bits_per_s=9_000_000_000,
                datagram_bytes=1400,
            )
        )
    return simulation


@dataclass
class SwitchCli:
    """A session in user view."""

    session: CliSession

    def __call__(self, *commands: str) -> str:
        return "".join(self.session.run(command) for command in commands)

    def accepts(self, *commands: str) -> None:
        for command in commands:
            assert self(command) == "", command

    @property
    def prompt(self) -> str:
        return self.session.prompt

    def in_port(self, number: int, *commands: str) -> None:
        """From wherever it is, these lines in the port's view, and back to user view."""
        self("system-view")
        self.accepts(f"interface {PORT.format(number)}", *commands, "return")


@pytest.fixture
def cli(switch: CliSwitch) -> SwitchCli:
    return SwitchCli(switch.session())


@pytest.fixture
def another_cli(switch: CliSwitch) -> SwitchCli:
    return SwitchCli(switch.session())


@dataclass
class FakeConsole:
    """Collects what is printed."""

    pty: bool = True
    width: int = 80
    height: int = 24
    username: str = "admin"
    text: str = ""
    status: int | None = None
    on_line: Callable[[str], None] | None = None
    on_key: Callable[[str], None] | None = None
    on_data: Callable[[str], None] | None = None
    on_eof: Callable[[], None] | None = None
    on_interrupt: Callable[[], None] | None = None
    on_suspend: Callable[[], None] | None = None
    on_signal: Callable[[str], None] | None = None
    errors: list[str] = field(default_factory=list)

    def write(self, text: str) -> None:
        self.text += text

    def write_error(self, text: str) -> None:
        self.errors.append(text)

    def exit(self, status: int) -> None:
        self.status = status

    def take(self) -> str:
        taken, self.text = self.text, ""
        return taken


@pytest.fixture
def console() -> FakeConsole:
    return FakeConsole()
