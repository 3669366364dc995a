"""A switch of real tc queues in a network namespace: settings and back, classes, overload."""

import os
import subprocess
import sys
import uuid

import pytest
from switch_box import NamespaceSwitch

from labtests import counters as c
from labtests.drivers.linux_switch import Driver
from labtests.records import QueueLimitSetting

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
        ip("-n", sw, "link", "add", "br0", "type", "bridge")
        for port, host, address in (("swa", a, "10.99.0.1/24"), (PORT, b, "10.99.0.2/24")):
            ip(
                "-n",
                sw,
                "link",
                "add",
                port,
                "type",
                "veth",
                "peer",
                "name",
                "data0",
                "netns",
                host,
            )
            ip("-n", sw, "link", "set", port, "master", "br0", "up")
            ip("-n", host, "addr", "add", address, "dev", "data0")
            ip("-n", host, "link", "set", "data0", "up")
        ip("-n", sw, "link", "set", "br0", "up")
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
    send(96, 5)
    before = counted(driver, c.QUEUE_FORWARDED_PACKETS)
    driver.set_queue_limits(PORT, QueueLimitSetting(limits=((3, 50000),)))

    assert before[3] == 5
    assert counted(driver, c.QUEUE_FORWARDED_PACKETS)[3] == 5


def test_each_dscp_is_counted_in_the_queue_that_the_map_says(box, send):
    driver = Driver(box)
    said = driver.dscp_map(PORT)
    send(0, 1)  # ARP, and what it brings with it, is over before the count begins
    for dscp in (1, 8, 15, 31, 46, 63):
        before = counted(driver, c.QUEUE_FORWARDED_PACKETS)
        send(dscp << 2 | 2, 7)
        after = counted(driver, c.QUEUE_FORWARDED_PACKETS)
        grown = {q: after[q] - before[q] for q in QUEUES if q != 0 and after[q] != before[q]}
        assert grown == ({} if said[dscp] == 0 else {said[dscp]: 7})
    assert said == tuple(dscp // 8 for dscp in range(64))


def test_of_an_overload_all_are_forwarded_or_dropped_in_their_queue(box, send):
    driver = Driver(box)
    send(160, 400, 1000)
    for _ in range(100):
        if not counted(driver, c.QUEUE_LENGTH_PACKETS)[5]:
            break
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
