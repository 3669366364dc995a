"""A switch of real tc queues in a network namespace: settings and back, classes, overload."""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from driven import driving
from switch_box import NamespaceSwitch

from labtests.capabilities import counters as c
from labtests.capabilities.records import QueueLimitSetting

Driver = driving("linux-switch")


PORT = "swb"
SEND = """
import socket, sys
tos, count, size = map(int, sys.argv[1:])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
for _ in range(count):
    out.sendto(bytes(size), ("10.99.0.2", 9))
"""
QUEUES = range(8)


def tree(rate):
    yield f"qdisc add dev {PORT} root handle 1: htb default 10"
    yield f"class add dev {PORT} parent 1: classid 1:1 htb rate {rate} ceil {rate} quantum 15140"
    for q in QUEUES:
        yield (
            f"class add dev {PORT} parent 1:1 classid 1:1{q} htb rate 16kbit ceil {rate} "
            f"prio 0 quantum 1514"
        )
        yield f"qdisc add dev {PORT} parent 1:1{q} handle 10{q}: bfifo limit 30000"
        yield (
            f"filter add dev {PORT} parent 1: protocol ip prio 1 u32 match ip dsfield "
            f"{q << 5:#x} 0xe0 flowid 1:1{q}"
        )


def allowed():
    probe = f"lt-{uuid.uuid4().hex[:8]}"
    if os.geteuid() != 0:
        return False
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", probe], capture_output=True, check=False)
    return made.returncode == 0


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


def silenced(device):
    """No IPv6 address of its own accord, so nothing of neighbours and routers in the queues."""
    return (
        [f"link set dev {device} addrgenmode none"] if Path("/proc/sys/net/ipv6").exists() else []
    )


def batch(namespace, lines):
    text = "\n".join(lines) + "\n"
    words = ["ip", "-n", namespace, "-batch", "-"]
    subprocess.run(words, input=text, text=True, check=True, capture_output=True)


def wire(sw, hosts):
    """A bridge without multicast snooping: it would report that it listens, in queue 6 (IGMP)."""
    snooping = " mcast_snooping 0" if Path("/proc/net/igmp").exists() else ""
    batch(sw, [f"link add br0 type bridge{snooping}", *silenced("br0")])
    for port, (host, address) in hosts.items():
        batch(sw, [f"link add {port} type veth peer name data0 netns {host}", *silenced(port)])
        batch(host, [*silenced("data0"), f"addr add {address} dev data0", "link set data0 up"])
        batch(sw, [f"link set {port} master br0 up"])
    batch(sw, ["link set br0 up"])


def know_each_other(addresses):
    """No ARP in the queues."""
    for host, other in (tuple(addresses), tuple(addresses)[::-1]):
        shown = subprocess.run(
            ["ip", "-n", other, "-j", "link", "show", "dev", "data0"],
            check=True,
            capture_output=True,
        )
        mac = json.loads(shown.stdout)[0]["address"]
        line = f"neigh replace {addresses[other]} lladdr {mac} dev data0 nud permanent"
        batch(host, [line])


@pytest.fixture(name="names", scope="module")
def _names():
    """Two namespaces, a switch and a host on each of its ports; gone afterwards."""
    try:
        may = allowed()
    except FileNotFoundError:
        may = False
    if not may:
        pytest.skip("network namespaces need root and iproute2, which this machine does not give")
    run = uuid.uuid4().hex[:6]
    sw, a, b = (f"lt-{run}-{name}" for name in ("sw", "a", "b"))
    for name in (sw, a, b):
        ip("netns", "add", name)
    try:
        wire(sw, {"swa": (a, "10.99.0.1/24"), PORT: (b, "10.99.0.2/24")})
        know_each_other({a: "10.99.0.1", b: "10.99.0.2"})
        yield sw, a
    finally:
        for name in (sw, a, b):
            ip("netns", "del", name)


@pytest.fixture(name="box")
def _box(names):
    """A fresh tree at the port, 8 Mbit/s; the neighbour is known, so that nothing else is sent."""
    sw, _ = names
    box = NamespaceSwitch(sw)
    box.run(f"tc qdisc del dev {PORT} root")
    batch = "\n".join(tree("8mbit"))
    done = box.run(f"printf '%s\\n' '{batch}' | tc -batch -")
    assert done.status == 0, done.errors
    return box


@pytest.fixture(name="send")
def _send(names):
    _, a = names

    def send(tos, count, size=100):
        line = [sys.executable, "-c", SEND, str(tos), str(count), str(size)]
        subprocess.run(["ip", "netns", "exec", a, *line], check=True)

    return send


def shape(box):
    """Everything of the port but its counters."""
    shown = box.run(f"tc -d qdisc show dev {PORT} invisible").text.splitlines()
    classes = box.run(f"tc -d class show dev {PORT}").text.splitlines()
    return sorted(line.split(" direct_packets_stat")[0] for line in (*shown, *classes))


def counted(driver, counter):
    return {r.index: r.value for r in driver.queue_counters(PORT) if r.counter == counter}


def through(driver, packets):
    """The queues' packets when so many are forwarded or dropped, all in all: on a busy
    machine the kernel counts them some time after the sender has ended."""
    deadline = time.monotonic() + 10
    while sum((found := passed(driver)).values()) < packets:
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return found


def passed(driver):
    dropped = counted(driver, c.QUEUE_DROPPED_PACKETS)
    return {q: n + dropped[q] for q, n in counted(driver, c.QUEUE_FORWARDED_PACKETS).items()}


def test_nothing_is_sent_that_no_test_has_sent(box, names):
    """What a machine sends by itself would be counted: group reports of a bridge that snoops are in
    queue 6, router solicitations and ARP in queue 0."""
    sw, a = names
    assert "6A0000E0" not in box.run("cat /proc/net/igmp").text  # all-snoopers, 224.0.0.106
    for namespace in (sw, a):
        shown = ["ip", "-n", namespace, "-6", "addr", "show", "up", "scope", "link"]
        assert subprocess.run(shown, check=True, capture_output=True).stdout == b""
    told = ["ip", "-n", a, "neigh", "show", "dev", "data0"]
    assert b"PERMANENT" in subprocess.run(told, check=True, capture_output=True).stdout


def test_scheduling_is_set_read_back_and_restored_exactly(box):
    driver, before = Driver(box), shape(box)
    found = driver.scheduling(PORT)

    driver.set_scheduling(PORT, driver.scheduling_for((None,) * 8))
    assert [q.level for q in driver.scheduling(PORT).queues] == [7, 6, 5, 4, 3, 2, 1, 0]
    driver.set_scheduling(PORT, driver.scheduling_for((10, 30, None, 20, 20, 10, 5, 5)))
    read = {q.queue: (q.level, q.weight) for q in driver.scheduling(PORT).queues}
    assert read[2] == (0, 1514)
    assert {level for queue, (level, _) in read.items() if queue != 2} == {1}
    assert read[1][1] == 6 * read[7][1]
    assert shape(box) != before

    driver.set_scheduling(PORT, found)
    assert shape(box) == before
    sent = len(box.changed)
    driver.set_scheduling(PORT, found)
    assert len(box.changed) == sent


def test_bursts_that_tc_rounds_come_back_as_they_were(box):
    ask = "burst 15000b cburst 123456b prio 3 quantum 3000"
    made = box.run(
        f"tc class change dev {PORT} parent 1:1 classid 1:13 htb rate 77777777bit ceil 6mbit {ask}"
    )
    assert made.status == 0
    driver, before = Driver(box), shape(box)
    found = driver.scheduling(PORT)

    driver.set_scheduling(PORT, driver.scheduling_for((None,) * 8))
    driver.set_scheduling(PORT, found)

    assert shape(box) == before


def test_limits_are_set_read_back_and_restored_exactly(box):
    driver, before = Driver(box), shape(box)
    found = driver.queue_limits(PORT)
    wanted = QueueLimitSetting(limits=tuple((q, 40000 + q) for q in QUEUES))

    driver.set_queue_limits(PORT, wanted)
    assert driver.queue_limits(PORT) == wanted
    driver.set_queue_limits(PORT, found)

    assert shape(box) == before


def test_a_longer_queue_counts_on(box, send):
    driver = Driver(box)
    packets = sum(passed(driver).values())
    send(96, 5)
    before = through(driver, packets + 5)
    driver.set_queue_limits(PORT, QueueLimitSetting(limits=((3, 50000),)))

    assert before[3] == 5
    assert counted(driver, c.QUEUE_FORWARDED_PACKETS)[3] == 5


def test_each_dscp_is_counted_in_the_queue_that_the_map_says(box, send):
    driver = Driver(box)
    said = driver.dscp_map(PORT)
    for dscp in (1, 8, 15, 31, 46, 63):
        before = passed(driver)
        send(dscp << 2 | 2, 7)
        after = through(driver, sum(before.values()) + 7)
        assert {q: after[q] - before[q] for q in QUEUES if after[q] != before[q]} == {said[dscp]: 7}
    assert sum(counted(driver, c.QUEUE_DROPPED_PACKETS).values()) == 0
    assert said == tuple(dscp // 8 for dscp in range(64))


def test_of_an_overload_all_are_forwarded_or_dropped_in_their_queue(box, send):
    driver = Driver(box)
    packets = sum(passed(driver).values())
    send(160, 400, 1000)
    through(driver, packets + 400)
    forwarded = counted(driver, c.QUEUE_FORWARDED_PACKETS)
    dropped = counted(driver, c.QUEUE_DROPPED_PACKETS)

    assert forwarded[5] + dropped[5] == 400
    assert dropped[5] > 0
    assert [dropped[q] for q in QUEUES if q != 5] == [0] * 7
    drops = {r.counter: r.value for r in driver.drop_counters(PORT)}
    assert drops[c.BUFFER_DROPPED_OUT_PACKETS] == dropped[5]
    assert (drops[c.ECN_MARKED_PACKETS], drops[c.WRED_DROPPED_PACKETS]) == (0, 0)
    own = {r.counter: r.value for r in driver.port_counters(PORT)}
    assert (own[c.NET_TX_DROPPED], own[c.RX_CRC_ERRORS], own[c.TX_CARRIER_ERRORS]) == (0, 0, 0)


def test_ecn_is_put_over_the_queues_fifo_and_taken_away_exactly(box):
    driver, before = Driver(box), shape(box)
    if why := driver.lacks().get("ecn"):
        pytest.skip(why)
    found = driver.ecn(PORT)
    limits = driver.queue_limits(PORT)

    driver.set_ecn(PORT, driver.ecn_on({3, 5}))
    assert driver.ecn(PORT).marking_queues == {3, 5}
    assert driver.queue_limits(PORT) == limits
    driver.set_ecn(PORT, found)

    assert shape(box) == before
