"""The idle lab is watched while the check asks its other questions: only the rest is waited for."""

from types import SimpleNamespace

import pytest

from labtests.check import quiet
from labtests.check.gathering import Idle, Watching, told
from labtests.core.errors import UnreadableOutput
from labtests.transport.asking import Running, answered


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


def test_a_device_whose_counters_cannot_be_read_is_named_with_what_helps() -> None:
    def refused():
        yield from ()
        raise UnreadableOutput("leaf1", "show interface", "line 1 is unrecognised", "try by hand")

    unread = answered(Running(told(refused())), lambda asked: [])
    idle = Idle(seconds=5.0, counters=unread, errors=unread)
    for finding in (*quiet.errors(idle), *quiet.noise(idle)):
        assert (finding.level, finding.device) == ("not known", "leaf1")
        assert (finding.finding, finding.remedy) == ("line 1 is unrecognised", "try by hand")
