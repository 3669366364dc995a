"""The pause time-out of a Nexus: made, read back, put back; and where it cannot work."""

import pytest
from driven import driving
from nexus_bench import PORTS, NexusBench, emulated

from labtests.capabilities.records import PortPauseTimeout
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.drivers.nxos.watchdog import parse_timeout
from labtests.network import PauseTimeout as InForce
from labtests.transport.protocol import Reply

OFF = PortPauseTimeout(on=False, timeout_ms=500)
FAST = PortPauseTimeout(on=True, timeout_ms=100)
MODE = "system default interface pause mode edge"
TIME = "system default interface pause timeout 100 mode edge"
CLOCK = "18:57:38.347 UTC Mon Oct 19 2015"


@pytest.fixture
def bench():
    return NexusBench(emulated())


@pytest.fixture
def driver(bench):
    return driving("nxos")(bench, PORTS)


def test_it_is_made_in_force_at_edge_ports_and_put_back(bench, driver):
    text = bench.shown()
    assert driver.pause_timeout("") == OFF
    driver.set_pause_timeout("", FAST)
    assert driver.pause_timeout("") == FAST
    assert bench.configured == ["configure terminal", TIME, MODE, "end"]
    guards = bench.switch.network.guards
    assert {guards.get(port) for port in PORTS} == {InForce(timeout_ms=100)}
    driver.set_pause_timeout("", OFF)
    assert driver.pause_timeout("") == OFF
    assert bench.shown() == text


def test_a_time_that_no_switch_takes_is_refused_before_it_is_sent(driver):
    with pytest.raises(CommandRejected, match="150 is not in 100"):
        driver.set_pause_timeout("", PortPauseTimeout(on=True, timeout_ms=150))


def test_one_that_is_on_before_a_run_stands_in_the_way(bench, driver):
    assert driver.obstacles() == ()
    bench.type(MODE)
    assert driver.obstacles() == ("a pause of 500 ms drops all that leaves an FCoE port",)


@pytest.mark.parametrize(
    "lines",
    [
        ["no interface vfc 1"],
        ["interface vfc 1", "shutdown"],
        ["interface vfc 1", "switchport mode E"],
        ["interface vfc 1", "no bind interface"],
    ],
)
def test_a_port_that_is_no_edge_port_is_named(bench, driver, lines):
    assert driver.lacks() == {}
    bench.type(*lines)
    (sentence,) = driver.lacks().values()
    assert sentence.startswith(f"{PORTS[0]}: no FCoE edge port")
    assert driver.lacks().keys() == {"pause_timeout"}


def test_lines_of_others_are_passed_over_and_one_that_is_new_is_refused():
    def parse(*lines):
        text = "\n".join((*lines, CLOCK, ""))
        return parse_timeout(Reply(device="N9K", command="show running-config", text=text))

    assert parse() == OFF
    assert parse("system default switchport shutdown", MODE, TIME) == FAST
    assert parse(TIME) == PortPauseTimeout(on=False, timeout_ms=100)
    with pytest.raises(UnreadableOutput, match="unrecognised: 'system default interface pause x'"):
        parse(MODE, "system default interface pause x")
