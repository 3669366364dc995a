"""The pause time-out of FCoE edge ports (document 001, S7), as somebody configures it by hand: a
pause that is long enough drops all that leaves the port, of all classes, and nothing that comes in;
a shorter one drops nothing."""

import pytest
from test_nxos_face_watchdog import LOSSLESS, MS, OUT, SENDING, storm

from labtests.network import PauseTimeout, UdpRequest

EDGE = (
    "interface vfc 13",
    "no shutdown",
    "bind interface ethernet 1/13",
    "system default interface pause mode edge",
    "system default interface pause timeout 200 mode edge",
)


def sends(simulation, name: str, to: str, dscp: int) -> None:
    simulation.network.start_udp(
        UdpRequest(
            device=name,
            interface="eth0",
            destination=to,
            tos=dscp << 2,
            rate_bits_per_s=2_000_000_000,
            datagram_bytes=1400,
        )
    )


@pytest.fixture
def busy(cli, simulation):
    """FCoE is at no port. Two classes to the receiver, of which one will be paused; and the
    receiver sends, too."""
    cli.configure(*(f"no interface vfc {number}" for number in (1, 2, 3, 4)), *LOSSLESS)
    for name in "ABC":
        nic = simulation.network.nic(name, "eth0")
        nic.set_trust("dscp")
        nic.set_pfc(frozenset({3}))
    sends(simulation, "A", "192.168.10.10", 24)
    sends(simulation, "B", "192.168.10.10", 40)
    simulation.advance(10 * MS)
    return simulation


def dropped(simulation) -> tuple[int, int]:
    """Of the paused class, and of the other one."""
    queues = simulation.network.switch("N9K").queue_counters(OUT)
    return queues[3].dropped_packets, queues[5].dropped_packets


def test_a_pause_longer_than_the_time_out_drops_every_class_and_a_shorter_one_none(cli, busy):
    cli.configure(*EDGE)
    assert busy.network.switch("N9K").guards.get(OUT) == PauseTimeout(timeout_ms=200)
    assert [busy.network.switch("N9K").guards.get(port) for port in SENDING] == [None, None]
    storm(busy, 150)
    assert dropped(busy) == (0, 0)
    storm(busy, 450)
    held, free = dropped(busy)
    assert held > 0
    assert free > 0


def test_what_comes_in_at_the_port_is_not_dropped(cli, busy):
    cli.configure(*EDGE)
    sends(busy, "C", "192.168.10.11", 40)
    storm(busy, 450)
    switch = busy.network.switch("N9K")
    assert dropped(busy)[0] > 0
    assert [each.ingress_dropped for each in switch.guards.counters(OUT)] == [0] * 8
    sent = switch.port_counters(SENDING[0]).tx_packets
    received = switch.port_counters(OUT).rx_packets
    assert 0 <= received - sent <= 10


@pytest.mark.parametrize(
    "lines",
    [
        [line for line in EDGE if "mode edge" not in line or "timeout" in line],
        [line for line in EDGE if "bind" not in line],
        [*EDGE, "interface vfc 13", "switchport mode E"],
        [*EDGE, "interface vfc 13", "shutdown"],
        [line for line in EDGE if "shutdown" not in line],
        [*EDGE, "no interface vfc 13"],
        [*EDGE, "no system default interface pause mode edge"],
    ],
    ids=["off", "no FCoE", "no edge", "shut", "as made", "gone", "off again"],
)
def test_other_ports_and_switches_have_none_and_long_pauses_lose_nothing(cli, busy, lines):
    cli.configure(*lines)
    assert busy.network.switch("N9K").guards.get(OUT) is None
    storm(busy, 450)
    assert dropped(busy) == (0, 0)


def test_its_time_is_500_ms_if_nobody_says_and_100_to_500_otherwise(cli, busy):
    cli.configure(*EDGE, "no system default interface pause timeout 200 mode edge")
    assert busy.network.switch("N9K").guards.get(OUT) == PauseTimeout(timeout_ms=500)
    cli("configure terminal")
    for wrong in (99, 501):
        line = f"system default interface pause timeout {wrong} mode edge"
        assert cli(line).endswith("% Invalid command at '^' marker.\n")
    cli("end")
    shown = cli("show running-config").splitlines()
    assert "system default interface pause mode edge" in shown
    first = shown.index("interface vfc13") + 1
    assert shown[first : first + 2] == ["  bind interface Ethernet1/13", "  no shutdown"]


def test_as_delivered_each_port_is_an_edge_port_and_nothing_ends_a_pause(cli, simulation):
    guards = simulation.network.switch("N9K").guards
    assert [guards.get(port) for port in (OUT, *SENDING)] == [None, None, None]
    cli.configure("system default interface pause mode edge")
    assert {guards.get(port) for port in (OUT, *SENDING)} == {PauseTimeout(timeout_ms=500)}


def test_a_watchdog_goes_before_it(cli, busy):
    on = "priority-flow-control watch-dog-interval on"
    cli.configure(*EDGE, on, f"interface {OUT}", on)
    assert not isinstance(busy.network.switch("N9K").guards.get(OUT), PauseTimeout)
