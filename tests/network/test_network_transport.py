"""RC time-outs, NAKs and ACKs, TCP with ECN, Poisson sources: each against what it must do."""

import pytest
from network_star import Lab, Star

from labtests.network import QueueWatch, RcRequest, UdpRequest, WredCurve
from labtests.network.arithmetic import exponential
from labtests.network.streams import answer_mark

UNIT_NS = 4096


def advance_until(lab: Star, condition, limit_ms: float, step_us: float = 10) -> float:
    """The time in ms when the condition first holds, to `step_us`."""
    while not condition():
        assert lab.network.now_ns < limit_ms * 1e6, "it never came"
        lab.run_ms(step_us / 1000)
    return lab.network.now_ns / 1e6


class TestTimeOut:
    @pytest.mark.parametrize(("exponent", "retries"), [(8, 0), (8, 3), (10, 7), (12, 1)])
    def test_a_black_hole_is_retried_n_times_and_then_ends_in_status_12(
        self, star: Lab, exponent: int, retries: int
    ) -> None:
        lab = star(2).without_dcqcn()
        lab.network.start_jitter_ps = 0
        lab.switch.drop_randomly("p0", 3, 1_000_000)
        flow = lab.rc(1, 3, timeout_exponent=exponent, retry_limit=retries)
        timeout_ms = UNIT_NS * 2**exponent / 1e6
        for number in range(1, retries + 1):
            count = advance_until(
                lab, lambda n=number: lab.nic(1).counters().local_ack_timeout_err >= n, 1000
            )
            assert count == pytest.approx(number * timeout_ms, abs=0.02)
        assert flow.error_status is None
        ended = advance_until(lab, lambda: flow.done, 1000)
        assert ended == pytest.approx((retries + 1) * timeout_ms, abs=0.02)
        assert flow.error_status == 12
        assert lab.nic(1).counters().local_ack_timeout_err == retries

    def test_progress_gives_all_retries_back(self, star: Lab) -> None:
        lab = star(2).without_dcqcn()
        flow = lab.rc(1, 3, timeout_exponent=8, retry_limit=1, nak_repeat_us=50)
        for _ in range(5):
            lab.run_ms(2)
            lab.switch.drop_randomly("p0", 3, 1_000_000)
            lab.run_ms(1.5)  # one time-out of 1.05 ms
            lab.switch.drop_randomly("p0", 3, 0)
        lab.run_ms(2)
        assert flow.error_status is None
        assert lab.nic(1).counters().local_ack_timeout_err >= 5

    def test_exponent_0_waits_for_ever(self, star: Lab) -> None:
        lab = star(2).without_dcqcn()
        lab.switch.drop_randomly("p0", 3, 1_000_000)
        flow = lab.rc(1, 3, timeout_exponent=0)
        lab.network.advance_to(3600 * 10**9)
        assert flow.error_status is None
        assert not flow.done
        assert flow.retransmitted_packets == 0


class TestNegativeAcknowledgement:
    @pytest.mark.parametrize("repeat_us", [200, 1000])
    def test_one_nak_a_gap_and_again_after_the_repeat_time(self, star: Lab, repeat_us: int) -> None:
        lab = star(2).without_dcqcn()
        flow = lab.rc(1, 3, nak_repeat_us=repeat_us, tx_depth=1024)
        lab.run_ms(1)
        lab.switch.drop_randomly("p0", 3, 1_000_000)
        lab.run_ms(0.005)
        lab.switch.drop_randomly("p0", 3, 0)
        naks = lab.nic(1).counters
        advance_until(lab, lambda: naks().packet_seq_err == 1, 2, step_us=0.1)
        lab.switch.drop_randomly("p0", 3, 1_000_000)  # the retransmission is lost too
        lab.run_ms(0.005)
        lab.switch.drop_randomly("p0", 3, 0)
        held = flow.delivered_bytes
        lab.run_ms(repeat_us / 1000 - 0.02)
        assert naks().packet_seq_err == 1
        assert lab.nic(0).counters().out_of_sequence > 100
        assert flow.delivered_bytes == held
        lab.run_ms(0.03)
        assert naks().packet_seq_err == 2
        assert flow.delivered_bytes > held
        assert naks().local_ack_timeout_err == 0


class TestAcknowledgements:
    @pytest.mark.parametrize(
        ("every", "per_ack"), [(None, 64), (1, 1), (4, 4), (64, 64), (500, 500)]
    )
    def test_so_many_packets_share_one_ack(
        self, star: Lab, every: int | None, per_ack: int
    ) -> None:
        lab = star(2).without_dcqcn()
        flow = lab.rc(1, 3, ack_every_packets=every)
        lab.run_ms(2)
        assert lab.goodput(flow, 10) == pytest.approx(9.26, rel=0.002)
        acks = lab.nic(1).counters().rx_packets[3]
        assert lab.nic(0).counters().rx_packets[3] / acks == pytest.approx(per_ack, rel=0.05)
        assert flow.messages_completed == pytest.approx(flow.delivered_bytes / 65536, abs=10)

    @pytest.mark.parametrize("every", [3, 1000])
    def test_the_last_packet_of_all_asks_for_its_ack(self, star: Lab, every: int) -> None:
        lab = star(2)
        flow = lab.rc(1, 3, ack_every_packets=every, messages=5)
        lab.run_ms(1)
        assert flow.messages_completed == 5
        assert lab.network.idle
        assert lab.nic(1).counters().local_ack_timeout_err == 0

    def test_losses_are_repaired_with_any_number(self, star: Lab) -> None:
        for every in (1, 7, 300):
            lab = star(2).without_dcqcn()
            lab.switch.drop_randomly("p0", 3, 3000)
            flow = lab.rc(1, 3, ack_every_packets=every, messages=100, nak_repeat_us=100)
            lab.run_ms(300)
            assert flow.delivered_bytes == 100 * 65536
            assert flow.messages_completed == 100

    def test_go_back_0_acknowledges_whole_messages(self) -> None:
        with pytest.raises(ValueError, match="whole messages"):
            RcRequest(
                device="a",
                interface="e0",
                destination="10.0.0.0",
                tos=0,
                go_back="message",
                ack_every_packets=4,
            )


class TestPhase:
    def pair(self, star: Lab, share: float) -> list[int | None]:
        """How two senders end that fill one tail-drop queue, the second one a little later."""
        lab = star(3)
        for host in (1, 2):
            lab.nic(host).set_random_gap(share)
        flows = []
        for host in (1, 2):
            flows.append(lab.rc(host, 0, timeout_exponent=11, nak_repeat_us=2000))
            lab.run_ms(15)
        lab.run_ms(120)
        before = [flow.delivered_bytes for flow in flows]
        lab.run_ms(120)
        return [
            flow.error_status if flow.delivered_bytes == held else 0
            for flow, held in zip(flows, before, strict=True)
        ]

    def test_senders_in_step_lock_each_other_out_of_a_full_queue(self, star: Lab) -> None:
        assert self.pair(star, 0) == [0, 12]

    @pytest.mark.parametrize("share", [0.0002, 0.002])
    def test_random_gaps_let_both_live(self, star: Lab, share: float) -> None:
        assert self.pair(star, share) == [0, 0]

    def test_gaps_cost_half_their_share_of_the_rate(self, star: Lab) -> None:
        lab = star(2)
        lab.nic(1).set_random_gap(0.1)
        flow = lab.rc(1, 3)
        lab.run_ms(1)
        assert lab.goodput(flow, 20) == pytest.approx(10 * 1024 / 1106 / 1.05, rel=0.002)

    def test_a_share_that_is_none_is_refused(self, star: Lab) -> None:
        with pytest.raises(ValueError, match="share"):
            star().nic(1).set_random_gap(0.5)


class TestStreamsWithEcn:
    def test_marks_cost_no_segment_and_share_the_link(self, star: Lab) -> None:
        lab = star(3)
        lab.switch.set_wred("p0", 0, WredCurve(low_limit=400, high_limit=800, ecn=True))
        flows = [lab.tcp(host, 0, ecn=True) for host in (1, 2)]
        lab.run_ms(100)
        before = [flow.delivered_bytes for flow in flows]
        lab.run_ms(200)
        rates = [(f.delivered_bytes - b) * 8 / 200e6 for f, b in zip(flows, before, strict=True)]
        assert sum(rates) > 0.95 * 9.41
        assert min(rates) > 0.3 * sum(rates)
        assert sum(flow.retransmits for flow in flows) == 0
        queue = lab.switch.queue_counters("p0")[0]
        assert queue.marked_packets > 0
        assert queue.dropped_packets == 0

    def test_a_window_of_marks_halves_the_window_once(self, star: Lab) -> None:
        lab = star(2)
        lab.tcp(1, 0, ecn=True)
        lab.run_ms(5)
        state, flow = lab.network.state, lab.network.tables.flow[0]
        flow.cwnd = 100.0
        answer_mark(state, 0)
        assert (flow.cwnd, flow.ssthresh, flow.tell_cut > 0) == (50.0, 50.0, True)
        answer_mark(state, 0)
        assert flow.cwnd == 50.0  # what it had sent by then is not acknowledged yet
        flow.una_psn = flow.cut_psn
        answer_mark(state, 0)
        assert flow.cwnd == 25.0

    def test_ece_lasts_until_cwr_has_come(self, star: Lab) -> None:
        lab = star(2)
        pick_all = WredCurve(low_limit=0, high_limit=0, weighting_exponent=0, ecn=True)
        lab.switch.set_wred("p0", 0, pick_all)
        lab.tcp(1, 0, ecn=True)
        flow = lab.network.tables.flow[0]
        advance_until(lab, lambda: flow.echo == 1, 1, step_us=0.1)
        lab.switch.set_wred("p0", 0, None)
        marked = lab.switch.queue_counters("p0")[0].marked_packets
        assert marked > 0
        advance_until(lab, lambda: flow.cut_psn > 0, 1, step_us=0.1)
        assert flow.echo == 1
        advance_until(lab, lambda: flow.echo == 0, 2, step_us=0.1)
        window = float(flow.cwnd)
        lab.run_ms(1)
        assert flow.echo == 0
        assert flow.cwnd > window

    def test_repeated_segments_are_not_ecn_capable(self, star: Lab) -> None:
        lab = star(2)
        lab.switch.drop_randomly("p0", 0, 2000)
        flow = lab.tcp(1, 0, ecn=True)
        lab.run_ms(50)
        pick_all = WredCurve(low_limit=0, high_limit=0, weighting_exponent=0, ecn=True)
        lab.switch.set_wred("p0", 0, pick_all)
        before = flow.retransmits
        lab.run_ms(50)
        assert flow.retransmits > before
        assert lab.switch.queue_counters("p0")[0].wred_dropped_packets > 0


def poisson(lab: Star, host: int, rate: float, payload: int = 1000, queue: int = 1000) -> None:
    lab.network.start_udp(
        UdpRequest(
            device=f"host{host}",
            interface="e0",
            destination="10.0.0.0",
            tos=3 << 5,
            rate_bits_per_s=rate,
            datagram_bytes=payload,
            send_queue_datagrams=queue,
            arrivals="poisson",
        )
    )


class TestPoissonSources:
    @pytest.mark.parametrize("mean", [1000, 816_000, 10**15])
    def test_gaps_are_exponential(self, star: Lab, mean: int) -> None:
        state = star(2).network.state
        gaps = [exponential(state, mean) / mean for _ in range(40_000)]
        assert sum(gaps) / 40_000 == pytest.approx(1, abs=0.02)
        assert sum(gap * gap for gap in gaps) / 40_000 == pytest.approx(2, abs=0.1)
        for longer, share in ((0.5, 0.6065), (1, 0.3679), (3, 0.0498)):
            found = sum(gap > longer for gap in gaps) / 40_000
            assert found == pytest.approx(share, abs=0.01)

    def test_the_offered_rate_is_kept(self, star: Lab) -> None:
        lab = star(2)
        poisson(lab, 1, 5e9)
        lab.run_ms(100)
        received = lab.nic(0).counters().udp_in_datagrams
        assert received == pytest.approx(5e9 * 0.1 / 8000, rel=0.02)

    def test_random_arrivals_queue_where_paced_ones_do_not(self, star: Lab) -> None:
        lengths = []
        for random in (False, True):
            lab = star(3)
            for host in (1, 2):
                if random:
                    poisson(lab, host, 4e9)
                else:
                    lab.udp(host, 3, 4e9, datagram_bytes=1000)
            watch = QueueWatch(lab.network, (("switch", "p0", 3),), period_ns=500)
            watch.advance_to(20_000_000)
            lengths.append(float(watch.lengths_bytes().mean()))
        assert lengths[1] > 2 * lengths[0]
