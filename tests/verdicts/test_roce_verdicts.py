"""RoCE as a switch counts it apart: it agrees with queues and priorities, or the verdict says which
of them does not; and nobody is paused, or who is."""

from dataclasses import replace

import pytest
from handmade_rdma import PACKETS, dropping, held_by_marks, held_by_pfc, with_value
from test_pauses_and_cnps import grown

from labtests.capabilities import counters as c
from labtests.verdicts import counted_apart, paused_nobody
from labtests.verdicts.outcome import Outcome

OUT, IN_A, IN_B = ("sw", "p3"), ("sw", "p1"), ("sw", "p2")
SENT = (*OUT, "port", -1, c.ROCE_FORWARDED_PACKETS)
LOST = (*OUT, "port", -1, c.ROCE_DROPPED_PACKETS)
REFUSED = (*IN_B, "port", -1, c.ROCE_DROPPED_IN_PACKETS)
PAUSED = (*IN_A, "port", -1, c.ROCE_PFC_TX_FRAMES)


def counted(seen, frames=4000):
    for port, forwarded, paused in (
        (OUT, 2 * PACKETS, 0),
        (IN_A, 900, frames),
        (IN_B, 900, frames),
    ):
        seen = grown(seen, port, c.ROCE_FORWARDED_PACKETS, forwarded)
        seen = grown(seen, port, c.QUEUE_FORWARDED_PACKETS, forwarded, "queue", 3)
        seen = grown(seen, port, c.ROCE_DROPPED_PACKETS, 0)
        seen = grown(seen, port, c.ROCE_DROPPED_IN_PACKETS, 0)
        seen = grown(seen, port, c.ROCE_PFC_TX_FRAMES, paused)
        seen = grown(seen, port, c.PFC_TX_FRAMES, paused, "priority", 3)
    return seen


def with_number(seen, key, number):
    """It grew by this instead; None: it has no number."""
    if number is None:
        return with_value(seen, key, None)
    device, port, scope, index, counter = key
    return grown(seen, (device, port), counter, number, scope, None if index < 0 else index)


def test_what_agrees_passes():
    verdict = counted_apart(counted(held_by_pfc()), 3)
    assert verdict.outcome is Outcome.PASS
    assert f"{2 * PACKETS} packets of RoCE forwarded, as queue 3 says, none lost" in verdict.because


@pytest.mark.parametrize(
    ("key", "number", "outcome", "says"),
    [
        (SENT, 2 * PACKETS - 1, Outcome.INCONCLUSIVE, "and sw p3 queue 3 forwarded_packets by"),
        (SENT, None, Outcome.INCONCLUSIVE, "sw p3 roce_forwarded_packets"),
        (LOST, 1, Outcome.FAIL, "sw p3 roce_dropped_packets grew by 1"),
        ((*IN_A, "port", -1, c.ROCE_DROPPED_PACKETS), 1, Outcome.FAIL, "sw p1 roce_dropped"),
        ((*IN_A, "port", -1, c.ROCE_FORWARDED_PACKETS), 899, Outcome.INCONCLUSIVE, "by 900"),
        ((*OUT, "port", -1, c.ROCE_PFC_TX_FRAMES), 1, Outcome.INCONCLUSIVE, "p3 roce_pfc_tx"),
        (LOST, None, Outcome.INCONCLUSIVE, "sw p3 roce_dropped_packets"),
        (REFUSED, 7, Outcome.FAIL, "sw p2 roce_dropped_in_packets grew by 7"),
        (PAUSED, 3999, Outcome.INCONCLUSIVE, "and sw p1 priority 3 pfc_tx_frames by 4000"),
        (PAUSED, None, Outcome.INCONCLUSIVE, "sw p1 roce_pfc_tx_frames"),
    ],
)
def test_what_does_not_agree_is_named(key, number, outcome, says):
    verdict = counted_apart(with_number(counted(held_by_pfc()), key, number), 3)
    assert (verdict.outcome, says in verdict.because) == (outcome, True), verdict.because


def test_nothing_taken_for_roce_proves_nothing():
    seen = grown(counted(held_by_pfc()), OUT, c.ROCE_FORWARDED_PACKETS, 0)
    seen = grown(seen, OUT, c.QUEUE_FORWARDED_PACKETS, 0, "queue", 3)
    verdict = counted_apart(seen, 3)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no packet was taken for RoCE" in verdict.because


def test_counters_that_were_never_read_are_no_zeros():
    verdict = counted_apart(held_by_pfc(), 3)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the counter was never read" in verdict.because


def test_nobody_is_paused_where_no_frame_was_sent_under_congestion():
    seen = replace(dropping(held_by_marks()), kind="control")
    verdict = paused_nobody(seen)
    assert verdict.outcome is Outcome.PASS, verdict.because


def test_one_pause_frame_is_one_too_many():
    seen = dropping(held_by_marks())
    for key in (
        (*IN_A, "priority", 3, c.PFC_TX_FRAMES),
        ("a", "eth0", "priority", 3, c.PFC_RX_FRAMES),
    ):
        seen = with_number(seen, key, 1)
    verdict = paused_nobody(seen)
    assert verdict.outcome is Outcome.FAIL
    assert "sw p1 priority 3 pfc_tx_frames grew by 1" in verdict.because


def test_a_pause_counter_without_a_number_is_no_zero():
    verdict = paused_nobody(
        with_number(dropping(held_by_marks()), (*IN_A, "priority", 3, c.PFC_TX_FRAMES), None)
    )
    assert verdict.outcome is Outcome.INCONCLUSIVE


def test_without_congestion_nobody_had_to_be_paused():
    seen = held_by_marks()
    quiet = grown(seen, OUT, c.ECN_MARKED_PACKETS, 0)
    assert paused_nobody(quiet).outcome is Outcome.INCONCLUSIVE
