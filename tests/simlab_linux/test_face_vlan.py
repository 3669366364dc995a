"""A VLAN interface of an emulated host: what shows it, and the tags of what is sent from it."""

from collections.abc import Callable

import pytest
from linux_bench import INTERFACE, Hands

from labtests.inventory import Vlan
from labtests.simlab.linux.vlans import socket_priority

UPPER = f"{INTERFACE}.100"
TO = "192.168.10.11"
RDMA = "ib_send_bw -d mlx5_0 -n 5"


@pytest.fixture
def tagged(make_lab: Callable[..., Hands]) -> Hands:
    """Priority 5 for sockets of priority 4 (TOS 24), 3 for those of 2 (TOS 8)."""
    return make_lab(real=True, vlan=Vlan(id=100, egress=((2, 3), (4, 5))))


def sent(hands: Hands, device: str = "ServerA") -> list[int]:
    """The priorities in which a NIC that trusts tags has sent packets."""
    packets = hands.lab.network.nic(device, INTERFACE).counters().tx_packets
    return [priority for priority, count in enumerate(packets) if count]


class TestShown:
    def test_the_address_is_on_the_vlan_interface(self, tagged: Hands) -> None:
        shown = tagged.output("ip addr")
        port, _, upper = shown.partition(f"100: {UPPER}@{INTERFACE}: ")
        assert upper.startswith("<BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP")
        assert f"inet 192.168.10.10/24 brd 192.168.10.255 scope global {UPPER}\n" in upper
        assert "192.168.10.10" not in port
        assert tagged.output("ip -br addr").split("\n")[1].split() == [INTERFACE, "UP"]
        assert tagged.output("ip -br addr").split("\n")[2].split() == [
            f"{UPPER}@{INTERFACE}",
            "UP",
            "192.168.10.10/24",
        ]
        assert f"dev {UPPER} proto kernel" in tagged.output("ip route")
        assert f"{TO} dev {UPPER} src " in tagged.output(f"ip route get {TO}")

    def test_details_tell_its_number_and_map(self, tagged: Hands) -> None:
        shown = tagged.output(f"ip -d link show dev {UPPER}")
        assert "    vlan protocol 802.1Q id 100 <REORDER_HDR> \n" in shown
        assert "      egress-qos-map { 2:3 4:5 } addrgenmode eui64 numtxqueues 1 " in shown
        assert " brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 0 maxmtu 65535 \n" in shown

    def test_an_empty_map_is_not_shown(self, make_lab: Callable[..., Hands]) -> None:
        hands = make_lab(vlan=Vlan(id=100))
        assert "egress" not in hands.output(f"ip -d link show dev {UPPER}")

    def test_without_one_nothing_is_shown_of_it(self, hands: Hands) -> None:
        for command in ("ip addr", "ip link", "ls /sys/class/net", "show_gids"):
            assert ".100" not in hands.output(command)
        assert hands.run(f"ip -d link show dev {UPPER}").status == 1

    def test_it_is_no_device_of_a_bus(self, tagged: Hands) -> None:
        assert UPPER in tagged.output("ls /sys/class/net").split()
        assert UPPER not in tagged.output("ls -d /sys/class/net/*/device")
        assert tagged.output(f"cat /sys/class/net/{UPPER}/mtu") == "1500\n"

    def test_gids_of_the_address_are_its(self, tagged: Hands) -> None:
        lines = tagged.output("show_gids").splitlines()
        assert [line.split()[-1] for line in lines[2:6]] == [*[INTERFACE] * 2, *[UPPER] * 2]
        folder = "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs"
        assert tagged.output(f"cat {folder}/1 {folder}/3").split() == [INTERFACE, UPPER]


class TestChanged:
    def test_a_map_grows_by_what_is_said(self, tagged: Hands) -> None:
        tagged.output(f"ip link set dev {UPPER} type vlan egress-qos-map 0:1 4:6")
        shown = tagged.output(f"ip -d link show dev {UPPER}")
        assert "egress-qos-map { 0:1 2:3 4:6 }" in shown

    @pytest.mark.parametrize("told", ["4", "4:8", "x:5", "4:"])
    def test_what_is_no_map_is_refused(self, tagged: Hands, told: str) -> None:
        done = tagged.run(f"ip link set dev {UPPER} type vlan egress-qos-map {told}")
        assert done.status == 255
        assert "egress-qos-map" in done.err

    def test_a_port_has_none(self, tagged: Hands) -> None:
        done = tagged.run(f"ip link set dev {INTERFACE} type vlan egress-qos-map 4:5")
        assert (done.status, done.err) == (2, "RTNETLINK answers: Operation not supported\n")


class TestTags:
    @pytest.mark.parametrize(
        ("tos", "priority"),
        [(0, 0), (8, 2), (16, 6), (24, 4), (26, 4), (96, 0), (104, 2), (184, 4), (255, 4)],
    )
    def test_a_sockets_priority_follows_its_tos(self, tos: int, priority: int) -> None:
        assert socket_priority(tos) == priority

    @pytest.mark.parametrize(("tos", "pcp"), [(24, 5), (8, 3), (96, 0), (16, 0)])
    def test_rdma_cm_takes_it_from_the_tos_at_both_ends(
        self, tagged: Hands, tos: int, pcp: int
    ) -> None:
        tagged.run(f"{RDMA} -R -T {tos}", "ServerB")
        assert tagged.run(f"{RDMA} -R -T {tos} {TO}").status is None
        tagged.advance(2)
        assert sent(tagged) == sent(tagged, "ServerB") == [pcp]

    def test_without_rdma_cm_the_service_level_is_0(self, tagged: Hands) -> None:
        tagged.run(RDMA, "ServerB")
        tagged.run(f"{RDMA} {TO}")
        tagged.advance(2)
        assert sent(tagged) == [0]

    @pytest.mark.parametrize("how", ["-u -b 1M", ""], ids=["udp", "tcp"])
    def test_iperf3_of_a_tos_has_the_tag_of_its_sockets(self, tagged: Hands, how: str) -> None:
        tagged.run("iperf3 -s -1", "ServerB")
        tagged.run(f"iperf3 -c {TO} -t 0.05 -S 24 {how}")
        tagged.advance(2)
        assert sent(tagged) == [5]
        assert sent(tagged, "ServerB") == ([] if how else [5])

    def test_a_wrong_map_is_a_fault(self, tagged: Hands) -> None:
        tagged.lab.inject(
            {"kind": "egress-map", "device": "ServerA", "port": INTERFACE, "map": "4:1"}
        )
        assert "egress-qos-map { 4:1 }" in tagged.output(f"ip -d link show dev {UPPER}")
        tagged.run(f"{RDMA} -R", "ServerB")
        tagged.run(f"{RDMA} -R -T 24 {TO}")
        tagged.advance(2)
        assert sent(tagged) == [1]
