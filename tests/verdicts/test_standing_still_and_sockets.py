"""Senders that stand still or are served too slowly, and datagrams that a socket, or nobody,
lost."""

from dataclasses import replace

import pytest
from handmade import flow, reading, rows
from handmade_loads import load
from test_ecn_verdict import GOOD, WITHOUT, tcp
from test_pauses_and_cnps import grown
from test_slowed_by_marks import because, incast_of
from test_the_tail import LONG, S1, of_long_datagrams

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import (
    Outcome,
    every_packet,
    lost_at_the_socket,
    marked_not_dropped,
    slowed_by_marks,
    slowing,
    sound,
    throttling,
)
from labtests.verdicts.outcome import Finding

R = ("r", "")


# -- hosts with classes, and one without -----------------------------------------------------------


def test_a_receiver_without_classes_is_asked_for_none():
    """Healthy senders that count by class were held against counters that no such receiver has."""
    plain, classes = load(classes=False), load()
    mixed = replace(plain, senders=classes.senders)
    assert every_packet(mixed).outcome is Outcome.PASS, every_packet(mixed).because
    assert not mixed.by_class
    assert classes.by_class
    assert not plain.by_class


# -- a host that stands still ----------------------------------------------------------------------


def test_who_stands_still_alone_was_not_slowed_too_little():
    """The first sender's 9.3 Gb/s alone, but for a row of nothing."""
    seen = incast_of((4.6, 4.6, 4.6), (4.6, 4.6, 4.6))
    early, late = seen.flows
    first, second, *rest = early.intervals
    still = replace(early, intervals=(first, replace(second, goodput_bits_per_s=0.0), *rest))
    verdict = slowed_by_marks(replace(seen, flows=(still, late)))
    assert verdict.outcome is not Outcome.PASS
    found = [
        finding
        for finding in slowing._slowed(replace(seen, flows=(still, late)))
        if "shared / solo" in finding.because
    ]
    assert [finding.outcome for finding in found] == [Outcome.INCONCLUSIVE]
    assert "a sent 4.65 of 10 Gb/s while nobody else sent, the limit of its host" in because(found)


def test_who_stands_still_beside_others_is_not_starved_by_marks():
    held = incast_of((0.0, 0.0, 0.0), (9, 9, 9))
    found = [f for f in slowing._slowed(held) if "fair share" in f.because]
    assert [f.outcome for f in found] == [Outcome.INCONCLUSIVE]
    assert "a stalled from 12 to 13 s of the lab's clock" in because(found)
    starved = incast_of((0.1, 0.1, 0.1), (9, 9, 9))
    found = [f for f in slowing._slowed(starved) if "fair share" in f.because]
    assert [f.outcome for f in found] == [Outcome.FAIL]


# -- fragments that the sender lost ----------------------------------------------------------------


@pytest.mark.parametrize("per_mille", [1, 5, 10, 12, 15, 20, 25, 40, 100])
def test_no_share_of_fragments_makes_a_datagram_of_fewer(per_mille):
    """1.2 to 2.2 % of 45 packets each was taken for datagrams of 44, and nothing was missing."""
    gone = LONG * 45 * per_mille // 1000
    seen = replace(of_long_datagrams(less=gone), own_mtu_bytes={"a": 1500, "b": 1500})
    verdict = sound(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"{gone} packets were lost inside a" in verdict.because


def test_a_host_may_have_an_mtu_of_its_own_or_have_learned_that_of_the_way():
    seen = of_long_datagrams(mtu_bytes=9000)
    assert sound(replace(seen, own_mtu_bytes={"a": 9000, "b": 9000})).outcome is Outcome.PASS
    seen = of_long_datagrams()
    assert sound(replace(seen, own_mtu_bytes={"a": 9000, "b": 1500})).outcome is Outcome.PASS


# -- a full socket ---------------------------------------------------------------------------------

OVER = load(dropped=(5000, 400), name="over")


def full(seen: Evidence, **counters: int) -> str:
    for counter, by in counters.items():
        seen = grown(seen, R, getattr(c, counter), by, "host")
    verdict = lost_at_the_socket(seen, controls=(OVER,))
    return "" if verdict.outcome is Outcome.PASS else f"{verdict.outcome}: {verdict.because}"


def test_all_that_the_tools_miss_was_lost_at_the_socket():
    assert full(load(in_socket=6000)) == ""
    few = full(load(in_socket=6000), UDP_RCVBUF_ERRORS=1)
    assert few.startswith("inconclusive: r udp_rcvbuf_errors grew by 1, and the tools miss 5000: ")


def test_a_socket_loses_no_more_than_udp_counts_nor_than_is_missing():
    many = full(load(in_socket=6000), UDP_RCVBUF_ERRORS=12_000)
    assert "which has them, by 6000" in many
    others = full(load(in_socket=6000), UDP_RCVBUF_ERRORS=12_000, UDP_IN_ERRORS=12_000)
    assert "datagrams of others are among them" in others


# -- marks that stood still ------------------------------------------------------------------------


def test_neither_marked_nor_dropped_is_a_counter_that_stood_still():
    none = tcp(marks=0, drops=0, again=0)
    verdict = marked_not_dropped(none, without=(WITHOUT,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "stayed 0: nor was a packet dropped, and without ECN" in verdict.because
    assert marked_not_dropped(GOOD, without=(WITHOUT,)).outcome is Outcome.PASS


# -- more than the line ----------------------------------------------------------------------------


@pytest.mark.parametrize("dropped", [0, 5000])
def test_more_than_the_line_was_dropped_behind_the_senders_or_not_sent(dropped):
    seen = grown(S1, ("sw", "p3"), c.QUEUE_DROPPED_PACKETS, dropped, "queue", 3)
    flows = (
        flow("a", rows(10, (7.8, 7.8, 5.1, 5.1, 5.1)), 7.8e9),
        flow("b", rows(12, (5.15,) * 3), 5.15e9),
    )
    seen = replace(seen, flows=flows)
    finding = next(
        f for f in throttling._throttled(seen, 9.6e9, 0) if "theoretical maximum" in f.because
    )
    assert finding.outcome is (Outcome.FAIL if dropped else Outcome.INCONCLUSIVE)
    assert ("rows of the tools" in finding.because) is not bool(dropped)


# -- a port that is slow, and a sender that stands still -------------------------------------------


def shared(early: float, late: float, held_share: float) -> Finding:
    """S1: what both got of 10 Gb/s while both sent for 3 s; the late one was held for so long."""
    flows = (
        flow("a", rows(10, (7.8, 7.8, *[early] * 3)), 7.8e9),
        flow("b", rows(12, [late] * 3), 5.15e9),
    )
    seen = replace(S1, flows=flows)
    for nic, priority, share in (("a", 3, 1 - early / 7.8), ("b", 5, held_share)):
        held_us = round(3e6 * share)
        seen = grown(seen, (nic, "eth0"), c.PFC_RX_PAUSE_US, held_us, "priority", priority)
        seen = grown(seen, (nic, "eth0"), c.PFC_RX_FRAMES, 10_000, "priority", priority)
    return next(
        f for f in throttling._throttled(seen, 9.616e9, 0) if "theoretical maximum" in f.because
    )


@pytest.mark.parametrize(("each", "held"), [(3.85, 0.49), (4.47, 0.28)])
def test_a_port_that_serves_too_slowly_is_a_proven_fault(each, held):
    """Senders that it holds make up for a part of each pause: that was taken for their limit."""
    finding = shared(each, each, held)
    assert finding.outcome is Outcome.FAIL
    assert "stalled" not in finding.because


@pytest.mark.parametrize(("late", "held"), [(3.62, 0.14), (3.98, 0.15)])
def test_a_sender_that_stands_still_beside_one_that_has_its_fair_share_is_named(late, held):
    finding = shared(4.81, late, held)
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert "the limit of b, or it stalled" in finding.because


def test_packets_that_the_queue_dropped_excuse_no_whole_datagrams():
    """100 packets that the root qdisc dropped excused 4500 fragments."""
    seen = replace(of_long_datagrams(less=4500), own_mtu_bytes={"a": 1500, "b": 1500})
    seen = grown(seen, ("a", "eth0"), c.QDISC_DROPPED_PACKETS, 100)
    verdict = sound(seen)
    assert verdict.outcome is not Outcome.PASS
    assert "4400 packets were lost inside a" in verdict.because


def test_who_was_marked_while_nobody_else_sent_had_a_port_that_is_slow():
    seen = incast_of((4.6, 4.6, 4.6), (4.6, 4.6, 4.6))
    early, late = seen.flows
    slow = tuple(replace(r, goodput_bits_per_s=2.5e9) for r in early.intervals)
    seen = replace(seen, flows=(replace(early, intervals=slow), late))
    at = ("a", "eth0", "port", None, c.RP_CNP_HANDLED)
    marked = tuple(replace(reading(at, n, t), asked_s=t) for n, t in ((0, 10.2), (900, 11.8)))

    def solo(samples):
        found = slowing._slowed(replace(seen, samples=samples))
        return next(f for f in found if "shared / solo" in f.because)

    assert solo(marked).outcome is Outcome.FAIL
    assert solo(marked[:1]).outcome is Outcome.INCONCLUSIVE
    for cnps in ((0, 1), (900, 0), (0, 900, 3)):  # one alone, or a counter that was cleared
        times = (10.2, 11.0, 11.8)[-len(cnps) :]
        shown = tuple(
            replace(reading(at, n, t), asked_s=t) for n, t in zip(cnps, times, strict=True)
        )
        assert solo(shown).outcome is Outcome.INCONCLUSIVE, cnps
