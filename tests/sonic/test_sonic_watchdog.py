"""The PFC watchdog of a SONiC box, by SSH: its entry and its priorities are made, read back and put
back, and what it did is counted."""

from dataclasses import replace

import pytest
from sonic_recordings import ALL
from switch_over_ssh import fixtures_of

from labtests.capabilities import counters as c
from labtests.capabilities.device import Obstacles, WatchdogTelemetry
from labtests.capabilities.records import PfcSetting, WatchdogTimes
from labtests.capabilities.settings import PFC, PFC_WATCHDOG, WATCHDOG_TIMES
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.drivers.sonic.counters import parse_stats
from labtests.drivers.sonic.watchdog import OFF
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab
from labtests.transport.commands import root
from labtests.transport.protocol import Reply

TESTBED, BOX = "sonic-cx5", "SN2700"
AT = Endpoint(device=BOX, interface="Ethernet0")
FAST = WatchdogTimes(
    on=True,
    interval_ms=100,
    shutdown_multiplier=1,
    auto_restore_multiplier=2,
    fixed_restore_multiplier=0,
)
ODD = replace(FAST, interval_ms=1, shutdown_multiplier=401, auto_restore_multiplier=400)
LOSSLESS = PfcSetting(mode="on", priorities=frozenset({3}))


simulated, lab = fixtures_of(TESTBED)


def typed(lab: Lab, *words: str) -> Reply:
    return lab.transports[BOX].run(root(*words))


def state(lab: Lab) -> str:
    told = typed(lab, "sonic-db-cli", "CONFIG_DB", "HGETALL", f"PORT_QOS_MAP|{AT.interface}")
    return told.text + typed(lab, "pfcwd", "show", "config").text


def seen(lab: Lab, kind):
    return lab.ask(BOX, lab.setting(AT, kind).read(AT.interface))


def watch(lab: Lab, times: WatchdogTimes) -> None:
    lab.change(AT, PFC, LOSSLESS)
    lab.change(AT, WATCHDOG_TIMES, times)
    lab.change(AT, PFC_WATCHDOG, "on")


@pytest.mark.parametrize("qos", ["none", "of config qos reload"])
def test_a_port_is_watched_and_then_as_it_was(lab, simulated, qos):
    if qos != "none":
        typed(lab, "config", "qos", "reload")
    before, guards = state(lab), simulated.lab.network.switch(BOX).guards
    with lab.restoring():
        watch(lab, FAST)
        assert (seen(lab, WATCHDOG_TIMES), seen(lab, PFC_WATCHDOG)) == (FAST, "on")
        guard = guards.get(AT.interface)
        assert (guard.detect_ps, guard.quiet_ps) == (100 * 10**9, 200 * 10**9)
        assert (guard.priorities, guard.poll_ms, guard.action) == ({3}, 100, "drop")
        shown = typed(lab, "pfcwd", "show", "config").text
        assert shown.splitlines()[-1].split() == ["Ethernet0", "drop", "100", "200", "disable"]
    assert state(lab) == before
    assert guards.get(AT.interface) is None
    assert lab.overridden == []


def test_other_priorities_than_the_lossless_ones_come_back(lab):
    typed(lab, "config", "qos", "reload")
    assert seen(lab, PFC_WATCHDOG) == "on"  # 3,4, as they are lossless
    before = state(lab)
    with lab.restoring():
        lab.change(AT, PFC, LOSSLESS)
        assert seen(lab, PFC_WATCHDOG) == "of 3,4"
        lab.change(AT, PFC_WATCHDOG, "on")
        assert seen(lab, PFC_WATCHDOG) == "on"
        lab.change(AT, PFC_WATCHDOG, "off")
        assert seen(lab, PFC_WATCHDOG) == "off"
    assert state(lab) == before


def test_times_of_others_are_read_and_put_back_to_the_millisecond(lab):
    typed(lab, "config", "qos", "reload")
    typed(lab, "pfcwd", "start", "--action", "drop", "Ethernet0", "401", "-r", "400")
    assert seen(lab, WATCHDOG_TIMES) == ODD
    before = state(lab)
    with lab.restoring():
        lab.change(AT, WATCHDOG_TIMES, FAST)
        lab.change(AT, WATCHDOG_TIMES, OFF)
        assert seen(lab, WATCHDOG_TIMES) == OFF
    assert state(lab) == before


@pytest.mark.parametrize(
    ("words", "wanted", "said"),
    [
        ((), replace(FAST, interval_ms=99), "99 ms until it is shut"),
        ((), replace(FAST, shutdown_multiplier=51), "5100 ms until it is shut"),
        ((), replace(FAST, auto_restore_multiplier=0), "0 until it is served again"),
        ((), replace(FAST, fixed_restore_multiplier=3), "no fixed time"),
        (("GLOBAL", "POLL_INTERVAL", "400"), FAST, "POLL_INTERVAL is 400 ms"),
        (("Ethernet0", "detection_time", "300", "action", "shut"), FAST, "action is 'shut'"),
        (("Ethernet0", "detection_time", "300", "pfc_stat_history", "enable"), OFF, "a history"),
        (("Ethernet0", "restoration_time", "600"), FAST, "no detection_time"),
        (("Ethernet0", "detection_time", "300"), OFF, "no action"),
        (("Ethernet0", "detection_time", "300", "colour", "blue"), FAST, "it has 'colour'"),
        (("Ethernet0", "detection_time", "300", "restoration_time", "0"), FAST, "300 and 0 ms"),
    ],
    ids=[
        "fast",
        "slow",
        "for ever",
        "fixed",
        "poll",
        "action",
        "history",
        "nothing",
        "plain",
        "odd",
        "never",
    ],
)
def test_what_it_cannot_do_or_could_not_put_back_is_refused(lab, words, wanted, said):
    if words:
        typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", f"PFC_WD|{words[0]}", *words[1:])
    before = state(lab)
    with pytest.raises(CommandRejected) as refused:
        lab.change(AT, WATCHDOG_TIMES, wanted)
    assert said in str(refused.value)
    assert state(lab) == before


@pytest.mark.parametrize("action", ["forward", "alert"])
def test_another_action_works_and_then_the_one_that_was_there(lab, simulated, action):
    typed(lab, "config", "qos", "reload")
    typed(lab, "pfcwd", "start", "--action", "drop", "Ethernet0", "400", "-r", "800")
    before, guards = state(lab), simulated.lab.network.switch(BOX).guards
    wanted = replace(FAST, action=action)
    with lab.restoring():
        lab.change(AT, WATCHDOG_TIMES, wanted)
        assert seen(lab, WATCHDOG_TIMES) == wanted
        assert guards.get(AT.interface).action == action
        shown = typed(lab, "pfcwd", "show", "config").text
        assert shown.splitlines()[-1].split() == ["Ethernet0", action, "100", "200", "disable"]
    assert state(lab) == before
    assert guards.get(AT.interface).action == "drop"
    assert lab.overridden == []


def test_one_that_somebody_else_has_chosen_is_dropped_for_a_run_and_comes_back(lab, simulated):
    typed(lab, "config", "qos", "reload")
    typed(lab, "pfcwd", "start", "-a", "alert", "Ethernet0", "400", "-r", "800")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "PFC_WD|Ethernet0", "pfc_stat_history",
          "enable")  # fmt: skip
    before, guards = state(lab), simulated.lab.network.switch(BOX).guards
    with lab.restoring():
        lab.change(AT, WATCHDOG_TIMES, FAST)
        assert guards.get(AT.interface).action == "drop"
    assert state(lab) == before
    assert guards.get(AT.interface).action == "alert"


def test_an_action_that_is_only_written_into_an_entry_does_nothing(lab, simulated):
    """As orchagent: the entry has to go first, as `pfcwd start` makes it go."""
    guards = simulated.lab.network.switch(BOX).guards
    typed(lab, "config", "qos", "reload")
    typed(lab, "pfcwd", "start", "Ethernet0", "400")
    assert guards.get(AT.interface).action == "drop"
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "PFC_WD|Ethernet0", "action", "alert")
    assert guards.get(AT.interface).action == "drop"
    typed(lab, "pfcwd", "start", "--action", "alert", "Ethernet0", "400")
    assert guards.get(AT.interface).action == "alert"


@pytest.mark.parametrize("value", ["4000000", "-1", "1e3", ""])
def test_times_that_are_none_are_no_times(lab, value):
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "PFC_WD|Ethernet0", "detection_time", value)
    with pytest.raises(CommandRejected, match="PFC_WD"):
        seen(lab, WATCHDOG_TIMES)


def test_a_port_without_lossless_priorities_has_none_to_be_watched(lab):
    with pytest.raises(CommandRejected, match="no lossless priority"):
        lab.change(AT, PFC_WATCHDOG, "on")


def test_a_queue_that_is_not_watched_has_no_numbers(lab):
    def told():
        part = lab.part(BOX, WatchdogTelemetry)
        found = lab.ask(BOX, part.watchdog_counters(AT.interface))
        return {(each.index, each.counter): each for each in found}

    nothing = told()
    assert len(nothing) == 48
    assert {each.value for each in nothing.values()} == {None}
    watch(lab, FAST)
    after = told()
    assert after[3, c.WATCHDOG_SHUTDOWNS].value == 0
    assert after[3, c.WATCHDOG_DROPPED_OUT_PACKETS].value == 0
    assert after[5, c.WATCHDOG_SHUTDOWNS].value is None


def test_an_entry_that_leaves_the_action_to_the_switch_leaves_it_again(lab):
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "PFC_WD|Ethernet0", "detection_time", "400",
          "restoration_time", "400")  # fmt: skip
    with lab.restoring():
        lab.change(AT, WATCHDOG_TIMES, FAST)
        assert seen(lab, WATCHDOG_TIMES) == FAST
    told = typed(lab, "sonic-db-cli", "CONFIG_DB", "HGETALL", "PFC_WD|Ethernet0").text
    assert told == "{'detection_time': '400', 'restoration_time': '400'}\n"


def test_two_rows_of_one_queue_are_refused():
    reply = ALL.load("watchdog_stats.given-01")
    text = reply.text.replace("Ethernet4:3", "Ethernet0:03")
    with pytest.raises(UnreadableOutput):
        parse_stats(replace(reply, text=text))


def test_a_recording_says_which_queues_are_watched():
    shown = parse_stats(ALL.load("watchdog_stats.given-01"))
    assert shown["Ethernet8"]["4"]["STORM DETECTED"] == 3
    assert shown["Ethernet8"]["4"]["RESTORED"] == 2
    idle = parse_stats(ALL.load("watchdog_stats.given-05"))["Ethernet0"]["5"]
    assert set(idle.values()) == {None}


def test_by_hand_it_wants_root_and_known_numbers(lab):
    assert (
        "SKIPPED: PFC is not enabled on port: Ethernet0"
        in typed(lab, "pfcwd", "start", "Ethernet0", "200").text
    )
    assert (
        "is not in the valid range of 100 to 5000"
        in typed(lab, "pfcwd", "start", "Ethernet0", "20").errors
    )
    assert "invalid options:\nEthernet99" in typed(lab, "pfcwd", "start", "Ethernet99", "200").text
    refused = typed(lab, "pfcwd", "start", "--action", "shut", "Ethernet0", "200").errors
    assert "'shut' is not one of 'drop', 'forward', 'alert'" in refused
    typed(lab, "config", "qos", "reload")
    typed(lab, "pfcwd", "start", "all", "200")
    assert (
        "bigger than one of the configured detection time values"
        in typed(lab, "pfcwd", "interval", "300").errors
    )
    typed(lab, "pfcwd", "stop")
    assert "Ethernet0" not in typed(lab, "pfcwd", "show", "config").text


def test_priorities_that_change_while_a_port_is_watched_are_those_that_are_watched(lab, simulated):
    """orchagent looks at them when it is told of the watchdog, and at no other time (pfcwdorch)."""
    typed(lab, "config", "qos", "reload")
    typed(lab, "pfcwd", "start", "-a", "drop", "Ethernet0", "400", "-r", "800")
    before, guards = state(lab), simulated.lab.network.switch(BOX).guards
    typed(
        lab, "sonic-db-cli", "CONFIG_DB", "HSET", "PORT_QOS_MAP|Ethernet0", "pfcwd_sw_enable", "3"
    )
    assert guards.get(AT.interface).priorities == {3, 4}
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "PORT_QOS_MAP|Ethernet0", "pfcwd_sw_enable",
          "3,4")  # fmt: skip
    with lab.restoring():
        lab.change(AT, PFC, LOSSLESS)
        lab.change(AT, PFC_WATCHDOG, "on")
        assert guards.get(AT.interface).priorities == {3}
        lab.change(AT, PFC_WATCHDOG, "off")
        assert guards.get(AT.interface) is None
    assert state(lab) == before
    assert guards.get(AT.interface).priorities == {3, 4}


@pytest.mark.parametrize("odd", [("action", "Drop"), ("colour", "blue"), ("detection_time", "99")])
def test_an_entry_that_orchagent_does_not_take_watches_nothing(lab, simulated, odd):
    typed(lab, "config", "qos", "reload")
    told = {"detection_time": "400", "restoration_time": "800", "action": "drop"} | dict([odd])
    words = [word for pair in told.items() for word in pair]
    reply = typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "PFC_WD|Ethernet0", *words)
    assert reply.status == 0
    assert simulated.lab.network.switch(BOX).guards.get(AT.interface) is None


def test_a_watchdog_that_drops_all_that_is_lossless_is_an_obstacle(lab):
    asked = lab.part(BOX, Obstacles)
    assert lab.ask(BOX, asked.obstacles()) == ()
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "PFC_WD|GLOBAL", "BIG_RED_SWITCH", "enable")
    (told,) = lab.ask(BOX, asked.obstacles())
    assert "pfcwd big_red_switch disable" in told
