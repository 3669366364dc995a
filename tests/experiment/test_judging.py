"""What verdicts and controls mean for a test."""

from dataclasses import replace

import pytest

from labtests.capabilities.records import EcnSetting, PfcSetting, WredQueue
from labtests.experiment import HARDWARE, SIMULATED, NotPassed
from labtests.experiment.judging import Judged
from labtests.experiment.record import readable
from labtests.verdicts import Outcome, Verdict

VERDICT = Verdict(
    question="Was nothing lost?", outcome=Outcome.PASS, because="0 dropped", backend="hardware",
    phase="PFC on",
)  # fmt: skip


def judged(outcome, *, control=False):
    return Judged(verdict=replace(VERDICT, outcome=outcome), control=control)


@pytest.mark.parametrize(
    ("outcome", "control", "counts_as"),
    [
        (Outcome.PASS, False, Outcome.PASS),
        (Outcome.FAIL, False, Outcome.FAIL),
        (Outcome.INCONCLUSIVE, False, Outcome.INCONCLUSIVE),
        (Outcome.FAIL, True, Outcome.PASS),
        (Outcome.PASS, True, Outcome.INCONCLUSIVE),
        (Outcome.INCONCLUSIVE, True, Outcome.INCONCLUSIVE),
        (Outcome.ERROR, True, Outcome.INCONCLUSIVE),
    ],
)
def test_a_control_has_to_fail_for_a_proven_reason(outcome, control, counts_as):
    assert judged(outcome, control=control).counts_as is counts_as


@pytest.mark.parametrize(
    ("outcome", "because", "counts_as"),
    [
        (Outcome.INCONCLUSIVE, "congestion not proven: no pause", Outcome.PASS),
        (Outcome.INCONCLUSIVE, "no traffic ran", Outcome.INCONCLUSIVE),
        (Outcome.PASS, "congestion not proven", Outcome.INCONCLUSIVE),
        (Outcome.FAIL, "congestion not proven", Outcome.INCONCLUSIVE),
    ],
)
def test_a_claim_without_its_proof_has_to_be_inconclusive_and_say_why(outcome, because, counts_as):
    verdict = replace(VERDICT, outcome=outcome, because=because)
    claim = Judged(verdict=verdict, control=True, unprovable="congestion not proven")
    assert claim.counts_as is counts_as


def test_a_proven_loss_outweighs_missing_evidence():
    red = NotPassed([judged(Outcome.INCONCLUSIVE), judged(Outcome.FAIL)])
    assert red.outcome is Outcome.FAIL


def test_a_control_that_stays_green_is_named():
    red = NotPassed([judged(Outcome.PASS), judged(Outcome.PASS, control=True)])
    assert red.outcome is Outcome.INCONCLUSIVE
    assert str(red).startswith("NEGATIVE CONTROL PASSED (it has to fail) (PFC on)")


@pytest.mark.parametrize("pace", [HARDWARE, SIMULATED])
@pytest.mark.parametrize("lab_seconds", [4, 6, 30, 100])
def test_a_pace_keeps_two_rows_alone_and_some_together(pace, lab_seconds):
    other = pace.lasting(lab_seconds)
    assert other.stagger_s >= 2 * other.row_every_s
    assert other.lab_seconds - other.stagger_s >= other.row_every_s


def test_settings_are_readable():
    assert readable(PfcSetting(mode="on", priorities=frozenset({5, 3}))) == (
        "mode: on, priorities: 3, 5"
    )
    queue = WredQueue(
        queue=2, low_limit=100, high_limit=1000, drop_probability_percent=10,
        weighting_exponent=9, ecn=True,
    )  # fmt: skip
    text = readable(EcnSetting(profile="t", queues=(queue,)))
    assert text.startswith("profile: t, queues:\n  queue: 2, low_limit: 100")
    assert readable(frozenset()) == "none"
