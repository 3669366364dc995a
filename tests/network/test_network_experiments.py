"""S1-S3 of the source documents, in kind, on 10G links (queues, drops, pauses, marks, rates)."""

import pytest
from network_star import Lab, Star

from labtests.network import WredCurve

CEILING = 65500 / 68118 * 10  # 44 frames of 1538 B and one of 446 B per datagram: 9.62 Gb/s


def mark_all_queues(lab: Star, port: str = "p0") -> None:
    for queue in range(8):
        lab.switch.set_wred(port, queue, WredCurve(ecn=True))


class TestS1PriorityFlowControl:
    def test_offered_7_8_and_5_15_share_the_ceiling_and_lose_nothing(self, star: Lab) -> None:
        lab = star().lossless()
        a = lab.udp(1, 3, 7.8e9)
        lab.run_ms(1)
        alone = lab.goodput(a, 20)
        b = lab.udp(2, 5, 5.15e9)
        lab.run_ms(30)
        b_before = b.received_bytes
        a_shared = lab.goodput(a, 60)
        b_shared = (b.received_bytes - b_before) * 8 / 60e6
        assert alone == pytest.approx(7.8, rel=0.02)
        assert a_shared + b_shared == pytest.approx(CEILING, rel=0.01)
        assert a_shared < 7.8 * 2 / 3
        assert b_shared > 5.15 * 0.9
        queues = lab.switch.queue_counters("p0")
        assert [queue.dropped_packets for queue in queues] == [0] * 8

    def test_pause_goes_out_at_both_ports_at_their_own_priority_and_more_at_the_faster(
        self, star: Lab
    ) -> None:
        lab = star().lossless()
        lab.udp(1, 3, 7.8e9)
        lab.udp(2, 5, 5.15e9)
        lab.run_ms(100)
        sent = [[c.tx_frames for c in lab.switch.pfc_counters(f"p{i}")] for i in range(3)]
        assert sent[0] == [0] * 8
        assert sent[1][3] > sent[2][5] > 0
        assert sum(sent[1]) == sent[1][3]
        assert sum(sent[2]) == sent[2][5]

    def test_without_pfc_the_same_load_drops(self, star: Lab) -> None:
        lab = star()
        a, b = lab.udp(1, 3, 7.8e9), lab.udp(2, 5, 5.15e9)
        lab.run_ms(100)
        a.stop()
        b.stop()
        lab.run_ms(30)
        dropped = lab.switch.queue_counters("p0")[3].dropped_packets
        assert dropped > 1000
        assert lab.switch.drop_counters("p0").output_buffer_drops >= dropped
        assert a.lost_datagrams > 100
        assert lab.nic(0).counters().ip_reasm_fails > 100
        assert lab.nic(0).counters().udp_in_datagrams == a.received_datagrams + b.received_datagrams


class TestS2Dcqcn:
    def test_two_senders_are_marked_and_slowed_and_lose_nothing(self, star: Lab) -> None:
        lab = star()
        mark_all_queues(lab)
        a = lab.rc(1, 3)
        lab.run_ms(1)
        alone = lab.goodput(a, 10)
        b = lab.rc(2, 2)
        lab.run_ms(50)
        b_before = b.delivered_bytes
        a_shared = lab.goodput(a, 100)
        b_shared = (b.delivered_bytes - b_before) * 8 / 100e6
        queues = lab.switch.queue_counters("p0")
        assert alone == pytest.approx(10 * 1024 / 1106, rel=0.001)
        assert a_shared < 0.7 * alone
        assert a_shared + b_shared > 0.8 * alone
        assert min(a_shared, b_shared) > 0.2 * alone
        assert queues[2].marked_packets > 0
        assert queues[3].marked_packets > 0
        assert sum(queue.dropped_packets for queue in queues) == 0
        assert max(queue.peak_cells for queue in queues) < 8_000
        for sender in (1, 2):
            assert lab.nic(sender).counters().rp_cnp_handled > 0
            assert lab.nic(sender).counters().rp_cnp_ignored == 0

    def test_with_ecn_off_at_the_switch_nothing_is_marked_and_no_cnp_is_sent(
        self, star: Lab
    ) -> None:
        lab = star()
        lab.rc(1, 3)
        lab.rc(2, 2)
        lab.run_ms(60)
        assert lab.switch.drop_counters("p0").ecn_marked == 0
        assert lab.nic(0).counters().np_cnp_sent == 0
        assert lab.switch.queue_counters("p0")[2].dropped_packets > 0


class TestS3ReactionPointOff:
    def test_exactly_the_queue_whose_sender_ignores_cnps_drops(self, star: Lab) -> None:
        lab = star()
        mark_all_queues(lab)
        lab.nic(2).set_rp(2, False)
        a, b = lab.rc(1, 3), lab.rc(2, 2)
        lab.run_ms(50)
        rate = lab.goodput(a, 150)
        queues = lab.switch.queue_counters("p0")
        assert queues[2].dropped_packets > 5_000
        assert queues[3].dropped_packets == 0
        assert queues[2].peak_cells == pytest.approx(25_000, abs=6)
        assert rate < 0.9 * 9.26
        assert b.error_status is None
        ignoring, obeying = lab.nic(2).counters(), lab.nic(1).counters()
        assert ignoring.rp_cnp_ignored > 0
        assert ignoring.rp_cnp_handled == 0
        assert obeying.rp_cnp_handled > 0
        assert obeying.rp_cnp_ignored == 0

    def test_with_rp_on_again_the_drops_are_gone(self, star: Lab) -> None:
        lab = star()
        mark_all_queues(lab)
        lab.nic(2).set_rp(2, False)
        lab.nic(2).set_rp(2, True)
        lab.rc(1, 3)
        lab.rc(2, 2)
        lab.run_ms(150)
        assert sum(q.dropped_packets for q in lab.switch.queue_counters("p0")) == 0

    def test_rp_of_another_priority_does_not_matter(self, star: Lab) -> None:
        lab = star()
        mark_all_queues(lab)
        lab.nic(2).set_rp(3, False)
        lab.rc(2, 2)
        lab.rc(1, 3)
        lab.run_ms(50)
        assert lab.nic(2).counters().rp_cnp_ignored == 0
        assert lab.nic(2).counters().rp_cnp_handled > 0


class TestCeilings:
    def test_udp_in_65500_byte_datagrams_reaches_9_62_gbit_per_s(self, star: Lab) -> None:
        lab = star()
        flow = lab.udp(1, 0, 10e9)
        lab.run_ms(1)
        assert lab.goodput(flow, 100) == pytest.approx(CEILING, rel=0.001)
        assert pytest.approx(9.62, abs=0.005) == CEILING

    @pytest.mark.parametrize("gigabit", [1, 10, 25, 40, 100])
    def test_roce_reaches_1024_of_1106_at_any_rate(self, star: Lab, gigabit: int) -> None:
        lab = star(rate_bits_per_s=gigabit * 10**9)
        flow = lab.rc(1, 3)
        lab.run_ms(1)
        duration = 20 if gigabit < 40 else 5
        expected = gigabit * 1024 / 1106
        assert lab.goodput(flow, duration) == pytest.approx(expected, rel=0.001)

    def test_tcp_fills_the_link(self, star: Lab) -> None:
        lab = star()
        flow = lab.tcp(1, 0)
        lab.run_ms(20)
        assert lab.goodput(flow, 30) == pytest.approx(10 * 1448 / 1538, rel=0.01)
        assert flow.retransmits == 0


class TestBeyondTheDocuments:
    @pytest.mark.parametrize("gigabit", [10, 25, 100])
    @pytest.mark.parametrize("senders", [2, 5, 8])
    def test_dcqcn_alone_keeps_an_incast_lossless_and_the_link_full(
        self, star: Lab, gigabit: int, senders: int
    ) -> None:
        lab = star(senders + 1, rate_bits_per_s=gigabit * 10**9)
        mark_all_queues(lab)
        flows = [lab.rc(host, 2 + host % 2) for host in range(1, senders + 1)]
        lab.run_ms(20)
        before = sum(flow.delivered_bytes for flow in flows)
        lab.run_ms(30)
        total = (sum(flow.delivered_bytes for flow in flows) - before) * 8 / 30e6
        assert total > 0.85 * gigabit * 1024 / 1106
        assert sum(q.dropped_packets for q in lab.switch.queue_counters("p0")) == 0

    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_s3_with_five_senders_drops_in_the_ignoring_queue_only(
        self, star: Lab, seed: int
    ) -> None:
        lab = star(6, seed=seed)
        mark_all_queues(lab)
        for host in (2, 4):
            lab.nic(host).set_rp(2, False)
        for host in range(1, 6):
            lab.rc(host, 2 if host % 2 == 0 else 3)
        lab.run_ms(200)
        queues = lab.switch.queue_counters("p0")
        assert queues[2].dropped_packets > 10_000
        assert queues[3].dropped_packets == 0
