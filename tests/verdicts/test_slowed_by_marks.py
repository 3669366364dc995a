"""Whether it was marks that slowed a sender, what proves that it lost nothing, and when a control
proves a counter."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from handmade import reading, rows
from handmade_loads import STRAY, load
from test_class_verdicts import BY_THREE, sent
from test_counters_of_the_end import notified
from test_ecn_verdict import GOOD, WITHOUT, tcp
from test_sound import R_NIC, with_counter

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowStatus
from labtests.capabilities.records import PfcSetting
from labtests.measure.evidence import Evidence
from labtests.verdicts import (
    Outcome,
    checks,
    classified,
    cnps,
    drops_as_expected,
    marked_not_dropped,
    slowed_by_marks,
    sound,
    witnesses,
)
from labtests.verdicts.outcome import Finding, worst

A_NIC, PORT = ("a", "eth0"), ("sw", "p1")


def slowed(seen: Evidence) -> Iterator[Finding]:
    """What S2 says of each sender's goodput over time."""
    for flow in seen.flows:
        yield from checks.kept_sending(seen, flow)


def because(findings) -> str:
    return "; ".join(finding.because for finding in findings if finding.because)


@pytest.mark.parametrize(
    ("where", "counter", "scope", "index"),
    [
        (A_NIC, c.PAUSE_RX_FRAMES, "port", None),
        (PORT, c.PFC_TX_FRAMES, "priority", 3),
        (A_NIC, c.PFC_RX_FRAMES, "priority", 3),
    ],
)
def test_a_sender_that_pause_frames_held_was_not_slowed_by_marks(where, counter, scope, index):
    quiet = load()
    assert list(checks.not_paused(quiet)) == []
    held = with_counter(quiet, where, counter, 5_000, scope, index)
    assert "a was held by pause frames" in because(checks.not_paused(held))
    assert f"{counter} +5000" in because(checks.not_paused(held))


@pytest.mark.parametrize(
    ("where", "counter", "scope", "index"),
    [
        (A_NIC, c.PAUSE_RX_FRAMES, "port", None),
        (PORT, c.PFC_TX_FRAMES, "priority", 3),
        (A_NIC, c.PFC_RX_FRAMES, "priority", 3),
    ],
)
def test_pauses_that_could_not_be_read_are_missing_and_not_none(where, counter, scope, index):
    seen = with_counter(load(), where, counter, 0, scope, index)
    assert list(checks.not_paused(seen)) == []
    blind = tuple(
        replace(r, value=None, missing="N/A") if r.counter == counter else r for r in seen.after
    )
    said = because(checks.not_paused(replace(seen, after=blind)))
    assert f"{counter}: no value after the run: N/A" in said
    off = tuple(
        replace(r, value=None, missing=c.NOT_ENABLED) if r.counter == counter else r
        for r in seen.before
    )
    blind = tuple(r if r.value is not None else replace(r, missing=c.NOT_ENABLED) for r in blind)
    never = replace(seen, before=off, after=blind)
    assert list(checks.not_paused(never)) == []


PFC_OFF, PFC_ON = (
    PfcSetting(mode="off", priorities=frozenset()),
    PfcSetting(mode="on", priorities=frozenset({3, 4})),
)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "PFC was not read"),
        ({PORT: PFC_OFF}, "PFC as read: off at sw p1"),
        ({A_NIC: PFC_ON, PORT: PFC_OFF}, "PFC as read: on for 3 and 4 at a eth0, off at sw p1"),
        ({("b", "eth0"): PFC_OFF}, "PFC was not read"),
        ({A_NIC: replace(PFC_OFF, mode="auto")}, "PFC as read: auto for no priority at a eth0"),
    ],
    ids=["unread", "port", "both", "another", "auto"],
)
def test_what_is_said_of_pfc_is_what_was_read(settings, said):
    """Suites that ask for no pauses have not all turned PFC off themselves."""
    held = replace(with_counter(load(), A_NIC, c.PAUSE_RX_FRAMES, 5_000), pfc=settings)
    assert f"a was held by pause frames ({said}): " in because(checks.not_paused(held))


def test_pauses_of_somebody_elses_priority_held_nobody_of_ours():
    paused = with_counter(load(), A_NIC, c.PAUSE_RX_FRAMES, 700)
    paused = with_counter(paused, A_NIC, c.PFC_RX_FRAMES, 700, "priority", 6)
    assert list(checks.not_paused(paused)) == []


def test_a_queue_pair_that_stood_still_was_not_slowed_down():
    seen = load()
    early = seen.flows[0]
    assert list(checks.kept_sending(seen, early)) == []
    first, *later = early.intervals
    still = replace(
        early, intervals=(first, *(replace(row, goodput_bits_per_s=0.0) for row in later))
    )
    assert f"stalled from {first.end_s:.3g}" in because(checks.kept_sending(seen, still))


ALONE = (9.3, 9.3)
"""What the first sender has before the others, in Gb/s."""


def incast_of(*together: tuple[float, ...]) -> Evidence:
    """Two senders in one queue each, these rows of Gb/s while both send."""
    seen = load()
    early, late = together
    flows = tuple(
        replace(flow, intervals=got, goodput_bits_per_s=4e9, offered_bits_per_s=None)
        for flow, got in zip(seen.flows, (rows(10, (*ALONE, *early)), rows(12, late)), strict=True)
    )
    return replace(seen, flows=flows)


HELD = (4.6, 0.46, 0.46), (4.6, 8.8, 8.8)
"""One of two is held to a tenth for 2 of 3 s; the other one takes the rest."""


def test_a_row_behind_the_last_one_of_the_others_counts_too():
    """perftest prints whole rows: who began later has its last one earlier."""
    early, late = rows(10, (*ALONE, 4.6, 4.6, 0.46)), rows(12.2, (4.6, 4.6))
    seen = incast_of((4.6,), (4.6,))
    flows = tuple(
        replace(flow, intervals=got) for flow, got in zip(seen.flows, (early, late), strict=True)
    )
    said = because(slowed(replace(seen, flows=flows)))
    assert "a sent 0.46 Gb/s from 14 to 15 s" in said
    ended = (replace(early[-1], goodput_bits_per_s=9.3e9),)  # the other one ended before it
    flows = (replace(flows[0], intervals=(*early[:-1], *ended)), flows[1])
    assert because(slowed(replace(seen, flows=flows))) == ""


@pytest.mark.parametrize("held", [HELD, HELD[::-1]], ids=["early", "late"])
def test_a_sender_that_was_held_to_a_tenth_for_a_time_was_not_slowed_by_marks(held):
    verdict = slowed_by_marks(incast_of(*held))
    who = "a" if held is HELD else "b"
    assert verdict.outcome is not Outcome.PASS
    said = "sent 0.46 Gb/s from 13 to 14 s of the lab's clock, and 4.6 at its best"
    assert f"{who} {said}" in because(slowed(incast_of(*held)))


def test_the_clean_sender_of_s3_is_held_to_the_same():
    held = incast_of((8.6, 0.86, 0.86), (0.1, 0.1, 0.1))
    verdict = drops_as_expected(held, dropping=5, clean=3)
    assert "a sent 0.86 Gb/s from 13 to 14 s" in verdict.because
    all_the_time = incast_of((0.4, 0.4, 0.4), (4, 4, 4))
    verdict = drops_as_expected(all_the_time, dropping=5, clean=3)
    assert "a: goodput / fair share of the line is 0.080, not >= 0.1" in verdict.because


@pytest.mark.parametrize(
    "together",
    [
        ((5.05, 4.57, 4.61), (4.59, 4.59, 4.6)),
        ((0.98, 0.82, 0.59), (8.2, 8.3, 8.6)),  # the widest of healthy labs: 10g-eight
        ((0.75, 0.74, 0.76), (8.4, 8.4, 8.4)),  # 0.15 of a fair share: the source's
    ],
    ids=["usual", "widest", "source"],
)
def test_dcqcn_swings_by_less(together):
    assert because(slowed(incast_of(*together))) == ""


@pytest.mark.parametrize(
    ("counter", "scope", "index"),
    [(c.QUEUE_DROPPED_PACKETS, "queue", 0), (c.BUFFER_DROPPED_OUT_PACKETS, "port", None)],
)
def test_a_round_in_which_something_was_dropped_tells_nothing(counter, scope, index):
    queues = BY_THREE
    seen = sent(queues)
    assert classified(seen, queues).outcome is Outcome.PASS
    key = (*seen[0].bottleneck, scope, index, counter)
    dropped = replace(
        seen[0],
        before=(*seen[0].before, reading(key, 7, 1.0)),
        after=(*seen[0].after, reading(key, 8, 2.0)),
    )
    verdict = classified((dropped, *seen[1:]), queues)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"{counter} grew by 1: whose packets is not known" in verdict.because


@pytest.mark.parametrize(
    "counter",
    [
        c.RX_OVERSIZE_PACKETS,
        c.RX_UNDERSIZE_PACKETS,
        c.RX_FRAGMENTS,
        c.RX_JABBERS,
        c.NIC_RX_ALLOCATION_ERRORS,
        c.NIC_RX_DESCRIPTOR_ERRORS,
        c.NIC_TX_QUEUE_DROPPED,
    ],
)
def test_every_counter_of_a_nic_that_can_mean_loss_is_a_witness(counter):
    verdict = sound(with_counter(load(), R_NIC, counter, 1000))
    assert verdict.outcome is not Outcome.PASS
    assert f"{counter} +1000" in verdict.because


def test_completions_with_an_error_are_no_success():
    seen = load()
    failing = with_counter(seen, R_NIC, c.RESPONSE_ERRORS, 3)
    failing = with_counter(failing, A_NIC, c.REQUEST_ERRORS, 2)
    findings = list(witnesses.rdma_saw_no_loss(failing))
    assert worst(finding.outcome for finding in findings) is not Outcome.PASS
    for said in ("resp_cqe_error grew by 3", "req_cqe_error grew by 2"):
        assert said in because(findings)


@pytest.mark.parametrize(
    ("where", "counter"),
    [(R_NIC, c.OUT_OF_SEQUENCE), (A_NIC, c.PACKET_SEQ_ERR), (A_NIC, c.REQUEST_ERRORS)],
)
def test_a_gap_that_a_nic_sees_where_no_queue_dropped_leaves_it_open(where, counter):
    """At the edge (S21) queues may drop, and nobody asks for their balance."""
    still = slowed_by_marks(with_counter(load(), where, counter, 0))
    assert " ".join((*where, counter)) not in still.because
    verdict = slowed_by_marks(with_counter(load(), where, counter, 2))
    assert f"{counter} grew by 2 without a drop at the switch" in verdict.because
    assert [f.margin for f in verdict.facts if f.name == " ".join((*where, counter))] == [-2]
    backwards = slowed_by_marks(with_counter(load(), where, counter, -1))
    assert f"{counter}: ran backwards" in backwards.because
    full = with_counter(load(dropped=(40, 0)), where, counter, 2)
    assert counter not in slowed_by_marks(full).because


def test_a_full_queue_without_marks_is_the_switchs_whatever_became_of_the_flows():
    """Two queue pairs at 2.5 Gb/s that starve each other complete no message."""
    seen = load(dropped=(40_000, 20_000))
    marks = with_counter(seen, seen.bottleneck, c.ECN_MARKED_PACKETS, 0)
    dead = tuple(replace(flow, status=FlowStatus.FAILED, because="stood") for flow in seen.flows)
    verdict = slowed_by_marks(replace(marks, flows=dead))
    assert verdict.outcome is Outcome.FAIL
    assert verdict.because == "sw p3 ecn_marked_packets stayed 0"
    nothing_dropped = with_counter(load(), seen.bottleneck, c.ECN_MARKED_PACKETS, 0)
    assert slowed_by_marks(replace(nothing_dropped, flows=dead)).outcome is Outcome.INCONCLUSIVE


def broken(*goodputs: float, status: FlowStatus = FlowStatus.COMPLETE) -> Evidence:
    """A control in which both queues dropped, with queue pairs of these goodputs in bit/s."""
    seen = load(dropped=(40_000, 20_000))
    flows = tuple(
        replace(
            flow,
            tool="ib_send_bw",
            status=status if not rate else FlowStatus.COMPLETE,
            because="stood",
            goodput_bits_per_s=rate,
            offered_bits_per_s=None,
        )
        for flow, rate in zip(seen.flows, goodputs, strict=True)
    )
    return replace(seen, flows=flows, kind="control")


@pytest.mark.parametrize("status", [FlowStatus.FAILED, FlowStatus.COMPLETE])
@pytest.mark.parametrize("rate", [0.0, 5e5])
def test_a_queue_pair_that_a_control_starves_is_not_its_hosts_fault(status, rate):
    control = broken(rate, rate, status=status)
    assert sound(control).outcome is Outcome.PASS
    assert "0 flows ran as requested; 2 queue pairs lost packets" in sound(control).because
    assert sound(replace(control, kind="experiment")).outcome is not Outcome.PASS
    not_dropped = replace(load(), flows=control.flows, kind="control")
    assert sound(not_dropped).outcome is Outcome.INCONCLUSIVE


def test_a_queue_pair_that_completed_needs_no_excuse():
    whole, half = broken(4e9, 3e9), broken(4e9, 0.0)
    assert sound(whole).because == "2 flows ran as requested"
    assert "1 flows ran as requested; 1 queue pairs lost packets" in sound(half).because


@pytest.mark.parametrize("sent", [None, 0, 19_999])
def test_a_sender_that_did_not_send_what_its_queue_dropped_proves_nothing(sent):
    """Its process is dead, its NIC still or not counting, and the drops are somebody else's."""
    control = broken(0.0, 0.0, status=FlowStatus.FAILED)
    key = ("b", "eth0", "priority", 5, c.TX_PACKETS)
    start = {r.key: r.value for r in control.before}[key]
    after = tuple(r for r in control.after if r.key != key)
    if sent is not None:
        after = (*after, reading(key, start + sent, 16.0))
    verdict = sound(replace(control, after=after))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "b -> r (ib_send_bw) did not run: stood" in verdict.because
    assert "a -> r" not in verdict.because


def test_a_host_that_does_not_count_its_classes_proves_no_dead_queue_pair_alive():
    control = broken(0.0, 0.0, status=FlowStatus.FAILED)
    places = tuple(replace(place, priority=None) for place in control.senders)
    assert sound(replace(control, senders=places)).outcome is Outcome.INCONCLUSIVE


def test_cnps_that_arrived_were_not_lost_on_the_way_back():
    def told(arrived: int) -> str:
        seen = notified(load(), sent=300, came=200)
        for nic in (A_NIC, ("b", "eth0")):
            seen = with_counter(seen, nic, c.RP_CNP_HANDLED, arrived // 2)
            seen = with_counter(seen, nic, c.RP_CNP_IGNORED, 0)
        return because(cnps.in_their_class(seen))

    assert "all of them arrived, 100 with another DSCP" in told(300)
    assert "100 of them were lost on the way back" in told(200)


def received(seen: Evidence, *gbit: float, late_s: float = 0.0) -> Evidence:
    """The same with so many Gb/s of each for 5 s, the second one begun so much later."""
    flows = tuple(
        replace(
            flow,
            goodput_bits_per_s=rate * 1e9,
            received_bytes=round(rate * 5e9 / 8),
            intervals=rows(10 + number * late_s, (rate,) * 5),
        )
        for number, (flow, rate) in enumerate(zip(seen.flows, gbit, strict=True))
    )
    return replace(seen, flows=flows)


def test_tcp_that_got_more_than_the_line_carries_is_no_proof():
    assert marked_not_dropped(received(GOOD, 4.7, 4.7), without=(WITHOUT,)).outcome is Outcome.PASS
    verdict = marked_not_dropped(received(GOOD, 9.4, 9.4), without=(WITHOUT,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "total goodput / line rate is 1.880, not <= 1.05" in verdict.because
    untold = received(GOOD, 9.4, 9.4)
    untold = replace(untold, flows=tuple(replace(f, received_bytes=None) for f in untold.flows))
    assert marked_not_dropped(untold, without=(WITHOUT,)).outcome is Outcome.INCONCLUSIVE


def test_tcp_senders_that_did_not_start_together_had_the_line_one_after_the_other():
    """Each had it alone for 2 s of its 5: their means add up to more than the line."""
    apart = received(GOOD, 6.58, 6.58, late_s=2.0)
    assert marked_not_dropped(apart, without=(WITHOUT,)).outcome is Outcome.PASS


def damaged(seen: Evidence, counter: str) -> Evidence:
    """The receiver refused five packets for their checksum, at whichever of its ports."""
    for nic in (A_NIC, ("b", "eth0"), R_NIC):
        seen = with_counter(seen, nic, c.NIC_RX_DISCARDED_PACKETS, 0)
    seen = with_counter(seen, R_NIC, c.RX_PACKETS, 2 * STRAY, "priority", 0)
    return with_counter(seen, ("r", ""), counter, 5, "host")


def missing_of(seen: Evidence, lost: int) -> Evidence:
    """The first receiver misses so many of its datagrams."""
    early, late = seen.flows
    came = early.received_datagrams - lost
    return replace(seen, flows=(replace(early, lost_datagrams=lost, received_datagrams=came), late))


@pytest.mark.parametrize("counter", [c.UDP_IN_CSUM_ERRORS, c.IP_IN_CSUM_ERRORS])
def test_a_wrong_checksum_at_another_port_of_the_receiver_is_none_of_the_way(counter):
    """/proc/net/snmp counts a whole host, with the port by which it is managed."""
    assert sound(damaged(load(), counter)).outcome is Outcome.PASS
    over = load(dropped=(40_000, 20_000))
    assert "corrupted" not in because([sound(damaged(over, counter))])
    ours = sound(damaged(missing_of(load(), 5), counter))
    assert ours.outcome is Outcome.INCONCLUSIVE
    assert f"r {counter} +5: received data was corrupted in transit" in ours.because
    ours = sound(damaged(missing_of(over, over.flows[0].lost_datagrams + 12), counter))
    assert "corrupted in transit" in ours.because
    silent = tuple(replace(flow, lost_datagrams=None) for flow in load().flows)
    assert "corrupted" in sound(damaged(replace(load(), flows=silent), counter)).because


def test_a_segment_that_was_damaged_is_sent_again():
    def told(again: int | None) -> str:
        seen = tcp(marks=5000, drops=3, again=3, told=0)
        early, late = (replace(flow, retransmits=again) for flow in seen.flows)
        late = replace(late, retransmits=0)
        return sound(damaged(replace(seen, flows=(early, late)), c.TCP_IN_CSUM_ERRORS)).because

    assert "corrupted" not in told(3)
    assert "r tcp_in_csum_errors +5: received data was corrupted in transit" in told(4)
