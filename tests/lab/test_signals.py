"""Signals that come together are one cancelling; a Ctrl-C later is a second one."""

import signal

import pytest

from labtests.core import signals
from labtests.core.signals import as_ctrl_c


def raised(*numbers: signal.Signals) -> list[str]:
    """Which of these signals, one after the other, interrupt what runs."""
    found = []
    with as_ctrl_c():
        for number in numbers:
            try:
                signal.raise_signal(number)
            except KeyboardInterrupt:
                found.append(number.name)
    return found


def test_a_ctrl_c_that_came_with_a_hang_up_does_not_stop_the_putting_back() -> None:
    # pending together, they are handled in the order of their numbers: SIGHUP is 1, SIGINT is 2
    assert raised(signal.SIGHUP, signal.SIGINT, signal.SIGTERM) == ["SIGHUP"]
    assert raised(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) == ["SIGTERM"]


def test_another_ctrl_c_stops_the_putting_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "TOGETHER_S", 0.0)
    monkeypatch.setattr(signals, "TWICE_S", 0.0)
    assert raised(signal.SIGINT, signal.SIGTERM, signal.SIGINT) == ["SIGINT", "SIGINT"]
    assert raised(signal.SIGTERM, signal.SIGHUP, signal.SIGINT) == ["SIGTERM", "SIGINT"]


def test_handlers_are_as_before_afterwards() -> None:
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    raised(signal.SIGTERM)
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_two_at_once_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "TWICE_S", 60.0)
    assert raised(signal.SIGINT, signal.SIGINT) == ["SIGINT"]
