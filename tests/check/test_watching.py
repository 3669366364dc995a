"""The idle lab is watched while the check asks its other questions: only the rest is waited for."""

from types import SimpleNamespace

import pytest

from labtests.check.gathering import Watching


class Stopped:
    """A clock that goes on only when it is told to."""

    def __init__(self) -> None:
        self.time_s, self.slept_s = 100.0, 0.0

    def now_s(self) -> float:
        return self.time_s

    def sleep(self, seconds: float) -> None:
        self.slept_s += seconds
        self.time_s += seconds


@pytest.mark.parametrize(("asked_s", "slept_s", "watched_s"), [(0, 5, 5), (3, 2, 5), (7, 0, 7)])
def test_what_is_asked_meanwhile_is_time_that_passes(
    asked_s: float, slept_s: float, watched_s: float
) -> None:
    clock = Stopped()
    nobody = SimpleNamespace(devices=())
    lab = SimpleNamespace(clock=clock, testbed=nobody, of_each=lambda read: {})
    watching = Watching(lab, 5.0)
    clock.time_s += asked_s
    said: list[str] = []
    idle = watching.ended(said.append)
    assert (clock.slept_s, idle.seconds) == (slept_s, watched_s)
    waits = [f"watching idle counters for another {slept_s}.0 s"]
    assert said == (waits if slept_s else [])
