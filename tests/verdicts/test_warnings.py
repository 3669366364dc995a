"""The verdicts on early warnings: each port that pauses too often, and no other."""

import time
from dataclasses import replace

import pytest
from handmade import good_evidence, reading

from labtests.capabilities import counters as c
from labtests.capabilities.flows import StormResult
from labtests.capabilities.readings import DeviceLog, PfcWarning
from labtests.verdicts import Outcome, silent, warned

OF_A, OF_B = ("sw", "p1", 3), ("sw", "p2", 5)  # 900 and 300 pause frames
FEW = {OF_A: 10, OF_B: 10}
MANY = {OF_A: 2000, OF_B: 2000}


def of(port, when="Jun 17 15:57:09:578 2006", way="sent"):
    return PfcWarning(port=port[1], priority=port[2], way=way, when=when)


def logged(*new, before=(), **more):
    """The switch has logged these; what it had logged before."""
    then = DeviceLog(device="sw", noted=100, kept=100, messages=before)
    noted = 100 + len(new)
    now = DeviceLog(device="sw", noted=noted, kept=noted, messages=(*before, *new))
    return replace(good_evidence(), warnings=((then, replace(now, **more)),))


BOTH = of(OF_A), of(OF_B)


def test_a_warning_of_each_port_that_paused_too_often_is_a_pass():
    verdict = warned(logged(*BOTH), FEW)
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because.startswith("a warning of each port that sent more pause frames")


def test_none_where_there_were_fewer_is_a_pass():
    verdict = silent(logged(), MANY)
    assert verdict.outcome is Outcome.PASS, verdict.because


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (logged(), "sw p1 priority 3 pfc_tx_frames grew by 900"),
        (logged(of(OF_A)), "sw p2 priority 5 pfc_tx_frames grew by 300"),
        (logged(of(OF_A), of(OF_B, way="received")), "sw p2 priority 5 pfc_tx_frames grew by 300"),
        (logged(of(OF_A), before=(of(OF_B),)), "sw p2 priority 5 pfc_tx_frames grew by 300"),
    ],
    ids=["none", "of one", "the other way", "before the phase"],
)
def test_a_port_that_nobody_warned_of_is_a_failure(seen, says):
    verdict = warned(seen, FEW)
    assert verdict.outcome is Outcome.FAIL
    assert says in verdict.because
    assert "sw did not warn in " in verdict.because


def test_two_warnings_that_are_alike_are_two():
    assert warned(logged(*BOTH, before=BOTH), FEW).outcome is Outcome.PASS


def test_a_sentence_that_nobody_knows_is_new_each_time():
    one = DeviceLog(device="sw", noted=9, kept=9, unread=("what is this of PFC",))
    seen = replace(good_evidence(), warnings=((one, replace(one, unread=2 * one.unread)),))
    verdict = silent(seen, MANY)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "what is this of PFC" in verdict.because
    same = replace(good_evidence(), warnings=((one, one),))
    assert silent(same, MANY).outcome is Outcome.PASS


def test_many_sentences_that_nobody_knows_are_one_finding():
    lines = tuple(f"what is {n} of PFC" for n in range(4000))
    verdict = silent(logged(unread=lines), MANY)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "4000 lines, of which the first is: what is 0 of PFC" in verdict.because
    assert "what is 1 of PFC" not in verdict.because


@pytest.mark.parametrize("verdict", [silent, warned])
def test_a_warning_of_a_port_that_is_not_counted_is_not_passed_over(verdict):
    theirs = tuple(of(("sw", f"p{n}", 3)) for n in range(50, 60))
    ours, thresholds = (BOTH, FEW) if verdict is warned else ((), MANY)
    found = verdict(logged(*ours, *theirs), thresholds)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "that p50 sent (and of 9 more), and they were not counted" in found.because


def test_what_a_log_has_anew_is_found_in_linear_time():
    many = tuple(of(("sw", "p1", 4), when=str(n)) for n in range(10_000))
    before, after = (
        DeviceLog(device="sw", noted=9, kept=9, messages=w) for w in (many, many[::-1])
    )
    begun_s = time.process_time()
    verdict = silent(replace(good_evidence(), warnings=((before, after),)), MANY)
    assert time.process_time() - begun_s < 3  # 13 s, when each was looked for in a list
    assert verdict.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ((of(OF_A),), "and 2000 are allowed: sw warned"),
        (
            (of(("sw", "p1", 4)),),
            "warned of pause frames of priority 4 that p1 sent, and there were none",
        ),
    ],
)
def test_a_false_alarm_is_a_failure(new, says):
    verdict = silent(logged(*new), MANY)
    assert verdict.outcome is Outcome.FAIL
    assert says in verdict.because


def without(counter):
    seen = logged(*BOTH)
    key = (*OF_A[:2], "priority", OF_A[2], counter)
    gone = tuple(reading(r.key, None, r.time_s, "?") if r.key == key else r for r in seen.after)
    return replace(seen, after=gone)


@pytest.mark.parametrize("judge", [warned, silent])
@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (replace(good_evidence(), warnings=()), "no log was read"),
        (logged(*BOTH, missing="its log buffer is off"), "sw: its log buffer is off"),
        (logged(*BOTH, noted=90), "those of this phase are not all there"),
        (logged(*BOTH, noted=1000), "those of this phase are not all there"),
        (logged(*BOTH, unread=("%Jun PFC/3/ODD: ?",)), "labtests does not know: %Jun PFC/3/ODD"),
        (without(c.PFC_TX_FRAMES), "no value after the run: ?"),
    ],
    ids=["no log", "off", "cleared", "overwritten", "unknown words", "no counter"],
)
def test_what_is_not_all_there_proves_nothing(judge, seen, says):
    verdict = judge(seen, FEW)
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert says in verdict.because


def test_a_claim_of_the_wrong_kind_is_not_proven():
    """Nothing exceeded its threshold, or everything did."""
    assert warned(logged(), MANY).outcome is Outcome.INCONCLUSIVE
    assert silent(logged(*BOTH), FEW).outcome is Outcome.INCONCLUSIVE


NEAR = {OF_A: 120, OF_B: 200}
"""Of neither it is certain whether it was exceeded in some second."""


@pytest.mark.parametrize("new", [(), BOTH])
def test_of_what_is_near_its_threshold_nothing_is_said(new):
    for judge in (warned, silent):
        assert judge(logged(*new), NEAR).outcome is Outcome.INCONCLUSIVE
    one = {OF_A: 10, OF_B: 200}
    assert warned(logged(*new), one).outcome is (Outcome.PASS if new else Outcome.FAIL)


def test_a_port_that_was_never_paused_need_not_have_been_warned_of():
    assert warned(logged(of(OF_A)), {OF_A: 10, OF_B: 2000}).outcome is Outcome.PASS


def test_without_any_threshold_there_is_nothing_to_warn_of():
    verdict = warned(logged(*BOTH), {})
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "of no port" in verdict.because


# -- frames that a host sends ----------------------------------------------------------------------

FROM_R = ("sw", "p3", 3)
STORM = StormResult(switch="sw", switch_port="p3", priority=3, lasting_ms=250, times=3, frames=750)


def stormy(*new, frames=760, storm=STORM):
    seen = logged(*new)
    key = (*FROM_R[:2], "priority", FROM_R[2], c.PFC_RX_FRAMES)
    return replace(
        seen,
        storm=storm,
        quiet_before=(*seen.quiet_before, reading(key, 7, 9.0)),
        before=(*seen.before, reading(key, 7, 9.5)),
        after=(*seen.after, reading(key, 7 + frames, 1000.0)),
    )


def test_a_warning_of_frames_that_a_host_sends_without_end_is_a_pass():
    verdict = warned(stormy(of(FROM_R, way="received")), {FROM_R: 5}, "received")
    assert verdict.outcome is Outcome.PASS, verdict.because


def test_a_storm_that_nobody_warned_of_is_a_failure():
    for new in ((), (of(FROM_R),)):
        verdict = warned(stormy(*new), {FROM_R: 5}, "received")
        assert verdict.outcome is Outcome.FAIL
        assert "did not warn in " in verdict.because


def test_a_storm_that_did_not_come_proves_nothing():
    for seen in (
        stormy(of(FROM_R, way="received"), frames=749),
        stormy(storm=replace(STORM, because="r has no mausezahn"), frames=0),
    ):
        assert warned(seen, {FROM_R: 5}, "received").outcome is Outcome.INCONCLUSIVE


def test_without_a_storm_there_has_to_be_silence():
    quiet = stormy(storm=None, frames=0)
    assert silent(quiet, {FROM_R: 5}, "received").outcome is Outcome.PASS
    false_alarm = stormy(of(FROM_R, way="received"), storm=None, frames=0)
    assert silent(false_alarm, {FROM_R: 5}, "received").outcome is Outcome.FAIL


def test_pauses_that_the_nic_counts_otherwise_prove_nothing_of_warnings():
    """The switch's own counter stood still, and no warning of 900 pauses was silence."""
    seen = logged()
    key = ("sw", "p1", "priority", 3, c.PFC_TX_FRAMES)
    still = {r.key: r.value for r in seen.before}[key]
    after = tuple(replace(r, value=still) if r.key == key else r for r in seen.after)
    verdict = silent(replace(seen, after=after), MANY)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "pause sent is not pause received, a" in verdict.because


def test_a_log_that_was_cleared_and_filled_again_is_not_whole():
    seen = logged(of(OF_A), before=BOTH)
    ((then, now),) = seen.warnings
    verdict = warned(replace(seen, warnings=((then, replace(now, messages=(of(OF_A),))),)), FEW)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "its log was cleared meanwhile" in verdict.because


def test_a_warning_that_the_log_does_not_count_proves_nothing():
    seen = logged()
    ((then, now),) = seen.warnings
    verdict = silent(replace(seen, warnings=((then, replace(now, messages=(of(OF_A),))),)), MANY)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "its log shows more new messages than it counts" in verdict.because


def test_the_log_of_another_switch_says_nothing():
    seen = logged()
    other = tuple(tuple(replace(each, device="leaf") for each in both) for both in seen.warnings)
    verdict = silent(replace(seen, warnings=other), MANY)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the log of sw was not read" in verdict.because
