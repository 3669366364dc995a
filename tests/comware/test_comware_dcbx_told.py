"""What a Comware port tells by DCBX, and hears: the part of two displays of LLDP that is strict."""

import pytest
from recordings import load

from labtests.capabilities.facts import DcbxTold
from labtests.core.errors import UnreadableOutput
from labtests.drivers.comware.dcbx import parse_dcbx_heard, parse_dcbx_told
from labtests.transport.protocol import Reply

MANUAL = DcbxTold(version="standard", pfc=frozenset({1, 2, 3}))
SHOWN = [
    pytest.param("dcbx_told.manual", parse_dcbx_told, "GigabitEthernet1/0/3", id="told"),
    pytest.param(
        "lldp_neighbors.manual-dcbx", parse_dcbx_heard, "GigabitEthernet1/0/1", id="heard"
    ),
]
NEW = [
    "  new : 1",
    " DCBX new info:",
    " Odd : 3",
    "odd",
    " Oper version : Standard",
    "   2 2 15 ETS",
]


def reply(text):
    return Reply(device="S6550", command="display lldp", text=text)


@pytest.mark.parametrize(("name", "parse", "port"), SHOWN)
def test_the_manuals_example_is_read(name, parse, port):
    assert parse(load(name)) == {port: MANUAL}


@pytest.mark.parametrize(("name", "parse", "port"), SHOWN)
def test_cut_anywhere_it_says_the_same_or_nothing(name, parse, port):
    text = load(name).text
    for end in range(len(text)):
        try:
            assert parse(reply(text[:end])) in ({}, {port: MANUAL}), text[:end][-40:]
        except UnreadableOutput:
            continue


@pytest.mark.parametrize("new", NEW)
@pytest.mark.parametrize(("name", "parse", "port"), SHOWN)
def test_a_line_that_is_new_is_refused_inside_and_changes_nothing_outside(name, parse, port, new):
    rows = load(name).text.splitlines()
    begin = next(n for n, row in enumerate(rows) if "DCBX Control" in row)
    inside = range(begin + 1, next(n for n, row in enumerate(rows) if "Value of MBC" in row))
    for at in range(len(rows)):
        text = "".join(f"{row}\n" for row in [*rows[:at], new, *rows[at:]])
        if at in inside:
            with pytest.raises(UnreadableOutput):
                parse(reply(text))
            continue
        try:
            assert parse(reply(text)) == {port: MANUAL}, at
        except UnreadableOutput:
            continue


@pytest.mark.parametrize(("name", "parse", "port"), SHOWN)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Standard", "CEE"),
        ("P7-0", "P7-2"),
        ("     P7-0", ""),
        ("P3-1", "P4-1"),
        ("Value of MBC: 0", "Value of MBC: N/A"),
        ("   7            7                 14            ETS\n", ""),
    ],
)
def test_what_the_manuals_do_not_have_is_refused(name, parse, port, old, new):
    text = load(name).text
    assert old in text
    with pytest.raises(UnreadableOutput):
        parse(reply(text.replace(old, new)))


def test_a_neighbour_cannot_speak_for_itself_and_for_dcbx():
    """Its description has as many lines as it likes."""
    text = load("lldp_neighbors.manual-dcbx").text
    begin, end = text.index(" DCBX Control"), text.index(" Port VLAN ID")
    lies = text[begin:end].replace("P3-1", "P3-0")
    with pytest.raises(UnreadableOutput):
        parse_dcbx_heard(
            reply(text.replace(" System capabilities s", f"{lies} System capabilities s"))
        )


def test_each_display_is_refused_in_place_of_the_other():
    for name, parse in (
        ("dcbx_told.manual", parse_dcbx_heard),
        ("lldp_neighbors.manual-dcbx", parse_dcbx_told),
    ):
        with pytest.raises(UnreadableOutput):
            parse(load(name))


def test_what_is_told_by_cdp_is_not_taken_for_that_of_the_port_above():
    text = load("lldp_neighbors.manual-dcbx").text
    begin, end = text.index(" DCBX Control"), text.index(" Port VLAN ID")
    cdp = "CDP neighbor-information of port 9[GigabitEthernet1/0/9]:\n"
    assert parse_dcbx_heard(reply(f"{text}{cdp} CDP neighbor index : 4\n"))
    with pytest.raises(UnreadableOutput):
        parse_dcbx_heard(reply(f"{text[:begin]}{text[end:]}{cdp}{text[begin:end]}"))
