"""Counters of a switch that come later than others are waited for, and nothing else is."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from handmade import good_evidence, reading

from labtests.capabilities import counters as c
from labtests.experiment import HARDWARE, LIVE
from labtests.experiment.phase import Phase
from labtests.measure.evidence import Evidence
from labtests.verdicts import out_of_balance

FORWARDED = ("sw", "p3", "queue", 3, c.QUEUE_FORWARDED_PACKETS)
GOT = ("r", "eth0", "priority", 3, c.RX_PACKETS)


@pytest.fixture
def whole() -> Evidence:
    """Hosts that count each class of the flows, as real NICs do."""
    seen = good_evidence()
    have = {r.key for r in seen.before}
    more = [
        (host, "eth0", "priority", priority, counter)
        for host in "abr"
        for priority in (3, 5)
        for counter in (c.TX_PACKETS, c.RX_PACKETS)
    ]
    absent = [key for key in more if key not in have]
    return replace(
        seen,
        before=(*seen.before, *(reading(key, 50, 9.5) for key in absent)),
        after=(*seen.after, *(reading(key, 50, 16.0) for key in absent)),
    )


def changed(readings, key, by):
    found = tuple(replace(r, value=r.value + by) if r.key == key else r for r in readings)
    assert found != readings
    return found


class Waiting:
    """A phase at its end, whose devices answer these one after the other."""

    def __init__(self, *answers, pace=HARDWARE) -> None:
        self.slept_s: list[float] = []
        self.said: list[str] = []
        self._answers = list(answers)
        lab = SimpleNamespace(clock=SimpleNamespace(sleep=self.slept_s.append))
        self._phase = Phase(
            lab=lab, roles=None, pace=pace, name="x", control=True, progress=self.said.append
        )

    def ended(self, evidence: Evidence) -> Evidence:
        return self._phase._with_late_counters(evidence, lambda: self._answers.pop(0))


def test_what_adds_up_is_not_read_again(whole: Evidence) -> None:
    waiting = Waiting()
    assert waiting.ended(whole) is whole
    assert waiting.slept_s == []


def test_a_late_counter_is_waited_for_and_named(whole: Evidence) -> None:
    late = replace(whole, after=changed(whole.after, FORWARDED, -400))
    waiting = Waiting(late.after, late.after, whole.after)
    assert out_of_balance(waiting.ended(late)) == ()
    assert waiting.slept_s == [1, 2, 4]
    assert "sw p3 queue 3 forwarded_packets" in waiting.said[0]


def test_a_loss_is_given_up_after_a_minute_and_stays_one(whole: Evidence) -> None:
    lost = replace(whole, after=changed(whole.after, FORWARDED, -1))
    waiting = Waiting(*[lost.after] * 6)
    assert out_of_balance(waiting.ended(lost)) != ()
    assert sum(waiting.slept_s) == 63


def test_a_packet_that_comes_meanwhile_does_not_stand_for_a_lost_one(whole: Evidence) -> None:
    """One of ours was lost, then somebody else's came through the same queue: it would add up."""
    lost = changed(changed(whole.after, FORWARDED, -1), GOT, -1)
    missing = replace(whole, after=lost)
    assert out_of_balance(replace(whole, after=whole.after)) == ()
    waiting = Waiting(whole.after)
    assert out_of_balance(waiting.ended(missing)) != ()
    assert waiting.slept_s == [1]


def test_hosts_that_do_not_count_classes_prove_no_stillness(whole: Evidence) -> None:
    lost = replace(whole, after=changed(whole.after, FORWARDED, -1))
    silent = replace(lost, after=tuple(r for r in lost.after if r.key != GOT))
    waiting = Waiting(tuple(r for r in whole.after if r.key != GOT))
    assert waiting.ended(silent) is silent


def test_where_all_switches_count_live_nothing_is_late(whole: Evidence) -> None:
    lost = replace(whole, after=changed(whole.after, FORWARDED, -1))
    waiting = Waiting(pace=LIVE)
    assert waiting.ended(lost) is lost


def test_a_plan_and_a_time_limit_have_the_wait_in_them() -> None:
    assert HARDWARE.phase.most_s - HARDWARE.phase.least_s == 60 + 63
    assert LIVE.phase.most_s - LIVE.phase.least_s == 15
