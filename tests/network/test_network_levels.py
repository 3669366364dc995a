"""Queues served by level and quantum, as htb's classes, and limits of single queues."""

import pytest
from network_star import Lab, Star

from labtests.network import Schedule


def forwarded(lab: Star) -> list[int]:
    return [each.forwarded_bytes for each in lab.switch.queue_counters("p0")]


def overloaded(star: Lab, levels: dict[int, int], weights: dict[int, int]) -> list[int]:
    """Bytes of queues 0..7 of a 10G port that is offered 9 Gbit/s for each of queues 1, 2 and 4."""
    lab = star(hosts=4).trust_dscp()
    schedule = Schedule(
        queues=tuple(("1", weights.get(queue, 1)) for queue in range(8)),
        levels=tuple(levels.get(queue, 7) for queue in range(8)),
    )
    lab.switch.set_schedule("p0", schedule)
    for host, queue in ((1, 1), (2, 2), (3, 4)):
        lab.udp(host, queue, rate=9e9, datagram_bytes=1472)
    lab.run_ms(1)
    before = forwarded(lab)
    lab.run_ms(5)
    return [now - then for now, then in zip(forwarded(lab), before, strict=True)]


def test_the_lowest_level_goes_first_and_equals_share_what_is_left(star: Lab) -> None:
    sent = overloaded(star, {1: 5, 2: 0, 4: 5}, {1: 4500, 2: 1500, 4: 1500})
    line = sum(sent)
    assert sent[2] / line == pytest.approx(0.94, abs=0.02), "it is offered 94 % of the line"
    assert sent[1] / sent[4] == pytest.approx(3, rel=0.1)


def test_a_quantum_counts_in_bytes(star: Lab) -> None:
    sent = overloaded(star, {1: 0, 2: 0, 4: 0}, {1: 1000, 2: 2500, 4: 1000})
    assert sent[2] / sent[1] == pytest.approx(2.5, rel=0.05)
    assert sent[4] / sent[1] == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize(
    ("cells", "packets", "held"), [(100, None, 12), (None, 5, 5), (80, 11, 10)]
)
def test_a_queue_holds_no_more_than_its_own_limit(
    star: Lab, cells: int | None, packets: int | None, held: int
) -> None:
    lab = star(hosts=3).trust_dscp()
    lab.switch.set_queue_limit("p0", 1, cells=cells, packets=packets)
    for host in (1, 2):
        lab.udp(host, 1, rate=9e9, datagram_bytes=1472)
    lab.run_ms(2)
    queue = lab.switch.queue_counters("p0")[1]
    assert queue.length_packets in (held - 1, held)
    assert queue.peak_cells == 8 * held, "a full frame takes 8 cells of 208 bytes"
    assert queue.tail_dropped_packets == queue.dropped_packets > 0
    lab.switch.set_queue_limit("p0", 1)
    lab.run_ms(1)
    assert lab.switch.queue_counters("p0")[1].length_packets > 2 * held


def test_impossible_limits_and_levels_are_refused(star: Lab) -> None:
    with pytest.raises(ValueError, match="-1 cells"):
        star(hosts=2).switch.set_queue_limit("p0", 1, cells=-1)
    with pytest.raises(ValueError, match="not 8 levels"):
        Schedule(levels=(0, 1))
