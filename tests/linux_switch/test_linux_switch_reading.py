"""What a Linux switch's queues counted and how it classifies, from recordings of real trees."""

import json
from dataclasses import replace

import pytest
from driven import driving
from switch_box import RecordedSwitch, recording, without

from labtests.capabilities import counters as c
from labtests.capabilities.device import DropTelemetry, DscpClasses, QueueTelemetry
from labtests.core.errors import CommandRejected, ToolMissing, UnreadableOutput
from labtests.drivers import driver_module, platforms
from labtests.drivers.linux_switch.filters import parse_filters
from labtests.drivers.linux_switch.qdiscs import parse_qdiscs
from labtests.drivers.linux_switch.tree import tree_of
from labtests.measure.evidence import differences

Driver = driving("linux-switch")

EIGHT = recording("qdiscs--htb-eight-bfifo")
FILTERS = recording("filters--u32-eight")


def switch(*replies):
    return Driver(RecordedSwitch(replies))


def tree(name):
    reply = recording(name)
    return tree_of(reply, parse_qdiscs(reply))


def of(readings, counter):
    return {r.index: r.value for r in readings if r.counter == counter}


def test_it_is_a_platform_with_these_abilities():
    driver = switch()

    assert "linux-switch" in platforms()
    assert driver_module("linux-switch").SESSION == "shell"
    assert isinstance(driver, QueueTelemetry | DropTelemetry | DscpClasses)


def test_of_500_datagrams_of_a_burst_each_is_forwarded_or_dropped_in_its_queue():
    counted = switch(EIGHT).queue_counters("swb")

    forwarded, dropped = (
        of(counted, c.QUEUE_FORWARDED_PACKETS),
        of(counted, c.QUEUE_DROPPED_PACKETS),
    )
    assert forwarded[3] + dropped[3] == 500
    assert dropped == {q: dropped[3] if q == 3 else 0 for q in range(8)}
    assert dropped[3] > 0
    assert of(counted, c.QUEUE_FORWARDED_BYTES)[3] == forwarded[3] * (1000 + 8 + 20 + 14)
    assert of(counted, c.QUEUE_LENGTH_PACKETS) == dict.fromkeys(range(8), 0)
    assert of(counted, c.QUEUE_MARKED_PACKETS) == dict.fromkeys(range(8), 0)


def test_queues_are_numbered_by_their_classes_whatever_the_order_of_tc():
    leaves = tree("qdiscs--htb-eight-bfifo").leaves

    assert [(leaf.queue, str(leaf.of), str(leaf.qdisc.handle)) for leaf in leaves] == [
        (q, f"1:1{q}", f"10{q}:") for q in range(8)
    ]


def test_the_drops_of_a_port_are_those_of_its_queues():
    drops = of(switch(EIGHT).drop_counters("swb"), c.BUFFER_DROPPED_OUT_PACKETS)
    queues = of(switch(EIGHT).queue_counters("swb"), c.QUEUE_DROPPED_PACKETS)

    assert drops == {None: sum(queues.values())}


def test_the_net_devices_own_drops_are_none_where_they_cannot_be_read():
    own = {r.counter: r for r in switch(EIGHT).port_counters("swb")}

    assert {c.NET_RX_DROPPED, c.NET_TX_DROPPED, c.RX_CRC_ERRORS, c.CARRIER_CHANGES} <= set(own)
    assert all(r.value is None and r.missing for r in own.values())


def test_a_replaced_queue_is_no_difference_of_counters():
    before = switch(EIGHT).queue_counters("swb")
    other = switch(without(EIGHT, '"handle":"103:"', '"handle":"8103:"')).queue_counters("swb")
    after = [replace(r, time_s=r.time_s + 1) for r in other]

    found = differences(before, after)
    unusable = {key[3] for key, d in found.items() if d.increase is None}
    assert unusable == {3}
    assert all("8103:" in d.unusable for key, d in found.items() if key[3] == 3)


def test_a_shaper_above_is_passed_through():
    found = tree("qdiscs--tbf-over-htb")

    assert [above.kind for above in found.above] == ["tbf"]
    assert (found.scheduler.kind, str(found.scheduler.handle)) == ("htb", "20:")
    assert [str(leaf.of) for leaf in found.leaves] == ["20:1", "20:a"]
    assert found.hooks == {"clsact"}


def test_a_port_that_nothing_divides_has_one_queue():
    found = tree("qdiscs--tbf")

    assert [(leaf.queue, leaf.of, leaf.qdisc.kind) for leaf in found.leaves] == [(0, None, "tbf")]
    assert found.root.rate_bits_per_s == 100_000_000
    assert switch(recording("qdiscs--tbf")).dscp_map("swa") == (0,) * 64


def test_a_port_without_a_queue_counts_nothing_and_says_so():
    counted = switch(recording("qdiscs--noqueue")).queue_counters("br0")

    assert {r.value for r in counted} == {None}
    assert all("noqueue" in r.missing for r in counted)


def test_a_port_that_is_not_there_is_refused_with_the_remedy():
    with pytest.raises(CommandRejected, match="ip link") as error:
        switch(recording("qdiscs--no-such-device")).queue_counters("nix")
    assert "nix" in error.value.problem


def test_a_switch_without_tc_is_told_what_to_install():
    with pytest.raises(ToolMissing, match="iproute2"):
        switch().queue_counters("swb")


def test_a_port_name_cannot_end_the_command():
    box = RecordedSwitch([])
    with pytest.raises(ToolMissing):
        Driver(box).queue_counters("swb; reboot")
    with pytest.raises(CommandRejected):
        Driver(box).queue_counters("-force")
    assert box.asked == ["tc -s -d -j qdisc show dev 'swb; reboot' invisible"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda each: each.pop("drops"), "drops"),
        (lambda each: each.update(packets="22"), "packets"),
        (lambda each: each.update(packets=-1), "packets"),
        (lambda each: each.update(handle="foo"), "handle"),
        (lambda each: each.update(kind="htb", parent="1:13", options={"default": "0x1"}), "direct"),
    ],
)
def test_a_qdisc_that_lacks_something_is_refused(change, why):
    shown = json.loads(EIGHT.text)
    change(next(each for each in shown if each["handle"] == "103:"))
    with pytest.raises(UnreadableOutput, match=why):
        parse_qdiscs(replace(EIGHT, text=json.dumps(shown)))


@pytest.mark.parametrize("text", ["", "qdisc htb 1: root\n", '{"kind": "htb"}', "[1]", "[{}]"])
def test_an_answer_that_is_no_list_of_qdiscs_is_refused(text):
    with pytest.raises(UnreadableOutput):
        parse_qdiscs(replace(EIGHT, text=text))


def test_a_tree_that_labtests_cannot_number_is_refused():
    shown = json.loads(EIGHT.text)
    divided = {**next(e for e in shown if e["kind"] == "htb"), "handle": "30:", "parent": "1:13"}
    del divided["root"]
    again = [divided if e["handle"] == "103:" else e for e in shown]
    unknown = [{**e, "kind": "hfsc"} if e["kind"] == "htb" else e for e in shown]
    for text, why in ((again, "queue 3 is divided again by htb 30:"), (unknown, "hfsc 1:")):
        reply = replace(EIGHT, text=json.dumps(text))
        with pytest.raises(UnreadableOutput, match=why):
            tree_of(reply, parse_qdiscs(reply))


# -- DSCP --------------------------------------------------------------------------------------


def test_u32_filters_of_three_bits_give_eight_queues():
    assert switch(EIGHT, FILTERS).dscp_map("swb") == tuple(dscp // 8 for dscp in range(64))


def test_what_no_filter_takes_is_in_the_default_class():
    box = (recording("qdiscs--tbf-over-htb"), recording("filters--one-dscp"))
    found = switch(*box, recording("filters--egress-none")).dscp_map("swa")

    assert found == tuple(int(dscp == 0x68 >> 2) for dscp in range(64))


def test_a_filter_of_clsact_comes_first_and_is_named():
    box = (recording("qdiscs--tbf-over-htb"), recording("filters--one-dscp"))
    with pytest.raises(UnreadableOutput, match="clsact filter `filter protocol ip pref 49152"):
        switch(*box, recording("filters--egress")).dscp_map("swa")


def test_a_filter_that_looks_at_more_is_named():
    box = (recording("qdiscs--tbf-over-htb"), recording("filters--egress-none"))
    with pytest.raises(UnreadableOutput, match=r"pref 7 u32.*at 20"):
        switch(*box, recording("filters--looks-at-a-port")).dscp_map("swa")


@pytest.mark.parametrize(
    ("words", "instead", "why"),
    [
        ("flowid 1:13", "flowid 1:99", "pref 13 .*1:99, which is not a queue"),
        ("flowid 1:13", "flowid 1:1", "1:1, which is not a queue"),
        ("00600000/00e00000", "00610000/00e30000", "ECN field: .*pref 13"),
        ("00600000/00e00000", "06000000/ff000000", "looks at more than the TOS byte"),
        ("at 0", "at nexthdr+0", "looks at more than the TOS byte"),
        ("pref 13 u32", "pref 13 bpf", "does not read|unrecognised|kind"),
        ("*flowid 1:13 ", "", "pref 13 .*chooses no class"),
        ("ht divisor 1 ", "ht divisor 256 ", "hashes"),
        ("chain 0", "chain 3", "chain of its own"),
        (
            "  match 00600000/00e00000 at 0\n",
            "  action order 1: gact action drop\n",
            "action order",
        ),
        ("  match 00600000/00e00000 at 0\n", "", "pref 13 .*matches nothing"),
        ("protocol ip", "protocol 0x88b5", "unrecognised"),
    ],
)
def test_a_filter_that_cannot_be_decided_is_refused_by_name(words, instead, why):
    with pytest.raises(UnreadableOutput, match=why):
        switch(EIGHT, without(FILTERS, words, instead)).dscp_map("swb")


def test_a_dscp_that_goes_past_every_queue_is_refused():
    box = without(EIGHT, '"default":"0x10"', '"default":"0"')
    filters = without(FILTERS, "00e00000/00e00000", "00c00000/00e00000")  # 7 as 6: 56..63 are left
    assert switch(EIGHT, filters).dscp_map("swb")[56:] == (0,) * 8
    with pytest.raises(UnreadableOutput, match="DSCP 56 is in no queue"):
        switch(box, filters).dscp_map("swb")


def test_the_first_filter_that_takes_a_packet_wins():
    filters = without(FILTERS, "00600000/00e00000", "00000000/00000000")  # queue 3 takes the rest
    found = switch(EIGHT, filters).dscp_map("swb")
    assert found == tuple(min(dscp // 8, 3) for dscp in range(64))
    assert len(parse_filters(filters)) == 8


@pytest.mark.parametrize(
    ("words", "instead", "said"),
    [
        ('"probability":0.1', '"probability":1e999', "a number from 0 to 1, not inf"),
        ('"probability":0.1', '"probability":NaN', "a number from 0 to 1, not nan"),
        ('"probability":0.1', '"probability":-5', "a number from 0 to 1, not -5"),
        ('"probability":0.1', '"probability":true', "a number from 0 to 1, not True"),
        ('"ewma":5', '"ewma":9999999999', "up to 31, not 9999999999"),
        ('"Scell_log":15', '"Scell_log":2000', "up to 31, not 2000"),
    ],
)
def test_numbers_of_red_that_no_kernel_has_are_refused(words, instead, said):
    """They were an OverflowError or a division by zero where a curve was read or undone."""
    with pytest.raises(UnreadableOutput, match=said):
        parse_qdiscs(without(recording("qdiscs--6.15-ets_red"), words, instead))


@pytest.mark.parametrize("release", ["5.10", "6.1", "6.15", "7.3"])
def test_every_release_of_iproute2_that_debian_has_says_the_same(release):
    """One tree, shown by the tc of Debian 11, 12, 13 and sid."""
    box = switch(*(recording(f"{what}--iproute2-{release}") for what in OF_ONE_TREE))
    served = box.scheduling("swb")
    assert [(q.queue, q.level, q.weight) for q in served.queues] == [
        (0, 7, 3000),
        (1, 6, 3000),
        (2, 4, 3000),
        (3, 2, 3000),
    ]
    assert box.dscp_map("swb")[0x60 >> 2] == 2
    assert of(box.queue_counters("swb"), c.QUEUE_FORWARDED_PACKETS)[0] == 1
    (change, *_) = box.scheduling_commands("swb", served, _swapped(served))
    assert "burst 1600b cburst 1600b" in change


OF_ONE_TREE = ("qdiscs", "classes", "filters")


def _swapped(served):
    first, *others = served.queues
    return replace(served, queues=(replace(first, weight=1500), *others))
