"""A scheduler that cannot be what a suite needs is no lab for it; one that disobeys is an error."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from labtests.capabilities.records import BufferThresholds, QueueSchedule, SchedulingSetting
from labtests.core.errors import CommandRejected
from labtests.drivers.comware.scheduling import ComwareScheduling
from labtests.experiment import SIMULATED, Incast, NotHere
from labtests.inventory import load
from labtests.transport.asking import Running, answered, known

TESTBED = load(Path(__file__).parents[2] / "testbeds" / "linux-lab.yaml")


class Switch:
    """Of a lab: the one port that matters. `way` is None where its scheduler has none."""

    def __init__(self, way, obeys=True):
        self.testbed, self.way, self.obeys, self.sent = TESTBED, way, obeys, []

    def part(self, device, ability):
        return self

    def scheduling_for(self, shares):
        return shares

    def step(self, want):
        yield from ()
        if self.way is None:
            raise CommandRejected(
                "sw", "scheduling of swp3", "prio serves band 0 first", "give ets"
            )
        return self.way

    def ask(self, device, asking):
        return answered(Running(asking), list)

    def change(self, at, setting, wanted):
        self.sent.append(self.way)
        if not self.obeys:
            raise CommandRejected("sw", self.way, "accepted, but reads back otherwise", "look")


def test_a_scheduler_with_one_way_only_skips_the_test_and_nothing_is_sent():
    switch = Switch(None)
    with pytest.raises(NotHere, match="sw: prio serves band 0 first; give ets"):
        Incast(lab=switch, pace=SIMULATED).serve_equally()
    assert switch.sent == []


def test_a_scheduler_that_does_not_obey_is_an_error_and_no_skip():
    switch = Switch("tc qdisc change", obeys=False)
    with pytest.raises(CommandRejected, match="reads back otherwise"):
        Incast(lab=switch, pace=SIMULATED).serve_equally()
    assert switch.sent == ["tc qdisc change"]


class Scheduled(Switch):
    """The same with this scheduler now."""

    def __init__(self, now):
        super().__init__("qos wrr")
        self.now = now

    def scheduling_for(self, shares):
        return ComwareScheduling("sw").scheduling_for(shares)

    def setting(self, at, kind):
        return SimpleNamespace(read=lambda port: known(self.now))

    def change(self, at, setting, wanted):
        self.sent.append(wanted)


def weighted(unit, *groups):
    queues = tuple(
        QueueSchedule(queue=n, group=group, weight=None if group == "sp" else 10 + n)
        for n, group in enumerate(groups)
    )
    return SchedulingSetting(discipline="wrr", unit=unit, queues=queues)


def served_first(now):
    switch = Scheduled(now)
    Incast(lab=switch, pace=SIMULATED).serve_first(5)
    (wanted,) = switch.sent
    assert [each.queue for each in wanted.queues if each.group == "sp"] == [5]
    return [each.weight for each in wanted.queues]


def test_a_queue_that_is_served_first_leaves_the_others_their_shares():
    assert served_first(weighted("byte-count", *"11111111")) == [10, 11, 12, 13, 14, None, 16, 17]


@pytest.mark.parametrize(
    "now",
    [weighted("weight", *"11111111"), weighted("byte-count", *"111", "sp", *"1111")],
    ids=["by packets", "another is strict"],
)
def test_where_they_have_none_of_that_kind_all_get_the_same(now):
    assert served_first(now) == [12, 12, 12, 12, 12, None, 12, 12]


class ToldThresholds(Switch):
    """Each port has been told these."""

    planned = None

    def __init__(self, *told):
        super().__init__(None)
        self.told = told

    def setting(self, at, kind):
        return SimpleNamespace(read=lambda port: known(self.told))


def test_headroom_that_is_none_of_the_thresholds_that_a_port_was_told_skips_the_test():
    """A Nexus shows thresholds of its own, and its headroom is another setting."""
    own = BufferThresholds(priority=3, unit="bytes", static=77376, headroom=18432)
    Incast(lab=ToldThresholds(own), pace=SIMULATED).expect_own_headroom(3)
    for told in ((), (replace(own, headroom=None),), (replace(own, priority=4),)):
        with pytest.raises(NotHere, match="no headroom is among the thresholds"):
            Incast(lab=ToldThresholds(*told), pace=SIMULATED).expect_own_headroom(3)
