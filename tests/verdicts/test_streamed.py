"""The third witness: it explains and contradicts, and it never stands for a counter."""

import math
from dataclasses import replace

import pytest
from handmade import control_of, good_evidence

from labtests.capabilities import counters as c
from labtests.capabilities.streams import StreamSample, StreamTrouble
from labtests.measure.streamed import Room, Streamed
from labtests.verdicts import Outcome, bursts, kept_headroom, lossless, no_bursts

OUT, IN = "p3", "p1"
DROPS = ("queue", 3, c.QUEUE_DROPPED_PACKETS)
ROOM = {("sw", IN): Room({3: 100_000}), ("sw", "p2"): Room({5: 100_000})}


def samples(port, scope, index, counter, values):
    return tuple(
        StreamSample(
            "sw", port, scope, index, counter, "bytes", value, at, at, at, f"gnmi /{counter}"
        )
        for at, value in enumerate(values, 9)
    )


def steady(port, scope, index, counter, value):
    return samples(port, scope, index, counter, [value] * 9)


HEADROOM = (
    *samples(IN, "priority", 3, c.HEADROOM_PEAK_BYTES, [0, 0, 7_000, 40_000, 9_000, 0, 0, 0, 0]),
    *steady("p2", "priority", 5, c.HEADROOM_PEAK_BYTES, 20_000),
)


def with_stream(evidence, *found, **fields):
    streamed = Streamed(every_s={"sw": 1.0}, samples=tuple(found), rooms=ROOM, **fields)
    return replace(evidence, streamed=streamed)


def verdict_of(evidence):
    plain = replace(evidence, streamed=None, changed=())
    return lossless(evidence, {3, 5}, controls=(control_of(plain),))


def facts(verdict):
    return {fact.name: fact for fact in verdict.facts}


MARGIN = f"sw {IN} priority 3 headroom in use, at most"


def test_a_lossless_verdict_has_the_margin_to_the_headrooms_end(good):
    verdict = verdict_of(with_stream(good, *HEADROOM, *steady(OUT, *DROPS, 7)))
    assert verdict.outcome is Outcome.PASS
    fact = facts(verdict)[MARGIN]
    assert (fact.measured, fact.bound, fact.margin) == (40_000, "<= 100000", 60_000)
    assert facts(verdict)["counters that the stream confirms"].measured == 1


def test_without_a_stream_the_verdict_is_as_it_was(good):
    assert MARGIN not in facts(verdict_of(good))
    assert verdict_of(good).outcome is Outcome.PASS


def test_a_stream_that_contradicts_the_counters_leaves_it_open_and_names_both(good):
    dropped = samples(OUT, *DROPS, [7, 7, 7, 19, 19, 19, 19, 19, 19])
    verdict = verdict_of(with_stream(good, *dropped))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    [said] = verdict.disagreements
    assert "grew by 0 as read (raw dropped_packets) and by 12 as streamed (gnmi /dropped" in said


def test_a_loss_by_the_counters_stays_a_loss_whatever_is_streamed(good):
    lossy = replace(control_of(good_evidence()), kind="experiment")
    verdict = lossless(with_stream(lossy, *steady(OUT, *DROPS, 7)), {3, 5})
    assert verdict.outcome is Outcome.FAIL
    assert any("as streamed" in said for said in verdict.disagreements)


@pytest.mark.parametrize(
    "kind", ["stopped", "gap", "dropped", "behind", "unreadable", "refused", "reset"]
)
def test_a_stream_that_stops_takes_its_own_numbers_and_not_the_verdict(good, kind):
    trouble = StreamTrouble(device="sw", kind=kind, text="it went", since_s=12.0, until_s=20.0)
    seen = with_stream(good, *HEADROOM, troubles=(trouble,))
    verdict = verdict_of(seen)
    assert verdict.outcome is Outcome.PASS
    fact = facts(verdict)[MARGIN]
    assert (fact.measured, fact.note) == (None, "it went")
    assert kept_headroom(seen).outcome is Outcome.INCONCLUSIVE
    assert no_bursts(with_stream(good, *BURST, troubles=(trouble,))).outcome is not Outcome.PASS


def test_the_most_of_an_interval_that_was_left_out_is_not_known(good):
    skipped = tuple(each for each in HEADROOM if each.time_s != 13.0)
    fact = facts(verdict_of(with_stream(good, *skipped)))[MARGIN]
    assert (fact.measured, "for 2.0 s" in fact.note) == (None, True)


def test_a_trouble_before_the_phase_takes_nothing(good):
    trouble = StreamTrouble(device="sw", kind="gap", text="it went", since_s=1.0, until_s=5.0)
    verdict = verdict_of(with_stream(good, *HEADROOM, troubles=(trouble,)))
    assert facts(verdict)[MARGIN].measured == 40_000


def test_a_stream_that_ends_before_the_counters_were_read_contradicts_nothing(good):
    dropped = samples(OUT, *DROPS, [7, 7, 7, 19])  # to 12 s; the counters were read at 16 s
    assert verdict_of(with_stream(good, *dropped)).outcome is Outcome.PASS


def test_what_counted_in_the_quiet_window_is_not_compared(good):
    grown = replace(good, before=tuple(
        replace(r, value=r.value + 1) if r.key == ("sw", OUT, *DROPS[:2], DROPS[2]) else r
        for r in good.before
    ))  # fmt: skip
    dropped = samples(OUT, *DROPS, [7, 7, 7, 19, 19, 19, 19, 19, 19])
    assert not verdict_of(with_stream(grown, *dropped)).disagreements


def test_headroom_that_was_exceeded_is_a_failure_of_its_own_verdict(good):
    beyond = samples(IN, "priority", 3, c.HEADROOM_PEAK_BYTES, [0, 0, 100_001, 0, 0, 0, 0, 0, 0])
    verdict = kept_headroom(with_stream(good, *beyond, *HEADROOM[9:]))
    assert verdict.outcome is Outcome.FAIL
    assert "took 1 bytes more than its headroom" in verdict.because
    assert kept_headroom(with_stream(good, *HEADROOM)).outcome is Outcome.PASS


def test_samples_of_moments_prove_no_headroom(good):
    moments = steady(IN, "priority", 3, c.HEADROOM_BYTES, 10)
    verdict = kept_headroom(with_stream(good, *moments, *HEADROOM[9:]))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "of sampled moments" in verdict.because


def most_since_cleared(*values):
    """At 9, 10, ... s; the phase is from 10 to 15 s."""
    return samples(IN, "priority", 3, c.HEADROOM_MOST_BYTES, values)


@pytest.mark.parametrize(
    ("values", "most", "outcome"),
    [
        ((5_000, 5_000, 9_000, 9_000, 9_000, 9_000, 9_000), 9_000, Outcome.PASS),
        ((9_000, 9_000, 0, 4_000, 4_000, 4_000, 4_000), 9_000, Outcome.PASS),  # cleared within it
        ((208, 208, 208, 208, 208, 208, 208), 208, Outcome.PASS),
        ((200_000, 200_000, 200_000, 200_000, 200_000, 200_000, 200_000), 200_000, "open"),
        ((5_000, 5_000, 200_000, 0, 0, 0, 0), 200_000, Outcome.FAIL),
    ],
)
def test_of_the_most_since_it_was_cleared_what_grew_in_the_phase_is_of_it(
    good, values, most, outcome
):
    verdict = kept_headroom(with_stream(good, *most_since_cleared(*values), *HEADROOM[9:]))
    assert facts(verdict)[MARGIN].measured == most
    assert verdict.outcome is (Outcome.INCONCLUSIVE if outcome == "open" else outcome)
    said = "as much was shown before this phase" in facts(verdict)[MARGIN].note
    assert said is (values[0] == most != 0)


@pytest.mark.parametrize(("age_s", "known"), [(0.0, True), (1.25, True), (75.0, False)])
def test_watermarks_that_are_older_than_the_phase_tell_nothing_of_it(good, age_s, known):
    told = most_since_cleared(0, 0, *[208] * 7)
    seen = with_stream(good, *told, *BURST, ages_s={"sw": age_s})
    fact = facts(verdict_of(seen))[MARGIN]
    assert (fact.measured == 208) is known
    assert ("75 s old" in fact.note) is not known
    assert (no_bursts(seen).outcome is Outcome.INCONCLUSIVE) is not known
    assert verdict_of(seen).outcome is Outcome.PASS


def test_watermarks_that_nobody_polls_are_no_bursts_and_no_headroom(good):
    seen = with_stream(good, *most_since_cleared(*[0] * 9), *BURST, ages_s={"sw": math.inf})
    assert "not polled" in facts(verdict_of(seen))[MARGIN].note
    assert bursts(seen) == ()
    assert no_bursts(seen).outcome is Outcome.INCONCLUSIVE


def test_why_no_headroom_is_known_is_said(good):
    seen = with_stream(good, *HEADROOM)
    rooms = {("sw", IN): Room({}, "none is configured")}
    seen = replace(seen, streamed=replace(seen.streamed, rooms=rooms))
    fact = facts(verdict_of(seen))[MARGIN]
    assert (fact.measured, fact.margin, fact.note) == (40_000, None, "none is configured")


# -- microbursts -----------------------------------------------------------------------------------

LENGTHS = steady(OUT, "queue", 3, c.QUEUE_LENGTH_BYTES, 3_000)
BURST = (
    *samples(OUT, "queue", 3, c.QUEUE_PEAK_BYTES, [4_000, 4_000, 4_000, 4_000, 250_000, 4_000]),
    *LENGTHS,
)


def test_a_peak_that_the_mean_hides_is_named_with_time_port_queue_and_flows(good):
    [burst] = bursts(with_stream(good, *BURST))
    assert (burst.device, burst.port, burst.queue) == ("sw", OUT, 3)
    assert (burst.since_s, burst.until_s) == (12, 13)
    assert (burst.peak_bytes, burst.mean_bytes) == (250_000, 3_000)
    assert burst.flows == ("a → r (iperf3)", "b → r (iperf3)")
    verdict = no_bursts(with_stream(good, *BURST))
    assert verdict.outcome is Outcome.FAIL
    assert "held 250000 bytes at a moment from 2.0 to 3.0 s" in verdict.because


def test_only_flows_that_ran_then_are_named(good):
    early = samples(OUT, "queue", 3, c.QUEUE_PEAK_BYTES, [4_000, 4_000, 250_000, *[4_000] * 4])
    [burst] = bursts(with_stream(good, *early, *LENGTHS))
    assert burst.flows == ("a → r (iperf3)",)


def test_a_queue_that_is_always_long_has_no_bursts(good):
    peaks = samples(
        *(OUT, "queue", 3, c.QUEUE_PEAK_BYTES),
        [200_000, 250_000, 240_000, 260_000, 250_000, 240_000, 230_000],
    )
    full = steady(OUT, "queue", 3, c.QUEUE_LENGTH_BYTES, 180_000)
    assert bursts(with_stream(good, *peaks, *full)) == ()
    assert no_bursts(with_stream(good, *peaks, *full)).outcome is Outcome.PASS


def test_a_few_frames_are_no_burst(good):
    peaks = samples(OUT, "queue", 3, c.QUEUE_PEAK_BYTES, [0, 0, 9_000, 0, 0])
    assert bursts(with_stream(good, *peaks)) == ()


def test_a_watermark_that_still_shows_a_burst_is_one_burst(good):
    peaks = samples(OUT, "queue", 3, c.QUEUE_PEAK_BYTES, [0, 0, 90_000, 90_000, 90_000, 0, 0, 0])
    [burst] = bursts(with_stream(good, *peaks, *LENGTHS, ages_s={"sw": 1.0}))
    assert (burst.since_s, burst.until_s) == (9, 13)


def test_what_goes_on_for_three_intervals_is_a_load_and_no_burst(good):
    peaks = samples(OUT, "queue", 3, c.QUEUE_PEAK_BYTES, [0, 0, 0, 90_000, 90_000, 90_000, 0, 0, 0])
    empty = steady(OUT, "queue", 3, c.QUEUE_LENGTH_BYTES, 0)
    assert bursts(with_stream(good, *peaks, *empty)) == ()


def test_a_watermark_that_is_renewed_late_is_of_a_time_before(good):
    [burst] = bursts(with_stream(good, *BURST, ages_s={"sw": 1.25}))
    assert (burst.since_s, burst.until_s) == (10.75, 13)


def test_a_queue_that_is_long_while_all_send_has_no_bursts_either(good):
    """Without lengths, what is held is told by the most of intervals only."""
    peaks = [0, 0, 0, 0, 1_600_000, 1_650_000, 1_600_000, 0, 0]
    assert bursts(with_stream(good, *samples(OUT, "queue", 3, c.QUEUE_PEAK_BYTES, peaks))) == ()


def test_of_the_most_since_somebody_cleared_it_only_news_is_a_burst(good):
    most = samples(OUT, "queue", 3, c.QUEUE_MOST_BYTES, [*[90_000] * 3, *[150_000] * 4])
    [burst] = bursts(with_stream(good, *most, *LENGTHS))
    assert (burst.peak_bytes, burst.since_s, burst.until_s) == (150_000, 11, 12)


def test_without_the_most_of_intervals_nothing_is_said_of_bursts(good):
    assert no_bursts(good).outcome is Outcome.INCONCLUSIVE
    assert no_bursts(with_stream(good, *LENGTHS)).outcome is Outcome.INCONCLUSIVE


def test_what_a_queue_holds_in_every_interval_is_no_burst(good):
    peaks = samples(OUT, "queue", 3, c.QUEUE_PEAK_BYTES, [0, 0, 419_328, 117_312, 148_512, 117_312])
    assert bursts(with_stream(good, *peaks, *LENGTHS)) == ()


# -- a stream that goes on, and has not seen all ---------------------------------------------------

PEAKS = [0, 0, 7_000, 40_000, 9_000, 0, 0, 0, 0]  # at 9, 10, ... s; the traffic is from 10 to 15 s


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (range(5, 9), "from the begin to the end"),  # its path stops at 13 s, others go on
        (range(6, 9), "from the begin to the end"),
        (range(3), "from the begin to the end"),  # it begins at 12 s only
        (range(2, 5), "for 4.0 s"),  # and where the most was, nothing
    ],
)
def test_a_headroom_that_was_not_told_of_all_the_time_has_no_margin(good, missing, said):
    whole = samples(IN, "priority", 3, c.HEADROOM_PEAK_BYTES, PEAKS)
    some = [each for n, each in enumerate(whole) if n not in missing]
    seen = with_stream(good, *some, *HEADROOM[9:])
    fact = facts(verdict_of(seen))[MARGIN]
    assert fact.measured is None
    assert said in fact.note
    assert kept_headroom(seen).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("late_s", [0.0, 0.3, 0.9])
def test_the_interval_in_which_the_traffic_ends_counts_however_late_it_is_told(good, late_s):
    told = samples(IN, "priority", 3, c.HEADROOM_PEAK_BYTES, [0, 0, 0, 0, 0, 0, 40_000])
    told = [s._replace(time_s=s.time_s + 0.9) for s in told]  # one at 14.9 s, the next behind 15
    told[-1] = told[-1]._replace(time_s=15.9 + late_s)
    fact = facts(verdict_of(with_stream(good, *told, *HEADROOM[9:])))[MARGIN]
    assert fact.measured == 40_000


def test_a_trouble_behind_the_last_sample_before_the_traffic_is_one_of_the_traffic(good):
    """It is dated at that sample: what came behind it is what was lost."""
    trouble = StreamTrouble(device="sw", kind="unreadable", text="half", since_s=9.6, until_s=9.6)
    fact = facts(verdict_of(with_stream(good, *HEADROOM, troubles=(trouble,))))[MARGIN]
    assert (fact.measured, fact.note) == (None, "half")


def test_more_at_a_moment_than_at_most_is_a_wrong_unit_and_no_margin(good):
    moments = samples(IN, "priority", 3, c.HEADROOM_BYTES, [0, 0, 0, 41_000, 0, 0, 0, 0, 0])
    fact = facts(verdict_of(with_stream(good, *HEADROOM, *moments)))[MARGIN]
    assert fact.measured is None
    assert "not both are bytes" in fact.note


@pytest.mark.parametrize("kind", ["reset", "late"])
def test_what_was_reset_or_came_out_of_order_contradicts_nothing(good, kind):
    dropped = samples(OUT, *DROPS, [7, 7, 7, 19, 19, 19, 19, 19, 19])
    trouble = StreamTrouble(device="sw", kind=kind, text="so", since_s=12.0, until_s=12.0)
    assert verdict_of(with_stream(good, *dropped)).disagreements
    assert not verdict_of(with_stream(good, *dropped, troubles=(trouble,))).disagreements


def test_a_queue_that_was_sampled_once_or_twice_has_no_usual_length_and_no_burst(good):
    """At 10 s between samples, a queue that is full while all send stands beside empty ones."""
    told = samples(OUT, "queue", 3, c.QUEUE_PEAK_BYTES, [0, 250_000, 90_000])
    told = tuple(s._replace(time_s=at) for s, at in zip(told, (4, 14, 24), strict=True))
    seen = with_stream(good, *told)
    seen = replace(seen, streamed=replace(seen.streamed, every_s={"sw": 10.0}))
    assert bursts(seen) == ()
    assert "too rarely" in no_bursts(seen).because


@pytest.mark.parametrize("value", [0, 16])
def test_less_than_a_frame_beside_pause_frames_is_no_headroom_in_use(good, value):
    """A value that nobody renews, or cells for bytes."""
    told = steady(IN, "priority", 3, c.HEADROOM_PEAK_BYTES, value)
    seen = with_stream(good, *told, *HEADROOM[9:])
    assert "beside 900 pause frames" in facts(verdict_of(seen))[MARGIN].note
    assert verdict_of(seen).outcome is Outcome.PASS
    assert kept_headroom(seen).outcome is Outcome.INCONCLUSIVE


def test_a_stream_that_is_wrong_about_counters_proves_nothing_by_itself(good):
    dropped = samples(OUT, *DROPS, [7, 7, 7, 19, 19, 19, 19, 19, 19])
    seen = with_stream(good, *HEADROOM, *dropped, *BURST[:1], *LENGTHS)
    assert kept_headroom(seen).outcome is Outcome.INCONCLUSIVE
    assert no_bursts(seen).outcome is not Outcome.PASS


def test_bursts_of_other_ports_say_nothing_of_the_receivers(good):
    peaks = steady("p2", "queue", 3, c.QUEUE_PEAK_BYTES, 1)
    assert f"nothing was streamed of sw {OUT}" in no_bursts(with_stream(good, *peaks)).because


def test_a_queue_that_fills_once_and_stays_full_while_all_send_is_no_burst(good):
    """The most since it was cleared grows once; lengths before and behind the traffic are 0."""
    most = samples(OUT, "queue", 3, c.QUEUE_MOST_BYTES, [0, 0, 0, 5_200_000, *[5_200_000] * 9])
    full = samples(
        *(OUT, "queue", 3, c.QUEUE_LENGTH_BYTES), [0, 0, 0, *[5_200_000] * 3, 0, 0, 0, 0, 0, 0, 0]
    )
    assert bursts(with_stream(good, *most, *full)) == ()


def test_why_nothing_was_compared_is_said(good):
    late = [s._replace(time_s=s.time_s + 3) for s in steady(OUT, *DROPS, 7)]  # none before 10 s
    fact = facts(verdict_of(with_stream(good, *late)))["counters that the stream confirms"]
    assert fact.measured is None
    assert "from before the traffic" in fact.note


def test_more_than_there_is_and_nothing_lost_is_said_to_be_wrong(good):
    told = samples(IN, "priority", 3, c.HEADROOM_PEAK_BYTES, [0, 0, 100_001, 0, 0, 0, 0, 0, 0])
    fact = facts(verdict_of(with_stream(good, *told)))[MARGIN]
    assert fact.margin == -1
    assert "one of the two numbers is wrong" in fact.note


@pytest.mark.parametrize(("held", "found"), [(3_000, 1), (100_000, 0)])
def test_of_a_few_intervals_a_length_while_all_sent_tells_a_burst_from_a_full_queue(
    good, held, found
):
    """A phase of a second, sampled every second."""
    short = replace(good, end_s=13.5, start_s=12.4)
    peaks = samples(OUT, "queue", 3, c.QUEUE_PEAK_BYTES, [0, 0, 0, 0, 284_544, 0, 0, 0])
    lengths = steady(OUT, "queue", 3, c.QUEUE_LENGTH_BYTES, held)
    assert len(bursts(with_stream(short, *peaks, *lengths))) == found
    assert bursts(with_stream(short, *peaks)) == ()
