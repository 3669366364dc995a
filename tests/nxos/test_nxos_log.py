"""The log of a Nexus: messages of the watchdog are read whole, or kept as what nobody knows."""

from dataclasses import replace

import pytest
from driven import driving
from nexus_bench import PORTS, NexusBench, emulated
from nxos_recordings import ALL, with_the_end

from labtests.core.errors import UnreadableOutput
from labtests.drivers.nxos.logfile import read_log
from labtests.transport.protocol import Reply

RECORDED = ALL.load("watchdog_log.n9k")
SHUT, SERVED = RECORDED.text.splitlines()
END = "12\n18:57:38.347 CET Wed Aug 18 2021\n"


def read(text, end=END):
    return read_log(Reply(device="N9K", command="show logging logfile", text=text + end))


def test_the_time_stamps_are_of_the_clock_behind_it_in_whatever_zone():
    log = read(RECORDED.text)
    assert (log.noted, log.kept) == (12, 12)
    shut, served = log.messages
    assert served.device_s - shut.device_s == 67
    assert log.clock.device_s - served.device_s == pytest.approx(8 * 3600 + 37 * 60 + 40.347)
    behind = "Time source is NTP\n18:57:38.347 UTC Wed Aug 18 2021\n"
    assert read("", "0\n" + behind).clock.device_s == log.clock.device_s


@pytest.mark.parametrize(
    "behind",
    ["{clock}{warning}{source}", "{clock}{warning}", "{warning}{clock}{source}"],
)
def test_a_switch_without_ntp_has_a_log_all_the_same(behind):
    """Where a published session of a Nexus has the warning, and where it might be."""
    warning = "Warning: No NTP peer/server configured. Time may be out of sync.\n"
    clock, source = "18:57:38.347 UTC Wed Aug 18 2021\n", "Time source is NTP\n"
    said = behind.format(clock=clock, warning=warning, source=source)
    assert read(RECORDED.text, f"12\n{said}") == read(RECORDED.text)


@pytest.mark.parametrize("fraction", ["123", "123456"])
def test_time_stamps_may_be_finer_than_seconds(fraction):
    """`logging timestamp milliseconds` and `microseconds`."""
    log = read(RECORDED.text.replace(":51 N9K", f":51.{fraction} N9K"))
    assert log.unread == ()
    shut, served = log.messages
    assert served.device_s - shut.device_s == pytest.approx(67 - float(f"0.{fraction}"))


@pytest.mark.parametrize("line", [SHUT, SERVED], ids=["shut", "restored"])
def test_a_line_that_was_cut_anywhere_is_never_a_message(line):
    for length in range(1, len(line)):
        log = read(f"{line[:length]}\n")
        assert log.messages == (), line[:length]
        assert len(log.unread) == (1 if line[:length].strip() else 0)
        tail = read(f"{line[length:]}\n")
        assert tail.messages == ()


def test_an_answer_that_was_cut_anywhere_is_refused():
    text = f"{RECORDED.text}{END}"
    for length in range(len(text) - 1):
        with pytest.raises(UnreadableOutput):
            read(text[:length], "")


@pytest.mark.parametrize(
    "odd",
    [
        SHUT.replace("Queue 1", "Queue 9"),
        SHUT.replace("Ethernet1/5", "Wormhole1/5"),
        SHUT.replace("Aug 18", "Feb 30"),
        SHUT.replace("is shutdown", "is restored"),
        SERVED.replace("QUEUE_RESTORED", "QUEUE_SHUTDOWN"),
        SERVED.replace("66649 ingress", "-66649 ingress"),
        SERVED.replace("2197358073 egress", "2,197,358,073 egress"),
        SHUT.replace("expiring", "expiring; and something new"),
        "2021 Aug 18 10:18:51 N9K %TAHUSD-SLOT1-2-TAHUSD_SYSLOG_PFCWD_NEW: what is this",
    ],
)
def test_what_nobody_knows_is_kept_as_it_is(odd):
    log = read(f"{SHUT}\n{odd}\n")
    assert len(log.messages) == 1
    assert log.unread == (odd,)


def test_more_messages_than_lines_are_refused():
    with pytest.raises(UnreadableOutput, match="more messages than the 1 it says"):
        read(RECORDED.text, END.replace("12", "1"))


@pytest.mark.parametrize("end", ["", "12\n", END[3:], f"twelve\n{END[3:]}"])
def test_without_the_number_of_lines_and_the_clock_something_was_cut(end):
    with pytest.raises(UnreadableOutput):
        read(RECORDED.text, end)


def test_lines_that_the_book_has_wrapped_are_no_messages():
    wrapped = with_the_end(ALL.load("watchdog_log.n9k-wrapped"))
    assert wrapped["messages"] == ()
    assert len(wrapped["unread"]) == 7


# -- the emulated one ------------------------------------------------------------------------------


def test_one_line_asks_for_messages_their_number_and_the_clock():
    bench = NexusBench(emulated())
    log = driving("nxos")(bench).watchdog_log()
    assert bench.asked == [
        "show logging logfile | include PFCWD ; show logging logfile | count ; show clock"
    ]
    assert (log.kept, log.messages, log.missing) == (0, (), "")
    bench.type(f"interface {PORTS[0]}", "shutdown", "no shutdown")
    assert driving("nxos")(bench).watchdog_log().kept == 2


def test_a_switch_that_does_not_show_its_log_has_none():
    class Refusing(NexusBench):
        def run(self, command, *, timeout_s=30.0):
            reply = super().run(command, timeout_s=timeout_s)
            return replace(reply, text="% Permission denied for the role\n")

    log = driving("nxos")(Refusing(emulated())).watchdog_log()
    assert log.missing.startswith("it does not show its log: ")
    assert "Permission denied" in log.missing
