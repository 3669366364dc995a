"""Deadlock detection of Comware: its settings are made, read back and put back, and the emulated
switch releases what a storm of pauses holds."""

from dataclasses import replace

import pytest

from labtests.capabilities.device import DeadlockDetecting
from labtests.capabilities.records import (
    DeadlockTimes,
    PfcSetting,
    PortDeadlockDetection,
    TrustSetting,
)
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.network import UdpRequest

MS = 1_000_000
OUT, IN = "Twenty-FiveGigE1/0/13", "Twenty-FiveGigE1/0/14"
DELIVERED, OFF = DeadlockTimes(), PortDeadlockDetection(on=False)
AUTO = PortDeadlockDetection(on=True)
MANUAL = PortDeadlockDetection(on=True, recovery="manual")
SOON = DeadlockTimes(precision="normal", detect=((3, 5),), release=((3, 10),))
"""50 ms, and 100 ms."""


def test_times_are_made_read_back_and_put_back_one_line_for_each_that_differs(bench, driver):
    text = bench.shown()
    wanted = DeadlockTimes(
        precision="high", action="discard", detect=((3, 10), (5, 12)), release=((3, 10),)
    )
    assert driver.deadlock_times("") == DELIVERED
    driver.set_deadlock_times("", wanted)
    assert driver.deadlock_times("") == wanted
    assert bench.configured == [
        "system-view",
        "priority-flow-control deadlock precision high",
        "priority-flow-control deadlock cos 3 interval 10",
        "priority-flow-control deadlock cos 5 interval 12",
        "priority-flow-control deadlock auto-recover cos 3 delay 10",
        "priority-flow-control deadlock auto-recover action discard",
        "return",
    ]
    driver.set_deadlock_times("", SOON)
    assert driver.deadlock_times("") == SOON
    driver.set_deadlock_times("", DELIVERED)
    assert driver.deadlock_times("") == DELIVERED
    assert bench.shown() == text


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (DeadlockTimes(precision="fuzzy"), "fuzzy is not in high, normal, low"),
        (DeadlockTimes(action="explode"), "explode is not in forwarding, discard"),
    ],
)
def test_a_word_that_the_line_does_not_take_is_refused_before_anything_is_sent(
    bench, driver, wanted, says
):
    with pytest.raises(CommandRejected, match=says):
        driver.set_deadlock_times("", wanted)
    assert bench.configured == []


@pytest.mark.parametrize(
    "wanted", [AUTO, MANUAL, PortDeadlockDetection(on=False, recovery="manual")]
)
def test_a_port_is_looked_at_or_not_and_gets_back_what_it_said(bench, driver, wanted):
    text = bench.shown()
    for each in (wanted, AUTO, MANUAL, OFF):
        driver.set_deadlock_detection(OUT, each)
        assert driver.deadlock_detection(OUT) == each
    assert bench.shown() == text


@pytest.mark.parametrize("wanted", [AUTO, OFF, PortDeadlockDetection(on=False, recovery="manual")])
def test_who_leaves_the_manual_mode_recovers_first(driver, wanted):
    lines = driver.deadlock_detection_commands(OUT, MANUAL, wanted)
    assert lines[1] == "priority-flow-control deadlock recover"
    assert lines[0] == f"interface {OUT}"


@pytest.mark.parametrize("earlier", [AUTO, OFF])
def test_nobody_else_recovers(driver, earlier):
    lines = driver.deadlock_detection_commands(OUT, earlier, MANUAL)
    assert "priority-flow-control deadlock recover" not in lines


def ticks_of(driver, priorities, detect_ms, release_ms):
    able = driver.driver.able(DeadlockDetecting)
    return able.deadlock_times_for(priorities, detect_ms=detect_ms, release_ms=release_ms)


def test_a_configuration_that_was_cut_is_refused(bench, driver, monkeypatch):
    driver.set_deadlock_times("", SOON)
    whole = bench.run

    def cut(command, **options):
        reply = whole(command, **options)
        object.__setattr__(reply, "text", reply.text.removesuffix("return\n"))
        return reply

    monkeypatch.setattr(bench, "run", cut)
    with pytest.raises(UnreadableOutput, match="cut off"):
        driver.deadlock_times("")


@pytest.mark.parametrize(
    ("asked_ms", "ticks"),
    [
        ((10, 15), ("high", 10, 15)),
        ((100, 100), ("normal", 10, 10)),
        ((50, 150), ("normal", 5, 15)),
        ((100, 1000), ("low", 1, 10)),
        ((1, 1500), ("low", 1, 15)),
    ],
)
def test_times_in_ms_become_the_finest_ticks_that_have_room(driver, asked_ms, ticks):
    times, (precision, detect, release) = ticks_of(driver, {5, 3}, *asked_ms), ticks
    assert times == DeadlockTimes(
        precision=precision, detect=((3, detect), (5, detect)), release=((3, release), (5, release))
    )


@pytest.mark.parametrize(("detect_ms", "release_ms"), [(0, 100), (100, 1501), (1600, 10)])
def test_times_that_no_timer_has_are_refused(driver, detect_ms, release_ms):
    with pytest.raises(CommandRejected, match="no timer takes"):
        ticks_of(driver, {3}, detect_ms, release_ms)


@pytest.mark.parametrize(
    ("setting", "says"),
    [(AUTO, "may switch PFC off"), (MANUAL, "until `priority-flow-control deadlock recover`")],
)
def test_it_is_an_obstacle_that_is_named(driver, setting, says):
    assert driver.obstacles() == ()
    driver.set_deadlock_detection(OUT, setting)
    assert any(OUT in each and says in each for each in driver.obstacles())


# -- what it does ----------------------------------------------------------------------------------


@pytest.fixture
def busy(driver, simulation):
    """Half of the line from A to C, lossless; what pauses of C do to it is counted at OUT."""
    for port in (OUT, IN):
        driver.set_trust(port, TrustSetting(source="dscp"))
        driver.set_pfc(port, PfcSetting(mode="on", priorities=frozenset({3})))
    for name in "AC":
        nic = simulation.network.nic(name, "eth0")
        nic.set_trust("dscp")
        nic.set_pfc(frozenset({3}))
    simulation.network.start_udp(
        UdpRequest(
            device="A",
            interface="eth0",
            destination="192.168.10.12",
            tos=24 << 2,
            rate_bits_per_s=5_000_000_000,
            datagram_bytes=1400,
        )
    )
    simulation.advance(10 * MS)
    return simulation


def forwarded(simulation, switch, storm_ms):
    """What the queue forwards while C pauses it, in the second half of that time."""
    control = simulation.network.nic("C", "eth0").flow_control
    control.storm(frozenset({3}), period_us=100, stop_ns=simulation.timeline.now_ns + storm_ms * MS)
    simulation.advance(storm_ms * MS // 2)
    before = switch.network.queue_counters(OUT)[3].forwarded_packets
    simulation.advance(storm_ms * MS // 2)
    return switch.network.queue_counters(OUT)[3].forwarded_packets - before


def test_pauses_hold_a_priority_for_as_long_as_they_come(busy, switch):
    assert forwarded(busy, switch, 400) == 0


def test_a_port_that_looks_releases_the_priority_and_holds_it_again_after_the_delay(
    busy, switch, driver
):
    driver.set_deadlock_times("", SOON)
    driver.set_deadlock_detection(OUT, AUTO)
    assert forwarded(busy, switch, 600) > 0
    counted = switch.network.guards.counters(OUT)[3]
    assert counted.shutdowns >= 2
    assert counted.restored >= counted.shutdowns - 1


def test_in_manual_mode_pfc_stays_off_until_somebody_recovers_it(busy, switch, driver, bench):
    driver.set_deadlock_times("", SOON)
    driver.set_deadlock_detection(OUT, MANUAL)
    forwarded(busy, switch, 200)
    busy.advance(1000 * MS)
    assert switch.network.guards.counters(OUT)[3].shut
    assert forwarded(busy, switch, 100) > 0
    bench.type(f"interface {OUT}", "priority-flow-control deadlock recover")
    assert not switch.network.guards.counters(OUT)[3].shut


@pytest.mark.parametrize(
    "times", [DELIVERED, DeadlockTimes(detect=((3, 5),)), DeadlockTimes(release=((3, 5),))]
)
def test_without_both_times_nothing_recovers_by_itself_and_nothing_is_looked_at(
    busy, switch, driver, times
):
    driver.set_deadlock_times("", times)
    driver.set_deadlock_detection(OUT, AUTO)
    assert switch.network.guards.get(OUT) is None
    assert forwarded(busy, switch, 200) == 0


def test_the_action_is_what_the_port_does_with_packets_meanwhile(busy, switch, driver):
    driver.set_deadlock_times("", replace(SOON, action="discard"))
    driver.set_deadlock_detection(OUT, AUTO)
    forwarded(busy, switch, 200)
    assert switch.network.queue_counters(OUT)[3].dropped_packets > 0
