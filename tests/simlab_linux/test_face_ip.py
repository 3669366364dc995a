"""ip's counters, as recorded with iproute2 6.1, and that bytes are counted with packets."""

from collections.abc import Callable

import pytest
from linux_bench import INTERFACE, Hands

LINK = (
    f"2: {INTERFACE}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT "
    "group default qlen 1000\n"
    "    link/ether b8:59:9f:1f:1c:e5 brd ff:ff:ff:ff:ff:ff\n"
)
COUNTED = """\
    RX:  bytes  packets errors dropped  missed   mcast           
    8682601355 15267113      2       0       0       0 
    TX:  bytes  packets errors dropped carrier collsns           
           700        5      0       0       0       0 
"""  # noqa: W291


@pytest.fixture
def counted(hands: Hands) -> Hands:
    values = {"ip_in_bytes": 8682601355, "ip_in_receives": 15267113, "rx_crc_errors": 2}
    hands.nic().values.update(values, ip_out_bytes=700, ip_out_packets=5)
    return hands


def test_links_have_their_counters(counted: Hands) -> None:
    assert counted.output("ip -s link").endswith(f" 0 \n{LINK}{COUNTED}")
    assert counted.output(f"ip -s link show {INTERFACE}") == LINK + COUNTED


@pytest.mark.parametrize("kind", ["-u -b 100M -l 1000", ""], ids=["udp", "tcp"])
def test_bytes_are_counted_with_packets(make_lab: Callable[..., Hands], kind: str) -> None:
    hands = make_lab(real=True)
    hands.run("iperf3 -s -1", "ServerB")
    session = hands.run(f"iperf3 -c 192.168.10.11 -t 0.02 {kind}")
    hands.advance(2)
    assert session.status == 0, session.err
    for device in ("ServerA", "ServerB"):
        values = {}
        for way in ("rx", "tx"):
            files = " ".join(f"statistics/{way}_{what}" for what in ("packets", "bytes"))
            shown = hands.output(f"cd /sys/class/net/{INTERFACE}; cat {files}", device).split()
            packets, size = map(int, shown)
            nic = hands.output(f"ethtool -S {INTERFACE}", device)
            assert f" {way}_packets: {packets}\n" in nic
            assert f" {way}_bytes: {size}\n" in nic
            assert 60 * packets <= size <= 1514 * packets
            values[way] = packets
        if not kind or device == "ServerA":
            assert values["tx"] > 0
        if not kind or device == "ServerB":
            assert values["rx"] > 0
    wire = hands.output(f"ethtool -S {INTERFACE} | awk '/tx_(packets|bytes)_phy/ {{print $2}}'")
    packets_phy, bytes_phy = map(int, wire.split())
    kernel = hands.output(f"cd /sys/class/net/{INTERFACE}/statistics; cat tx_packets tx_bytes")
    assert list(map(int, kernel.split())) == [packets_phy, bytes_phy - 4 * packets_phy]
