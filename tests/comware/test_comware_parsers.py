"""Comware parsers against damaged and unusual output: right, or refused, never a wrong number."""

import re
from dataclasses import fields, is_dataclass

import pytest
from recordings import PARSERS, RECORDINGS, is_read, label, load, parser_of

from labtests.capabilities.records import DeadlockTimes, PfcSetting, TrustSetting
from labtests.core.errors import UnreadableOutput
from labtests.drivers.comware.alarms import ComwarePfcAlarm, read_log
from labtests.drivers.comware.box import parse_version
from labtests.drivers.comware.deadlock import ComwareDeadlockDetection, ComwareDeadlockTimes
from labtests.drivers.comware.frames import Headroom
from labtests.drivers.comware.maps import TRUSTED, parse_map_table
from labtests.drivers.comware.marking import APPLIED, applied_wred_table, parse_qos_wred_table
from labtests.drivers.comware.pfc import PORTS, configured_pfc
from labtests.drivers.comware.queues import DROPS, QUEUES
from labtests.drivers.comware.scheduling import SCHEDULERS
from labtests.drivers.comware.session import interface_section, parse_configuration
from labtests.drivers.displays import written
from labtests.transport.asking import Running, answered
from labtests.transport.protocol import Reply

READ = [recording for recording in RECORDINGS if is_read(recording)]
# a configuration is words, not numbers: a line that is not there is a setting that is not there,
# and of `display version`, `display interface` and LLDP only a few lines are read
WORDS = ("configuration.", "version.", "interface.", "lldp_neighbors.", "dcbx_told.")
TABLES = [r for r in READ if not r.name.startswith(WORDS)]
# without its last lines a neighbour is told less of: it may have no name
WHOLE = [r for r in READ if not r.name.startswith("lldp_neighbors.")]


def reply(text):
    return Reply(device="leaf1", command="display x", text=text)


def facts(value, path=()):
    """Every number and word in a record, with the way to it: by key fields, not by position."""
    if isinstance(value, dict):
        return {f: v for key, part in value.items() for f, v in facts(part, (*path, key)).items()}
    if isinstance(value, tuple):
        return {
            f: v
            for position, part in enumerate(value)
            for f, v in facts(part, (*path, *_key(part, position))).items()
        }
    if is_dataclass(value):
        return {
            f: v
            for part in fields(value)
            for f, v in facts(getattr(value, part.name), (*path, part.name)).items()
        }
    return {path: value}


def _key(part, position):
    names = ("interface", "name", "direction", "queue", "priority", "counter")
    key = tuple(getattr(part, n) for n in names if hasattr(part, n))
    return key or (position,)


def assert_right_or_refused(parse, damaged, whole):
    try:
        read = facts(parse(reply(damaged)))
    except UnreadableOutput:
        return
    for fact, value in read.items():
        assert value in (None, "", whole.get(fact)), (fact, value, damaged)


@pytest.mark.parametrize("recording", TABLES, ids=label)
def test_without_any_one_line_it_is_right_or_refused(recording):
    parse, text = parser_of(recording), load(recording).text
    whole = facts(parse(load(recording)))
    rows = text.splitlines(keepends=True)
    for gone in range(len(rows)):
        assert_right_or_refused(parse, "".join(rows[:gone] + rows[gone + 1 :]), whole)


@pytest.mark.parametrize("recording", WHOLE, ids=label)
def test_cut_at_any_line_it_is_right_or_refused(recording):
    parse, text = parser_of(recording), load(recording).text
    whole = facts(parse(load(recording)))
    rows = text.splitlines(keepends=True)
    for end in range(len(rows)):
        assert_right_or_refused(parse, "".join(rows[:end]), whole)


@pytest.mark.parametrize("recording", TABLES, ids=label)
def test_with_collapsed_white_space_it_is_right_or_refused(recording):
    parse, text = parser_of(recording), load(recording).text
    whole = facts(parse(load(recording)))
    collapsed = "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
    assert_right_or_refused(parse, collapsed, whole)


@pytest.mark.parametrize("recording", TABLES, ids=label)
@pytest.mark.parametrize("line", ["Segmentation fault", "  ---- More ----", "1", "Queue 9"])
def test_a_foreign_line_anywhere_is_refused(recording, line):
    parse, text = parser_of(recording), load(recording).text
    rows = text.splitlines()
    for at in range(len(rows) + 1):
        with pytest.raises(UnreadableOutput):
            parse(reply("\n".join([*rows[:at], line, *rows[at:]])))


@pytest.mark.parametrize("parse", PARSERS.values(), ids=PARSERS)
@pytest.mark.parametrize("text", ["", "\n\n", "#\n", "<H3C>\n", "Interface: \n"])
def test_an_answer_without_content_is_refused(parse, text):
    with pytest.raises(UnreadableOutput) as refusal:
        parse(reply(text))
    assert refusal.value.device == "leaf1"
    assert refusal.value.remedy


@pytest.mark.parametrize("recording", READ, ids=label)
def test_carriage_returns_change_nothing(recording):
    plain = load(recording)
    windows = reply(plain.text.replace("\n", "\r\n"))
    assert parser_of(recording)(windows) == parser_of(recording)(plain)


@pytest.mark.parametrize(
    "name",
    [
        "queue_schedule.manual-wrr",
        "queue_schedule.manual-hardware-wfq",
        "qos_wred_table.manual",
        "map_table.s6550xe-dscp-dot1p",
        "map_table.manual-directions",
    ],
)
def test_a_table_that_has_to_be_whole_is_refused_without_its_last_rows(name):
    parse, rows = PARSERS[name.split(".")[0]], load(name).text.splitlines()
    for cut in (1, 2, 5):
        with pytest.raises(UnreadableOutput):
            parse(reply("\n".join(rows[:-cut])))


# -- PFC -------------------------------------------------------------------------------------------

OLD = "Conf -- Configured mode   Ne -- Negotiated mode   P -- Priority\n"
OLD_HEADER = "Interface     Conf Ne  Dot1pList   P Recv       Sent\n"
NEW_HEADER = (
    "Interface                        AdminMode  OperMode  Dot1pList   Prio  Recv       Send"
    "       Inpps      Outpps\n" + "-" * 99 + "\n"
)
NAME = "HGE1/0/1                         "


def pfc(text):
    return list(PORTS.read(reply(text)).values())


def test_a_port_has_one_row_for_each_priority_with_frames():
    ((interface, port),) = PORTS.read(reply(
        NEW_HEADER
        + NAME + "Enabled    Enabled   3,5         3     7          8          0          0\n"
        + NAME + "Enabled    Enabled   3,5         5     70         80         0          0\n"
    )).items()  # fmt: skip
    assert interface == "HundredGigE1/0/1"
    assert port.priorities == {3, 5}
    assert port.frames == {3: (7, 8), 5: (70, 80)}


def test_a_row_that_goes_on_from_the_one_above_belongs_to_its_port():
    one, two = pfc(
        OLD
        + OLD_HEADER
        + "XGE1/0/1      Auto On  0,2-3,5-6   0 178        43\n"
        + "                                   2 9          10\n"
        + "XGE1/0/2      Off  Off             \n"
    )
    assert one.frames == {0: (178, 43), 2: (9, 10)}
    assert (two.mode, two.operational, two.priorities, two.frames) == ("off", False, set(), {})


def test_a_blank_list_does_not_shift_the_counters():
    (port,) = pfc(
        NEW_HEADER
        + NAME
        + "Enabled    Enabled               0     5          6"
        + " " * 10
        + "3          4\n"
    )
    assert port.priorities == set()
    assert port.frames == {0: (5, 6)}


def test_a_long_list_that_pushes_the_counters_right_is_read_in_order():
    (port,) = pfc(
        NEW_HEADER + NAME + "Enabled    Enabled   0,2,4,6,1,3,5,7 4  123456789012 98765432109 1 2\n"
    )
    assert port.priorities == set(range(8))
    assert port.frames == {4: (123456789012, 98765432109)}


def test_a_blank_list_in_collapsed_text_could_be_a_cut_row_and_is_refused():
    collapsed = "Interface Conf Ne Dot1pList P Recv Sent\n"
    assert pfc(collapsed + "WGE1/0/14 On On 3 3 0 99393\n")[0].frames == {3: (0, 99393)}
    with pytest.raises(UnreadableOutput, match="does not fit its columns"):
        pfc(collapsed + "WGE1/0/14 On On 3 3 0\n")


def test_a_row_in_place_that_lacks_its_last_counter_is_refused():
    with pytest.raises(UnreadableOutput, match="does not fit its columns"):
        pfc(NEW_HEADER + NAME + "Enabled    Enabled   3           3     7          8          0\n")


def test_two_words_under_one_column_are_refused():
    with pytest.raises(UnreadableOutput, match="does not fit its columns"):
        pfc(NEW_HEADER + NAME + "On on      Enabled   3\n")


def test_a_row_with_counters_grown_together_is_refused():
    with pytest.raises(UnreadableOutput, match="does not fit its columns"):
        pfc(
            NEW_HEADER + NAME + "Enabled    Enabled               3     12345678901"
            "12345678901          0          0\n"
        )


@pytest.mark.parametrize("word", ["N/A", "-", "--", "Overflow"])
def test_a_counter_without_a_number_is_none_not_zero(word):
    (port,) = pfc("Interface Conf Ne Dot1pList P Recv Sent\n" + f"WGE1/0/1 On On 3 3 {word} 5\n")
    assert port.frames == {3: (None, 5)}


def test_dashes_for_list_priority_and_counters_mean_nothing_counted():
    (port,) = pfc(OLD_HEADER + "XGE1/0/1      Off  Off --          - -          -\n")
    assert (port.priorities, port.frames) == (set(), {})


@pytest.mark.parametrize(
    "row",
    [
        "XYZ1/0/1      On   On  3           3 1          2",  # no known type
        "XGE1/0/1      Yes  On  3           3 1          2",  # no known mode
        "XGE1/0/1      On   Auto 3          3 1          2",  # operation is on or off
        "XGE1/0/1      On   On  3           9 1          2",  # no such priority
        "XGE1/0/1      On   On  3-9         3 1          2",  # no such list
        "XGE1/0/1      On   On  5-3         3 1          2",  # backwards
        "XGE1/0/1      On   On  3           3 1,000      2",  # no number
        "XGE1/0/1      On   On  3           3 -1         2",  # no number
        "XGE1/0/1      On   On  3           - 1          2",  # counters of no priority
        "                                   3 1          2",  # a row of no port
    ],
)
def test_a_row_that_cannot_be_true_is_refused(row):
    with pytest.raises(UnreadableOutput):
        pfc(OLD_HEADER + row + "\n")


@pytest.mark.parametrize(
    "second",
    [
        "XGE1/0/1      On   On  3           3 5          6",  # the same priority twice
        "XGE1/0/1      Off  Off 3           5 5          6",  # another mode
        "XGE1/0/1      On   On  4           5 5          6",  # another list
        "XGE1/0/1      On   On  3",  # a second row without a priority
    ],
)
def test_two_rows_of_a_port_that_contradict_each_other_are_refused(second):
    with pytest.raises(UnreadableOutput):
        pfc(OLD_HEADER + "XGE1/0/1      On   On  3           3 1          2\n" + second + "\n")


def test_a_wrapped_page_with_several_ports_is_put_together():
    page = (
        "Interface                        AdminMode  OperMode  Dot1pList   Prio  Recv\n"
        "   Send       Inpps      Outpps\n" + "-" * 80 + "\n" + "-" * 19 + "\n"
        "HGE1/0/1                         Enabled    Enabled   3           3     5\n"
        "   6          7          8\n"
        "HGE1/0/2                         Disabled   Disabled\n"
        "HGE1/0/3                         Auto       Enabled   5           5     55\n"
        "   66         7          8\n"
    )
    assert [(name, p.mode, p.frames) for name, p in PORTS.read(reply(page)).items()] == [
        ("HundredGigE1/0/1", "on", {3: (5, 6)}),
        ("HundredGigE1/0/2", "off", {}),
        ("HundredGigE1/0/3", "auto", {5: (55, 66)}),
    ]


# -- queues ----------------------------------------------------------------------------------------

SHOWN_QUEUES = (
    "Interface: GigabitEthernet1/0/1\n Direction: outbound\n"
    " Forwarded: 9 packets, 900 bytes\n Dropped: 0 packets, 0 bytes\n"
    " Queue 0\n  Forwarded: 9 packets, 900 bytes\n  Dropped: 0 packets, 0 bytes\n"
    "  Current queue length: 0 packets\n"
)


@pytest.mark.parametrize("word", ["N/A", "-", "--", "Overflow"])
def test_a_queue_counter_without_a_number_is_none_not_zero(word):
    text = SHOWN_QUEUES.replace("  Dropped: 0 packets", f"  Dropped: {word} packets")
    (queues,) = QUEUES.read(reply(text)).values()
    assert (queues[0]["dropped_packets"], queues[0]["dropped_bytes"]) == (None, 0)


@pytest.mark.parametrize(
    ("shown", "instead"),
    [
        ("Direction: outbound", "Direction: inbound"),
        (" Direction: outbound\n", ""),
        (" Queue 0\n", ""),  # its lines would count as the port's
        ("  Current queue length: 0 packets\n", ""),
        ("queue length: 0 packets", "queue length: 0 cells"),
        ("  Dropped: 0 packets, 0 bytes", "  Dropped: 0 packets"),
        ("  Dropped: 0 packets, 0 bytes", "  Dropped: 1,000 packets, 0 bytes"),
        ("  Dropped: 0 packets, 0 bytes\n", "  Dropped: 0 packets, 0 bytes\n" * 2),
    ],
)
def test_queue_statistics_that_are_not_whole_are_refused(shown, instead):
    assert shown in SHOWN_QUEUES
    with pytest.raises(UnreadableOutput):
        QUEUES.read(reply(SHOWN_QUEUES.replace(shown, instead)))


def test_a_queue_whose_block_is_missing_is_not_there_and_the_others_are_right():
    text = load("queue_statistics.s6550xe-pfc").text
    hole = re.sub(r"Queue 3\n(?:.*\n){3}", "", text)
    (whole,), (queues,) = (QUEUES.read(reply(each)).values() for each in (text, hole))
    assert queues == {queue: counts for queue, counts in whole.items() if queue != 3}


def test_queues_out_of_order_are_refused():
    text = load("queue_statistics.s6550xe-pfc").text
    for wrong in ("Queue 2", "Queue 5"):
        with pytest.raises(UnreadableOutput, match="out of order or appears twice"):
            QUEUES.read(reply(text.replace("Queue 3", wrong)))


def test_the_queues_of_several_ports_are_kept_apart():
    two = SHOWN_QUEUES + SHOWN_QUEUES.replace("1/0/1", "1/0/2").replace("9 packets", "8 packets")
    ports = QUEUES.read(reply(two)).items()
    assert [(port, queues[0]["forwarded_packets"]) for port, queues in ports] == [
        ("GigabitEthernet1/0/1", 9),
        ("GigabitEthernet1/0/2", 8),
    ]


def test_document_000_forwards_20_bytes_a_packet_more_than_it_drops():
    # RoCE frames of 1086 B in queue 2: counted as 1106 B when forwarded, as 1086 B when dropped
    (queues,) = QUEUES.read(load("queue_statistics.s6550xe-drops")).values()
    queue = queues[2]
    assert queue["dropped_bytes"] / queue["dropped_packets"] == pytest.approx(1086, abs=0.01)
    assert queue["forwarded_bytes"] / queue["forwarded_packets"] == pytest.approx(1106, abs=0.01)


# -- drops -----------------------------------------------------------------------------------------


def test_two_numbers_on_one_line_are_told_apart():
    text = (
        "HundredGigE1/0/1:\n  Packets dropped due to insufficient data buffer."
        " Input dropped: 7 Output dropped:8\n"
    )
    (counts,) = DROPS.read(reply(text)).values()
    assert {c.counter: c.value for c in counts} == {
        "buffer_dropped_in_packets": 7,
        "buffer_dropped_out_packets": 8,
    }


def test_a_drop_reason_nobody_knows_keeps_its_words():
    (counts,) = DROPS.read(
        reply("GE1/0/1:\n Packets dropped due to bad luck: 3\n Packets of ECN marked: N/A\n")
    ).values()
    assert [(c.counter, c.words, c.value) for c in counts] == [
        ("dropped_bad_luck", "Packets dropped due to bad luck", 3),
        ("ecn_marked_packets", "Packets of ECN marked", None),
    ]


@pytest.mark.parametrize("lines", ["", " Packets of ECN marked: 1\n Packets of ECN marked: 2\n"])
def test_a_port_without_drop_lines_or_with_one_twice_is_refused(lines):
    with pytest.raises(UnreadableOutput, match="no lines, or one of them twice"):
        DROPS.read(reply(f"GE1/0/1:\n{lines}"))


@pytest.mark.parametrize("line", ["Packets dropped due to x: -3", "Packets dropped due to x: 1 2"])
def test_a_drop_count_that_is_no_number_is_refused(line):
    with pytest.raises(UnreadableOutput):
        DROPS.read(reply(f"GE1/0/1:\n {line}\n"))


# -- trust, WRED, scheduling, maps -----------------------------------------------------------------

TRUST = (
    "Interface: {}\n Port priority trust information\n  Port priority: 0\n  Port dscp priority: -\n"
)


@pytest.mark.parametrize(
    ("words", "setting"),
    [
        ("dscp", TrustSetting(source="dscp")),
        ("dot1p,  Override: enable", TrustSetting(source="dot1p", override=True)),
        ("none", TrustSetting(source="none")),
        ("untrust", TrustSetting(source="none")),
        ("auto", TrustSetting(source="auto")),
    ],
)
def test_trust_types_are_read(words, setting):
    text = TRUST.format("WGE1/0/14") + f"  Port priority trust type: {words}\n"
    assert TRUSTED.read(reply(text)) == {"Twenty-FiveGigE1/0/14": setting}


@pytest.mark.parametrize("words", ["tunnel", "", "dscp, Override: maybe"])
def test_a_trust_type_that_is_new_is_refused(words):
    text = TRUST.format("WGE1/0/14") + f"  Port priority trust type: {words}\n"
    with pytest.raises(UnreadableOutput):
        TRUSTED.read(reply(text))


def test_a_port_whose_trust_line_was_cut_is_refused_even_when_others_are_whole():
    whole = TRUST.format("WGE1/0/14") + "  Port priority trust type: dscp\n"
    with pytest.raises(UnreadableOutput, match="Twenty-FiveGigE1/0/14 has no line"):
        TRUSTED.read(reply(TRUST.format("WGE1/0/14") + whole.replace("0/14", "0/15")))


def test_a_wred_table_marks_in_the_queues_that_say_y():
    text = load("qos_wred_table.manual").text
    marked = re.sub(r"(?m)^([25] .*)N$", r"\1Y", text)
    (queues,) = parse_qos_wred_table(reply(marked)).values()
    assert [q.queue for q in queues if q.ecn] == [2, 5]


@pytest.mark.parametrize(
    ("shown", "instead"),
    [
        ("10     9         N", "10     9         ?"),
        ("100   1000", "N/A   1000"),
        ("Queue based", "Flow based"),
    ],
)
def test_a_wred_table_with_anything_new_is_refused(shown, instead):
    text = load("qos_wred_table.manual").text
    assert shown in text
    with pytest.raises(UnreadableOutput):
        parse_qos_wred_table(reply(text.replace(shown, instead, 1)))


def test_a_port_is_named_in_full_with_the_wred_table_it_applies():
    text = "Interface: WGE1/0/13\n Current WRED configuration:\n Applied WRED table name: test1\n"
    assert APPLIED.read(reply(text)) == {"Twenty-FiveGigE1/0/13": "test1"}


@pytest.mark.parametrize("header", ["Byte-count", "Byte count", "Weight"])
def test_wrr_weights_count_what_their_column_says(header):
    text = load("queue_schedule.manual-wrr").text.replace("Weight\n", f"{header}\n")
    (setting,) = SCHEDULERS[0].read(reply(text)).values()
    assert setting.unit == header.lower().replace(" ", "-")
    assert setting.queues[7].group == "sp"
    assert setting.queues[7].weight is None


def test_a_map_with_a_row_out_of_order_is_refused():
    text = load("map_table.s6550xe-dscp-dot1p").text.replace("\n5 : 0", "\n6 : 0", 1)
    with pytest.raises(UnreadableOutput, match="row 5 is missing"):
        parse_map_table(reply(text))


# -- the log ---------------------------------------------------------------------------------------

LOG = "Log buffer: Enabled\nOverwritten messages: 0\nCurrent messages: 1\n"
WARNING = (
    "On interface WGE1/0/1, the rate of output PFC packets of 802.1p priority 3 exceeded the PFC "
    "early-warning threshold 1000."
)


@pytest.mark.parametrize(
    "entry",
    [
        "%0.123456 SW PFC/4/PFC_WARNING: ",
        "% SW PFC/4/PFC_WARNING: ",
        "%Jan  1 00:00:00:000 SW PFC/4/PFC_WARNING: ",
        "%Jan  1 00:00:00:000 2026+08:00 SW PFC/4/PFC_WARNING: ",
        "%2026-01-01T00:00:00.000Z SW PFC/4/PFC_WARNING: ",
        "%Jan  1 00:00:00:000 2026 my switch PFC/4/PFC_WARNING: ",
        "%Jan  1 00:00:00:000 2026 SW PFC/4/PFC_\nWARNING: ",
        "*Jan  1 00:00:00:000 2026 SW PFC/7/PFC_WARNING: ",
        "%0.1 SW PFC/4/PFC_WARNING: %Jan  1 00:00:00:000 2026 SW SHELL/6/SHELL_CMD: ",
    ],
    ids=["boot", "none", "no year", "zone", "ISO", "blank", "wrapped", "debugging", "two"],
)
def test_a_line_of_the_log_with_pfc_that_is_not_understood_is_unread(entry):
    log = read_log(reply(LOG + entry + WARNING + "\n"))
    assert log.messages == ()
    assert log.unread
    assert "early-warning threshold 1000" in log.unread[-1]


def test_a_line_of_the_log_with_pfc_in_small_letters_is_unread():
    line = "%Jan  1 00:00:00:000 2026 SW QOS/4/X: pfc early warning"
    assert read_log(reply(f"{LOG}{line}\n")).unread == (line,)


def test_a_log_of_more_lines_than_a_buffer_has_is_refused():
    line = "%Jan  1 00:00:00:000 2026 SW QOS/4/PFC_ODD: what is this\n"
    of_1024 = re.sub("Current messages: [0-9]+", "Current messages: 1024", LOG)
    assert len(read_log(reply(of_1024 + 1024 * line)).unread) == 1024
    with pytest.raises(UnreadableOutput, match="it has more messages than the 1024 it says"):
        read_log(reply(of_1024 + 1025 * line))
    with pytest.raises(UnreadableOutput, match="5000 lines about one thing"):
        read_log(reply(LOG + 5000 * line))


@pytest.mark.parametrize("more", ["Current messages: 900", "Log buffer: Disabled"])
def test_a_log_that_tells_of_itself_twice_is_refused(more):
    with pytest.raises(UnreadableOutput, match="tell once how many messages"):
        read_log(reply(f"{LOG}{more}\n"))


# -- deadlocks, early warnings, headroom -----------------------------------------------------------

BEGIN = "priority-flow-control"


@pytest.mark.parametrize(
    "line",
    [
        f"{BEGIN} deadlock cos 3,4 interval 1",
        f"{BEGIN} deadlock cos 3 to 5 interval 1",
        f"{BEGIN} deadlock cos 9 interval 1",
        f"{BEGIN} deadlock cos 3 interval {'9' * 60}",
        f"{BEGIN} deadlock auto-recover cos 3,4 delay 1",
        f"{BEGIN} deadlock auto-recover action explode",
        f"{BEGIN} deadlock precision medium",
        f"{BEGIN} deadlock threshold 5",
        f"undo {BEGIN} deadlock cos 3",
        "Priority-Flow-Control deadlock precision high",
        f"{BEGIN} deadlocks precision high",
        f"{BEGIN}  deadlock precision medium",
    ],
)
def test_a_line_about_deadlocks_that_is_not_understood_is_not_the_default(line):
    def answer(asked):
        return [reply(f" {BEGIN} deadlock enable\n{line}\nreturn\n") for _ in asked]

    with pytest.raises(UnreadableOutput, match="the switch has a line that is unrecognised"):
        answered(Running(ComwareDeadlockTimes("SW").read("")), answer)


def test_lines_of_ports_and_of_others_are_no_lines_about_deadlocks_of_the_switch():
    lines = (
        f"{BEGIN} deadlock enable",
        f"{BEGIN} deadlock recover-mode manual",
        f"description {BEGIN} deadlock",
        f"{BEGIN} deadlock precision high",
        f"{BEGIN} deadlock cos 3 interval 1",
        f"{BEGIN} deadlock auto-recover cos 3 delay 2",
        f"{BEGIN} deadlock auto-recover action discard",
        "return",
    )
    text = "".join(f" {line}\n" for line in lines)
    read = ComwareDeadlockTimes("SW").read("")
    found = answered(Running(read), lambda asked: [reply(text) for _ in asked])
    assert found == DeadlockTimes(
        precision="high", action="discard", detect=((3, 1),), release=((3, 2),)
    )


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        (ComwareDeadlockDetection, f"{BEGIN} deadlock recover-mode perhaps"),
        (ComwareDeadlockDetection, f"{BEGIN} deadlock enable always"),
        (ComwarePfcAlarm, f"{BEGIN} early-warning dot1p 3 inpps 50 action log"),
        (ComwarePfcAlarm, f"{BEGIN} early-warning threshold 9"),
        (Headroom, f"{BEGIN} dot1p 3,4 headroom 100"),
        (ComwarePfcAlarm, f"{BEGIN}   early-warning  threshold 9"),
        (ComwarePfcAlarm, f"{BEGIN} early-warnings threshold 9"),
        (Headroom, f"{BEGIN} dot1p 3 headroom auto"),
        (Headroom, f"{BEGIN}  dot1p 3  headroom auto"),
    ],
)
def test_a_line_of_a_port_that_is_not_understood_is_not_the_default(setting, line):
    text = f"#\ninterface WGE1/0/1\n {line}\n#\nreturn\n"
    read = setting("SW").read("WGE1/0/1")
    with pytest.raises(UnreadableOutput, match="has a line that is unrecognised"):
        answered(Running(read), lambda asked: [reply(text) for _ in asked])


# -- configuration, version ------------------------------------------------------------------------


def test_pfc_as_document_000_configured_it():
    answer = load("configuration.s6550xe-port-14")
    section = interface_section(answer, "Twenty-FiveGigE1/0/14")
    assert configured_pfc(answer, section) == PfcSetting(mode="on", priorities=frozenset(range(8)))


@pytest.mark.parametrize(
    ("lines", "setting"),
    [
        ("", PfcSetting(mode="off", priorities=frozenset())),
        (" priority-flow-control auto\n", PfcSetting(mode="auto", priorities=frozenset())),
        (
            " priority-flow-control no-drop dot1p 0,2-3\n"
            " priority-flow-control deadlock enable\n"
            " priority-flow-control dot1p 3 headroom 100\n",
            PfcSetting(mode="off", priorities=frozenset({0, 2, 3})),
        ),
    ],
)
def test_pfc_is_read_from_the_configuration(lines, setting):
    answer = reply(f"#\ninterface WGE1/0/1\n{lines}#\nreturn\n")
    section = interface_section(answer, "Twenty-FiveGigE1/0/1")
    assert configured_pfc(answer, section) == setting


@pytest.mark.parametrize(
    "line",
    ["undo priority-flow-control", "priority-flow-control no-drop dot1p 8"],
)
def test_a_pfc_configuration_that_cannot_be_put_back_is_refused(line):
    answer = reply(f"#\ninterface WGE1/0/1\n {line}\n#\nreturn\n")
    with pytest.raises(UnreadableOutput):
        configured_pfc(answer, interface_section(answer, "Twenty-FiveGigE1/0/1"))


@pytest.mark.parametrize(
    ("line", "table"),
    [("qos wred apply test1", "test1"), ("qos wred apply", ""), ("qos trust dscp", None)],
)
def test_the_applied_wred_table_is_read_from_the_configuration(line, table):
    answer = reply(f"#\ninterface WGE1/0/1\n {line}\n#\nreturn\n")
    section = interface_section(answer, "Twenty-FiveGigE1/0/1")
    assert applied_wred_table(answer, section) == table


def test_wred_without_a_table_is_refused_because_it_could_not_be_put_back():
    answer = reply("#\ninterface WGE1/0/1\n qos wred queue 3 ecn\n#\nreturn\n")
    with pytest.raises(UnreadableOutput, match="parameters of its own"):
        applied_wred_table(answer, interface_section(answer, "Twenty-FiveGigE1/0/1"))


def test_the_configuration_of_another_port_is_refused():
    with pytest.raises(UnreadableOutput, match="asked for Twenty-FiveGigE1/0/13"):
        interface_section(load("configuration.s6550xe-port-14"), "Twenty-FiveGigE1/0/13")


def test_a_port_description_cannot_end_a_configuration():
    text = "#\ninterface WGE1/0/1\n description return\n qos trust dscp\n#\nreturn\n"
    (section,) = parse_configuration(reply(text))
    assert section.lines == ("description return", "qos trust dscp")


@pytest.mark.parametrize(
    ("listed", "shown"),
    [({3}, "3"), (set(range(8)), "0-7"), ({0, 2, 3, 5, 6}, "0,2-3,5-6"), ({0, 2, 4, 6}, "0,2,4,6")],
)
def test_a_list_of_priorities_is_written_as_the_switch_prints_it(listed, shown):
    assert written(frozenset(listed)) == shown


@pytest.mark.parametrize(
    ("first", "comware", "release"),
    [
        ("H3C Comware Software, Version 7.1.070, Release 6555P01", "7.1.070", "Release 6555P01"),
        ("H3C Comware Software, Version 9.1.055, Demo 5202P14", "9.1.055", "Demo 5202P14"),
        (
            "H3C Comware Platform Software, Software Version 7.1.070, Release 7510P21",
            "7.1.070",
            "Release 7510P21",
        ),
        ("H3C Comware Software, Version 7.1.070", "7.1.070", ""),
    ],
)
def test_versions_of_several_releases_are_read(first, comware, release):
    read = parse_version(reply(f"{first}\nCopyright\nH3C S6550XE-56HF-HI uptime is 0 weeks\n"))
    assert read == {"model": "H3C S6550XE-56HF-HI", "comware": comware, "release": release}


def test_a_name_that_somebody_has_chosen_is_no_warning():
    """An LLDP neighbour, or who logs in by SSH, may be called as a warning reads."""
    forged = (
        "%Jun 17 15:57:09:578 2006 SW LLDP/6/LLDP_CREATE_NEIGHBOR: On interface "
        "Twenty-FiveGigE1/0/13, the rate of output PFC packets of 802.1p priority 3 exceeds the "
        "PFC early-warning threshold is a neighbor\n"
    )
    read = read_log(reply(LOG + forged))
    assert read.messages == ()
    assert read.unread == (forged.strip(),)
