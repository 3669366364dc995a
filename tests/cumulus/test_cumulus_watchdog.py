"""The PFC watchdog of a Cumulus switch, by SSH: its times and its ports are set, read back and put
back, and what it did is counted as far as the switch tells it."""

from dataclasses import replace

import pytest
from cumulus_recordings import ALL
from switch_over_ssh import fixtures_of

from labtests.capabilities import counters as c
from labtests.capabilities.device import WatchdogTelemetry
from labtests.capabilities.records import PfcSetting, WatchdogTimes
from labtests.capabilities.settings import PFC, PFC_WATCHDOG, WATCHDOG_TIMES
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.drivers.cumulus.profiles import parse_qos
from labtests.drivers.cumulus.watchdog import CumulusWatchdogTimes, parse_watchdog
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab
from labtests.transport.commands import program
from labtests.transport.protocol import Reply

TESTBED, BOX = "cumulus-cx5", "SN2700"
AT = Endpoint(device=BOX, interface="swp1")
WHOLE = Endpoint(device=BOX, interface="")
USUAL = WatchdogTimes(
    on=True,
    interval_ms=100,
    shutdown_multiplier=3,
    auto_restore_multiplier=None,
    fixed_restore_multiplier=None,
)
FAST = replace(USUAL, shutdown_multiplier=1)
LOSSLESS = PfcSetting(mode="on", priorities=frozenset({3}))
S = 10**9

simulated, lab = fixtures_of(TESTBED)


def typed(lab: Lab, line: str) -> str:
    reply = lab.transports[BOX].run(program(*line.split()))
    assert reply.status == 0, reply
    return reply.text


def state(lab: Lab) -> tuple[str, str]:
    return tuple(typed(lab, f"nv show {path} --applied -o json") for path in ("qos", "interface"))


def counted(lab: Lab, name: str) -> list[int | None]:
    part = lab.part(BOX, WatchdogTelemetry)
    found = lab.ask(BOX, part.watchdog_counters(AT.interface))
    return [each.value for each in found if each.counter == name]


@pytest.mark.parametrize("theirs", [(), ("qos pfc-watchdog robustness 7", "state disable")])
def test_a_port_is_watched_and_then_as_it_was(lab, simulated, theirs):
    for line in theirs:
        typed(lab, f"nv set {line.replace('state', 'interface swp1 qos pfc-watchdog state')}")
    if theirs:
        typed(lab, "nv config apply -y")
    before, guards = state(lab), simulated.lab.network.switch(BOX).guards
    with lab.restoring():
        lab.change(AT, PFC, LOSSLESS)
        lab.change(WHOLE, WATCHDOG_TIMES, FAST)
        lab.change(AT, PFC_WATCHDOG, "on")
        assert lab.current(WHOLE, WATCHDOG_TIMES) == FAST
        assert lab.current(AT, PFC_WATCHDOG) == "on"
        guard = guards.get(AT.interface)
        assert (guard.detect_ps, guard.quiet_ps) == (100 * S, 100 * S)
        assert (guard.priorities, guard.poll_ms, guard.action) == ({3}, 100, "drop")
        lab.change(WHOLE, WATCHDOG_TIMES, replace(FAST, interval_ms=200, shutdown_multiplier=5))
        guard = guards.get(AT.interface)
        assert (guard.detect_ps, guard.quiet_ps, guard.poll_ms) == (1000 * S, 200 * S, 200)
    assert state(lab) == before
    assert guards.get(AT.interface) is None
    assert lab.overridden == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (replace(FAST, interval_ms=99), "99 is not in 100..5000"),
        (replace(FAST, shutdown_multiplier=1001), "1001 is not in 1..1000"),
        (replace(FAST, auto_restore_multiplier=2), "no pause came in one polling interval"),
        (replace(FAST, fixed_restore_multiplier=0), "no pause came in one polling interval"),
        (replace(FAST, on=False), "no switch of its own"),
        (replace(FAST, action="alert"), "it drops"),
    ],
)
def test_times_that_the_switch_does_not_take_are_refused(lab, wanted, said):
    before = state(lab)
    with pytest.raises(CommandRejected, match=said):
        lab.change(WHOLE, WATCHDOG_TIMES, wanted)
    with pytest.raises(CommandRejected, match="all lossless priorities are watched, or none"):
        lab.change(AT, PFC_WATCHDOG, "of 3,4")
    assert state(lab) == before


@pytest.mark.parametrize(
    ("interval", "means"), [("200", 200), ('"0:00:00.200000"', 200), ('"0:00:05"', 5000)]
)
def test_an_interval_is_read_as_a_number_or_as_the_table_has_it(interval, means):
    text = '{"egress-queue-mapping": {}, "pfc-watchdog": {"polling-interval": %s}}'
    profiles = parse_qos(Reply(device=BOX, command="c", text=text % interval))["pfc-watchdog"]
    setting = CumulusWatchdogTimes(BOX)
    found = setting.value(type("Applied", (), {"profiles": profiles})(), "")
    assert found == replace(USUAL, interval_ms=means)


def test_what_a_device_decides_itself_is_not_asked_of_it():
    asked = replace(FAST, auto_restore_multiplier=2, fixed_restore_multiplier=0)
    assert asked.suiting(USUAL) == FAST
    assert asked.suiting(replace(asked, auto_restore_multiplier=10)) == asked


def test_a_release_without_a_watchdog_is_named():
    profiles = parse_qos(ALL.load("qos.installed"))["pfc-watchdog"]
    with pytest.raises(CommandRejected, match="shows no PFC watchdog") as refused:
        CumulusWatchdogTimes(BOX).value(type("Applied", (), {"profiles": profiles})(), "")
    assert "5.6" in refused.value.remedy


def test_each_deadlock_that_ended_was_restored_and_nothing_is_said_of_drops(lab):
    lab.change(AT, PFC, LOSSLESS)
    lab.change(WHOLE, WATCHDOG_TIMES, FAST)
    lab.change(AT, PFC_WATCHDOG, "on")
    assert counted(lab, c.WATCHDOG_SHUTDOWNS) == [0] * 8
    assert counted(lab, c.WATCHDOG_RESTORED) == [0] * 8
    for name in (c.WATCHDOG_DROPPED_OUT_PACKETS, c.WATCHDOG_DROPPED_IN_PACKETS):
        assert counted(lab, name) == [None] * 8


@pytest.mark.parametrize(
    ("was", "instead"),
    [
        ("    3              OK        0 ", "    3              OK        -1 "),
        ("    3              OK        0 ", "    4              OK        0 "),
        ("DEADLOCK", "STUCK"),
        ("state  ", "mode   "),
    ],
)
def test_what_is_not_as_printed_in_the_guide_is_refused(was, instead):
    reply = ALL.load("watchdog.guide")
    assert was in reply.text
    with pytest.raises(UnreadableOutput):
        parse_watchdog(replace(reply, text=reply.text.replace(was, instead, 1)))
