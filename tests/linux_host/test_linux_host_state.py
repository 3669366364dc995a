"""What a plain Linux host tells of itself: links, RDMA side, versions, what it lacks."""

import pytest
from driven import driving
from linux_host import PHYSICAL, VETH, VIRTIO, Answer, FakeHost, namespace_host, recording, rxe_host

from labtests.capabilities.device import PfcTelemetry, Versions
from labtests.capabilities.facts import RoceFacts, RocePorts
from labtests.capabilities.settings import MTU
from labtests.core.errors import CommandRejected
from labtests.drivers import connectx, driver_module, linux, platforms
from labtests.drivers.linux.host import RXE_PACKETS
from labtests.transport.asking import Running, answered, side_by_side

Driver = driving("linux")


def test_linux_is_a_platform_and_connectx_is_linux_and_more():
    assert "linux" in platforms()
    assert driver_module("linux").SESSION == "shell"
    plain, more = linux.driver_of("h1"), connectx.driver_of("h1")
    assert [setting.kind.name for setting in plain.settings] == ["mtu", "tunnel"]
    assert more.offers("mtu")
    for name in ("pfc", "trust", "pfc_counters"):
        assert more.offers(name)
        assert not plain.offers(name)
    assert plain.able(PfcTelemetry) is None


def test_a_virtual_port_has_neither_speed_nor_fec():
    facts = Driver(namespace_host()).link(VETH)
    assert facts.virtual
    assert (facts.up, facts.mtu_bytes, facts.mac) == (True, 9000, "6abbe2534e34")
    assert (facts.speed_bits_per_s, facts.fec) == (None, None)


def test_a_virtual_port_whose_peer_is_down_is_down():
    host = namespace_host(**{f"ip link show dev {VETH}": recording("ip_link--veth-down")})
    assert not Driver(host).link(VETH).up


def test_the_speed_is_that_of_sysfs_and_unknown_is_none():
    facts = Driver(rxe_host()).link(VIRTIO)
    assert not facts.virtual
    assert facts.speed_bits_per_s is None  # virtio does not know it: -1
    speed = f"cat /sys/class/net/{VIRTIO}/speed"
    assert (
        Driver(rxe_host(**{speed: Answer("25000\n")})).link(VIRTIO).speed_bits_per_s == 25 * 10**9
    )
    refused = Answer("", f"cat: /sys/class/net/{VIRTIO}/speed: Invalid argument\n", 1)
    assert Driver(rxe_host(**{speed: refused})).link(VIRTIO).speed_bits_per_s is None


def test_fec_is_told_by_ethtool_or_not_at_all():
    fec = f"ethtool --show-fec {VIRTIO}"
    assert Driver(rxe_host()).link(VIRTIO).fec is None
    for name, told in (("ethtool_fec--veth", None), ("ethtool_fec--cx7", "rs")):
        assert Driver(rxe_host(**{fec: recording(name)})).link(VIRTIO).fec == told


def test_a_list_of_ports_that_can_not_be_true_is_not_taken_for_none():
    from labtests.core.errors import UnreadableOutput

    with pytest.raises(UnreadableOutput):
        Driver(namespace_host(**{PHYSICAL: Answer("")})).link(VETH)


RXE_FOLDER = "/sys/class/infiniband/rxe0/ports/1/hw_counters"
ECN_OF_TCP = "cat /proc/sys/net/ipv4/tcp_ecn"
ASKS_FOR_ECN = {ECN_OF_TCP: Answer("1\n")}


def test_the_rdma_side_of_soft_roce_without_any_vendor_s_tool():
    assert Driver(rxe_host()).roce(VIRTIO) == RoceFacts(
        rdma="rxe0",
        active=True,
        active_mtu_bytes=1024,
        v2_addresses=frozenset({"192.168.77.1"}),
    )
    assert Driver(rxe_host(without=["ibv"])).roce(VIRTIO).active_mtu_bytes is None


def test_a_gid_of_another_type_or_family_is_no_roce_v2_address():
    gids = recording("gids--rxe")
    v1 = gids.text.replace("types/1:RoCE v2", "types/1:IB/RoCE v1")
    assert v1 != gids.text
    assert Driver(rxe_host(**{gids.command: Answer(v1, "", 2)})).roce(VIRTIO).v2_addresses == set()
    iwarp = gids.text.replace("1: CA", "4: RNIC")
    assert (
        Driver(rxe_host(**{gids.command: Answer(iwarp, "", 2)})).roce(VIRTIO).v2_addresses is None
    )


def test_a_port_without_rdma_device_has_no_rdma_side_and_lacks_it():
    driver = Driver(namespace_host(**ASKS_FOR_ECN))
    assert driver.roce(VETH) is None
    lacks = driver.lacks()
    assert set(lacks) == {"rdma_links", "rdma_counters", "rdma_ecn"}
    assert "no RDMA device" in lacks["rdma_links"]
    assert "perftest" in lacks["rdma_links"]
    counted = {RXE_PACKETS: Answer(f"{RXE_FOLDER}/sent_pkts:18660\n")}
    assert Driver(rxe_host(**ASKS_FOR_ECN, **counted)).lacks() == {}
    hardware = {RXE_PACKETS: Answer("", "", 2)}
    assert "not soft-RoCE" in Driver(rxe_host(**ASKS_FOR_ECN, **hardware)).lacks()["rdma_ecn"]


def test_soft_roce_in_a_network_namespace_is_known_by_what_rdma_tells():
    # there sysfs has no hw_counters, and the RDMA suite was skipped: "not soft-RoCE"
    told = recording("rdma_statistic--rxe-in-a-namespace")
    hidden = {RXE_PACKETS: Answer("", "", 2), told.command: told}
    driver = Driver(rxe_host(**ASKS_FOR_ECN, **hidden))
    assert driver.rdma_ecn()
    assert driver.lacks() == {}


@pytest.mark.parametrize("answer", [Answer("2\n"), Answer("0\n"), Answer("", "no such file", 1)])
def test_a_host_whose_tcp_does_not_ask_for_ecn_lacks_it(answer):
    driver = Driver(rxe_host(**{ECN_OF_TCP: answer}))
    assert not driver.tcp_ecn()
    assert "sysctl -w net.ipv4.tcp_ecn=1" in driver.lacks()["tcp_ecn"]


def test_versions_name_what_is_there():
    found = Driver(namespace_host()).versions()
    assert found == {"perftest": "", "iperf3": "", "iproute2": "6.1.0", "kernel": ""}
    host = rxe_host(**{f"ethtool -i {VIRTIO}": recording("ethtool_driver--virtio")})
    assert Driver(host).versions()["driver"] == "virtio_net 1.0.0"
    assert "firmware" not in Driver(host).versions()
    assert "ofed" not in found


def test_a_host_without_ip_can_not_be_used():
    assert Driver(namespace_host()).obstacles() == ()
    (sentence,) = Driver(FakeHost({})).obstacles()
    assert "iproute2" in sentence


def test_an_mtu_that_is_not_taken_is_noticed():
    host = namespace_host(**{
        f"cat /sys/class/net/{VETH}/mtu": Answer("9000\n"),
        f"ip link set dev {VETH} mtu 1500": Answer(),
    })  # fmt: skip
    with pytest.raises(CommandRejected, match="mtu of eth1 reads back as 9000"):
        Driver(host).set_mtu(VETH, 1500)


def test_state_is_one_round_but_for_the_gids_of_the_rdma_device_and_its_cards():
    host = rxe_host(**{"cat /sys/class/net/enp0s3/mtu": Answer("1500\n")})
    driver = linux.driver_of("h1", (VIRTIO,))
    links, state = driver.able(RocePorts), driver.able(Versions)
    rounds = []

    def answer(commands):
        rounds.append({command.split()[0] for command in commands})
        return [host.run(command) for command in commands]

    told = [links.link(VIRTIO), links.roce(VIRTIO), state.versions(), state.obstacles()]
    told.append(driver.setting(MTU).read(VIRTIO))
    answered(Running(side_by_side(told)), answer)
    assert len(rounds) == 2
    assert rounds[1] == {"grep", "ethtool"}


def test_a_user_without_rights_is_an_obstacle_and_root_is_none():
    def of_user(number):
        host = namespace_host(**{"id -u": Answer(f"{number}\n")})
        return Driver(host).obstacles()

    (sentence,) = of_user(1000)
    assert "as user 1000 and not as root" in sentence
    assert "become: true" in sentence
    assert of_user(0) == ()


def test_a_host_that_does_not_tell_who_one_is_there_is_an_obstacle():
    refused = Answer("", "sudo: a password is required\n", 1)
    for answer in (refused, Answer(""), Answer("0\n", "", 1), Answer("root\n")):
        (sentence,) = Driver(namespace_host(**{"id -u": answer})).obstacles()
        assert "is not known" in sentence
