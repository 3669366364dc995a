"""The displays of other CLIs, by the readers that Comware's driver uses; and what those refuse."""

import tracemalloc
from pathlib import Path

import pytest
from other_switches import READERS

from labtests.core.errors import UnreadableOutput
from labtests.drivers.displays import (
    Fields,
    Indented,
    Notation,
    Table,
    Unfit,
    ValueKind,
    read,
    read_json,
    read_table,
)
from labtests.drivers.displays.trees import parse, parse_any
from labtests.transport.protocol import Reply

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"


def load(name):
    command, _, text = (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8").split("\n", 2)
    return reply(text, command.removeprefix("$ "))


def reply(text, command="show x"):
    return Reply(device="leaf1", command=command, text=text)


def test_a_table_of_nx_os_is_read():
    ports = READERS["nxos/priority_flow_control.ucs"](load("nxos/priority_flow_control.ucs"))
    assert len(ports) == 5
    assert ports[-1] == {
        "port": "Br-Ethernet1/17/1",
        "mode": "Auto",
        "oper": "Off",
        "frames": ({"received": 373112640, "sent": 5422273},),
    }


def test_boxes_of_nx_os_are_read():
    (port,) = READERS["nxos/queuing.n9k"](load("nxos/queuing.n9k"))
    first, second = port["groups"]
    assert [(row["counter"], row["multicast"]) for row in first["rows"]] == [
        ("Tx Pkts", 34),
        ("Tx Byts", 3400),
        ("Dropped Pkts", 2),
    ]
    assert second == {"group": 3, "sent": 50, "dropped": 6, "rows": ()}
    assert (port["wred_dropped"], port["pause_sent"], port["mmu_dropped_bytes"]) == (9, 11, 1024)
    assert [each["received"] for each in port["classes"]] == [0, 8]


def test_json_of_nx_os_is_read():
    name = "nxos/counters_detailed.nexus3548"
    ports = READERS[name](load(name))["table"]["ports"]
    assert [each["port"] for each in ports] == ["mgmt0", *(f"Ethernet1/{n}" for n in (1, 2, 3))]
    assert ports[1]["counters"] == {}
    assert ports[2]["counters"]["eth_outpkts"] == 62083186


def test_tables_under_a_ruler_are_read_whatever_side_their_words_are_on():
    received, sent = READERS["sonic/pfc_counters.all"](load("sonic/pfc_counters.all"))
    assert (received[0]["port"], received[0]["priority_0"]) == ("Ethernet0", 1200)
    assert sent[0]["priority_7"] == 217
    assert sent[-1]["priority_3"] is None


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("line", ["Segmentation fault", "  --More--  ", "1", "| x | 1|"])
def test_a_new_line_anywhere_is_refused(name, line):
    whole = load(name)
    rows = whole.text.splitlines()
    for at in range(len(rows) + 1):
        text = "".join(f"{row}\n" for row in [*rows[:at], line, *rows[at:]])
        with pytest.raises(UnreadableOutput):
            READERS[name](reply(text))


CLI = Notation()
QUEUE = CLI.record(
    "Queue <queue:0-7>",
    CLI.line("Dropped: <dropped:number>"),
    CLI.maybe("Marked: <marked:number>"),
    make=dict,
    order="ascending",
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "lacks the line 'Queue'"),
        ("Queue 1\n", "Queue 1 lacks the line 'Dropped'"),
        ("Queue 1\nDropped: 1\nDropped: 2\n", "Queue 1 has two lines 'Dropped'"),
        ("Queue 1\nDropped: 1\nQueue 1\nDropped: 1\n", "out of order or appears twice"),
        ("Queue 1\nDropped: 1\nLost: 3\n", "line 3 is unrecognised: 'Lost: 3'"),
        ("Dropped: 1\n", "line 1 is unrecognised"),
        ("Queue 1\nDropped: 1", "the last line has no end"),
    ],
)
def test_lines_that_are_not_as_declared_are_refused(text, says):
    with pytest.raises(UnreadableOutput, match=says):
        read(reply(text), QUEUE)


def test_a_part_that_is_not_there_is_left_out_and_blanks_do_not_matter():
    shown = reply("\n Queue  1\n   Dropped:5\nQueue 2\n Dropped :  6\n Marked: 7\n")
    assert read(shown, QUEUE) == (
        {"queue": 1, "dropped": 5},
        {"queue": 2, "dropped": 6, "marked": 7},
    )


def test_a_record_that_does_not_go_together_is_refused_with_its_sentence():
    def make(port):
        raise Unfit(f"has no such speed on {port}")

    with pytest.raises(UnreadableOutput, match="eth1 has no such speed on eth1"):
        read(reply("port eth1\n"), CLI.record("port <port>", make=make))


def test_a_kind_that_nobody_declared_is_an_error_of_the_driver():
    with pytest.raises(KeyError, match="speed"):
        CLI.line("<rate:speed>")
    assert (
        Notation().also(speed=ValueKind("[0-9]+G")).line("<rate:speed>").shape.begins
        == "<rate:speed>"
    )


PORTS = Table(
    about=CLI.columns({"Port": "port", "List": "list?"}),
    details=CLI.columns({"Prio": "priority:0-7", "Frames": "frames:number"}),
    make=dict,
    into="rows",
    rows=(0, 2),
)


def test_a_row_goes_on_from_the_one_above_and_a_blank_cell_is_left_out():
    shown = "Port    List  Prio  Frames\neth1    3,4   3     10\n              4     11\neth2\n"
    assert read_table(reply(shown), PORTS) == (
        {
            "port": "eth1",
            "list": "3,4",
            "rows": ({"priority": 3, "frames": 10}, {"priority": 4, "frames": 11}),
        },
        {"port": "eth2", "rows": ()},
    )


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("eth1    3     3\n", "does not fit its columns"),
        ("eth1    3     9     10\n", "does not fit its columns"),
        ("              4     11\n", "belongs to nothing above"),
        ("eth1    3     3     10\neth1    4     4     10\n", "contradict each other"),
        ("eth1    3     3     10\neth1    3     3     10\n", "appears twice"),
        ("eth1    3     3     10\neth1          4     11\neth1          5     12\n", "has 3 rows"),
    ],
)
def test_rows_that_cannot_be_true_are_refused(rows, says):
    with pytest.raises(UnreadableOutput, match=says):
        read_table(reply(f"Port    List  Prio  Frames\n{rows}"), PORTS)


# -- configurations by indentation -----------------------------------------------------------------

INDENTED = Indented(end=CLI.shape("end of it"), comment="!", cut_remedy="ask again")
NESTED = "! made\npolicy P\n  class a\n    share 5\n\n  class b\nport 1\n  mtu 9000\nend of it\n"


def test_what_stands_under_what_is_said_by_the_margin():
    policy, port = INDENTED.sections(reply(NESTED))
    assert (policy.head, policy.lines) == ("policy P", ("class a", "class b"))
    assert [each.lines for each in policy.inner] == [("share 5",), ()]
    assert (port.head, port.lines) == ("port 1", ("mtu 9000",))
    assert INDENTED.sections(reply("end of it\n")) == ()


@pytest.mark.parametrize("lines", range(9))
def test_without_the_line_behind_it_a_configuration_was_cut(lines):
    cut = "".join(NESTED.splitlines(keepends=True)[:lines])
    with pytest.raises(UnreadableOutput, match="end of it"):
        INDENTED.sections(reply(cut))


def test_a_line_under_nothing_is_refused():
    with pytest.raises(UnreadableOutput, match="stands under nothing"):
        INDENTED.sections(reply("    share 5\nport 1\nend of it\n"))


# -- JSON ------------------------------------------------------------------------------------------


def test_an_answer_in_json_may_be_a_list_of_parts_each_with_its_place():
    first, second = parse_any(reply('[{"a": [1]}, {"a": [2]}]')).rows()
    assert [second.below("a").rows()[0].number(), second.where] == [2, "2"]
    with pytest.raises(UnreadableOutput, match="1 a 1 should be a list"):
        first.below("a").rows()[0].rows()


def most_bytes(answer):
    """What reading all parts of it holds at once."""
    tracemalloc.start()
    try:
        rows = [part for each in parse_any(answer).rows() for _, part in each.named()]
        held = [row for part in rows for row in part.rows()]
        assert len(held) == 20_000
        with pytest.raises(UnreadableOutput, match=r"1 n.* 20000 should be a list"):
            held[-1].rows()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_name_with_many_parts_under_it_is_held_once():
    """It was copied for each of them: 0.6 MB of an answer took 3.8 GiB."""
    short, long = ("n" * length for length in (1, 500))
    parts = ", ".join(["{}"] * 20_000)
    few, many = (most_bytes(reply(f'[{{"{name}": [{parts}]}}]')) for name in (short, long))
    assert many < 1.2 * few


def by_its_fields(answer):
    return read_json(answer, Fields({}, open=True), CLI)


@pytest.mark.parametrize("read_it", [parse, by_its_fields])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": {"lost": 7, "lost": 0}}', "the name 'lost' twice"),
        ('{"a": NaN}', "NaN is not a number"),
        ('{"a": -Infinity}', "-Infinity is not a number"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": 1', "not all of it"),
        (f'{{"a": [{{"{"n" * 513}": 1}}]}}', "a name of 513 characters"),
    ],
    ids=["twice", "NaN", "infinity", "deep", "cut", "long name"],
)
def test_what_is_no_json_or_says_two_things_is_refused(read_it, text, says):
    with pytest.raises(UnreadableOutput, match=says) as refused:
        read_it(reply(text))
    assert (refused.value.device, refused.value.command) == ("leaf1", "show x")
