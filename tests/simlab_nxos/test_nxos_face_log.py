"""The log file of the emulated Nexus has what happened, at the time at which it happened."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from test_nxos_face_watchdog import MS, OUT, WATCHED, busy, counters, storm  # noqa: F401

from labtests.capabilities import counters as c
from labtests.drivers.nxos.logfile import read_log
from labtests.simlab.defects import LAB_EPOCH
from labtests.simlab.nxos.cli import NXOS
from labtests.simlab.screens import render
from labtests.transport.protocol import Reply

ASKED = "show logging logfile | include PFCWD ; show logging logfile | count ; show clock"


def log_of(cli):
    return read_log(Reply(device="N9K", command=ASKED, text=cli(ASKED)))


def recorded():
    """The two messages of the book, with the `$` that it has lost."""
    file = Path(__file__).parents[1] / "transcripts" / "nxos" / "watchdog_log.n9k.txt"
    lines = file.read_text(encoding="utf-8").splitlines()[2:]
    return [line.replace("% VDC-1 %", "%$ VDC-1 %$") for line in lines]


def test_the_two_messages_are_the_recording():
    counted = {"drained": 752, "dropped": 2197357321, "ingress_dropped": 66649}
    for line, shut in zip(recorded(), (True, False), strict=True):
        text = render(
            NXOS.screens, "log-watchdog", queue=1, port="Ethernet1/5", shut=shut, counted=counted
        )
        assert line.endswith(f" N9K {text.strip()}")


def test_a_storm_is_logged_with_the_packets_and_the_times_of_the_network(cli, busy, switch):  # noqa: F811
    cli.configure(*WATCHED)
    for _ in range(3):
        storm(busy, 250)
    log, counted = log_of(cli), counters(cli)
    assert [(m.port, m.queue, m.what) for m in log.messages] == [
        (OUT, 3, "shut"),
        (OUT, 3, "restored"),
    ] * 3
    assert log.unread == ()
    assert counted[c.WATCHDOG_SHUTDOWNS] == 3
    every = sum(each.dropped_packets or 0 for each in log.messages)
    assert every >= counted[c.WATCHDOG_DROPPED_OUT_PACKETS] > 0
    last = log.messages[-1]
    assert last.dropped_packets == counted[c.WATCHDOG_LAST_DROPPED_PACKETS] > 0
    assert last.dropped_in_packets == counted[c.WATCHDOG_LAST_DROPPED_IN_PACKETS]
    known = switch.network.guards.counters(OUT)[3]
    for message, at_ns in (
        (log.messages[-2], known.last_shut_ns),
        (last, known.last_restored_ns),
    ):
        at = (LAB_EPOCH + timedelta(seconds=at_ns / 1e9)).replace(microsecond=0)
        assert message.device_s == at.timestamp()


def test_what_has_just_happened_is_in_the_log_at_once(cli, busy):  # noqa: F811
    cli.configure(*WATCHED)
    busy.network.nic("C", "eth0").flow_control.storm(frozenset({3}), period_us=100)
    for _ in range(25):
        busy.advance(10 * MS)
        shut = counters(cli)[c.WATCHDOG_SHUTDOWNS]
        assert len(log_of(cli).messages) == shut
    assert shut == 1


def test_without_a_watchdog_nothing_is_looked_at_or_logged(cli, busy, switch):  # noqa: F811
    storm(busy, 300)
    assert switch.log == []
    cli.configure(*WATCHED)
    storm(busy, 300)
    cli.configure(f"interface {OUT}", "no priority-flow-control watch-dog-interval on")
    busy.advance(200 * MS)
    assert len(switch.log) == 2
    assert switch._looking is False


def test_a_port_that_goes_down_and_comes_up_is_logged(cli):
    cli.configure(f"interface {OUT}", "shutdown", "no shutdown")
    down, up = cli("show logging logfile").splitlines()
    assert re.fullmatch(
        rf"2024 May 29 08:00:00 N9K %ETHPORT-5-IF_DOWN_ADMIN_DOWN: Interface {OUT} is down "
        r"\(Administratively down\)",
        down,
    )
    assert up.endswith(f"%ETHPORT-5-IF_UP: Interface {OUT} is up in mode access")
    assert cli("show logging last 1") == f"{up}\n"
    assert cli("show logging last 9") == f"{down}\n{up}\n"
    assert cli("show logging logfile | count") == "2\n"
    assert cli("clear logging logfile", "show logging logfile | count") == "0\n"


def test_a_reboot_empties_the_file(cli, simulation, switch):
    cli.configure(f"interface {OUT}", "shutdown", "no shutdown")
    simulation.inject({"kind": "reboot", "device": "N9K", "seconds": 0.1})
    simulation.advance(500 * MS)
    assert "ADMIN_DOWN" not in "".join(switch.log)


@pytest.mark.parametrize(
    ("fault", "messages", "packets"),
    [
        ({"find": "QUEUE_SHUTDOWN"}, ["restored"], lambda counted: counted),
        (
            {"find": " egress packets", "instead": "1 egress packets"},
            ["shut", "restored"],
            lambda counted: 10 * counted + 1,
        ),
    ],
)
def test_a_log_can_lie(cli, busy, simulation, fault, messages, packets):  # noqa: F811, PLR0913
    cli.configure(*WATCHED)
    simulation.inject({"kind": "log-line", "device": "N9K", **fault})
    storm(busy, 250)
    log, counted = log_of(cli), counters(cli)[c.WATCHDOG_LAST_DROPPED_PACKETS]
    assert [each.what for each in log.messages] == messages
    assert log.messages[-1].dropped_packets == packets(counted)
