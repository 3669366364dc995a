"""What a plain Linux host counts, and that nothing missing becomes a number."""

import pytest
from driven import driving
from linux_host import (
    HW,
    STATISTICS,
    VETH,
    VIRTIO,
    Answer,
    FakeHost,
    namespace_host,
    of,
    recording,
    rxe_host,
)

from labtests.capabilities import counters as c
from labtests.capabilities.device import NicTelemetry
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.drivers import linux
from labtests.transport.asking import Running, side_by_side
from labtests.transport.exchanges import Exchanges

Driver = driving("linux")


TC = f"tc -s -j qdisc show dev {VETH}"


def test_a_port_is_counted_by_the_kernel_alone():
    found = of(Driver(namespace_host()).nic_counters(VETH))
    assert (found[c.TX_PACKETS].value, found[c.TX_PACKETS].unit) == (3, "packets")
    assert (found[c.RX_BYTES].value, found[c.RX_BYTES].unit) == (266, "bytes")
    assert found[c.RX_CRC_ERRORS].unit == found[c.NET_TX_DROPPED].unit == "packets"
    assert found[c.TX_PACKETS].source == "statistics tx_packets"
    assert {r.scope for r in found.values()} == {"port"}


def test_a_port_without_queue_has_no_count_of_its_drops():
    found = of(Driver(namespace_host()).nic_counters(VETH))
    assert found[c.QDISC_DROPPED_PACKETS].value is None
    assert "noqueue" in found[c.QDISC_DROPPED_PACKETS].missing


def test_drops_before_the_wire_are_those_of_the_port_s_queue():
    host = namespace_host(**{TC: recording("tc_qdiscs--tbf-drops")})
    found = of(Driver(host).nic_counters(VETH))
    assert found[c.QDISC_DROPPED_PACKETS].value == 56
    assert found[c.QDISC_SENT_PACKETS].value == 6
    assert found[c.QDISC_DROPPED_PACKETS].source == "tc qdisc tbf drops"


@pytest.mark.parametrize(
    "answer",
    [
        Answer("", "sh: 1: tc: not found\n", 127),
        recording("tc_qdiscs--no-such-device"),
        Answer("[]"),
    ],
)
def test_without_an_answer_of_tc_the_queue_s_counters_are_none_and_the_others_there(answer):
    found = of(Driver(namespace_host(**{TC: answer})).nic_counters(VETH))
    assert found[c.QDISC_DROPPED_PACKETS].value is None
    assert found[c.QDISC_DROPPED_PACKETS].missing
    assert found[c.TX_PACKETS].value == 3


@pytest.mark.parametrize("text", ['[{"kind":"tbf"', "{}", '[{"kind":"tbf","root":true}]'])
def test_half_an_answer_of_tc_is_refused(text):
    with pytest.raises(UnreadableOutput):
        Driver(namespace_host(**{TC: Answer(text)})).nic_counters(VETH)


def test_an_interface_that_is_not_there_is_said():
    host = FakeHost({STATISTICS.format("eth9"): recording("net_statistics--no-such-interface")})
    with pytest.raises(CommandRejected, match="no interface eth9"):
        Driver(host).nic_counters("eth9")


@pytest.mark.parametrize("gone", ["statistics/tx_packets:3\n", "statistics/rx_bytes:266\n"])
def test_statistics_without_one_of_the_four_are_refused(gone):
    text = recording("net_statistics--veth").text
    cut = "".join(line for line in text.splitlines(True) if not line.endswith(gone))
    assert cut != text
    host = namespace_host(**{STATISTICS.format(VETH): Answer(cut)})
    with pytest.raises(UnreadableOutput, match="is missing"):
        Driver(host).nic_counters(VETH)


def test_what_a_driver_adds_is_there_but_for_rings():
    ixgbe = Answer(recording("ethtool_statistics--ixgbe").text + "     tx_packets: 999\n")
    found = of(Driver(namespace_host(**{f"ethtool -S {VETH}": ixgbe})).nic_counters(VETH))
    assert found["tx_flow_control_xon"].source == "ethtool -S tx_flow_control_xon"
    assert found[c.TX_PACKETS].source == "statistics tx_packets"  # of two with one name
    virtio, plain = rxe_host(), rxe_host(without=["ethtool"])
    assert [r.counter for r in Driver(virtio).nic_counters(VIRTIO)] == [
        r.counter for r in Driver(plain).nic_counters(VIRTIO)
    ]
    veth = {f"ethtool -S {VETH}": recording("ethtool_statistics--veth")}
    assert "peer_ifindex" not in of(Driver(namespace_host(**veth)).nic_counters(VETH))


def test_where_a_nic_counts_at_the_wire_rdma_is_in_the_neutral_counters():
    mlx5 = recording("ethtool_statistics--cx4")
    at_the_wire = int(mlx5.text.split("tx_packets_phy: ")[1].split()[0])
    found = of(Driver(namespace_host(**{f"ethtool -S {VETH}": mlx5})).nic_counters(VETH))
    assert found[c.TX_PACKETS].value == at_the_wire
    assert found[c.TX_PACKETS].source == "ethtool -S tx_packets_phy"


@pytest.mark.parametrize(
    "answer",
    [
        Answer("", "no stats available\n", 94),
        Answer("NIC statistics:\n  rx_ok: 1\n  rx_ok: 2\n"),
        Answer("", "bash: line 1: ethtool: command not found\n", 127),
    ],
)
def test_an_odd_ethtool_takes_nothing_away(answer):
    plain = of(Driver(namespace_host()).nic_counters(VETH))
    odd = of(Driver(namespace_host(**{f"ethtool -S {VETH}": answer})).nic_counters(VETH))
    assert set(odd) == set(plain)


def test_the_link_s_errors_are_the_kernel_s():
    found = of(Driver(namespace_host()).link_errors(VETH))
    assert (found[c.RX_CRC_ERRORS].value, found[c.LINK_DOWNS].value) == (0, 1)
    text = recording("net_statistics--veth").text
    old = "".join(line for line in text.splitlines(True) if "carrier_down" not in line)
    host = namespace_host(**{STATISTICS.format(VETH): Answer(old)})
    assert c.LINK_DOWNS not in of(Driver(host).link_errors(VETH))


def test_a_carrier_that_went_away_and_came_back_is_counted():
    host = namespace_host(**{STATISTICS.format(VETH): recording("net_statistics--veth-carrier")})
    found = of(Driver(host).nic_counters(VETH))
    assert (found[c.CARRIER_CHANGES].value, found[c.LINK_DOWNS].value) == (4, 2)
    assert found[c.CARRIER_CHANGES].unit == "events"


LOSSES = (
    *(c.NET_RX_DROPPED, c.NET_TX_DROPPED, c.RX_ERRORS, c.RX_CRC_ERRORS, c.TX_ERRORS),
    *(c.TX_CARRIER_ERRORS, c.RX_MISSED_ERRORS, c.RX_FIFO_ERRORS, c.TX_FIFO_ERRORS),
    *(c.LINK_DOWNS, c.CARRIER_CHANGES, c.QDISC_DROPPED_PACKETS),
)


def test_a_counter_of_losses_that_a_kernel_has_not_is_named_and_is_none():
    old = "".join(
        f"/sys/class/net/{VETH}/statistics/{name}:0\n"
        for name in (c.RX_PACKETS, c.TX_PACKETS, c.RX_BYTES, c.TX_BYTES)
    )
    host = namespace_host(**{STATISTICS.format(VETH): Answer(old)})
    found = of(Driver(host).nic_counters(VETH))
    assert {name: found[name].value for name in LOSSES} == dict.fromkeys(LOSSES)
    assert all(found[name].missing for name in LOSSES)


# -- RDMA, where there is some ---------------------------------------------------------------------


def test_a_host_without_rdma_has_no_rdma_counters_and_nothing_fails():
    driver = Driver(namespace_host())
    assert driver.rdma_links() == ()
    assert driver.rdma_counters(VETH) == ()


def test_soft_roce_is_counted_by_its_own_names_and_the_neutral_ones():
    found = of(Driver(rxe_host()).rdma_counters(VIRTIO))
    assert found[c.RDMA_SENT_PACKETS].value == 40721
    assert found[c.RDMA_RECEIVED_PACKETS].value == 708
    assert found[c.PACKET_SEQ_ERR].value == 12
    assert found[c.PACKET_SEQ_ERR].source == "hw_counters rcvd_seq_err"
    assert found["completer_retry_err"].value == 22
    assert found[c.DUPLICATE_REQUEST].value == 5
    assert c.NP_CNP_SENT not in found  # mlx5's alone: not missing, but none of this driver's
    shown = {
        line.split(":")[0].split("/")[-1] for line in recording("hw_counters--rxe").text.split()
    }
    assert len([r for r in found.values() if r.value is not None]) == len(shown - {"lifespan"})


def test_without_rdma_of_iproute2_sysfs_tells_the_links():
    whole, without = Driver(rxe_host()), Driver(rxe_host(without=["rdma "]))
    assert without.rdma_links() == whole.rdma_links()
    assert of(without.rdma_counters(VIRTIO)).keys() == of(whole.rdma_counters(VIRTIO)).keys()


def test_two_rdma_devices_of_one_port_are_not_chosen_between():
    two = (
        f'[{{"ifname":"mlx5_0","port":1,"state":"ACTIVE","netdev":"{VIRTIO}"}},'
        f'{{"ifname":"rxe0","port":1,"state":"ACTIVE","netdev":"{VIRTIO}"}}]'
    )
    with pytest.raises(CommandRejected, match="2 RDMA devices"):
        Driver(rxe_host(**{"rdma -j link": Answer(two)})).rdma_counters(VIRTIO)


def test_hw_counters_of_any_name_are_read():
    text = f"{HW}/lifespan:10\n{HW}/rx_pkts:7\n{HW}/tx_bytes:9\n"
    host = rxe_host(**{f"grep -H . {HW}/*": Answer(text)})
    found = of(Driver(host).rdma_counters(VIRTIO))
    assert (found["rx_pkts"].value, found["rx_pkts"].unit) == (7, "packets")
    assert found["tx_bytes"].unit == "bytes"
    assert found[c.OUT_OF_SEQUENCE].value is None


def test_an_rdma_device_that_counts_nothing_fails_nothing_and_shows_nothing():
    siw = Answer(f'[{{"ifname":"siw0","port":1,"state":"ACTIVE","netdev":"{VIRTIO}"}}]')
    folder = HW.replace("rxe0", "siw0")
    missing = Answer("", f"grep: {folder}/*: No such file or directory\n", 2)
    for statistic in (Answer("[]"), Answer("", "sh: 1: rdma: not found\n", 127)):
        host = rxe_host(**{
            "rdma -j link": siw,
            f"grep -H . {folder}/*": missing,
            "rdma -j statistic show link siw0/1": statistic,
        })  # fmt: skip
        found = Driver(host).rdma_counters(VIRTIO)
        assert found
        assert all(r.value is None and r.missing for r in found)


def test_an_rdma_too_old_for_json_leaves_it_to_sysfs():
    old = Answer("", 'Option "-j" is unknown, try "rdma help".\n', 255)
    assert Driver(rxe_host(**{"rdma -j link": old})).rdma_links() == Driver(rxe_host()).rdma_links()


def test_the_host_s_own_stack_is_read():
    found = of(Driver(namespace_host()).host_counters())
    assert found[c.UDP_OUT_DATAGRAMS].value == 4876
    assert found[c.UDP_RCVBUF_ERRORS].value == 0
    assert found[c.TCP_RETRANSMITTED_SEGMENTS].value == 58041
    assert found[c.IP_IN_RECEIVES].value == 30599837
    assert found[c.TCP_BACKLOG_DROPS].source == "/proc/net/netstat TcpExt.TCPBacklogDrop"
    assert found[c.IP_IN_NO_ROUTES].value == 0
    assert all(found[name].unit != "events" for name in found if name.endswith("_errors"))


OF_THE_STACK = (
    *(c.UDP_RCVBUF_ERRORS, c.UDP_SNDBUF_ERRORS, c.UDP_IN_ERRORS, c.UDP_NO_PORTS),
    *(c.UDP_IN_CSUM_ERRORS, c.UDP_MEM_ERRORS, c.IP_IN_DISCARDS, c.IP_OUT_DISCARDS),
    *(c.IP_OUT_NO_ROUTES, c.IP_REASM_FAILS, c.IP_REASM_TIMEOUTS, c.IP_FRAGMENT_FAILS),
    *(c.TCP_RETRANSMITTED_SEGMENTS, c.TCP_BACKLOG_DROPS, c.IP_IN_CSUM_ERRORS),
)


def test_what_a_stack_does_not_tell_of_its_losses_is_none_with_the_file_s_name():
    bare = {
        "cat /proc/net/snmp": Answer("Ip: Forwarding\nIp: 1\n"),
        "cat /proc/net/netstat": Answer("", "cat: /proc/net/netstat: No such file\n", 1),
    }
    found = of(Driver(namespace_host(**bare)).host_counters())
    assert {name: found[name].value for name in OF_THE_STACK} == dict.fromkeys(OF_THE_STACK)
    assert found[c.TCP_BACKLOG_DROPS].missing == "/proc/net/netstat has no TcpExt TCPBacklogDrop"
    whole = of(Driver(namespace_host()).host_counters())
    assert all(whole[name].value is not None for name in OF_THE_STACK)


def test_everything_that_counters_need_is_asked_in_one_round_but_the_folder_of_an_rdma_device():
    host = rxe_host(**{
        "cat /proc/net/snmp": recording("proc_net_snmp--kernel618"),
        "cat /proc/net/netstat": recording("proc_net_snmp--netstat-kernel618"),
    })  # fmt: skip
    links = linux.driver_of("h1").able(NicTelemetry)
    asked = Exchanges(host)

    def moment():
        counters = (links.nic_counters, links.rdma_counters, links.link_errors)
        return side_by_side([*(each(VIRTIO) for each in counters), links.host_counters()])

    def rounds_of(running):
        while running.open:
            yield running.open
            running.tell([(each, host.run(each)) for each in running.open])

    rounds = list(rounds_of(Running(moment())))
    assert [len(each) for each in rounds] == [6, 1]
    assert rounds[1] == (f"grep -H . {HW}/*",)
    together = []
    asked.answers = lambda commands: together.append(commands) or [host.run(c) for c in commands]
    first, second = (asked.ask(moment(), "a moment") for _ in range(2))
    assert [len(each) for each in together] == [6, 1, 7]  # the second time, as it was the first
    assert [r.value for each in first for r in each] == [r.value for each in second for r in each]
