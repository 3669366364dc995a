"""Where what a queue dropped had come in: one port, or those that did not pause meanwhile."""

from dataclasses import replace

import pytest
from handmade import good_evidence, reading
from handmade_rdma import held_by_marks

from labtests.capabilities import counters as c
from labtests.measure.evidence import LIVE
from labtests.verdicts.origins import came_in_at

DROPS = ("sw", "p3", "queue", 3, c.QUEUE_DROPPED_PACKETS)
PAUSES = {host: ("sw", port, "priority", 3, c.PFC_TX_FRAMES) for host, port in
          (("a", "p1"), ("b", "p2"))}  # fmt: skip


def sampled(drops, first, second):
    """What three counters showed, a second apart; two senders have the same queue."""
    series = ((DROPS, drops), (PAUSES["a"], first), (PAUSES["b"], second))
    samples = tuple(
        replace(reading(key, value, 10.0 + n), asked_s=10.0 + n)
        for key, shown in series
        for n, value in enumerate(shown)
    )
    return replace(held_by_marks(), samples=samples, refresh=LIVE)


def test_a_queue_that_one_port_feeds_is_its():
    seen = good_evidence()
    first = seen.senders[0]
    (said,) = came_in_at(seen, [first.queue])
    port = f"{first.switch} {first.switch_port}"
    begin = f"what queue {first.queue} lost came in at {port} (from {first.device}) alone: its PFC"
    assert said.startswith(begin)
    assert not list(came_in_at(replace(seen, transit=(("sw2", "p9"),)), [first.queue]))


@pytest.mark.parametrize(
    ("pauses", "suspected"),
    [
        ((5, 95, 185, 275, 365, 455), False),
        ((5, 95, 185, 255, 345, 435), True),
        ((5, 95, 185, 275, 345, 435), True),
        ((5, 5, 5, 5, 5, 5), True),
        ((), True),
    ],
    ids=["as often", "less", "less, and shown late", "never", "not sampled"],
)
def test_pfc_of_a_port_that_paused_all_the_time_is_not_suspected(pauses, suspected):
    seen = sampled((0, 0, 0, 70, 70, 70), pauses, ())
    alone = replace(seen, senders=seen.senders[:1], refresh=replace(LIVE, seconds=0.3))
    (said,) = came_in_at(alone, [3])
    assert said.startswith("what queue 3 lost came in at sw p1 (from a) alone")
    assert ("its PFC may have been off" in said) is suspected
    assert ("which paused as often as at other times" in said) is not suspected


def test_of_several_the_one_that_did_not_pause_meanwhile_is_named():
    (said,) = came_in_at(sampled((0, 0, 70, 70), (5, 9, 9, 14), (5, 9, 14, 19)), [3])
    assert said.startswith("what queue 3 lost came in at sw p1 (from a) also, which sent no pause")


@pytest.mark.parametrize(
    ("drops", "first", "second"),
    [
        ((0, 0, 0, 0), (5, 9, 9, 14), (5, 9, 14, 19)),
        ((0, 0, 70, 70), (5, 9, 10, 14), (5, 9, 14, 19)),
        ((0, 0, 70, 70), (5, 9, 9, 14), (5, 9, 9, 19)),
        ((0, 0, 70, 70), (5, 5, 5, 5), (5, 9, 14, 19)),
        ((0, 0, 70, 70), (5, 9, None, 14), (5, 9, 14, 19)),
        ((), (), ()),
    ],
    ids=["no drop", "it paused", "nobody paused", "never paused", "unread", "no samples"],
)
def test_else_nobody_is(drops, first, second):
    assert not list(came_in_at(sampled(drops, first, second), [3]))
    late = replace(LIVE, seconds=5.0)
    named = sampled((0, 0, 70, 70), (5, 9, 9, 14), (5, 9, 14, 19))
    assert not list(came_in_at(replace(named, refresh=late), [3]))
