"""Hosts in front of the real packet network: what is configured changes what packets do."""

import json
import re
from collections.abc import Callable

import pytest
from linux_bench import INTERFACE, Hands

ADDRESS = "192.168.10.12"


def test_traffic_of_hosts_shows_in_their_counters(make_lab: Callable[..., Hands]) -> None:
    hands = make_lab(real=True)
    for device in ("ServerA", "ServerC"):
        hands.output(f"mlnx_qos -i {INTERFACE} -f 0,0,0,1,0,0,0,0 --trust dscp", device)
    hands.run("ib_send_bw --report_gbits -R -T 96 -n 500", "ServerC")
    client = hands.run(f"ib_send_bw --report_gbits -R -T 96 -n 500 {ADDRESS}", "ServerA")
    hands.advance(0.2)
    assert client.status == 0
    average = float(re.findall(r"65536 +500 +[\d.]+ +([\d.]+)", client.out)[0])
    assert average == pytest.approx(9.26, rel=0.05)
    sent = hands.output(f"ethtool -S {INTERFACE} | grep -E 'tx_prio3_packets'", "ServerA")
    received = hands.output(f"ethtool -S {INTERFACE} | grep rx_prio3_packets", "ServerC")
    assert int(sent.split()[-1]) == int(received.split()[-1]) == 500 * 64


def test_udp_datagrams_arrive_and_are_counted(make_lab: Callable[..., Hands]) -> None:
    hands = make_lab(real=True)
    hands.run("iperf3 -s -1", "ServerC")
    client = hands.run(f"iperf3 -c {ADDRESS} -u -b 2G -l 65500 -t 0.2 -i 0.1", "ServerA")
    hands.advance(1)
    assert client.status == 0
    sent, received = re.findall(r"(\d+)/(\d+) \(0%\)", client.out)
    assert sent == received
    snmp = hands.output("grep ^Udp: /proc/net/snmp", "ServerC").splitlines()[1].split()
    assert snmp[1] == sent[1]


def test_datagrams_under_way_are_not_taken_for_lost(make_lab: Callable[..., Hands]) -> None:
    hands = make_lab(real=True)
    for device, port in (("ServerA", 5201), ("ServerB", 5202)):
        hands.run(f"iperf3 -s -1 -J -i 0.1 -p {port} > /tmp/{port}", "ServerC")
        hands.run(f"iperf3 -c {ADDRESS} -p {port} -u -b 4.7G -l 65500 -t 0.2 -i 0.1", device)
    hands.advance(1)
    for port in (5201, 5202):
        document = json.loads(hands.output(f"cat /tmp/{port}", "ServerC"))
        assert [row["sum"]["lost_packets"] for row in document["intervals"]] == [0] * 3
        assert document["end"]["sum"]["packets"] > 1000


def test_congestion_loses_what_the_switch_drops(make_lab: Callable[..., Hands]) -> None:
    hands = make_lab(real=True)
    for device, port in (("ServerA", 5201), ("ServerB", 5202)):
        hands.run(f"iperf3 -s -1 -J -i 0.1 -p {port} > /tmp/{port}", "ServerC")
        hands.run(f"iperf3 -c {ADDRESS} -p {port} -u -b 8G -l 65500 -t 0.2 -i 0.1", device)
    hands.advance(1)
    ends = [json.loads(hands.output(f"cat /tmp/{p}", "ServerC"))["end"] for p in (5201, 5202)]
    assert sum(end["sum"]["lost_packets"] for end in ends) > 500
    snmp = hands.output("grep ^Ip: /proc/net/snmp", "ServerC").splitlines()
    values = dict(zip(snmp[0].split()[1:], snmp[1].split()[1:], strict=True))
    assert int(values["ReasmFails"]) > 0


PAUSE = "01:80:c2:00:00:01:02:00:00:00:00:01:88:08:01:01:00:08" + ":00:00" * 3 + ":ff:ff"
PAUSE += ":00:00" * 4 + ":00" * 26


def test_mausezahn_pauses_the_switch_for_as_many_frames_as_it_is_asked(
    make_lab: Callable[..., Hands],
) -> None:
    hands = make_lab(real=True)
    command = f"mausezahn -q {INTERFACE} -c 20 -d 1msec {PAUSE}"
    hands.output(f"mlnx_qos -i {INTERFACE} -f 0,0,0,1,0,0,0,0", "ServerC")
    storm = hands.run(command, "ServerC")
    hands.advance(0.1)
    assert (storm.status, storm.out) == (0, "")
    sent = hands.output(f"ethtool -S {INTERFACE} | grep tx_prio3_pause:", "ServerC")
    assert sent.split()[-1] == "20"


FOR_NO_CLASS = PAUSE[:48] + "00:00" + ":ff:ff" * 8 + ":00" * 26
LINK_PAUSE = "01:80:c2:00:00:01:02:00:00:00:00:01:88:08:00:01:ff:ff" + ":00" * 42


@pytest.mark.parametrize(
    ("frame", "counter"),
    [
        (LINK_PAUSE, "tx_global_pause"),
        (PAUSE.replace(":02:00:00:00:00:01:", ":00:00:00:00:00:00:"), "tx_prio3_pause"),
        (FOR_NO_CLASS, ""),
    ],
    ids=["802.3x", "no source", "no class"],
)
def test_mausezahn_sends_odd_pauses_which_count_as_what_they_are(
    make_lab: Callable[..., Hands], frame: str, counter: str
) -> None:
    hands = make_lab(real=True)
    if counter != "tx_global_pause":  # with PFC on, the driver shows none of the whole port
        hands.output(f"mlnx_qos -i {INTERFACE} -f 0,0,0,1,0,0,0,0", "ServerC")
    storm = hands.run(f"mausezahn -q {INTERFACE} -c 20 -d 1msec {frame}", "ServerC")
    hands.advance(0.1)
    assert storm.status == 0, storm.err
    shown = hands.output(f"ethtool -S {INTERFACE}", "ServerC")
    sent = dict(line.split(":", 1) for line in shown.splitlines() if "_pause:" in line)
    counts = {name.strip(): int(n) for name, n in sent.items() if name.strip().startswith("tx_")}
    assert {name for name, n in counts.items() if n} == ({counter} if counter else set())
    assert not counter or counts[counter] == 20


def test_mausezahn_that_is_ended_sends_no_more(make_lab: Callable[..., Hands]) -> None:
    hands = make_lab(real=True)
    hands.output(f"mlnx_qos -i {INTERFACE} -f 0,0,0,1,0,0,0,0", "ServerC")
    hands.run(f"timeout 0.05 mausezahn -q {INTERFACE} -c 5000 -d 1msec {PAUSE}", "ServerC")
    hands.advance(1)
    sent = hands.output(f"ethtool -S {INTERFACE} | grep tx_prio3_pause:", "ServerC")
    assert 45 <= int(sent.split()[-1]) <= 52


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (f"nothere {PAUSE}", "Invalid interface nothere"),
        (f"{INTERFACE} 01:80:zz", "Invalid packet specification"),
        (f"{INTERFACE} {PAUSE.replace('88:08', '08:00')}", "does not emulate"),
        (INTERFACE, "a network interface and a frame are needed"),
    ],
)
def test_mausezahn_refuses_what_it_cannot_send(
    make_lab: Callable[..., Hands], arguments: str, said: str
) -> None:
    ended = make_lab(real=True).run(f"mausezahn {arguments}", "ServerC")
    assert ended.status
    assert said in ended.err
