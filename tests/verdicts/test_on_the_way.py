"""What is lost between two switches, or beside the queue that is looked at, is never green."""

from dataclasses import replace

import pytest
from handmade import control_of, counters_at, flow, good_evidence, reading, rows
from handmade_loads import SENT, load
from test_controls_and_filters import with_rates
from test_ecn_verdict import GOOD, WITHOUT
from test_pauses_and_cnps import grown

from labtests.capabilities import counters as c
from labtests.measure.evidence import Crossing, Evidence
from labtests.verdicts import (
    Outcome,
    astray,
    lossless,
    marked_not_dropped,
    no_loss,
    packets,
    paused,
    pauses,
    port_drops,
    slowed_by_marks,
    witnesses,
)
from labtests.verdicts.sound import _carried, cables_carried

TRUNK = ("leaf", "p9")


def through_a_trunk(evidence: Evidence, *, lost: int, queues=(3, 5)) -> Evidence:
    """The same, and what the port between the switches counted."""

    def read(time_s: float, grown: bool):
        return tuple(
            reading((*TRUNK, "queue", q, c.QUEUE_DROPPED_PACKETS), 7 + lost * grown, time_s)
            for q in queues
        )

    return replace(
        evidence,
        transit=(TRUNK,),
        before=(*evidence.before, *read(9.5, False)),
        after=(*evidence.after, *read(16.0, True)),
    )


def s1() -> Evidence:
    from handmade import A, B, R

    flows = (flow("a", rows(10, (7.5, 4.7, 4.7)), 7.8e9), flow("b", rows(11, (4.7, 4.7)), 5.15e9))
    return Evidence(
        name="on", kind="experiment", backend="simulated", start_s=10.0, end_s=15.0,
        line_bits_per_s=10e9, senders=(A, B), receiver=R, flows=flows,
        quiet_before=counters_at(9.0, False), before=counters_at(9.5, False),
        after=counters_at(16.0, True), settled=True,
    )  # fmt: skip


def lossless_of(evidence):
    return lossless(evidence, {3, 5}, controls=(control_of(s1()),))


def no_loss_of(evidence):
    return no_loss(evidence, controls=(load(dropped=(40, 40)),))


def marked_of(evidence):
    return marked_not_dropped(evidence, without=(WITHOUT,))


ASKED = [(lossless_of, s1(), (3, 5)), (no_loss_of, load(), (3, 5)), (marked_of, GOOD, (3,))]


@pytest.mark.parametrize(("question", "good", "queues"), ASKED, ids=["lossless", "load", "ecn"])
def test_a_packet_lost_between_the_switches_fails_and_an_unread_port_is_not_good(
    question, good, queues
):
    clean = question(through_a_trunk(good, lost=0, queues=queues))
    assert clean.outcome is Outcome.PASS, clean.because
    lost = question(through_a_trunk(good, lost=1, queues=queues))
    assert lost.outcome is Outcome.FAIL
    assert "leaf p9 queue 3 dropped_packets grew by 1" in lost.because
    unread = question(replace(good, transit=(TRUNK,)))
    assert unread.outcome is Outcome.INCONCLUSIVE
    assert "leaf p9 queue 3 dropped_packets" in unread.because


def through_a_spine(evidence: Evidence, got: dict[int, int]) -> Evidence:
    """What the queues of a port before the bottleneck forwarded of both flows; they ought to be in
    queues 3 and 5 there."""
    crossing = Crossing(port=TRUNK, queues={0: 3, 1: 5})
    seen = replace(evidence, crossings=(crossing,))
    for queue in range(8):
        forwarded = got.get(queue, 0)
        seen = grown(seen, TRUNK, c.QUEUE_FORWARDED_PACKETS, forwarded, "queue", queue)
    return seen


SENT_ASTRAY = {
    "none": ({3: SENT[3], 5: SENT[5], 0: 12}, ""),
    "all": ({0: SENT[3] + SENT[5]}, "queue 3 of leaf p9 got 0 of 90000 packets"),
    "halves": ({3: SENT[3], 0: 35_000, 1: 35_000}, "queue 5 of leaf p9 got 0 of 70000 packets"),
    "one": ({3: SENT[3], 0: SENT[5]}, "queue 5 of leaf p9 got 0 of 70000 packets"),
    "swapped": ({3: SENT[5], 5: SENT[3]}, "queue 3 of leaf p9 got 70000 of 90000 packets"),
    "lost": ({3: SENT[3] - 9000, 5: SENT[5]}, ""),  # somebody else's finding
}


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("case", SENT_ASTRAY)
def test_a_switch_on_the_way_that_does_not_classify_is_named(case, classes):
    """At the bottleneck all was right again: every suite but S1 was green; S1 named that switch."""
    got, said = SENT_ASTRAY[case]
    findings = tuple(astray.elsewhere(through_a_spine(load(classes=classes), got)))
    if not said:
        assert findings == ()
        return
    assert {finding.outcome for finding in findings} == {Outcome.FAIL}
    assert any(said in finding.because for finding in findings)
    assert "leaf does not classify by their DSCP" in findings[0].because


def test_marks_in_one_queue_do_not_excuse_drops_in_another():
    def read(value: int, time_s: float):
        return reading(("sw", "p3", "queue", 0, c.QUEUE_DROPPED_PACKETS), value, time_s)

    seen = replace(
        GOOD, before=(*GOOD.before, read(5, 9.5)), after=(*GOOD.after, read(15_979, 16.0))
    )
    verdict = marked_of(seen)
    assert verdict.outcome is Outcome.FAIL
    assert "queue 0 dropped_packets grew by 15974" in verdict.because


@pytest.mark.parametrize(
    ("bottleneck", "trunk", "seen", "agree"),
    [
        (40, 0, 40, True),
        (40, 10, 50, True),
        (40, 10, 45, True),  # both switches would have marked 5 of them
        (40, 10, 39, False),
        (40, 10, 51, False),
        (40, 0, 41, False),
        (40, None, 50, False),  # the trunk's port does not tell
    ],
)
def test_marks_of_switches_before_the_bottleneck_are_seen_by_the_receiver_too(
    bottleneck, trunk, seen, agree
):
    base = s1()
    nic = (base.receiver.device, base.receiver.port)
    grown = [
        (base.bottleneck, bottleneck, c.ECN_MARKED_PACKETS),
        (nic, seen, c.NP_ECN_MARKED_PACKETS),
    ]
    if trunk is not None:
        grown.append((TRUNK, trunk, c.ECN_MARKED_PACKETS))

    def read(time_s, times):
        return tuple(
            reading((*at, "port", None, counter), 3 + times * by, time_s)
            for at, by, counter in grown
        )

    evidence = replace(base, transit=(TRUNK,), before=read(9.5, 0), after=read(16.0, 1))
    assert (witnesses.marks_agree(evidence).outcome is Outcome.PASS) is agree


@pytest.mark.parametrize(
    ("held_s", "frames", "outcome"),
    [
        (3.0, (11_606, 11_836), Outcome.PASS),
        (2.0, (11_606, 11_836), Outcome.FAIL),
        (2.0, (11_836, 11_606), Outcome.PASS),  # another one seldom sends, and is held long
    ],
)
def test_who_was_paused_most_is_told_by_time_or_by_frames(held_s, frames, outcome):
    """300 m of cable to the first sender: its pauses are longer, and fewer."""
    seen = good_evidence()
    for place, sent in zip(seen.senders, frames, strict=True):
        port = (place.switch, place.switch_port)
        seen = grown(seen, port, c.PFC_TX_FRAMES, sent, "priority", place.priority)
        nic = (place.device, place.port)
        seen = grown(seen, nic, c.PFC_RX_FRAMES, sent, "priority", place.priority)
    held_us = round(held_s * 1e6)
    first = seen.senders[0].priority
    seen = grown(seen, ("a", "eth0"), c.PFC_RX_PAUSE_US, held_us, "priority", first)
    verdict = paused(seen)
    assert verdict.outcome is outcome, verdict.because


def test_what_was_dropped_before_a_switch_accuses_it_of_nothing():
    """60 000 packets dropped on the way in, and as many of others in queue 0 behind it."""
    seen = through_a_spine(load(), {3: SENT[3] - 60_000, 5: SENT[5], 0: 60_000})
    port = (seen.senders[0].switch, seen.senders[0].switch_port)
    seen = grown(seen, port, c.BUFFER_DROPPED_IN_PACKETS, 60_000)
    (finding,) = astray.elsewhere(seen)
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert "or they were dropped before it" in finding.because


def test_a_class_of_a_nic_that_is_in_two_queues_says_nothing_of_either():
    seen = through_a_spine(load(), {3: SENT[3], 5: SENT[5], 0: 90_000})
    one = replace(seen.senders[1], device="a", port="eth0", priority=3)
    assert tuple(astray.astray_on_the_way(replace(seen, senders=(seen.senders[0], one)))) == ()


@pytest.mark.parametrize("queue", range(8))
def test_a_queue_on_the_way_that_was_not_read_proves_nothing(queue):
    """Of N/A it was said that the switch does not classify, where others had sent as much."""
    seen = through_a_spine(load(), {3: SENT[3], 5: SENT[5], 0: 90_000})
    key = (*TRUNK, "queue", queue, c.QUEUE_FORWARDED_PACKETS)
    after = tuple(replace(r, value=None, missing="N/A") if r.key == key else r for r in seen.after)
    (finding,) = astray.elsewhere(replace(seen, after=after))
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert f"leaf p9 queue {queue} forwarded_packets: no value after the run" in finding.because


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_counters_on_the_way_that_stand_still_or_count_half_are_told(share):
    got = {queue: round(share * sent) for queue, sent in SENT.items()}
    (finding,) = astray.elsewhere(through_a_spine(load(), got))
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert "or its counters stood still" in finding.because


# -- whose pauses, whose queue, whose frames -------------------------------------------------------


def test_pauses_of_a_priority_that_a_nic_does_not_count_are_no_link_pause():
    """S1 has all eight on at the switch, and a NIC counts those that it has on itself."""
    seen, nic = good_evidence(), ("a", "eth0")
    place = seen.senders[0]
    seen = grown(seen, nic, c.PAUSE_RX_FRAMES, 5_000)
    assert any("802.3x" in f.because for f in pauses._no_link_pause(seen, place))
    port = (place.switch, place.switch_port)
    seen = grown(seen, port, c.PFC_TX_FRAMES, 4_500, "priority", 0)
    assert not any(f.because for f in pauses._no_link_pause(seen, place))


def test_what_others_took_of_the_line_is_not_left_empty_by_a_sender():
    """4 Gb/s of others in queue 4: `the limit of b, nobody else took what it left`."""
    alone = with_rates(2.9, 2.9)
    assert "total goodput / line rate" in slowed_by_marks(alone).because
    key = (*alone.bottleneck, "queue", 4, c.QUEUE_FORWARDED_BYTES)
    others = tuple(reading(key, round(0.5e9 * (t - 12)), t) for t in (12.1, 13.0, 14.0))
    verdict = slowed_by_marks(replace(alone, samples=others))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "other queues forwarded 40 % of the line rate meanwhile" in verdict.because
    assert "the limit of" not in verdict.because


def test_frames_of_a_switch_hide_no_lost_segments_of_tcp():
    """3 lost on the last cable, 4 frames of the port's own: one more came than was forwarded."""
    seen = replace(GOOD, senders=tuple(replace(p, priority=None) for p in GOOD.senders))
    forwarded = sum(port_drops.queue_forwarded(seen, q).increase or 0 for q in range(8))
    seen = grown(seen, seen.bottleneck, c.TX_PACKETS, forwarded + 4)
    whole = grown(seen, ("r", "eth0"), c.RX_PACKETS, forwarded + 4)
    lossy = grown(seen, ("r", "eth0"), c.RX_PACKETS, forwarded + 1)
    said = [[f.because for f in packets.of_streams(each)] for each in (whole, lossy)]
    assert not any("lost on the cable" in each for each in said[0])
    assert any("up to 3 of the datagrams" in each for each in said[1])


@pytest.mark.parametrize(
    ("on_top", "again", "told"), [(1, 0, False), (10, 0, False), (11, 0, True), (1, 1, True)]
)
def test_a_frame_that_no_switch_forwards_is_no_lost_segment(on_top, again, told):
    """LLDP of a host with ports that count no classes: 812782 / 812781. A segment that was lost
    there was sent again."""
    seen = replace(GOOD, senders=tuple(replace(p, priority=None) for p in GOOD.senders))
    came = sum(port_drops.queue_forwarded(seen, q).increase or 0 for q in range(8))
    dropped = sum(port_drops.queue_drops(seen, q).increase or 0 for q in range(8))
    first, *others = dict.fromkeys((p.device, p.port) for p in seen.senders)
    seen = grown(seen, first, c.TX_PACKETS, came + dropped + on_top)
    for nic in others:
        seen = grown(seen, nic, c.TX_PACKETS, 0)
    seen = grown(seen, (first[0], ""), c.TCP_RETRANSMITTED_SEGMENTS, dropped + again, "host")
    for device, _ in others:
        seen = grown(seen, (device, ""), c.TCP_RETRANSMITTED_SEGMENTS, 0, "host")
    said = [finding.because for finding in packets.of_streams(seen)]
    assert any("sent by NICs is not forwarded + dropped" in each for each in said) is told


@pytest.mark.parametrize(("seconds", "agree"), [(6.5, False), (75.0, True)])
def test_frames_of_a_switch_while_late_counters_are_read_double_nothing(seconds, agree):
    """STP every 2 s, which no queue counts; counters that are read again for a minute."""
    seen = load()
    end_s = 9.5 + seconds
    after = tuple(replace(each, time_s=end_s) for each in seen.after)
    port, nic = seen.bottleneck, (seen.receiver.device, seen.receiver.port)
    seen = replace(seen, after=after)

    def ends(more: int):
        for time_s, grew in ((9.5, 0), (end_s, 1)):
            yield reading((*port, "queue", 3, "sent"), 50_000 * grew, time_s)
            yield reading((*nic, "port", None, "got"), (50_000 + more) * grew, time_s)

    reads = tuple(ends(40))
    seen = replace(seen, before=(*seen.before, *reads[:2]), after=(*seen.after, *reads[2:]))
    sides = (seen.change(port, "queue", 3, "sent"),), (seen.change(nic, "port", None, "got"),)
    found = tuple(_carried(seen, (port, nic), *sides))
    assert any(each.disagreement for each in found) is not agree


@pytest.mark.parametrize(
    ("came", "says"),
    [
        (1_000_000, ""),
        (0, "1000000 packets left leaf up and 0 came to spine down"),
        (999_900, "1000000 packets left leaf up and 999900 came to spine down"),
        (None, "spine down rx_packets: "),
    ],
)
def test_both_ends_of_a_cable_between_switches_count_the_same(came: int | None, says: str):
    """A port whose counters stood still at a second switch proved 0 drops there."""
    ends = (("leaf", "up"), ("spine", "down"))
    left = (*ends[0], "queue", 3, c.QUEUE_FORWARDED_PACKETS)
    arrived = (*ends[1], "port", None, c.RX_PACKETS)
    good = replace(s1(), transit=ends)
    why = "N/A" if came is None else ""
    seen = replace(
        good,
        before=(*good.before, reading(left, 70, 9.5), reading(arrived, 70, 9.5)),
        after=(
            *good.after,
            reading(left, 1_000_070, 16.0),
            reading(arrived, None if came is None else 70 + came, 16.0, why),
        ),
    )
    found = [each.because for each in cables_carried(seen) if "leaf" in each.because or
             "spine" in each.because]  # fmt: skip
    assert [because.startswith(says) for because in found] == [True] * bool(says)


@pytest.mark.parametrize(
    ("gone", "beside", "named"), [(3000, 0, True), (3000, 200, False), (5, 0, False)]
)
def test_a_part_of_a_class_that_came_out_of_another_queue_is_named(gone, beside, named):
    """For a while, or of one of many senders: the other queue has what this one lacks."""
    moved = {3: -gone, 0: gone + beside}
    seen = load()
    after = (
        replace(r, value=r.value + moved.get(r.key[3], 0))
        if r.key[:3] == ("sw", "p3", "queue") and r.key[-1] == c.QUEUE_FORWARDED_PACKETS
        else r
        for r in seen.after
    )
    told = list(astray.elsewhere(replace(seen, after=tuple(after))))
    assert [f.outcome for f in told] == [Outcome.FAIL] * named
    if named:
        assert "sw p3 queue 0 forwarded_packets grew by 3060: on the way a port" in told[0].because
