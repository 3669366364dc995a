"""Nothing is marked that should not be: an exact 0 of a counter that a control made count."""

from dataclasses import replace

import pytest
from handmade import reading
from handmade_loads import load

from labtests.capabilities import counters as c
from labtests.verdicts import Outcome, unmarked

OF_PORT = ("sw", "p3", "port", None, c.ECN_MARKED_PACKETS)
OF_QUEUES = [("sw", "p3", "queue", queue, c.QUEUE_MARKED_PACKETS) for queue in (3, 5)]


def marked(grown, dropped=(0, 0)):
    """What each counter of marks grew by; None: it has no number at the end."""
    seen = load(dropped=dropped)
    for key, by in grown.items():
        last = reading(key, None, 16.0, "gone") if by is None else reading(key, 7 + by, 16.0)
        seen = replace(
            seen,
            quiet_before=(*seen.quiet_before, reading(key, 7, 9.0)),
            before=(*seen.before, reading(key, 7, 9.5)),
            after=(*seen.after, last),
        )
    return seen


CONTROL = replace(marked({OF_PORT: 900}), kind="control")
BY_QUEUE = replace(marked(dict.fromkeys(OF_QUEUES, 900)), kind="control")


def judged(seen, *controls):
    return unmarked(seen, controls=controls or (CONTROL, BY_QUEUE))


@pytest.mark.parametrize("keys", [[OF_PORT], OF_QUEUES], ids=["of the port", "of queues"])
def test_no_mark_by_counters_that_count_passes_and_one_mark_fails(keys):
    none = dict.fromkeys(keys, 0)
    verdict = judged(marked(none))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "0 of 160000 packets marked" in verdict.because
    assert judged(marked(none, dropped=(5, 0))).outcome is Outcome.PASS  # not asked here
    for key in keys:
        verdict = judged(marked({**none, key: 1}))
        assert verdict.outcome is Outcome.FAIL
        assert "marked_packets grew by 1" in verdict.because


def test_marks_of_a_port_that_its_queues_have_not_are_a_contradiction():
    none = dict.fromkeys(OF_QUEUES, 0)
    assert judged(marked({**none, OF_PORT: 0})).outcome is Outcome.PASS
    assert judged(marked({**none, OF_PORT: None})).outcome is Outcome.PASS  # the queues tell
    verdict = judged(marked({**none, OF_PORT: 1000}))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "ecn_marked_packets grew by 1000, and its queues under load marked nothing" in (
        verdict.because
    )


@pytest.mark.parametrize(
    ("seen", "controls", "says"),
    [
        (marked({OF_PORT: None}), (), "ecn_marked_packets"),
        (load(), (), "ecn_marked_packets"),
        (marked({OF_PORT: 0}), (replace(marked({OF_PORT: 0}), kind="control"),), "is unproven"),
        (marked({OF_PORT: 0}), (BY_QUEUE,), "is unproven"),
        (replace(marked({OF_PORT: 0}), flows=()), (), "no traffic ran"),
    ],
    ids=["no number", "never read", "no mark in the control", "another counter", "no traffic"],
)
def test_a_counter_that_nobody_saw_count_proves_nothing(seen, controls, says):
    verdict = judged(seen, *controls)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


@pytest.mark.parametrize(("came", "outcome"), [(10, "PASS"), (11, "INCONCLUSIVE")])
def test_what_comes_marked_to_the_receiver_and_was_marked_by_no_counter_is_said(came, outcome):
    verdict = judged(marked({OF_PORT: 0, ("r", "", "host", None, c.IP_IN_CE_PACKETS): came}))
    assert verdict.outcome is Outcome[outcome], verdict.because
    if came > 10:
        assert verdict.because == (
            "r ip_in_ce_packets grew by 11, and sw p3 counted 0 marks: it does not count them all, "
            "something takes them off, or another port or a host marks"
        )
