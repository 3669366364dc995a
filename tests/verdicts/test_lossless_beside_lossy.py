"""A lossless queue beside one that drops: each flow's losses are asked of its own queue."""

from dataclasses import replace

from handmade import A, reading
from handmade_loads import load

from labtests.capabilities import counters as c
from labtests.verdicts import Outcome, lossless

CONTROL = replace(load(dropped=(900, 900)), kind="control")


def beside(**how):
    """Queue 5 drops, queue 3 is paused and drops nothing."""
    seen = load(dropped=(0, 5000), **how)
    key = (A.switch, A.switch_port, "priority", A.priority, c.PFC_TX_FRAMES)
    return replace(
        seen,
        before=(*seen.before, reading(key, 7, 9.5)),
        after=(*seen.after, reading(key, 9007, 16.0)),
    )


def test_what_the_other_queue_dropped_is_not_missed_here():
    verdict = lossless(beside(), {3}, controls=(CONTROL,))
    assert verdict.because == "r eth0 pause_tx_frames: the counter was never read"  # alone
    assert lossless(beside(), {3, 5}, controls=(CONTROL,)).outcome is Outcome.FAIL


def test_what_this_one_s_flows_miss_is_missed():
    seen = beside()
    first, second = seen.flows
    lost = replace(first, received_datagrams=first.received_datagrams - 40, lost_datagrams=40)
    verdict = lossless(replace(seen, flows=(lost, second)), {3}, controls=(CONTROL,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "40 datagrams were lost on the way" in verdict.because


def test_what_a_host_lost_of_the_other_queue_excuses_nothing_here():
    """Its socket was full of the lossy class; the network lost as many of this one, unseen."""
    seen = beside(in_socket=80)
    first, second = seen.flows
    held = replace(first, received_datagrams=seen.flows[0].sent_datagrams - 80, lost_datagrams=80)
    lossy = replace(second, lost_datagrams=second.lost_datagrams + 80)
    verdict = lossless(replace(seen, flows=(held, lossy)), {3}, controls=(CONTROL,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "datagrams were lost on the way" in verdict.because
