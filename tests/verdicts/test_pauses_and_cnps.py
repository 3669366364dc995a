"""Pauses nobody can have caused, CNPs that cannot have held a sender, datagrams that never left
their host."""

from dataclasses import replace

import pytest
from handmade import control_of, good_evidence
from handmade_loads import load
from test_ecn_verdict import GOOD, WITHOUT
from test_mutations import A_NIC, dcqcn, with_bytes, with_nics
from test_sound import R_NIC, with_counter

from labtests.capabilities import counters as c
from labtests.capabilities.records import PfcSetting
from labtests.verdicts import lossless, marked_not_dropped, paused, slowed_by_marks, sound
from labtests.verdicts.outcome import Outcome


def grown(seen, where, counter, by, scope="port", index=None):  # noqa: PLR0913
    """That counter, whatever it was before, grew by so much."""
    key = (*where, scope, -1 if index is None else index, counter)
    kept = {
        when: tuple(each for each in getattr(seen, when) if each.key != key)
        for when in ("quiet_before", "before", "after")
    }
    return with_counter(replace(seen, **kept), where, counter, by, scope, index)


def elsewhere(frames: int, packets: int):
    """So many pause frames to a sender in a priority that is not its own, with so much in it."""
    seen = good_evidence()
    place = seen.senders[0]
    port = (place.switch, place.switch_port)
    seen = grown(seen, port, c.PFC_TX_FRAMES, frames, "priority", 6)
    nic = (place.device, place.port)
    seen = grown(seen, nic, c.PFC_RX_FRAMES, frames, "priority", 6)
    return grown(seen, nic, c.TX_PACKETS, packets, "priority", 6)


def test_one_packet_of_others_excuses_no_storm_of_pauses():
    verdict = paused(elsewhere(frames=50_000, packets=1))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "for 1 packets of others" in verdict.because


def test_others_with_traffic_of_their_own_are_paused_too():
    assert paused(elsewhere(frames=50, packets=40_000)).outcome is Outcome.PASS


@pytest.mark.parametrize("cnps", [1, 200])
def test_a_few_cnps_hold_no_sender(cnps):
    seen = grown(dcqcn(), A_NIC, c.RP_CNP_HANDLED, cnps)
    verdict = slowed_by_marks(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"{cnps} CNPs cannot have held a for 3 s" in verdict.because


def out_datagrams(less: int, unsure: int = 0):
    seen = with_bytes(with_nics(load()))
    first = replace(seen.flows[0], unsure_datagrams=unsure)
    told = first.sent_datagrams or 0
    seen = replace(seen, flows=(first, *seen.flows[1:]))
    return grown(seen, (first.sender, ""), c.UDP_OUT_DATAGRAMS, told - less, "host")


def test_datagrams_that_the_sending_host_never_sent_are_missing():
    verdict = sound(out_datagrams(less=1))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "datagrams sent, its IP stack" in verdict.because


def test_a_tool_that_counts_before_it_writes_may_be_one_ahead():
    assert sound(out_datagrams(less=1, unsure=1)).outcome is Outcome.PASS


def slow_last_sender(share: float):
    """S1 whose last sender was never paused, and sent so much of what it offered."""
    seen = good_evidence()
    last, flow = seen.senders[-1], seen.flows[-1]
    port, nic = (last.switch, last.switch_port), (last.device, last.port)
    seen = grown(seen, port, c.PFC_TX_FRAMES, 0, "priority", last.priority)
    seen = grown(seen, nic, c.PFC_RX_FRAMES, 0, "priority", last.priority)
    sent = replace(
        flow, asked_s=5.0, sent_bytes=round(share * (flow.offered_bits_per_s or 0) * 5 / 8)
    )
    return replace(seen, flows=(*seen.flows[:-1], sent))


def test_a_slow_link_that_sends_all_it_offers_needs_no_pause():
    verdict = paused(slow_last_sender(share=1.0))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "but b, which sent all it offered, was paused" in verdict.because


def test_a_sender_that_gave_way_without_a_pause_was_not_paused():
    verdict = paused(slow_last_sender(share=0.95))
    assert verdict.outcome is Outcome.FAIL
    assert "pfc_tx_frames stayed 0" in verdict.because


def test_link_pause_beside_pfc_is_said():
    seen = good_evidence()
    nic = (seen.senders[0].device, seen.senders[0].port)
    assert "802.3x" in paused(grown(seen, nic, c.PAUSE_RX_FRAMES, 5_000)).because


def test_more_cnps_than_marks_are_a_disagreement():
    verdict = slowed_by_marks(grown(dcqcn(), R_NIC, c.NP_ECN_MARKED_PACKETS, 800))
    assert "sent 900 CNPs for 800 CE packets" in verdict.because


def test_marks_that_were_not_told_are_missing_and_not_none():
    port = GOOD.bottleneck
    kept = tuple(r for r in GOOD.after if r.key[-1] != c.ECN_MARKED_PACKETS or r.key[:2] != port)
    assert len(kept) < len(GOOD.after)
    verdict = marked_not_dropped(replace(GOOD, after=kept), without=(WITHOUT,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "stayed 0" not in verdict.because


def without_last_read(seen, where, counter, scope):
    """The counter was read before the phase and never after it."""
    key = (*where, scope, -1, counter)
    return replace(seen, after=tuple(each for each in seen.after if each.key != key))


def test_what_a_host_counted_before_and_not_after_is_missing():
    seen = out_datagrams(less=0)
    sender = (seen.flows[0].sender, "")
    verdict = sound(without_last_read(seen, sender, c.UDP_OUT_DATAGRAMS, "host"))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "udp_out_datagrams" in verdict.because


def test_link_pauses_that_were_not_read_are_missing():
    seen = good_evidence()
    nic = (seen.senders[0].device, seen.senders[0].port)
    seen = without_last_read(grown(seen, nic, c.PAUSE_RX_FRAMES, 0), nic, c.PAUSE_RX_FRAMES, "port")
    assert "pause_rx_frames" in paused(seen).because


@pytest.mark.parametrize(("mode", "where"), [("on", "xoff and headroom"), ("off", "Kmin, Kmax")])
def test_a_loss_says_where_to_look(mode, where):
    seen = good_evidence()
    port = seen.bottleneck
    seen = replace(
        seen,
        pfc={port: PfcSetting(mode=mode, priorities=frozenset({3}))},
        flows=tuple(replace(flow, tool="ib_send_bw") for flow in seen.flows),
    )
    lost = grown(seen, port, c.QUEUE_DROPPED_PACKETS, 7, "queue", 3)
    verdict = lossless(lost, {3, 5}, controls=(control_of(seen),))
    assert verdict.outcome is Outcome.FAIL
    assert "queue 3 dropped_packets grew by 7" in verdict.because
    assert where in verdict.because
    on_purpose = lossless(control_of(seen), {3, 5})
    assert on_purpose.outcome is Outcome.FAIL
    assert where not in on_purpose.because


def test_a_loss_names_the_ports_whose_pfc_is_of_another_priority():
    """The port that dropped is the bottleneck, and not the one that did not hold its sender."""
    seen = good_evidence()
    three, one, off = (
        PfcSetting(mode=mode, priorities=frozenset({priority}))
        for mode, priority in (("on", 3), ("on", 1), ("off", 3))
    )
    place = next(each for each in seen.senders if each.queue == 3)
    nic, port = (place.device, place.port), (place.switch, place.switch_port)
    lost = grown(seen, seen.bottleneck, c.QUEUE_DROPPED_PACKETS, 7, "queue", 3)

    def said(**pfc):
        read = {seen.bottleneck: three, nic: pfc.get("nic", three), port: pfc.get("port", three)}
        return lossless(replace(lost, pfc=read), {3, 5}, controls=(control_of(seen),)).because

    assert "and not for priority" not in said()
    assert f"PFC of {' '.join(port)} is on for 1, and not for priority 3; look at" in said(port=one)
    assert f"PFC of {' '.join(port)} is off, and not for priority 3; look at" in said(port=off)
    assert f"PFC of {' '.join(nic)} is on for 1, and not for priority 3; look at" in said(nic=one)


def test_a_loss_on_the_way_in_names_its_port():
    seen = good_evidence()
    seen = replace(seen, pfc={seen.bottleneck: PfcSetting(mode="on", priorities=frozenset({3}))})
    lost = grown(seen, seen.bottleneck, c.QUEUE_DROPPED_PACKETS, 7, "queue", 3)
    refused = with_counter(lost, ("sw", "p2"), c.BUFFER_DROPPED_IN_PACKETS, 7)
    verdict = lossless(refused, {3, 5}, controls=(control_of(seen),))
    assert "where it came in (sw p2 refused 7), and" in verdict.because
    assert "at both ends of the senders' cables" in verdict.because
    over_two = replace(refused, transit=(("leaf", "up1"), ("sw", "down1")))
    verdict = lossless(over_two, {3, 5}, controls=(control_of(seen),))
    assert "at both ends of each cable on the way" in verdict.because


def acknowledged(queues):
    """DCQCN with as many acknowledgements (queue 3) as CNPs (queue 6) or more, by these queues of
    each sender's switch port."""
    seen = dcqcn()
    ours = {("sw", port, "queue", 6, c.QUEUE_FORWARDED_PACKETS) for port in ("p1", "p2")}
    for name in ("before", "after", "quiet_before"):
        kept = tuple(r for r in getattr(seen, name) if r.key not in ours)
        seen = replace(seen, **{name: kept})
    for nic, port, priority in ((A_NIC, "p1", 3), (("b", "eth0"), "p2", 5)):
        seen = with_counter(seen, nic, c.RX_PACKETS, 9_000, "priority", priority)
        seen = with_counter(seen, nic, c.RX_PACKETS, 0, "priority", 8 - priority)
        seen = with_counter(seen, R_NIC, c.TX_PACKETS, 9_000, "priority", priority)
        for queue, packets in queues.items():
            counter = c.QUEUE_FORWARDED_PACKETS
            seen = with_counter(seen, ("sw", port), counter, packets, "queue", queue)
    return seen


def test_cnps_hide_in_no_queue_behind_acknowledgements():
    assert slowed_by_marks(acknowledged({3: 9_000, 6: 450})).outcome is Outcome.PASS
    verdict = slowed_by_marks(acknowledged({3: 450, 6: 9_000}))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "some went through the CNPs' queue" in verdict.because


def dropping(drops, missing=0):
    """The queue of CNPs towards the first sender counted drops, and so many CNPs came nowhere."""
    seen = dcqcn()
    switch, port, queue = seen.cnp.queues[0]
    handled = seen.change(A_NIC, "port", None, c.RP_CNP_HANDLED).increase
    seen = grown(seen, A_NIC, c.RP_CNP_HANDLED, handled - missing)
    return grown(seen, (switch, port), c.QUEUE_DROPPED_PACKETS, drops, "queue", queue), port


def test_a_queue_of_cnps_that_drops_is_open_though_every_cnp_came():
    seen, port = dropping(7)
    verdict = slowed_by_marks(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"of sw {port}, that of the CNPs, dropped 7 packets, and every CNP" in verdict.because
    assert slowed_by_marks(dropping(0)[0]).outcome is Outcome.PASS


def test_one_that_drops_cnps_is_a_failure_and_names_its_port():
    seen, port = dropping(7, missing=7)
    verdict = slowed_by_marks(seen)
    assert verdict.outcome is Outcome.FAIL
    assert f"of sw {port}, that of the CNPs, dropped 7 packets, and 7 of" in verdict.because


def test_drops_of_cnps_that_are_told_no_more_are_missing():
    seen = dropping(0)[0]
    key = (*seen.cnp.queues[0][:2], "queue", seen.cnp.queues[0][2], c.QUEUE_DROPPED_PACKETS)
    after = (replace(r, value=None) if r.key == key else r for r in seen.after)
    verdict = slowed_by_marks(replace(seen, after=tuple(after)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert c.QUEUE_DROPPED_PACKETS in verdict.because
