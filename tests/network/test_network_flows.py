"""RDMA, UDP and TCP between two hosts: what arrives, what is repaired, when they end."""

import pytest
from network_star import Lab

from labtests.network import SwitchMemory


class TestReliableTransport:
    def test_go_back_n_goodput_falls_with_loss_as_the_closed_form_says(self, star: Lab) -> None:
        # formulas: 1 / (1 + p/(1-p) (K + 2 p t_n/t)), K = (RTT0 + t)/t, here d = 10 us
        lab = star(2, length_m=2000).without_dcqcn()
        lab.switch.drop_randomly("p0", 3, 5000)
        flow = lab.rc(1, 3, nak_repeat_us=100)
        lab.run_ms(5)
        rate = lab.goodput(flow, 400)
        frame_us, nak_us = 1106 / 1250, 86 / 1250
        in_flight = (4 * 10 + 2 * frame_us + 2 * nak_us + frame_us) / frame_us
        p = 0.005
        efficiency = 1 / (1 + p / (1 - p) * (in_flight + 2 * p * 100 / frame_us))
        assert rate / 9.26 == pytest.approx(efficiency, rel=0.04)
        assert lab.nic(1).counters().packet_seq_err > 0
        assert lab.nic(0).counters().out_of_sequence > 0

    def test_a_cut_link_ends_the_flow_with_status_12_after_seven_retries(self, star: Lab) -> None:
        lab = star().without_dcqcn()
        flow = lab.rc(1, 3)
        lab.run_ms(5)
        lab.network.cut("host0", "e0")
        lab.run_ms(8 * 67.2 + 1)
        assert flow.error_status == 12
        assert flow.done
        assert lab.nic(1).counters().local_ack_timeout_err == 7
        assert lab.network.idle

    def test_a_link_that_comes_back_in_time_is_survived(self, star: Lab) -> None:
        lab = star().without_dcqcn()
        flow = lab.rc(1, 3)
        lab.run_ms(5)
        lab.network.cut("host0", "e0")
        lab.run_ms(100)
        lab.network.restore("host0", "e0")
        lab.run_ms(100)
        assert flow.error_status is None
        assert lab.goodput(flow, 10) == pytest.approx(9.26, rel=0.001)

    def test_a_flow_of_so_many_messages_ends_when_all_are_acknowledged(self, star: Lab) -> None:
        lab = star()
        flow = lab.rc(1, 3, messages=25, message_bytes=100_000)
        lab.run_ms(50)
        assert flow.done
        assert flow.messages_completed == 25
        assert flow.delivered_bytes == 2_500_000
        assert lab.network.idle

    def test_read_moves_the_data_to_the_requester(self, star: Lab) -> None:
        lab = star()
        flow = lab.rc(1, 3, verb="read", messages=300)
        lab.run_ms(60)
        assert flow.messages_completed == 300
        assert flow.done
        assert lab.nic(1).counters().rx_packets[3] == 300 * 64
        assert lab.nic(0).counters().rx_packets[3] == 300  # requests
        assert lab.network.idle

    def test_read_survives_loss_and_counts_at_the_requester(self, star: Lab) -> None:
        lab = star(2).without_dcqcn()
        lab.switch.drop_randomly("p1", 3, 2000)
        flow = lab.rc(1, 3, verb="read", messages=200, nak_repeat_us=100)
        lab.run_ms(1000)
        assert flow.messages_completed == 200
        assert lab.nic(1).counters().implied_nak_seq_err > 0
        assert lab.nic(0).counters().duplicate_request > 0

    def test_several_queue_pairs_share_their_nic(self, star: Lab) -> None:
        lab = star()
        flow = lab.rc(1, 3, qps=20)
        lab.run_ms(2)
        assert lab.goodput(flow, 20) == pytest.approx(9.26, rel=0.005)


class TestDatagramsAndStreams:
    def test_a_65500_byte_datagram_is_45_fragments(self, star: Lab) -> None:
        lab = star()
        flow = lab.udp(1, 3, 1e9)
        lab.run_ms(10)
        flow.stop()
        lab.run_ms(1)
        sent = flow.sent_datagrams
        assert sent == pytest.approx(10e-3 * 1e9 / (65500 * 8), abs=1)
        assert lab.nic(1).counters().tx_packets[3] == 45 * sent
        assert lab.nic(1).counters().tx_bytes[3] == (44 * 1518 + 426) * sent
        receiver = lab.nic(0).counters()
        assert receiver.ip_reasm_oks == receiver.udp_in_datagrams == sent
        assert receiver.ip_reasm_reqds == 45 * sent

    def test_a_datagram_below_the_mtu_is_not_fragmented(self, star: Lab) -> None:
        lab = star()
        flow = lab.udp(1, 3, 1e9, datagram_bytes=1400)
        lab.run_ms(5)
        flow.stop()
        lab.run_ms(1)
        receiver = lab.nic(0).counters()
        assert receiver.udp_in_datagrams == flow.sent_datagrams > 0
        assert receiver.ip_reasm_reqds == 0

    def test_one_lost_fragment_loses_its_datagram(self, star: Lab) -> None:
        lab = star()
        lab.switch.drop_randomly("p0", 3, 1000)
        flow = lab.udp(1, 3, 5e9)
        lab.run_ms(50)
        flow.stop()
        lab.run_ms(1)
        dropped = lab.switch.queue_counters("p0")[3].dropped_packets
        assert dropped > 5
        assert 0 < flow.lost_datagrams <= dropped
        assert lab.nic(0).counters().ip_reasm_fails == flow.lost_datagrams

    def test_a_stopped_socket_drains_whole_datagrams(self, star: Lab) -> None:
        lab = star()
        flow = lab.udp(1, 3, 20e9)
        lab.run_ms(1.03)
        flow.stop()
        assert not lab.network.idle
        lab.run_ms(1)
        assert flow.lost_datagrams == 0
        assert lab.nic(0).counters().ip_reasm_fails == 0
        assert lab.network.idle

    def test_tcp_repairs_loss(self, star: Lab) -> None:
        lab = star()
        lab.switch.drop_randomly("p0", 0, 100)
        flow = lab.tcp(1, 0, streams=4)
        lab.run_ms(200)
        assert flow.retransmits > 0
        assert flow.acked_bytes > 10e6
        assert flow.delivered_bytes >= flow.acked_bytes
        flow.stop()
        lab.run_ms(20)
        assert lab.network.idle

    @pytest.mark.parametrize("streams", [1, 2, 4])
    def test_tcp_senders_share_a_bottleneck_by_losing(self, star: Lab, streams: int) -> None:
        """With several streams, too, a port is not for ever in step with others."""
        lab = star(memory=SwitchMemory(egress_limit_cells=2000))
        flows = [lab.tcp(1, 0, streams), lab.tcp(2, 0, streams)]
        lab.run_ms(300)
        before = [flow.delivered_bytes for flow in flows]
        lab.run_ms(300)
        rates = [(f.delivered_bytes - b) * 8 / 300e6 for f, b in zip(flows, before, strict=True)]
        assert sum(rates) > 0.7 * 9.4
        assert min(rates) > 0.1 * sum(rates)
        assert sum(flow.retransmits for flow in flows) > 0
