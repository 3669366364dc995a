"""A lab that was given a profile is as healthy as one that was not: suites make the queues that
they rest on."""

from pathlib import Path

import pytest
from catalogue import H3C, S1, SOCKET, SUITES

from labtests.profile.planning import made, planned
from labtests.profile.reader import load
from labtests.verdicts import Outcome

PROFILE = Path(__file__).parents[2] / "profiles" / "lossless-25g.yaml"


def param(suite):
    marks = () if suite in (S1, SOCKET) else (pytest.mark.whole_catalogue,)
    return pytest.param(suite, id=f"{suite[0]}-{suite[1]}", marks=marks)


@pytest.mark.parametrize("suite", [param(suite) for suite in SUITES])
def test_suites_pass_with_the_shipped_profile_in_force(benches, suite):
    """Its RED dropped the datagrams of S1, its weights starved a sender of S2, and with its PFC no
    queue of the others dropped."""
    bench = benches(H3C)
    profile = load(PROFILE).form
    with bench.lab.restoring():
        made(profile, bench.lab, planned(profile, bench.lab))
        ended = bench.run(*suite, anew=True)
    assert ended.outcome is Outcome.PASS, ended.words
