"""`display interface` and `display clock` in the wordings of several releases."""

from dataclasses import replace

import pytest
from driven import driving
from recordings import load
from scripted_switch import ScriptedSwitch

from labtests.capabilities import counters as c
from labtests.core.errors import UnreadableOutput
from labtests.drivers.comware.box import parse_clock
from labtests.drivers.comware.interfaces import INTERFACE

Driver = driving("comware")

PORT = "GigabitEthernet2/0"
COMMAND = f"display interface {PORT}"


def counts(recording, number=0):
    _, shown = list(INTERFACE.read(load(recording)).values())[number]
    return {count.counter: count.value for count in shown}


def edited(recording, before, after):
    reply = load(recording)
    assert before in reply.text
    return replace(reply, text=reply.text.replace(before, after))


def test_an_older_release_says_name_and_state_in_one_line_and_the_frame_in_capitals():
    ((interface, (link, _)),) = INTERFACE.read(load("interface.ntc-11")).items()
    assert (interface, link.up) == ("Ten-GigabitEthernet1/1/1", False)
    assert (link.frame_bytes, link.speed_bits_per_s) == (12288, 10_000_000_000)


def test_throttles_and_crc_on_one_line_are_two_counters():
    management = counts("interface.ntc-09", 2)
    assert management[c.RX_CRC_ERRORS] == 0
    assert management[c.RX_ERRORS] is management[c.TX_ERRORS] is None  # `-`


def test_a_router_s_port_counts_with_other_words():
    found = counts("interface.ntc-13")
    assert (found[c.RX_PACKETS], found[c.RX_BYTES]) == (1183, 90466)
    assert found[c.RX_CRC_ERRORS] == found[c.RX_ERRORS] == found[c.NET_RX_DROPPED] == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("0 CRC, 0 frame", "0 CRC, 0 frame, 7 phantoms"),
        ("0 CRC, 0 frame", "0 CRC 0 frame"),
        ("Flow-control is not enabled", "Flow control ought to be looked at"),
        ("0 lost carrier, - no carrier", "0 lost carrier, - no carrier\n and 17 more of a kind"),
        ("Current state: UP", "State: UP"),
        ("0 runts", "0 runts, 0 runts"),
        ("0 CRC", "O CRC"),
    ],
)
def test_a_line_that_is_not_understood_is_refused(before, after):
    with pytest.raises(UnreadableOutput):
        INTERFACE.read(edited("interface.ntc-03", before, after))


def test_what_one_protocol_had_is_not_counted_again():
    text = edited("interface.ntc-05", " Input: 0 packets, 0 bytes", " Input: 9 packets, 9 bytes")
    _, counts = next(iter(INTERFACE.read(text).values()))
    assert {count.value for count in counts} == {0, None}


def test_a_port_s_counters_have_neutral_names_and_say_what_is_not_counted():
    driver = Driver(ScriptedSwitch({COMMAND: load("interface.ntc-13").text}))
    found = {r.counter: r for r in driver.port_counters(PORT)}
    assert (found[c.RX_PACKETS].value, found[c.RX_PACKETS].unit) == (1183, "packets")
    assert found[c.RX_CRC_ERRORS].source == "display interface: input: crc"
    assert (found[c.TX_CARRIER_ERRORS].value, bool(found[c.TX_CARRIER_ERRORS].missing)) == (
        None,
        True,
    )
    assert {r.counter for r in driver.link_errors(PORT)} == {
        c.RX_ERRORS,
        c.RX_CRC_ERRORS,
        c.TX_ERRORS,
    }


def test_a_port_whose_display_is_not_understood_counts_nothing_and_ends_no_snapshot():
    text = load("interface.ntc-13").text.replace("0 crc", "0 crc, 3 phantoms")
    found = Driver(ScriptedSwitch({COMMAND: text})).port_counters(PORT)
    assert found
    assert all(r.value is None and "phantoms" in r.missing for r in found)


def clock(*texts):
    return parse_clock(replace(load("clock.ntc-01"), text="".join(f"{t}\n" for t in texts)))


ZONE = "Time Zone : Z5 add 05:00:00"
SUMMER = "Summer Time : PDT 06:00:00 08/01 06:00:00 09/01 01:00:00"


def test_summer_time_counts_while_it_is_the_zone_that_is_shown():
    winter = clock("15:11:00 Z5 Fri 03/16/2012", ZONE, SUMMER)["utc_s"]
    assert winter == clock("15:11:00 Z5 Fri 03/16/2012", ZONE)["utc_s"]
    summer = clock("15:11:00 PDT Thu 08/16/2012", ZONE, SUMMER)["utc_s"]
    assert summer == clock("09:11:00 UTC Thu 08/16/2012")["utc_s"]
    assert clock("10:11:00 PDT Thu 08/16/2012", SUMMER)["utc_s"] == summer


@pytest.mark.parametrize(
    "texts",
    [
        ("15:11:00 Z5 Thu 08/16/2012", ZONE, SUMMER),  # in summer, and not the zone of summer
        ("15:11:00 CET Thu 08/16/2012", ZONE, SUMMER),
        ("15:11:00 Z5 Fri 03/16/2012", ZONE, ZONE),
        ("15:11:00 Z5 Fri 03/16/2012", ZONE, SUMMER, SUMMER),
        ("15:11:00 Z5 Fri 03/16/2012", SUMMER),
        ("15:11:00 Z5 Fri 03/16/2012", ZONE, "Winter Time : none"),
    ],
)
def test_a_clock_that_does_not_say_how_far_it_is_from_utc_is_refused(texts):
    with pytest.raises(UnreadableOutput):
        clock(*texts)
