"""The verdict on DCBX: told, heard and in force, at both ends of each sender's cable."""

from dataclasses import replace

import pytest
from handmade import good_evidence

from labtests.capabilities.facts import DcbxState, DcbxTold
from labtests.verdicts import Outcome, agreed_by_dcbx

WANTED = frozenset({3, 5})
SEEN = good_evidence()


def told(*priorities):
    return DcbxTold(version="standard", pfc=frozenset(priorities))


def pair(place, host=None, switch=None):
    """Both ends of a cable as they should be, but for these."""
    nic = DcbxState(
        device=place.device,
        port=place.port,
        control="firmware",
        willing=True,
        told=None,
        heard=None,
        in_force=WANTED,
    )
    port = DcbxState(
        device=place.switch,
        port=place.switch_port,
        control="switch",
        willing=False,
        told=told(3, 5),
        heard=told(3, 5),
        in_force=WANTED,
    )
    return replace(nic, **(host or {})), replace(port, **(switch or {}))


def judged(host=None, switch=None, wanted=WANTED):
    """The first sender's cable is so, the others as they should be."""
    first, *others = SEEN.senders
    pairs = (pair(first, host, switch), *map(pair, others))
    return agreed_by_dcbx(replace(SEEN, dcbx=pairs), wanted)


def test_what_is_told_and_in_force_at_both_ends_is_a_pass():
    verdict = judged()
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert [fact.measured for fact in verdict.facts] == [0] * len(SEEN.senders)


@pytest.mark.parametrize(
    ("host", "switch", "says"),
    [
        ({"in_force": frozenset({3})}, {}, "tells PFC on 3,5, and PFC on 3 is in force at"),
        ({"in_force": frozenset()}, {}, "and PFC on none is in force at"),
        (
            {"in_force": frozenset({1})},
            {"told": told(1), "heard": told(1), "in_force": frozenset({1})},
            "tells PFC on 1, which",
        ),
        ({}, {"in_force": frozenset()}, "and PFC on none is in force there"),
        ({"control": "os", "willing": False, "in_force": frozenset({4})}, {"heard": None},
         "PFC on 4 is in force at"),
    ],
)  # fmt: skip
def test_a_mismatch_is_a_failure_that_names_both_ends(host, switch, says):
    verdict = judged(host, switch)
    place = SEEN.senders[0]
    assert verdict.outcome is Outcome.FAIL
    assert says in verdict.because
    assert f"{place.switch} {place.switch_port}" in verdict.because


@pytest.mark.parametrize(
    ("host", "switch", "says"),
    [
        ({}, {"told": None, "unknown": "it is in no display"}, "it is in no display"),
        ({"in_force": None}, {}, "not everything was shown"),
        ({}, {"in_force": None}, "not everything was shown"),
        ({}, {"heard": None}, "hears nothing of"),
        ({}, {"heard": told(3)}, "hears that"),
        ({"willing": None, "unknown": "no mlxconfig"}, {}, "no mlxconfig"),
        ({"control": "os", "willing": False}, {}, "os controls it"),
    ],
)
def test_what_was_not_seen_is_never_taken_for_good(host, switch, says):
    verdict = judged(host, switch)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def test_a_sender_that_was_not_read_leaves_it_open():
    verdict = agreed_by_dcbx(replace(SEEN, dcbx=(pair(SEEN.senders[0]),)), WANTED)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"DCBX of {SEEN.senders[1].device}" in verdict.because
    assert agreed_by_dcbx(SEEN, WANTED).outcome is Outcome.INCONCLUSIVE


def test_nothing_told_proves_nothing():
    none = {"told": told(), "heard": told(), "in_force": frozenset()}
    verdict = judged({"in_force": frozenset()}, none, wanted=frozenset())
    assert verdict.outcome is not Outcome.PASS
