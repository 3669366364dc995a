"""How long things take: what a plan says of it, and how much is sampled meanwhile."""

import pytest

from labtests.experiment import HARDWARE, LIVE, SIMULATED, Span
from labtests.experiment.classes import ROUNDS, TRIES
from labtests.pytest_plugin.terminal import _in_words

PACES = [HARDWARE, LIVE, SIMULATED]


def test_a_phase_is_its_quiet_window_its_traffic_and_one_step_of_settling_at_least():
    assert HARDWARE.phase == Span(least_s=5 + 20 + 10, most_s=5 + 20 + 60 + 10 + 63)
    assert SIMULATED.phase.least_s == pytest.approx(0.5 + 5 + 0.2)


@pytest.mark.parametrize("pace", PACES)
def test_phases_together_take_the_sum(pace):
    three = sum([pace.phase] * 3, Span(least_s=0.0, most_s=0.0))
    assert three.least_s == pytest.approx((pace.phase * 3).least_s)
    assert three.most_s == pytest.approx((pace.phase * 3).most_s)
    assert three.least_s < three.most_s


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("lab_seconds", [5, 20, 600, 3600])
def test_an_hour_of_traffic_is_not_sampled_thousands_of_times(pace, lab_seconds):
    other = pace.lasting(lab_seconds)
    assert lab_seconds / other.sample_every_s <= 60
    assert other.sample_every_s >= pace.sample_every_s
    assert lab_seconds / other.sample_every_s >= 2  # and between two of them there is a rate


def test_a_settled_counter_takes_longer_than_a_switch_to_refresh_it():
    assert HARDWARE.settle_step_s >= 10  # 5 to 10 s are common
    assert HARDWARE.settling.most_s * TRIES * len(ROUNDS) < 3600


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5.7, "5.7 s"), (59, "59 s"), (80, "1 min 20 s"), (3599.6, "1 h 0 min"), (9000, "2 h 30 min")],
)
def test_times_in_words(seconds, words):
    assert _in_words(seconds) == words
