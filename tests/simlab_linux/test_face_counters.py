"""Bytes and packets of a port, wherever a host shows them."""

from linux_bench import INTERFACE, Hands


def counted(hands: Hands) -> None:
    """3 packets of the stack and 5 of RDMA in, 2 and 7 out."""
    hands.nic().values |= {
        "rx_packets": (0, 0, 0, 8, 0, 0, 0, 0),
        "rx_bytes": (0, 0, 0, 3 * 104 + 5 * 1000, 0, 0, 0, 0),
        "tx_packets": (9, 0, 0, 0, 0, 0, 0, 0),
        "tx_bytes": (2 * 204 + 7 * 2000, 0, 0, 0, 0, 0, 0, 0),
        "ip_in_receives": 3,
        "ip_in_bytes": 300,
        "ip_out_packets": 2,
        "ip_out_bytes": 400,
    }


def test_the_stacks_are_in_proc_and_sysfs(hands: Hands) -> None:
    counted(hands)
    base = f"/sys/class/net/{INTERFACE}/statistics"
    names = ("rx_bytes", "rx_packets", "tx_bytes", "tx_packets")
    assert [int(hands.output(f"cat {base}/{name}")) for name in names] == [300, 3, 400, 2]
    lines = hands.output("cat /proc/net/dev").splitlines()
    assert [line.partition(":")[0].strip() for line in lines[2:]] == ["lo", INTERFACE]
    numbers = lines[3].partition(":")[2].split()
    assert len(numbers) == 16
    assert [int(numbers[at]) for at in (0, 1, 8, 9)] == [300, 3, 400, 2]


def test_rdmas_are_in_the_devices_counters_in_words_of_four_bytes(hands: Hands) -> None:
    counted(hands)
    base = "/sys/class/infiniband/mlx5_0/ports/1/counters"
    names = ("port_rcv_packets", "port_rcv_data", "port_xmit_packets", "port_xmit_data")
    assert [int(hands.output(f"cat {base}/{name}")) for name in names] == [5, 1250, 7, 3500]
    assert hands.output(f"cat {base}/symbol_error") == "0\n"
