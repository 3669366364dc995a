"""Files and tools of an emulated host: writing reaches the network, reading comes from it."""

import json
import re
from collections.abc import Callable

import pytest
from linux_bench import INTERFACE, Hands, transcript

from labtests.simlab.linux.commands import mlnx_qos
from labtests.simlab.linux.mlx5_counters import names
from labtests.simlab.linux.qos import ETS, VENDOR

ECN = f"/sys/class/net/{INTERFACE}/ecn"


class Settings:
    """A QoS state as a recording shows it. What is not given is as after boot."""

    def __init__(self, **given: object) -> None:
        self.dcbx, self.trust, self.cable_length_m = "os", "dscp", 7
        self.pfc: frozenset[int] = frozenset()
        self.buffer_bytes, self.buffer_of = [0] * 8, [0] * 8
        self.algorithms, self.bandwidth_percent = [VENDOR] * 8, [0] * 8
        self.tc_of_priority = [1, 0, 2, 3, 4, 5, 6, 7]
        self.mapping = [(dscp, dscp >> 3) for dscp in range(63, -1, -1)]
        for name, value in given.items():
            setattr(self, name, value)

    def dscps(self) -> list[tuple[int, int]]:
        return self.mapping


MOVED_30 = [(30, 6), *((dscp, dscp >> 3) for dscp in range(63, -1, -1) if dscp != 30)]
NEWER = "default priority:"
RECORDED = {  # settings, and the beginnings of lines that the recorded build did not print yet
    "mlnx_qos-01": (
        Settings(
            dcbx="fw",
            pfc=frozenset({3}),
            buffer_bytes=[130944, 130944, 0, 0, 0, 0, 0, 0],
            buffer_of=[0, 0, 0, 1, 0, 0, 0, 0],
            tc_of_priority=[0, 0, 0, 3, 0, 0, 6, 0],
            algorithms=[ETS, VENDOR, VENDOR, ETS, VENDOR, VENDOR, VENDOR, VENDOR],
            bandwidth_percent=[50, 0, 0, 50, 0, 0, 0, 0],
        ),
        (NEWER,),
    ),
    "mlnx_qos-03": (
        Settings(
            pfc=frozenset({3}),
            buffer_bytes=[80256, 80256, 896, 80256, 896, 896, 896, 896],
            buffer_of=[0, 2, 5, 7, 1, 2, 3, 6],
            mapping=MOVED_30,
        ),
        (NEWER,),
    ),
    "mlnx_qos-11": (
        Settings(trust="pcp", buffer_of=[1] * 8),
        (NEWER, "Receive buffer size", "tc: ", "\t priority: "),
    ),
    "mlnx_qos-13": (
        Settings(pfc=frozenset({3})),
        (NEWER, "Receive buffer size", "\tbuffer "),
    ),
}


def by_class(text: str) -> list[str]:
    """The head, then each traffic class with its priorities, by number: builds differ in order."""
    head, *classes = re.split(r"^(?=tc: )", text, flags=re.MULTILINE)
    return [head, *sorted(classes)]


@pytest.mark.parametrize("name", RECORDED)
def test_mlnx_qos_prints_recordings_byte_for_byte(name: str) -> None:
    settings, newer = RECORDED[name]
    recorded = transcript(name).replace("max_buffer_size=262016", "")
    lines = mlnx_qos.render(settings).splitlines(keepends=True)  # type: ignore[arg-type]
    printed = "".join(line for line in lines if not line.startswith(newer))
    if "\t" not in recorded:  # whoever recorded it had its tabs expanded
        printed = printed.expandtabs(8)
    assert by_class(printed) == by_class(recorded)


def test_mlnx_qos_changes_what_the_nic_does(hands: Hands) -> None:
    printed = hands.output(f"mlnx_qos -i {INTERFACE} -f 0,0,0,1,0,0,0,0 --trust dscp")
    assert (hands.nic().pfc, hands.nic().trust) == (frozenset({3}), "dscp")
    assert (
        "\tenabled     0   0   0   1   0   0   0   0   \n\tbuffer      0   0   0   1   0" in printed
    )
    assert "Receive buffer size (bytes): 130944,130944,0,0,0,0,0,0,\nCable len: 7\n" in printed
    hands.output(f"mlnx_qos -i {INTERFACE} --dscp2prio set,30,6")
    assert hands.nic().dscp_map[30] == 6
    shown = hands.output(f"mlnx_qos -i {INTERFACE} | grep prio:6")
    assert shown == "\tprio:6 dscp:30,55,54,53,52,51,50,49,\n\tprio:6 dscp:48,\n"
    hands.output(f"mlnx_qos -i {INTERFACE} --dscp2prio=del,30,6")
    assert hands.nic().dscp_map[30] == 0
    hands.output(f"mlnx_qos -i {INTERFACE} --trust pcp")
    assert hands.nic().trust == "pcp"


def test_mlnx_qos_remembers_traffic_classes_and_the_cable(hands: Hands) -> None:
    hands.output(
        f"mlnx_qos -i {INTERFACE} -s ets,strict,ets,vendor,vendor,vendor,vendor,vendor "
        "-t 40,0,60,0,0,0,0,0 -p 0,0,2,2,1,1,1,1 --cable_len 20"
    )
    printed = hands.output(f"mlnx_qos -i {INTERFACE} -a")
    assert (
        "tc: 0 ratelimit: unlimited, tsa: ets, bw: 40%\n\t priority:  0\n\t priority:  1\n"
        in printed
    )
    assert "tc: 1 ratelimit: unlimited, tsa: strict\n\t priority:  4\n" in printed
    assert "tc: 7 ratelimit: unlimited, tsa: vendor\n" in printed, "-a lists empty classes"
    assert "Cable len: 20\n" in printed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "Interface name is required\nUsage: mlnx_qos -i <interface> [options]\n\n"),
        (f"-i {INTERFACE} -f 1,2", "Bad value for PFC: 2 is not in the range 0..1\n"),
        (f"-i {INTERFACE} -f 0,1", "pfc list must have 8 items\n"),
        (f"-i {INTERFACE} -f 0,0,0,0,0,0,0,0,0", "Too many items for PFC\n"),
        (f"-i {INTERFACE} --trust ip", "Invalid trust state command. Refer to the help.\n"),
        (f"-i {INTERFACE} --dscp2prio set,64,1", "Invalid dscp2prio command. Refer to the help.\n"),
        (f"-i {INTERFACE} --dscp2prio del,30,6", "dscp2prio command failed\n"),
        (f"-i {INTERFACE} -t 1,0,0,0,0,0,0,0", "ETS BW for a strict/vendor TC must be 0\n"),
        (f"-i {INTERFACE} surplus", "Bad arguments\n"),
    ],
)
def test_mlnx_qos_refuses_on_stdout_with_status_1(hands: Hands, options: str, said: str) -> None:
    session = hands.run(f"mlnx_qos {options}")
    assert (session.status, session.err) == (1, "")
    assert session.out.startswith(said)


def test_lldpad_is_warned_about_first(hands: Hands) -> None:
    hands.lab.inject({"kind": "lldpad", "device": "ServerA"})
    first = hands.output(f"mlnx_qos -i {INTERFACE}").splitlines()[0]
    assert first == (
        "****** WARNING: lldpad service is running and may overwrite your settings ******"
    )
    assert hands.run("systemctl is-active lldpad").out == "active\n"


def test_a_lying_host_accepts_everything_and_changes_nothing(hands: Hands) -> None:
    hands.lab.inject({"kind": "lie", "device": "ServerA"})
    assert "1   0" not in hands.output(f"mlnx_qos -i {INTERFACE} -f 0,0,0,1,0,0,0,0 | grep enabled")
    assert hands.output(f"echo 0 > {ECN}/roce_rp/enable/3; cat {ECN}/roce_rp/enable/3") == "1\n"
    assert hands.nic().pfc == frozenset()


def test_dcqcn_files_read_and_write_the_nic(hands: Hands) -> None:
    assert hands.output(f"cat {ECN}/roce_rp/enable/*") == "1\n" * 8
    hands.output(f"echo 0 > {ECN}/roce_rp/enable/2 && echo 0 | tee {ECN}/roce_np/enable/5")
    assert hands.nic().rp_enabled == frozenset(range(8)) - {2}
    assert hands.nic().np_enabled == frozenset(range(8)) - {5}
    hands.output(f"echo 200 > {ECN}/roce_rp/rpg_ai_rate; echo 46 > {ECN}/roce_np/cnp_dscp")
    assert hands.nic().dcqcn_rp["rpg_ai_rate"] == 200
    assert hands.nic().dcqcn_np["cnp_dscp"] == 46
    session = hands.run(f"grep -H . {ECN}/roce_np/*")
    assert session.status == 2
    assert session.out == (
        f"{ECN}/roce_np/cnp_802p_prio:6\n{ECN}/roce_np/cnp_dscp:46\n"
        f"{ECN}/roce_np/min_time_between_cnps:4\n"
    )
    assert session.err == f"grep: {ECN}/roce_np/enable: Is a directory\n"


@pytest.mark.parametrize("value", ["2", "-1", "on", ""])
def test_a_bad_value_is_a_write_error(hands: Hands, value: str) -> None:
    session = hands.run(f"echo '{value}' > {ECN}/roce_rp/enable/2")
    assert (session.status, session.err) == (
        1, "bash: line 1: echo: write error: Invalid argument\n"
    )  # fmt: skip
    tee = hands.run(f"echo '{value}' | tee {ECN}/roce_rp/enable/2 >/dev/null")
    assert (tee.status, tee.err) == (1, f"tee: {ECN}/roce_rp/enable/2: Invalid argument\n")


def test_counters_cannot_be_written(hands: Hands) -> None:
    path = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent"
    session = hands.run(f"echo 0 > {path}")
    assert (session.status, session.err) == (1, f"bash: line 1: {path}: Permission denied\n")


def test_an_inbox_driver_has_no_ecn_folder(hands: Hands) -> None:
    hands.lab.inject({"kind": "no-ecn-folder", "device": "ServerA"})
    session = hands.run(f"ls {ECN}; cat {ECN}/roce_np/cnp_dscp; echo 1 > {ECN}/roce_np/cnp_dscp")
    assert session.err == (
        f"ls: cannot access '{ECN}': No such file or directory\n"
        f"cat: {ECN}/roce_np/cnp_dscp: No such file or directory\n"
        f"bash: line 1: {ECN}/roce_np/cnp_dscp: No such file or directory\n"
    )


def test_ethtool_lists_the_counters_of_a_recording_in_its_order() -> None:
    recorded = [
        line.split(":")[0].strip() for line in transcript("ethtool-statistics").splitlines()
    ]
    newer = re.compile(r"rx_prio\d_discards|tx_pause_storm_\w+")  # than the recorded driver of 2018
    assert [name for name in names(frozenset()) if not newer.fullmatch(name)] == recorded


def test_ethtool_shows_pauses_only_where_pfc_is_on(hands: Hands) -> None:
    hands.nic().values["pfc_rx_frames"] = (0, 0, 0, 7, 0, 0, 0, 0)
    hands.nic().values["pfc_rx_pause_us"] = (0, 0, 0, 1234, 0, 0, 0, 0)
    pauses = hands.output(f"ethtool -S {INTERFACE} | grep -E 'prio._pause|global'")
    assert "rx_global_pause: 0\n" in pauses
    assert "prio3" not in pauses
    hands.output(f"mlnx_qos -i {INTERFACE} -f 0,0,0,1,0,0,0,0")
    assert hands.output(f"ethtool -S {INTERFACE} | grep -E 'prio._pause|global'") == (
        "     rx_prio3_pause: 7\n     rx_prio3_pause_duration: 1234\n     tx_prio3_pause: 0\n"
        "     tx_prio3_pause_duration: 0\n     rx_prio3_pause_transition: 0\n"
    )


def test_ethtool_knows_no_other_device(hands: Hands) -> None:
    session = hands.run("ethtool -S rxe0")
    assert (session.status, session.out) == (96, "")
    assert session.err == transcript("ethtool-no-device.err")
    assert hands.run("ethtool -i lo").status == 71


def test_counters_die_disappear_and_start_again(hands: Hands) -> None:
    hands.output(f"mlnx_qos -i {INTERFACE} -f 0,0,0,1,0,0,0,0")
    values = hands.nic().values
    read = f"ethtool -S {INTERFACE} | grep -E 'rx_prio3_(pause|packets):'"
    values |= {"rx_packets": (0, 0, 0, 10, 0, 0, 0, 0), "pfc_rx_frames": (0, 0, 0, 5, 0, 0, 0, 0)}
    fault = {"device": "ServerA", "port": INTERFACE, "counter": "pfc"}
    hands.lab.inject({"kind": "dead-counter", **fault})
    assert hands.output(read) == "     rx_prio3_packets: 10\n     rx_prio3_pause: 5\n"
    values |= {"rx_packets": (0, 0, 0, 20, 0, 0, 0, 0), "pfc_rx_frames": (0, 0, 0, 9, 0, 0, 0, 0)}
    assert hands.output(read) == "     rx_prio3_packets: 20\n     rx_prio3_pause: 5\n"
    hands.lab.inject({"kind": "reset-counters", "device": "ServerA"})
    assert "rx_prio3_packets: 0\n" in hands.output(read)
    hands.lab.inject({"kind": "missing-counter", **fault, "counter": "rx_prio3_packets"})
    assert hands.output(read) == "     rx_prio3_pause: 5\n"


def test_a_nic_that_is_reset_takes_nothing_from_what_the_kernel_has_counted(hands: Hands) -> None:
    """InDatagrams of -18 was what every later suite stumbled over."""
    hands.nic().values |= {"udp_in_datagrams": 20, "ip_in_receives": 20}
    before = hands.output("cat /proc/net/snmp")
    assert "\nUdp: 20 " in before
    hands.lab.inject({"kind": "reset-counters", "device": "ServerA"})
    assert hands.output("cat /proc/net/snmp") == before


def test_rdma_counters_are_the_same_everywhere(hands: Hands) -> None:
    hands.nic().values |= {"np_cnp_sent": 11, "np_ecn_marked": 12, "rp_cnp_ignored": 13}
    base = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters"
    assert hands.output(f"cat {base}/np_cnp_sent {base}/lifespan") == "11\n10\n"
    (row,) = json.loads(hands.output("rdma -j statistic show link mlx5_0/1"))
    assert (row["ifname"], row["port"], row["rp_cnp_ignored"]) == ("mlx5_0", 1, 13)
    assert row["np_ecn_marked_roce_packets"] == 12
    assert "lifespan" not in row
    hands.lab.inject(
        {
            "kind": "missing-counter",
            "device": "ServerA",
            "port": INTERFACE,
            "counter": "np_cnp_sent",
        }
    )
    assert "np_cnp_sent" not in hands.output(f"ls {base}; rdma statistic")


def test_rdma_prints_the_layout_of_recordings(hands: Hands) -> None:
    recorded = transcript("rdma-link-json")
    renamed = recorded.replace("rxe0", "mlx5_0").replace("eth1", INTERFACE)
    assert hands.output("rdma -j link") == renamed.replace('"netdev_index":3', '"netdev_index":2')
    wrong = hands.run("rdma -j statistic show link nosuch/1")
    assert (wrong.status, wrong.out) == (1, transcript("rdma-statistic-wrong-device"))
    assert wrong.err == transcript("rdma-wrong-device.err")


def test_snmp_tells_host_losses_from_network_losses(hands: Hands) -> None:
    hands.nic().values |= {"udp_in_datagrams": 5, "udp_rcvbuf_errors": 2, "ip_reasm_fails": 3}
    keys, numbers = hands.output("grep ^Udp: /proc/net/snmp").splitlines()
    udp = dict(zip(keys.split(), numbers.split(), strict=True))
    assert (udp["InDatagrams"], udp["RcvbufErrors"]) == ("5", "2")
    keys, numbers = hands.output("grep ^Ip: /proc/net/snmp").splitlines()
    assert dict(zip(keys.split(), numbers.split(), strict=True))["ReasmFails"] == "3"


def test_tools_agree_on_names_and_addresses(make_lab: Callable[..., Hands]) -> None:
    hands = make_lab(unplugged=True)
    assert hands.output("ibdev2netdev") == (
        f"mlx5_0 port 1 ==> {INTERFACE} (Up)\nmlx5_1 port 1 ==> enp3s0f1np1 (Down)\n"
    )
    assert "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:c0a8:0a0a\t192.168.10.10" in hands.output(
        "show_gids"
    )
    assert f"{INTERFACE}      UP             192.168.10.10/24 \n" in hands.output("ip -br addr")
    assert hands.output(
        f"cat /sys/class/net/{INTERFACE}/operstate /sys/class/net/*np1/operstate"
    ) == ("up\ndown\n")
    assert hands.output("ls /sys/class/infiniband/mlx5_0/device/net") == f"{INTERFACE}\n"
    assert hands.output("cma_roce_tos -d mlx5_0 -t 106; cma_roce_tos -d mlx5_0") == "106\n106\n"
    assert "driver: mlx5_core\nversion: " in hands.output(f"ethtool -i {INTERFACE}")


def test_ping_answers_inside_the_lab_only(hands: Hands) -> None:
    session = hands.run("ping -c 2 -i 0.2 192.168.10.12")
    hands.advance(1)
    assert session.status == 0
    assert "2 packets transmitted, 2 received, 0% packet loss" in session.out
    lost = hands.run("ping -c 1 -W 2 192.168.10.99")
    hands.advance(2)
    assert (lost.status, "100% packet loss" in lost.out) == (1, True)


def test_rm_removes_a_folder_only_when_it_is_told_to(hands: Hands) -> None:
    hands.output("mkdir -p /tmp/a && mkdir /tmp/a/b && echo x > /tmp/a/b/c")
    assert "cannot remove '/tmp/a': Is a directory" in hands.run("rm -f /tmp/a").err
    hands.output("rm -rf -- /tmp/a")
    assert "No such file" in hands.run("ls /tmp/a").err
    assert hands.run("rm -rf /sys/class/net /tmp").status == 1
    assert hands.output(f"ls /sys/class/net/{INTERFACE}/mtu") == f"/sys/class/net/{INTERFACE}/mtu\n"


def test_mkdir_p_makes_what_is_missing_above_and_minds_nothing_that_is_there(hands) -> None:
    assert hands.run("mkdir /tmp/a/b").status == 1
    for _ in range(2):
        assert hands.run("mkdir -p /tmp/a/b/c").status == 0
    assert hands.run("test -d /tmp/a/b/c").status == 0
    assert hands.run("mkdir -p /sys/class/net/new/folder").status == 1


def test_programs_have_the_paths_of_a_merged_usr(hands) -> None:
    assert hands.output("/bin/sh -c 'echo in sh'") == "in sh\n"
    assert hands.output("/usr/bin/echo so") == hands.output("/bin/echo so") == "so\n"
    assert hands.output("command -v /bin/sh sh") == "/bin/sh\n/usr/bin/sh\n"
    assert hands.run("/sbin/cat /proc/version").status == 127


def test_ls_tells_the_sizes_of_files(hands) -> None:
    hands.run("printf hello > /tmp/five; mkdir /tmp/d")
    assert " root root    5 " in hands.output("ls -l /tmp/five")
    assert hands.output("ls -l /tmp").startswith("total 4\n")
    assert " root root 4096 " in hands.output("ls -l /sys/class/net/enp3s0f0np0/mtu")


def test_a_word_ends_where_no_letter_follows(hands: Hands) -> None:
    """As grep(1) says of -w: also where the pattern itself ends with a colon."""
    assert hands.output("echo 'rx_bytes: 7' | grep -w rx_bytes:") == "rx_bytes: 7\n"
    assert hands.output("echo 'rx_bytes: 7' | grep -w rx_bytes") == "rx_bytes: 7\n"
    assert hands.run("echo 'rx_bytes: 7' | grep -w bytes").status == 1
