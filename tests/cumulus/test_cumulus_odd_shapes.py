"""What no manual of Cumulus Linux shows is refused, with device and command, and is never taken for
something that is left out and has its default; a sum with rows left out is not known."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from cumulus_recordings import ALL

from labtests.core.errors import DeviceError
from labtests.drivers.cumulus import egress, interfaces, maps, pfc, queues
from labtests.drivers.cumulus.profiles import NvueSetting
from labtests.transport.protocol import Reply

QOS = json.loads(ALL.load("qos.installed").text)
PORT = {"type": "swp", "link": {"mtu": 9216}, "qos": {}}


def answer(command: str, shown: Any) -> Reply:
    text = shown if isinstance(shown, str) else json.dumps(shown)
    return Reply(device="SN2700", command=command, text=f"{text}\n")


def done(asking: Any, answers: Mapping[str, Any]) -> Any:
    """What is made of these answers, by a word of the question."""
    try:
        asked = next(asking)
        while True:
            many = asked if isinstance(asked, tuple) else (asked,)
            replies = tuple(
                answer(line, next(told for word, told in answers.items() if word in line))
                for line in many
            )
            asked = asking.send(replies if isinstance(asked, tuple) else replies[0])
    except StopIteration as end:
        return end.value


def read(kind: type[NvueSetting[Any]], **qos: Any) -> Any:
    """Also what is written back: the same."""
    setting = kind("SN2700", ("swp1",))
    answers = {"diff": "", "show qos": {**QOS, **qos}, "interface": PORT}
    value = done(setting.read("swp1"), answers)
    around = done(setting.around("swp1", ()), answers)
    assert setting.commands("swp1", value, value, around) == ()
    return value


def profile(shown: Any) -> Any:
    return {"default-global": shown}


BOTH = {"tx": "enable", "rx": "enable"}
ODD = [
    (pfc.CumulusPfc, "pfc", {"switch-priority": "3", **BOTH}),
    (pfc.CumulusPfc, "pfc", {"switch-priority": 3, **BOTH}),
    (pfc.CumulusPfc, "pfc", {"switch-priority": {}, **BOTH}),
    (pfc.CumulusPfc, "pfc", {"switch-priority": {"3": "disabled"}, **BOTH}),
    (pfc.CumulusPfc, "pfc", {"switch-priority": {"3": {"state": "disabled"}}, **BOTH}),
    (pfc.CumulusPfc, "pfc", {"switch-priority": {"3": {}}, "state": "disabled"}),
    (pfc.CumulusPfc, "pfc", {"switch-priority": {"3": {}}, "tx": {"state": "disable"}}),
    (pfc.CumulusPfc, "pfc", {"switch-priority": {"3": {}}, "tx": {}, "rx": {}}),
    (pfc.CumulusPfc, "pfc", "disabled"),
    (egress.CumulusEcn, "congestion-control", {"traffic-class": {}}),
    (egress.CumulusEcn, "congestion-control", {"traffic-class": "3"}),
    (egress.CumulusEcn, "congestion-control", {"traffic-class": {"3": "enable"}}),
    (egress.CumulusEcn, "congestion-control", {"traffic-class": {"3": {}}}),
    (egress.CumulusEcn, "congestion-control", {"traffic-class": {"3": {"weight": 4}}}),
    (egress.CumulusEcn, "congestion-control", {"traffic-class": {"3": {"ecn": {"state": "off"}}}}),
    (egress.CumulusScheduling, "egress-scheduler", {"traffic-class": {}}),
    (egress.CumulusScheduling, "egress-scheduler", {"traffic-class": "3"}),
    (egress.CumulusScheduling, "egress-scheduler", {"quantum": 3}),
    (
        egress.CumulusScheduling,
        "egress-scheduler",
        {"traffic-class": {"3": {"mode": {"x": "strict"}, "bw-percent": 50}}},
    ),
    (
        egress.CumulusScheduling,
        "egress-scheduler",
        {"traffic-class": {str(n): {"mode": "dwrr", "bw-percent": 100} for n in range(8)}},
    ),
    (maps.CumulusDscpMap, "mapping", {"trust": "l3", "dscp": "5"}),
    (maps.CumulusDscpMap, "mapping", {"trust": "l3", "dscp": {"5": "7"}}),
    (maps.CumulusDscpMap, "mapping", {"trust": "l3", "dscp": {"5": {"priority": 7}}}),
    (
        maps.CumulusDscpMap,
        "mapping",
        {"trust": "l3", "dscp": {"5": {"switch-priority": {"x": 7}}}},
    ),
    (maps.CumulusQueueMap, "egress-queue-mapping", {"switch-priority": "5"}),
    (maps.CumulusQueueMap, "egress-queue-mapping", {"switch-priority": {"5": "0"}}),
    (maps.CumulusQueueMap, "egress-queue-mapping", {"switch-priority": {"5": {"queue": 0}}}),
]


@pytest.mark.parametrize(("kind", "feature", "shown"), ODD, ids=range(len(ODD)))
def test_a_profile_of_another_shape_is_refused(
    kind: type[NvueSetting[Any]], feature: str, shown: Any
) -> None:
    with pytest.raises(DeviceError) as refused:
        read(kind, **{feature: profile(shown)})
    assert refused.value.device == "SN2700"
    assert refused.value.command
    assert refused.value.remedy


ROCE = [
    {"enable": 1},
    {"enable": "yes"},
    {"enable": {"state": "on"}},
    {"state": "enabled"},
    {"mode": "lossless"},
    "on",
]


@pytest.mark.parametrize("shown", ROCE, ids=range(len(ROCE)))
def test_where_it_is_not_clear_whether_roce_mode_is_on_nothing_is_read(shown: Any) -> None:
    with pytest.raises(DeviceError, match=r"SN2700: .*nv show qos --applied.*RoCE mode"):
        read(maps.CumulusQueueMap, roce=shown)


@pytest.mark.parametrize("word", ["on", "enabled", "enable"])
def test_roce_mode_is_on_in_the_words_of_any_release(word: str) -> None:
    with pytest.raises(DeviceError, match=r"RoCE mode is on \(lossless\)"):
        read(maps.CumulusQueueMap, roce={"enable": word})  # and `nv show qos roce` is no such text
    assert read(maps.CumulusQueueMap, roce={"enable": "disable"}) == tuple(range(8))


LINKS = [
    {"mtu": 9216, "state": {"up": {}, "down": {}}},
    {"mtu": 9216, "state": {"sideways": {}}},
    {"mtu": 9216, "oper-status": "up", "state": {"down": {}}},
    {"mtu": 9216, "oper-status": "enabled"},
    {"mtu": 0, "oper-status": "up"},
    {"mtu": 2**40, "oper-status": "up"},
    {"mtu": 9216, "oper-status": "up", "speed": "0G"},
    {"mtu": 9216, "oper-status": "up", "speed": "9" * 200 + "G"},
]


@pytest.mark.parametrize("shown", LINKS, ids=range(len(LINKS)))
def test_a_link_that_cannot_be_is_refused(shown: Any) -> None:
    with pytest.raises(DeviceError) as refused:
        interfaces.parse_link(answer("nv show interface swp1 link -o json", shown))
    assert (refused.value.device, refused.value.command.split()[0]) == ("SN2700", "nv")


@pytest.mark.parametrize(
    ("shown", "up"),
    [
        ({"oper-status": "UP"}, True),
        ({"oper-status": "down", "state": {"up": {}}}, False),  # no cable
        ({"oper-status": "up", "state": {"up": {}}}, True),
        ({"oper-status": "lowerLayerDown"}, False),
        ({"state": {"up": {}}}, True),
        ({"state": {"down": {}}}, False),
        ({"state": {}}, False),
    ],
)
def test_whether_a_link_is_up_is_read_in_any_release(shown: Any, up: bool) -> None:
    told = answer("nv show interface swp1 link -o json", {"mtu": 1500, "speed": "25G", **shown})
    assert interfaces.parse_link(told)[0].up is up


def counted(**rows: Any) -> dict[str, Any]:
    queue = {"tx-frames": 5, "tx-uc-buffer-discards": 0, "wred-discards": 7}
    group = {"rx-frames": 1, "rx-buffer-discards": 9, "rx-shared-buffer-discards": 0}
    return {
        "egress-queue-stats": {str(n): queue for n in rows.get("queues", range(8))},
        "ingress-buffer-stats": {str(n): group for n in rows.get("groups", range(8))},
    }


def sums(shown: Any) -> dict[str, tuple[int | None, str]]:
    found = done(
        queues.CumulusQueues("SN2700", ("swp1",)).drop_counters("swp1"), {"counters": shown}
    )
    return {each.counter: (each.value, each.missing) for each in found}


def test_a_sum_with_rows_left_out_is_not_known() -> None:
    whole = sums(counted())
    assert whole["buffer_dropped_in_packets"] == (72, "")
    assert whole["queue_wred_dropped_packets"] == (56, "")
    few = sums(counted(groups=(7,), queues=(0, 1, 2, 3, 5, 6, 7)))
    value, why = few["buffer_dropped_in_packets"]
    assert (value, "leaves out 0, 1, 2, 3, 4, 5, 6" in why) == (None, True)
    value, why = few["queue_wred_dropped_packets"]
    assert (value, "leaves out 4," in why) == (None, True)
    value, why = sums(counted(groups=()))["buffer_dropped_in_packets"]
    assert (value, "does not show it" in why) == (None, True)
