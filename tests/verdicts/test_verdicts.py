"""Each verdict: green on good evidence, red in its control, never green without evidence."""

from dataclasses import replace

import pytest
from handmade import control_of, flow, reading, rows, with_a_hole
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowStatus
from labtests.capabilities.readings import Reading
from labtests.verdicts import (
    Outcome,
    drops_as_expected,
    lossless,
    paused,
    slowed_by_marks,
    throttled,
)

CEILING = 9.62e9


def ask(question, evidence, control):
    match question:
        case "lossless":
            return lossless(evidence, {3, 5}, controls=(control,))
        case "paused":
            return paused(evidence)
    return throttled(evidence, ceiling_bits_per_s=CEILING)


QUESTIONS = ("lossless", "paused", "throttled")


def changed(readings, where, **fields):
    """The readings with one counter's fields replaced."""
    device, port, scope, index, counter = where
    at = (device, port, scope, -1 if index is None else index, counter)
    assert any(r.key == at for r in readings)
    return tuple(replace(r, **fields) if r.key == at else r for r in readings)


DROPS = ("sw", "p3", "queue", 3, c.QUEUE_DROPPED_PACKETS)


@pytest.mark.parametrize("question", QUESTIONS)
def test_good_evidence_passes(good, control, question):
    verdict = ask(question, good, control)
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "[SIMULATED]" in str(verdict)


def test_one_lost_packet_in_a_million_fails(good, control):
    value = next(r.value for r in good.after if r.key == (*DROPS[:3], 3, DROPS[4]))
    bad = replace(good, after=changed(good.after, DROPS, value=value + 1))
    verdict = lossless(bad, {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.FAIL
    assert "grew by 1" in verdict.because


def test_noise_never_softens_a_drop(good, control):
    before = next(r.value for r in good.before if r.key == (*DROPS[:3], 3, DROPS[4]))
    noisy = replace(
        good,
        quiet_before=changed(good.quiet_before, DROPS, value=before - 500),
        after=changed(good.after, DROPS, value=before + 1),
    )
    assert lossless(noisy, {3, 5}, controls=(control,)).outcome is Outcome.FAIL


def test_drops_before_the_traffic_leave_the_queue_unjudged(good, control):
    before = next(r.value for r in good.before if r.key == (*DROPS[:3], 3, DROPS[4]))
    noisy = replace(good, quiet_before=changed(good.quiet_before, DROPS, value=before - 1))
    verdict = lossless(noisy, {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "quiet window" in verdict.because


def test_without_a_control_that_drops_the_counter_is_not_proven_alive(good):
    verdict = lossless(good, {3, 5}, controls=())
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "drop counter is unproven" in verdict.because


def test_a_control_of_another_port_proves_nothing(good, control):
    elsewhere = replace(control, receiver=replace(control.receiver, switch_port="p9"))
    assert lossless(good, {3, 5}, controls=(elsewhere,)).outcome is Outcome.INCONCLUSIVE


def test_a_dead_drop_counter_is_found_out_by_conservation(good, control):
    sent = ("a", "eth0", "priority", 3, c.TX_PACKETS)
    value = next(r.value for r in good.after if r.key == (*sent[:3], 3, sent[4]))
    dead = replace(good, after=changed(good.after, sent, value=value + 250))
    verdict = lossless(dead, {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert any("forwarded + dropped" in d and "250" not in d[:20] for d in verdict.disagreements)


def test_no_pressure_is_no_proof(good, control):
    calm = tuple(r for r in good.after if r.counter != c.PFC_TX_FRAMES)
    verdict = lossless(replace(good, after=calm), {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "congestion not proven" in verdict.because


def test_a_full_egress_is_proof_of_pressure(good, control):
    calm = tuple(r for r in good.after if r.counter != c.PFC_TX_FRAMES)
    full = tuple(
        reading(("sw", "p3", "queue", 3, c.QUEUE_FORWARDED_BYTES), int(t * 0.99 * 10e9 / 8), t)
        for t in (11.0, 12.0)
    )
    seen = replace(good, after=calm, samples=full)
    assert lossless(seen, {3, 5}, controls=(control,)).outcome is Outcome.PASS


def test_a_receiver_that_pauses_is_not_the_fabric(good, control):
    pause = ("r", "eth0", "port", None, c.PAUSE_TX_FRAMES)
    slow = replace(good, after=changed(good.after, pause, value=5000))
    verdict = lossless(slow, {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "slow host" in verdict.because


@pytest.mark.parametrize("status", [FlowStatus.FAILED, FlowStatus.INFRASTRUCTURE])
@pytest.mark.parametrize("question", QUESTIONS)
def test_traffic_that_did_not_run_proves_nothing(good, control, question, status):
    early, late = good.flows
    broken = replace(early, status=status, because="iperf3: error - server has terminated")
    verdict = ask(question, replace(good, flows=(broken, late)), control)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "server has terminated" in verdict.because


def test_unsettled_counters_and_unreachable_hosts_prove_nothing(good, control):
    assert ask("lossless", replace(good, settled=False), control).outcome is Outcome.INCONCLUSIVE
    cut = replace(good, unreachable=("a cannot reach 10.0.0.3",))
    assert "cannot reach" in ask("lossless", cut, control).because


def test_lost_datagrams_are_the_hosts_when_its_counters_say_so(good, control):
    early, late = good.flows
    missed = replace(good, flows=(replace(early, sent_datagrams=107, lost_datagrams=7), late))
    unexplained = ask("lossless", missed, control)
    assert unexplained.outcome is Outcome.INCONCLUSIVE
    assert unexplained.disagreements
    full_socket = ("r", "", "host", None, c.UDP_IN_ERRORS)
    found = next(r.value for r in good.after if r.key == (*full_socket[:3], -1, full_socket[4]))
    explained = replace(missed, after=changed(missed.after, full_socket, value=found + 7))
    verdict = ask("lossless", explained, control)
    assert verdict.outcome is Outcome.PASS
    assert "lost inside hosts: IP stack of r: udp_in_errors +7" in verdict.because


def test_one_event_in_a_host_does_not_excuse_a_thousand_datagrams(good, control):
    early, late = good.flows
    missed = replace(good, flows=(replace(early, sent_datagrams=1100, lost_datagrams=1000), late))
    fails = ("r", "", "host", None, c.IP_REASM_FAILS)
    found = next(r.value for r in good.after if r.key == (*fails[:3], -1, fails[4]))
    one = replace(missed, after=changed(missed.after, fails, value=found + 1))
    verdict = ask("lossless", one, control)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "says where 999 of them were" in verdict.because


def test_pause_at_a_priority_without_traffic_fails(good):
    other = ("sw", "p1", "priority", 4, c.PFC_TX_FRAMES)
    assert (
        paused(replace(good, after=changed(good.after, other, value=9999))).outcome is Outcome.FAIL
    )


def test_pause_frames_that_the_nic_did_not_get_are_a_disagreement(good):
    got = ("a", "eth0", "priority", 3, c.PFC_RX_FRAMES)
    value = next(r.value for r in good.after if r.key == (*got[:3], 3, got[4]))
    verdict = paused(replace(good, after=changed(good.after, got, value=value - 1)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "pause sent is not pause received, a" in verdict.disagreements[0]


def test_missing_pause_keys_mean_not_enabled_only_by_the_devices_own_account(good):
    other = ("sw", "p1", "priority", 4, c.PFC_TX_FRAMES)

    def with_reason(reason):
        fields = {"value": None, "missing": reason}
        return paused(
            replace(
                good,
                before=changed(good.before, other, **fields),
                after=changed(good.after, other, **fields),
            )
        )

    assert with_reason("PFC is not enabled on priority 4").outcome is Outcome.PASS
    assert with_reason("the cell says N/A").outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("early", "late", "broken"),
    [
        ((7.8, 7.8, 7.0, 7.0, 7.0), (2.6, 2.6, 2.6), "offered"),
        ((7.8, 7.8, 2.0, 2.0, 2.0), (5.1, 5.1, 5.1), "theoretical maximum"),
        ((7.8, 7.8, 6.0, 6.0, 6.0), (4.8, 4.8, 4.8), "shared / solo"),
        ((7.8, 7.8, 7.8, 7.8, 7.8), (5.1, 5.1, 5.1), "shared / solo"),
    ],
)
def test_other_shares_fail_and_name_the_bound(good, early, late, broken):
    flows = (flow("a", rows(10, early), 7.8e9), flow("b", rows(12, late), 5.15e9))
    verdict = throttled(replace(good, flows=flows), ceiling_bits_per_s=CEILING)
    assert verdict.outcome is Outcome.FAIL
    assert broken in verdict.because
    assert any(f.margin is not None and f.margin < 0 for f in verdict.facts)


def test_a_sender_that_does_not_offer_what_it_was_asked_is_no_fault_of_the_fabric(good):
    flows = (
        flow("a", rows(10, (5.0, 5.0, 4.8, 4.8, 4.8)), 7.8e9),
        flow("b", rows(12, (4.8,) * 3), 5.15e9),
    )
    verdict = throttled(replace(good, flows=flows), ceiling_bits_per_s=CEILING)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.because.startswith("a sent 5.00 of the 7.80 Gb/s that it was asked for")


def test_a_sum_above_the_ceiling_may_lie_in_buffers_and_nothing_more_may(good):
    flows = (
        flow("a", rows(10, (7.8, 7.8, 4.85, 4.85, 4.85)), 7.8e9),
        flow("b", rows(12, (4.85,) * 3), 5.15e9),
    )  # 9.7 of 9.616 Gb/s, for 3 s: 31.5 MB above 1 %
    seen = replace(good, flows=flows)
    assert throttled(seen, ceiling_bits_per_s=CEILING).outcome is Outcome.PASS
    least = throttled(seen, ceiling_bits_per_s=CEILING / 1.01)
    assert least.outcome is Outcome.INCONCLUSIVE
    assert "the rows of the tools do not cover the same time" in least.because
    held = throttled(seen, ceiling_bits_per_s=CEILING / 1.01, buffers_bytes=40_000_000)
    assert held.outcome is Outcome.PASS
    assert any("38 MiB of buffers in 3 s" in fact.name for fact in held.facts)
    assert (
        throttled(seen, ceiling_bits_per_s=CEILING / 1.03, buffers_bytes=40_000_000).outcome
        is Outcome.INCONCLUSIVE
    )


def forwarded(queue, bits_per_s, times=(12.0, 13.0, 14.0)):
    """Samples of a queue of the bottleneck that sends on steadily."""
    return tuple(
        Reading(
            device="sw", port="p3", scope="queue", index=queue, counter=c.QUEUE_FORWARDED_BYTES,
            value=round(bits_per_s / 8 * (time_s - 12)), unit="bytes", source="", time_s=time_s,
        )
        for time_s in times
    )  # fmt: skip


@pytest.mark.parametrize(("others", "outcome"), [(1e9, "pass"), (6e9, "inconclusive")])
def test_what_others_send_in_another_queue_is_not_there_to_be_had(good, others, outcome):
    rest = (9.62 - others / 1e9) / 2
    flows = (
        flow("a", rows(10, (7.8, 7.8, rest, rest, rest)), 7.8e9),
        flow("b", rows(12, (rest,) * 3), 5.15e9),
    )
    seen = replace(good, flows=flows)
    assert throttled(seen, ceiling_bits_per_s=CEILING).outcome is Outcome.FAIL
    beside = replace(seen, samples=(*forwarded(0, others), *forwarded(3, 4e9)))
    verdict = throttled(beside, ceiling_bits_per_s=CEILING)
    assert verdict.outcome.value == outcome
    assert outcome == "pass" or "took 60% of the bottleneck" in verdict.because


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_control_is_red(good, control, question):
    if question == "lossless":
        assert ask(question, control, control).outcome is Outcome.FAIL
    elif question == "paused":
        assert paused(never_paused(control)).outcome is Outcome.FAIL


def never_paused(evidence):
    after = tuple(
        replace(r, value=1000 + len(r.counter)) if "pfc" in r.counter else r for r in evidence.after
    )
    return replace(evidence, after=after)


def test_without_congestion_nobody_had_to_be_paused(good):
    verdict = paused(never_paused(good))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "sw p1 priority 3 pfc_tx_frames stayed 0" in verdict.because


@pytest.mark.parametrize("question", ["paused", "throttled", "slowed", "drops due"])
def test_what_did_not_happen_is_nobodys_fault_when_a_sender_died(control, question):
    early, late = control.flows
    died = replace(early, status=FlowStatus.FAILED, because="exit status 137 (ended by SIGKILL)")
    seen = never_paused(replace(control, flows=(died, late)))
    verdict = {
        "paused": lambda: paused(seen),
        "throttled": lambda: throttled(seen, ceiling_bits_per_s=CEILING / 2),
        "slowed": lambda: slowed_by_marks(seen),
        "drops due": lambda: drops_as_expected(seen, dropping=7, clean=6),
    }[question]()
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "a -> r (iperf3) did not run: exit status 137 (ended by SIGKILL)" in verdict.because


NEEDED = {
    "lossless": {c.QUEUE_DROPPED_PACKETS, c.QUEUE_FORWARDED_PACKETS, c.TX_PACKETS, c.RX_PACKETS,
                 c.UDP_IN_ERRORS, c.IP_REASM_FAILS},
    "paused": {c.PFC_TX_FRAMES, c.PFC_RX_FRAMES},
    "throttled": set(),
}  # fmt: skip


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_evidence_with_a_hole_is_never_green(good, control, data):
    """Take any needed counter away, before or after, in any of the ways devices do."""
    question = data.draw(st.sampled_from(["lossless", "paused"]))
    keys = sorted({r.key for r in good.after if r.counter in NEEDED[question]})
    verdict = ask(question, with_a_hole(good, keys, data.draw), control)
    assert verdict.outcome is not Outcome.PASS


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drops=st.integers(min_value=1, max_value=2**40))
def test_any_drop_fails_whatever_its_share(good, control, drops):
    assert lossless(control_of(good, drops), {3, 5}, controls=(control,)).outcome is Outcome.FAIL


def test_no_evidence_at_all_is_inconclusive_for_every_question(good):
    empty = replace(good, flows=(), before=(), after=(), quiet_before=(), settled=False)
    for verdict in (
        lossless(empty, {3, 5}),
        lossless(empty, set()),
        paused(empty),
        throttled(empty, ceiling_bits_per_s=CEILING),
        slowed_by_marks(empty),
        drops_as_expected(empty, dropping=5, clean=3),
    ):
        assert verdict.outcome is Outcome.INCONCLUSIVE


def without_pauses(evidence):
    """None of its pause counters has grown."""
    earlier = {r.key: r.value for r in evidence.before}
    after = (
        replace(r, value=earlier[r.key]) if r.counter in (c.PFC_TX_FRAMES, c.PFC_RX_FRAMES) else r
        for r in evidence.after
    )
    return replace(evidence, after=tuple(after))


def test_drops_where_due_needs_the_drop_and_the_clean_queue(good):
    after = tuple(
        replace(r, value=r.value + 40)
        if r.key[:4] == ("sw", "p3", "queue", 5) and r.counter == c.QUEUE_DROPPED_PACKETS
        else replace(r, value=r.value + 40)
        if r.key == ("b", "eth0", "priority", 5, c.TX_PACKETS)
        else r
        for r in good.after
    )
    due = replace(good, after=after)
    other = control_of(good)
    held = drops_as_expected(due, dropping=5, clean=3, controls=(other,))
    assert held.outcome is Outcome.INCONCLUSIVE
    assert "a was held by pause frames (PFC was not read): sw p1 priority 3" in held.because
    due = without_pauses(due)
    assert drops_as_expected(due, dropping=5, clean=3, controls=(other,)).outcome is Outcome.PASS
    assert drops_as_expected(due, dropping=5, clean=3).outcome is Outcome.INCONCLUSIVE
    assert drops_as_expected(good, dropping=5, clean=3, controls=(other,)).outcome is Outcome.FAIL
    assert drops_as_expected(other, dropping=5, clean=3, controls=(other,)).outcome is Outcome.FAIL
