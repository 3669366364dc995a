"""The PFC watchdog of a Nexus: its settings are made, read back and put back."""

from dataclasses import replace

import pytest
from driven import driving
from nexus_bench import PORTS, NexusBench, emulated
from nxos_recordings import ALL

from labtests.capabilities.records import PfcSetting, WatchdogTimes
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.drivers.nxos.watchdog import PFC_QUEUE_DETAIL, parse_pfc_queue
from labtests.transport.protocol import Reply

OUT, IN = PORTS[:2]
DEFAULT = WatchdogTimes(
    on=False,
    interval_ms=100,
    shutdown_multiplier=1,
    auto_restore_multiplier=10,
    fixed_restore_multiplier=0,
)
SLOWER = WatchdogTimes(
    on=True,
    interval_ms=200,
    shutdown_multiplier=2,
    auto_restore_multiplier=3,
    fixed_restore_multiplier=20,
)
LOSSLESS = PfcSetting(mode="on", priorities=frozenset({3}))


@pytest.fixture
def bench():
    return NexusBench(emulated())


@pytest.fixture
def driver(bench):
    return driving("nxos")(bench)


@pytest.fixture
def watched(driver):
    """The port is lossless for one priority, and watched."""
    driver.set_pfc(OUT, LOSSLESS)
    driver.set_watchdog_times("", SLOWER)
    driver.set_pfc_watchdog(OUT, "on")
    return driver


def test_times_are_made_read_back_and_put_back_one_line_for_each_that_differs(bench, driver):
    text = bench.shown()
    assert driver.watchdog_times("") == DEFAULT
    driver.set_watchdog_times("", SLOWER)
    assert driver.watchdog_times("") == SLOWER
    assert bench.configured == [
        "configure terminal",
        "priority-flow-control watch-dog interval 200",
        "priority-flow-control watch-dog shutdown-multiplier 2",
        "priority-flow-control auto-restore multiplier 3",
        "priority-flow-control fixed-restore multiplier 20",
        "priority-flow-control watch-dog-interval on",
        "end",
    ]
    driver.set_watchdog_times("", DEFAULT)
    assert driver.watchdog_times("") == DEFAULT
    assert bench.shown() == text


@pytest.mark.parametrize("action", ["forward", "alert"])
def test_a_queue_that_is_shut_always_drops(driver, action):
    with pytest.raises(CommandRejected, match=f"{action} is not in drop"):
        driver.set_watchdog_times("", replace(DEFAULT, action=action))


@pytest.mark.parametrize("found", ["unset", "off", "on"])
def test_a_port_is_watched_or_not_and_gets_back_what_it_said(bench, driver, found):
    if found != "unset":
        bench.type(f"interface {OUT}", f"priority-flow-control watch-dog-interval {found}")
    text = bench.shown()
    for wanted in ("on", "off", "unset"):
        driver.set_pfc_watchdog(OUT, wanted)
        assert driver.pfc_watchdog(OUT) == wanted
    driver.set_pfc_watchdog(OUT, found)
    assert driver.pfc_watchdog(OUT) == found
    assert bench.shown() == text


def test_a_queue_is_watched_where_switch_and_port_say_on_and_pfc_works(bench, watched):
    guards = bench.switch.network.guards
    assert guards.get(OUT).priorities == {3}
    assert (guards.get(OUT).interval_ms, guards.get(OUT).shutdown_multiplier) == (200, 2)
    assert guards.get(IN) is None
    watched.set_watchdog_times("", DEFAULT)
    assert guards.get(OUT) is None


def test_a_port_has_counters_for_every_priority_and_none_for_queues_that_are_not_watched(watched):
    readings = {(r.counter, r.index): r for r in watched.watchdog_counters(OUT)}
    assert {index for _, index in readings} == set(range(8))
    assert readings["watchdog_shutdowns", 3].value == 0
    assert readings["watchdog_shutdowns", 4].value is None
    assert readings["watchdog_shutdowns", 4].missing == "no block of this group"


@pytest.mark.parametrize(
    ("parse", "name", "wrong", "instead", "says"),
    [
        (parse_pfc_queue, "pfc_queue.n9k", "( 0x2 ) - - - - - - N -", "( 0x2 ) - - - - - N - -",
         "states of other queues than its bitmap"),
        (PFC_QUEUE_DETAIL.read, "pfc_queue_detail.n9k", "2197358073", "2197358072",
         "752 drained and 2197357321 dropped"),
    ],
)  # fmt: skip
def test_a_display_that_contradicts_itself_is_refused(parse, name, wrong, instead, says):
    recorded = ALL.load(name)
    assert wrong in recorded.text
    forged = recorded.text.replace(wrong, instead, 1)
    with pytest.raises(UnreadableOutput, match=says):
        parse(Reply(device="N9K", command=recorded.command, text=forged))
