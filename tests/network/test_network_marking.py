"""RED, ECN and CNPs: what is marked, what is dropped instead, who is told, and how they react."""

import pytest
from network_star import Lab, Star

from labtests.network import (
    QueueCounters,
    RcFlow,
    RcRequest,
    UdpFlow,
    UdpRequest,
    WredCurve,
)
from labtests.network.pausing import hold

PICK_ALL = WredCurve(low_limit=0, high_limit=0, weighting_exponent=0, ecn=True)
NOT_ECT, ECT_1, ECT_0, CE = 0, 1, 2, 3


def udp(lab: Star, host: int, tos: int, rate: float = 1e9, payload: int = 1000) -> UdpFlow:
    return lab.network.start_udp(
        UdpRequest(
            device=f"host{host}",
            interface="e0",
            destination="10.0.0.0",
            tos=tos,
            rate_bits_per_s=rate,
            datagram_bytes=payload,
        )
    )


def rc(lab: Star, host: int, tos: int, ecn: str) -> RcFlow:
    return lab.network.start_rc(
        RcRequest(
            device=f"host{host}",
            interface="e0",
            destination="10.0.0.0",
            tos=tos,
            ecn=ecn,  # type: ignore[arg-type]
        )
    )


def queue(lab: Star, number: int = 3) -> QueueCounters:
    return lab.switch.queue_counters("p0")[number]


class TestPickedPackets:
    @pytest.mark.parametrize("ecn", [ECT_0, ECT_1])
    def test_ecn_capable_ones_are_marked(self, star: Lab, ecn: int) -> None:
        lab = star(2)
        lab.switch.set_wred("p0", 3, PICK_ALL)
        udp(lab, 1, 3 << 5 | ecn)
        lab.run_ms(1)
        assert queue(lab).marked_packets == queue(lab).forwarded_packets > 100
        assert queue(lab).dropped_packets == 0
        assert lab.switch.drop_counters("p0").ecn_marked == queue(lab).marked_packets

    def test_those_marked_before_go_on_and_are_not_counted_again(self, star: Lab) -> None:
        lab = star(2)
        lab.switch.set_wred("p0", 3, PICK_ALL)
        udp(lab, 1, 3 << 5 | CE)
        lab.run_ms(1)
        assert queue(lab).forwarded_packets > 100
        assert queue(lab).marked_packets == queue(lab).dropped_packets == 0

    @pytest.mark.parametrize(("ecn", "capable"), [(NOT_ECT, True), (ECT_0, False)])
    def test_the_others_and_all_of_a_queue_without_ecn_are_dropped(
        self, star: Lab, ecn: int, capable: bool
    ) -> None:
        lab = star(2)
        curve = WredCurve(low_limit=0, high_limit=0, weighting_exponent=0, ecn=capable)
        lab.switch.set_wred("p0", 3, curve)
        udp(lab, 1, 3 << 5 | ecn)
        lab.run_ms(1)
        assert queue(lab).wred_dropped_packets == queue(lab).dropped_packets > 100
        assert queue(lab).forwarded_packets == queue(lab).marked_packets == 0
        assert lab.switch.drop_counters("p0").wred_drops == queue(lab).wred_dropped_packets

    def test_a_chance_below_one_in_a_million_is_not_rounded_up(self, star: Lab) -> None:
        """25 000 cells at most: at most one in 40 million, of some five million."""
        lab = star(3)
        curve = WredCurve(
            low_limit=0,
            high_limit=1_000_000,
            probability_percent=1e-4,
            weighting_exponent=0,
            ecn=True,
        )
        lab.switch.set_wred("p0", 3, curve)
        for host in (1, 2):
            udp(lab, host, 3 << 5 | ECT_0, rate=2e9, payload=18)
        lab.run_ms(300)
        assert queue(lab).forwarded_packets > 4_000_000
        assert queue(lab).marked_packets == 0

    def test_each_queue_counts_its_own_marks_and_drops(self, star: Lab) -> None:
        lab = star(3)
        for number in (3, 5):
            lab.switch.set_wred("p0", number, PICK_ALL)
        udp(lab, 1, 3 << 5 | ECT_0)
        udp(lab, 2, 5 << 5 | NOT_ECT, rate=2e9)
        lab.run_ms(1)
        marks, drops = queue(lab, 3), queue(lab, 5)
        assert marks.marked_packets > 0 == marks.wred_dropped_packets
        assert drops.wred_dropped_packets == pytest.approx(2 * marks.marked_packets, abs=3)
        assert drops.marked_packets == 0
        totals = lab.switch.drop_counters("p0")
        assert (totals.ecn_marked, totals.wred_drops) == (
            marks.marked_packets,
            drops.wred_dropped_packets,
        )

    @pytest.mark.parametrize(
        ("tos", "ecn", "marked"),
        [(96, "on", True), (96, "off", False), (96, "tos", False), (98, "tos", True)],
    )
    def test_rdma_is_ecn_capable_as_asked_or_as_its_tos_says(
        self, star: Lab, tos: int, ecn: str, marked: bool
    ) -> None:
        lab = star(2)
        lab.switch.set_wred("p0", 3, PICK_ALL)
        rc(lab, 1, tos, ecn)
        lab.run_ms(1)
        assert (queue(lab).marked_packets > 0) == marked
        assert (queue(lab).wred_dropped_packets > 0) != marked


class TestPolledLength:
    @pytest.mark.parametrize("exponent", [0, 3, 9])
    def test_the_average_moves_with_each_poll_whether_packets_come_or_not(
        self, star: Lab, exponent: int
    ) -> None:
        lab = star(2)
        curve = WredCurve(
            low_limit=0,
            high_limit=10_000,
            probability_percent=0,
            weighting_exponent=exponent,
            ecn=True,
            poll_period_ns=100_000,
        )
        lab.switch.set_wred("p0", 3, curve)
        lab.switch.set_pfc("p0", "on", frozenset({3}))
        hold(lab.network.state, 1, 3, 10**10)  # the switch's port to the receiver, for 10 ms
        burst = udp(lab, 1, 3 << 5, rate=8e9)
        lab.run_ms(0.08)
        burst.stop()
        lab.run_ms(0.01)
        record = lab.network.tables.queue[8 * 1 + 3]
        cells = int(record.cells)
        assert cells > 100
        assert record.average_cells == 0  # no poll yet
        lab.network.advance_to(1_050_000)  # ten polls
        udp(lab, 1, 3 << 5, rate=1e6)
        lab.run_ms(0.03)
        assert record.cells > cells
        assert record.average_cells == pytest.approx(cells * (1 - (1 - 2.0**-exponent) ** 10))

    def test_a_burst_between_two_polls_is_not_seen(self, star: Lab) -> None:
        marks = []
        for period_ns in (0, 1_000, 5_000_000):
            lab = star(3).without_dcqcn()
            curve = WredCurve(
                low_limit=5,
                high_limit=10,
                weighting_exponent=0,
                ecn=True,
                poll_period_ns=period_ns,
            )
            lab.switch.set_wred("p0", 3, curve)
            lab.network.start_jitter_ps = 0
            for host in (1, 2):
                lab.rc(host, 3, messages=2)
            lab.run_ms(4)
            assert queue(lab).peak_cells > 100
            marks.append(queue(lab).marked_packets)
        assert marks[0] > 30
        assert marks[1] == pytest.approx(marks[0], rel=0.3)
        assert marks[2] == 0

    def test_polls_and_marks_of_leaving_packets_exclude_each_other(self) -> None:
        with pytest.raises(ValueError, match="leaving"):
            WredCurve(poll_period_ns=1, mark_leaving=True)


class TestNotificationPoint:
    def cnps(self, star: Lab, pacing: str, *, interval_us: int = 50) -> tuple[int, int]:
        """(marked packets, CNPs) of two flows in 10 ms, all packets marked, nobody reacting."""
        lab = star(3).lossless(3)
        lab.switch.set_wred("p0", 3, PICK_ALL)
        for host in (1, 2):
            lab.nic(host).set_rp(3, False)
            lab.rc(host, 3)
        lab.nic(0).set_dcqcn("roce_np", "min_time_between_cnps", interval_us)
        lab.nic(0).set_cnp_pacing(pacing)
        lab.run_ms(10)
        counters = lab.nic(0).counters()
        handled = sum(lab.nic(host).counters().rp_cnp_ignored for host in (1, 2))
        assert handled == pytest.approx(counters.np_cnp_sent, abs=3)
        return counters.np_ecn_marked, counters.np_cnp_sent

    def test_cnps_keep_their_interval_per_flow_per_port_or_not(self, star: Lab) -> None:
        assert self.cnps(star, "flow")[1] == pytest.approx(2 * 10_000 / 50, rel=0.03)
        assert self.cnps(star, "port")[1] == pytest.approx(10_000 / 50, rel=0.03)
        marked, sent = self.cnps(star, "none")
        assert marked == sent > 10_000

    def test_a_longer_interval_sends_fewer(self, star: Lab) -> None:
        sent = [self.cnps(star, "port", interval_us=us)[1] for us in (4, 20, 100)]
        assert sent[0] == pytest.approx(5 * sent[1], rel=0.1)
        assert sent[1] == pytest.approx(5 * sent[2], rel=0.05)

    def test_an_unknown_pacing_is_refused(self, star: Lab) -> None:
        with pytest.raises(ValueError, match="flow, port or none"):
            star().nic(0).set_cnp_pacing("address")

    @pytest.mark.parametrize(("priority", "dscp"), [(6, 48), (5, 16), (2, 40)])
    def test_cnps_leave_with_their_priority_and_arrive_by_their_dscp(
        self, star: Lab, priority: int, dscp: int
    ) -> None:
        lab = star(2)
        lab.switch.set_wred("p0", 3, PICK_ALL)
        lab.nic(0).set_dcqcn("roce_np", "cnp_802p_prio", priority)
        lab.nic(0).set_dcqcn("roce_np", "cnp_dscp", dscp)
        lab.rc(1, 3)
        lab.run_ms(1)
        receiver, sender = lab.nic(0).counters(), lab.nic(1).counters()
        assert receiver.tx_packets[priority] == receiver.np_cnp_sent > 0
        assert sender.rx_packets[dscp // 8] == sender.rp_cnp_handled > 0
        assert lab.switch.queue_counters("p1")[dscp // 8].forwarded_packets > 0

    @pytest.mark.parametrize("side", ["rp", "np"])
    def test_each_priority_has_its_own_switch(self, star: Lab, side: str) -> None:
        lab = star(3)
        for number in (2, 3):
            lab.switch.set_wred("p0", number, PICK_ALL)
        if side == "np":
            lab.nic(0).set_np(3, False)
        else:
            lab.nic(1).set_rp(3, False)
        slowed, free = lab.rc(2, 2), lab.rc(1, 3)
        lab.run_ms(2)
        assert free.delivered_bytes > 2 * slowed.delivered_bytes
        assert lab.nic(2).counters().rp_cnp_handled > 0
        assert lab.nic(1).counters().rp_cnp_handled == 0
        assert (lab.nic(1).counters().rp_cnp_ignored > 0) == (side == "rp")


class TestMixedSenders:
    """S8: ECN-capable senders beside others in one queue."""

    def test_a_capable_sender_starves_beside_one_that_is_not_told(self, star: Lab) -> None:
        lab = star(3)
        curve = WredCurve(low_limit=100, high_limit=400, weighting_exponent=0, ecn=True)
        lab.switch.set_wred("p0", 3, curve)
        capable = lab.rc(1, 3)
        lab.run_ms(20)
        alone = lab.goodput(capable, 20)
        udp(lab, 2, 3 << 5 | NOT_ECT, rate=9.4e9, payload=1400)
        lab.run_ms(20)
        before, beside = queue(lab), lab.goodput(capable, 40)
        after = queue(lab)
        assert alone > 0.9 * 9.26
        assert beside < 0.15 * alone
        assert capable.retransmitted_packets == 0  # marked, never dropped
        assert after.marked_packets > before.marked_packets
        assert after.wred_dropped_packets > before.wred_dropped_packets

    def test_of_two_streams_the_one_that_is_not_capable_is_dropped(self, star: Lab) -> None:
        lab = star(3)
        curve = WredCurve(
            low_limit=100, high_limit=2000, probability_percent=5, weighting_exponent=4, ecn=True
        )
        lab.switch.set_wred("p0", 0, curve)
        capable = lab.tcp(1, 0, ecn=True)
        other = lab.tcp(2, 0)
        lab.run_ms(300)
        assert capable.retransmits == 0
        assert other.retransmits >= queue(lab, 0).wred_dropped_packets > 0
        assert queue(lab, 0).marked_packets > 0
        assert min(capable.delivered_bytes, other.delivered_bytes) > 100e6
