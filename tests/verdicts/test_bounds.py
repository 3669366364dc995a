"""Words and margin of a bound, from the same numbers."""

import pytest

from labtests.verdicts.bounds import (
    MORE_THAN_NONE,
    NONE,
    Bound,
    at_least,
    at_most,
    between,
    exactly,
)
from labtests.verdicts.outcome import held_to


@pytest.mark.parametrize(
    ("bound", "measured", "said", "margin"),
    [
        (at_least(5, " (the tool's)"), 7, ">= 5 (the tool's)", 2),
        (at_least(5), 4, ">= 5", -1),
        (at_most(5), 7, "<= 5", -2),
        (exactly(5), 5, "= 5", 0),
        (exactly(5), 7, "= 5", -2),
        (NONE, 3, "= 0", -3),
        (MORE_THAN_NONE, 3, "> 0", 3),
        (between(-2, 4), 3, "-2 to 4", 1),
        (between(-2, 4), -3, "-2 to 4", -1),
    ],
)
def test_what_is_left_of_a_bound(bound: Bound, measured: int, said: str, margin: int) -> None:
    fact = held_to("it", measured, bound, "packets")
    assert (fact.measured, fact.bound, fact.margin) == (measured, said, margin)
    assert isinstance(fact.margin, int)


def test_a_ratio_is_told_with_so_many_digits() -> None:
    fact = held_to("it", 0.123456, Bound(said=">= 0.1", least=0.1, digits=4), "ratio")
    assert (fact.measured, fact.margin) == (0.1235, 0.0235)


def test_what_is_not_known_has_no_margin() -> None:
    fact = held_to("it", None, at_most(5), "packets", "not read")
    assert (fact.measured, fact.margin, fact.note) == (None, None, "not read")
