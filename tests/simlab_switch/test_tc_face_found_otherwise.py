"""A switch that is found with another map, and hosts with another MTU, than `labtests linuxlab`."""

import pytest
from driven import driving
from switch_bench import MBIT, PORT, TO, SimulatedBox

from labtests.network import UdpRequest

Driver = driving("linux-switch")

CLASSES = tuple((5 * dscp + 3) % 7 for dscp in range(64))


@pytest.fixture
def found(box: SimulatedBox) -> SimulatedBox:
    box.lab.inject({"kind": "dscp-map", "device": "sw", "classes": list(CLASSES)})
    return box


def forwarded(box: SimulatedBox) -> dict[int, int]:
    return {
        reading.index: reading.value
        for reading in Driver(box).queue_counters(PORT)
        if reading.counter == "forwarded_packets" and reading.value
    }  # type: ignore[misc]


def test_the_driver_reads_the_map_and_packets_go_by_it(found: SimulatedBox) -> None:
    assert Driver(found).dscp_map(PORT) == CLASSES
    found.send_for(0.1, found.send("h1", tos=24 << 2, mbit_per_s=10))
    assert set(forwarded(found)) == {CLASSES[24]}


def test_it_boots_with_that_map_again(found: SimulatedBox) -> None:
    found.lab.inject({"kind": "reboot", "device": "sw", "seconds": 1})
    found.pass_time(2)
    assert Driver(found).dscp_map(PORT) == CLASSES


@pytest.mark.parametrize(
    ("mtu_bytes", "datagram_bytes", "packets"),
    [(1500, 1472, 1), (1500, 1473, 2), (9000, 8972, 1), (9000, 8973, 2), (4200, 65500, 16)],
)
def test_a_datagram_is_in_as_many_packets_as_the_mtu_asks_for(
    box: SimulatedBox, mtu_bytes: int, datagram_bytes: int, packets: int
) -> None:
    flow = box.lab.network.start_udp(
        UdpRequest(
            device="h1", interface="eth1", destination=TO, tos=0, mtu_bytes=mtu_bytes,
            rate_bits_per_s=50 * MBIT, datagram_bytes=datagram_bytes,
        )
    )  # fmt: skip
    box.send_for(0.2, flow)
    sent = flow.sent_datagrams
    assert sent > 5
    assert forwarded(box) == {0: sent * packets}
