"""Sums of counters that have to be the same: computed, then written as such."""

from collections.abc import Callable
from typing import Any

import pytest

from labtests.report import page
from labtests.report.ledger import ledger_of

Json = dict[str, Any]
NAME = "sent by NICs = forwarded + dropped, queue 3"


def told(run: Json, note: str, measured: int, name: str = NAME) -> list[tuple[Any, ...]]:
    """The ledger of a run with this fact."""
    fact = {"name": name, "note": note, "measured": measured, "bound": "= 0", "margin": 0}
    run["tests"][0]["verdicts"][0]["facts"] = [fact]
    return [(r.what, r.left, r.right, r.astray, r.of) for r in ledger_of(run["tests"][0])]


@pytest.mark.parametrize(
    ("note", "measured", "left", "right"),
    [
        ("ServerA e0 priority 3 tx_packets = 10; S6550 XGE1/0/13 queue 3 a + b = 10", 0, 10, 10),
        ("ServerA e0 priority 3 tx_packets = 10; S6550 XGE1/0/13 queue 3 a + b = 7", 3, 10, 7),
        ("sent 325097; forwarded 325377 + dropped 0", -280, 325097, 325377),
        ("sent 5 and 2 that the tool does not count; forwarded 4 + dropped 3", 0, 7, 7),
    ],
)
def test_both_sums_are_told_and_equal_only_where_they_are(
    run: Json, note: str, measured: int, left: int, right: int
) -> None:
    ((what, *figures, of),) = told(run, note, measured)

    assert figures == [left, right, left - right]
    assert what == (NAME if left == right else NAME.replace("=", "≠"))
    assert "XGE" not in of


@pytest.mark.parametrize(
    ("note", "measured"), [("", 0), ("a = 1; b = 2", 0), ("a = 1", 0), ("a; b", 0), ("1; 1; 1", 0)]
)
def test_what_does_not_say_its_figures_rightly_is_not_in_it(
    run: Json, note: str, measured: int
) -> None:
    assert told(run, note, measured) == []


def test_the_page_has_it_with_what_is_not_accounted_for(
    run: Json, text_of: Callable[[str], str]
) -> None:
    assert "Ledger" not in text_of(page(run))
    told(run, "a tx = 3349260; sw forwarded + dropped = 3349260", 0)
    said = text_of(page(run))
    assert "Ledger: 1 sum of counters, all equal" in said
    assert f"PFC on {NAME} 3 349 260 3 349 260 0 a tx; sw forwarded + dropped" in said
    told(run, "a tx = 10; sw forwarded + dropped = 7", 3)
    said = text_of(page(run))
    assert "1 not equal" in said
    assert "queue 3 10 7 +3 a tx" in said
