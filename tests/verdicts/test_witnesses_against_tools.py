"""What tools report is held against counters of hosts and switch: flows that hardly sent, pauses
without frames, losses of others."""

from dataclasses import replace

import pytest
from handmade import A, B, control_of, reading
from handmade_loads import load
from test_counters_of_the_end import notified
from test_sound import R_NIC, with_counter

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.capabilities.records import PfcSetting
from labtests.measure.evidence import Evidence
from labtests.verdicts import (
    Outcome,
    checks,
    cnps,
    drops_as_expected,
    every_packet,
    lossless,
    no_loss,
    slowed_by_marks,
    sound,
)
from labtests.verdicts.outcome import worst

OUT = ("sw", "p3")
OVER = load(dropped=(40_000, 20_000), name="over")


@pytest.fixture
def whole(good):
    for nic in (("a", "eth0"), ("b", "eth0"), R_NIC):
        good = with_counter(good, nic, c.NIC_RX_DISCARDED_PACKETS, 0)
    return good


def unpaced(flow: FlowResult, goodput_bits_per_s: float) -> FlowResult:
    return replace(flow, offered_bits_per_s=None, goodput_bits_per_s=goodput_bits_per_s)


def test_a_flow_that_hardly_sent_is_no_load_whatever_the_counters_agree_on(whole: Evidence):
    early, late = whole.flows
    fine = replace(whole, flows=(unpaced(early, 5e9), unpaced(late, 4e9)))
    assert sound(fine).outcome is Outcome.PASS
    verdict = sound(replace(whole, flows=(unpaced(early, 5e9), unpaced(late, 2e5))))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "b sent 0.0002 Gb/s by iperf3" in verdict.because


def test_a_sender_that_reports_no_rows_is_judged_by_its_bytes_or_not_at_all(whole: Evidence):
    early, late = whole.flows
    silent = replace(late, intervals=())
    assert sound(replace(whole, flows=(early, silent))).outcome is Outcome.INCONCLUSIVE
    tenth = replace(silent, sent_bytes=200_000_000, asked_s=3.0)
    verdict = sound(replace(whole, flows=(early, tenth)))
    assert "b sent 0.533 of 5.15 Gb/s" in verdict.because


def test_a_flow_that_was_never_reported_leaves_no_verdict_and_no_crash(whole: Evidence, control):
    missing = replace(whole, flows=whole.flows[:1])
    for verdict in (
        sound(missing),
        lossless(missing, {3, 5}, controls=(control,)),
        slowed_by_marks(missing),
        drops_as_expected(missing, dropping=3, clean=5),
    ):
        assert verdict.outcome is not Outcome.PASS
        assert "1 of 2 flows were reported" in verdict.because or verdict.outcome is Outcome.FAIL


def test_what_nics_sent_has_to_carry_what_the_tools_say(whole: Evidence):
    """Ten thousand bytes through the port, gigabytes by the tool."""
    key = ("a", "eth0", "priority", 3)
    few = with_counter(whole, key[:2], c.TX_BYTES, 10_000, *key[2:])
    verdict = sound(few)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the tools on a report 3750000000 bytes sent" in verdict.because
    enough = with_counter(whole, key[:2], c.TX_BYTES, 4_000_000_000, *key[2:])
    assert sound(enough).outcome is Outcome.PASS


def test_pause_time_without_a_pause_frame_excuses_nothing(whole: Evidence):
    unpaused = replace(
        whole,
        after=tuple(
            replace(r, value=1000 + len(r.counter))
            if (r.device, r.counter) == ("a", c.PFC_RX_FRAMES)
            else r
            for r in whole.after
        ),
    )
    verdict = sound(unpaused)
    assert "PFC paused it for 0 % of the time" in verdict.because


def test_a_receiver_that_paused_its_port_did_not_do_its_part(whole: Evidence):
    seen = with_counter(whole, OUT, c.PFC_RX_FRAMES, 5000, "priority", 3)
    verdict = sound(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the receiver paused its port" in verdict.because


@pytest.mark.parametrize(
    "counter",
    [
        c.UDP_NO_PORTS,
        c.IP_IN_DISCARDS,
        c.IP_IN_ADDR_ERRORS,
        c.IP_IN_NO_ROUTES,
        c.IP_IN_TRUNCATED,
    ],
)
def test_what_a_host_dropped_is_its_loss_in_number_and_events_of_others_excuse_none(
    good: Evidence, control, counter
):
    early, late = good.flows
    missed = replace(good, flows=(replace(early, sent_datagrams=1100, lost_datagrams=1000), late))

    def judged(seen: Evidence):
        return lossless(seen, {3, 5}, controls=(control,))

    dropped = with_counter(missed, ("r", ""), counter, 1000, "host")
    assert judged(dropped).outcome is Outcome.PASS
    assert f"lost inside hosts: IP stack of r: {counter} +1000" in judged(dropped).because
    few = judged(with_counter(missed, ("r", ""), counter, 999, "host"))
    assert few.outcome is Outcome.INCONCLUSIVE
    assert "no counter says where 1 of them were" in few.because
    restless = tuple(
        replace(r, value=60) if r.counter == counter else r for r in dropped.quiet_before
    )  # they came in the quiet window, too
    assert judged(replace(dropped, quiet_before=restless)).outcome is Outcome.INCONCLUSIVE
    other = with_counter(missed, ("r", ""), c.IP_IN_UNKNOWN_PROTOCOLS, 1000, "host")
    assert judged(other).outcome is Outcome.INCONCLUSIVE


def test_routes_that_others_lack_do_not_explain_a_packet_between_nic_and_switch():
    seen = load(classes=False)
    short = replace(
        seen,
        after=tuple(
            replace(r, value=r.value - 50)
            if (r.index, r.counter) == (3, c.QUEUE_FORWARDED_PACKETS)
            else r
            for r in seen.after
        ),
    )
    routes = with_counter(short, ("a", ""), c.IP_OUT_NO_ROUTES, 50, "host")
    assert every_packet(routes).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("written", "outcome"), [(False, Outcome.PASS), (True, Outcome.INCONCLUSIVE)]
)
def test_a_datagram_that_was_counted_and_not_written_is_not_lost_one_that_was_is(written, outcome):
    seen = load(classes=False)
    early, late = seen.flows
    unsure = replace(early, unsure_datagrams=1, extra_packets=1)  # neither of them came
    short = 0 if written else 1
    after = tuple(
        replace(r, value=r.value - short)
        if (r.device, r.counter) == ("a", c.UDP_OUT_DATAGRAMS)
        else r
        for r in seen.after
    )
    assert every_packet(replace(seen, after=after, flows=(unsure, late))).outcome is outcome


def test_other_datagrams_that_come_to_the_receiver_do_not_matter():
    seen = load()
    more = tuple(
        replace(r, value=r.value + 500) if r.counter == c.UDP_IN_DATAGRAMS else r
        for r in seen.after
    )
    verdict = no_loss(replace(seen, after=more), controls=(OVER,))
    assert verdict.outcome is Outcome.PASS, verdict.because


@pytest.mark.parametrize(("on_top", "outcome"), [(1, Outcome.PASS), (-1, Outcome.INCONCLUSIVE),
                                                 (50, Outcome.INCONCLUSIVE)])  # fmt: skip
def test_a_frame_of_the_switchs_own_does_not_matter_and_a_missing_one_does(on_top, outcome):
    seen = load(classes=False)
    after = tuple(
        replace(r, value=r.value + on_top) if (r.device, r.counter) == ("r", c.RX_PACKETS) else r
        for r in seen.after
    )
    assert every_packet(replace(seen, after=after)).outcome is outcome


def test_one_pause_frame_is_no_proof_of_pressure(good: Evidence):
    def paused(frames):
        kept = tuple(r for r in good.after if r.counter != c.PFC_TX_FRAMES)
        seen = replace(good, after=kept, before=tuple(
            r for r in good.before if r.counter != c.PFC_TX_FRAMES))  # fmt: skip
        return with_counter(seen, ("sw", "p1"), c.PFC_TX_FRAMES, frames, "priority", 3)

    assert checks.congestion_proven(paused(1)).outcome is Outcome.INCONCLUSIVE
    assert "1 pauses, 0 marks" in checks.congestion_proven(paused(1)).because
    assert checks.congestion_proven(paused(26)).outcome is Outcome.PASS  # more than 5 a second


def test_what_others_lose_on_their_way_to_a_sender_is_theirs(good: Evidence, control):
    lost = with_counter(good, ("sw", "p1"), c.QUEUE_DROPPED_PACKETS, 40, "queue", 0)
    lost = with_counter(lost, ("sw", "p1"), c.BUFFER_DROPPED_OUT_PACKETS, 40)
    assert lossless(lost, {3, 5}, controls=(control,)).outcome is Outcome.PASS
    untold = with_counter(good, ("sw", "p1"), c.BUFFER_DROPPED_OUT_PACKETS, 40)
    assert lossless(untold, {3, 5}, controls=(control,)).outcome is Outcome.FAIL


def test_a_sender_that_ignores_its_cnps_is_named(good: Evidence):
    def got(handled, ignored):
        seen = notified(good, sent=handled + ignored, came=handled + ignored)
        seen = with_counter(seen, ("a", "eth0"), c.RP_CNP_HANDLED, handled)
        seen = with_counter(seen, ("a", "eth0"), c.RP_CNP_IGNORED, ignored)
        return worst(f.outcome for f in cnps.heeded(seen, A))

    assert got(6907, 0) is Outcome.PASS
    assert got(1, 6906) is Outcome.FAIL


def test_a_snapshot_that_tells_two_values_tells_none(good: Evidence, control):
    key = ("sw", "p3", "queue", 5, c.QUEUE_DROPPED_PACKETS)
    twice = (reading(key, 9999, 16.0), *good.after)
    verdict = lossless(replace(good, after=twice), {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "read twice at the same time: 9999 and" in verdict.because


def test_a_counter_that_was_read_while_the_traffic_ran_is_not_the_end(good: Evidence, control):
    early = tuple(
        replace(r, time_s=14.0) if r.counter == c.QUEUE_DROPPED_PACKETS else r for r in good.after
    )
    verdict = lossless(replace(good, after=early), {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "it was read while the traffic ran" in verdict.because


def test_the_control_itself_is_still_red(good: Evidence):
    over = control_of(good)
    assert lossless(over, {3, 5}, controls=(over,)).outcome is Outcome.FAIL
    assert B.queue == 5


def dropping(seen: Evidence, packets: int) -> Evidence:
    """Queue 3 of the bottleneck dropped so many."""
    key = (*OUT, "queue", 3, c.QUEUE_DROPPED_PACKETS)
    after = tuple(replace(r, value=r.value + packets) if r.key == key else r for r in seen.after)
    assert after != seen.after
    return replace(seen, after=after)


def test_what_a_queue_dropped_is_no_datagram_that_nobody_knows_of(whole: Evidence, control):
    early, late = whole.flows
    early = replace(early, sent_datagrams=1100, received_datagrams=467, lost_datagrams=633)
    missed = replace(whole, flows=(early, late))
    verdict = lossless(dropping(missed, 633), {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.FAIL
    assert not any("no counter says where" in each for each in verdict.disagreements)
    few = lossless(dropping(missed, 600), {3, 5}, controls=(control,))
    assert any("no counter says where 33 of them were" in each for each in few.disagreements)


def test_without_rdma_nobody_is_sent_to_reaction_points(whole: Evidence, control):
    off = PfcSetting(mode="off", priorities=frozenset())
    unheld = replace(whole, pfc={("a", "eth0"): off, ("sw", "p1"): off})
    verdict = lossless(dropping(unheld, 633), {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.FAIL
    assert "reaction point" not in verdict.because
