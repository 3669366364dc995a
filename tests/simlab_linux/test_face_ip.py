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


class TestDownAndUp:
    """`ip link set IF down`: the port says so, and nobody reaches it until it is up again."""

    def test_a_port_that_is_down_has_no_carrier_and_no_route(self, make_lab) -> None:
        hands = make_lab(real=True)
        assert hands.run(f"ip link set dev {INTERFACE} down").status == 0
        shown = hands.output(f"ip link show {INTERFACE}")
        assert f"{INTERFACE}: <BROADCAST,MULTICAST> mtu 1500 qdisc mq state DOWN " in shown
        assert hands.output(f"cat /sys/class/net/{INTERFACE}/operstate") == "down\n"
        assert "Link detected: no" in hands.output(f"ethtool {INTERFACE}")
        assert hands.run("ping -c 1 192.168.10.11").status == 2
        assert hands.run("ib_send_bw -d mlx5_0 192.168.10.11").status == 1
        assert hands.run(f"ip link set {INTERFACE} up").status == 0
        changes = f"cat /sys/class/net/{INTERFACE}/carrier_changes"
        assert hands.output(changes) == "3\n"
        assert "<BROADCAST,MULTICAST,UP,LOWER_UP>" in hands.output(f"ip link show {INTERFACE}")
        assert hands.run("ping -c 1 192.168.10.11").status == 0

    def test_others_do_not_reach_it_and_no_packet_passes(self, make_lab) -> None:
        hands = make_lab(real=True)
        hands.run(f"ip link set {INTERFACE} down", device="ServerB")
        alone = hands.run("ping -c 1 -W 1 192.168.10.11")
        hands.advance(2)
        assert alone.status == 1
        assert "No route to host" in hands.run("iperf3 -c 192.168.10.11").err
        hands.run(f"ip link set {INTERFACE} up", device="ServerB")
        assert hands.run("ping -c 1 192.168.10.11").status == 0

    def test_only_root_may_and_what_is_not_there_is_said(self, hands) -> None:
        assert hands.run("ip link set eth9 down").status == 1
        assert "Cannot find device" in hands.run("ip link set eth9 down").err
        assert hands.run(f"ip link set {INTERFACE} down", username="operator").status == 2
        assert "LOWER_UP" in hands.output(f"ip link show {INTERFACE}")


def test_python_is_said_to_be_missing_by_the_box(hands) -> None:
    for name in ("python3 -c 1", "/usr/bin/python3 -c 1"):
        answer = hands.run(name)
        assert answer.status != 0
        assert "the simulated box does not emulate this: Python; of Ansible, use raw" in answer.err


def test_echo_requests_are_counted_at_both_hosts(make_lab: Callable[..., Hands]) -> None:
    """By the stack and by the NIC, where people look when a ping gets no answer."""
    hands = make_lab(real=True)

    def read(device: str, *names: str) -> list[int]:
        lines = hands.output("cat /proc/net/snmp", device).splitlines()
        head, values = [line.split()[1:] for line in lines if line.startswith("Icmp:")]
        return [int(dict(zip(head, values, strict=True))[name]) for name in names]

    def frames(device: str) -> list[int]:
        names = " ".join(f"{way}_{what}" for what in ("packets", "bytes") for way in ("tx", "rx"))
        shown = hands.output(f"cd /sys/class/net/{INTERFACE}/statistics; cat {names}", device)
        return list(map(int, shown.split()))

    for target in ("192.168.10.11", "127.0.0.1", "192.168.10.10"):
        hands.run(f"ping -c 3 -i 0.2 {target}")
        hands.advance(2)

    sent = ("OutMsgs", "OutEchos", "InMsgs", "InEchoReps", "InEchos")
    assert read("ServerA", *sent) == [3, 3, 3, 3, 0]
    answered = ("OutMsgs", "OutEchoReps", "InMsgs", "InEchos", "OutEchos")
    assert read("ServerB", *answered) == [3, 3, 3, 3, 0]
    assert frames("ServerA") == frames("ServerB") == [3, 3, 3 * 98, 3 * 98]
    assert " tx_packets: 3\n" in hands.output(f"ethtool -S {INTERFACE}")
    hands.run("ping -c 2 -i 0.2 -W 1 192.168.10.99")
    hands.advance(3)
    assert read("ServerA", "OutEchos", "InEchoReps") == [5, 3]
    assert frames("ServerA")[:2] == [3, 3]
    hands.run("ping -c 1 -s 4000 192.168.10.11")
    assert frames("ServerA")[:2] == [6, 6]
