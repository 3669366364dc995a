"""Every row of the catalogue: something goes wrong in a lab that passes, and nothing is green."""

import pytest
from catalogue import BELOW, H3C, LINUX, OVERLOAD, ROWS, S1, SUITES, SWITCH, Row, fault

from labtests.verdicts import Outcome


def param(row: Row):
    marks = () if row.usual else (pytest.mark.whole_catalogue,)
    return pytest.param(row, id=row.name.replace(" ", "-"), marks=marks)


HEALTHY = [(H3C, suite) for suite in SUITES] + [(LINUX, BELOW), (LINUX, OVERLOAD)]


@pytest.mark.parametrize(
    ("testbed", "suite"),
    [
        pytest.param(
            *twin,
            id=f"{twin[0]}-{twin[1][1]}",
            marks=() if twin in ((H3C, BELOW), (LINUX, BELOW)) else (pytest.mark.whole_catalogue,),
        )
        for twin in HEALTHY
    ],
)
def test_nothing_is_wrong_and_it_passes(benches, testbed, suite):
    ended = benches(testbed).run(*suite)
    assert ended.outcome is Outcome.PASS, ended.words


@pytest.mark.whole_catalogue
@pytest.mark.parametrize(("suite", "seconds"), [(BELOW, 8), (S1, 30)])
def test_counters_that_are_refreshed_slowly_accuse_nobody(benches, suite, seconds):
    bench = benches(H3C)
    bench.fault_when("measuring", 0.0, fault("slow-counters", SWITCH, seconds=seconds))
    try:
        ended = bench.run(*suite, anew=True)
    finally:
        bench.heal()
    assert ended.outcome is Outcome.PASS, ended.words


def test_counters_that_become_slow_in_mid_run_accuse_nobody(benches):
    """In the control: it proves nothing then, and what comes after it is measured anew."""
    bench = benches(H3C)
    bench.fault_when("traffic for", 1.0, fault("slow-counters", SWITCH, seconds=6))
    try:
        ended = bench.run(*S1, anew=True)
    finally:
        bench.heal()
    assert ended.outcome is Outcome.INCONCLUSIVE, ended.words
    assert "S6550 had not counted a packet" in ended.words
    assert "FAIL" not in ended.words.replace("EXPECTED FAIL", "")


@pytest.mark.parametrize("row", [param(row) for row in ROWS])
def test_what_goes_wrong_is_red_in_its_own_words(benches, row):
    bench = benches(row.testbed)
    found = bench.settings()
    for moment in row.moments():
        bench.fault_when(*moment)
    try:
        ended = bench.run(*row.suite, anew=row.anew)
        assert not bench.due, "the moment of a fault never came"
    finally:
        bench.heal()
    assert ended.outcome in row.outcomes, ended.words or "it passed"
    for words in row.says:
        choice = (words,) if isinstance(words, str) else words
        assert any(word in ended.words for word in choice), (words, ended.words)
    if row.theirs is not None:
        assert bench.settings() != found
        bench.simulated.fault(**row.theirs)
    assert bench.settings() == found


def test_every_row_has_a_name_of_its_own():
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
