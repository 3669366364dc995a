"""A control whose counter counts half, is somebody else's, or that repeats segments for nothing;
what takes the line, gets lost on the way back, or is dropped by filters."""

from dataclasses import replace

import pytest
from handmade import control_of, good_evidence, reading, rows
from handmade_loads import load
from test_counters_of_the_end import notified
from test_ecn_verdict import GOOD, WITHOUT
from test_mutations import S1, dcqcn, with_nics
from test_pauses_and_cnps import grown, without_last_read
from test_sound import R_NIC

from labtests.capabilities import counters as c
from labtests.capabilities.flows import StormResult
from labtests.measure.evidence import Evidence
from labtests.verdicts import (
    Outcome,
    every_packet,
    lossless,
    marked_not_dropped,
    no_loss,
    port_drops,
    slowed_by_marks,
    sound,
    stations,
    throttled,
    witnesses,
)

OVER = load(dropped=(40_000, 20_000))


def counting(control: Evidence, share: float) -> Evidence:
    """The same, with drop counters of queues that count a share only."""
    started = {r.key: r.value for r in control.before}

    def less(r):
        if r.counter != c.QUEUE_DROPPED_PACKETS:
            return r
        return replace(r, value=started[r.key] + round(share * (r.value - started[r.key])))

    return replace(control, after=tuple(less(r) for r in control.after))


def with_ports(seen: Evidence) -> Evidence:
    """The same of hosts whose NICs count no classes, and neither tell datagrams."""
    left = {"a": 60_000, "b": 30_000}
    dropped = port_drops.queue_drops(seen, 3).increase or 0
    places = tuple(replace(place, priority=None) for place in seen.senders)
    for place in places:
        more = dropped if place.device == "a" else 0
        seen = grown(seen, (place.device, "eth0"), c.TX_PACKETS, left[place.device] + more)
    return replace(
        grown(seen, ("r", "eth0"), c.RX_PACKETS, 90_000), senders=places, kind="experiment"
    )


@pytest.mark.parametrize("share", [0.0001, 0.55, 0.9, 0.9999])
def test_a_drop_counter_that_counts_a_part_is_not_proven(share):
    verdict = no_loss(load(), controls=(counting(OVER, share),))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 3 drop counter is unproven" in verdict.because


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("by_class", [True, False])
def test_a_drop_counter_that_counts_a_part_of_what_tcp_lost_is_not_proven(share, by_class):
    seen, without = (each if by_class else with_ports(each) for each in (GOOD, WITHOUT))
    assert marked_not_dropped(seen, without=(without,)).outcome is Outcome.PASS
    verdict = marked_not_dropped(seen, without=(counting(without, share),))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 3 drop counter is unproven" in verdict.because


def test_what_the_host_lost_itself_the_queue_need_not_count():
    lost = load(dropped=(40_000, 20_000), in_socket=30_000)
    verdict = no_loss(load(), controls=(lost,))
    assert verdict.outcome is Outcome.PASS, verdict.because


@pytest.mark.parametrize("share", [0.5, 0.9, 0.9999])
def test_what_the_receiver_says_that_it_lost_proves_no_drop_counter(share):
    control = counting(load(dropped=(40_000, 20_000), classes=False), share)
    control = grown(control, ("r", ""), c.UDP_NO_PORTS, 60_000, "host")
    verdict = no_loss(load(classes=False), controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 3 drop counter is unproven" in verdict.because


def test_a_control_of_which_nobody_counts_what_was_sent_proves_no_counter():
    untold = tuple(replace(flow, sent_datagrams=None) for flow in OVER.flows)
    places = tuple(replace(place, priority=None) for place in OVER.senders)
    silent = replace(OVER, flows=untold, senders=places)
    verdict = no_loss(load(), controls=(silent,))
    assert "queue 3 drop counter is unproven" in verdict.because


def dropping_before(control: Evidence) -> Evidence:
    """Its queues dropped before anything of it ran, too."""
    earlier = tuple(
        replace(r, value=r.value - 10) if r.counter == c.QUEUE_DROPPED_PACKETS else r
        for r in control.quiet_before
    )
    return replace(control, quiet_before=earlier)


def test_a_control_that_dropped_before_it_began_proves_no_counter():
    control = dropping_before(control_of(good_evidence()))
    verdict = lossless(good_evidence(), {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 3 drop counter is unproven" in verdict.because
    assert "grew by 10 in 0.5 s (in the quiet window before the phase)" in sound(control).because


def test_needless_repetitions_are_no_proof_of_a_loss():
    again = grown(GOOD, ("a", ""), c.TCP_RETRANSMITTED_SEGMENTS, 500, "host")
    flows = (replace(again.flows[0], retransmits=500), *again.flows[1:])
    verdict = marked_not_dropped(replace(again, flows=flows), without=(WITHOUT,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "or sent again needlessly" in verdict.because


def astray(seen: Evidence) -> Evidence:
    """Its packets came out of queue 0 of the bottleneck, as without trust in their DSCP."""
    moved = 0
    for queue in seen.queues:
        moved += port_drops.queue_forwarded(seen, queue).increase or 0
        seen = grown(seen, seen.bottleneck, c.QUEUE_FORWARDED_PACKETS, 0, "queue", queue)
    return grown(seen, seen.bottleneck, c.QUEUE_FORWARDED_PACKETS, moved, "queue", 0)


def in_queue_zero_while_all_sent(seen: Evidence) -> Evidence:
    """Samples that show the line full of queue 0."""
    key = (*seen.bottleneck, "queue", 0, c.QUEUE_FORWARDED_BYTES)
    full = tuple(reading(key, round(1.25e9 * (t - 12.0)), t) for t in (12.1, 13.0, 14.0))
    return replace(seen, samples=full)


@pytest.mark.parametrize("controls", [True, False])
def test_packets_in_another_queue_are_ours_and_no_background(controls):
    seen = in_queue_zero_while_all_sent(astray(good_evidence()))
    proven = (control_of(good_evidence()),) if controls else ()
    for verdict in (
        lossless(seen, {3, 5}, controls=proven),
        throttled(seen, ceiling_bits_per_s=9.6e9),
    ):
        assert verdict.outcome is Outcome.FAIL
        assert "sw p3 queue 3 forwarded_packets grew by 0; sw p3 queue 0" in verdict.because
        assert "background traffic" not in verdict.because


@pytest.mark.parametrize("classes", [True, False])
def test_a_load_says_which_queue_it_came_out_of(classes):
    verdict = every_packet(astray(load(classes=classes)))
    assert verdict.outcome is Outcome.FAIL
    assert "sw p3 queue 0 forwarded_packets grew by 160000" in verdict.because


def test_others_that_take_the_line_are_background():
    seen = in_queue_zero_while_all_sent(good_evidence())
    verdict = throttled(seen, ceiling_bits_per_s=9.6e9)
    assert "background traffic took 100% of the bottleneck" in verdict.because


def test_a_queue_that_runs_backwards_hides_no_background():
    seen = in_queue_zero_while_all_sent(good_evidence())
    key = (*seen.bottleneck, "queue", 1, c.QUEUE_FORWARDED_BYTES)
    back = tuple(reading(key, 2**62 - round(1.25e9 * t), t) for t in (12.1, 13.0, 14.0))
    verdict = throttled(replace(seen, samples=(*seen.samples, *back)), ceiling_bits_per_s=9.6e9)
    assert "background traffic took 100% of the bottleneck" in verdict.because


def with_rates(*gbit: float) -> Evidence:
    """S2 with so many senders, all but the first in one queue, and what they got together."""
    seen = dcqcn()
    first, last = seen.flows
    places = [seen.senders[0]]
    flows = [replace(first, intervals=rows(10, (9.3, 9.3, *(gbit[0],) * 3)))]
    for number, rate in enumerate(gbit[1:]):
        name = "bcd"[number]
        places.append(replace(seen.senders[1], device=name))
        flows.append(replace(last, sender=name, intervals=rows(12, (rate,) * 3)))
    return replace(seen, senders=tuple(places), flows=tuple(flows))


@pytest.mark.parametrize("gbit", [(4.6, 4.6), (6.9, 0.75), (4.6, 2.3, 2.3), (4.2, 1.9, 1.7, 1.5)])
def test_a_line_that_is_used_well_is_no_host_s_limit(gbit):
    assert "the limit of" not in slowed_by_marks(with_rates(*gbit)).because


@pytest.mark.parametrize(
    ("gbit", "who"),
    [((4.76, 1.73), "b"), ((4.6, 2.7), "b"), ((1.7, 4.8), "a"), ((4.6, 3.0, 1.2), "c")],
)
def test_a_sender_that_leaves_the_line_empty_is_named(gbit, who):
    verdict = slowed_by_marks(with_rates(*gbit))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"the limit of {who}" in verdict.because


def test_of_a_line_that_is_nearly_empty_no_sender_is_accused():
    """Two senders with a fiftieth of a CPU each: `ServerA: goodput / fair share 0.038`."""
    verdict = slowed_by_marks(with_rates(0.2, 0.3))
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because


@pytest.mark.parametrize("gbit", [(2.8, 2.75), (2.0, 1.9, 1.85)])
def test_a_line_that_all_leave_empty_alike_is_not_the_limit_of_one_host(gbit):
    """A port at 60 % of its speed: the last sender was named."""
    verdict = slowed_by_marks(with_rates(*gbit))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "all senders got alike: sw p3 serves below its line rate" in verdict.because
    assert "the limit of" not in verdict.because


@pytest.mark.parametrize(("link", "named"), [(1e9, False), (10e9, True)])
def test_a_sender_that_fills_its_slow_link_is_not_held_by_itself(link, named):
    seen = with_rates(4.6, 4.0, 0.9)
    *fast, slow = seen.senders
    seen = replace(seen, senders=(*fast, replace(slow, link_bits_per_s=link)))
    assert ("the limit of c" in slowed_by_marks(seen).because) is named


@pytest.mark.parametrize("lost", [1, 5_000])
def test_acknowledgements_that_are_lost_on_the_way_back_are_missing(lost):
    seen = dcqcn()
    sent = {3: 40_000, 5: 30_000}
    for priority, packets in sent.items():
        seen = grown(seen, R_NIC, c.TX_PACKETS, packets, "priority", priority)
        for place in seen.senders:
            own = packets if place.priority == priority else 0
            nic = (place.device, place.port)
            seen = grown(seen, nic, c.RX_PACKETS, own, "priority", priority)
    assert lossless(seen, {3, 5}, controls=(OVER,)).outcome is Outcome.PASS
    fewer = grown(seen, ("a", "eth0"), c.RX_PACKETS, 40_000 - lost, "priority", 3)
    verdict = lossless(fewer, {3, 5}, controls=(OVER,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "sent back is not received by the senders, priority 3" in verdict.because


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("at_the_receiver", [True, False])
def test_cnps_may_be_in_a_class_of_the_flows_at_one_end_only(at_the_receiver, lost):
    """A receiver counts them by cnp_802p_prio, the senders by the DSCP."""
    seen = notified(dcqcn(), sent=900, came=450)
    for priority in (3, 5):
        own = 900 if priority == 3 else 0
        sent = 40_000 + (own if at_the_receiver else 0)
        seen = grown(seen, R_NIC, c.TX_PACKETS, sent, "priority", priority)
        for place in seen.senders:
            came = (40_000 if place.priority == priority else 0) + (
                own // 2 if not at_the_receiver else 0
            )
            lost_here = lost if (place.device, priority) == ("a", 3) else 0
            nic = (place.device, place.port)
            seen = grown(seen, nic, c.RX_PACKETS, came - lost_here, "priority", priority)
    findings = list(witnesses.came_back(seen))
    assert len(findings) == 2
    assert any(finding.disagreement for finding in findings) == bool(lost)


def test_lost_acknowledgements_are_no_cnps_that_have_a_class_of_their_own_at_both_ends():
    """As many acknowledgements were lost as there were CNPs, which priority 6 has at both ends."""
    seen = notified(dcqcn(), sent=900, came=450)
    seen = grown(seen, R_NIC, c.TX_PACKETS, 40_000, "priority", 3)
    for place, got in zip(seen.senders, (39_100, 0), strict=True):
        nic = (place.device, place.port)
        seen = grown(seen, nic, c.RX_PACKETS, got, "priority", 3)
        seen = grown(seen, nic, c.RX_PACKETS, 450, "priority", 6)
    at_one_end = grown(seen, R_NIC, c.TX_PACKETS, 0, "priority", 6)
    assert not any(finding.disagreement for finding in witnesses.came_back(at_one_end))
    at_both = grown(seen, R_NIC, c.TX_PACKETS, 900, "priority", 6)
    assert any(finding.disagreement for finding in witnesses.came_back(at_both))
    key = (*R_NIC, "priority", 6, c.TX_PACKETS)
    unread = [replace(r, value=None, missing="N/A") if r.key == key else r for r in at_both.after]
    found = witnesses.came_back(replace(at_both, after=tuple(unread)))
    assert any(finding.disagreement for finding in found)


def test_who_lost_its_cnps_is_named():
    seen = notified(dcqcn(), sent=900, came=450)
    for port in ("p1", "p2"):
        seen = grown(seen, ("sw", port), c.QUEUE_FORWARDED_PACKETS, 450, "queue", 6)
    verdict = slowed_by_marks(grown(seen, ("b", "eth0"), c.RP_CNP_HANDLED, 440))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 6 of sw p2 forwarded 450 packets to b, which counted 440 CNPs" in verdict.because
    assert "packets to a," not in verdict.because


def lost_behind_the_port(lost: int, own_frames: int, no_ports: int = 0) -> Evidence:
    """Of the datagrams that a switch sent so many were lost on the last cable, and so many frames
    of its own came there."""
    seen = load(classes=False)
    came = sum(port_drops.queue_forwarded(seen, queue).increase or 0 for queue in range(8))
    last = seen.flows[-1]
    flows = (seen.flows[0], replace(last, received_datagrams=last.received_datagrams - lost))
    seen = replace(seen, flows=flows)
    seen = grown(seen, seen.bottleneck, c.TX_PACKETS, came + own_frames)
    seen = grown(seen, ("r", ""), c.UDP_NO_PORTS, no_ports, "host")
    return grown(seen, ("r", "eth0"), c.RX_PACKETS, came - lost + own_frames)


@pytest.mark.parametrize("lost", [1, 5, 8])
@pytest.mark.parametrize("no_ports", [0, 50])
def test_frames_of_the_switch_stand_for_no_datagram_that_was_lost(lost, no_ports):
    verdict = every_packet(lost_behind_the_port(lost, own_frames=lost, no_ports=no_ports))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"up to {lost} of the datagrams that the tools did not get" in verdict.because


@pytest.mark.parametrize("own_frames", [0, 3])
def test_frames_of_the_switch_alone_do_not_matter(own_frames):
    verdict = every_packet(lost_behind_the_port(0, own_frames))
    assert verdict.outcome is Outcome.PASS, verdict.because


def test_a_port_that_does_not_count_what_it_sends_leaves_the_last_cable_open():
    seen = lost_behind_the_port(0, 0)
    port = seen.bottleneck
    kept = {
        when: tuple(
            r for r in getattr(seen, when) if (r.key[:2], r.counter) != (port, c.TX_PACKETS)
        )
        for when in ("quiet_before", "before", "after")
    }
    verdict = every_packet(replace(seen, **kept))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "hidden by as many frames of the switch's own" in verdict.because


FILTERS = (
    "dropped_fast_filter_processor_ffp",
    "dropped_stp_non_forwarding_state",
    c.NET_RX_DROPPED,
)
SENDERS_PORT = ("sw", "p1")


def one_missing(seen: Evidence) -> Evidence:
    """One packet of the class left its NIC and came nowhere."""
    sent = seen.change(("a", "eth0"), "priority", 3, c.TX_PACKETS).increase or 0
    return grown(seen, ("a", "eth0"), c.TX_PACKETS, sent + 1, "priority", 3)


@pytest.mark.parametrize("name", FILTERS)
def test_what_filters_dropped_is_named_where_packets_are_missing(name):
    seen = grown(S1, SENDERS_PORT, name, 500)
    assert sound(seen).outcome is Outcome.PASS, "every packet came: it was of others"
    verdict = sound(one_missing(seen))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"sw p1 {name} grew by 500, and not every packet" in verdict.because


def test_what_filters_dropped_of_a_load_without_classes_is_named():
    seen = grown(load(classes=False), SENDERS_PORT, FILTERS[0], 3)
    assert f"sw p1 {FILTERS[0]} grew by 3" in sound(seen).because


def test_a_counter_of_filters_that_can_not_be_read_any_more_is_missing():
    seen = without_last_read(
        grown(S1, SENDERS_PORT, FILTERS[0], 0), SENDERS_PORT, FILTERS[0], "port"
    )
    assert f"sw p1 {FILTERS[0]}: the counter did not exist after the run" in sound(seen).because


def test_what_a_port_does_not_tell_of_filters_is_named_as_not_available():
    port = next(each for each in stations(S1) if each.name == "sw p1")
    assert "dropped_by_filters" in port.absent
    told = grown(S1, SENDERS_PORT, FILTERS[0], 7)
    port = next(each for each in stations(told) if each.name == "sw p1")
    assert [d.key[-1] for d in port.lost] == [FILTERS[0]]
    assert "dropped_by_filters" not in port.absent


def test_drops_of_the_queues_are_no_drops_of_filters():
    """Some switches count what their queues drop among the reasons once more."""
    seen = with_nics(load(dropped=(500, 0)))
    seen = grown(seen, seen.bottleneck, "dropped_full_gbp_or_insufficient_bandwidth", 500)
    assert "dropped_full_gbp" not in sound(one_missing(seen)).because


def delivered(seen: Evidence, less: int, segments: int = 130) -> Evidence:
    """What the receiver's IP stack says of a load, with a session of SSH beside it."""
    came = sum(port_drops.queue_forwarded(seen, queue).increase or 0 for queue in seen.queues)
    host = (seen.receiver.device, "")
    for counter, grew in (
        (c.IP_IN_DELIVERS, came - less + segments + 2),
        (c.TCP_IN_SEGMENTS, segments),
        (c.ICMP_IN_MESSAGES, 2),
    ):
        seen = grown(seen, host, counter, grew, "host")
    return seen


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("lost", [1, 2])
def test_a_tail_that_never_came_to_udp_was_not_held_by_a_socket(classes, lost):
    seen = load(classes=classes)
    assert every_packet(delivered(seen, 0)).outcome is Outcome.PASS
    verdict = every_packet(delivered(seen, lost))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"to UDP: {lost} are missing in between" in verdict.because


def test_what_the_ip_stack_discarded_did_not_come_to_udp():
    seen = load()
    last = seen.flows[-1]
    flows = (seen.flows[0], replace(last, received_datagrams=last.received_datagrams - 5))
    lost = grown(replace(seen, flows=flows), ("r", ""), c.IP_IN_DISCARDS, 5, "host")
    assert every_packet(delivered(lost, 5)).outcome is Outcome.PASS
    assert every_packet(delivered(lost, 6)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("stormed", "port", "excused"),
    [(True, "p3", True), (False, "p3", False), (True, "p1", False)],
)
def test_what_a_watchdog_drops_where_the_storm_is_is_on_purpose(stormed, port, excused):
    seen = grown(S1, ("sw", port), c.WATCHDOG_DROPPED_PACKETS, 900)
    storm = StormResult(
        switch="sw", switch_port="p3", priority=3, frames=10, times=1, lasting_ms=250
    )
    verdict = sound(one_missing(replace(seen, storm=storm if stormed else None)))
    assert ("dropped_by_watchdog" in verdict.because) is not excused
