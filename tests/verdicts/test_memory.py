"""The verdict on thresholds: watermarks against what a port says that it may hold."""

from dataclasses import replace

import pytest
from handmade import A, B, good_evidence, reading

from labtests.capabilities import counters as c
from labtests.capabilities.records import PortMemory, PriorityMemory
from labtests.verdicts import Outcome, held_within, with_thresholds

POOL, ALPHA, ROOM = 8_000_000, 1 / 8, 20_000
OF_POOL, HELD, BEYOND = 1_600_000, 820_000, 6_000  # paused at 800 000 (full) to 888 889 (empty)
PORTS = ("sw", "p1"), ("sw", "p2")


def limits(**more):
    told = {"headroom_bytes": ROOM, "alpha": ALPHA, "pool_bytes": POOL, **more}
    return {
        port: PortMemory(priorities=(PriorityMemory(priority=place.priority, **told),))
        for port, place in zip(PORTS, (A, B), strict=True)
    }


def into(evidence, dropped):
    """With packets that were refused on their way in."""
    more = [
        tuple(reading((*port, "port", None, c.BUFFER_DROPPED_IN_PACKETS), value, read[0].time_s)
              for port in PORTS)
        for read, value in ((evidence.before, 5), (evidence.after, 5 + dropped))
    ]  # fmt: skip
    return replace(evidence, before=(*evidence.before, *more[0]), after=(*evidence.after, *more[1]))


def peaks(evidence, forgotten=0, missing="", **held):
    """Of both ports; what is shown when it has just been forgotten."""
    told = {c.POOL_PEAK_BYTES: OF_POOL, c.SHARED_PEAK_BYTES: HELD, c.HEADROOM_PEAK_BYTES: BEYOND}
    first, last = (
        tuple(
            reading((*port, "priority", place.priority, name), value, 0.0, missing)
            for port, place in zip(PORTS, (A, B), strict=True)
            for name, value in values.items()
        )
        for values in (dict.fromkeys(told, forgotten), {**told, **held})
    )
    return replace(evidence, peaks=(first, last))


GOOD = peaks(into(good_evidence(), 0))
CONTROL = replace(into(good_evidence(), 9), kind="control")


def judged(seen=GOOD, told=None, controls=(CONTROL,)):
    return held_within(seen, told or limits(), controls=controls)


def test_pauses_at_their_threshold_within_headroom_pass():
    verdict = judged()
    assert verdict.outcome is Outcome.PASS, verdict.because
    (fact,) = (f for f in verdict.facts if f.name == "sw p1 priority 3 shared_peak_bytes")
    assert (fact.measured, fact.bound) == (HELD, "796928 to 891961")
    assert fact.margin == HELD - 796_928


@pytest.mark.parametrize(
    ("seen", "told", "says"),
    [
        (peaks(into(good_evidence(), 3)), None, "buffer_dropped_in_packets grew by 3"),
        (peaks(GOOD, headroom_peak_bytes=ROOM + 1), None, "its headroom 20000"),
        (peaks(GOOD, shared_peak_bytes=950_000), None, "should pause at 888889 at most"),
        (peaks(GOOD, shared_peak_bytes=700_000), None, "paused below its threshold, 800000"),
        (GOOD, limits(static_bytes=100_000), "should pause at 100000 at most"),
        (GOOD, limits(static_bytes=1_000_000), "paused below its threshold, 1000000"),
        (GOOD, with_thresholds(limits(), 4), "paused below its threshold"),
        (GOOD, with_thresholds(limits(), 1 / 4), "should pause at"),
    ],
    ids=[
        *("refused", "headroom", "too late", "too early"),
        *("static, too late", "static, too early", "another alpha", "a smaller alpha"),
    ],
)
def test_what_is_held_otherwise_fails(seen, told, says):
    verdict = judged(seen, told)
    assert verdict.outcome is Outcome.FAIL, verdict.because
    assert says in verdict.because


@pytest.mark.parametrize(
    ("seen", "told", "controls", "says"),
    [
        (GOOD, None, (), "no control has shown"),
        (replace(GOOD, peaks=((), ())), None, (CONTROL,), "it was not read"),
        (peaks(GOOD, missing="N/A", shared_peak_bytes=None), None, (CONTROL,), "N/A"),
        (peaks(GOOD, missing="N/A", pool_peak_bytes=None), None, (CONTROL,), "N/A"),
        (peaks(GOOD, missing="N/A", headroom_peak_bytes=None), None, (CONTROL,), "N/A"),
        (peaks(GOOD, headroom_peak_bytes=0), None, (CONTROL,), "was not seen to count"),
        (peaks(GOOD, forgotten=HELD), None, (CONTROL,), "had just been forgotten"),
        (peaks(GOOD, forgotten=None, missing="N/A"), None, (CONTROL,), "not known before"),
        (GOOD, limits(headroom_bytes=None), (CONTROL,), "how much headroom"),
        (GOOD, limits(alpha=None), (CONTROL,), "when it pauses is not known"),
        (GOOD, limits(pool_bytes=None), (CONTROL,), "when it pauses is not known"),
        (GOOD, {("sw", "p9"): PortMemory(priorities=())}, (CONTROL,), "how much headroom"),
        (peaks(GOOD, pool_peak_bytes=POOL + 1), None, (CONTROL,), "its pool has 8000000 bytes"),
    ],
    ids=[
        *("no control", "not read", "N/A", "pool N/A", "headroom N/A", "headroom 0", "not cleared"),
        *("nothing before", "no headroom told", "no alpha", "no pool", "other ports"),
        "more than the pool",
    ],
)
def test_what_is_not_known_is_inconclusive(seen, told, controls, says):
    verdict = judged(seen, told, controls)
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert says in verdict.because


def test_nobody_who_pauses_proves_no_threshold():
    quiet = replace(GOOD, after=tuple(
        next((b for b in GOOD.before if b.key == r.key), r)
        if r.counter in (c.PFC_TX_FRAMES, c.PFC_RX_FRAMES) else r
        for r in GOOD.after
    ))  # fmt: skip
    verdict = judged(quiet)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no port sent a pause frame" in verdict.because


def test_less_than_when_it_had_just_been_forgotten_is_of_this_phase():
    assert judged(peaks(GOOD, forgotten=208)).outcome is Outcome.PASS


def test_the_refusals_of_one_port_prove_no_other_ports_counter():
    key = (*PORTS[0], "port", None, c.BUFFER_DROPPED_IN_PACKETS)
    stands = replace(
        CONTROL,
        after=tuple(
            replace(each, value=5) if (each.device, each.port) == key[:2] and
            each.counter == key[4] else each
            for each in CONTROL.after
        ),
    )  # fmt: skip
    verdict = judged(controls=(stands,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "sw p1 buffer_dropped_in_packets: no control has shown that it counts" in str(verdict)


def test_a_watermark_that_stands_still_accuses_nobody():
    verdict = judged(peaks(into(good_evidence(), 0), **{c.SHARED_PEAK_BYTES: 0}))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "stayed 0 while it paused" in str(verdict)


def test_a_drop_on_the_way_out_is_no_pass():
    drops = (*GOOD.bottleneck, "queue", min(GOOD.queues), c.QUEUE_DROPPED_PACKETS)
    after = tuple(
        replace(each, value=each.value + 1)
        if (each.device, each.port, each.scope, each.index, each.counter) == drops
        else each
        for each in GOOD.after
    )
    assert judged(replace(GOOD, after=after)).outcome is Outcome.FAIL
