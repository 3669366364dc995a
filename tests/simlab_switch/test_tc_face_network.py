"""The emulated switch does what its tc was told, and counts what it does."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from switch_bench import PORT, SimulatedBox

from labtests.inventory import LinuxLab, LinuxLabEcn, Testbed
from labtests.simlab.faults import UnknownFault
from labtests.simlab.lab import SimulatedLab

EARLY, LATE = 0x60, 0xA0  # queues 3 and 5
FULL_FRAME_BYTES = 1514
FULL_WIRE_BYTES, DATAGRAM_BYTES = 1538, 1472
OFFERED_MBIT = 180  # of datagrams: 188 of the 200 of the line


def test_a_full_queue_drops_and_every_packet_is_counted_once(box: SimulatedBox) -> None:
    box.do(f"tc qdisc change dev {PORT} parent 1:13 handle 103: bfifo limit 30000")
    flows = [box.send(host, tos=EARLY, mbit_per_s=150) for host in ("h1", "h2")]
    box.pass_time(0.05)
    held = box.qdiscs()["1:13"]
    assert 30000 - 2 * FULL_FRAME_BYTES <= held["backlog"] <= 30000
    assert held["qlen"] * FULL_FRAME_BYTES == held["backlog"]
    box.send_for(0.1, *flows)
    found = box.qdiscs()
    queue = found["1:13"]
    assert queue["drops"] > 500
    assert sum(flow.sent_datagrams for flow in flows) == queue["packets"] + queue["drops"]
    assert sum(flow.received_datagrams for flow in flows) == queue["packets"]
    assert queue["bytes"] == FULL_FRAME_BYTES * queue["packets"]
    assert [found[f"1:1{n}"]["packets"] for n in (0, 1, 2, 4, 5, 6, 7)] == [0] * 7
    assert {name: found["root"][name] for name in ("packets", "bytes", "drops")} == {
        name: queue[name] for name in ("packets", "bytes", "drops")
    }


def test_a_pfifo_counts_packets(box: SimulatedBox) -> None:
    box.do(f"tc qdisc replace dev {PORT} parent 1:13 handle 113: pfifo limit 7")
    flows = [box.send(host, tos=EARLY, mbit_per_s=150) for host in ("h1", "h2")]
    box.pass_time(0.05)
    assert box.qdiscs()["1:13"]["qlen"] in (6, 7)
    box.send_for(0, *flows)


def _shares(box: SimulatedBox, seconds: float = 0.3) -> tuple[int, int]:
    """Packets of queue 3 and of queue 5 that an overloaded port has sent in that time."""
    before = box.qdiscs()
    flows = [
        box.send(host, tos=tos, mbit_per_s=OFFERED_MBIT)
        for host, tos in (("h1", EARLY), ("h2", LATE))
    ]
    box.pass_time(seconds)
    after = box.qdiscs()
    box.send_for(0, *flows)
    early, late = (after[at]["packets"] - before[at]["packets"] for at in ("1:13", "1:15"))
    return early, late


def _serve(box: SimulatedBox, minor: int, words: str) -> None:
    rates = "rate 8Kbit ceil 200Mbit burst 1600b cburst 1600b"
    box.do(f"tc class change dev {PORT} parent 1:1 classid 1:{minor} htb {rates} {words}")


def test_equal_quanta_share_equally_others_by_quantum(box: SimulatedBox) -> None:
    early, late = _shares(box)
    assert early / late == pytest.approx(1, abs=0.02)
    _serve(box, 15, "prio 0 quantum 4542")
    early, late = _shares(box)
    assert late / early == pytest.approx(3, rel=0.03)


@pytest.mark.parametrize(("first", "then"), [(13, 15), (15, 13)])
def test_the_lower_prio_goes_first_whatever_the_number_of_its_class(
    box: SimulatedBox, first: int, then: int
) -> None:
    _serve(box, then, "prio 4 quantum 1514")
    early, late = _shares(box)
    served, starved = (early, late) if first == 13 else (late, early)
    all_of_it = OFFERED_MBIT * FULL_WIRE_BYTES / DATAGRAM_BYTES / 200
    assert served / (served + starved) == pytest.approx(all_of_it, abs=0.003)


RED = (
    f"tc qdisc replace dev {PORT} parent 1:13 handle fe13: red limit 1048576 min 30000 max 90000 "
    "avpkt 1000 burst 34 probability 0.1 ecn"
)


def test_red_marks_tcp_with_ecn_and_drops_what_cannot_be_marked(box: SimulatedBox) -> None:
    box.do(RED)
    flows = [box.send_tcp(host, tos=EARLY, ecn=True) for host in ("h1", "h2")]
    box.send_for(0.3, *flows)
    red = box.qdiscs()["1:13"]
    assert red["kind"] == "red"
    assert red["marked"] > 20
    assert (red["early"], red["pdrop"], red["drops"]) == (0, 0, 0)
    assert red["overlimits"] == red["marked"]

    box.do(RED.replace("fe13", "fe14"))
    flows = [box.send(host, tos=EARLY, mbit_per_s=150) for host in ("h1", "h2")]
    box.send_for(0.1, *flows)
    other = box.qdiscs()["1:13"]
    assert other["marked"] == 0, "UDP here is not ECN-capable, and a new qdisc counts from 0"
    assert other["early"] == other["drops"] > 100


def test_a_red_keeps_the_fifo_that_is_hung_below_it(box: SimulatedBox) -> None:
    box.do(f"{RED} && tc qdisc replace dev {PORT} parent fe13:1 handle 103: bfifo limit 20000")
    flows = [box.send(host, tos=EARLY, mbit_per_s=150) for host in ("h1", "h2")]
    box.send_for(0.1, *flows)
    found = box.qdiscs()
    assert found["1:13"]["pdrop"] == found["fe13:1"]["drops"] > 100, "20000 bytes never mark"
    assert found["1:13"]["early"] == 0


def test_a_switch_that_lies_changes_nothing(box: SimulatedBox) -> None:
    box.lab.inject({"kind": "lie", "device": "sw"})
    before = box.shell("tc qdisc show").out
    box.do(f"tc qdisc change dev {PORT} parent 1:13 handle 103: bfifo limit 30000")
    assert box.shell("tc qdisc show").out == before
    assert box.lab.happened("sw")["lie"] == 1


def test_dead_missing_and_reset_counters(make_box: Callable[..., SimulatedBox]) -> None:
    box = make_box()
    flows = [box.send(host, tos=EARLY, mbit_per_s=190) for host in ("h1", "h2")]
    box.pass_time(0.3)
    before = box.qdiscs()["1:13"]
    assert before["drops"] > 0
    box.lab.inject({"kind": "dead-counter", "device": "sw", "port": PORT, "counter": "queue-drops"})
    box.qdiscs()
    box.pass_time(0.1)
    after = box.qdiscs()["1:13"]
    assert (after["drops"], after["packets"] > before["packets"]) == (before["drops"], True)
    box.send_for(0, *flows)
    box.lab.inject({"kind": "reset-counters", "device": "sw"})
    assert box.qdiscs()["1:13"]["packets"] == box.qdiscs()["root"]["packets"] == 0
    box.lab.inject({"kind": "missing-counter", "device": "sw", "port": PORT, "counter": "queue-3"})
    assert "1:13" not in box.qdiscs()


def test_lost_packets_are_lost_in_their_queue(box: SimulatedBox) -> None:
    fault = {"kind": "drop-packets", "device": "sw", "port": PORT, "queue": 5}
    box.lab.inject({**fault, "per_million": 200_000})
    flow = box.send("h1", tos=LATE, mbit_per_s=50)
    box.send_for(0.2, flow)
    queue = box.qdiscs()["1:15"]
    assert 0.1 < queue["drops"] / flow.sent_datagrams < 0.3
    assert queue["drops"] + queue["packets"] == flow.sent_datagrams
    with pytest.raises(UnknownFault, match="applies to switches only"):
        box.lab.inject({**fault, "device": "h1", "per_million": 1})


def test_a_reboot_brings_the_queues_of_the_boot_back(box: SimulatedBox) -> None:
    before = box.shell("tc qdisc show").out
    box.do(f"tc qdisc change dev {PORT} parent 1:13 handle 103: bfifo limit 3000")
    box.lab.inject({"kind": "reboot", "device": "sw", "seconds": 1})
    box.pass_time(1.1)
    assert box.shell("tc qdisc show").out == before
    flow = box.send("h1", tos=EARLY, mbit_per_s=100)
    box.send_for(0.1, flow)
    assert box.qdiscs()["1:13"]["packets"] == flow.sent_datagrams > 0


LAB: dict[str, Any] = {"runner_address": "10.255.71.254", "prefix_length": 24}


@pytest.mark.parametrize(
    ("settings", "shows"),
    [
        (None, "quantum 1514 rate 8Kbit ceil 200Mbit"),
        (LinuxLab(**LAB, scheduling="strict"), "1:17 parent 1:1 leaf 107: prio 0"),
        (LinuxLab(**LAB, scheduling="weighted", weights=(1, 2, 3, 4, 5, 6, 7, 8)), "quantum 12112"),
        (
            LinuxLab(**LAB, ecn=LinuxLabEcn(min_bytes=30_000, max_bytes=90_000, probability=0.1)),
            "class red 101:1 parent 101: ",
        ),
    ],
)
def test_it_boots_with_the_queues_of_the_testbed_file(
    testbed: Testbed, settings: LinuxLab | None, shows: str
) -> None:
    box = SimulatedBox(SimulatedLab(replace(testbed, linux_lab=settings), seed=1))
    assert shows in box.shell(f"tc -d class show dev {PORT}").out
    flow = box.send("h1", tos=EARLY, mbit_per_s=100)
    box.send_for(0.1, flow)
    assert box.qdiscs()["1:13"]["packets"] == flow.sent_datagrams > 0


def test_the_shell_around_it(box: SimulatedBox) -> None:
    assert "master br0" in box.shell(f"ip link show dev {PORT}").out
    details = box.shell(f"ip -d -j link show dev {PORT}")
    assert (details.status, "does not emulate" in details.err) == (1, True)
    quiet = box.shell("grep -hs x /no/such; nosuchtool 2>/dev/null | cat; true")
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")
    flow = box.send("h1", tos=EARLY, mbit_per_s=100)
    box.send_for(0.1, flow)
    folder = f"/sys/class/net/{PORT}/statistics"
    assert box.shell(f"cat {folder}/tx_packets").out == f"{flow.sent_datagrams}\n"
    assert box.shell(f"cat {folder}/tx_bytes").out == f"{1514 * flow.sent_datagrams}\n"
    for gone in ("ethtool", "iperf3", "ib_send_bw", "rdma", "mlnx_qos"):
        assert box.shell(gone).status == 127, gone
