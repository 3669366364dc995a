"""Counters of the emulated switch, with packets in the network behind it."""

import re

import pytest

from labtests.network import RcRequest
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.timeline import NS_PER_S

BOTTLENECK = "Twenty-FiveGigE1/0/13"
STATISTICS = f"display qos queue-statistics interface {BOTTLENECK} outbound"
TOS_OF_QUEUE_3 = 3 * 8 << 2
MS = NS_PER_S // 1000


@pytest.fixture
def trusting(cli):
    """Every port trusts DSCP; both senders use queue 3."""
    for port in (13, 14, 15):
        cli.in_port(port, "qos trust dscp")
    return cli


def send(simulation, *senders: str) -> list:
    return [
        simulation.network.start_rc(
            RcRequest(
                device=name,
                interface="eth0",
                destination="192.168.10.12",
                tos=TOS_OF_QUEUE_3,
                verb="send",
            )
        )
        for name in senders
    ]


def queue(text: str, number: int) -> dict[str, int]:
    block = text.split(f" Queue {number}\n")[1].split(" Queue ")[0]
    names = ["packets", "bytes", "pps", "bps", "dropped", "dropped_bytes", "length"]
    return dict(zip(names, map(int, re.findall(r"\d+", block)), strict=True))


def test_forwarded_bytes_include_preamble_and_gap(trusting, simulation, switch):
    send(simulation, "A")
    simulation.advance(20 * MS)
    shown = queue(trusting(STATISTICS), 3)
    counted = switch.network.queue_counters(BOTTLENECK)[3]
    assert shown["packets"] == counted.forwarded_packets > 1000
    assert shown["bytes"] == counted.forwarded_bytes + 20 * counted.forwarded_packets


def test_dropped_bytes_do_not(trusting, simulation, switch):
    """Both senders pause on nothing: the bottleneck overflows."""
    send(simulation, "A", "B")
    simulation.advance(60 * MS)
    shown = queue(trusting(STATISTICS), 3)
    counted = switch.network.queue_counters(BOTTLENECK)[3]
    assert shown["dropped"] == counted.dropped_packets > 0
    assert shown["dropped_bytes"] == counted.dropped_bytes
    assert shown["length"] == counted.length_cells
    drops = trusting(f"display packet-drop interface {BOTTLENECK}")
    assert drops.splitlines()[0] == f"{BOTTLENECK}:"
    assert f"Output dropped: {counted.dropped_packets}" in drops


def test_the_total_is_the_sum_of_the_queues(trusting, simulation):
    send(simulation, "A", "B")
    simulation.advance(20 * MS)
    text = trusting(STATISTICS)
    total = [int(number) for number in re.findall(r"\d+", text.split(" Queue 0\n")[0])[3:]]
    queues = [queue(text, number) for number in range(8)]
    assert total == [
        sum(q[name] for q in queues) for name in ("packets", "bytes", "dropped", "dropped_bytes")
    ]


def test_rates_are_those_of_the_last_seconds(trusting, simulation):
    flow = send(simulation, "A")[0]
    simulation.advance(200 * MS)
    busy = queue(trusting(STATISTICS), 3)
    assert busy["bps"] == pytest.approx(10e9, rel=0.05)
    assert busy["bps"] / busy["pps"] == pytest.approx(8 * busy["bytes"] / busy["packets"], rel=0.01)
    flow.stop()
    simulation.advance(8 * NS_PER_S)
    assert (queue(trusting(STATISTICS), 3)["pps"], queue(trusting(STATISTICS), 3)["bps"]) == (0, 0)


def test_pause_frames_appear_on_the_senders_ports_in_both_column_forms(
    trusting, simulation, switch
):
    for port in (13, 14, 15):
        trusting.in_port(
            port, "priority-flow-control no-drop dot1p 3", "priority-flow-control enable"
        )
    for name in "AB":
        nic = simulation.network.nic(name, "eth0")
        nic.set_trust("dscp")
        nic.set_pfc(frozenset({3}))
    send(simulation, "A", "B")
    simulation.advance(50 * MS)
    sent = switch.network.pfc_counters("Twenty-FiveGigE1/0/14")[3].tx_frames
    assert sent > 0
    old = trusting("display priority-flow-control interface WGE1/0/14").splitlines()[-1]
    assert old.split() == ["WGE1/0/14", "On", "On", "3", "3", "0", str(sent)]
    switch.forms["pfc"] = "pfc-new"
    new = trusting("display priority-flow-control interface WGE1/0/14").splitlines()[-1]
    assert new.split()[:7] == ["WGE1/0/14", "Enabled", "Enabled", "3", "3", "0", str(sent)]
    assert queue(trusting(STATISTICS), 3)["dropped"] == 0
    receiver = trusting("display priority-flow-control interface WGE1/0/13").splitlines()[-1]
    assert receiver.split() == ["WGE1/0/13", "Enabled", "Enabled", "3"]


def test_marks_are_counted_once_ecn_is_applied(trusting, simulation, switch):
    trusting("system-view", "qos wred queue table t", "queue 3 ecn", "return")
    trusting.in_port(13, "qos wred apply t")
    send(simulation, "A", "B")
    simulation.advance(50 * MS)
    marked = switch.network.drop_counters(BOTTLENECK).ecn_marked
    assert marked > 0
    assert f"Packets of ECN marked: {marked}\n" in trusting("display packet-drop summary")


def test_resetting_counters_starts_from_zero_and_leaves_the_network_alone(
    trusting, simulation, switch
):
    send(simulation, "A")
    simulation.advance(20 * MS)
    before = switch.network.queue_counters(BOTTLENECK)[3].forwarded_packets
    trusting.accepts(f"reset counters interface {BOTTLENECK}")
    assert queue(trusting(STATISTICS), 3)["packets"] == 0
    assert switch.network.queue_counters(BOTTLENECK)[3].forwarded_packets == before
    simulation.advance(5 * MS)
    assert 0 < queue(trusting(STATISTICS), 3)["packets"] < before
    assert " 0 packets/sec" not in trusting("display interface WGE1/0/13").split("output")[1]


def test_a_dead_drop_counter_stays_while_packets_are_lost(trusting, simulation, switch):
    simulation.inject(
        {"kind": "dead-counter", "device": "S6550", "port": BOTTLENECK, "counter": "queue-drops"}
    )
    assert queue(trusting(STATISTICS), 3)["dropped"] == 0
    send(simulation, "A", "B")
    simulation.advance(60 * MS)
    assert switch.network.queue_counters(BOTTLENECK)[3].dropped_packets > 0
    shown = queue(trusting(STATISTICS), 3)
    assert (shown["dropped"], shown["packets"] > 0) == (0, True)


def test_a_missing_queue_block_and_missing_pause_counts_disappear(trusting, simulation):
    for counter in ("queue-3", "pfc"):
        simulation.inject(
            {"kind": "missing-counter", "device": "S6550", "port": BOTTLENECK, "counter": counter}
        )
    assert " Queue 3\n" not in trusting(STATISTICS)
    assert " Queue 4\n" in trusting(STATISTICS)
    simulation.inject(
        {"kind": "missing-counter", "device": "S6550", "port": BOTTLENECK, "counter": "queue-drops"}
    )
    assert "Dropped" not in trusting(STATISTICS)


def test_random_loss_by_fault_is_counted_as_dropped(trusting, simulation):
    simulation.inject(
        {
            "kind": "drop-packets",
            "device": "S6550",
            "port": BOTTLENECK,
            "queue": 3,
            "per_million": 10_000,
        }
    )
    send(simulation, "A")
    simulation.advance(20 * MS)
    assert queue(trusting(STATISTICS), 3)["dropped"] > 0


def test_a_reset_by_fault_makes_counters_run_backwards(trusting, simulation):
    send(simulation, "A")
    simulation.advance(20 * MS)
    assert queue(trusting(STATISTICS), 3)["packets"] > 0
    simulation.inject({"kind": "reset-counters", "device": "S6550"})
    assert queue(trusting(STATISTICS), 3)["packets"] == 0


def test_a_shut_port_carries_nothing(trusting, simulation, switch):
    trusting.in_port(13, "shutdown")
    send(simulation, "A")
    simulation.advance(20 * MS)
    assert queue(trusting(STATISTICS), 3)["packets"] == 0


def test_the_clock_shows_simulated_time(cli, simulation):
    simulation.advance(61 * NS_PER_S)
    assert cli("display clock") == "08:01:01 UTC Wed 05/29/2024\n"
    assert "0 hours, 1 minutes" in cli("display version")


def test_the_same_seed_gives_the_same_figures(testbed):
    def figures() -> str:
        simulation = SimulatedLab(testbed, seed=7)
        switch = simulation.devices["S6550"]
        session = switch.session()
        send(simulation, "A", "B")
        simulation.advance(30 * MS)
        return session.run(STATISTICS) + session.run("display packet-drop summary")

    assert figures() == figures()
