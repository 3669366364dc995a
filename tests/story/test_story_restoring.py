"""The lab is left as it was found, every setting and process of it, however a test ends."""

from dataclasses import replace

import pytest
from story_lab import EVERY, OUT, PFC_ON, S2, SWITCH, Bench
from typed import typed

from labtests.capabilities.settings import PFC, REACTION_POINT
from labtests.core.errors import CommandRejected, LabErrors
from labtests.experiment import NotPassed


def expect_as_found(bench: Bench, found: dict[str, str]) -> None:
    now = bench.settings()
    assert now == found
    listed = [text for name, text in now.items() if name.endswith("ps -eo args")]
    assert len(listed) == 3
    assert not [text for text in listed if "ib_send_bw" in text or "iperf3" in text]


def test_an_experiment_leaves_the_lab_as_it_was_found(bench):
    found = bench.settings()
    bench.lose_nothing()
    assert len(bench.lab.changes) > 10
    expect_as_found(bench, found)


def test_settings_of_other_people_come_back_with_their_values(bench):
    """A lab that somebody has configured before: tables, lists and toggles of their own."""
    curve = "drop-level 0 low-limit 30 high-limit 60 discard-probability 7"
    table = ("qos wred queue table theirs", f"queue 2 {curve}", "queue 2 ecn", "quit")
    port = ("qos wred apply theirs", "qos trust dot1p", "priority-flow-control no-drop dot1p 1,4")
    bench.lab.transports[SWITCH].configure(typed((*table, f"interface {OUT}", *port, "quit")))
    host = bench.lab.transports["ServerA"]
    host.run(typed("mlnx_qos -i enp3s0f0np0 --trust dscp -f 0,1,0,0,0,0,1,0"))
    host.run(typed("echo 0 > /sys/class/net/enp3s0f0np0/ecn/roce_rp/enable/2"))
    found = bench.settings()
    assert "qos wred apply theirs" in found[f"{SWITCH} display current-configuration"]
    with pytest.raises(NotPassed, match="drop counter is unproven"):
        bench.run(S2, with_controls=False)
    expect_as_found(bench, found)


class Mistake(Exception):
    """Somebody else's."""


@pytest.mark.parametrize(
    ("kind", "moment"),
    [
        (Mistake, "experiment 'ECN on': traffic"),
        (KeyboardInterrupt, "ServerB -> ServerC:18516: starting"),
        (KeyboardInterrupt, "waiting for counters to settle"),
    ],
)
def test_a_test_that_is_cut_off_leaves_the_lab_as_it_was_found(bench, kind, moment):
    found = bench.settings()

    def fail() -> None:
        raise kind("in the middle")

    bench.when(moment, fail)
    with pytest.raises(kind, match="in the middle"):
        bench.run(S2, with_controls=False)
    expect_as_found(bench, found)


def test_a_control_that_raises_leaves_the_lab_as_it_was_found(bench, monkeypatch):
    def mistaken(*_: object, **__: object) -> None:
        raise Mistake("in a control")

    found = bench.settings()
    monkeypatch.setattr("labtests.experiment.incast.lossless", mistaken)
    with pytest.raises(Mistake, match="in a control"):
        bench.lose_nothing()
    expect_as_found(bench, found)


class Interrupting:
    """KeyboardInterrupt after so many exchanges with any device. As with a real one, what was
    asked is still answered, but nobody waits for it."""

    def __init__(self, bench: Bench, *, after: int) -> None:
        self.interrupted = False
        self._left = after
        self._hands = [t._transport._hand for t in bench.lab.transports.values()]

    def __enter__(self) -> "Interrupting":
        for hand in self._hands:
            hand.do = self._counted(hand.do)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> bool:
        for hand in self._hands:
            del hand.do
        return kind is KeyboardInterrupt

    def _counted(self, do):
        def ask(act, **how):
            self._left -= 1
            answer = do(act, **how)
            if self._left == 0:
                self.interrupted = True
                raise KeyboardInterrupt
            return answer

        return ask


def test_a_ctrl_c_after_any_exchange_leaves_nothing_behind(bench):
    """While settings are made and while they are undone; the session's end then does the rest."""
    found = bench.settings()
    incast = bench.incast()
    exchanges, cut = 0, None
    while cut is None or cut.interrupted:
        exchanges += 1
        cut = Interrupting(bench, after=exchanges)
        with cut, bench.lab.restoring():
            incast.set(incast.senders[0].nic, REACTION_POINT, EVERY - {3})
            incast.set(incast.senders[1].switch, PFC, PFC_ON)
            incast.ecn_at_bottleneck(incast.marking({2, 3}))
        bench.lab._restore_to(0)
        expect_as_found(bench, found)
    assert exchanges > 25


def test_a_setting_that_is_refused_half_way_leaves_nothing_behind(bench):
    found = bench.settings()
    incast = bench.incast()
    marking = incast.marking({2})
    impossible = tuple(replace(q, high_limit=10**6) if q.ecn else q for q in marking.queues)

    def experiment() -> None:
        with bench.lab.restoring():
            incast.trust_dscp()
            incast.ecn_at_bottleneck(replace(marking, queues=impossible))

    with pytest.raises(CommandRejected, match=f"{SWITCH}: .*high-limit 1000000"):
        experiment()
    expect_as_found(bench, found)


def test_one_device_that_is_gone_does_not_keep_the_others_from_being_put_back(bench):
    found = bench.settings()
    bench.fault_when("'PFC off': traffic", after_s=1.0, kind="cut", device="ServerB")
    with pytest.raises(LabErrors, match="the lab could not be restored") as caught:
        bench.lose_nothing()
    assert {str(error).partition(":")[0] for error in caught.value.exceptions} == {"ServerB"}
    assert "ServerB:ens6f0np0: pfc was mode: off" in str(caught.value)
    assert "ServerB" in str(caught.value.__context__)  # the session that broke in the test
    others = bench.settings(but="ServerB")
    assert others == {name: text for name, text in found.items() if name in others}
    assert {name.split()[0] for name in others} == {"ServerA", "ServerC", SWITCH}
