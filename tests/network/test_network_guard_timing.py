"""What guards may do, other guards than watchdogs, and their settings."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from network_guarded import (
    MS,
    STORM_STARTS,
    counted,
    goodput_in_storm,
    guarded,
    next_poll,
    release,
    storm,
)
from network_star import Lab, Star

from labtests.network import (
    DeadlockDetection,
    Mistimed,
    PauseTimeout,
    PfcWatchdog,
    SwitchMemory,
)


def released_after_ms(lab: Star) -> int:
    """How long the port stays shut, to 10 ms, when it is paused no longer."""
    release(lab)
    waited_ms = 0
    while counted(lab).shut and waited_ms < 1000:
        lab.run_ms(10)
        waited_ms += 10
    return waited_ms


class TestActions:
    def test_forward_serves_the_queue_in_spite_of_pauses(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog(action="forward"))
        storm(lab, 200)
        before = lab.nic(0).counters().rx_packets[3]
        storm(lab, 10)
        received = lab.nic(0).counters().rx_packets[3] - before
        assert received > 0.9 * 10e-3 * 25e9 / 8 / 1106
        assert lab.switch.drop_counters("p0").watchdog_drops == 0

    def test_alert_only_counts(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog(action="alert", auto_restore_multiplier=1))
        storm(lab, 300)
        found = counted(lab)
        assert (found.shutdowns, found.drained, found.dropped) == (1, 0, 0)
        assert lab.switch.queue_counters("p0")[3].length_packets > 0
        assert 3 in lab.switch.pfc_working("p0")
        release(lab)
        lab.run_ms(220)
        assert counted(lab).restored == 1


class TestDeadlockDetection:
    @pytest.mark.parametrize(("interval_ms", "precision_ms"), [(15, 1), (50, 10), (300, 100)])
    def test_it_acts_after_the_interval_by_the_precision_of_its_timer(
        self, star: Lab, interval_ms: float, precision_ms: float
    ) -> None:
        guard = DeadlockDetection(
            interval_ms=interval_ms, precision_ms=precision_ms, delay_ms=100, phase_ms=0.4
        )
        lab = guarded(star, guard)
        storm(lab, round(interval_ms + precision_ms) + 1)
        expected = next_poll(STORM_STARTS + interval_ms * MS, precision_ms, 0.4)
        assert counted(lab).last_shut_ns == round(expected)

    def test_it_forwards_meanwhile_and_watches_again_after_the_delay(self, star: Lab) -> None:
        lab = guarded(star, DeadlockDetection(interval_ms=50, delay_ms=30, phase_ms=0))
        storm(lab, 56)
        found = counted(lab)
        assert (found.last_shut_ns, found.shut) == (60 * MS, True)
        storm(lab, 36)
        assert counted(lab).last_restored_ns == 90 * MS
        assert lab.switch.drop_counters("p0").watchdog_drops == 0
        storm(lab, 60)
        assert counted(lab).shutdowns == 2

    def test_it_can_discard_instead(self, star: Lab) -> None:
        guard = DeadlockDetection(interval_ms=50, delay_ms=30, action="drop")
        lab = guarded(star, guard)
        storm(lab, 80)
        assert counted(lab).drained > 0
        assert counted(lab).dropped > 0

    def test_by_hand(self, star: Lab) -> None:
        lab = guarded(star, DeadlockDetection(interval_ms=50, recover_mode="manual"))
        storm(lab, 500)
        assert counted(lab).shut
        lab.switch.guards.recover("p0", 3)
        assert (counted(lab).shut, counted(lab).restored) == (False, 1)


class TestPauseTimeout:
    def test_it_drops_all_priorities_bound_for_the_port_and_nothing_that_comes_in(
        self, star: Lab
    ) -> None:
        lab = guarded(star, PauseTimeout(timeout_ms=100, phase_ms=50))
        other = lab.rc(3, 4)
        inward = lab.rc(0, 3, to=3)
        storm(lab, 144)
        assert counted(lab).shutdowns == 0
        assert goodput_in_storm(lab, other, 10) > 0  # until 150 ms
        found = counted(lab)
        assert found.last_shut_ns == 150 * MS
        storm(lab, 2)  # what was on the wire
        assert goodput_in_storm(lab, other, 10) == 0
        queue = lab.switch.queue_counters("p0")[4]
        assert queue.dropped_packets > 0
        assert counted(lab).ingress_dropped == 0
        assert inward.delivered_bytes > 0
        assert 3 in lab.switch.pfc_working("p0")

    def test_it_ends_at_the_first_poll_without_a_pause(self, star: Lab) -> None:
        lab = guarded(star, PauseTimeout(timeout_ms=100, phase_ms=50))
        storm(lab, 300)
        assert counted(lab).restored == 0
        release(lab)
        lab.run_ms(100)
        assert counted(lab).last_restored_ns == 350 * MS
        assert lab.network.tables.switch[0].shut == 0
        before = lab.nic(0).counters().rx_packets[3]
        lab.run_ms(100)
        assert lab.nic(0).counters().rx_packets[3] > before


GUARD = st.one_of(
    st.builds(
        PfcWatchdog,
        interval_ms=st.sampled_from([1, 2]),
        poll_ms=st.sampled_from([0.5, 1]),
        shutdown_multiplier=st.integers(1, 2),
        auto_restore_multiplier=st.sampled_from([0, 1, 2]),
        fixed_restore_multiplier=st.sampled_from([0, 1, 3]),
        action=st.sampled_from(["drop", "forward", "alert"]),
    ),
    st.builds(
        DeadlockDetection,
        interval_ms=st.sampled_from([1, 2]),
        precision_ms=st.sampled_from([0.1, 1]),
        delay_ms=st.sampled_from([0.5, 2]),
        action=st.sampled_from(["drop", "forward"]),
    ),
    st.builds(PauseTimeout, timeout_ms=st.sampled_from([1, 3]), poll_ms=st.just(0.5)),
)
STORM = st.tuples(
    st.integers(0, 3),
    st.sets(st.sampled_from([3, 4]), min_size=1),
    st.integers(1, 12),  # ms until its end
)


@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    guards=st.lists(st.none() | GUARD, min_size=4, max_size=4),
    storms=st.lists(STORM, min_size=1, max_size=3),
    flows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from([3, 4, 5])),
        min_size=1,
        max_size=5,
    ),
    dynamic=st.booleans(),
)
def test_whatever_guards_do_no_packet_is_lost_from_the_books(
    star: Lab, guards: list, storms: list, flows: list, dynamic: bool
) -> None:
    memory = SwitchMemory(total_bytes=2_000_000, egress_alpha=1.0 if dynamic else None)
    lab = star(4, memory=memory).lossless(3, 4).without_dcqcn()
    for port, guard in enumerate(guards):
        lab.switch.guards.set(f"p{port}", guard)
    started = [lab.udp(a, i, 6e9, 3000, to=(a + step) % 4) for a, step, i in flows]
    lab.run_ms(1)
    for host, priorities, stop_ms in storms:
        lab.nic(host).flow_control.storm(frozenset(priorities), stop_ns=(1 + stop_ms) * MS)
    lab.run_ms(14)
    for flow in started:
        flow.stop()
    lab.run_ms(8)
    for port in lab.switch.ports:
        for priority in (3, 4):
            lab.switch.guards.recover(port, priority)
    lab.run_ms(8)
    queues = [q for port in lab.switch.ports for q in lab.switch.queue_counters(port)]
    nics = [lab.nic(host).counters() for host in range(4)]
    sent = sum(sum(nic.tx_packets) for nic in nics)
    dropped = sum(queue.dropped_packets for queue in queues)
    assert sum(sum(nic.rx_packets) for nic in nics) + dropped == sent > 0
    places = [lab.switch.drop_counters(port) for port in lab.switch.ports]
    by_guards = sum(place.watchdog_drops for place in places)
    others = sum(place.input_drops + place.output_buffer_drops for place in places)
    assert by_guards + others == dropped
    table = lab.network.tables.guard
    assert by_guards >= int(table.aggregate_dropped.sum() + table.aggregate_ingress_dropped.sum())
    assert lab.switch.memory_use().used_cells == 0
    assert lab.network.tables.switch[0].shut == 0
    assert not table.drops_ingress.any()
    assert not table.drops_egress.any()
    assert all(lab.switch.pfc_working(port) == {3, 4} for port in lab.switch.ports)


class TestSettings:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"interval_ms": 0},
            {"shutdown_multiplier": 0},
            {"shutdown_multiplier": 11},
            {"auto_restore_multiplier": 101},
            {"fixed_restore_multiplier": -1},
            {"poll_ms": 0},
        ],
    )
    def test_a_watchdog_refuses_what_the_switch_would(self, wrong: dict) -> None:
        with pytest.raises(ValueError, match=r"is not .*\.\."):
            PfcWatchdog(**wrong)

    def test_automatic_recovery_needs_a_delay(self) -> None:
        with pytest.raises(ValueError, match="needs a delay"):
            DeadlockDetection(interval_ms=10)

    def test_a_port_has_one_guard_and_tells_which(self, star: Lab) -> None:
        lab = star()
        assert lab.switch.guards.get("p0") is None
        lab.switch.guards.set("p0", PfcWatchdog())
        other = DeadlockDetection(interval_ms=10, delay_ms=10)
        lab.switch.guards.set("p0", other)
        assert lab.switch.guards.get("p0") == other
        lab.switch.guards.set("p0", None)
        assert lab.switch.guards.get("p0") is None

    def test_a_hasty_watchdog_waits_half_as_long_and_one_that_is_not_stays_shut(
        self, star: Lab
    ) -> None:
        def shut_after_the_storm_ms(hasty: bool) -> int:
            wanted = PfcWatchdog(auto_restore_multiplier=4, phase_ms=0)
            lab = guarded(star, wanted)
            if hasty:
                lab.switch.guards.mistime("p0", Mistimed(serves=0.5))
            assert lab.switch.guards.get("p0") == wanted
            storm(lab, 250)
            assert counted(lab).shut
            if not hasty:
                lab.switch.guards.mistime("p0", Mistimed())  # a fault that was none is healed
                assert counted(lab).shut
            return released_after_ms(lab)

        hasty, usual = shut_after_the_storm_ms(True), shut_after_the_storm_ms(False)
        assert 200 - 50 <= hasty <= 300
        assert 400 - 50 <= usual <= 500

    def test_a_late_watchdog_takes_so_many_times_as_long_to_shut_a_queue(self, star: Lab) -> None:
        def shut_ns(shuts: float) -> int | None:
            lab = guarded(star, PfcWatchdog(phase_ms=0))
            lab.switch.guards.mistime("p0", Mistimed(shuts=shuts))
            storm(lab, 450)
            return counted(lab).last_shut_ns

        first_poll = next_poll(STORM_STARTS + 100 * MS, 100, 0)
        assert shut_ns(1) == first_poll
        assert shut_ns(3) == first_poll + 200 * MS

    def test_a_pause_timeout_that_goes_on_drops_behind_the_last_pause(self, star: Lab) -> None:
        def open_after_ms(lingers_ms: float) -> int:
            lab = guarded(star, PauseTimeout(timeout_ms=100, phase_ms=0))
            lab.switch.guards.mistime("p0", Mistimed(lingers_ms=lingers_ms))
            storm(lab, 250)
            assert counted(lab).shut
            return released_after_ms(lab)

        assert open_after_ms(0) <= 100
        assert 300 - 50 <= open_after_ms(300) <= 400

    def test_a_guard_that_never_acts_changes_nothing(self, star: Lab) -> None:
        def counters(guard: PfcWatchdog | None) -> list:
            lab = star(4, memory=SwitchMemory(xon_offset_cells=48)).lossless(3).without_dcqcn()
            for port in lab.switch.ports:
                lab.switch.guards.set(port, guard)
            lab.rc(1, 3)
            lab.rc(2, 3)
            lab.run_ms(10)
            return [lab.nic(host).counters() for host in range(4)]

        assert counters(PfcWatchdog(phase_ms=0)) == counters(None)
