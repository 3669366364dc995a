"""Pause watchdogs: when they act, what they drop, when they let go; their limits."""

import pytest
from network_guarded import (
    MS,
    STORM_STARTS,
    XOFF,
    counted,
    goodput_in_storm,
    guarded,
    next_poll,
    pause,
    release,
    storm,
)
from network_star import Lab

from labtests.network import (
    PfcWatchdog,
)


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
