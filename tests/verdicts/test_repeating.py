"""What a sender repeats when packets are lost at random, and what is said of its counters."""

from dataclasses import replace

import pytest
from handmade_rdma import evidence, flow, place

from labtests.capabilities import counters as c
from labtests.verdicts import Outcome, repeated_what_was_lost, sound

NEEDED, PER_MILLION = 100_000, 1000
OUT, A, R = ("sw", "p3"), ("a", "eth0"), ("r", "eth0")
STRANGE, NAKS, TIMES = (
    (*R, "port", -1, c.OUT_OF_SEQUENCE),
    (*A, "port", -1, c.PACKET_SEQ_ERR),
    (*A, "port", -1, c.LOCAL_ACK_TIMEOUT),
)
DROPPED = (*OUT, "queue", 3, c.QUEUE_DROPPED_PACKETS)
FORWARDED = (*OUT, "queue", 3, c.QUEUE_FORWARDED_PACKETS)


AGAIN = (*A, "port", -1, c.RDMA_RETRIES)
SOFT = {(*R, "port", -1, c.RDMA_RECEIVED_PACKETS): NEEDED + 400, TIMES: None}


def transfer(lost=0, each=0, rate=9.0, **more):
    """One of 100 000 packets, of which so many were lost, and so many sent again for each."""
    came = NEEDED + lost * each
    grown = {
        FORWARDED: came - lost,
        DROPPED: lost,
        (*A, "priority", 3, c.TX_PACKETS): came,
        (*R, "priority", 3, c.RX_PACKETS): came - lost,
        STRANGE: lost * (each - 1),
        NAKS: lost,
        TIMES: 0,
    }
    grown |= more.pop("grown", {})
    grown = {key: number for key, number in grown.items() if number is not None}
    seen = evidence(grown, (place("a"),), (flow("a", rate=rate, tool="ib_write_bw"),))
    return replace(seen, **more)


def judged(seen, clean=None, per_million=PER_MILLION):
    return repeated_what_was_lost(seen, clean=clean or transfer(), per_million=per_million)


def test_go_back_n_is_named_with_its_price():
    verdict = judged(transfer(100, 5, rate=9.0 / 1.005))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "100 of 100500 packets were lost, and 5.00 sent again for each" in verdict.because
    assert "go-back-N" in verdict.because
    assert "0.9950 by the closed form" in verdict.because


def test_selective_repeat_is_named():
    verdict = judged(transfer(100, 1, rate=9.0 / 1.001, grown={STRANGE: 400}))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "only what was lost: selective repeat" in verdict.because


@pytest.mark.parametrize("lost", [0, 40, 160])
def test_more_or_fewer_losses_than_told_are_a_fail_of_the_queue(lost):
    verdict = judged(transfer(lost, 5))
    assert verdict.outcome is Outcome.FAIL
    assert f"sw p3 queue 3 dropped_packets grew by {lost} of" in verdict.because


@pytest.mark.parametrize(("key", "named"), [(NAKS, c.PACKET_SEQ_ERR), (STRANGE, c.OUT_OF_SEQUENCE)])
@pytest.mark.parametrize("told", [0, 3, 50, 95])
def test_a_counter_of_losses_that_stands_still_is_named(key, named, told):
    verdict = judged(transfer(100, 5, rate=8.95, grown={key: told}))
    assert verdict.outcome is Outcome.FAIL
    assert f"{named} grew by {told} where 100 packets were lost" in verdict.because


@pytest.mark.parametrize("key", [NAKS, STRANGE, TIMES, DROPPED, FORWARDED])
def test_a_counter_that_is_not_there_is_no_zero(key):
    assert judged(transfer(100, 5, rate=8.95, grown={key: None})).outcome is Outcome.INCONCLUSIVE


def test_a_loss_behind_a_gap_is_told_by_nobody():
    """One of a hundred is lost, and a hundred sent again for each: every other loss is in these."""
    lost, price = 2020, 1 + 100 * 0.01 / 0.99
    dense = {"lost": lost, "each": 51, "rate": 9.0 / price}
    half = {NAKS: lost // 2, STRANGE: lost * 50}
    verdict = judged(transfer(**dense, grown=half | {TIMES: 10}), per_million=10_000)
    assert verdict.outcome is not Outcome.INCONCLUSIVE, verdict.because
    few = judged(transfer(**dense, grown=half | {NAKS: lost // 4}), per_million=10_000)
    assert f"packet_seq_err grew by {lost // 4} where {lost} packets were lost" in few.because


def test_time_outs_notice_losses_too():
    """A loss at the end of a message has nothing behind it that is out of sequence."""
    assert judged(transfer(100, 5, rate=8.95, grown={NAKS: 99, TIMES: 1})).outcome is Outcome.PASS


def test_a_nic_that_learns_of_losses_by_time_outs_alone_is_named():
    verdict = judged(transfer(100, 5, rate=0.1, grown={NAKS: 60, TIMES: 40}))
    assert verdict.outcome is Outcome.FAIL
    assert (
        "local_ack_timeout_err grew by 40, where chance loses 2 repetitions at" in verdict.because
    )


def test_what_time_outs_took_is_told_beside_the_closed_form():
    verdict = judged(transfer(100, 5, rate=4.5, grown={TIMES: 1}))
    assert verdict.outcome is Outcome.PASS
    assert "0.5000 of that without loss, 0.9950 by the closed form, beside" in verdict.because


def test_time_outs_that_a_nic_adapts_take_as_long_as_others():
    adapted = {(*A, "port", -1, c.ADAPTIVE_RETRANSMISSION_TIMEOUTS): 2}
    verdict = judged(transfer(100, 5, rate=5.0, grown=adapted))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "beside the waiting of 2 time-outs" in verdict.because
    assert judged(transfer(100, 5, rate=5.0)).outcome is not Outcome.PASS


@pytest.mark.parametrize(
    "key",
    [(*A, "port", -1, c.REQUEST_ERRORS), (*R, "port", -1, c.RESPONSE_ERRORS)],
)
def test_a_completion_with_an_error_contradicts_a_whole_transfer(key):
    verdict = judged(transfer(100, 5, rate=9.0 / 1.005, grown={key: 1}))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"{key[0]} eth0 {key[-1]} grew by 1, and the transfer ended whole" in verdict.because


def test_a_line_that_stands_still_is_no_go_back_n():
    """Half of the goodput, where what was sent again explains half a percent."""
    verdict = judged(transfer(100, 5, rate=4.5))
    assert verdict.outcome is Outcome.FAIL
    assert "goodput of a / that without loss is 0.500" in verdict.because


def test_more_than_without_loss_is_nothing_that_a_transfer_can_have():
    assert judged(transfer(100, 5, rate=9.5)).outcome is Outcome.FAIL


def test_a_loss_that_nobody_repeats_contradicts_a_whole_transfer():
    verdict = judged(transfer(100, 0, rate=8.95, grown={STRANGE: 100}))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "100 packets were lost, and a sent 0 more than without loss" in verdict.because


def test_a_packet_that_nobody_accounts_for_leaves_it_open():
    received = (*R, "priority", 3, c.RX_PACKETS)
    verdict = judged(transfer(100, 5, rate=8.95, grown={received: NEEDED + 399}))
    assert verdict.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("came", "outcome"), [(9000, Outcome.PASS), (8999, Outcome.INCONCLUSIVE)])
def test_answers_that_are_lost_on_their_way_back_leave_it_open(came, outcome):
    answers = {(*R, "priority", 3, c.TX_PACKETS): 9000, (*A, "priority", 3, c.RX_PACKETS): came}
    verdict = judged(transfer(100, 5, rate=9.0 / 1.005, grown=answers))
    assert verdict.outcome is outcome, verdict.because
    assert came == 9000 or "sent back is not received by the senders" in verdict.because


def test_a_transfer_that_lost_some_is_no_measure_of_others():
    clean = transfer(20, 1)
    verdict = judged(transfer(100, 5, rate=8.95), clean=clean)
    assert verdict.outcome is Outcome.INCONCLUSIVE


def test_a_nic_that_repeated_without_a_loss_is_no_measure():
    assert judged(transfer(100, 5, rate=8.95), clean=transfer(grown={TIMES: 1})).outcome is not (
        Outcome.PASS
    )


def test_messages_of_one_size_that_have_not_as_many_packets_contradict_each_other():
    clean = transfer(grown={FORWARDED: NEEDED - 7, (*R, "priority", 3, c.RX_PACKETS): NEEDED - 7})
    assert judged(transfer(100, 5, rate=8.95), clean=clean).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("nic", "counter"),
    [(A, c.REQUEST_ERRORS), (A, c.RNR_NAK_RETRY), (R, c.RESPONSE_ERRORS)],
)
def test_a_request_that_ended_in_an_error_contradicts_a_whole_transfer(nic, counter):
    key = (*nic, "port", -1, counter)
    assert judged(transfer(100, 5, rate=8.95, grown={key: 0})).outcome is Outcome.PASS
    for number in (1, -1):
        verdict = judged(transfer(100, 5, rate=8.95, grown={key: number}))
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert counter in verdict.because


@pytest.mark.parametrize("grown", [{NAKS: 401}, {NAKS: 101}, {STRANGE: 450}])
def test_more_naks_than_packets_out_of_sequence_or_more_of_these_than_sent_again(grown):
    assert judged(transfer(100, 5, rate=8.95, grown=grown)).outcome is Outcome.INCONCLUSIVE


def test_few_losses_tell_no_number():
    assert judged(transfer(5, 5), per_million=50).outcome is Outcome.INCONCLUSIVE


def test_without_figures_of_the_tool_nothing_is_said():
    seen = transfer(100, 5)
    silent = replace(seen, flows=(replace(seen.flows[0], goodput_bits_per_s=None),))
    assert judged(silent).outcome is Outcome.INCONCLUSIVE
    assert judged(replace(seen, flows=(), senders=())).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("again", "starved"), [(5, True), (8, False)])
def test_what_soft_roce_sends_again_for_naks_is_no_waiting(again, starved):
    grown = {**SOFT, NAKS: 5, AGAIN: again}
    seen = transfer(100, 5, rate=0.0235, grown=grown)
    slow = replace(seen, flows=tuple(replace(each, ran_s=5.0) for each in seen.flows))
    verdict = sound(replace(slow, line_bits_per_s=25e9))
    assert ("is not a load" in verdict.because) is starved, verdict.because


def test_what_is_said_of_time_outs_is_what_they_were():
    clean = transfer(grown={TIMES: None, AGAIN: 0})
    seen = transfer(129, 5, rate=8.8, grown={**SOFT, NAKS: 74, AGAIN: 77})
    (fact,) = (
        each
        for each in judged(seen, clean, per_million=1290).facts
        if c.RDMA_RETRIES in each.name and each.bound.startswith("<=")
    )
    assert (fact.name, fact.measured) == ("a eth0 completer_retry_err beyond NAKs", 3)
    late = judged(transfer(129, 5, rate=8.8, grown={**SOFT, NAKS: 60, AGAIN: 99}), clean,
                  per_million=1290)  # fmt: skip
    assert "completer_retry_err beyond NAKs grew by 39" in late.because


@pytest.mark.parametrize("waits", [0, 3])
def test_a_transfer_that_waited_for_time_outs_is_as_slow_as_they_are(waits):
    """In a healthy lab of 25G that lost a hundredth it had 0.0235 Gb/s, in three time-outs."""
    seen = transfer(100, 5, rate=0.0235, grown={TIMES: waits})
    slow = replace(seen, flows=tuple(replace(each, ran_s=5.0) for each in seen.flows))
    verdict = sound(replace(slow, line_bits_per_s=25e9))
    assert ("is not a load" in verdict.because) is (waits == 0), verdict.because


def test_a_queue_that_loses_another_number_is_not_the_nics_fault():
    verdict = judged(transfer(200, 5, rate=9.0 / 1.01))
    assert verdict.because.endswith("look at the netem of that queue (tc -s qdisc)")
    few = judged(transfer(0), per_million=100)
    assert "100 of a million were to be lost: 1 to 27" in few.because
    noticed = judged(transfer(100, 5, rate=9.0 / 1.005, grown={NAKS: 0}))
    assert "look at the NICs' counters" in noticed.because


@pytest.mark.parametrize(
    ("naks", "again", "outcome"),
    [
        (74, 77, Outcome.PASS),  # three time-outs
        (74, 74, Outcome.PASS),
        (60, 99, Outcome.FAIL),  # 39 time-outs
        (74, None, Outcome.INCONCLUSIVE),
    ],
)
def test_soft_roce_counts_time_outs_among_all_that_it_sends_again(naks, again, outcome):
    clean = transfer(grown={TIMES: None, AGAIN: 0})
    seen = transfer(129, 5, rate=8.8, grown={**SOFT, NAKS: naks, AGAIN: again})
    verdict = judged(seen, clean, per_million=1290)
    assert verdict.outcome is outcome, verdict.because


def test_soft_roce_counts_no_nak_that_acknowledges_nothing():
    soft = {(*R, "port", -1, c.RDMA_RECEIVED_PACKETS): NEEDED + 400, NAKS: 60}
    verdict = judged(transfer(100, 5, rate=8.95, grown=soft))
    assert c.PACKET_SEQ_ERR not in verdict.because
