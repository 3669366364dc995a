"""Points of DCQCN: CNPs against their interval, a rate that comes back, and one that is slower."""

from dataclasses import replace

import pytest
from handmade import reading, rows
from handmade_rdma import evidence, flow, held_by_marks, place
from test_alpha import slowed

from labtests.capabilities import counters as c
from labtests.verdicts import (
    AlphaRule,
    Outcome,
    ahead,
    follows_alpha,
    gets_less,
    recovered,
    spaced,
)


def with_counts(counts, flows=None):
    """Marks held the senders, and these counters (device, counter) grew by other numbers."""
    seen = held_by_marks()
    grown = {key: d.increase for key, d in seen.changes.items()}
    grown |= {(device, "eth0", "port", -1, name): n for (device, name), n in counts.items()}
    grown = {key: n for key, n in grown.items() if n is not None}
    return evidence(grown, seen.senders, flows or seen.flows, cnp=seen.cnp)


def told(sent=4000, marked=900_000, interval_us=1000, came=None):
    """The receiver's CNPs, half of them to each sender, through their queue."""
    half = (sent if came is None else came) // 2
    seen = with_counts(
        {
            ("r", c.NP_CNP_SENT): sent,
            ("r", c.NP_ECN_MARKED_PACKETS): marked,
            ("a", c.RP_CNP_HANDLED): 0,
            ("b", c.RP_CNP_HANDLED): 0,
            ("a", c.RP_CNP_IGNORED): half,
            ("b", c.RP_CNP_IGNORED): half,
        }
    )
    return replace(seen, cnp=replace(seen.cnp, interval_us=interval_us))


def test_one_cnp_an_interval_and_flow_passes():
    verdict = spaced(told())
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because.startswith("4000 CNPs, no more than one each 1000 us to each of 2 flows")


def test_the_most_that_the_interval_allows_is_a_bound_to_the_packet():
    most = round(2 * (2.2128 / 1e-3 + 1))  # 2.2 s, and what 16 MB of buffers hold at 10G
    queue = {("sw", port, "queue", 6, c.QUEUE_FORWARDED_PACKETS): most for port in ("p1", "p2")}
    for sent, outcome in ((most, Outcome.PASS), (most + 2, Outcome.FAIL)):
        seen = told(sent=sent)
        grown = {key: d.increase for key, d in seen.changes.items()} | queue
        verdict = spaced(evidence(grown, seen.senders, seen.flows, cnp=seen.cnp))
        assert verdict.outcome is outcome, verdict.because


def test_a_receiver_that_tells_one_of_two_senders_nothing_is_named():
    counts = {("r", c.NP_CNP_SENT): 2000, ("r", c.NP_ECN_MARKED_PACKETS): 900_000}
    counts |= {(host, c.RP_CNP_HANDLED): 0 for host in "ab"}
    counts |= {("a", c.RP_CNP_IGNORED): 2000, ("b", c.RP_CNP_IGNORED): 0}
    seen = with_counts(counts)
    seen = replace(seen, cnp=replace(seen.cnp, interval_us=1000))
    verdict = spaced(seen)
    assert verdict.outcome is Outcome.FAIL
    assert "r sent 2000 CNPs, and none of them to b, though all is marked" in verdict.because
    assert spaced(told(sent=2000, came=1000)).outcome is Outcome.INCONCLUSIVE  # some are lost


def test_another_interval_is_a_failure_and_names_the_receiver():
    verdict = spaced(told(), interval_us=4000)
    assert verdict.outcome is Outcome.FAIL
    assert "r sent 4000 CNPs to 2 flows in 2.21 s: more than one each 4000 us" in verdict.because


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (told(marked=8000), "too few to ask for"),
        (told(sent=100), "not one each 1000 us"),
        (told(came=3900), "CNPs"),
        (told(interval_us=None), "r does not tell min_time_between_cnps"),
        (replace(told(), cnp=None), "does not tell"),
        (replace(told(), settled=False), "counters were still changing"),
        (with_counts({("r", c.NP_CNP_SENT): None}), "np_cnp_sent"),
        (with_counts({("r", c.NP_ECN_MARKED_PACKETS): None}), "np_ecn_marked"),
    ],
    ids=["few marks", "few CNPs", "lost", "no interval", "no CNPs", "moving", "unread", "unmarked"],
)
def test_what_does_not_show_the_interval_is_open(seen, says):
    verdict = spaced(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def pressed(course=(9.2, 9.2, 0.6, 0.6, 7.0, 9.2), handled=900, other=(2, 2)):
    """Rows of a second of the first sender, and those of another from the third on."""
    late = flow("b", tool="iperf3")
    late = replace(late, intervals=rows(12, other))
    first = replace(flow("a"), intervals=rows(10, course))
    counts = {("a", c.RP_CNP_HANDLED): handled, ("b", c.RP_CNP_HANDLED): 0}
    return with_counts(counts, (first, late))


def test_a_rate_that_comes_back_passes_with_its_course():
    verdict = recovered(pressed())
    assert verdict.outcome is Outcome.PASS, verdict.because
    said = "a had 9.2 Gb/s alone, 0.6 while pressed, 9.2 when that was over"
    assert verdict.because == said


def test_one_that_does_not_is_a_failure_and_names_the_sender():
    verdict = recovered(pressed(course=(9.2, 9.2, 0.6, 0.6, 7.0, 8.0)))
    assert verdict.outcome is Outcome.FAIL
    assert "a had 87 % of what it had alone in its last row, 1 s after" in verdict.because


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (pressed(course=(9.2, 9.2, 8.8, 8.8, 9.0, 9.2)), "it was not slowed"),
        (pressed(course=(2.2, 2.2, 0.6, 0.6, 2.0, 2.2)), "slow before anybody pressed it"),
        (pressed(handled=0), "a handled no CNP: nothing slowed it"),
        (pressed(handled=None), "rp_cnp_handled"),
        (pressed(course=(9.2, 9.2, 0.6, 0.6)), "no rows of the first sender before, beside and"),
        (pressed(other=()), "no rows"),
    ],
    ids=["not slowed", "slow", "no CNP", "unread", "ended early", "nobody pressed"],
)
def test_what_was_not_slowed_by_marks_shows_no_recovery(seen, says):
    verdict = recovered(seen)
    assert verdict.outcome is not Outcome.PASS
    assert says in verdict.because


def unequal(first=8.0, second=0.9, **more):
    return with_counts(
        {("a", c.RP_CNP_HANDLED): 3000, ("b", c.RP_CNP_HANDLED): 1000, **more},
        (flow("a", rate=first), flow("b", rate=second)),
    )


def test_the_slower_of_two_gets_less():
    verdict = gets_less(unequal(), "b")
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because == "a had 8 Gb/s, b had 0.9 Gb/s"


def test_the_one_that_had_more_is_ahead_and_the_last_one_where_nobody_knows():
    assert (ahead(unequal()), ahead(unequal(0.9, 8.0))) == ("a", "b")
    assert ahead(replace(unequal(), flows=())) == "b"


@pytest.mark.parametrize("rates", [(4.6, 4.6), (4.6, 3.8), (0.9, 8.0)])
def test_one_that_gets_as_much_is_a_failure(rates):
    verdict = gets_less(unequal(*rates), "b")
    assert verdict.outcome is Outcome.FAIL
    assert f"b had {rates[1]:.3g} Gb/s, and the other sender {rates[0]:.3g}" in verdict.because


def test_without_a_cnp_or_a_row_of_it_the_parameters_show_nothing():
    flows = flow("a", rate=8.0), flow("b", rate=0.9)
    silent = with_counts({("b", c.RP_CNP_HANDLED): 0}, flows)
    for seen, slower in ((silent, "b"), (unequal(), "c")):
        assert gets_less(seen, slower).outcome is Outcome.INCONCLUSIVE


def test_who_got_no_cnp_is_not_to_blame_for_its_rate():
    flows = flow("a", rate=0.9), flow("b", rate=8.0)
    none = {("b", c.RP_CNP_HANDLED): 0, ("b", c.RP_CNP_IGNORED): 0}
    verdict = gets_less(with_counts(none, flows), "b")
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "b got no CNP: nobody told it to slow down" in verdict.because


def test_places_are_those_of_the_senders():
    assert [p.device for p in pressed().senders] == [place("a").device, place("b").device]


@pytest.mark.parametrize(
    ("host", "counter"),
    [("r", c.OUT_OF_SEQUENCE), ("a", c.LOCAL_ACK_TIMEOUT), ("a", c.REQUEST_ERRORS)],
)
def test_a_rate_of_what_is_sent_again_without_a_drop_is_none_of_a_reaction_point(host, counter):
    """A packet was lost where nothing counts it."""
    rule = AlphaRule(alpha_timer_us=2000, increase_timer_us=300, additive_increase_mbit_per_s=15)
    asked = (
        (told(), spaced),
        (pressed(), recovered),
        (unequal(), lambda seen: gets_less(seen, "b")),
        (slowed(0.25), lambda seen: follows_alpha(seen, rule)),
    )
    for seen, judge in asked:
        for grew, said in ((0, ""), (2, f"{counter} grew by 2"), (-1, "ran backwards")):
            verdict = judge(grown_by(seen, host, counter, grew))
            assert verdict.outcome is (Outcome.INCONCLUSIVE if said else Outcome.PASS)
            assert not said or said in verdict.because


def grown_by(seen, host, counter, number):
    key = (host, "eth0", "port", -1, counter)
    before, after = (
        tuple(r for r in shown if (r.device, r.counter) != (host, counter))
        for shown in (seen.before, seen.after)
    )
    return replace(
        seen,
        before=(*before, reading(key, 7, seen.before[0].time_s)),
        after=(*after, reading(key, 7 + number, seen.after[0].time_s)),
    )
