"""What the driver of the product sets on the emulated switch holds, and goes back without a trace.

The two are written apart (an import contract holds that): the driver from tc's forms, the face from
recordings.
"""

import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from driven import driving
from switch_bench import PORT, SimulatedBox

from labtests.__main__ import main
from labtests.capabilities import counters as c
from labtests.capabilities.records import LossSetting, QueueLimitSetting
from labtests.core.units import Bytes

Driver = driving("linux-switch")


@pytest.fixture
def switch(box: SimulatedBox) -> Iterator[Driver]:
    """The switch has to be found again as it was."""
    before = box.shell("tc -d qdisc show").out + box.shell(f"tc -d class show dev {PORT}").out
    yield Driver(box)
    assert (
        box.shell("tc -d qdisc show").out + box.shell(f"tc -d class show dev {PORT}").out == before
    )


def test_the_driver_reads_it(switch: Driver) -> None:
    assert switch.dscp_map(PORT) == tuple(dscp >> 3 for dscp in range(64))
    assert switch.queue_limits(PORT).limits == tuple((q, 1048576) for q in range(8))
    assert switch.scheduling(PORT).discipline == "wrr"
    assert switch.ecn(PORT).queues == ()
    assert switch.lacks() == {}, "the emulated kernel has RED"
    assert switch.obstacles() == ()
    link = switch.link(PORT)
    assert (link.up, link.speed_bits_per_s, link.frame_bytes) == (True, 200_000_000, 1522)
    assert {reading.value for reading in switch.queue_counters(PORT)} == {0}
    assert {reading.value for reading in switch.drop_counters(PORT)} == {0}
    assert switch.versions()["iproute2"] == "6.1.0"


def test_limits_there_and_back(switch: Driver, box: SimulatedBox) -> None:
    earlier = switch.queue_limits(PORT)
    wanted = QueueLimitSetting(limits=((3, Bytes(50_000)), (5, Bytes(70_000))))
    switch.set_queue_limits(PORT, wanted)
    assert dict(switch.queue_limits(PORT).limits)[3] == 50_000
    assert len(box.changed) == 2
    switch.set_queue_limits(PORT, earlier)


@pytest.mark.parametrize("shares", [(None,) * 8, (1, 1, 1, 2, 1, 3, 1, 1), (1,) * 6 + (None,) * 2])
def test_scheduling_there_and_back(switch: Driver, shares: tuple[int | None, ...]) -> None:
    earlier = switch.scheduling(PORT)
    switch.set_scheduling(PORT, switch.scheduling_for(shares))
    strict = [each.queue for each in switch.scheduling(PORT).queues if each.group == "sp"]
    assert strict == [queue for queue, share in enumerate(shares) if share is None]
    switch.set_scheduling(PORT, earlier)


def test_ecn_there_and_back(switch: Driver) -> None:
    earlier = switch.ecn(PORT)
    for queues in ({3}, {3, 5}, {0}):
        switch.set_ecn(PORT, switch.ecn_on(queues))
        assert {curve.queue for curve in switch.ecn(PORT).queues} == queues
    switch.set_ecn(PORT, earlier)


def test_a_whole_snapshot_by_ssh() -> None:
    """As `labtests snapshot --dry-run` does it."""
    done = CliRunner().invoke(main, ["snapshot", "--testbed", "linux-lab", "--dry-run"])
    assert done.exit_code == 0, done.output
    assert '"limits"' in done.output


def test_losses_there_and_back(switch: Driver, box: SimulatedBox) -> None:
    """A netem over the fifo of a queue, which keeps its handle and its limit."""
    earlier = switch.packet_loss(PORT)
    assert earlier == LossSetting()
    switch.set_packet_loss(PORT, LossSetting(losses=((3, 1000),)))
    assert switch.packet_loss(PORT).losses == ((3, 1000),)
    assert dict(switch.queue_limits(PORT).limits)[3] == 1048576
    switch.set_packet_loss(PORT, LossSetting(losses=((3, 1), (5, 10_000))))
    assert switch.packet_loss(PORT).losses == ((3, 1), (5, 10_000))
    switch.set_packet_loss(PORT, earlier)
    assert [re.sub(r".* qdisc ", "", line) for line in box.changed] == [
        "replace dev swp3 parent 1:13 handle 108: netem limit 10000 loss 0.1000%",
        "add dev swp3 parent 108:1 handle 103: bfifo limit 1048576",
        "change dev swp3 parent 1:13 handle 108: netem limit 10000 loss 0.0001%",
        "replace dev swp3 parent 1:15 handle 109: netem limit 10000 loss 1.0000%",
        "add dev swp3 parent 109:1 handle 105: bfifo limit 1048576",
        "delete dev swp3 parent 1:13 handle 108:",
        "add dev swp3 parent 1:13 handle 103: bfifo limit 1048576",
        "delete dev swp3 parent 1:15 handle 109:",
        "add dev swp3 parent 1:15 handle 105: bfifo limit 1048576",
    ]


def test_what_a_netem_loses_is_a_drop_of_its_queue(switch: Driver, box: SimulatedBox) -> None:
    """And what is not lost is forwarded."""
    switch.set_packet_loss(PORT, LossSetting(losses=((3, 100_000),)))
    box.send_for(0.5, box.send("h1", tos=96, mbit_per_s=50))
    found = {(r.index, r.counter): r.value for r in switch.queue_counters(PORT)}
    lost, left = found[3, c.QUEUE_DROPPED_PACKETS], found[3, c.QUEUE_FORWARDED_PACKETS]
    assert lost
    assert 0.06 < lost / (lost + left) < 0.14
    assert found[5, c.QUEUE_DROPPED_PACKETS] == 0
    switch.set_packet_loss(PORT, LossSetting())
