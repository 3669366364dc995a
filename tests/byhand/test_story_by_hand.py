"""Document 000 by hand, short: PFC for two UDP flows; the reaction point of one RDMA flow."""

import json
import re
import subprocess
import time

from served_lab import INTERFACES, PORTS, RECEIVER, ServedLab

SECONDS = 1
EGRESS = PORTS["ServerC"]


def outbound(served: ServedLab) -> dict[int, tuple[int, int]]:
    """Forwarded and dropped packets of the bottleneck's queues, as the switch shows them."""
    text = served.output("S6550", f"display qos queue-statistics interface {EGRESS} outbound")
    pattern = r" Queue (\d)\n  Forwarded: (\d+) packets.*\n  Dropped: (\d+) packets"
    return {int(m[0]): (int(m[1]), int(m[2])) for m in re.findall(pattern, text)}


def pauses(served: ServedLab) -> dict[tuple[str, int], int]:
    """Pause frames sent, by switch port and priority."""
    text = served.output("S6550", "display priority-flow-control interface")
    found: dict[tuple[str, int], int] = {}
    port = ""
    for line in text.splitlines()[2:]:
        port = line.split()[0] if line.startswith("WGE") else port
        counted = re.search(r" (\d) +(\d+) +(\d+)$", line)
        if counted is not None:
            found[port, int(counted[1])] = int(counted[3])
    return found


def hosts(served: ServedLab, pfc: str) -> None:
    for host, interface in INTERFACES.items():
        served.output(host, f"mlnx_qos -i {interface} --trust dscp --pfc {pfc}")


def two_udp_flows(served: ServedLab) -> list["subprocess.Popen[str]"]:
    """A sends 7.8 Gb/s in DSCP 8 (priority 1), B 5.15 Gb/s in DSCP 16 (priority 2)."""
    for port in (5401, 5402):
        served.start("ServerC", f"iperf3 -s -1 -p {port}")
        served.wait_for("ServerC", "ss -tln", f":{port}")
    flags = f"-u -l 60000 -t {SECONDS} -J"
    return [
        served.start("ServerA", f"iperf3 -c {RECEIVER} -p 5401 -b 7.8G -S 0x20 {flags} 2>&-"),
        served.start("ServerB", f"iperf3 -c {RECEIVER} -p 5402 -b 5.15G -S 0x40 {flags} 2>&-"),
    ]


def test_pfc_by_hand_holds_the_faster_flow_and_loses_nothing(served: ServedLab) -> None:
    hosts(served, "0,1,1,0,0,0,0,0")
    for port in PORTS.values():
        served.configure(f"interface {port}", "qos trust dscp", "undo priority-flow-control")
    served.output("S6550", "reset counters interface")
    for flow in two_udp_flows(served):
        flow.communicate(timeout=60)
    dropped = {queue: drops for queue, (_, drops) in outbound(served).items()}
    assert dropped[1] > 0
    assert dropped[2] > 0
    assert pauses(served) == {}

    for port in PORTS.values():
        served.configure(
            f"interface {port}",
            "priority-flow-control enable",
            "priority-flow-control no-drop dot1p 1,2",
        )
    served.output("S6550", "reset counters interface")
    flows = two_udp_flows(served)
    time.sleep(0.3)
    during = outbound(served)
    rates = [json.loads(flow.communicate(timeout=60)[0]) for flow in flows]
    after = outbound(served)
    assert after[1][0] > during[1][0]  # one sees it move
    assert sum(drops for _, drops in after.values()) == 0
    sent = pauses(served)
    assert sent["WGE1/0/14", 1] > sent["WGE1/0/15", 2] > 0
    lost = [rate["end"]["sum"]["lost_packets"] for rate in rates]
    assert lost == [0, 0]
    slowed = rates[0]["end"]["sum"]["bits_per_second"]
    assert slowed < 0.75 * 7.8e9
    counter = f"ethtool -S {INTERFACES['ServerA']} | awk '/rx_prio1_pause:/ {{print $2}}'"
    assert int(served.output("ServerA", counter)) >= sent["WGE1/0/14", 1]

    for port in PORTS.values():
        served.configure(
            f"interface {port}",
            "undo priority-flow-control",
            "undo priority-flow-control no-drop dot1p",
        )
    hosts(served, "0,0,0,0,0,0,0,0")


def two_rdma_flows(served: ServedLab) -> None:
    """A in DSCP 24 (priority 3), B in DSCP 16 (priority 2), until both are done."""
    typed = {}
    for host, port, tos in (("ServerA", 18801, 96), ("ServerB", 18802, 64)):
        flags = f"-d mlx5_0 -D {SECONDS} -p {port} --tos={tos}"
        served.start("ServerC", f"ib_send_bw {flags}")
        served.wait_for("ServerC", "ss -tln", f":{port}")
        typed[host] = f"ib_send_bw {flags} {RECEIVER}"
    # one straight after the other: on a slow machine the first were over before the second began
    clients = [served.start(host, line) for host, line in typed.items()]
    for client in clients:
        text = client.communicate(timeout=60)[0]
        assert client.returncode == 0, text


def test_the_reaction_point_toggled_by_hand_makes_one_queue_drop(served: ServedLab) -> None:
    hosts(served, "0,0,0,0,0,0,0,0")
    for port in PORTS.values():
        served.configure(f"interface {port}", "qos trust dscp", "undo priority-flow-control")
    served.configure(
        "qos wred queue table ECN",
        *(f"queue {q} drop-level 0 low-limit 100 high-limit 1000" for q in (2, 3)),
        *(f"queue {q} ecn" for q in (2, 3)),
        f"interface {EGRESS}",
        "qos wred apply ECN",
    )
    toggle = f"/sys/class/net/{INTERFACES['ServerB']}/ecn/roce_rp/enable/2"
    seen = {}
    for value in (0, 1):
        served.output("ServerB", f"echo {value} > {toggle}")
        served.output("S6550", "reset counters interface")
        two_rdma_flows(served)
        seen[value] = {queue: drops for queue, (_, drops) in outbound(served).items()}
        marked = served.output("S6550", f"display packet-drop interface {EGRESS}")
        assert int(re.search(r"ECN marked: (\d+)", marked)[1]) > 0  # type: ignore[index]
    assert seen[1][2] == seen[1][3] == 0
    assert seen[0][2] > 0
    assert seen[0][3] == 0
    served.configure(f"interface {EGRESS}", "undo qos wred apply")
    served.configure("undo qos wred queue table ECN")
