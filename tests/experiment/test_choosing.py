"""Classes are chosen by the maps: each in a queue of its own, beside what has no DSCP."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtests.experiment import NotHere
from labtests.experiment.choosing import DEFAULT_MAP, Maps, _odd, chosen
from labtests.inventory import Endpoint

A, B, C = (Endpoint(device=name, interface="e") for name in "ABC")

USUAL = Maps(
    where="sw p1", queues=DEFAULT_MAP, untagged=0, priorities=DEFAULT_MAP, pauses=DEFAULT_MAP
)


def everywhere(*classes: int) -> Maps:
    """64 classes that hosts and switch agree on."""
    return replace(USUAL, queues=classes, priorities=classes, pauses=classes, untagged=classes[0])


def test_the_usual_map_leaves_the_classes_that_were_asked_for():
    assert chosen(USUAL, (24, 40)) == (24, 40)
    assert chosen(USUAL, (24, 16), paused=True) == (24, 16)
    assert chosen(replace(USUAL, priorities=None, pauses=None), (24, 40)) == (24, 40)


def test_three_queues_leave_the_two_that_untagged_packets_do_not_use():
    three = everywhere(*((dscp >> 3) % 3 for dscp in range(64)))  # 24 is with 0, 40 is not
    first, second = chosen(three, (24, 40))
    assert second == 40
    assert {three.queues[first], three.queues[second]} == {1, 2}
    with pytest.raises(
        NotHere, match=r"needs 3 classes.*lead to queues 0, 1, 2, of which .* use 0"
    ):
        chosen(three, (24, 40, 16))


def test_a_switch_without_classes_is_no_lab_for_it():
    with pytest.raises(NotHere, match=r"lead to queues 1, of which ARP .* use 1"):
        chosen(replace(USUAL, queues=(1,) * 64, untagged=1), (24,))


def test_the_queue_of_untagged_packets_counts_also_where_dscp_0_has_another():
    assert chosen(replace(USUAL, untagged=3), (24, 40)) == (16, 40)


def test_a_queue_that_is_served_before_others_is_not_used():
    assert chosen(replace(USUAL, strict=frozenset({3, 7})), (24, 40)) == (16, 40)
    with pytest.raises(NotHere, match=r"of which ARP .* use 0; 1, 2, 3, 4, 5, 6 served before"):
        chosen(replace(USUAL, strict=frozenset(range(1, 7))), (24, 40))


def test_the_queue_of_the_receivers_cnps_is_not_used():
    """A switch that puts DSCP 24 and the CNPs' 48 into one queue."""
    together = tuple(6 if dscp >> 3 in (3, 6) else dscp >> 3 for dscp in range(64))
    maps = replace(USUAL, queues=together)
    assert chosen(maps, (24, 16)) == (24, 16)
    assert chosen(replace(maps, cnp_dscp=48), (24, 16)) == (40, 16)
    with pytest.raises(NotHere, match=r"CNPs \(DSCP 48\) use 6"):
        chosen(replace(maps, cnp_dscp=48), (8,) * 7)


def test_a_dscp_about_which_hosts_differ_is_not_used():
    differ = tuple(None if dscp in (24, 40) else dscp >> 3 for dscp in range(64))
    first, second = chosen(replace(USUAL, priorities=differ), (24, 40))
    assert {first, second}.isdisjoint({24, 40})
    assert len({USUAL.queues[first], USUAL.queues[second], 0}) == 3


def test_pauses_need_one_priority_at_hosts_and_switch_and_other_suites_do_not():
    shifted = replace(USUAL, pauses=tuple((dscp >> 3) ^ 1 for dscp in range(64)))
    assert chosen(shifted, (24, 40)) == (24, 40)
    with pytest.raises(NotHere):
        chosen(shifted, (24, 40), paused=True)


@given(
    queues=st.lists(st.integers(0, 7), min_size=64, max_size=64),
    priorities=st.lists(st.integers(0, 7) | st.none(), min_size=64, max_size=64),
    paused=st.booleans(),
)
def test_whatever_the_maps_no_two_classes_share_a_queue_or_a_priority(queues, priorities, paused):
    maps = replace(USUAL, queues=tuple(queues), priorities=tuple(priorities))
    try:
        found = chosen(maps, (24, 40), paused=paused)
    except NotHere:
        return
    of_queues = [queues[0], *(queues[dscp] for dscp in found)]
    of_hosts = [priorities[0], *(priorities[dscp] for dscp in found)]
    assert len(set(of_queues)) == len(set(of_hosts)) == 3
    assert None not in of_hosts[1:]
    assert 0 not in [of_queues[1], of_queues[2], of_hosts[1], of_hosts[2]]
    assert not paused or all(DEFAULT_MAP[dscp] == priorities[dscp] for dscp in found)


def test_a_host_whose_map_leaves_no_class_is_named():
    differ = replace(USUAL, priorities=(None,) * 64, odd=("ServerA:eth1",))
    with pytest.raises(NotHere, match=r"the maps leave 0: .*another map than most hosts: ServerA"):
        chosen(differ, (24, 40))
    assert _odd({A: DEFAULT_MAP, B: DEFAULT_MAP[::-1], C: DEFAULT_MAP}) == ("B:e",)
    assert _odd({A: DEFAULT_MAP, B: DEFAULT_MAP}) == _odd({}) == ()
