"""Ends and ticks of axes that hold what was measured."""

import pytest

from labtests.core.drawing import fitted_axis, log_axis


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (3.0, 40.0, (2, 5, 10, 20, 50)),
        (0.66, 205.0, (1, 10, 100)),
        (1.0, 1.0, (1, 2)),
        (1000.0, 10000.0, (1000, 2000, 5000, 10000)),
    ],
)
def test_ticks_of_a_logarithmic_axis(low: float, high: float, ticks: tuple[float, ...]) -> None:
    axis = log_axis("", low, high)
    assert axis.ticks == ticks
    assert axis.low <= low <= high <= axis.high


@pytest.mark.parametrize(
    ("low", "high"), [(0, 0), (5, 5), (-3, 6), (383.7, 462.2), (24.99999, 25), (-1e-9, 1e-9)]
)
def test_a_fitted_axis_holds_its_values_with_few_ticks(low: float, high: float) -> None:
    axis = fitted_axis("", low, high)
    assert axis.low <= low <= high <= axis.high
    assert 2 <= len(axis.ticks) <= 6
    assert len({name for _, name in axis.marks()}) == len(axis.ticks)
