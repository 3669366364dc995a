"""How the emulated CLI reads lines: abbreviations, interface names, and where carets go."""

import pytest

from labtests.simlab.comware.words import TYPES, WORDS
from labtests.simlab.switch_cli.arguments import InterfaceName, RangeList, short_name
from labtests.simlab.switch_cli.grammar import BadSyntax, Problem, TypedWord

UNRECOGNIZED = "% Unrecognized command found at '^' position."
INCOMPLETE = "% Incomplete command found at '^' position."
AMBIGUOUS = "% Ambiguous command found at '^' position."
WRONG = "% Wrong parameter found at '^' position."
TOO_MANY = "% Too many parameters found at '^' position."


@pytest.mark.parametrize(
    ("short", "full"),
    [
        (
            "dis qos queue-statistics int Twenty-FiveGigE 1/0/13 outbound",
            "display qos queue-statistics interface Twenty-FiveGigE1/0/13 outbound",
        ),
        (
            "dis priority-flow-control interface Twenty-FiveGigE 1/0/14",
            "display priority-flow-control interface Twenty-FiveGigE1/0/14",
        ),
        ("dis qos map dscp-dot1p", "display qos map-table dscp-dot1p"),
        ("DISPLAY CLOCK", "display clock"),
        ("disp cu", "display current-configuration"),
        ("dis int wge1/0/14", "display interface Twenty-FiveGigE1/0/14"),
        ("dis int twenty-fivegige 1/0/14", "display interface Twenty-FiveGigE1/0/14"),
        ("dis int twe1/0/14", "display interface Twenty-FiveGigE1/0/14"),
        ("  display   clock  ", "display clock"),
    ],
)
def test_a_unique_beginning_of_each_word_is_enough(cli, short, full):
    assert cli(short) == cli(full) != ""
    assert "%" not in cli(short).splitlines()[-1]


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("display cpu", "cpu", UNRECOGNIZED),
        ("dispaly clock", "dispaly", UNRECOGNIZED),
        ("display qos queue-stat interface", None, INCOMPLETE),
        ("display", None, INCOMPLETE),
        ("display qos w", None, INCOMPLETE),
        ("display p", "p", AMBIGUOUS),
        ("display clock now", "now", TOO_MANY),
        ("display interface Twenty-FiveGigE1/0/99", "Twenty-FiveGigE1/0/99", WRONG),
        ("display interface Twenty-FiveGigE 1/0/99", "1/0/99", WRONG),
        ("display interface Twenty-FiveGigE", None, INCOMPLETE),
        ("display interface foo", "foo", WRONG),
        ("priority-flow-control enable", "priority-flow-control", UNRECOGNIZED),
    ],
)
def test_the_caret_stands_under_the_word_that_is_wrong(cli, line, place, message):
    caret, said = cli(line).splitlines()
    column = len(line) + 1 if place is None else line.rindex(place)
    assert said == message
    assert caret.rstrip() == " " * (len("<S6550>") + column) + "^"


def test_a_rejection_has_the_blanks_of_the_recording(cli):
    """Recorded: caret line padded with blanks to the length of prompt and command (public file)."""
    cli("system-view", "sysname H3C", "return")
    assert cli.prompt == "<H3C>"
    assert cli("x" * 18) == "     ^                 \n" + UNRECOGNIZED + "\n"


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("priority-flow-control no-drop dot1p 8", "8", WRONG),
        ("priority-flow-control no-drop dot1p 5-3", "5-3", WRONG),
        ("priority-flow-control no-drop dot1p 3,", "3,", WRONG),
        ("qos wrr 8 group sp", "8", WRONG),
        ("qos wrr 5 group 3 byte-count 10", "3", UNRECOGNIZED),
        ("qos wrr 5 group 1 byte-count 0", "0", WRONG),
        ("qos trust cos", "cos", UNRECOGNIZED),
        ("qos trust d", "d", AMBIGUOUS),
    ],
)
def test_values_outside_their_range_are_wrong_parameters(cli, line, place, message):
    cli("system-view", "interface WGE1/0/14")
    caret, said = cli(line).splitlines()
    assert (said, caret.rstrip()) == (
        message,
        " " * (len(cli.prompt) + line.rindex(place)) + "^",
    )


def words(line: str) -> list[TypedWord]:
    return [TypedWord(text, line.index(text)) for text in line.split()]


def test_an_abbreviation_that_fits_two_interface_types_is_refused():
    ports = InterfaceName(("Twenty-FiveGigE1/0/1", "TwoHundredGigE1/0/1"), TYPES)
    with pytest.raises(BadSyntax) as refused:
        ports.read(words("tw1/0/1"))
    assert refused.value.problem is Problem.WRONG
    assert ports.read(words("twe1/0/1")) == ("Twenty-FiveGigE1/0/1", 1)
    assert ports.read(words("200ge1/0/1")) == ("TwoHundredGigE1/0/1", 1)


def test_the_same_number_on_another_type_is_another_port():
    ports = InterfaceName(("Twenty-FiveGigE1/0/25",), TYPES)
    with pytest.raises(BadSyntax) as refused:
        ports.read(words("HundredGigE 1/0/25"))
    assert (refused.value.problem, refused.value.column) == (Problem.WRONG, len("HundredGigE "))
    assert ports.read(words("1/0/25")) is None


def test_a_port_of_several_lanes_is_several_ports():
    ports = InterfaceName(("Twenty-FiveGigE1/0/25:1", "Twenty-FiveGigE1/0/25:2"), TYPES)
    for typed in ("Twenty-FiveGigE1/0/25:2", "wge1/0/25:2", "twe 1/0/25:2"):
        read = words(typed)
        assert ports.read(read) == ("Twenty-FiveGigE1/0/25:2", len(read))
    with pytest.raises(BadSyntax):
        ports.read(words("wge1/0/25"))


def test_tables_abbreviate_known_types_and_leave_others():
    assert short_name("Twenty-FiveGigE1/0/14", TYPES) == "WGE1/0/14"
    assert short_name("Ten-GigabitEthernet1/0/10", TYPES) == "XGE1/0/10"
    assert short_name("GigabitEthernet1/0/1", TYPES) == "GE1/0/1"
    assert short_name("swp1", TYPES) == "swp1"


@pytest.mark.parametrize("text", ["0-7", "3,5", "0,2-3,5-6", "5", "0-1"])
def test_a_priority_list_is_printed_as_it_is_typed(text):
    value, taken = RangeList(7).read(words(text))
    assert (str(value), taken) == (text, 1)


def test_a_problem_is_worded_as_in_the_manual():
    assert WORDS.problems[Problem.TOO_MANY] == TOO_MANY
    assert set(WORDS.problems) == set(Problem)


def test_filters_work_on_any_display(cli):
    assert cli("display interface brief | include WGE1/0/14").startswith("WGE1/0/14 ")
    assert "WGE1/0/13" not in cli("dis int brief | exclude WGE1/0/13")
    assert cli("dis int brief | begin WGE1/0/15").startswith("WGE1/0/15 ")
    assert UNRECOGNIZED in cli("dis int brief | count WGE")
