"""What stands in the way, what only has to be kept in mind, and what is asked ahead."""

from dataclasses import replace

import pytest
from driven import driving
from switch_box import RecordedSwitch, recording, without

from labtests.capabilities.device import Obstacles, QueueTelemetry
from labtests.capabilities.facts import Caveats, LinkState
from labtests.capabilities.settings import ECN, QUEUE_LIMITS, SCHEDULING
from labtests.core.errors import UnreadableOutput
from labtests.drivers import linux_switch
from labtests.drivers.linux_switch.offloads import parse_merging
from labtests.transport.asking import Running, answered, side_by_side
from labtests.transport.protocol import Reply

Driver = driving("linux-switch")

BRIDGED = recording("bridged")


def bridged(*ports):
    return replace(BRIDGED, text="".join(f"/sys/class/net/{port}/brport\n" for port in ports))


def driver(*replies):
    physical = Reply(
        device="sw",
        command="ls -d /sys/class/net/*/device",
        text="/sys/class/net/tcs0/device\n",
        status=0,
    )
    return Driver(RecordedSwitch((physical, *replies)))


def test_it_has_these_abilities():
    for ability in (Obstacles, Caveats, LinkState):
        assert driver().has(ability)


def test_a_divided_port_without_merging_has_neither():
    virtio_off = replace(recording("features--virtio-off"), command="ethtool -k tcs0")
    found = driver(BRIDGED, recording("qdiscs--tbf_prio_red"), virtio_off)

    assert (found.obstacles(), found.caveats()) == ((), ())


def test_merging_is_a_caveat_with_its_remedy():
    found = driver(BRIDGED, recording("qdiscs--tbf_prio_red"), recording("features--dummy"))

    assert found.obstacles() == ()
    (sentence,) = found.caveats()
    assert "ethtool -K tcs0 gro off gso off tso off" in sentence


def test_features_without_the_four_lines_are_refused():
    dummy = recording("features--dummy")
    assert parse_merging(dummy) == {"gro", "gso", "tso"}
    with pytest.raises(UnreadableOutput, match="generic-receive-offload"):
        parse_merging(without(dummy, "generic-receive-offload: on\n"))
    with pytest.raises(UnreadableOutput, match="unrecognised"):
        parse_merging(without(dummy, "receive-offload: on", "receive-offload: perhaps"))


def test_without_ethtool_it_is_said_that_nobody_knows():
    found = driver(BRIDGED, recording("qdiscs--tbf_prio_red"))
    (sentence,) = found.caveats()
    assert sentence.startswith("whether tcs0 hands on several packets as one is not known")


def test_ports_with_one_queue_are_named_in_one_sentence():
    noqueue = recording("qdiscs--noqueue")
    tbf = recording("qdiscs--tbf")
    (sentence,) = driver(bridged("br0", "swa"), noqueue, tbf).caveats()
    assert "br0 (noqueue), swa (tbf)" in sentence


def test_a_tree_that_cannot_be_read_and_an_htb_without_default_are_obstacles():
    htb = without(recording("qdiscs--htb-eight-bfifo"), '"default":"0x10"', '"default":"0"')
    (sentence,) = driver(bridged("swb"), htb).obstacles()
    assert "swb has no default class" in sentence

    hfsc = without(recording("qdiscs--htb-eight-bfifo"), '"kind":"htb"', '"kind":"hfsc"')
    (sentence,) = driver(bridged("swb"), hfsc).obstacles()
    assert "the queues of swb cannot be determined: labtests does not know how hfsc 1:" in sentence


def test_rates_of_classes_beside_prio_and_quantum_are_a_caveat():
    classes = recording("classes--htb-eight")
    classes = replace(classes, command="tc -d class show dev swb")
    box = (bridged("swb"), recording("qdiscs--htb-eight-bfifo"), classes)
    (sentence,) = driver(*box).caveats()
    assert "200 Mbit/s together, of 200" in sentence

    stock = recording("classes--htb_red")
    none = driver(BRIDGED, recording("qdiscs--htb_red"), stock, recording("features--dummy"))
    assert not any("rates of their own" in sentence for sentence in none.caveats())


def test_all_settings_are_two_rounds_and_all_counters_one():
    box = RecordedSwitch(
        recording(name) for name in ("qdiscs--htb_red", "classes--htb_red", "filters--htb_red")
    )
    driver = linux_switch.driver_of("sw")
    counters = driver.able(QueueTelemetry)
    rounds = []

    def answer(commands):
        rounds.append(commands)
        return [box.run(command) for command in commands]

    settings = [driver.setting(kind).read("tcs0") for kind in (SCHEDULING, QUEUE_LIMITS, ECN)]
    answered(Running(side_by_side(settings)), answer)
    assert [len(each) for each in rounds] == [1, 1]

    rounds.clear()
    both = [counters.queue_counters("tcs0"), counters.drop_counters("tcs0")]
    answered(Running(side_by_side(both)), answer)
    assert len(rounds) == 1


@pytest.mark.parametrize(
    ("name", "more", "rate"),
    [("tbf_prio_red", (), 12_000_000), ("htb_red", ("classes--htb_red",), 12_000_000)],
)
def test_the_speed_of_a_shaped_port_is_that_of_its_shaper(name, more, rate):
    link = Reply(
        device="sw",
        command="ip link show dev tcs0",
        text="4: tcs0: <BROADCAST,NOARP,UP,LOWER_UP> mtu 1500 qdisc tbf master br0 state UNKNOWN\n"
        "    link/ether 5a:21:5b:d8:e4:0e brd ff:ff:ff:ff:ff:ff\n",
        status=0,
    )
    replies = (link, recording(f"qdiscs--{name}"), *map(recording, more))
    found = Driver(RecordedSwitch((*replies, _NO_DEVICE))).link("tcs0")

    assert (found.speed_bits_per_s, found.virtual, found.up) == (rate, False, True)


_NO_DEVICE = Reply(
    device="sw",
    command="ls -d /sys/class/net/*/device",
    text="",
    errors="ls: cannot access '/sys/class/net/*/device': No such file or directory\n",
    status=2,
)
