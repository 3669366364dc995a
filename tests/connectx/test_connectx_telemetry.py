"""Counters: what is counted under which name, and that nothing missing becomes a number."""

import pytest
from connectx_host import Answer, FakeHost, grep, no_such_files, recording
from driven import driving

from labtests.capabilities import counters as c
from labtests.capabilities.nic import RdmaLink
from labtests.capabilities.readings import Reading
from labtests.core.errors import CommandRejected, ToolMissing, UnreadableOutput
from labtests.drivers.linux.ethtool import AT_THE_WIRE

Driver = driving("connectx")

IF = "enp3s0f0np0"
STATISTICS = f"ethtool -S {IF}"
KERNEL = (
    f"grep -s -H . /sys/class/net/{IF}/statistics/* /sys/class/net/{IF}/carrier_down_count"
    f" /sys/class/net/{IF}/carrier_changes"
)
VETH = recording("net_statistics--veth-carrier")
OF_THE_KERNEL = Answer(VETH.text.replace("/eth1/", f"/{IF}/"))
CX4 = recording("ethtool_statistics--cx4")  # no PFC, global pause
HW = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters"
LINKS = Answer(f'[{{"ifname":"mlx5_0","port":1,"state":"ACTIVE","netdev":"{IF}"}}]\n')
PFC_COUNTERS = (
    c.PFC_RX_FRAMES,
    c.PFC_TX_FRAMES,
    c.PFC_RX_PAUSE_US,
    c.PFC_TX_PAUSE_US,
    c.PFC_RX_TRANSITIONS,
)


def with_pfc(priority: int, value: int = 7, text: str = CX4.text) -> str:
    """The recording as the kernel's documentation says it looks with PFC on one priority."""
    names = ("rx_{}_pause", "rx_{}_pause_duration", "tx_{}_pause", "tx_{}_pause_duration")
    lines = [name.format(f"prio{priority}") for name in (*names, "rx_{}_pause_transition")]
    pause = "".join(f"{name}: {value + n}\n" for n, name in enumerate(lines))
    kept = "".join(line for line in text.splitlines(True) if "_global_pause" not in line)
    return kept.replace("module_unplug", f"{pause}module_unplug", 1)


def nic(text: str) -> dict[tuple[str, int | None], Reading]:
    host = FakeHost({STATISTICS: Answer(text), KERNEL: OF_THE_KERNEL})
    readings = Driver(host).nic_counters(IF)
    found = {(r.counter, r.index): r for r in readings}
    assert len(found) == len(readings), "two readings for one counter"
    return found


# -- ethtool ------------------------------------------------------------------------------------


def test_traffic_is_counted_per_priority():
    found = nic(CX4.text)
    assert found[c.RX_PACKETS, 0].value == 845715962
    assert found[c.TX_BYTES, 0].value == 2662454044895
    assert [found[c.TX_PACKETS, p].value for p in range(1, 8)] == [0] * 7
    reading = found[c.TX_BYTES, 0]
    assert (reading.device, reading.port, reading.scope) == ("ServerA", IF, "priority")
    assert (reading.unit, reading.source) == ("bytes", "ethtool -S tx_prio0_bytes")
    assert reading.time_s == 1.0


def test_the_discards_of_the_port_have_neutral_names():
    found = nic(CX4.text.replace("rx_discards_phy: 0", "rx_discards_phy: 4294967297"))
    assert found[c.NIC_RX_DISCARDED_PACKETS, None].value == 4294967297
    assert found[c.NIC_TX_DISCARDED_PACKETS, None].value == 0
    assert found[c.NIC_OUT_OF_BUFFER_PACKETS, None].source == "ethtool -S rx_out_of_buffer"
    assert found[c.PAUSE_RX_FRAMES, None].unit == "frames"


def test_a_counter_without_a_neutral_name_keeps_the_device_s_word():
    found = nic(CX4.text)
    assert found["tx_pci_signal_integrity", None].value == 34
    assert found["rx_vport_rdma_unicast_bytes", None].unit == "bytes"
    assert found["rx_packets_phy", None].unit == "packets"
    assert found["rx_global_pause_duration", None].unit == "us"


def test_a_histogram_of_packet_lengths_is_not_taken_for_bytes():
    found = nic(CX4.text)
    assert found["rx_64_bytes_phy", None].unit == "packets"
    assert found["rx_8192_to_10239_bytes_phy", None].unit == "packets"
    assert found["rx_bytes_phy", None].unit == "bytes"


def test_nothing_but_single_rings_is_left_out():
    names = {line.split(":")[0] for line in CX4.text.splitlines()}
    rings = {name for name in names if name[2].isdigit()}  # rx0_… tx15_…
    sources = {r.source.removeprefix("ethtool -S ") for r in nic(CX4.text).values()}
    assert names - rings <= sources
    assert not rings & sources


def test_a_priority_counter_without_a_neutral_name_keeps_its_priority():
    found = nic(CX4.text + "rx_prio3_marked: 11\n")
    assert found["rx_prio_marked", 3].scope == "priority"
    assert found["rx_prio_marked", 3].source == "ethtool -S rx_prio3_marked"


def test_the_discards_of_a_priority_are_none_where_the_driver_is_too_old_to_show_them():
    assert nic(CX4.text)[c.RX_DISCARDED_PACKETS, 3].value is None
    newer = "".join(f"rx_prio{p}_discards: {p}\n" for p in range(8))
    assert nic(CX4.text + newer)[c.RX_DISCARDED_PACKETS, 3].value == 3


def test_discards_that_only_a_shared_nic_has_are_read_where_they_are():
    found = nic(CX4.text + "rx_prio3_buf_discard: 9\nrx_prio3_cong_discard: 2\n")
    assert found[c.RX_BUFFER_DISCARDED_PACKETS, 3].value == 9
    assert found[c.RX_CONGESTION_DISCARDED_PACKETS, 3].value == 2
    assert (c.RX_BUFFER_DISCARDED_PACKETS, 4) not in found


def test_errors_of_the_cable_are_counted_at_the_wire_under_neutral_names():
    for word, (name, unit) in AT_THE_WIRE.items():
        found = nic(CX4.text.replace(f"{word}: 0", f"{word}: 17"))
        reading = found[name, None]
        assert (reading.value, reading.unit, reading.source) == (17, unit, f"ethtool -S {word}")


def test_what_the_kernel_counts_beside_the_nic_is_read_too():
    found = nic(CX4.text)
    assert (found[c.NET_TX_DROPPED, None].value, found[c.CARRIER_CHANGES, None].value) == (3, 4)
    assert found[c.LINK_DOWNS, None].source == "ethtool -S link_down_events_phy"
    assert found[c.QDISC_DROPPED_PACKETS, None].missing  # this host has no tc


def test_a_pause_storm_is_named():
    found = nic(CX4.text + "tx_pause_storm_warning_events: 2\ntx_pause_storm_error_events: 1\n")
    assert (found[c.PAUSE_STORM_WARNINGS, None].value, found[c.PAUSE_STORM_ERRORS, None].value) == (
        2,
        1,
    )
    assert nic(CX4.text)[c.PAUSE_STORM_ERRORS, None].value is None  # a driver of 2018


def test_pause_of_a_priority_without_pfc_is_none_and_never_0():
    readings = Driver(FakeHost({STATISTICS: Answer(with_pfc(3))})).pfc_counters((IF,))
    assert len(readings) == 8 * 5
    for reading in readings:
        assert (reading.value is None) == (reading.index != 3)
        assert bool(reading.missing) == (reading.index != 3)
    of_2 = next(r for r in readings if r.index == 2 and r.counter == c.PFC_RX_FRAMES)
    assert of_2.missing == "PFC is not enabled on priority 2 (ethtool shows no rx_prio2_pause)"


def test_pause_of_a_priority_with_pfc_has_five_counters():
    readings = Driver(FakeHost({STATISTICS: Answer(with_pfc(3, 10))})).pfc_counters((IF,))
    assert {r.counter: (r.value, r.unit) for r in readings if r.index == 3} == {
        c.PFC_RX_FRAMES: (10, "frames"),
        c.PFC_RX_PAUSE_US: (11, "us"),
        c.PFC_TX_FRAMES: (12, "frames"),
        c.PFC_TX_PAUSE_US: (13, "us"),
        c.PFC_RX_TRANSITIONS: (14, "events"),
    }


def test_an_answer_that_ends_before_the_pause_counters_is_not_called_pfc_off():
    whole = with_pfc(3)
    found = nic(whole[: whole.index("rx_prio3_pause:")])[c.PFC_RX_FRAMES, 3]
    assert found.value is None
    assert c.NOT_ENABLED not in found.missing
    assert "may be cut" in found.missing


def test_a_pause_counter_that_vanished_is_not_called_pfc_off():
    text = with_pfc(3).replace("rx_prio3_pause: 7\n", "")
    found = nic(text)[c.PFC_RX_FRAMES, 3]
    assert found.value is None
    assert found.missing == "PFC is enabled on priority 3, but ethtool shows no rx_prio3_pause"


def test_global_pause_is_named_as_the_reason_for_no_pause_per_priority():
    found = nic(CX4.text)[c.PFC_RX_FRAMES, 3]
    assert found.value is None
    assert "uses global pause (802.3x)" in found.missing


def test_pause_is_read_of_every_port_that_is_asked_for():
    other = f"ethtool -S {IF}x"
    host = FakeHost({STATISTICS: Answer(with_pfc(3)), other: Answer(with_pfc(5))})
    readings = Driver(host).pfc_counters((IF, f"{IF}x"))
    live = {(r.port, r.index) for r in readings if r.value is not None}
    assert live == {(IF, 3), (f"{IF}x", 5)}
    assert {r.counter for r in readings} == set(PFC_COUNTERS)


@pytest.mark.parametrize(
    "name", ["ixgbe", "virtio", "bnx2x", "pause-only", "pfc-prio3", "discards"]
)
def test_counters_of_another_vendor_or_of_a_filter_are_not_read_as_a_port_without_pfc(name):
    reply = recording(f"ethtool_statistics--{name}")
    for ask in ("nic_counters", "pfc_counters"):
        driver = Driver(FakeHost({STATISTICS: reply}))
        with pytest.raises(UnreadableOutput, match="mlx5 physical port"):
            getattr(driver, ask)(IF if ask == "nic_counters" else (IF,))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("rx_prio3_bytes: 0\n", ""),
        ("tx_prio7_packets: 0\n", ""),
        ("tx_prio7_packets: 0", "tx_prio7_packets: -1"),
        ("tx_prio7_packets: 0", "tx_prio7_packets: 1,000"),
        ("tx_prio7_packets: 0", "tx_prio7_packets: N/A"),
        ("tx_prio7_packets: 0", "tx_prio7_packets: 0x10"),
        ("tx_prio7_packets: 0", "tx_prio7_packets: 1e3"),
        ("tx_prio7_packets: 0", "tx_prio7_packets: ٣"),
        ("tx_prio7_packets: 0", "tx_prio7_packets:"),
        ("tx_prio7_packets: 0", "tx_prio7_packets 0"),
        ("tx_prio7_packets: 0", "tx_prio7_packets: 0\nSegmentation fault"),
        ("tx_prio7_packets: 0", "tx_prio7_packets: 0\ntx_prio7_packets: 0"),
        ("tx_prio7_packets: 0", "tx_prio7_packets: 0\nNIC statistics:"),
    ],
)
def test_a_change_of_one_line_is_noticed(before, after):
    assert before in CX4.text
    with pytest.raises(UnreadableOutput):
        nic(CX4.text.replace(before, after, 1))


def test_a_cut_before_the_end_of_the_priorities_is_noticed():
    end = CX4.text.index("tx_prio7_packets: 0") + len("tx_prio7_packets:")
    for cut in range(0, end, 97):
        with pytest.raises(UnreadableOutput):
            nic(CX4.text[:cut])


def test_values_beyond_32_and_64_bit_are_kept():
    text = CX4.text.replace("tx_prio7_bytes: 0", "tx_prio7_bytes: 18446744073709551615")
    assert nic(text)[c.TX_BYTES, 7].value == 2**64 - 1


# -- RDMA ---------------------------------------------------------------------------------------


def test_the_rdma_device_behind_a_port_is_found_by_rdma_link():
    host = FakeHost({"rdma -j link": recording("rdma_links--mlx5")})
    assert Driver(host).rdma_links()[0] == RdmaLink(
        rdma="mlx5_0", rdma_port=1, interface="ens1f0np0", state="ACTIVE"
    )


def test_without_the_rdma_tool_ibdev2netdev_is_asked():
    host = FakeHost({"ibdev2netdev": recording("ibdev2netdev--renamed")})
    assert Driver(host).rdma_links()[1].interface == "enp1s0f1np1"


def test_without_both_tools_both_are_named():
    with pytest.raises(ToolMissing, match=r"rdma: not found; sh: 1: ibdev2netdev: not found") as no:
        Driver(FakeHost({})).rdma_links()
    assert "iproute2" in no.value.remedy
    assert "mlnx-tools" in no.value.remedy


def test_rdma_counters_have_the_names_of_the_device():
    values = {"np_cnp_sent": 1052612505, "np_ecn_marked_roce_packets": 21278189006, "lifespan": 10}
    host = FakeHost({"rdma -j link": LINKS, f"grep -H . {HW}/*": grep(HW, values)})
    found = {r.counter: r for r in Driver(host).rdma_counters(IF)}
    assert found[c.NP_ECN_MARKED_PACKETS].value == 21278189006
    assert found[c.NP_CNP_SENT].source == "hw_counters np_cnp_sent"
    assert (found[c.NP_CNP_SENT].scope, found[c.NP_CNP_SENT].port) == ("port", IF)
    assert "lifespan" not in found


def test_an_rdma_counter_that_is_not_shown_is_none_with_the_reason():
    host = FakeHost({"rdma -j link": LINKS, f"grep -H . {HW}/*": grep(HW, {"np_cnp_sent": 0})})
    found = {r.counter: r for r in Driver(host).rdma_counters(IF)}
    assert found[c.NP_CNP_SENT].value == 0
    assert found[c.RP_CNP_HANDLED].value is None
    assert found[c.RP_CNP_HANDLED].missing == "hw_counters has no rp_cnp_handled"


def test_without_hw_counters_in_sysfs_the_rdma_tool_is_asked_and_named_as_the_source():
    statistic = recording("rdma_statistic--rxe")
    links = Answer(f'[{{"ifname":"rxe0","port":1,"state":"ACTIVE","netdev":"{IF}"}}]\n')
    folder = HW.replace("mlx5_0", "rxe0")
    host = FakeHost(
        {
            "rdma -j link": links,
            f"grep -H . {folder}/*": no_such_files(f"{folder}/*"),
            "rdma -j statistic show link rxe0/1": statistic,
        }
    )
    found = {r.counter: r for r in Driver(host).rdma_counters(IF)}
    assert found["sent_pkts"].value == 21039
    assert found["sent_pkts"].unit == "packets"
    assert found[c.DUPLICATE_REQUEST].value == 2
    assert found[c.DUPLICATE_REQUEST].source == "rdma statistic duplicate_request"


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ("[]", "no RDMA devices"),
        ('[{"ifname":"mlx5_1","port":1,"state":"DOWN","netdev":"ens9"}]', "mlx5_1=ens9"),
        ('[{"ifname":"mlx5_1","port":1,"state":"DOWN"}]', "mlx5_1=no interface"),
        (
            f'[{{"ifname":"mlx5_1","port":1,"state":"DOWN","netdev":"{IF}"}},'
            f'{{"ifname":"rxe0","port":1,"state":"DOWN","netdev":"{IF}"}}]',
            "2 RDMA devices",
        ),
    ],
)
def test_a_port_without_its_one_rdma_device_is_told_which_there_are(links, said):
    with pytest.raises(CommandRejected, match=said):
        Driver(FakeHost({"rdma -j link": Answer(links)})).rdma_counters(IF)


@pytest.mark.parametrize(
    "broken",
    [
        '[{"ifname":"mlx5_0","port":1,"state":"ACTIVE"',
        '{"ifname":"mlx5_0"}',
        "[1]",
        '[{"ifname":"mlx5_0","port":"1","state":"ACTIVE"}]',
        '[{"ifname":"mlx5_0","port":true,"state":"ACTIVE"}]',
        '[{"ifname":"","port":1,"state":"ACTIVE"}]',
        '[{"ifname":"mlx5_0","port":1}]',
        '[{"ifname":"mlx5_0","port":1,"state":"UP"},{"ifname":"mlx5_0","port":1,"state":"UP"}]',
        "",
    ],
)
def test_broken_json_is_refused(broken):
    with pytest.raises(UnreadableOutput):
        Driver(FakeHost({"rdma -j link": Answer(broken)})).rdma_links()


def test_old_iproute2_writes_the_port_into_the_name():
    links = Answer('[{"ifindex":0,"port":1,"ifname":"mlx5_0/1","state":"ACTIVE","netdev":"ens1"}]')
    assert Driver(FakeHost({"rdma -j link": links})).rdma_links()[0].rdma == "mlx5_0"


# -- the host -----------------------------------------------------------


def host_counters(text: str) -> dict[str, Reading]:
    readings = Driver(FakeHost({"cat /proc/net/snmp": Answer(text)})).host_counters()
    return {r.counter: r for r in readings}


SNMP = recording("proc_net_snmp--kernel6").text


def test_the_host_s_udp_and_ip_counters_are_read_by_their_titles():
    found = host_counters(SNMP)
    assert found[c.UDP_IN_DATAGRAMS].value == 677388
    assert found[c.UDP_RCVBUF_ERRORS].value == 0
    assert found["udp_out_datagrams"].value == 635596
    assert found["udp_out_datagrams"].unit == "datagrams"
    assert found[c.IP_REASM_REQUIRED].value == 0
    assert found["IpForwDatagrams"].source == "/proc/net/snmp Ip.ForwDatagrams"
    assert found[c.IP_REASM_FAILS].source == "/proc/net/snmp Ip.ReasmFails"
    assert (found[c.UDP_IN_ERRORS].scope, found[c.UDP_IN_ERRORS].port) == ("host", "")
    assert not {"IpForwarding", "IpDefaultTTL", "TcpInSegs"} & set(found)


def test_other_columns_in_another_order_are_read_as_well():
    found = host_counters("Udp: RcvbufErrors InDatagrams InErrors\nUdp: 3 4 5\n")
    assert found[c.UDP_RCVBUF_ERRORS].value == 3
    assert found[c.UDP_IN_ERRORS].value == 5
    assert found[c.IP_REASM_FAILS].value is None
    assert found[c.IP_REASM_FAILS].missing == "/proc/net/snmp has no Ip ReasmFails"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Udp: 677388 20139", "Udp: 677388"),
        ("Udp: 677388", "Udp: -677388"),
        ("Udp: 677388", "Udp: 677k"),
        ("Udp: 677388", "Tcp: 677388"),
        ("UdpLite: 0 0 0 0 0 0 0 0 0\n", ""),
        ("Udp: InDatagrams NoPorts", "Udp: NoPorts NoPorts"),
        ("Ip: 1 64", "Ip 1 64"),
        ("IcmpMsg: 20178 20164 1\n", "IcmpMsg: 20178 20164 1\nUdp: A\nUdp: 1\n"),
    ],
)
def test_lines_of_titles_and_values_that_do_not_belong_together_are_refused(before, after):
    assert before in SNMP
    with pytest.raises(UnreadableOutput):
        host_counters(SNMP.replace(before, after, 1))


def test_an_empty_proc_file_is_not_a_quiet_host():
    with pytest.raises(UnreadableOutput):
        host_counters("")


def test_readings_carry_the_moment_of_their_own_answer():
    host = FakeHost({STATISTICS: CX4, KERNEL: OF_THE_KERNEL, "cat /proc/net/snmp": Answer(SNMP)})
    driver = Driver(host)
    times = {r.source.split()[0]: r.time_s for r in driver.nic_counters(IF)}
    assert times == {"ethtool": 1.0, "tc": 2.0, "statistics": 3.0, "carrier_changes": 3.0}
    assert {r.time_s for r in driver.host_counters()} == {4.0, 5.0}
