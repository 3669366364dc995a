"""A scheduler that cannot be what a suite needs is no lab for it; one that disobeys is an error."""

from pathlib import Path

import pytest

from labtests.core.errors import CommandRejected
from labtests.experiment import SIMULATED, Incast, NotHere
from labtests.inventory import load
from labtests.transport.asking import Running, answered

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
