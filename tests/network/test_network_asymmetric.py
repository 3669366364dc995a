"""Asymmetric PFC: a switch port obeys pauses of all priorities, and sends those of its own."""

import pytest
from network_star import Lab, Star

from labtests.network import PfcWatchdog

OWN, OTHER = 3, 5
"""The priority with PFC, and one without."""


def paused(lab: Star, priority: int) -> None:
    """Host 0 says, from now on, that this priority is to stop."""
    lab.nic(0).flow_control.storm(frozenset({priority}))
    lab.run_ms(1)


def forwarded(lab: Star, priority: int, ms: float = 1) -> int:
    """Packets that the port of host 0 sends of it in that time."""
    before = lab.switch.queue_counters("p0")[priority].forwarded_packets
    lab.run_ms(ms)
    return lab.switch.queue_counters("p0")[priority].forwarded_packets - before


@pytest.mark.parametrize("mode", ["on", "off"])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_a_pause_of_a_priority_without_pfc_stops_its_queue_at_an_asymmetric_port_alone(
    star: Lab, asymmetric: bool, mode: str
) -> None:
    lab = star().lossless(OWN)
    lab.switch.set_pfc("p0", mode, frozenset({OWN}))
    lab.switch.set_asymmetric("p0", asymmetric)
    assert lab.switch.is_asymmetric("p0") == asymmetric
    lab.rc(1, OTHER)
    paused(lab, OTHER)
    assert (forwarded(lab, OTHER) == 0) == asymmetric
    assert lab.switch.pfc_counters("p0")[OTHER].rx_frames > 0
    assert (lab.switch.pfc_counters("p0")[OTHER].rx_paused_ps > 0) == asymmetric


def test_its_own_priorities_are_obeyed_either_way(star: Lab) -> None:
    lab = star().lossless(OWN)
    lab.rc(1, OWN)
    paused(lab, OWN)
    assert forwarded(lab, OWN) == 0
    lab.switch.set_asymmetric("p0", True)
    assert forwarded(lab, OWN) == 0
    lab.switch.set_asymmetric("p0", False)
    assert forwarded(lab, OWN) == 0


def test_a_queue_that_is_held_goes_on_when_the_port_is_symmetric_again(star: Lab) -> None:
    lab = star().lossless(OWN)
    lab.switch.set_asymmetric("p0", True)
    lab.rc(1, OTHER)
    paused(lab, OTHER)
    assert forwarded(lab, OTHER) == 0
    lab.switch.set_asymmetric("p0", False)
    assert forwarded(lab, OTHER) > 0


@pytest.mark.parametrize("asymmetric", [False, True])
def test_it_sends_pauses_of_its_own_priorities_alone_and_drops_of_the_others(
    star: Lab, asymmetric: bool
) -> None:
    lab = star().lossless(OWN).without_dcqcn()
    for port in lab.switch.ports:
        lab.switch.set_asymmetric(port, asymmetric)
    for host in (1, 2):
        lab.udp(host, OTHER, 8e9)
        lab.rc(host, OWN)
    lab.run_ms(30)
    sent = [lab.switch.pfc_counters(port) for port in ("p1", "p2")]
    assert all(each[OWN].tx_frames > 0 == each[OTHER].tx_frames for each in sent)
    queues = lab.switch.queue_counters("p0")
    assert queues[OWN].dropped_packets == 0 < queues[OTHER].dropped_packets
    groups = lab.switch.group_counters("p1")
    assert [i for i, group in enumerate(groups) if group.lossless] == [OWN]


def test_a_queue_that_was_shut_is_restored_to_what_it_obeyed_and_sent(star: Lab) -> None:
    lab = star().lossless(OWN)
    lab.switch.set_asymmetric("p0", True)
    guard = PfcWatchdog(auto_restore_multiplier=0, priorities=frozenset({OWN, OTHER}), phase_ms=50)
    lab.switch.guards.set("p0", guard)
    lab.rc(1, OTHER)
    lab.rc(2, OWN)
    lab.nic(0).flow_control.storm(frozenset({OWN, OTHER}))
    lab.run_ms(200)
    assert lab.switch.guards.counters("p0")[OTHER].shut
    assert lab.switch.pfc_working("p0") == frozenset()
    for priority in (OWN, OTHER):
        lab.switch.guards.recover("p0", priority)
    assert lab.switch.pfc_working("p0") == {OWN}
    lab.run_ms(1)
    assert forwarded(lab, OTHER) == 0
