"""Early warnings of Comware: thresholds are made, read back and put back; the emulated switch logs
what exceeds them, and the log is read."""

import re
from pathlib import Path

import pytest

from labtests.capabilities.records import PfcAlarm
from labtests.core.errors import UnreadableOutput
from labtests.drivers.comware.alarms import read_log
from labtests.transport.protocol import Reply

MS = 1_000_000
OUT, IN = "Twenty-FiveGigE1/0/13", "Twenty-FiveGigE1/0/14"
NONE = PfcAlarm()


@pytest.mark.parametrize(
    ("earlier", "wanted", "lines"),
    [
        (NONE, NONE, ()),
        (
            NONE,
            PfcAlarm(sent=((3, 100), (5, 100)), received=((3, 200),)),
            ("3 inpps 200", "3,5 outpps 100"),
        ),
        (PfcAlarm(sent=((3, 100),)), PfcAlarm(sent=((3, 50),)), ("undo 3 outpps", "3 outpps 50")),
        (PfcAlarm(sent=((3, 100), (5, 9))), PfcAlarm(sent=((5, 9),)), ("undo 3 outpps",)),
        (PfcAlarm(received=((0, 1), (1, 1))), NONE, ("undo 0-1 inpps",)),
    ],
)
def test_thresholds_are_made_read_back_and_put_back(bench, driver, earlier, wanted, lines):
    driver.set_pfc_alarm(OUT, earlier)
    text = bench.shown()
    begin = "priority-flow-control early-warning dot1p "
    told = [
        ("undo " if each.startswith("undo") else "") + begin + each.removeprefix("undo ")
        for each in lines
    ]
    assert list(driver.pfc_alarm_commands(OUT, earlier, wanted))[1:-1] == told
    driver.set_pfc_alarm(OUT, wanted)
    assert driver.pfc_alarm(OUT) == wanted
    driver.set_pfc_alarm(OUT, earlier)
    assert driver.pfc_alarm(OUT) == earlier
    assert bench.shown() == text


def test_a_list_that_somebody_has_typed_is_read_priority_by_priority(bench, driver):
    line = "priority-flow-control early-warning dot1p 0-2,7 inpps 5"
    bench.type(f"interface {OUT}", line)
    assert driver.pfc_alarm(OUT).received == ((0, 5), (1, 5), (2, 5), (7, 5))


# -- the log ---------------------------------------------------------------------------------------

HEAD = """\
Log buffer: Enabled
Max buffer size: 1024
Actual buffer size: 512
Dropped messages: 0
Overwritten messages: 718
Current messages: 512
"""
WARNING = (
    "%Jun 17 15:57:09:578 2006 S6550 PFC/4/PFC_WARNING: -MDC=1; On interface WGE1/0/14, the rate "
    "of input PFC packets of 802.1p priority 3 exceeds the PFC early-warning threshold 50 pps. The "
    "current rate is 60.\n"
)
TYPED = (
    "%Jun 17 15:57:09:578 2006 S6550 SHELL/6/SHELL_CMD: -Line=vty0-IPAddr=10.0.0.1-User=admin; "
    "Command is display logbuffer | include PFC|buffer|messages\n"
)
OTHER = "%Jun  7 5:57:09:578 2006 S6550 PFC/3/PFC_ODD: something else about PFC\n"


def log(text):
    return read_log(Reply(device="S6550", command="display logbuffer", text=text))


def test_a_warning_says_which_port_and_priority_and_which_way():
    read = log(HEAD + TYPED + WARNING)
    (warning,) = read.messages
    assert (warning.port, warning.priority, warning.way) == ("Twenty-FiveGigE1/0/14", 3, "received")
    assert warning.when == "Jun 17 15:57:09:578 2006"
    assert (read.noted, read.kept, read.unread) == (1230, 512, ())


def test_what_it_says_of_pfc_otherwise_is_kept_as_it_is():
    read = log(HEAD + WARNING + OTHER)
    assert len(read.messages) == 1
    assert read.unread == (OTHER.strip(),)


def test_a_log_that_is_off_is_none():
    assert log(HEAD.replace("Enabled", "Disabled")).missing == "its log buffer is off"


@pytest.mark.parametrize("gone", ["Log buffer:", "Current messages:", "Overwritten messages:"])
def test_a_log_without_its_head_is_refused(gone):
    lines = HEAD.splitlines(keepends=True)
    text = "".join(each for each in lines if not each.startswith(gone))
    with pytest.raises(UnreadableOutput, match="how many messages"):
        log(text + WARNING)


# -- what it does ----------------------------------------------------------------------------------


def warned(driver):
    found = driver.pfc_warnings()
    assert found.missing == ""
    assert found.unread == ()
    return [(each.port, each.priority, each.way) for each in found.messages]


def test_a_rate_above_its_threshold_is_logged_once_while_it_stays_there(overloaded, switch, driver):
    driver.set_pfc_alarm(IN, PfcAlarm(sent=((3, 10), (5, 10)), received=((3, 10),)))
    overloaded.advance(3500 * MS)
    assert switch.network.pfc_counters(IN)[3].tx_frames > 100
    assert warned(driver) == [(IN, 3, "sent")]


@pytest.mark.parametrize("threshold", [None, 1_000_000])
def test_without_a_threshold_or_below_it_nothing_is_logged(overloaded, driver, threshold):
    driver.set_pfc_alarm(IN, PfcAlarm(sent=((3, threshold),) if threshold else ()))
    overloaded.advance(3500 * MS)
    assert warned(driver) == []


def test_a_reboot_forgets_what_was_logged(overloaded, switch, driver):
    driver.set_pfc_alarm(IN, PfcAlarm(sent=((3, 10),)))
    overloaded.advance(2500 * MS)
    assert warned(driver)
    overloaded.inject({"kind": "reboot", "device": "S6550", "seconds": 0.1})
    overloaded.advance(500 * MS)
    assert warned(driver) == []


def test_a_port_that_goes_down_and_comes_up_is_logged_as_recorded(bench):
    bench.type(f"interface {OUT}", "shutdown", "undo shutdown", "undo shutdown")

    log = bench.run("display logbuffer").text.splitlines()[6:]
    face = Path(__file__).parents[1] / "transcripts" / "comware-face"
    recorded = (face / "log-link.txt").read_text().splitlines()[2:]
    bare = [re.sub(r"^%.*? (IFNET/\S+ .* interface )\S+", r"\1PORT", each) for each in recorded]

    assert [re.sub(r"^%.*? (IFNET/\S+ .* interface )\S+", r"\1PORT", each) for each in log] == bare
    assert all(OUT in each for each in log)
    backwards = bench.run("display logbuffer reverse").text.splitlines()[6:]
    assert backwards == log[::-1]


def test_what_an_engineer_asks_a_comware_box_is_answered(bench):
    neighbours = bench.run("display lldp neighbor-information").text
    assert neighbours.count("LLDP neighbor-information of port") == 3
    one = bench.run(f"display lldp neighbor-information interface {OUT}").text
    assert one.strip() in neighbours
    assert " PortID/subtype      : " in one
    assert "5 packet(s) received, 0.0% packet loss" in bench.run("ping 127.0.0.1").text
    assert "0 packet(s) received, 100.0% packet loss" in bench.run("ping 10.9.9.9").text
    assert "DEVICE_NAME          : S6550XE" in bench.run("display device manuinfo").text
    diagnosis = bench.run(f"display transceiver diagnosis interface {OUT}").text
    assert "does not support this function" in diagnosis
