"""A counter that stayed 0 proves nothing where another one says that it ought to have grown; what
no flow can have done is no evidence."""

from dataclasses import replace

import pytest
from handmade import control_of
from handmade_loads import load
from test_counters_of_the_end import notified
from test_mutations import A_NIC, B_NIC, S1, SUITES, dcqcn, with_nics
from test_pauses_and_cnps import grown
from test_sound import R_NIC, with_counter

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.measure.evidence import Evidence
from labtests.verdicts import (
    Outcome,
    Verdict,
    cnps,
    drops_as_expected,
    drops_exactly_in,
    lossless,
    paused,
    slowed_by_marks,
)
from labtests.verdicts.outcome import worst

P1, P2, P3 = ("sw", "p1"), ("sw", "p2"), ("sw", "p3")


def disagrees(verdict: Verdict, *witnesses: str) -> bool:
    """Inconclusive, and both sides are named in one disagreement."""
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    return any(all(each in said for each in witnesses) for said in verdict.disagreements)


def test_no_packet_was_dropped_where_dropped_bytes_grew():
    controls = (control_of(S1),)
    assert lossless(S1, {3, 5}, controls=controls).outcome is Outcome.PASS
    seen = with_counter(S1, P3, c.QUEUE_DROPPED_BYTES, 1538, "queue", 3)
    told = "sw p3 queue 3 dropped_bytes grew by 1538, and dropped_packets stayed 0"
    assert disagrees(lossless(seen, {3, 5}, controls=controls), told)


# -- counters that stand still -------------------------------------------------------------------


def test_pauses_that_the_nic_got_were_sent():
    for place in S1.senders:
        port = (place.switch, place.switch_port)
        seen = grown(S1, port, c.PFC_TX_FRAMES, 0, "priority", place.priority)
        stayed = f"sw {place.switch_port} priority {place.priority} pfc_tx_frames stayed 0"
        assert disagrees(paused(seen), stayed, f"{place.device} eth0 priority")


def test_pauses_that_nobody_saw_were_not_sent():
    seen = grown(S1, P2, c.PFC_TX_FRAMES, 0, "priority", 5)
    seen = grown(seen, B_NIC, c.PFC_RX_FRAMES, 0, "priority", 5)
    assert paused(seen).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("where", "counter", "witness"),
    [
        (A_NIC, c.RP_CNP_HANDLED, "r eth0 np_cnp_sent"),
        (R_NIC, c.NP_CNP_SENT, "a eth0 rp_cnp_handled"),
        (P3, c.ECN_MARKED_PACKETS, "r eth0 np_ecn_marked_roce_packets"),
    ],
)
def test_a_counter_of_dcqcn_that_stood_still_is_no_proof(where, counter, witness):
    seen = grown(dcqcn(), where, counter, 0)
    assert disagrees(slowed_by_marks(seen), f"{' '.join(where)} {counter} stayed 0", witness)


def test_a_reaction_point_that_ignored_all_is_proven():
    seen = grown(grown(dcqcn(), A_NIC, c.RP_CNP_HANDLED, 0), A_NIC, c.RP_CNP_IGNORED, 450)
    verdict = slowed_by_marks(seen)
    assert verdict.outcome is Outcome.FAIL
    assert "a eth0 rp_cnp_handled stayed 0" in verdict.because


def test_marks_that_nobody_saw_were_not_made():
    seen = dcqcn()
    for where, counter in (
        (P3, c.ECN_MARKED_PACKETS),
        (R_NIC, c.NP_ECN_MARKED_PACKETS),
        (R_NIC, c.NP_CNP_SENT),
        (A_NIC, c.RP_CNP_HANDLED),
        (B_NIC, c.RP_CNP_HANDLED),
    ):
        seen = grown(seen, where, counter, 0)
    full = grown(seen, P3, c.QUEUE_DROPPED_PACKETS, 5, "queue", 3)
    assert "sw p3 ecn_marked_packets stayed 0" in slowed_by_marks(full).because
    assert slowed_by_marks(full).outcome is Outcome.FAIL


def reaction_point_off(dropped: int = 500) -> Evidence:
    """S3: queue 3 dropped, CNPs went back as in S2."""
    drops, seen = load(dropped=(dropped, 0)), dcqcn()
    theirs = {each.key for each in drops.after}
    reads = {
        when: (*getattr(drops, when), *(r for r in getattr(seen, when) if r.key not in theirs))
        for when in ("quiet_before", "before", "after")
    }
    return replace(seen, **reads)


def s3(seen: Evidence) -> Verdict:
    return drops_as_expected(seen, dropping=3, clean=5, controls=(load(dropped=(0, 20_000)),))


def test_drops_that_the_nics_show_were_not_seen_by_a_counter_that_stood_still():
    assert s3(reaction_point_off()).outcome is Outcome.PASS, s3(reaction_point_off()).because
    seen = grown(reaction_point_off(), P3, c.QUEUE_DROPPED_PACKETS, 0, "queue", 3)
    stayed = "sw p3 queue 3 dropped_packets stayed 0"
    assert disagrees(s3(seen), stayed, "a eth0 priority 3 tx_packets")
    none = s3(reaction_point_off(dropped=0))
    assert none.outcome is Outcome.FAIL
    assert stayed in none.because


def test_drops_that_the_port_shows_were_not_seen_by_its_queue():
    seen = with_counter(reaction_point_off(dropped=0), P3, c.WRED_DROPPED_PACKETS, 500)
    assert disagrees(s3(seen), "dropped_packets stayed 0", "wred_dropped_packets +500")


@pytest.mark.parametrize("classes", [True, False])
def test_drops_that_the_tools_show_were_not_seen_by_a_counter_that_stood_still(classes):
    seen = with_nics(load(dropped=(9_000, 0), classes=classes))
    full = with_counter(seen, P3, c.ECN_MARKED_PACKETS, 9_000)
    still = grown(full, P3, c.QUEUE_DROPPED_PACKETS, 0, "queue", 3)
    verdict = drops_exactly_in(still, {3}, controls=(load(dropped=(0, 20_000)),))
    assert disagrees(verdict, "dropped_packets stayed 0", "8993 datagrams of queue 3")


@pytest.mark.parametrize("share", [0.0, 0.5], ids=["frozen", "halved"])
@pytest.mark.parametrize(
    ("where", "counter"), [(R_NIC, c.NP_CNP_SENT), (A_NIC, c.RP_CNP_HANDLED)], ids=["np", "rp"]
)
def test_cnps_are_balanced_where_drops_are_due(where, counter, share):
    full = reaction_point_off().change(where, "port", None, counter).increase or 0
    verdict = s3(grown(reaction_point_off(), where, counter, round(share * full)))
    assert disagrees(verdict, "CNPs sent is not handled + ignored")


# -- CNPs of another DSCP ------------------------------------------------------------------------


def of_cnps(came: tuple[int, int], handled: tuple[int, int] | None) -> tuple[Outcome, str]:
    """300 were sent; what the queues at both senders' ports forwarded, what their NICs got."""
    seen = notified(load(), sent=300, came=0)
    for port, nic, packets, got in zip(
        (P1, P2), (A_NIC, B_NIC), came, handled or (0, 0), strict=True
    ):
        seen = grown(seen, port, c.QUEUE_FORWARDED_PACKETS, packets, "queue", 6)
        if handled is not None:
            seen = with_counter(seen, nic, c.RP_CNP_HANDLED, got)
            seen = with_counter(seen, nic, c.RP_CNP_IGNORED, 0)
    found = list(cnps.in_their_class(seen))
    return worst(f.outcome for f in found), "; ".join(f.because for f in found)


def test_cnps_that_came_past_their_queue_at_every_port_have_another_dscp():
    outcome, said = of_cnps((0, 0), (200, 100))
    assert outcome is Outcome.FAIL
    assert "they have another DSCP" in said


def test_a_queue_that_stood_still_at_one_port_proves_no_other_dscp():
    """The other port's had all that its NIC got; one NIC gives all of them the same."""
    outcome, said = of_cnps((0, 100), (200, 100))
    assert outcome is Outcome.INCONCLUSIVE
    assert "past a counter that stood still" in said


@pytest.mark.parametrize("handled", [(0, 0), (70, 70), None])
def test_cnps_that_did_not_come_have_no_other_dscp(handled):
    outcome, said = of_cnps((70, 70), handled)
    assert outcome is Outcome.INCONCLUSIVE
    assert "another DSCP" not in said


def test_cnps_that_came_out_of_no_queue_of_the_port_are_a_counter_that_stood_still():
    seen = notified(load(), sent=300, came=0)
    for port, nic in ((P1, A_NIC), (P2, B_NIC)):
        for counter, got in ((c.RP_CNP_HANDLED, 150), (c.RP_CNP_IGNORED, 0), (c.RX_PACKETS, 400)):
            seen = with_counter(seen, nic, counter, got)
        seen = with_counter(seen, port, c.QUEUE_FORWARDED_PACKETS, 250, "queue", 3)
    found = list(cnps.in_their_class(seen))
    assert worst(f.outcome for f in found) is Outcome.INCONCLUSIVE


# -- a port whose PFC does nothing ---------------------------------------------------------------


def unpaused(dropped: int) -> Evidence:
    """Nobody held b, which sent all that it was asked to; its queue dropped so many."""
    seen = grown(S1, P2, c.PFC_TX_FRAMES, 0, "priority", 5)
    for counter in (c.PFC_RX_FRAMES, c.PFC_RX_PAUSE_US):
        seen = grown(seen, B_NIC, counter, 0, "priority", 5)
    seen = grown(seen, P3, c.QUEUE_DROPPED_PACKETS, dropped, "queue", 5)
    early, late = seen.flows
    all_of_it = replace(late, sent_bytes=round((late.offered_bits_per_s or 0) * 3 / 8))
    return replace(seen, flows=(early, all_of_it))


def test_a_sender_without_pauses_whose_queue_dropped_is_named():
    assert paused(unpaused(0)).outcome is Outcome.PASS, paused(unpaused(0)).because
    verdict = paused(unpaused(81_624))
    assert verdict.outcome is Outcome.FAIL
    assert "sw p2 priority 5 pfc_tx_frames stayed 0" in verdict.because


# -- what no flow can have done ------------------------------------------------------------------


def below_nothing(flow: FlowResult) -> dict[str, FlowResult]:
    rows = flow.intervals
    middle = len(rows) // 2
    row = rows[middle]
    negative = replace(row, goodput_bits_per_s=-1e9)
    backwards = replace(row, start_s=row.end_s, end_s=row.start_s)
    found = {
        "a rate or a time below 0": replace(
            flow, intervals=(*rows[:middle], negative, *rows[middle + 1 :])
        ),
        "a rate or a time below": replace(
            flow, intervals=(*rows[:middle], backwards, *rows[middle + 1 :])
        ),
        "two rows of the same time": replace(flow, intervals=(*rows[:middle], row, *rows[middle:])),
        "two rows of the same": replace(flow, intervals=rows[::-1]),
        "no row from": replace(flow, intervals=(*rows[:middle], *rows[middle + 1 :])),
    }
    if flow.lost_datagrams is not None:
        found["a count below 0"] = replace(
            flow, lost_datagrams=-5, received_datagrams=(flow.received_datagrams or 0) + 5
        )
    if flow.retransmits is not None:
        found["a count below"] = replace(flow, retransmits=-1)
    return found


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("suite", SUITES)
def test_what_no_flow_can_have_done_is_no_evidence(suite, number):
    seen, ask = SUITES[suite]
    for said, flow in below_nothing(seen.flows[number]).items():
        flows = tuple(flow if n == number else each for n, each in enumerate(seen.flows))
        verdicts = ask(replace(seen, flows=flows))
        assert any(f"reported {said}" in verdict.because for verdict in verdicts), said
        assert Outcome.FAIL not in {verdict.outcome for verdict in verdicts}, said


def test_rows_of_processes_that_began_one_after_the_other_overlap():
    early, late = S1.flows
    rows = tuple(replace(row, end_s=row.end_s + 0.4) for row in early.intervals)
    seen = replace(S1, flows=(replace(early, intervals=rows), late))
    controls = (control_of(S1),)
    assert lossless(seen, {3, 5}, controls=controls).outcome is Outcome.PASS
