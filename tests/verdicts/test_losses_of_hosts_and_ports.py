"""Whose loss a loss is: of a host's stack, its NIC, a cable, a switch port beside its queues, or
somebody else's traffic."""

from dataclasses import replace

import pytest
from handmade import A, B, R, reading, rows
from handmade_loads import load
from test_ecn_verdict import GOOD, WITHOUT, tcp
from test_sound import R_NIC, with_counter

from labtests.capabilities import counters as c
from labtests.measure.evidence import CnpClass, Evidence
from labtests.verdicts import (
    Outcome,
    checks,
    cnps,
    datagrams,
    drops_exactly_in,
    every_packet,
    goodput,
    lossless,
    lost_at_the_socket,
    marked_not_dropped,
    no_loss,
    path,
    paused,
    port_drops,
    sound,
)
from labtests.verdicts.outcome import worst

A_NIC, OUT = ("a", "eth0"), ("sw", "p3")
OVER = load(dropped=(40_000, 20_000), name="over")


@pytest.fixture
def whole(good: Evidence) -> Evidence:
    for nic in (A_NIC, ("b", "eth0"), R_NIC):
        good = with_counter(good, nic, c.NIC_RX_DISCARDED_PACKETS, 0)
    return good


def less(seen: Evidence, by: int, *key) -> Evidence:
    """One counter grew by so much less."""
    after = tuple(
        replace(r, value=r.value - by)
        if (r.device, r.port, r.scope, r.index, r.counter) == key
        else r
        for r in seen.after
    )
    assert after != seen.after
    return replace(seen, after=after)


def outcome_of(findings) -> Outcome:
    return worst(finding.outcome for finding in findings)


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("lost", [50, 1000])
def test_a_stack_lost_nothing_of_what_its_nic_sent(classes, lost):
    """Lost on the first cable, while a counter of the sender's stack grew as well."""
    seen = less(load(classes=classes), lost, *OUT, "queue", 3, c.QUEUE_FORWARDED_PACKETS)
    early, late = seen.flows
    flows = (replace(early, lost_datagrams=lost, received_datagrams=90_000 - lost), late)
    excused = with_counter(replace(seen, flows=flows), ("a", ""), c.UDP_SNDBUF_ERRORS, 1000, "host")
    verdict = every_packet(excused)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    told = f"lost on the way to r, as reported by the tool: {lost} datagrams of queue 3, 0 of them"
    assert told in verdict.because


def test_what_a_stack_lost_before_its_nic_is_still_the_hosts_own():
    seen = less(load(), 50, *OUT, "queue", 3, c.QUEUE_FORWARDED_PACKETS)
    seen = less(seen, 50, "a", "eth0", "priority", 3, c.TX_PACKETS)
    seen = less(seen, 50, "r", "eth0", "priority", 3, c.RX_PACKETS)
    early, late = seen.flows
    flows = (replace(early, lost_datagrams=50, received_datagrams=89_950), late)
    own = with_counter(replace(seen, flows=flows), ("a", ""), c.UDP_SNDBUF_ERRORS, 50, "host")
    assert every_packet(own).outcome is Outcome.PASS


def test_one_class_has_no_say_in_what_another_misses():
    """In an overload the tools of one class miss fewer than its queue dropped: datagrams of another
    class, which no counter has, are not those."""
    seen = load()
    early, late = seen.flows
    gone = replace(late, received_datagrams=late.received_datagrams - 6_000)
    stack = less(seen, 6_000, "r", "", "host", None, c.UDP_IN_DATAGRAMS)
    verdict = every_packet(replace(stack, flows=(early, gone)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 5 forwarded 70000 datagrams to r and its tools received 63998" in verdict.because

    overloaded = less(stack, -6_000, *OUT, "queue", 3, c.QUEUE_DROPPED_PACKETS)
    told = replace(gone, lost_datagrams=6_000)
    verdict = every_packet(replace(overloaded, flows=(early, told)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "6000 datagrams of queue 5, 0 of them dropped by the switch" in verdict.because


def test_the_cable_that_carried_less_than_was_sent_is_named(whole: Evidence):
    sent = sum(
        d.increase or 0
        for d in whole.changes.values()
        if (*d.key[:3], d.key[-1]) == ("a", "eth0", "priority", c.TX_PACKETS)
    )
    all_of_it = with_counter(whole, ("sw", "p1"), c.RX_PACKETS, sent)
    assert sound(all_of_it).outcome is Outcome.PASS
    verdict = sound(with_counter(whole, ("sw", "p1"), c.RX_PACKETS, sent - 1000))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"{sent} packets left a eth0 and {sent - 1000} came to sw p1" in verdict.because


@pytest.mark.parametrize(
    ("key", "ask"),
    [
        (("queue", 1, c.QUEUE_DROPPED_PACKETS), lambda seen: no_loss(seen, controls=(OVER,))),
        (("port", None, c.RX_CRC_ERRORS), sound),
        (("port", None, c.BUFFER_DROPPED_OUT_PACKETS), every_packet),
    ],
)
def test_a_counter_that_an_earlier_phase_had_is_missing_and_not_absent(key, ask):
    scope, index, counter = key
    seen = load()
    for nic in (A_NIC, ("b", "eth0"), R_NIC):
        seen = with_counter(seen, nic, c.NIC_RX_DISCARDED_PACKETS, 0)
    flows = tuple(replace(f, offered_bits_per_s=None) for f in seen.flows)
    there = with_counter(replace(seen, flows=flows), OUT, counter, 0, scope, index)

    def gone(rows):
        return tuple(r for r in rows if (*r.key[:2], r.scope, r.index, r.counter) != (*OUT, *key))

    now = replace(there, before=gone(there.before), after=gone(there.after), shown=there.numbers)
    verdict = ask(now)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"{counter}: the counter was never read" in verdict.because


def test_what_vanishes_between_a_nic_and_its_tools_is_missed():
    seen = load()
    halves = tuple(replace(f, received_datagrams=f.received_datagrams // 2) for f in seen.flows)
    half = less(seen, 80_000, "r", "", "host", None, c.UDP_IN_DATAGRAMS)
    verdict = every_packet(replace(half, flows=halves))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 3 forwarded 90000 datagrams to r and its tools received" in verdict.because
    silent = tuple(replace(f, received_datagrams=None) for f in seen.flows)
    assert every_packet(replace(seen, flows=silent)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "counter", [c.TX_ERRORS, c.NET_TX_DROPPED, c.TX_FIFO_ERRORS, c.RX_FIFO_ERRORS, c.RX_OVERRUNS]
)
def test_what_a_switch_port_loses_beside_its_queues_is_red(whole: Evidence, counter):
    assert sound(with_counter(whole, OUT, counter, 0)).outcome is Outcome.PASS
    verdict = sound(with_counter(whole, OUT, counter, 1))
    assert verdict.outcome is Outcome.FAIL
    assert f"sw p3 lost packets outside its queues: {counter} +1" in verdict.because


def test_what_came_with_a_wrong_checksum_was_not_lost_by_the_host(good: Evidence, whole, control):
    early, late = good.flows
    missed = replace(good, flows=(replace(early, sent_datagrams=600, lost_datagrams=500), late))
    after = tuple(
        replace(r, value=r.value + 500) if r.counter == c.UDP_IN_ERRORS else r for r in missed.after
    )
    full = replace(missed, after=after)
    assert lossless(full, {3, 5}, controls=(control,)).outcome is Outcome.PASS
    wrong = with_counter(full, ("r", ""), c.UDP_IN_CSUM_ERRORS, 500, "host")
    assert lossless(wrong, {3, 5}, controls=(control,)).outcome is Outcome.INCONCLUSIVE
    lost = replace(whole, flows=(replace(early, sent_datagrams=600, lost_datagrams=500), late))
    verdict = sound(with_counter(lost, ("r", ""), c.UDP_IN_CSUM_ERRORS, 500, "host"))
    assert "r udp_in_csum_errors +500: received data was corrupted in transit" in verdict.because


def test_a_kernel_that_never_repeats_is_no_measure_of_repeats():
    still = tcp(marks=0, drops=400, again=0)
    verdict = marked_not_dropped(GOOD, without=(still,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no sender's kernel retransmitted one" in verdict.because


def test_segments_of_other_connections_of_a_host_are_not_ours():
    few = tcp(marks=5000, drops=3, again=20, told=1)
    assert marked_not_dropped(few, without=(WITHOUT,)).outcome is Outcome.PASS
    verdict = marked_not_dropped(tcp(marks=5000, drops=3, again=450, told=1), without=(WITHOUT,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "898 segments more than their tools report" in verdict.because
    ours = tcp(marks=5000, drops=3, again=450, told=450)
    again = marked_not_dropped(ours, without=(WITHOUT,))
    assert again.outcome is Outcome.INCONCLUSIVE  # needless repetitions are no losses
    assert "or sent again needlessly" in again.because


def test_one_pause_frame_holds_a_sender_for_milliseconds_and_not_for_the_phase(whole: Evidence):
    """At 10 Gbit/s a frame holds for 3.4 ms at most: of 3 s, 900 of them do."""
    places = tuple(replace(p, link_bits_per_s=10e9) for p in whole.senders)
    held = replace(whole, senders=places)
    assert sound(held).outcome is Outcome.PASS
    verdict = sound(less(held, 899, "a", "eth0", "priority", 3, c.PFC_RX_FRAMES))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "PFC paused it for 0 % of the time" in verdict.because


def test_the_cnps_of_one_sender_do_not_stand_for_those_of_another(good: Evidence):
    def seen(at_a: int, at_b: int) -> Evidence:
        found = with_counter(good, R_NIC, c.NP_CNP_SENT, 300)
        for place, forwarded in ((A, at_a), (B, at_b)):
            nic, port = (place.device, place.port), (place.switch, place.switch_port)
            found = with_counter(found, nic, c.RP_CNP_HANDLED, 150)
            found = with_counter(found, nic, c.RP_CNP_IGNORED, 0)
            found = with_counter(found, port, c.QUEUE_FORWARDED_PACKETS, forwarded, "queue", 6)
        queues = (("sw", "p1", 6), ("sw", "p2", 6))
        return replace(found, cnp=CnpClass(dscp=48, queues=queues))

    assert outcome_of(cnps.in_their_class(seen(150, 150))) is Outcome.PASS
    assert outcome_of(cnps.in_their_class(seen(0, 300))) is Outcome.INCONCLUSIVE


def test_a_flow_is_of_its_own_sender_and_no_faster_than_its_link(good: Evidence):
    assert outcome_of(checks.ran(good)) is Outcome.PASS
    early, late = good.flows
    linked = replace(good, senders=tuple(replace(p, link_bits_per_s=10e9) for p in good.senders))
    for flows in (
        (late, early),
        (replace(early, goodput_bits_per_s=float("nan")), late),
        (replace(early, goodput_bits_per_s=-5e9), late),
        (replace(early, goodput_bits_per_s=5e12), late),
        (replace(early, receiver="b"), late),
    ):
        assert outcome_of(checks.ran(replace(linked, flows=flows))) is Outcome.INCONCLUSIVE


def test_a_drop_counter_that_counts_one_of_many_is_not_alive():
    drowsy = less(OVER, 39_999, *OUT, "queue", 3, c.QUEUE_DROPPED_PACKETS)
    assert port_drops.counter_proven(load(), 3, (OVER,)).outcome is Outcome.PASS
    assert port_drops.counter_proven(load(), 3, (drowsy,)).outcome is Outcome.INCONCLUSIVE
    silent = tuple(replace(f, lost_datagrams=None) for f in drowsy.flows)  # as ib_send_bw is
    drowsy = replace(drowsy, flows=silent)
    assert port_drops.counter_proven(load(), 3, (drowsy,)).outcome is Outcome.INCONCLUSIVE


def test_what_others_lose_in_a_queue_of_theirs_is_no_loss_of_a_socket():
    lost = with_counter(load(in_socket=9000), ("r", ""), c.IP_IN_DISCARDS, 0, "host")
    assert lost_at_the_socket(lost, controls=(OVER,)).outcome is Outcome.PASS
    after = tuple(
        replace(r, value=r.value + 50)
        if (*r.key[:3], r.index, r.counter) == (*OUT, "queue", 1, c.QUEUE_DROPPED_PACKETS)
        else r
        for r in lost.after
    )
    theirs = with_counter(replace(lost, after=after), OUT, c.BUFFER_DROPPED_OUT_PACKETS, 50)
    assert lost_at_the_socket(theirs, controls=(OVER,)).outcome is Outcome.PASS


def test_pauses_of_somebody_elses_class_accuse_nobody(good: Evidence):
    after = tuple(
        replace(r, value=r.value + 1000)
        if (*r.key[:2], r.index, r.counter) == ("sw", "p1", 4, c.PFC_TX_FRAMES)
        else r
        for r in good.after
    )
    stormy = replace(good, after=after)
    assert paused(good).outcome is Outcome.PASS
    assert paused(stormy).outcome is Outcome.FAIL
    sent = reading((*A_NIC, "priority", 4, c.TX_PACKETS), 10, 9.5)
    grown = reading((*A_NIC, "priority", 4, c.TX_PACKETS), 9010, 16.0)
    theirs = replace(stormy, before=(*stormy.before, sent), after=(*stormy.after, grown))
    assert paused(theirs).outcome is Outcome.PASS


def test_the_controls_of_these_tests_are_green():
    assert drops_exactly_in(OVER, {3, 5}, controls=(OVER,)).outcome is Outcome.PASS
    assert R.device == "r"


def test_senders_that_start_one_after_the_other_have_a_time_together(good: Evidence):
    """Rows of a second, of which not one lies wholly in the time in which all of them send."""
    early, late = good.flows
    flows = (
        replace(early, intervals=rows(10.0, (9, 9, 9, 4, 4))),
        replace(late, intervals=rows(12.1, (3, 3))),
        replace(late, intervals=rows(12.3, (2, 2))),
    )
    assert goodput.together(replace(good, flows=flows)) == pytest.approx((4e9, 3e9, 2e9))
    short = (*flows[:2], replace(late, intervals=rows(14.05, (2,))))
    assert goodput.together(replace(good, flows=short)) is None


def test_a_tcp_sender_without_a_byte_in_a_row_stood_still(whole: Evidence):
    early, late = (replace(f, offered_bits_per_s=None, retransmits=0) for f in whole.flows)
    assert sound(replace(whole, flows=(early, late))).outcome is Outcome.PASS
    still = replace(early, intervals=rows(10.0, (5, 5, 0, 5, 5)))
    verdict = sound(replace(whole, flows=(still, late)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "a stalled: it sent nothing by iperf3 from 12 to 13 s" in verdict.because


def test_s1_misses_what_its_receivers_do_not(good: Evidence, control: Evidence):
    assert lossless(good, {3, 5}, controls=(control,)).outcome is Outcome.PASS
    early, late = (replace(f, sent_datagrams=40_000, received_datagrams=40_000) for f in good.flows)
    assert lossless(replace(good, flows=(early, late)), {3, 5}, controls=(control,)).outcome is (
        Outcome.PASS
    )
    for received in (20_000, None):
        flows = (replace(early, received_datagrams=received), late)
        verdict = lossless(replace(good, flows=flows), {3, 5}, controls=(control,))
        assert verdict.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("place", [("a", "eth0", "priority"), ("sw", "p1", "port")])
def test_a_cable_of_which_one_end_could_not_be_read_is_not_passed_over(whole: Evidence, place):
    """An end that never counted packets is not asked; one that did and now does not is missing."""
    sent = sum(d.increase or 0 for d in path.sent_by_nic(whole, *A_NIC))
    seen = with_counter(whole, ("sw", "p1"), c.RX_PACKETS, sent)
    assert sound(seen).outcome is Outcome.PASS
    counter = c.TX_PACKETS if place[0] == "a" else c.RX_PACKETS

    def gone(rows):
        return tuple(r for r in rows if (r.device, r.port, r.scope, r.counter) != (*place, counter))

    now = replace(seen, before=gone(seen.before), after=gone(seen.after), shown=seen.numbers)
    verdict = sound(now)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"{counter}: the counter was never read" in verdict.because


def test_a_nic_that_could_not_be_read_excuses_no_loss():
    seen = less(load(), 50, *OUT, "queue", 3, c.QUEUE_FORWARDED_PACKETS)
    excused = with_counter(seen, ("a", ""), c.UDP_SNDBUF_ERRORS, 1000, "host")
    wrapped = less(excused, 10**9, "a", "eth0", "priority", 3, c.TX_PACKETS)
    assert datagrams.kept_inside(wrapped, "a") == 0
    assert every_packet(wrapped).outcome is Outcome.INCONCLUSIVE
