"""Pauses to the picosecond: how long they hold, when they begin, what their frames say."""

import pytest
from network_star import Lab, Star

from labtests.network import LinkPause, PauseTiming, longest_response_ns
from labtests.network.flow_control import paused_ps

PS_PER_NS = 1000
BYTE_PS = 800  # 10G
QUANTUM_PS = 64 * BYTE_PS
PAUSE_FRAME_PS = (64 + 20) * BYTE_PS
CABLE_PS = 3 * 5 * PS_PER_NS
FRAME_PS = (1086 + 20) * BYTE_PS
SENDER = 2  # port numbers: host 1's, then the switch's that leads to it
TO_SENDER = 3


def pressing(lab: Star) -> Star:
    """Host 1 sends priority 3 without end, frames back to back."""
    lab.lossless(3).without_dcqcn().rc(1, 3, tx_depth=4096)
    lab.run_ms(0.1)
    return lab


def last_start_ps(lab: Star, port: int) -> int:
    """When the last frame that this port started, a full one, was started."""
    return int(lab.network.tables.port[port].busy_until) - FRAME_PS


def held_ps(lab: Star, priority: int) -> int:
    """How long pauses have held host 1's port so far."""
    tables = lab.network.tables
    return paused_ps(tables.lane[8 * SENDER + priority], int(tables.clock[0].now))


def say_once(lab: Star, quanta: int) -> int:
    """The switch sends host 1 one pause of priority 3; when it has arrived (ps)."""
    control = lab.switch.flow_control("p1")
    now_ns = lab.network.now_ns
    control.storm(frozenset({3}), quanta=quanta, period_us=1000, stop_ns=now_ns + 1)
    free_ps = int(lab.network.tables.port[TO_SENDER].busy_until)
    return max(now_ns * PS_PER_NS, free_ps) + PAUSE_FRAME_PS + CABLE_PS


class TestResponse:
    @pytest.mark.parametrize("response_ns", [0, 1, 885, 3072.0, 12345])
    def test_no_frame_starts_from_arrival_and_response_until_the_quanta_are_over(
        self, star: Lab, response_ns: float
    ) -> None:
        lab = pressing(star())
        lab.nic(1).flow_control.set_timing(PauseTiming(response_ns=response_ns))
        effect_ps = say_once(lab, quanta=700) + round(response_ns * PS_PER_NS)
        lab.network.advance_to(effect_ps // PS_PER_NS + 5_000)
        held = last_start_ps(lab, SENDER)
        assert effect_ps - FRAME_PS <= held < effect_ps  # the frame in progress
        goes_on_ps = effect_ps + 700 * QUANTUM_PS
        lab.network.advance_to(goes_on_ps // PS_PER_NS - 1)
        assert last_start_ps(lab, SENDER) == held
        lab.network.advance_to(goes_on_ps // PS_PER_NS + 1)
        assert last_start_ps(lab, SENDER) == goes_on_ps
        assert held_ps(lab, 3) == 700 * QUANTUM_PS

    def test_a_frame_that_would_start_at_that_very_moment_does_not(self, star: Lab) -> None:
        lab = pressing(star())
        arrival_ps = say_once(lab, quanta=700)
        next_ps = last_start_ps(lab, SENDER)
        while next_ps <= arrival_ps + FRAME_PS:
            next_ps += FRAME_PS
        response_ps = next_ps - arrival_ps
        lab.nic(1).flow_control.set_timing(PauseTiming(response_ns=response_ps / PS_PER_NS))
        lab.network.advance_to(next_ps // PS_PER_NS + 2)
        assert last_start_ps(lab, SENDER) == next_ps - FRAME_PS

    def test_an_xon_waits_for_the_response_too(self, star: Lab) -> None:
        lab = pressing(star())
        lab.nic(1).flow_control.set_timing(PauseTiming(response_ns=4000))
        first_ps = say_once(lab, quanta=65535)
        lab.network.advance_to(lab.network.now_ns + 3_000)
        second_ps = say_once(lab, quanta=1)  # in force for one quantum, long before the first ends
        lab.network.advance_to(second_ps // PS_PER_NS + 5_000)
        begun = held_ps(lab, 3)
        assert begun == second_ps + QUANTUM_PS - first_ps

    def test_a_pause_and_its_end_within_one_response_are_both_obeyed_in_turn(
        self, star: Lab
    ) -> None:
        lab = pressing(star())
        lab.nic(1).flow_control.set_timing(PauseTiming(response_ns=50_000))
        for _ in range(5):
            say_once(lab, quanta=20)
            lab.network.advance_to(lab.network.now_ns + 4_000)
        lab.network.advance_to(lab.network.now_ns + 60_000)
        counters = lab.nic(1).counters()
        assert counters.pfc_rx_transitions[3] == 5
        assert held_ps(lab, 3) == 5 * 20 * QUANTUM_PS

    def test_the_standard_s_longest_response_in_quanta(self) -> None:
        assert longest_response_ns(10 * 10**9) == pytest.approx(60 * 51.2)
        assert longest_response_ns(400 * 10**9) == pytest.approx(905 * 1.28)
        with pytest.raises(ValueError, match="10G, 25G, 40G, 100G, 400G; give it in ns"):
            longest_response_ns(50 * 10**9)


class TestFrames:
    def test_priorities_that_wait_go_in_one_frame_and_each_is_counted(self, star: Lab) -> None:
        lab = star().lossless(3, 5, 6).without_dcqcn()
        lab.run_ms(0.01)
        lab.switch.flow_control("p1").storm(
            frozenset({3, 5, 6}), quanta=100, period_us=10, stop_ns=lab.network.now_ns + 95_000
        )
        lab.run_ms(0.2)
        assert lab.switch.flow_control("p1").counters().tx_frames == 10
        sent = [c.tx_frames for c in lab.switch.pfc_counters("p1")]
        assert sent == [0, 0, 0, 10, 0, 10, 10, 0]
        counters = lab.nic(1).counters()
        assert counters.pause_rx_frames == 10
        assert list(counters.pfc_rx_frames) == sent
        assert counters.pfc_rx_pause_us[6] == 10 * 100 * QUANTUM_PS // 1_000_000

    def test_each_priority_of_a_frame_has_its_own_time(self, star: Lab) -> None:
        lab = star().lossless(3, 5).without_dcqcn()
        lab.network.tables.lane[8 * TO_SENDER + 5].xoff = 1
        lab.network.tables.port[TO_SENDER].pfc_pending = 1 << 5 | 1 << 7
        lab.switch.flow_control("p1").storm(
            frozenset({3}), quanta=100, period_us=1000, stop_ns=lab.network.now_ns + 1
        )
        lab.run_ms(0.2)
        lanes = lab.network.tables.lane[8 * SENDER : 8 * SENDER + 8]
        assert lab.nic(1).counters().pause_rx_frames == 1
        assert held_ps(lab, 3) == 100 * QUANTUM_PS
        assert int(lanes[5].paused_until - lanes[5].paused_since) == 65535 * QUANTUM_PS
        assert int(lanes[7].pfc_rx_frames) == 1
        assert held_ps(lab, 7) == 0

    def test_a_pause_without_refresh_ends_with_its_quanta(self, star: Lab) -> None:
        lab = star().lossless(3).without_dcqcn()
        for refresh_share, expected_frames in ((None, 1), (0.5, 41)):
            lab.switch.flow_control("p1").set_timing(
                PauseTiming(quanta=1000, refresh_share=refresh_share)
            )
            before = lab.switch.pfc_counters("p1")[3]
            lab.network.tables.lane[8 * TO_SENDER + 3].xoff = 1
            lab.network.tables.port[TO_SENDER].pfc_pending = 1 << 3
            lab.network.restore("switch", "p1")  # looks for something to send
            lab.network.advance_to(lab.network.now_ns + 20 * 51_200)
            after = lab.switch.pfc_counters("p1")[3]
            assert after.tx_frames - before.tx_frames == expected_frames
            lasted = after.tx_paused_ps - before.tx_paused_ps
            whole = 1000 * QUANTUM_PS if refresh_share is None else 20 * 51_200_000
            assert lasted == pytest.approx(whole, abs=PAUSE_FRAME_PS)


class TestStorm:
    def test_a_storm_holds_the_peer_until_its_last_frame_has_run_out(self, star: Lab) -> None:
        lab = star().lossless(3).without_dcqcn()
        flow = lab.rc(1, 3, tx_depth=4096)
        lab.run_ms(1)
        start_ns = lab.network.now_ns
        lab.nic(0).flow_control.storm(
            frozenset({3}), quanta=1000, period_us=40, stop_ns=start_ns + 5_000_000
        )
        lab.run_ms(0.5)
        before = flow.delivered_bytes
        assert lab.nic(0).flow_control.storming
        lab.run_ms(4.4)
        assert flow.delivered_bytes == before
        lab.run_ms(1)
        assert not lab.nic(0).flow_control.storming
        assert flow.delivered_bytes > before
        sent = lab.nic(0).counters()
        assert sent.pfc_tx_frames[3] == 125
        paused = lab.switch.pfc_counters("p0")[3].rx_paused_ps
        assert paused == pytest.approx(124 * 40_000_000 + 1000 * QUANTUM_PS, abs=2 * FRAME_PS)
        assert sent.pfc_tx_pause_us[3] == pytest.approx(paused / 1e6, abs=2)

    def test_a_storm_that_never_stops_reaches_the_senders_and_loses_nothing(
        self, star: Lab
    ) -> None:
        lab = star().lossless(3).without_dcqcn()
        flows = [lab.rc(host, 3, tx_depth=4096) for host in (1, 2)]
        lab.run_ms(1)
        lab.nic(0).flow_control.storm(frozenset({3}))
        lab.run_ms(20)
        delivered = [flow.delivered_bytes for flow in flows]
        held = [lab.nic(host).counters().pfc_rx_pause_us[3] for host in (1, 2)]
        lab.run_ms(10)
        assert [flow.delivered_bytes for flow in flows] == delivered
        for host, before in zip((1, 2), held, strict=True):
            paused_us = lab.nic(host).counters().pfc_rx_pause_us[3] - before
            assert paused_us == pytest.approx(10_000, abs=1)
        assert all(lab.switch.drop_counters(f"p{i}").input_buffer_drops == 0 for i in range(3))
        lab.nic(0).flow_control.end_storm()
        lab.run_ms(20)
        assert all(
            flow.delivered_bytes > before for flow, before in zip(flows, delivered, strict=True)
        )

    def test_other_priorities_and_ports_without_pfc_go_on(self, star: Lab) -> None:
        lab = star().lossless(3).without_dcqcn()
        other = lab.rc(1, 4)
        lab.nic(0).flow_control.storm(frozenset({3, 4}))
        lab.run_ms(1)
        assert lab.switch.pfc_counters("p0")[4].rx_frames > 0
        assert lab.goodput(other, 1) == pytest.approx(10 * 1024 / 1106, rel=0.01)

    def test_what_cannot_be_is_refused(self, star: Lab) -> None:
        control = star().nic(0).flow_control
        for problem, call in (
            ("at least one priority", lambda: control.storm(frozenset())),
            ("not a priority", lambda: control.storm(frozenset({8}))),
            ("not 0..65535", lambda: control.storm(frozenset({3}), quanta=65536)),
            ("at least 0.001 us", lambda: control.storm(frozenset({3}), period_us=0)),
            ("quanta 0 is not 1", lambda: PauseTiming(quanta=0)),
            ("share 2 is not", lambda: PauseTiming(refresh_share=2)),
            ("response -1 ns", lambda: PauseTiming(response_ns=-1)),
        ):
            with pytest.raises(ValueError, match=problem):
                call()


class TestLinkPause:
    def test_an_8023x_pause_holds_every_priority_for_its_quanta(self, star: Lab) -> None:
        lab = star().without_dcqcn()
        lab.nic(1).set_link_pause(LinkPause())
        for priority in (0, 3):
            lab.rc(1, priority, tx_depth=4096)
        lab.run_ms(0.1)
        now_ns = lab.network.now_ns
        lab.switch.flow_control("p1").storm(None, quanta=5000, stop_ns=now_ns + 1)
        lab.network.advance_to(now_ns + 5_000)
        held = lab.nic(1).counters()
        lab.network.advance_to(now_ns + 256_000)  # 5000 quanta are 256 us
        assert lab.nic(1).counters().tx_packets == held.tx_packets
        lab.run_ms(0.1)
        after = lab.nic(1).counters()
        assert after.tx_packets[0] > held.tx_packets[0]
        assert after.tx_packets[3] > held.tx_packets[3]
        assert (after.link_pause_rx_frames, after.link_rx_pause_us) == (1, 256)
        assert (after.link_rx_transitions, sum(after.pfc_rx_frames)) == (1, 0)
        assert lab.switch.flow_control("p1").link_counters().tx_paused_ps == 5000 * QUANTUM_PS

    def test_who_does_not_obey_goes_on_and_counts(self, star: Lab) -> None:
        lab = star().without_dcqcn()
        lab.nic(1).set_link_pause(LinkPause(obey=False))
        flow = lab.rc(1, 3)
        lab.switch.flow_control("p1").storm(None)
        lab.run_ms(1)
        assert lab.goodput(flow, 1) == pytest.approx(10 * 1024 / 1106, rel=0.01)
        assert lab.nic(1).counters().link_pause_rx_frames >= 1
        assert lab.nic(1).counters().link_rx_pause_us == 0

    def test_a_switch_pauses_at_the_port_s_threshold_and_loses_nothing(self, star: Lab) -> None:
        lab = star().without_dcqcn()
        for host in (0, 1, 2):
            lab.nic(host).set_link_pause(LinkPause())
            lab.switch.set_link_pause(f"p{host}", LinkPause(xoff_bytes=60_000))
        flows = [lab.rc(1, 1), lab.rc(1, 5), lab.rc(2, 2)]
        lab.run_ms(2)
        before = [flow.delivered_bytes for flow in flows]
        lab.run_ms(20)
        rates = [
            (flow.delivered_bytes - b) * 8 / 2e7 for flow, b in zip(flows, before, strict=True)
        ]
        assert sum(rates) == pytest.approx(10 * 1024 / 1106, rel=0.01)
        sent = [lab.switch.flow_control(f"p{i}").link_counters().tx_frames for i in range(3)]
        assert sent[0] == 0
        assert min(sent[1:]) > 20
        for port in range(3):
            assert sum(c.tx_frames for c in lab.switch.pfc_counters(f"p{port}")) == 0
            assert sum(q.dropped_packets for q in lab.switch.queue_counters(f"p{port}")) == 0
        peak = max(int(lane.peak_cells) for lane in lab.network.tables.lane) * 208
        assert 30_000 < peak < 60_000 + 10_000

    def test_pfc_and_8023x_exclude_each_other(self, star: Lab) -> None:
        lab = star().lossless(3)
        with pytest.raises(ValueError, match="PFC is on"):
            lab.nic(1).set_link_pause(LinkPause())
        with pytest.raises(ValueError, match="p1: PFC is on"):
            lab.switch.set_link_pause("p1", LinkPause())
        lab.nic(1).set_pfc(frozenset())
        lab.switch.set_pfc("p1", "off", frozenset())
        lab.nic(1).set_link_pause(LinkPause())
        lab.switch.set_link_pause("p1", LinkPause())
        assert lab.nic(1).pfc == lab.switch.pfc_working("p1") == frozenset()
        with pytest.raises(ValueError, match=r"802\.3x is on"):
            lab.nic(1).set_pfc(frozenset({3}))
        with pytest.raises(ValueError, match=r"p1: 802\.3x is on"):
            lab.switch.set_pfc("p1", "on", frozenset({3}))
        lab.switch.set_link_pause("p1", None)
        lab.switch.set_pfc("p1", "on", frozenset({3}))
        assert lab.switch.pfc_working("p1") == {3}
