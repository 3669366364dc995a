"""A load of hours, part by part."""

from dataclasses import replace

import pytest
from handmade import reading
from handmade_loads import SENT, load

from labtests.capabilities import counters as c
from labtests.measure.evidence import Refresh
from labtests.verdicts import Outcome, steady

PARTS, EVERY_S = 10, 60.0
START_S = 10.0
EARLIER = 100  # dropped before it


def soak(*, drops=None, rates=None, left_out=(), unread=None, parts=PARTS):
    """Parts of a minute each. `drops`: packets that queue 3 dropped in a part; `rates`: of
    the usual one; `left_out`: samples that were not taken; `unread`: one without a number."""
    moved = dict.fromkeys(SENT, 0)
    dropped, samples = EARLIER, []
    end_s = START_S + parts * EVERY_S
    for part in range(parts):
        at_s = START_S + (part + 1) * EVERY_S
        share = (rates or {}).get(part, 1.0)
        dropped += (drops or {}).get(part, 0)
        for queue in moved:
            moved[queue] += round(1_000_000 * share)
        if part in left_out or part == parts - 1:
            continue
        for queue, value in moved.items():
            key = ("sw", "p3", "queue", queue, c.QUEUE_FORWARDED_PACKETS)
            samples.append(reading(key, value, at_s))
            key = ("sw", "p3", "queue", queue, c.QUEUE_DROPPED_PACKETS)
            count = dropped if queue == 3 else EARLIER
            lost = reading(key, None, at_s, "gone") if part == unread else reading(key, count, at_s)
            samples.append(lost)
    seen = load()
    ends = {
        ("sw", "p3", "queue", queue, counter): value
        for queue in moved
        for counter, value in (
            (c.QUEUE_FORWARDED_PACKETS, moved[queue]),
            (c.QUEUE_DROPPED_PACKETS, dropped if queue == 3 else EARLIER),
        )
    }
    others = [r for r in seen.before if r.key not in ends]
    return replace(
        seen,
        start_s=START_S,
        end_s=end_s,
        before=(
            *others,
            *(
                reading(key, EARLIER * (key[-1] == c.QUEUE_DROPPED_PACKETS), START_S)
                for key in ends
            ),
        ),
        samples=tuple(samples),
        after=(
            *(r for r in seen.after if r.key not in ends),
            *(reading(key, value, end_s + 1) for key, value in ends.items()),
        ),
    )


def test_a_load_without_a_loss_and_of_one_rate_passes():
    verdict = steady(soak())
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because.startswith("10 parts of 60 s each: no loss in any")


def test_counters_that_are_refreshed_as_seldom_as_they_are_read_are_compared_over_longer_parts():
    """Read once a refresh, every other reading may show nothing new: no rate of a part tells."""
    every_other = {n: 2.0 * (n % 2) for n in range(64)}
    slow = {"refresh": Refresh(seconds=EVERY_S)}
    verdict = steady(replace(soak(parts=64, rates=every_other), **slow))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "64 parts of 60 s each: no loss in any, rates within 30 %" in verdict.because
    assert "of the median in parts of 480 s" in verdict.because
    dip = every_other | {n: 1.0 * (n % 2) for n in range(24, 40)}
    verdict = steady(replace(soak(parts=64, rates=dip), **slow))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "forwarded 50 % of its usual rate from 1440 s to 1920 s" in verdict.because


def test_a_rare_loss_has_its_minute():
    verdict = steady(soak(drops={6: 3}))
    assert verdict.outcome is Outcome.FAIL
    assert (
        "queue 3 dropped_packets grew by 3 from 360 s to 420 s of the load (minute 7)"
        in verdict.because
    )
    often = steady(soak(drops=dict.fromkeys(range(6), 1)))
    assert often.because.count("minute") == 3
    assert "in 3 parts more" in often.because


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"rates": {4: 0.8}}, "forwarded 80 % of its usual rate from 240 s to 300 s"),
        ({"left_out": (3, 4, 5)}, "was not read from 180 s to 420 s"),
        ({"unread": 5}, "not read in every part"),
        ({"drops": {3: -5}}, "ran backwards from 180 s to 240 s"),
        ({"left_out": range(1, 9)}, "ask for a longer --soak"),
    ],
    ids=["a slow minute", "a gap", "no number", "backwards", "too short"],
)
def test_what_was_not_seen_or_not_steady_is_no_pass(how, says):
    verdict = steady(soak(**how))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because
