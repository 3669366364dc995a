"""Comware interface names: one table, read in both directions, nothing guessed."""

import pytest

from labtests.core.errors import CommandRejected
from labtests.drivers.comware.values import NAMES, full_name, printed_port
from labtests.drivers.displays import Unfit

PAIRS = [
    ("GigabitEthernet1/0/1", "GE1/0/1"),
    ("Ten-GigabitEthernet1/0/10", "XGE1/0/10"),
    ("Twenty-FiveGigE1/0/14", "WGE1/0/14"),
    ("FortyGigE1/3/49", "FGE1/3/49"),
    ("HundredGigE1/0/1:4", "HGE1/0/1:4"),
    ("TwoHundredGigE1/0/4", "200GE1/0/4"),
    ("FourHundredGigE1/0/4", "400GE1/0/4"),
    ("Bridge-Aggregation12", "BAGG12"),
    ("Vlan-interface10", "Vlan10"),
    ("LoopBack0", "Loop0"),
    ("NULL0", "NULL0"),
]


@pytest.mark.parametrize(("full", "short"), PAIRS)
def test_a_name_has_one_full_form(full, short):
    assert full_name(short) == full
    assert full_name(full) == full


@pytest.mark.parametrize(
    "spelling", ["Twenty-FiveGigE 1/0/14", "twenty-fivegige1/0/14", "wge 1/0/14", " WGE1/0/14 "]
)
def test_case_and_blanks_do_not_make_another_port(spelling):
    assert full_name(spelling) == "Twenty-FiveGigE1/0/14"


@pytest.mark.parametrize("name", ["", "ABC1/0/1", "WGE", "WGE1/0/14x", "1/0/14", "Ethernet", "E"])
def test_a_name_that_is_not_in_the_table_is_nobody(name):
    assert full_name(name) is None


def test_ports_that_differ_only_in_type_are_different():
    kinds = [full_name(f"{short}1/0/1") for short in ("GE", "XGE", "WGE", "FGE", "HGE", "200GE")]
    assert len(set(kinds)) == len(kinds)


def test_an_unknown_name_in_an_output_is_refused():
    with pytest.raises(Unfit, match="'ABC1/0/1' is not a known interface name"):
        printed_port("ABC1/0/1")


def test_an_unknown_name_in_the_testbed_is_refused_before_anything_is_sent():
    with pytest.raises(CommandRejected, match="display interface brief"):
        NAMES.asked("leaf1", "swp1")
