"""Every recording of an Onyx switch is read as its .expected says, or refused as it says. So are
answers that nobody has recorded."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from onyx_recordings import ALL, PARSERS
from platform_recordings import label, part_of

from labtests.capabilities.device import Obstacles, QueueTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PfcSetting
from labtests.core.errors import CommandRejected, DeviceError, UnreadableOutput
from labtests.drivers.onyx.driver import driver_of
from labtests.drivers.onyx.pfc import OnyxPfc, parse_pause_frames
from labtests.drivers.onyx.queues import parse_class
from labtests.drivers.onyx.session import CLI, line
from labtests.transport.asking import Running, answered
from labtests.transport.protocol import Reply

READ = [recording for recording in ALL.recordings if ALL.is_read(recording)]
IN_JSON = [recording for recording in READ if not recording.name.startswith(("clock.", "pools."))]


def answer(shown: Any, command: str = "show qos interface ethernet 1/1 | json-print") -> Reply:
    text = shown if isinstance(shown, str) else json.dumps(shown)
    return Reply(device="SN2700", command=command, text=f"{text}\n")


def outcome(parse: Callable[[Reply], Any], reply: Reply) -> Any:
    """What is read, or why it is refused."""
    try:
        return parse(reply)
    except DeviceError as refusal:
        return refusal


@pytest.mark.parametrize("recording", ALL.recordings, ids=label)
def test_a_recording_says_what_is_expected_of_it(recording):
    assert ALL.rendered(recording) == recording.with_suffix(".expected").read_text(encoding="utf-8")


def test_every_parser_has_a_recording_and_every_expectation_too():
    ALL.expect_complete()


SAME = {"counters", "interface"}
"""Older releases print both in one answer."""


@pytest.mark.parametrize("recording", READ, ids=label)
def test_a_recording_is_refused_or_without_a_value_by_every_other_parser(recording):
    reply, own = ALL.load(recording), ALL.parser_of(recording)
    for name, parse in PARSERS.items():
        if parse is own or {name, recording.name.split(".")[0]} == SAME:
            continue
        found = outcome(parse, reply)  # of other interfaces than ports nothing is read
        assert isinstance(found, DeviceError) or not found, name


@pytest.mark.parametrize("recording", READ, ids=label)
def test_a_line_that_is_new_is_refused_wherever_it_stands(recording):
    ALL.expect_new_line_refused(recording, "Frobnicated pkts : 7 of 9")


# -- hostile answers -------------------------------------------------------------------------------

DEEP: Any = []
for _ in range(500):
    DEEP = [DEEP]
HOSTILE = {
    "empty list": [],
    "empty object": {},
    "nothing": None,
    "true": True,
    "negative": -1,
    "fraction": 1.5,
    "huge": 10**90,
    "two": [{}, {}],
    "object": {"Eth1/1": {"Eth1/1": 7}},
    "deep": DEEP,
}


def places(shown: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of every part of an answer."""
    yield path
    if isinstance(shown, dict | list):
        for name, each in shown.items() if isinstance(shown, dict) else enumerate(shown):
            yield from places(each, (*path, name))


def with_instead(shown: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    whole = deepcopy(shown)
    node = whole
    for name in path[:-1]:
        node = node[name]
    node[path[-1]] = other
    return whole


HOSTILE_TEXTS = {"other digits": "٣", "long": "9" * 9000}
"""Of what is no name."""


@pytest.mark.parametrize("recording", IN_JSON, ids=label)
def test_an_answer_with_something_else_anywhere_says_no_other_value(recording):
    reply, parse = ALL.load(recording), ALL.parser_of(recording)
    shown, whole = json.loads(reply.text), parse(reply)
    named = ALL.parser_of(recording) in (PARSERS["lldp"], PARSERS["version"])
    others = HOSTILE if named else HOSTILE | HOSTILE_TEXTS
    refused = 0
    for path, other in product(places(shown), others.values()):
        text = json.dumps(with_instead(shown, path, other))
        found = outcome(parse, replace(reply, text=f"{text}\n"))
        if isinstance(found, DeviceError):
            assert (found.device, found.command) == (reply.device, reply.command)
            assert found.remedy
            refused += 1
        else:
            assert part_of(found, whole), (path, found)
    assert refused


@pytest.mark.parametrize("name", sorted(set(PARSERS) - {"clock"}))
@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "7",
        "true",
        '"up"',
        "[[]]",
        "[7]",
        '{"Eth1/1": 7}',
        '[{"Eth1/1": [7]}]',
        '[{"Eth1/1": [{}], "Eth1/1": [{}]}]',
        '[{"Eth1/1": [{"a": NaN}]}]',
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" + "9" * 5000 + "]",
    ],
    ids=range(14),
)
def test_what_is_no_answer_is_refused_with_device_command_and_remedy(name, text):
    with pytest.raises(UnreadableOutput) as refused:
        PARSERS[name](answer(text))
    assert refused.value.device == "SN2700"
    assert refused.value.command.startswith("show qos interface")
    assert refused.value.remedy


def changed(name: str, old: str, new: str) -> Reply:
    reply = ALL.load(name)
    assert old in reply.text
    return replace(reply, text=reply.text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("pfc.two-priorities", '"3 4"', '"3 4 5"', "not enabled or disabled"),
        ("pfc.two-priorities", '"3 4"', '"3"', "not enabled or disabled"),
        ("pfc.two-priorities", '"PFC": "enabled"', '"PFC": "on"', "enabled or disabled, not .on"),
        ("pfc.two-priorities", '"PFC oper": "Disabled"', '"PFC oper": "?"', "enabled or disabled"),
        ("pfc.two-priorities", '"PFC admin": "Auto"', '"PFC admin": "?"', "auto or on or off"),
        ("pfc.two-priorities", "Eth1/16", "Watchdog", "unrecognised"),
        ("congestion.red-and-ecn", '"Mode": "ECN"', '"Mode": "RED and ECN"', "none or ecn or red"),
        (
            "congestion.red-and-ecn",
            '"Threshold mode": "abs',
            '"Threshold mode": "x',
            "absolute or rel",
        ),
        ("congestion.red-and-ecn", "1550 KB", "1550 MB", "should be absolute"),
        ("congestion.red-and-ecn", "1550 KB", "9%", "should be absolute"),
        ("congestion.red-and-ecn", "1550 KB", "499 KB", "from 500 to 499"),
        ("congestion.red-and-ecn", "TC-7", "TC-6", "does not list exactly the classes"),
        ("ets.weights", '"S.Mode": "Strict"', '"S.Mode": "DWRR"', "strict or wrr"),
        ("ets.weights", '"7": [', '"8": [', "does not have exactly the numbers"),
        ("qos.both", '"Trust mode": "both"', '"Trust mode": "L4"', "l3 or l2 or port or both"),
        ("qos.both", '"16 17 18', '"15 17 18', "which another one has"),
        ("qos.both", '"16 17 18', '"17 18', "has 63 DSCPs"),
        (
            "qos.both",
            '"switch-priority": "2"',
            '"switch-priority": "8"',
            "should be a number below 8",
        ),
        ("interface.two", '"Operational state": "Down"', '"Operational state": "?"', "Up or Down"),
        ("interface.two", "packet size 1522", "packet size 1518", "22 bytes less"),
        ("interface.two", "100 Gbps", "100 parsecs", "should be a speed"),
        ("interface.two", "Eth1/2", "Eth1/1", "comes twice"),
        ("counters.with-vlans", '"bytes"', '"frobnicated packets"', "which is unrecognised"),
        ("lldp.port-channel", "Eth1/2 (", "Eth1/1 (", "comes twice"),
        ("lldp.nobody", "No lldp", "Some lldp", "which is not a port"),
        ("version.3-6-5000", '"MLNX-OS"', '"Frobnix"', "MLNX-OS or Onyx"),
        ("clock.utc", "(Etc/UTC)", "(Asia/Tokyo)", "how far"),
        ("clock.utc", "2012/02/02", "2012/02/30", "not a time and date"),
    ],
)
def test_what_cannot_be_is_refused(name, old, new, says):
    parse = PARSERS[name.split(".")[0]]
    with pytest.raises(UnreadableOutput, match=says) as refused:
        parse(changed(name, old, new))
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("admin", "oper", "on", "of_disabled"),
    [
        ("Auto", "Enabled", True, None),
        ("on", "Disabled", True, None),
        ("off", "Disabled", False, False),
        ("Auto", "Disabled", False, None),
    ],
)
def test_where_pfc_is_disabled_a_mode_is_known_only_where_it_is_off(admin, oper, on, of_disabled):
    lists = {"Priority Enabled List": "", "Priority Disabled List": "0 1 2 3 4 5 6 7"}
    port = {"Eth1/1": [{"PFC admin": admin, "PFC oper": oper}]}
    ((disabled,), (enabled,)) = (
        PARSERS["pfc"](answer([{"PFC": state, **lists}, port])) for state in ("disabled", "enabled")
    )
    assert disabled.on == {"Eth1/1": of_disabled}
    assert enabled.on == {"Eth1/1": on}


@pytest.mark.parametrize(
    ("shown", "speed"),
    [("25G", 25), ("100Gx4", 100), ("10 Gbps", 10), ("Unknown", None), ("0 Gbps", None)],
)
def test_a_speed_is_read_in_the_words_of_any_release(shown, speed):
    found = PARSERS["interface"](changed("interface.with-vlans", "40 Gbps", shown))
    assert found["Eth1/1"][0].speed_bits_per_s == (speed and speed * 10**9)


def test_a_newer_release_says_the_port_before_what_it_says_of_it():
    (port, *_) = json.loads(ALL.load("interface.with-vlans").text)
    newer = answer([{port.pop("header"): [port]}])
    assert PARSERS["interface"](newer) == PARSERS["interface"](ALL.load("interface.with-vlans"))
    parts = [{"Rx": [port["Rx"]]}, {"Tx": [port["Tx"]]}]
    assert PARSERS["counters"](answer({"Eth1/1": parts})) == PARSERS["counters"](newer)


def test_a_port_that_pauses_all_priorities_says_so():
    for said in ("receive on send off", "receive off send on", "receive ON send ON"):
        both = changed("interface.with-vlans", "receive off send off", said)
        assert PARSERS["interface"](both)["Eth1/1"][1] is True
    assert PARSERS["interface"](ALL.load("interface.with-vlans"))["Eth1/1"][1] is False
    assert PARSERS["interface"](ALL.load("interface.two"))["Eth1/1"][1] is None


def test_a_port_that_does_not_say_whether_it_pauses_is_an_obstacle():
    (port, *_) = json.loads(ALL.load("interface.with-vlans").text)
    del port["Flow-control"]
    ets = ALL.load("ets.weights").text.replace("N/A", "0")
    (name,) = json.loads(ets)[0]
    part = driver_of("SN2700", ("Eth1/1",)).able(Obstacles)
    assert part is not None

    def said(command: str) -> Reply:
        if " run" in command:
            return answer("", command)
        return answer(ets.replace(name, "Eth1/1") if " ets " in command else [port], command)

    asking = part.obstacles()
    found = answered(Running(asking), lambda asked: [said(str(each)) for each in asked])
    assert "Eth1/1: it does not say whether it pauses all priorities together" in found[0]


@pytest.mark.parametrize("said", ["enabled", "?", "receive off", {}, ""], ids=repr)
def test_how_a_port_pauses_is_not_guessed(said):
    old = '"Flow-control": "receive off send off"'
    odd = changed("interface.with-vlans", old, f'"Flow-control": {json.dumps(said)}')
    with pytest.raises(UnreadableOutput, match="should be on or off each way"):
        PARSERS["interface"](odd)


def test_a_port_that_is_disabled_and_up_is_refused():
    (port, *_) = json.loads(ALL.load("interface.with-vlans").text)
    port |= {"Admin state": "Disabled", "Operational state": "Up"}
    with pytest.raises(UnreadableOutput, match="is disabled, and the port is up"):
        PARSERS["interface"](answer([port]))


@pytest.mark.parametrize("enabled", ["٣", "three", "3,4", "34", {}, [], "3 none"], ids=ascii)
@pytest.mark.parametrize("other", ["Priority Enabled List", "Priority Disabled List"])
def test_a_list_of_priorities_that_is_none_is_not_an_empty_one(enabled, other):
    lists = dict.fromkeys(("Priority Enabled List", "Priority Disabled List"), enabled)
    lists[other] = "0 1 2 3 4 5 6 7"
    port = {"Eth1/1": [{"PFC admin": "Auto", "PFC oper": "Disabled"}]}
    with pytest.raises(UnreadableOutput, match="should be"):
        PARSERS["pfc"](answer([{"PFC": "enabled", **lists}, port]))


@pytest.mark.parametrize("none", ["", "none", "N/A", "-"])
def test_no_priority_may_be_shown_in_any_such_way(none):
    lists = {"Priority Enabled List": none, "Priority Disabled List": "0 1 2 3 4 5 6 7"}
    (found,) = PARSERS["pfc"](answer([{"PFC": "enabled", **lists}]))
    assert found.priorities == frozenset()


# -- displays that are read as text: the form that public programs read ----------------------------

CLASS = """
Eth1/1:
  TC 3:
    7                    packets
    700                  bytes
    0                    queue depth
    2                    unicast no buffer discard
    1                    WRED discard
"""
PAUSES = """
Eth1/1:
  PFC 3:
    Rx:
      5                    pause packets
      1                    pause duration
    Tx:
      6                    pause packets

Eth1/2:
  PFC 3:
    Rx:
      0                    pause packets
    Tx:
      0                    pause packets
"""


@pytest.mark.parametrize("colon", [":", ""], ids=["with colons", "without"])
def test_classes_and_pauses_are_counted(colon):
    counted = parse_class(answer(CLASS.replace(":", colon)))
    words = {"packets": 7, "bytes": 700, "unicast no buffer discard": 2, "WRED discard": 1}
    assert counted == {"Eth1/1": (3, words)}
    paused = parse_pause_frames(answer(PAUSES.replace(":", colon)))
    assert paused == {"Eth1/1": (3, {"Rx": 5, "Tx": 6}), "Eth1/2": (3, {"Rx": 0, "Tx": 0})}


@pytest.mark.parametrize(
    ("parse", "text"), [(parse_class, CLASS), (parse_pause_frames, PAUSES)], ids=["tc", "pfc"]
)
def test_of_a_cut_count_a_part_is_read_or_nothing(parse, text):
    whole = parse(answer(text))
    for end in range(len(text)):
        found = outcome(parse, replace(answer(""), text=text[:end]))
        if not isinstance(found, DeviceError):
            assert text[:end].endswith("\n") or not text[:end].strip()
            assert part_of(found, whole), text[:end]


@pytest.mark.parametrize(
    ("parse", "old", "new"),
    [
        (parse_class, "TC 3", "TC 8"),
        (parse_class, "queue depth", "frobnications"),
        (parse_class, "700  ", "7e2  "),
        (parse_class, "  TC 3:", "  TC 3:\n  TC 3:"),
        (parse_class, "Eth1/1", "Po1"),
        (parse_class, "packets\n", "packets\n 8  packets\n"),
        (parse_pause_frames, "Tx:", "Rx:"),
        (parse_pause_frames, "Eth1/2", "Eth1/1"),
        (parse_pause_frames, "6  ", "-6  "),
    ],
)
def test_a_count_that_is_not_as_declared_is_refused(parse, old, new):
    text = {parse_class: CLASS, parse_pause_frames: PAUSES}[parse]
    assert old in text
    with pytest.raises(UnreadableOutput):
        parse(answer(text.replace(old, new, 1)))


def dropped(wred: str, mode: dict[str, str]) -> Reading:
    """What class 3 lost, where it shows this line, and `congestion-control` this of it."""
    curves: list[dict[str, str]] = [{"Interface ethernet": "1/1", "ECN marked packets": "0"}]
    for queue in range(8):
        curves.append({"header": f"TC-{queue}", **(mode if queue == 3 else {"Mode": "none"})})

    def said(command: str) -> Reply:
        if "congestion" in command:
            return answer(curves, command)
        text = CLASS.replace("    1                    WRED discard\n", wred)
        return answer(text.replace("TC 3", f"TC {command[-1]}"), command)

    part = driver_of("SN2700").able(QueueTelemetry)
    assert part is not None
    asking = part.queue_counters("Eth1/1")
    readings = answered(Running(asking), lambda asked: [said(str(each)) for each in asked])
    (found,) = (e for e in readings if (e.index, e.counter) == (3, "dropped_packets"))
    return found


NO_CURVE = {"Mode": "none"}
LIMITS = {"Minimum threshold": "150 KB", "Maximum threshold": "1500 KB"}
CURVE = {"Mode": "ECN", "Threshold mode": "absolute", "RED dropped packets": "9", **LIMITS}


@pytest.mark.parametrize(
    ("wred", "mode", "lost"),
    [
        ("    9  WRED discard\n", NO_CURVE, 11),
        ("    9  WRED discard\n", CURVE, 11),
        ("    0  WRED discard\n", NO_CURVE, 2),
        ("", CURVE, 11),
        ("", NO_CURVE, 2),
    ],
    ids=["by the class alone", "by both", "none", "by the curve alone", "by neither"],
)
def test_what_red_dropped_is_lost_wherever_it_is_told(wred, mode, lost):
    assert dropped(wred, mode).value == lost


@pytest.mark.parametrize("wred", [0, 8, 10, 1000])
def test_two_displays_that_tell_different_losses_tell_none(wred):
    found = dropped(f"    {wred}  WRED discard\n", CURVE)
    assert found.value is None
    assert f"{wred} WRED discard, and `congestion-control` 9 RED" in found.missing


# -- refusals --------------------------------------------------------------------------------------

UNKNOWN = '% Unrecognized command "qos".\nType "?" for help.\n'
HEAD = "switch [standalone: master] (config) # "


def test_a_question_that_the_switch_does_not_know_is_rejected():
    with pytest.raises(CommandRejected, match="Unrecognized command") as refused:
        CLI.refusals.expect_answer(answer(UNKNOWN))
    assert "no such command" in refused.value.remedy
    CLI.refusals.expect_answer(ALL.load("qos.both"))


@pytest.mark.parametrize("said", [UNKNOWN, "% Frobnicated\n", "Are you sure?\n"], ids=range(3))
def test_a_line_counts_as_taken_only_when_the_switch_says_nothing(said):
    sent = tuple(line("interface", "ethernet", f"1/{n}", "qos", "trust", "L3") for n in (1, 2))
    printed = "config term\n" + HEAD
    for each in sent:
        printed += f"{each}\n{HEAD}"
    printed += "exit\nswitch [standalone: master] # "
    CLI.refusals.expect_accepted(answer(printed), sent)
    wrong = printed.replace(f"{sent[1]}\n", f"{sent[1]}\n{said}")
    with pytest.raises(CommandRejected) as refused:
        CLI.refusals.expect_accepted(answer(wrong), sent)
    assert refused.value.command == sent[1]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("ets.weights", '"S.Mode": "Strict"', '"S.Mode": "\u017ftrict"'),
        (
            "congestion.red-and-ecn",
            '"Threshold mode": "absolute"',
            '"Threshold mode": "ab\u017folute"',
        ),
    ],
    ids=["strict", "absolute"],
)
def test_a_letter_that_has_the_same_capital_makes_another_word(name, old, new):
    """A long s is no s: it was read as one, and then as weight 12, or was a KeyError."""
    reply = ALL.load(name)
    assert old in reply.text
    with pytest.raises(UnreadableOutput):
        ALL.parsers[name.split(".")[0]](replace(reply, text=reply.text.replace(old, new)))


def test_a_port_that_is_told_off_is_not_switched_on_for_no_line_is_known_that_says_off_again():
    """`no ... mode force` makes it `Auto`, so it would not be left as it was found."""
    lists = {"Priority Enabled List": "3", "Priority Disabled List": "0 1 2 4 5 6 7"}
    rows = {port: [{"PFC admin": admin, "PFC oper": "Disabled"}] for port, admin in SAID.items()}
    said = answer([{"PFC": "enabled", **lists}, rows])
    setting = OnyxPfc("SN2700", tuple(rows))

    def asked(asking):
        return answered(Running(asking), lambda questions: [said for _ in questions])

    on, off = (PfcSetting(mode=mode, priorities=frozenset({3})) for mode in ("on", "off"))
    for port in rows:
        assert asked(setting.read(port)) == off
    around = asked(setting.around("Eth1/1", ()))
    assert len(setting.commands("Eth1/1", off, on, around)) == 1
    around = asked(setting.around("Eth1/2", ()))
    assert setting.commands("Eth1/2", off, off, around) == ()
    with pytest.raises(CommandRejected, match="no line is known that puts that back") as refused:
        setting.commands("Eth1/2", off, on, around)
    assert "no dcb priority-flow-control mode force" in refused.value.remedy


SAID = {"Eth1/1": "Auto", "Eth1/2": "Off"}
