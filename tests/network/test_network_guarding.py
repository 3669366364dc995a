"""Guards against endless pause: when they act, what they drop, when they let go; their limits."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from network_star import Lab, Star

from labtests.simlab.network import (
    DeadlockDetection,
    GuardCounters,
    PauseTimeout,
    PfcWatchdog,
    RcFlow,
    SwitchMemory,
)
from labtests.simlab.network.packets import new_packet
from labtests.simlab.network.pause_frames import set_time
from labtests.simlab.network.pausing import receive_pause
from labtests.simlab.network.tables import MIN_FRAME_BYTES, NONE, PAUSE
from labtests.simlab.network.watchdog import Guard

MS = 1_000_000  # ns
XOFF, XON = 65535, 0
SWITCH_PORT_0 = 1  # row of the switch's port towards host 0
STORM_STARTS = 5 * MS


def pause(lab: Star, priority: int, quanta: int) -> None:
    """A PFC frame arrives from host 0."""
    state = lab.network.state
    k = new_packet(state, PAUSE, NONE, MIN_FRAME_BYTES)
    packet = lab.network.tables.packet[k]
    packet.psn, packet.part, packet.cells, packet.target = 1 << priority, 0, 0, 0
    set_time(state, k, priority, quanta)
    receive_pause(state, SWITCH_PORT_0, k)


def storm(lab: Star, duration_ms: int, priority: int = 3) -> None:
    """Host 0 sends a pause of 2.6 ms or more every ms, and goes on sending data."""
    for _ in range(duration_ms):
        pause(lab, priority, XOFF)
        lab.run_ms(1)


def goodput_in_storm(lab: Star, flow: RcFlow, duration_ms: int) -> float:
    """Gbit/s of payload that arrives while host 0 goes on pausing."""
    before = flow.delivered_bytes
    storm(lab, duration_ms)
    return (flow.delivered_bytes - before) * 8 / duration_ms / 1e6


def release(lab: Star, priority: int = 3) -> None:
    pause(lab, priority, XON)


def guarded(lab: Lab, guard: Guard | None, seed: int = 1) -> Star:
    """Two senders at 25G into host 0, for so long that its queue is never empty."""
    made = lab(4, seed=seed, rate_bits_per_s=25 * 10**9).lossless(3, 4).without_dcqcn()
    made.switch.guards.set("p0", guard)
    made.rc(1, 3)
    made.rc(2, 3)
    made.run_ms(5)
    return made


def counted(lab: Star, priority: int = 3) -> GuardCounters:
    return lab.switch.guards.counters("p0")[priority]


def next_poll(time_ns: float, poll_ms: float, phase_ms: float) -> float:
    """The first time at or after `time_ns` at which a guard polls."""
    period, offset = poll_ms * MS, phase_ms * MS
    return offset - (offset - time_ns) // period * period


class TestShutdown:
    @pytest.mark.parametrize("phase_ms", [0, 4.999, 5, 5.001, 30, 99])
    def test_a_blocked_queue_is_shut_at_the_first_poll_after_interval_times_multiplier(
        self, star: Lab, phase_ms: float
    ) -> None:
        lab = guarded(star, PfcWatchdog(phase_ms=phase_ms))
        storm(lab, 205)
        shut = counted(lab).last_shut_ns
        assert shut == round(next_poll(STORM_STARTS + 100 * MS, 100, phase_ms))
        assert 100 * MS <= shut - STORM_STARTS < 200 * MS

    @pytest.mark.parametrize(("interval_ms", "multiplier"), [(100, 3), (200, 1), (300, 2)])
    def test_interval_and_multiplier_set_the_time(
        self, star: Lab, interval_ms: int, multiplier: int
    ) -> None:
        guard = PfcWatchdog(interval_ms=interval_ms, shutdown_multiplier=multiplier, phase_ms=40)
        lab = guarded(star, guard)
        detection = interval_ms * multiplier
        storm(lab, detection + 100)
        assert counted(lab).last_shut_ns == next_poll(STORM_STARTS + detection * MS, 100, 40)

    def test_over_the_phases_of_the_seeds_it_takes_100_to_199_ms(self, star: Lab) -> None:
        waited = []
        for seed in range(12):
            lab = guarded(star, PfcWatchdog(), seed=seed)
            storm(lab, 200)
            waited.append(((counted(lab).last_shut_ns or 0) - STORM_STARTS) / MS)
        assert all(100 <= ms < 200 for ms in waited)
        assert min(waited) < 125
        assert max(waited) > 175

    def test_without_a_guard_nothing_ends_the_pause(self, star: Lab) -> None:
        lab = guarded(star, None)
        storm(lab, 205)
        assert counted(lab).shutdowns == 0
        assert lab.switch.queue_counters("p0")[3].length_packets > 0
        assert lab.switch.drop_counters("p0").watchdog_drops == 0

    def test_a_queue_without_packets_is_not_shut_and_counts_from_its_first_packet(
        self, star: Lab
    ) -> None:
        lab = star(3, rate_bits_per_s=25 * 10**9).lossless(3).without_dcqcn()
        lab.switch.guards.set("p0", PfcWatchdog(phase_ms=10))
        storm(lab, 250)
        assert counted(lab).shutdowns == 0
        lab.rc(1, 3)
        storm(lab, 1)  # the flow starts within 10 us: at 250 ms
        storm(lab, 158)
        assert counted(lab).shutdowns == 0
        storm(lab, 2)
        assert counted(lab).last_shut_ns == 410 * MS

    def test_a_guard_watches_the_priorities_it_is_given(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog(priorities=frozenset({4})))
        storm(lab, 205)
        assert counted(lab).shutdowns == 0


class TestLimits:
    """What document 001 says a pause watchdog cannot do."""

    def test_no_help_against_over_subscription(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog())
        lab.run_ms(40)
        guard = PfcWatchdog(interval_ms=1, poll_ms=1)  # however fast it looks
        for port in lab.switch.ports:
            lab.switch.guards.set(port, guard)
        lab.run_ms(40)
        assert lab.nic(1).counters().pfc_rx_pause_us[3] > 10_000  # the victims pay
        assert all(
            counters.shutdowns == 0
            for port in lab.switch.ports
            for counters in lab.switch.guards.counters(port)
        )

    def test_none_below_100_ms_of_pause(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog(phase_ms=50))
        storm(lab, 98)
        release(lab)
        lab.run_ms(150)
        assert counted(lab).shutdowns == 0

    def test_none_against_pause_with_gaps(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog())
        forwarded = lab.switch.queue_counters("p0")[3].forwarded_packets
        for _ in range(5):
            storm(lab, 98)
            release(lab)
            lab.network.advance_to(lab.network.now_ns + 10_000)
        assert counted(lab).shutdowns == 0
        sent = lab.switch.queue_counters("p0")[3].forwarded_packets - forwarded
        assert 0 < sent < 0.001 * 0.49 * 25e9 / 8 / 1086  # of what 0.49 s could carry


class TestDropping:
    def test_every_packet_is_forwarded_or_dropped_once_where_the_counters_say(
        self, star: Lab
    ) -> None:
        lab = guarded(star, PfcWatchdog(auto_restore_multiplier=1, phase_ms=50))
        lab.rc(0, 3, to=3)  # data that comes in with the priority that will be shut
        lab.run_ms(1)
        storm(lab, 143)
        waiting = lab.switch.queue_counters("p0")[3].length_packets
        assert counted(lab).shutdowns == 0
        storm(lab, 200)
        found = counted(lab)
        assert found.drained == waiting > 0
        assert found.dropped > 0
        assert found.ingress_dropped > 0
        lab.run_ms(250)  # restored; the queue pairs try again
        places = [lab.switch.drop_counters(port) for port in lab.switch.ports]
        total = counted(lab)
        assert places[0].watchdog_drops == (
            total.drained + total.aggregate_dropped + total.aggregate_ingress_dropped
        )
        queues = [lab.switch.queue_counters(port)[3] for port in lab.switch.ports]
        inside = sum(queue.length_packets for queue in queues)
        sent = sum(lab.nic(host).counters().tx_packets[3] for host in range(4))
        forwarded = sum(queue.forwarded_packets for queue in queues)
        dropped = sum(queue.dropped_packets for queue in queues)
        assert dropped == sum(place.watchdog_drops for place in places)
        on_the_wire = sent - forwarded - dropped - inside
        assert 0 <= on_the_wire <= 4
        assert lab.switch.memory_use().used_cells == sum(queue.length_cells for queue in queues)

    def test_other_priorities_and_ports_go_on(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog(phase_ms=50))
        other = lab.rc(3, 4)  # to the same port, not paused
        storm(lab, 60)
        before = goodput_in_storm(lab, other, 20)
        storm(lab, 100)
        assert counted(lab).shut
        assert not counted(lab, 4).shutdowns
        assert goodput_in_storm(lab, other, 20) == pytest.approx(before, rel=0.001)
        assert lab.switch.queue_counters("p0")[4].dropped_packets == 0

    def test_victims_are_free_again_once_the_culprits_queue_is_shut(self, star: Lab) -> None:
        def victim_rate(guard: PfcWatchdog | None) -> float:
            lab = guarded(star, guard)
            victim = lab.rc(1, 3, to=3)  # held back with host 1's data to host 0
            storm(lab, 300)
            return goodput_in_storm(lab, victim, 10)

        assert victim_rate(None) == 0
        assert victim_rate(PfcWatchdog()) > 10

    def test_a_second_shutdown_counts_anew_and_adds_to_the_aggregate(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog(fixed_restore_multiplier=1, phase_ms=50))
        storm(lab, 244)  # shut 150, restored 250 ms
        first = counted(lab)
        storm(lab, 216)  # the senders try again every 67 ms
        second = counted(lab)
        assert (first.shutdowns, second.shutdowns) == (1, 2)
        assert second.aggregate_dropped == first.dropped + second.dropped
        assert second.drained_and_dropped == second.drained + second.dropped


class TestRestore:
    def test_auto_restore_waits_for_interval_times_multiplier_without_a_pause(
        self, star: Lab
    ) -> None:
        lab = guarded(star, PfcWatchdog(auto_restore_multiplier=3, phase_ms=50))
        storm(lab, 300)
        last_pause = lab.network.now_ns - MS
        lab.run_ms(250)
        pause(lab, 3, XOFF)  # one more starts it again
        last_pause = lab.network.now_ns
        lab.run_ms(500)
        assert counted(lab).last_restored_ns == next_poll(last_pause + 300 * MS, 100, 50)
        assert not counted(lab).shut

    def test_while_pauses_arrive_it_never_restores(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog(auto_restore_multiplier=1))
        storm(lab, 600)
        assert counted(lab).shut
        assert counted(lab).restored == 0

    def test_an_xon_is_no_pause(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog(auto_restore_multiplier=1, phase_ms=50))
        storm(lab, 200)
        for _ in range(220):
            release(lab)
            lab.run_ms(1)
        assert counted(lab).restored == 1

    def test_fixed_restore_comes_in_spite_of_pauses_and_the_queue_is_shut_again(
        self, star: Lab
    ) -> None:
        guard = PfcWatchdog(auto_restore_multiplier=0, fixed_restore_multiplier=2, phase_ms=50)
        lab = guarded(star, guard)
        storm(lab, 400)  # blocked 5, shut 150, restored 350 ms
        found = counted(lab)
        assert (found.last_shut_ns, found.last_restored_ns) == (150 * MS, 350 * MS)
        storm(lab, 200)
        assert counted(lab).shutdowns == 2

    def test_without_either_only_a_hand_restores(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog(auto_restore_multiplier=0))
        storm(lab, 200)
        lab.run_ms(3000)
        assert counted(lab).shut
        lab.switch.guards.recover("p0", 3)
        assert not counted(lab).shut
        assert counted(lab).restored == 1
        lab.switch.guards.recover("p0", 3)  # of no effect
        assert counted(lab).restored == 1

    def test_pfc_works_again_after_it(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog(auto_restore_multiplier=0))
        storm(lab, 200)
        assert 3 not in lab.switch.pfc_working("p0")
        lab.switch.guards.recover("p0", 3)
        assert 3 in lab.switch.pfc_working("p0")
        lab.rc(3, 3)
        lab.run_ms(1)
        storm(lab, 10)
        before = lab.switch.queue_counters("p0")[3].forwarded_packets
        storm(lab, 10)
        assert lab.switch.queue_counters("p0")[3].forwarded_packets == before

    def test_new_pfc_settings_of_the_port_end_a_shutdown(self, star: Lab) -> None:
        lab = guarded(star, PfcWatchdog())
        storm(lab, 200)
        lab.switch.set_pfc("p0", "off", frozenset())
        assert not counted(lab).shut
        assert lab.switch.pfc_working("p0") == frozenset()
        assert lab.network.tables.switch[0].shut == 0


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
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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
