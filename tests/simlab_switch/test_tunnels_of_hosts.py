"""VXLAN between emulated hosts: what the network carries, and what the kernel at its end counts.

Counts as recorded of Linux 6.18: 893 ECN-capable datagrams through a tunnel are 1786 of InECT0Pkts.
"""

from switch_bench import PORT, Shell, SimulatedBox

SENT = "iperf3 -c 198.18.71.1 -p 5300 -t 1 -S 0x62 "


def made(box: SimulatedBox, *, inherit: bool) -> None:
    tos = " tos inherit" if inherit else ""
    for host, address, more in (("h1", 2, " remote 10.71.0.3"), ("h3", 1, "")):
        for command in (
            f"link add vx type vxlan id 7 dstport 4789 dev eth1{more}{tos}",
            f"addr add 198.18.71.{address}/24 dev vx",
            "link set dev vx up",
        ):
            assert at(box, host, f"ip {command}").status == 0


def at(box: SimulatedBox, host: str, command: str) -> Shell:
    console = Shell()
    box.lab.devices[host].execute(command, console)
    return console


def sent(box: SimulatedBox, words: str) -> tuple[int, int]:
    """Packets that left by queue 3 and by queue 0."""
    at(box, "h3", "iperf3 -s -1 -p 5300")
    box.pass_time(0.1)
    client = at(box, "h1", SENT + words)
    box.pass_time(2.0)
    assert client.status == 0, client.err
    counters = box.network.queue_counters(PORT)
    return counters[3].forwarded_packets, counters[0].forwarded_packets


def counted(box: SimulatedBox, host: str = "h3") -> dict[str, int]:
    found: dict[str, int] = {}
    lines = at(box, host, "cat /proc/net/netstat /proc/net/snmp").out.splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        group, *each = names.split()
        found |= dict(zip((group + n for n in each), map(int, values.split()[1:]), strict=True))
    return found


def test_outer_headers_have_the_dscp_of_inner_ones_where_the_tunnel_is_told_so(
    box: SimulatedBox,
) -> None:
    made(box, inherit=True)
    in_class, without = sent(box, "-u -b 10M -l 1400")
    assert in_class > 800
    assert without == 0
    seen = counted(box)
    assert seen["IpExt:InECT0Pkts"] == 2 * in_class
    assert seen["Ip:InReceives"] == seen["Udp:InDatagrams"] == 2 * in_class
    assert counted(box, "h1")["Udp:OutDatagrams"] == in_class
    bytes_each = box.network.queue_counters(PORT)[3].forwarded_bytes / in_class
    assert bytes_each == 1400 + 8 + 20 + 14 + 4 + 50


def test_without_that_all_is_in_the_queue_of_no_class_and_as_capable(box: SimulatedBox) -> None:
    made(box, inherit=False)
    in_class, without = sent(box, "-u -b 10M -l 1400")
    assert in_class == 0
    assert without > 800
    assert counted(box)["IpExt:InECT0Pkts"] == 2 * without


def test_tcp_in_a_tunnel_has_shorter_segments_and_its_marks_come_out(box: SimulatedBox) -> None:
    made(box, inherit=True)
    box.do(
        f"tc qdisc replace dev {PORT} parent 1:13 handle 33: red limit 1048576 min 3000 max 9000 "
        "avpkt 1000 burst 4 probability 0.1 bandwidth 200mbit ecn"
    )
    box.send("h2", tos=96, mbit_per_s=150)
    sent(box, "")
    marks = box.network.queue_counters(PORT)[3].marked_packets
    assert marks
    assert counted(box)["IpExt:InCEPkts"] == 2 * marks


def test_a_kernel_that_loses_marks_counts_them_outside_only(box: SimulatedBox) -> None:
    box.lab.faults["h3"].losses.acts["tunnel"]({"loses": "marks"})
    box.lab.faults["h1"].losses.acts["tunnel"]({"loses": "dscp"})
    made(box, inherit=True)
    box.do(
        f"tc qdisc replace dev {PORT} parent 1:10 handle 33: red limit 1048576 min 3000 max 9000 "
        "avpkt 1000 burst 4 probability 0.1 bandwidth 200mbit ecn"
    )
    box.send("h2", tos=0, mbit_per_s=150)
    in_class, without = sent(box, "")
    assert (in_class, bool(without)) == (0, True), "the outer headers have no DSCP"
    marks = box.network.queue_counters(PORT)[0].marked_packets
    assert marks
    assert counted(box)["IpExt:InCEPkts"] == marks
