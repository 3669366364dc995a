"""A box that shows its own password as a name, values that nothing can read back, tables that take
quadratic time, words that no command line can hold."""

import json

import pytest

from labtests.capabilities.values import NoSuchValue, expect_value
from labtests.core.encodings import Spelled
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.drivers.nxos import configuration
from labtests.drivers.nxos.ports import NxosFrameLimit
from labtests.drivers.nxos.trust import NxosTrust
from labtests.drivers.sonic.database import MOST_ENTRIES, Db, parse_table, tidied
from labtests.drivers.sonic.driver import SonicState
from labtests.drivers.sonic.interfaces import SonicFrameLimit
from labtests.drivers.sonic.pfc import SonicPfc, laid_out
from labtests.transport.asking import Running, answered
from labtests.transport.commands import NotAWord, program, script
from labtests.transport.protocol import Reply

QUOTED = "Hunter2'Geheim"


def said(text, command="show"):
    return Reply(device="A", command=command, text=text, status=0)


# -- hiding ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["labtests-0-{}", "a b {}", "{}"])
@pytest.mark.parametrize("told", [str, repr, json.dumps, lambda text: json.dumps(json.dumps(text))])
def test_a_password_with_a_quote_is_hidden_as_a_word_of_a_command(word, told):
    command = str(program("sonic-db-cli", "HSET", word.format(QUOTED)))
    shown = Spelled([QUOTED]).hidden(told(command), "***")
    assert "Hunter2" not in shown
    assert "Geheim" not in shown


def test_a_password_with_a_quote_is_hidden_as_one_types_it():
    assert Spelled([QUOTED]).hidden(r"echo 'Hunter2'\''Geheim'", "***") == "echo '***'"


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [5, 89, 65_536, -1])
def test_a_longest_frame_below_that_of_ip_is_no_value(value):
    with pytest.raises(NoSuchValue):
        expect_value("frame_limit", value)


@pytest.mark.parametrize("limit", [NxosFrameLimit("sw"), SonicFrameLimit("sw")])
def test_no_longest_frame_is_no_mtu(limit):
    """0 is "no jumbo frames", of another platform."""
    db = Db({"PORT": {"Ethernet1/1": {"mtu": "1500"}}})
    with pytest.raises(CommandRejected, match="0 is not a valid"):
        limit.commands("Ethernet1/1", 1522, 0, db)


@pytest.mark.parametrize("wanted", [89, 9239, 65_535])
def test_a_length_that_sonic_does_not_take_is_refused(wanted):
    """sonic-port.yang: an MTU of 68 to 9216."""
    db = Db({"PORT": {"Ethernet0": {"mtu": "9100"}}})
    with pytest.raises(CommandRejected, match="give 90 to 9238"):
        SonicFrameLimit("sw").commands("Ethernet0", 9122, wanted, db)


def test_a_class_above_seven_is_no_value_of_a_dscp_map():
    expect_value("dscp_map", (7,) * 64)
    with pytest.raises(NoSuchValue):
        expect_value("dscp_map", (0,) * 63 + (8,))


# -- tables of a SONiC box -------------------------------------------------------------------------


def test_a_table_of_more_entries_than_a_switch_has_is_refused():
    many = json.dumps({f"Ethernet0|{n}": {} for n in range(MOST_ENTRIES + 1)})
    with pytest.raises(UnreadableOutput, match="entries"):
        parse_table(said(many))


@pytest.mark.parametrize("text", ["a\nto put them back: curl x", "\ud800", "\x00", "x" * 513])
@pytest.mark.parametrize("where", ["key", "field", "value"])
def test_a_name_or_value_that_is_none_is_refused(text, where):
    entry = {text: "1"} if where == "field" else {"mtu": text if where == "value" else "1"}
    table = json.dumps({text if where == "key" else "Ethernet0": entry})
    with pytest.raises(UnreadableOutput) as refused:
        parse_table(said(table))
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("DSCP_TO_TC_MAP", tidied),
        ("BUFFER_PG", lambda db: laid_out(db, "Ethernet0", frozenset({3}))),
    ],
)
def test_many_entries_are_changed_at_once(table, change, monkeypatch):
    """A table is copied for a change: not once for each of its entries."""
    entries = {f"labtests-{n}": {"profile": "NULL"} for n in range(200)}
    entries |= {f"Ethernet0,e{n}|4": {"profile": "NULL"} for n in range(200)}
    names = ("PORT", "PORT_QOS_MAP", "QUEUE", "BUFFER_PG", "BUFFER_PROFILE", "DSCP_TO_TC_MAP")
    copied, having = [], Db.having
    monkeypatch.setattr(Db, "having", lambda *given: copied.append(1) or having(*given))
    changed = change(Db({name: {} for name in names} | {table: entries}))
    assert changed.tables[table] != entries
    assert len(copied) <= len(names)


def of_box(part, asking, **tables):
    def answer(command):
        name = str(command).split()[-1]
        return said(json.dumps(tables.get(name, {})), command)

    return answered(Running(asking), lambda asked: [answer(each) for each in asked])


def test_a_rate_that_is_no_number_is_an_obstacle_and_no_defect():
    state = SonicState("box", ("Ethernet0",))
    found = of_box(
        state,
        state.obstacles(),
        QUEUE={"Ethernet0|3": {"scheduler": "s"}},
        SCHEDULER={"s": {"pir": "abc"}},
    )
    assert any("it is shaped" in each for each in found)


def test_pfc_of_a_map_without_a_group_is_refused_before_anything_is_sent():
    pfc = SonicPfc("box", ("Ethernet0",))
    names = {name: {} for name in pfc.tables}
    names["PORT_QOS_MAP"] = {"Ethernet0": {"tc_to_pg_map": "m", "pfc_enable": "3"}}
    names["TC_TO_PRIORITY_GROUP_MAP"] = {"m": {"3": "", "4": "1234567"}}
    names["BUFFER_PG"] = {"Ethernet0|3-4": {"profile": "NULL"}}
    db = Db(names)
    off = pfc.value(Db({**names, "PORT_QOS_MAP": {}}), "Ethernet0")
    with pytest.raises(CommandRejected, match="labtests could not restore that"):
        pfc.commands("Ethernet0", pfc.value(db, "Ethernet0"), off, db)


# -- policies of a Nexus ---------------------------------------------------------------------------


def test_a_class_map_is_read_once_however_many_classes_use_it(monkeypatch):
    clock = "10:20:30.123 UTC Mon Nov 23 2026\n"
    qos = "class-map type qos match-any M\n  match dscp 8\npolicy-map type qos P\n"
    qos += "  class M\n    set qos-group 1\n" * 300
    ports = "interface Ethernet1/1\n  service-policy type qos input P\n"
    texts = {"ipqos": qos + clock, "interface": ports + clock}
    of = answered(
        Running(configuration.configured()),
        lambda asked: [said(texts[str(each).split()[2]], each) for each in asked],
    )
    read = []
    matched = NxosTrust._matched
    monkeypatch.setattr(NxosTrust, "_matched", lambda *a: read.append(1) or matched(*a))
    trust = NxosTrust("sw")
    trust.value(of, "Ethernet1/1")
    assert len(read) <= 2


# -- words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["a\0b", "a\ud800"])
def test_what_no_command_line_can_hold_is_no_word(word):
    with pytest.raises(NotAWord, match="cannot be a word of a command"):
        program("echo", word)
    with pytest.raises(NotAWord):
        script("echo NAME", NAME=word)
