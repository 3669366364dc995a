"""An account that may not configure, however the device says so."""

from types import SimpleNamespace

import pytest

from labtests.check.finding import Unknown
from labtests.check.gathering import may_not
from labtests.core.errors import CommandRejected, DeviceError
from labtests.transport.asking import known

LINES = ("interface X", "quit")


class Switch:
    """Tells its trial, and raises where the test says: in the session, or by its driver."""

    def __init__(self, *, configure: DeviceError | None, judged: DeviceError | None) -> None:
        self._configure, self._judged = configure, judged

    def trial(self):
        return known(LINES)

    def configure(self, lines):
        assert lines == LINES
        if self._configure:
            raise self._configure
        return "answer"

    def expect_entitled(self, lines, reply):
        assert (lines, reply) == (LINES, "answer")
        if self._judged:
            raise self._judged

    @property
    def lab(self):
        return SimpleNamespace(
            drivers={"Switch": SimpleNamespace(able=lambda ability: self)},
            ask=lambda device, asking, *occasions: known_value(asking),
            transports={"Switch": SimpleNamespace(configure=self.configure)},
        )


DEVICE = SimpleNamespace(name="Switch")


def known_value(asking):
    with pytest.raises(StopIteration) as ended:
        next(asking)
    return ended.value.value


def error(kind):
    return kind("Switch", "system-view", problem="Permission denied.", remedy="a wider role")


@pytest.mark.parametrize("where", ["configure", "judged"])
def test_a_rejection_of_the_session_and_one_of_a_line_are_the_same_obstacle(where) -> None:
    refused = {"configure": None, "judged": None, where: error(CommandRejected)}
    (sentence,) = may_not(Switch(**refused).lab, DEVICE)
    assert sentence == "this account cannot change settings: Permission denied.; a wider role"


def test_a_dead_session_is_unknown_and_not_an_obstacle() -> None:
    dead = Switch(configure=error(DeviceError), judged=None)
    assert isinstance(may_not(dead.lab, DEVICE), Unknown)


def test_an_account_that_may_configure_is_no_obstacle() -> None:
    assert may_not(Switch(configure=None, judged=None).lab, DEVICE) == ()
