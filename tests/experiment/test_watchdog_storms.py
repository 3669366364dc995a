"""The storms of the watchdog's suite tell its multiplier from a wrong one."""

import runpy
from pathlib import Path

SUITE = runpy.run_path(str(Path(__file__).parents[2] / "suites" / "test_pfc_watchdog.py"))
POLL_MS = 100
SHORT_MS, LONG_MS, FAST = SUITE["SHORT_MS"], SUITE["LONG_MS"], SUITE["FAST"]
DUE_MS = FAST.interval_ms * FAST.shutdown_multiplier


def test_a_watchdog_that_does_what_is_configured_is_told_from_both_kinds_of_storms():
    assert SHORT_MS < DUE_MS
    assert DUE_MS + POLL_MS < LONG_MS


def test_a_watchdog_that_does_not_multiply_shuts_in_every_short_storm():
    assert FAST.interval_ms + POLL_MS < SHORT_MS


def test_a_watchdog_that_takes_twice_as_long_shuts_in_no_long_storm():
    assert LONG_MS < 2 * DUE_MS


def test_a_queue_is_served_again_before_the_next_storm():
    quiet_ms = FAST.interval_ms * FAST.auto_restore_multiplier
    assert quiet_ms + POLL_MS < 1000 * SUITE["APART_S"]
