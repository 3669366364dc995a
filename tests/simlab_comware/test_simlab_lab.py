"""A lab from a testbed: what it refuses, its addresses, its time."""

from dataclasses import replace

import pytest

from labtests.inventory import Endpoint, Link, Testbed
from labtests.simlab.face import Face
from labtests.simlab.lab import CannotSimulate, SimulatedLab
from labtests.simlab.timeline import NS_PER_S, Timeline


def without_address(testbed: Testbed) -> Testbed:
    devices = []
    for device in testbed.devices:
        ports = tuple(replace(port, address=None) for port in device.ports)
        devices.append(replace(device, ports=ports) if device.name == "A" else device)
    return replace(testbed, devices=tuple(devices))


def test_a_linked_nic_without_an_address_is_refused(testbed):
    with pytest.raises(CannotSimulate, match="A:eth0: the port is linked but has no address"):
        SimulatedLab(without_address(testbed), seed=1)


def test_a_cable_between_two_hosts_is_refused_together_with_every_other_mistake(testbed):
    ends = [Endpoint(device=name, interface="eth0") for name in "AB"]
    cable = Link(a=ends[0], b=ends[1], speed_bits_per_s=10**10, length_m=1.0)
    broken = replace(without_address(testbed), links=(cable, testbed.links[0]))
    with pytest.raises(CannotSimulate) as refusal:
        SimulatedLab(broken, seed=1)
    lines = str(refusal.value).splitlines()
    assert "link A:eth0 - B:eth0: two hosts without a switch between them" in lines[0]
    assert "A:eth0: the port is linked but has no address" in lines[1]


def test_hosts_are_found_by_their_address(simulation):
    assert simulation.device_with_address("192.168.10.11") == "B"
    assert simulation.device_with_address("192.168.10.99") is None


def test_every_device_has_a_face_and_faults_of_its_own(simulation):
    assert set(simulation.devices) == set(simulation.faults) == {"S6550", "A", "B", "C"}
    switch: Face = simulation.devices["S6550"]
    assert switch.user == "admin"


class Recorder:
    def __init__(self) -> None:
        self.moments: list[int] = []

    def advance_to(self, time_ns: int) -> None:
        self.moments.append(time_ns)


def test_callbacks_run_at_their_time_in_order_of_registration_with_the_network_there():
    network = Recorder()
    timeline = Timeline(network)
    seen: list[tuple[str, int, int]] = []

    def note(name: str) -> None:
        seen.append((name, timeline.now_ns, network.moments[-1]))

    timeline.at(20, lambda: note("second"))
    timeline.at(10, lambda: note("first"))
    timeline.at(20, lambda: note("third"))
    timeline.at(20, lambda: timeline.after(0, lambda: note("added at the same time")))
    timeline.at(31, lambda: note("too late"))
    timeline.advance_to(30)
    assert seen == [
        ("first", 10, 10),
        ("second", 20, 20),
        ("third", 20, 20),
        ("added at the same time", 20, 20),
    ]
    assert network.moments == [10, 20, 30]


def test_an_appointment_in_the_past_is_kept_at_the_next_advance():
    timeline = Timeline(Recorder())
    timeline.advance_to(100)
    seen: list[int] = []
    timeline.at(50, lambda: seen.append(timeline.now_ns))
    assert seen == []
    timeline.advance_to(100)
    assert seen == [100]


def test_time_does_not_run_backwards(simulation):
    simulation.advance(NS_PER_S)
    with pytest.raises(ValueError, match="time runs forward"):
        simulation.advance(-1)
