"""When pause storms were: after each was asked for, and before its tool was seen to have ended."""

from labtests.experiment.roles import Role
from labtests.experiment.storming import ReceiverStorm
from labtests.inventory import Endpoint
from labtests.workloads import PauseStorm

ROLE = Role(
    nic=Endpoint(device="r", interface="eth0"),
    switch=Endpoint(device="sw", interface="p3"),
    link_bits_per_s=10**10,
    address="192.168.10.12",
)
STORM = PauseStorm(priority=3, lasting_ms=250, times=3, apart_s=0.5, link_bits_per_s=1e10)


class Time:
    """A clock that is told, and ends what waits at once."""

    now = 0.0

    def now_s(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class Tool:
    """It ends so much later than it was started, if ever, and is as quick to say so."""

    def __init__(self, time, takes_s):
        self._time, self._end_s = time, time.now + takes_s

    def status(self):
        return 0 if self._time.now >= self._end_s else None

    def errors(self):
        return ""


class Tools:
    def __init__(self, time, takes_s):
        self._time, self._takes_s = time, list(takes_s)

    def start(self, transport, command):
        return Tool(self._time, self._takes_s.pop(0))


def stormed(*takes_s):
    """Looked at each second, for four."""
    time = Time()
    storm = ReceiverStorm(
        storm=STORM, role=ROLE, processes=Tools(time, takes_s), transport=None, clock=time
    )
    for second in range(4):
        time.now = float(second)
        storm.begin(time.now)
    return storm.result()


def test_each_has_a_span_that_it_was_inside_of():
    result = stormed(0.3, 1.4, 0.3)
    assert result.because == ""
    assert result.spans_s == ((0.0, 1.0), (1.0, 3.0), (2.0, 3.0))


def test_the_last_is_waited_for():
    *_, (asked_s, ended_s) = stormed(0.3, 0.3, 3.0).spans_s
    assert asked_s == 2.0
    assert 5.0 <= ended_s < 6.0


def test_one_that_does_not_end_has_no_span():
    result = stormed(0.3, 0.3, 1e6)
    assert "did not end in 10 s" in result.because
    assert len(result.spans_s) == 2
