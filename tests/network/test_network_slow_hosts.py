"""Hosts that take packets in slowly, and the receive buffers of their NICs."""

import pytest
from network_star import Lab

from labtests.network import LinkPause, ReceiveBuffer


class TestSlowHost:
    def test_a_slow_host_sets_the_goodput_and_pfc_loses_nothing(self, star: Lab) -> None:
        lab = star().lossless(3).without_dcqcn()
        flow = lab.rc(1, 3)
        lab.nic(0).set_receive_buffer(ReceiveBuffer(bits_per_s=2 * 10**9))
        lab.run_ms(2)
        assert lab.goodput(flow, 20) == pytest.approx(2 * 1024 / 1086, rel=0.005)
        counters = lab.nic(0).counters()
        assert counters.rx_discards[3] == 0
        assert counters.pfc_tx_frames[3] > 50
        assert lab.switch.pfc_counters("p0")[3].rx_frames == counters.pfc_tx_frames[3]
        assert lab.nic(1).counters().pfc_rx_frames[3] > 0  # the switch passes the pressure on
        peak = int(lab.network.tables.lane[3].peak_cells)
        assert 131_008 // 2 <= peak <= 131_008 // 2 + 3 * 1086

    def test_without_pfc_what_the_buffer_has_no_room_for_is_dropped_and_counted(
        self, star: Lab
    ) -> None:
        lab = star()
        flow = lab.udp(1, 3, 4e9, datagram_bytes=1000)
        lab.nic(0).set_receive_buffer(ReceiveBuffer(bits_per_s=10**9, buffer_bytes=100_000))
        lab.run_ms(10)
        counters = lab.nic(0).counters()
        taken = 10**9 * 10e-3 / 8 / 1046
        assert counters.rx_packets[3] - counters.rx_discards[3] == pytest.approx(
            taken + 100_000 / 1046, abs=3
        )
        assert flow.received_bytes / 1000 == pytest.approx(taken, abs=2)
        assert counters.pause_tx_frames == 0

    def test_a_slow_period_passes(self, star: Lab) -> None:
        lab = star().lossless(3).without_dcqcn()
        flow = lab.rc(1, 3)
        lab.run_ms(1)
        lab.nic(0).set_host_rate(0)
        lab.run_ms(1)
        before = flow.delivered_bytes
        lab.run_ms(5)
        assert flow.delivered_bytes == before
        lab.nic(0).set_host_rate(None)
        lab.run_ms(1)
        assert lab.goodput(flow, 5) == pytest.approx(10 * 1024 / 1106, rel=0.01)
        assert lab.nic(0).counters().rx_discards[3] == 0
        assert flow.error_status is None

    def test_8023x_from_a_slow_host(self, star: Lab) -> None:
        lab = star().without_dcqcn()
        for host in (0, 1):
            lab.nic(host).set_link_pause(LinkPause())
            lab.switch.set_link_pause(f"p{host}", LinkPause())
        flow = lab.rc(1, 3)
        lab.nic(0).set_receive_buffer(ReceiveBuffer(bits_per_s=2 * 10**9))
        lab.run_ms(2)
        assert lab.goodput(flow, 20) == pytest.approx(2 * 1024 / 1086, rel=0.005)
        counters = lab.nic(0).counters()
        assert counters.link_pause_tx_frames == counters.pause_tx_frames > 50
        assert counters.rx_discards[3] == 0

    def test_thresholds_that_cannot_be_are_refused(self) -> None:
        with pytest.raises(ValueError, match="xon bytes without xoff"):
            LinkPause(xon_bytes=9)
        with pytest.raises(ValueError, match="xoff 0 bytes is not at least 1"):
            LinkPause(xoff_bytes=0)

    def test_buffers_that_cannot_be_are_refused(self) -> None:
        for problem, changes in (
            ("not 0", {"bits_per_s": -1}),
            ("receive buffer 0", {"buffer_bytes": 0}),
            ("xon 9 bytes is not 0.. below xoff 9", {"xoff_bytes": 9, "xon_bytes": 9}),
            ("xoff 9 bytes is more", {"buffer_bytes": 8, "xoff_bytes": 9}),
        ):
            with pytest.raises(ValueError, match=problem):
                ReceiveBuffer(**changes)
