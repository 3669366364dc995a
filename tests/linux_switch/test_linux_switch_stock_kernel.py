"""Trees of a stock Debian kernel (tbf, prio, ets, htb, RED; u32 and flower), as recorded there."""

import re
from dataclasses import replace

import pytest
from driven import driving
from switch_box import RecordedSwitch, recording, without

from labtests.capabilities import counters as c
from labtests.capabilities.device import QueueShares
from labtests.capabilities.records import EcnSetting, MarkingCurve, QueueLimitSetting, QueueSchedule
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.drivers.linux_switch.classes import burst_to_ask, parse_classes
from labtests.drivers.linux_switch.filters import parse_filters
from labtests.drivers.linux_switch.idling import bandwidth_for, idle_exponent
from labtests.drivers.linux_switch.qdiscs import parse_qdiscs
from labtests.drivers.linux_switch.red import burst_for
from labtests.drivers.linux_switch.tree import tree_of
from labtests.journal.values import pack, unpack

Driver = driving("linux-switch")

PORT = "tcs0"
LINK = recording("link--guest-bridged")
ETS = recording("qdiscs--tbf-over-ets")
FLOWER = recording("filters--flower")


def box(name, *more):
    return RecordedSwitch(
        (recording(f"qdiscs--{name}"), recording(f"filters--{name}"), LINK, *more)
    )


def switch(name, *more):
    return Driver(box(name, *more))


def map_but(rest, **queues):
    return tuple(queues.get(f"dscp{dscp}", rest) for dscp in range(64))


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("tbf_prio_red", "bfifo bfifo bfifo red bfifo bfifo bfifo bfifo"),
        ("tbf_ets_red", "pfifo pfifo pfifo red red pfifo pfifo pfifo"),
        ("htb_red", "bfifo bfifo bfifo red bfifo bfifo bfifo bfifo"),
        ("htb_prio_red", "red pfifo pfifo bfifo"),
        ("prio_red", "red tbf pfifo"),
        ("ets_red", "pfifo red red pfifo"),
        ("ets_tbf_red", "tbf pfifo pfifo"),
        ("6.15-tbf_prio_red", "bfifo bfifo bfifo red bfifo bfifo bfifo bfifo"),
        ("6.15-tbf_ets_red", "pfifo pfifo pfifo red red pfifo pfifo pfifo"),
        ("6.15-htb_red", "bfifo bfifo bfifo red bfifo bfifo bfifo bfifo"),
        ("6.15-ets_red", "pfifo red red pfifo"),
    ],
)
def test_each_band_or_class_is_a_queue(name, kinds):
    reply = recording(f"qdiscs--{name}")
    leaves = tree_of(reply, parse_qdiscs(reply)).leaves

    assert [leaf.qdisc.kind for leaf in leaves] == kinds.split()
    assert len(switch(name).queue_counters(PORT)) == 5 * len(leaves)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tbf_prio_red", map_but(7, dscp24=3, dscp46=0)),
        ("tbf_ets_red", map_but(7, dscp24=3, dscp26=4)),
        ("htb_red", tuple(dscp >> 3 for dscp in range(64))),
        ("htb_prio_red", map_but(3, dscp24=0)),
        ("prio_red", map_but(1, dscp24=0)),
        ("ets_red", map_but(3, dscp24=1, dscp26=2)),
        ("ets_tbf_red", map_but(2, dscp24=0)),
        ("6.15-tbf_prio_red", map_but(7, dscp32=3, dscp24=4, dscp8=6)),
        ("6.15-tbf_ets_red", map_but(7, dscp32=3, dscp24=4)),
        ("6.15-htb_red", tuple(dscp >> 3 for dscp in range(64))),
        ("6.15-ets_red", map_but(3, dscp24=1, dscp26=2)),
    ],
)
def test_filters_first_then_the_priority_of_bridged_packets(name, expected):
    assert switch(name).dscp_map(PORT) == expected


def test_a_routed_packet_without_a_filter_goes_by_its_tos():
    routed = without(LINK, '"info_slave_kind":"bridge"', '"info_other":"none"')
    found = switch("htb_prio_red", routed).dscp_map(PORT)

    # priomap 3 3 3 3 2 2 1 1 of the priorities 0, 2, 6, 4 that pairs of DSCPs have (tc-prio(8))
    assert found[:8] == (3, 3, 3, 3, 1, 1, 2, 2)
    assert found[24] == 0


def test_a_port_of_a_bond_is_refused():
    bond = without(LINK, '"info_slave_kind":"bridge"', '"info_slave_kind":"bond"')
    with pytest.raises(UnreadableOutput, match="bond"):
        switch("prio_red", bond).dscp_map(PORT)


def test_two_flower_filters_of_one_preference_that_both_take_a_packet_are_refused():
    filters = recording("filters--ets_red")
    one = replace(filters, text=filters.text.replace("pref 2 flower", "pref 1 flower"))
    assert switch("ets_red", one).dscp_map(PORT)[24:27] == (1, 3, 2)
    both = replace(one, text=one.text.replace("104/0xfc", "96/0xfc"))
    with pytest.raises(UnreadableOutput, match="order is not shown"):
        switch("ets_red", both).dscp_map(PORT)


def test_flower_filters_are_read_in_decimal_and_in_hexadecimal():
    link = recording("link--dummy")
    older = without(
        without(without(FLOWER, "tos 96/0xfc", "tos 0x60/fc"), "tos 104/0xfc", "tos 0x68/fc"),
        "tos 184\n",
        "tos 0xb8/ff\n",
    )
    expected = {24: 3, 26: 4}
    for filters in (FLOWER, older):
        named = [(f.kind, f.tos_value, f.tos_mask) for f in parse_filters(filters)]
        assert named == [
            ("flower", 96, 0xFC),
            ("flower", 104, 0xFC),
            ("flower", 184, 0xFF),
            ("matchall", 0, 0),
        ]
    only_dscp = without(FLOWER, "ip_tos 184\n", "ip_tos 184/0xfc\n")
    found = Driver(RecordedSwitch((ETS, only_dscp, link))).dscp_map("swp9")
    assert found == tuple((expected | {46: 0}).get(dscp, 7) for dscp in range(64))


def test_a_flower_filter_that_looks_at_more_is_named():
    filters = without(recording("filters--ets_red"), "104/0xfc\n", "104/0xfc\n  ip_proto udp\n")
    with pytest.raises(UnreadableOutput, match=r"pref 2 flower.*ip_proto udp"):
        switch("ets_red", filters).dscp_map(PORT)


def test_what_red_marks_and_drops_early_is_told_apart_from_full_queues():
    busy = without(
        recording("qdiscs--tbf_prio_red"),
        '"drops":0,"overlimits":0,"requeues":0,"backlog":0,"qlen":0,"marked":0,"early":0,"pdrop":0',
        '"drops":50,"overlimits":9,"requeues":0,"backlog":0,"qlen":0,"marked":9,"early":40,"pdrop":10',
    )
    driver = switch("tbf_prio_red", busy)
    port = {r.counter: r.value for r in driver.drop_counters(PORT)}
    queue = {r.counter: r.value for r in driver.queue_counters(PORT) if r.index == 3}

    assert port[c.ECN_MARKED_PACKETS] == queue[c.QUEUE_MARKED_PACKETS] == 9
    assert port[c.WRED_DROPPED_PACKETS] == 40
    assert port[c.BUFFER_DROPPED_OUT_PACKETS] == 10
    assert queue[c.QUEUE_DROPPED_PACKETS] == 50


def test_more_early_drops_than_drops_is_no_number():
    wrapped = without(recording("qdiscs--tbf_prio_red"), '"early":0', '"early":7')
    port = {r.counter: r for r in switch("tbf_prio_red", wrapped).drop_counters(PORT)}

    assert port[c.BUFFER_DROPPED_OUT_PACKETS].value is None
    assert "wrapped" in port[c.BUFFER_DROPPED_OUT_PACKETS].missing


def test_a_share_of_nothing_is_a_small_quantum():
    found = switch("htb_red").scheduling_for((100, 0, 0, 0, 0, 0, 0, 0))
    assert [q.weight for q in found.queues] == [1514, *[151] * 7]


def test_levels_and_quanta_of_ets():
    found = switch("tbf_ets_red").scheduling(PORT)

    assert found.discipline == "wrr"
    assert [(q.group, q.weight, q.level) for q in found.queues] == [
        ("sp", None, 0),
        ("sp", None, 1),
        *(("1", quantum, 2) for quantum in (4500, 3000, 3000, 1514, 1514, 1514)),
    ]


def test_ets_is_changed_in_one_line_that_keeps_the_priomap():
    driver = switch("tbf_ets_red")
    now = driver.scheduling(PORT)
    equal = driver.scheduling_for((None, 10, 10, 20, 20, 20, 10, 10))

    assert driver.scheduling_commands(PORT, now, equal) == (
        "tc qdisc change dev tcs0 parent 1:1 handle 2: ets bands 8 strict 1 quanta 1514 1514 3028 "
        "3028 3028 1514 1514 priomap 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7",
    )
    assert driver.scheduling_commands(PORT, equal, now) == (
        "tc qdisc change dev tcs0 parent 1:1 handle 2: ets bands 8 strict 2 quanta 4500 3000 3000 "
        "1514 1514 1514 priomap 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7",
    )
    assert driver.scheduling_commands(PORT, now, now) == ()


@pytest.mark.parametrize(
    ("name", "shares", "why"),
    [
        ("tbf_ets_red", (10, 10, 10, 20, 20, 20, 10, None), "strictly from 0 upwards"),
        ("tbf_prio_red", (12, 12, 12, 12, 13, 13, 13, 13), "one way only, band 0 first"),
    ],
)
def test_what_a_scheduler_cannot_do_is_refused_before_anything_is_sent(name, shares, why):
    there = box(name)
    driver = Driver(there)
    assert isinstance(driver, QueueShares)
    with pytest.raises(CommandRejected, match=why):
        driver.set_scheduling(PORT, driver.scheduling_for(shares))
    assert there.changed == []


def test_prio_is_strict_already():
    there = box("tbf_prio_red")
    driver = Driver(there)
    driver.set_scheduling(PORT, driver.scheduling_for((None,) * 8))
    assert there.changed == []
    assert [q.level for q in driver.scheduling(PORT).queues] == list(range(8))


def test_a_setting_without_all_queues_of_the_port_is_refused():
    driver = switch("ets_red")
    now = driver.scheduling(PORT)
    with pytest.raises(CommandRejected, match="4 queues"):
        driver.set_scheduling(PORT, replace(now, queues=now.queues[:3]))


def test_a_change_that_did_not_come_is_an_error():
    driver = switch("ets_red")
    with pytest.raises(CommandRejected, match="reads back as"):
        driver.set_scheduling(PORT, driver.scheduling_for((None, 20, 40, 40, 0, 0, 0, 0)))


def test_classes_of_htb_give_levels_and_quanta():
    found = switch("htb_red", recording("classes--htb_red")).scheduling(PORT)

    assert [q.level for q in found.queues] == [7, 6, 5, 4, 3, 2, 1, 0]
    assert {q.group for q in found.queues} == {"sp"}
    assert found.queues[0] == QueueSchedule(queue=0, group="sp", weight=1250, level=7)


def test_a_class_with_options_that_a_change_would_lose_is_left_alone():
    classes = recording("classes--htb_red")
    odd = without(classes, "rate 100Kbit ceil", "rate 100Kbit overhead 4 ceil")
    there = box("htb_red", odd)
    driver = Driver(there)
    with pytest.raises(CommandRejected, match="overhead 4"):
        driver.set_scheduling(PORT, driver.scheduling_for((12, 12, 12, 12, 13, 13, 13, 13)))
    assert there.changed == []


@pytest.mark.parametrize("words", ["class htb 1:13 odd thing", "class htb 1:13 root rate x ceil y"])
def test_a_class_that_is_new_to_us_is_refused(words):
    reply = recording("classes--htb_red")
    with pytest.raises(UnreadableOutput):
        parse_classes(replace(reply, text=f"{words}\n"))


def test_a_burst_is_asked_so_that_tc_shows_it_again():
    assert burst_to_ask("200Mbit", "1600b") == "1600b"
    for rate, shown in (("77777Kbit", "1565b"), ("12Mbit", "1597b"), ("99999Kbit", "123373b")):
        asked = int(burst_to_ask(rate, shown).removesuffix("b"))
        assert asked > int(shown.removesuffix("b"))


# -- RED ---------------------------------------------------------------------------------------


def test_red_of_others_is_written_down_so_that_it_can_come_back():
    found = switch("ets_red").ecn(PORT)

    assert found.profile == (
        "queue 1: red 12: limit 400000 harddrop; queue 2: red 13: limit 400000 nodrop"
    )
    assert [(q.low_limit, q.high_limit, q.weighting_exponent) for q in found.queues] == [
        (30000, 90000, 5)
    ] * 2
    assert unpack(pack(found)) == found


def test_red_of_others_comes_back_as_it_was():
    driver = switch("ets_red")
    found = driver.ecn(PORT)
    lines = driver.ecn_commands(PORT, EcnSetting(), found)

    burst = burst_for(5, 30000)
    curve = f"limit 400000 min 30000 max 90000 avpkt 1000 burst {burst} probability 0.1 ecn"
    assert lines == (
        f"tc qdisc replace dev tcs0 parent 1:2 handle 12: red {curve} harddrop",
        f"tc qdisc replace dev tcs0 parent 1:3 handle 13: red {curve} nodrop",
    )


def test_our_red_in_place_of_another_keeps_the_queue_as_long():
    driver = switch("ets_red")
    lines = driver.ecn_commands(PORT, driver.ecn(PORT), driver.ecn_on({1}))

    below = "tc qdisc replace dev tcs0 parent fe02:1 handle fd02: bfifo limit 400000"
    assert lines[0].endswith(f" && {below}")
    assert lines[1] == "tc qdisc replace dev tcs0 parent 1:3 handle fd03: bfifo limit 400000"


def test_ecn_moves_a_queues_own_fifo_below_red_and_back():
    driver = switch("tbf_prio_red")
    (on,) = driver.ecn_commands(PORT, EcnSetting(), driver.ecn_on({0}))
    (off,) = driver.ecn_commands(PORT, driver.ecn_on({0}), EcnSetting())

    assert on == (
        "tc qdisc replace dev tcs0 parent 2:1 handle fe01: red limit 400000 min 30000 max 90000 "
        "avpkt 1000 burst 33 probability 0.1 ecn && "
        "tc qdisc replace dev tcs0 parent fe01:1 handle 21: bfifo limit 400000"
    )
    assert off == (
        "tc qdisc replace dev tcs0 parent 2:1 handle fc01: bfifo limit 400000 && "
        "tc qdisc replace dev tcs0 parent 2:1 handle 21: bfifo limit 400000"
    )


def test_the_weight_of_the_average_is_what_tc_derives_from_the_burst():
    # recorded: min 30000, avpkt 1000, burst 50 gave ewma 5; burst 33 gave 3, burst 45 gave 5
    assert burst_for(3, 30000) == 33
    assert burst_for(5, 30000) == 45
    assert burst_for(32, 30000) is None
    assert burst_for(0, 30000) is None


@pytest.mark.parametrize(
    ("name", "curve", "why"),
    [
        ("prio_red", {"queue": 1}, "has no handle, and 12:1 would have none"),
        ("tbf_prio_red", {"queue": 1, "kmax_bytes": 500_000}, "the queue holds 400000"),
        ("tbf_prio_red", {"queue": 1, "weighting_exponent": 32}, "no burst for the exponent 32"),
    ],
)
def test_a_red_that_cannot_be_is_refused_before_anything_is_sent(name, curve, why):
    there = box(name)
    driver = Driver(there)
    given = {"kmin_bytes": 30000, "kmax_bytes": 90000, "pmax_percent": 10, "weighting_exponent": 3}
    wanted = driver.ecn_for((MarkingCurve(**(given | curve)),), 1)
    with pytest.raises(CommandRejected, match=why):
        driver.set_ecn(PORT, wanted)
    assert there.changed == []


def test_no_red_is_put_into_a_class_of_htb_whose_fifo_would_not_come_back_into_sight():
    # Linux 6.1 and 6.18: after `tc qdisc del ... parent 1:16` tc lists nothing in that class
    unnamed = without(recording("qdiscs--htb_red"), '"handle":"16:"', '"handle":"0:"')
    there = RecordedSwitch((unnamed, recording("filters--htb_red"), LINK))
    with pytest.raises(CommandRejected, match="tc would not show the one that 1:16 gets"):
        Driver(there).set_ecn(PORT, Driver(there).ecn_on({6}))
    assert there.changed == []


@pytest.mark.parametrize(
    ("said", "lacking"),
    [
        ("# CONFIG_NET_SCH_RED is not set\n", True),
        ("CONFIG_NET_SCH_RED=m\n", True),  # configured, and its module is not installed
        ("CONFIG_NET_SCH_RED=y\n", False),
        ("sch_red 20480 1 - Live 0x0\nCONFIG_NET_SCH_RED=m\n", False),
        ("kernel/net/sched/sch_red.ko: kernel/x.ko\nCONFIG_NET_SCH_RED=m\n", False),
        ("", False),
    ],
)
def test_a_kernel_without_red_is_told_by_what_it_says_of_itself(said, lacking):
    from labtests.drivers.linux_switch.ecn import KERNEL

    answer = replace(LINK, command=KERNEL, text=said)
    assert ("ecn" in Driver(RecordedSwitch([answer])).lacks()) == lacking


def test_limits_of_packets_are_those_of_full_frames():
    driver = switch("htb_prio_red")

    assert driver.queue_limits(PORT).limits == (
        (0, 400000),
        (1, 300 * 1514),
        (2, 1514000),
        (3, 400000),
    )
    now = driver.queue_limits(PORT)
    wanted = QueueLimitSetting(limits=((1, 20 * 1514), (3, 50000)))
    assert driver.queue_limits_commands(PORT, now, wanted) == (
        "tc qdisc change dev tcs0 parent 2:2 handle 22: pfifo limit 20",
        "tc qdisc change dev tcs0 parent 2:4 handle 24: bfifo limit 50000",
    )
    assert driver.queue_limits_commands(PORT, now, QueueLimitSetting(limits=((0, 50000),))) == (
        "tc qdisc change dev tcs0 parent 2:1 handle 21: red limit 50000 min 30000 max 90000 "
        "avpkt 1000 burst 45 probability 0.1 ecn",
    )
    with pytest.raises(CommandRejected, match="queue 2 has no handle"):
        driver.set_queue_limits(PORT, QueueLimitSetting(limits=((2, 30000),)))


@pytest.mark.parametrize(("bits_per_s", "exponent"), [(10_000_000, 15), (4_000_000, 16)])
def test_the_idle_exponent_is_that_of_tc(bits_per_s, exponent):
    """Recorded: `red ... avpkt 1000`, ewma 5, `bandwidth 10mbit` (the default) and `4mbit`."""
    assert idle_exponent(5, 1000, bits_per_s) == exponent


@pytest.mark.parametrize("weight", range(1, 32))
def test_a_bandwidth_gives_back_its_idle_exponent(weight):
    for exponent in range(1, 30):
        found = bandwidth_for(exponent, weight, 1000)
        if 1000 <= found <= 2**38:  # what tc can be told, and a packet takes some ticks
            assert idle_exponent(weight, 1000, found) == exponent


def test_a_red_made_for_another_bandwidth_comes_back_with_it():
    slow = without(ETS, '"Scell_log":15', '"Scell_log":16')
    for tree, words in ((ETS, []), (slow, ["bandwidth"])):
        driver = Driver(RecordedSwitch((tree,)))
        found = driver.ecn("swp9")
        (command, *_) = driver.ecn_commands("swp9", EcnSetting(), found)
        assert [word for word in ("bandwidth",) if word in command] == words
    assert "idle 16" in found.profile
    rate = int(re.search(r"bandwidth (\d+)bit", command)[1])
    assert idle_exponent(5, 1000, rate) == 16


def test_a_port_as_the_kernel_makes_it_has_no_limit_to_tell_and_takes_none():
    driver = Driver(RecordedSwitch((recording("qdiscs--fq-codel"),)))
    assert driver.queue_limits("enp0s4") == QueueLimitSetting(limits=())
    wanted = QueueLimitSetting(limits=((0, 30000),))
    with pytest.raises(CommandRejected, match="queue 0 is fq_codel, not a fifo"):
        driver.set_queue_limits("enp0s4", wanted)
    marked = {
        r.value for r in driver.queue_counters("enp0s4") if r.counter == c.QUEUE_MARKED_PACKETS
    }
    assert marked in ({None}, {0})
