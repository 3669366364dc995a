"""One mechanism at a time, held against its closed form."""

import pytest
from network_star import Lab

from labtests.network import Schedule, SwitchMemory, WredCurve, headroom_for
from labtests.network.congestion import handle_cnp, pace
from labtests.network.dcqcn import update_alpha
from labtests.network.pausing import hold

PS_PER_US = 1_000_000
QUANTUM_NS_10G = 51.2


class TestPause:
    def test_a_pause_lasts_its_quanta_and_ends_by_itself(self, star: Lab) -> None:
        lab = star().lossless(3)
        lab.rc(1, 3)
        lab.run_ms(1)
        nic = lab.nic(1)
        before = nic.counters()
        hold(lab.network.state, 2, 3, 1000 * 51_200)  # port 2 is host 1's
        lab.network.advance_to(lab.network.now_ns + 2_000)  # the frame in progress is gone
        begun = nic.counters().tx_packets[3]
        lab.network.advance_to(lab.network.now_ns + 49_100)
        assert nic.counters().tx_packets[3] == begun  # 51.1 us: still held
        lab.network.advance_to(lab.network.now_ns + 200)
        after = nic.counters()
        assert after.tx_packets[3] == begun + 1  # 51.3 us: going on
        assert after.pfc_rx_pause_us[3] - before.pfc_rx_pause_us[3] == 51
        assert after.pfc_rx_transitions[3] - before.pfc_rx_transitions[3] == 1

    def test_the_longest_pause_at_10g_is_3355_us(self, star: Lab) -> None:
        lab = star().lossless(3)
        hold(lab.network.state, 2, 3, 65535 * int(lab.network.tables.port[2].quantum_ps))
        lab.run_ms(10)
        assert lab.nic(1).counters().pfc_rx_pause_us[3] == int(65535 * QUANTUM_NS_10G / 1000)

    def test_a_pause_that_lasts_is_refreshed_and_the_sender_never_goes_on(self, star: Lab) -> None:
        lab = star().lossless(3)
        flow = lab.rc(1, 3)
        lab.run_ms(0.1)
        hold(lab.network.state, 1, 3, 30 * 1000 * PS_PER_US)  # the switch's port to the receiver
        lab.run_ms(9)
        held = lab.nic(1).counters()
        lab.run_ms(15)
        still = lab.nic(1).counters()
        assert still.tx_packets[3] == held.tx_packets[3]
        assert still.pfc_rx_pause_us[3] - held.pfc_rx_pause_us[3] == pytest.approx(15_000, abs=1)
        frames = still.pfc_rx_frames[3] - held.pfc_rx_frames[3]
        assert frames == pytest.approx(15_000 / (65535 * QUANTUM_NS_10G / 2000), abs=1)
        lab.run_ms(30)
        assert flow.delivered_bytes > 0
        assert flow.error_status is None

    def test_a_nic_obeys_only_the_priorities_on_which_its_pfc_is_on(self, star: Lab) -> None:
        lab = star().without_dcqcn().lossless(3, 5)
        lab.nic(2).set_pfc(frozenset({5}))  # sends priority 3 nevertheless
        lab.rc(1, 3)
        lab.rc(2, 3)
        lab.run_ms(30)
        assert lab.nic(1).counters().pfc_rx_pause_us[3] > 0
        deaf = lab.nic(2).counters()
        assert deaf.pfc_rx_frames[3] > 0
        assert deaf.pfc_rx_pause_us[3] == 0
        assert lab.switch.drop_counters("p2").headroom_drops > 0
        assert lab.switch.drop_counters("p1").input_drops == 0

    def test_pfc_in_mode_auto_without_a_dcbx_peer_does_nothing(self, star: Lab) -> None:
        lab = star().without_dcqcn()
        for port in ("p0", "p1", "p2"):
            lab.switch.set_pfc(port, "auto", frozenset(range(8)))
        lab.rc(1, 3)
        lab.rc(2, 3)
        lab.run_ms(20)
        assert not lab.switch.pfc_operational("p1")
        assert lab.nic(1).counters().pfc_rx_frames[3] == 0
        assert lab.switch.queue_counters("p0")[3].dropped_packets > 0

    def test_one_paused_priority_does_not_touch_another_of_the_same_sender(self, star: Lab) -> None:
        lab = star(5).without_dcqcn().lossless(3, 4)
        lab.rc(1, 3)
        lab.rc(4, 3)
        lab.rc(2, 3)
        free = lab.rc(1, 4, to=3)
        lab.run_ms(20)
        rate = lab.goodput(free, 10)
        assert lab.nic(1).counters().pfc_rx_pause_us[3] > 0
        assert lab.nic(1).counters().pfc_rx_pause_us[4] == 0
        assert rate > 0.49 * 9.26

    def test_xoff_and_xon_alternate_with_the_period_of_the_closed_form(self, star: Lab) -> None:
        # formulas: T = 4 ((xoff - xon) + 2 R d + MTU / 2) / R, both ports in step; d = 1 us
        offset = 300  # cells; a RoCE frame is 6 of them and 1106 bytes on the wire
        memory = SwitchMemory(xoff_cells=600, xon_offset_cells=offset)
        lab = star(length_m=200, memory=memory).without_dcqcn().lossless(3)
        lab.rc(1, 3)
        lab.rc(2, 3)
        lab.run_ms(5)
        before = lab.nic(1).counters().pfc_rx_transitions[3]
        lab.run_ms(50)
        pauses = lab.nic(1).counters().pfc_rx_transitions[3] - before
        rate = 1.25e9
        period_s = 4 * (offset / 6 * 1106 + 2 * rate * 1e-6 + 1106 / 2) / rate
        assert pauses / 0.05 == pytest.approx(1 / period_s, rel=0.05)


class TestHeadroom:
    def test_the_calculator_gives_the_two_figures_of_the_white_paper(self) -> None:
        assert headroom_for(100_000_000_000, 100) == 408
        assert headroom_for(25_000_000_000, 15) == 98

    @pytest.mark.parametrize(("gigabit", "length_m"), [(10, 3), (25, 15), (100, 100), (100, 300)])
    def test_enough_headroom_never_drops_and_stays_below_its_bound(
        self, star: Lab, gigabit: int, length_m: float
    ) -> None:
        lab = star(5, rate_bits_per_s=gigabit * 10**9, length_m=length_m)
        lab.without_dcqcn().lossless(3)
        for host in range(1, 5):
            lab.rc(host, 3)
        lab.run_ms(10)
        assert sum(q.dropped_packets for q in lab.switch.queue_counters("p0")) == 0
        peak = max(lab.switch.memory_use().peak_headroom_cells.values())
        rate_bytes_per_s = gigabit * 1.25e8
        bound_bytes = 2 * rate_bytes_per_s * length_m * 5e-9 + 2 * 1106  # 2 R d + 2 MTU
        assert 0 < peak <= (bound_bytes // 1106 + 1) * 6

    def test_too_little_headroom_drops_at_the_ingress(self, star: Lab) -> None:
        memory = SwitchMemory(headroom_cells=6)
        lab = star(5, rate_bits_per_s=100_000_000_000, length_m=300, memory=memory)
        lab.without_dcqcn().lossless(3)
        for host in range(1, 5):
            lab.rc(host, 3)
        lab.run_ms(10)
        drops = [lab.switch.drop_counters(f"p{i}") for i in range(5)]
        assert sum(drop.headroom_drops for drop in drops[1:]) > 0
        assert drops[0].output_buffer_drops == 0
        queue = lab.switch.queue_counters("p0")[3]
        assert queue.dropped_packets == sum(drop.headroom_drops for drop in drops)

    @pytest.mark.parametrize(("alpha", "senders"), [(1.0, 2), (1 / 8, 4), (1 / 4, 3)])
    def test_paused_groups_settle_at_the_dynamic_threshold(
        self, star: Lab, alpha: float, senders: int
    ) -> None:
        # formulas: N groups hold N alpha B / (1 + alpha N), B the shared pool
        memory = SwitchMemory(alpha=alpha, xon_offset_cells=12, total_bytes=2_000_000)
        lab = star(senders + 1, memory=memory).without_dcqcn().lossless(3)
        for host in range(1, senders + 1):
            lab.rc(host, 3)
        lab.run_ms(20)
        use = lab.switch.memory_use()
        expected = senders * alpha * use.shared_cells / (1 + alpha * senders)
        assert use.shared_used_cells == pytest.approx(expected, rel=0.03)


class TestScheduling:
    @pytest.mark.parametrize("weights", [(1, 1), (1, 3), (5, 2)])
    def test_byte_count_weights_share_bytes_on_the_wire(
        self, star: Lab, weights: tuple[int, int]
    ) -> None:
        lab = star().without_dcqcn().lossless()
        queues = [("1", 1)] * 8
        queues[2], queues[4] = ("1", weights[0]), ("1", weights[1])
        lab.switch.set_schedule("p0", Schedule(queues=tuple(queues)))
        lab.rc(1, 2, message_bytes=1 << 20)
        lab.udp(2, 4, 20e9)
        lab.run_ms(5)
        before = lab.switch.queue_counters("p0")
        lab.run_ms(40)
        after = lab.switch.queue_counters("p0")
        share = [
            after[i].forwarded_bytes
            - before[i].forwarded_bytes
            + 20 * (after[i].forwarded_packets - before[i].forwarded_packets)
            for i in (2, 4)
        ]
        assert share[0] / share[1] == pytest.approx(weights[0] / weights[1], rel=0.01)

    def test_packet_weights_share_packets(self, star: Lab) -> None:
        lab = star().without_dcqcn().lossless()
        queues = [("1", 1)] * 8
        queues[4] = ("1", 3)
        lab.switch.set_schedule("p0", Schedule(unit="weight", queues=tuple(queues)))
        lab.rc(1, 2)
        lab.udp(2, 4, 20e9)
        lab.run_ms(5)
        before = lab.switch.queue_counters("p0")
        lab.run_ms(40)
        after = lab.switch.queue_counters("p0")
        two, four = (after[i].forwarded_packets - before[i].forwarded_packets for i in (2, 4))
        assert four / two == pytest.approx(3, rel=0.01)

    @pytest.mark.parametrize("strict_by", ["discipline", "group"])
    def test_a_strict_queue_takes_all(self, star: Lab, strict_by: str) -> None:
        lab = star().without_dcqcn().lossless()
        queues = tuple(("sp", 1) if i == 5 else ("1", 7) for i in range(8))
        schedule = (
            Schedule(discipline="sp") if strict_by == "discipline" else Schedule(queues=queues)
        )
        lab.switch.set_schedule("p0", schedule)
        low, high = lab.rc(1, 2), lab.rc(2, 5)
        lab.run_ms(20)
        before = low.delivered_bytes
        assert lab.goodput(high, 20) == pytest.approx(9.26, rel=0.001)
        assert low.delivered_bytes == before

    def test_the_two_groups_share_one_to_one_whatever_their_weights(self, star: Lab) -> None:
        lab = star(4).without_dcqcn().lossless()
        groups = {1: ("1", 9), 2: ("1", 1), 4: ("2", 1)}
        queues = tuple(groups.get(i, ("1", 1)) for i in range(8))
        lab.switch.set_schedule("p0", Schedule(queues=queues))
        flows = [lab.rc(1, 1), lab.rc(2, 2), lab.rc(3, 4)]
        lab.run_ms(20)
        before = [flow.delivered_bytes for flow in flows]
        lab.run_ms(40)
        rates = [
            (flow.delivered_bytes - b) * 8 / 40e6 for flow, b in zip(flows, before, strict=True)
        ]
        assert rates[2] == pytest.approx(9.26 / 2, rel=0.01)
        assert rates[0] / rates[1] == pytest.approx(9, rel=0.02)


class TestMarking:
    def test_above_the_high_limit_ecn_capable_packets_are_all_marked(self, star: Lab) -> None:
        lab = star().without_dcqcn().lossless()
        curve = WredCurve(low_limit=0, high_limit=0, weighting_exponent=0, ecn=True)
        lab.switch.set_wred("p0", 3, curve)
        lab.rc(1, 3, messages=10)
        lab.run_ms(5)
        queue = lab.switch.queue_counters("p0")[3]
        assert queue.marked_packets == queue.forwarded_packets == 640
        assert lab.nic(0).counters().np_ecn_marked == 640

    def test_between_the_limits_the_share_follows_the_curve(self, star: Lab) -> None:
        lab = star().without_dcqcn().lossless()
        lab.switch.set_wred("p0", 3, WredCurve(low_limit=0, high_limit=20_000, ecn=True))
        lab.rc(1, 3)
        lab.rc(2, 3)
        lab.run_ms(40)
        before = lab.switch.queue_counters("p0")[3]
        lab.run_ms(100)
        after = lab.switch.queue_counters("p0")[3]
        marked = after.marked_packets - before.marked_packets
        share = marked / (after.forwarded_packets - before.forwarded_packets)
        length = lab.network.tables.queue[8 * 1 + 3].average_cells
        assert share == pytest.approx(0.1 * length / 20_000, rel=0.2)

    def test_packets_that_are_not_ecn_capable_are_dropped_instead(self, star: Lab) -> None:
        lab = star()
        for queue in range(8):
            lab.switch.set_wred("p0", queue, WredCurve(ecn=True))
        lab.tcp(1, 0)
        lab.tcp(2, 0)
        lab.run_ms(30)
        drops = lab.switch.drop_counters("p0")
        assert drops.ecn_marked == 0
        assert drops.wred_drops > 0
        assert lab.switch.queue_counters("p0")[0].wred_dropped_packets == drops.wred_drops

    def test_a_curve_without_ecn_drops_picked_roce_packets(self, star: Lab) -> None:
        lab = star().without_dcqcn()
        lab.switch.set_wred("p0", 3, WredCurve())
        lab.rc(1, 3)
        lab.rc(2, 3)
        lab.run_ms(30)
        drops = lab.switch.drop_counters("p0")
        assert drops.wred_drops > 0
        assert drops.ecn_marked == 0

    def test_np_off_for_the_priority_sends_no_cnp_although_packets_are_marked(
        self, star: Lab
    ) -> None:
        lab = star()
        lab.switch.set_wred("p0", 3, WredCurve(ecn=True))
        lab.nic(0).set_np(3, False)
        lab.rc(1, 3)
        lab.rc(2, 3)
        lab.run_ms(20)
        receiver = lab.nic(0).counters()
        assert receiver.np_ecn_marked > 0
        assert receiver.np_cnp_sent == 0

    def test_cnps_travel_on_their_own_priority_and_keep_their_interval(self, star: Lab) -> None:
        lab = star().lossless()
        curve = WredCurve(low_limit=0, high_limit=0, weighting_exponent=0, ecn=True)
        lab.switch.set_wred("p0", 3, curve)
        lab.nic(1).set_rp(3, False)  # keep the sender at full speed
        lab.nic(0).set_dcqcn("roce_np", "min_time_between_cnps", 50)
        lab.rc(1, 3)
        lab.run_ms(20)
        receiver = lab.nic(0).counters()
        assert receiver.np_cnp_sent == pytest.approx(20_000 / 50.0, rel=0.02)
        assert receiver.tx_packets[6] == receiver.np_cnp_sent
        assert lab.nic(1).counters().rx_packets[6] == receiver.np_cnp_sent


class TestReactionPoint:
    def test_the_first_cnp_halves_the_line_rate_and_alpha_then_decays(self, star: Lab) -> None:
        lab = star()
        lab.rc(1, 3)
        state, flow = lab.network.state, lab.network.tables.flow[0]
        handle_cnp(state, 0)
        assert flow.limited == 1
        assert flow.target_rate == 10e9
        assert flow.rate == pytest.approx(10e9 * (1 - 1023 / 2048))
        lab.network.tables.clock[0].now += 40 * PS_PER_US
        update_alpha(state, 0)
        with_cnp = 1019 / 1024 * 1023 / 1024 + 5 / 1024
        assert flow.alpha == pytest.approx(with_cnp * (1019 / 1024) ** 39)

    def test_cnps_within_the_monitor_period_cut_once(self, star: Lab) -> None:
        lab = star()
        lab.rc(1, 3)
        state, flow = lab.network.state, lab.network.tables.flow[0]
        handle_cnp(state, 0)
        once = float(flow.rate)
        lab.network.tables.clock[0].now += 3 * PS_PER_US
        handle_cnp(state, 0)
        assert flow.rate == once
        lab.network.tables.clock[0].now += PS_PER_US
        handle_cnp(state, 0)
        assert flow.rate < once

    def test_fast_recovery_halves_the_distance_to_an_unchanged_target(self, star: Lab) -> None:
        lab = star()
        lab.nic(1).set_dcqcn("roce_rp", "rpg_threshold", 5)
        lab.nic(1).set_dcqcn("roce_rp", "rpg_byte_reset", 1)  # kB
        lab.rc(1, 3)
        state, flow = lab.network.state, lab.network.tables.flow[0]
        handle_cnp(state, 0)
        target, start = float(flow.target_rate), float(flow.rate)
        for step in range(1, 6):
            pace(state, 0, 1086)
            assert flow.rate == pytest.approx(target - (target - start) / 2**step)
        assert flow.target_rate == target

    def test_a_parameter_changes_what_the_flow_does(self, star: Lab) -> None:
        drops = []
        for minimum in (1, 6000):  # Mbit/s; two flows of at least 6 Gb/s do not fit into 10
            lab = star()
            lab.switch.set_wred("p0", 3, WredCurve(ecn=True))
            for host in (1, 2):
                lab.nic(host).set_dcqcn("roce_rp", "rpg_min_rate", minimum)
            lab.rc(1, 3)
            lab.rc(2, 3)
            lab.run_ms(60)
            drops.append(lab.switch.queue_counters("p0")[3].dropped_packets)
        assert drops[0] == 0
        assert drops[1] > 0
