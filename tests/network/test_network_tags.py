"""802.1Q tags: what they make a frame longer, and the class that ports which trust them see."""

import pytest
from network_star import NS_PER_MS, Lab, Star
from network_wired import rc, udp, wired

from labtests.network import Network, RcRequest, TcpRequest, UdpRequest, WredCurve

TAG = 4
CLASS = 5
MARK_ALL = WredCurve(low_limit=0, high_limit=0, weighting_exponent=0, ecn=True)


def trusting(lab: Star, *, switch: str = "dot1p", nic: str = "pcp") -> Star:
    for number in range(lab.hosts):
        lab.switch.set_trust(f"p{number}", switch)
        lab.nic(number).set_trust(nic)
    return lab


def tcp(network: Network, **more: int | None) -> object:
    return network.start_tcp(
        TcpRequest(device="h1", interface="e0", destination="10.0.0.2", tos=0, **more)  # type: ignore[arg-type]
    )


def sizes(network: Network, host: str, lane: int) -> float:
    """Mean length of the frames that a host has sent in a priority."""
    counters = network.nic(host, "e0").counters()
    return counters.tx_bytes[lane] / counters.tx_packets[lane]


def pair(nic: str = "pcp", switch: str = "dot1p") -> Network:
    network = wired("h1-s1", "h2-s1")
    for number in (1, 2):
        network.nic(f"h{number}", "e0").set_trust(nic)
        network.switch("s1").set_trust(f"h{number}", switch)
    return network


class TestLength:
    def test_a_tag_is_four_bytes_of_every_frame_of_data_and_control(self) -> None:
        network = pair()
        rc(network, "h1", "h2", pcp=CLASS)
        network.advance_to(NS_PER_MS)
        assert sizes(network, "h1", CLASS) == 1086 + TAG
        assert sizes(network, "h2", CLASS) == 66 + TAG  # ACKs

    def test_nothing_is_added_without_one(self) -> None:
        network = pair()
        rc(network, "h1", "h2")
        network.advance_to(NS_PER_MS)
        assert sizes(network, "h1", 0) == 1086
        assert sizes(network, "h2", 0) == 66

    def test_of_udp_and_tcp_too(self) -> None:
        network = pair()
        udp(network, "h1", "h2", pcp=2)
        tcp(network, pcp=3)
        network.advance_to(NS_PER_MS)
        assert sizes(network, "h1", 2) == 1000 + 8 + 38 + TAG
        assert sizes(network, "h1", 3) == 1518 + TAG
        assert sizes(network, "h2", 3) == 70 + TAG

    def test_goodput_at_line_rate_is_less_by_the_tag(self) -> None:
        def goodput(pcp: int | None) -> float:
            network = pair()
            flow = rc(network, "h1", "h2", pcp=pcp)
            network.advance_to(4 * NS_PER_MS)
            before = flow.delivered_bytes
            network.advance_to(8 * NS_PER_MS)
            return (flow.delivered_bytes - before) * 8 / 4e-3

        assert goodput(None) == pytest.approx(1e11 * 1024 / 1106, rel=2e-3)
        assert goodput(CLASS) == pytest.approx(1e11 * 1024 / 1110, rel=2e-3)


class TestClassification:
    @pytest.mark.parametrize(
        ("trust", "pcp", "queue"),
        [
            ("dot1p", 5, 5),
            ("dot1p", 0, 0),
            ("dot1p", None, 0),
            ("none", 5, 0),
            ("dscp", 5, 3),
            ("dscp", None, 3),
        ],
    )
    def test_a_switch_port_takes_what_it_trusts(
        self, trust: str, pcp: int | None, queue: int
    ) -> None:
        network = pair(switch=trust)
        udp(network, "h1", "h2", tos=24 << 2, pcp=pcp)
        network.advance_to(NS_PER_MS)
        forwarded = [q.forwarded_packets for q in network.switch("s1").queue_counters("h2")]
        assert [number for number, packets in enumerate(forwarded) if packets] == [queue]

    def test_the_queue_of_a_dot1p_is_by_the_switchs_map(self) -> None:
        network = pair()
        network.switch("s1").set_dot1p_lp(5, 6)
        udp(network, "h1", "h2", pcp=5)
        network.advance_to(NS_PER_MS)
        assert network.switch("s1").queue_counters("h2")[6].forwarded_packets > 0

    @pytest.mark.parametrize(
        ("trust", "pcp", "priority"),
        [("pcp", 5, 5), ("pcp", None, 0), ("dscp", 5, 3), ("dscp", None, 3)],
    )
    def test_a_nic_counts_in_the_priority_that_it_trusts(
        self, trust: str, pcp: int | None, priority: int
    ) -> None:
        network = pair(nic=trust)
        udp(network, "h1", "h2", tos=24 << 2, pcp=pcp)
        network.advance_to(NS_PER_MS)
        sent = network.nic("h1", "e0").counters().tx_packets
        got = network.nic("h2", "e0").counters().rx_packets
        assert [n for n in range(8) if sent[n]] == [n for n in range(8) if got[n]] == [priority]

    def test_a_tag_goes_from_switch_to_switch(self) -> None:
        network = wired("h1-s1", "s1-s2", "h2-s2")
        for switch, port in (("s1", "h1"), ("s2", "s1")):
            network.switch(switch).set_trust(port, "dot1p")
        udp(network, "h1", "h2", pcp=5)
        network.advance_to(NS_PER_MS)
        for switch, port in (("s1", "s2"), ("s2", "h2")):
            assert network.switch(switch).queue_counters(port)[5].forwarded_packets > 0


class TestAnswers:
    @pytest.mark.parametrize(("control", "priority"), [(None, 5), (0, 0), (2, 2)])
    def test_acks_have_their_own_tag_or_that_of_the_data(
        self, control: int | None, priority: int
    ) -> None:
        network = pair()
        rc(network, "h1", "h2", pcp=5, control_pcp=control)
        network.advance_to(NS_PER_MS)
        answers = network.nic("h2", "e0").counters().tx_packets
        assert [n for n in range(8) if answers[n]] == [priority]

    def test_cnps_of_tagged_data_have_the_priority_of_cnps(self) -> None:
        network = pair()
        switch, receiver = network.switch("s1"), network.nic("h2", "e0")
        switch.set_wred("h2", 5, MARK_ALL)
        receiver.set_dcqcn("roce_np", "cnp_802p_prio", 4)
        rc(network, "h1", "h2", pcp=5)
        network.advance_to(NS_PER_MS)
        sent = receiver.counters().np_cnp_sent
        assert sent > 0
        assert receiver.counters().tx_packets[4] == sent
        assert switch.queue_counters("h1")[4].forwarded_packets == sent
        assert network.nic("h1", "e0").counters().rp_cnp_handled == sent

    def test_cnps_of_untagged_data_have_none(self) -> None:
        network = pair()
        network.switch("s1").set_wred("h2", 0, MARK_ALL)
        rc(network, "h1", "h2")
        network.advance_to(NS_PER_MS)
        sent = network.nic("h2", "e0").counters().np_cnp_sent
        assert sent > 0
        assert network.switch("s1").queue_counters("h1")[6].forwarded_packets == 0

    def test_np_and_rp_look_at_the_tag(self) -> None:
        network = pair()
        network.switch("s1").set_wred("h2", 5, MARK_ALL)
        for number in (1, 2):
            for priority in set(range(8)) - {5}:
                network.nic(f"h{number}", "e0").set_rp(priority, False)
                network.nic(f"h{number}", "e0").set_np(priority, False)
        rc(network, "h1", "h2", pcp=5)
        network.advance_to(NS_PER_MS)
        assert network.nic("h1", "e0").counters().rp_cnp_handled > 0

    def test_a_reaction_point_that_is_taken_off_frees_tagged_flows(self) -> None:
        network = pair()
        network.switch("s1").set_wred("h2", 5, MARK_ALL)
        rc(network, "h1", "h2", pcp=5)
        network.advance_to(NS_PER_MS)
        record = network.tables.flow[0]
        assert record.limited
        network.nic("h1", "e0").set_rp(5, False)
        assert not record.limited


class TestPauses:
    def held(self, star: Lab, **trust: str) -> Star:
        """Two hosts fill the third's port with tagged frames; PFC of the tag's priority alone."""
        lab = trusting(star(3), **trust).lossless(CLASS).without_dcqcn()
        for host in (1, 2):
            lab.rc(host, 0, pcp=CLASS)
        lab.run_ms(5)
        return lab

    def dropped(self, lab: Star) -> int:
        return sum(queue.dropped_packets for queue in lab.switch.queue_counters("p0"))

    def test_hold_the_tags_priority_without_loss(self, star: Lab) -> None:
        lab = self.held(star)
        pauses = [lab.nic(host).counters().pfc_rx_frames for host in (1, 2)]
        assert all(each[CLASS] > 0 and sum(each) == each[CLASS] for each in pauses)
        assert self.dropped(lab) == 0

    def test_a_port_that_trusts_nothing_drops(self, star: Lab) -> None:
        lab = self.held(star, switch="none")
        assert self.dropped(lab) > 0

    def test_a_nic_that_trusts_dscp_pauses_another_priority_and_loses(self, star: Lab) -> None:
        lab = self.held(star, nic="dscp")
        assert lab.nic(1).counters().pfc_rx_frames[CLASS] > 0
        assert self.dropped(lab) > 0


@pytest.mark.parametrize("pcp", [-1, 8])
def test_there_are_eight_priorities(pcp: int) -> None:
    for request in (RcRequest, UdpRequest, TcpRequest):
        common = {"device": "a", "interface": "b", "destination": "c", "tos": 0}
        if request is UdpRequest:
            common["rate_bits_per_s"] = 1e9
        with pytest.raises(ValueError, match="PCP"):
            request(**common, pcp=pcp)
        with pytest.raises(ValueError, match="control PCP"):
            request(**common, pcp=0, control_pcp=pcp)


def test_an_answer_has_no_tag_where_the_data_has_none() -> None:
    with pytest.raises(ValueError, match="control_pcp without pcp"):
        RcRequest(device="a", interface="b", destination="c", tos=0, control_pcp=3)
