"""Counters refreshed slowly, ports that disagree with their queues, CNPs in a wrong class."""

from dataclasses import replace

import pytest
from handmade import control_of, reading
from test_sound import with_counter

from labtests.capabilities import counters as c
from labtests.measure.evidence import CnpClass, CnpReturn, Refresh
from labtests.verdicts import Outcome, checks, cnps, drops_as_expected, lossless, port_drops
from labtests.verdicts.outcome import worst

OUT = ("sw", "p3")
LINE_BYTES = 1_250_000_000  # a second at 10 Gbit/s


def sampled(seen, shown, *, refresh_s, asked_before_s=0.0):
    """Samples of the bottleneck's forwarded bytes: (time, bytes)."""
    samples = tuple(
        replace(
            reading((*OUT, "queue", 3, c.QUEUE_FORWARDED_BYTES), round(value), time_s),
            asked_s=time_s - asked_before_s,
        )
        for time_s, value in shown
    )
    return replace(seen, samples=samples, refresh=Refresh(seconds=refresh_s))


def refreshed_every(period_s, share):
    """What a switch shows every second that refreshes so slowly, at this share of line rate."""
    return [(t, share * LINE_BYTES * (t // period_s) * period_s) for t in range(10, 31)]


def test_use_is_what_is_certain_of_it_whenever_the_counters_were_refreshed(good):
    full = [(10 + t, t * LINE_BYTES) for t in range(6)]
    assert checks.egress_use(sampled(good, full, refresh_s=0.0)) == pytest.approx(1.0)
    slow = sampled(good, refreshed_every(8, 0.8), refresh_s=8.0)
    use = checks.egress_use(slow)
    assert use is not None
    assert 0.6 <= use <= 0.8


def test_a_slow_refresh_that_was_not_measured_gives_an_impossible_use_and_no_proof(good):
    """Two samples a second apart, between which eight seconds of bytes came."""
    unpaused = replace(good, after=tuple(r for r in good.after if r.counter != c.PFC_TX_FRAMES))
    believed = sampled(unpaused, refreshed_every(8, 0.8), refresh_s=0.0)
    finding = checks.congestion_proven(believed)
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert "of line rate: stale counters, or its speed is not" in finding.because


def test_without_a_known_refresh_period_there_is_no_verdict(good, control):
    unknown = replace(good, refresh=Refresh(seconds=None, because="sw showed the same for 75 s"))
    verdict = lossless(unknown, {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "sw showed the same for 75 s" in verdict.because


def test_a_port_that_dropped_what_no_queue_did_is_no_pass(good, control):
    more = with_counter(good, OUT, c.BUFFER_DROPPED_OUT_PACKETS, 1)
    verdict = lossless(more, {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "buffer_dropped_out_packets +1, but its queues dropped 0" in verdict.because
    elsewhere = with_counter(good, ("sw", "p1"), c.BUFFER_DROPPED_IN_PACKETS, 1)
    strangers = lossless(elsewhere, {3, 5}, controls=(control,))
    assert strangers.outcome is Outcome.INCONCLUSIVE  # each packet of ours is accounted for
    assert "not from these flows" in strangers.because
    sent = with_counter(elsewhere, ("a", "eth0"), c.TX_PACKETS, 600_001, "priority", 3)
    ours = tuple(r for r in sent.after if r.key != ("a", "eth0", "priority", 3, c.TX_PACKETS))
    again = reading(("a", "eth0", "priority", 3, c.TX_PACKETS), 1010 + 600_001, 16.0)
    before = tuple(r for r in sent.before if r.value != 70 or r.counter != c.TX_PACKETS)
    lost = replace(sent, before=before, after=(*ours, again))
    assert lossless(lost, {3, 5}, controls=(control,)).outcome is Outcome.FAIL


def test_drops_of_a_port_beyond_those_of_its_queues_spoil_drops_where_due(good):
    over = control_of(good)
    ports = with_counter(over, OUT, c.BUFFER_DROPPED_OUT_PACKETS, 2 * 4711)
    one_more = with_counter(over, OUT, c.BUFFER_DROPPED_OUT_PACKETS, 2 * 4711 + 1)
    assert all(f.outcome is Outcome.PASS for f in port_drops.switch_ports_kept(ports))
    verdict = drops_as_expected(one_more, dropping=3, clean=6)
    assert any("+9423, but its queues dropped 9422" in said for said in verdict.disagreements)


def test_a_third_class_that_drops_in_its_own_queue_leaves_the_verdict_as_it_is(good, control):
    third = with_counter(good, OUT, c.QUEUE_DROPPED_PACKETS, 50, "queue", 0)
    seen = with_counter(third, OUT, c.BUFFER_DROPPED_OUT_PACKETS, 50)
    verdict = lossless(seen, {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.PASS, verdict.because


# -- CNPs ----------------------------------------------------------------------------------------


def notified(seen, *, sent, came, queue=6):
    seen = with_counter(seen, ("r", "eth0"), c.NP_CNP_SENT, sent)
    for port, part in (("p1", came // 2), ("p2", came - came // 2)):
        seen = with_counter(seen, ("sw", port), c.QUEUE_FORWARDED_PACKETS, part, "queue", queue)
    ways = (("sw", "p1", queue), ("sw", "p2", queue))
    return replace(seen, cnp=CnpClass(dscp=8 * queue, queues=ways))


def outcome_of(seen):
    return worst(finding.outcome for finding in cnps.in_their_class(seen))


def handled(seen, cnps_got):
    for nic, part in ((("a", "eth0"), cnps_got // 2), (("b", "eth0"), cnps_got - cnps_got // 2)):
        seen = with_counter(seen, nic, c.RP_CNP_HANDLED, part)
        seen = with_counter(seen, nic, c.RP_CNP_IGNORED, 0)
    return seen


@pytest.mark.parametrize(
    ("queues", "outcome", "says"),
    [
        ({6: 300}, Outcome.PASS, ""),
        ({6: 0, 0: 300}, Outcome.FAIL, "leaf does not classify by DSCP 48"),
        ({6: 299, 0: 900}, Outcome.INCONCLUSIVE, "a, b got 300 CNPs by way of leaf up"),
        ({6: 0, 0: 0}, Outcome.INCONCLUSIVE, "or its counter stood still"),
        ({6: None, 0: 300}, Outcome.INCONCLUSIVE, "leaf up queue 6 forwarded_packets"),
        ({}, Outcome.PASS, ""),  # nobody reads that port
    ],
)
def test_cnps_have_a_class_between_switches_too(good, queues, outcome, says):
    """The receiver's own port put all into queue 0, and the next switch put it right again."""
    seen = handled(notified(good, sent=300, came=300), 300)
    back = CnpReturn(port=("leaf", "up"), queue=6, senders=("a", "b"))
    seen = replace(seen, cnp=replace(seen.cnp, returns=(back,)))
    for queue, packets in queues.items():
        at = (*back.port, "queue", queue, c.QUEUE_FORWARDED_PACKETS)
        seen = with_counter(seen, back.port, c.QUEUE_FORWARDED_PACKETS, packets or 0, *at[2:4])
        if packets is None:
            gone = tuple(r if r.key != at else replace(r, value=None) for r in seen.after)
            seen = replace(seen, after=gone)
    assert outcome_of(seen) is outcome
    assert any(says in finding.because for finding in cnps.in_their_class(seen))


def test_cnps_have_to_be_counted_in_their_own_queue(good):
    assert outcome_of(notified(good, sent=300, came=300)) is Outcome.PASS
    assert outcome_of(notified(good, sent=300, came=304)) is Outcome.PASS  # others use it, too
    assert outcome_of(handled(notified(good, sent=300, came=140), 300)) is Outcome.FAIL
    assert outcome_of(handled(notified(good, sent=300, came=140), 140)) is Outcome.INCONCLUSIVE
    assert outcome_of(notified(good, sent=300, came=299)) is Outcome.INCONCLUSIVE  # one was lost
    assert outcome_of(notified(good, sent=300, came=300, queue=3)) is Outcome.FAIL
    assert outcome_of(good) is Outcome.INCONCLUSIVE
