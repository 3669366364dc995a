"""Rate limits on egress queues: exact over time, a burst after a rest, and nothing else changes."""

import pytest
from network_star import Lab, Star

from labtests.network import RateLimit, Schedule

FRAME_ON_WIRE = 1024 + 62 + 20


def wire_bytes(lab: Star, queue: int) -> int:
    counters = lab.switch.queue_counters("p0")[queue]
    return counters.forwarded_bytes + 20 * counters.forwarded_packets


def incast(star: Lab, limit: RateLimit, **more: object) -> Star:
    lab = star(**more).without_dcqcn().lossless()
    lab.switch.set_schedule("p0", Schedule(discipline="sp"))
    lab.switch.set_rate_limit("p0", 6, limit)
    return lab


@pytest.mark.parametrize(
    ("bits_per_s", "burst_bytes"),
    [(1_000_000_000, 16_384), (333_333_333, 1), (7_000_000_001, 100_000), (123_456_789, 1106)],
)
def test_a_limited_queue_sends_rate_x_time_and_its_burst_once(
    star: Lab, bits_per_s: int, burst_bytes: int
) -> None:
    lab = incast(star, RateLimit(bits_per_s=bits_per_s, burst_bytes=burst_bytes))
    lab.rc(1, 6, tx_depth=4096)
    lab.run_ms(20)
    first_ps = 1_000_000 * 20  # start jitter, cable and store-and-forward are less than 20 us
    sent = wire_bytes(lab, 6)
    whole = bits_per_s * 20e-3 / 8
    assert sent <= whole + max(burst_bytes, FRAME_ON_WIRE)
    assert sent >= whole + burst_bytes - bits_per_s * first_ps / 8e12 - FRAME_ON_WIRE
    lab.run_ms(50)
    later = wire_bytes(lab, 6) - sent
    assert later == pytest.approx(bits_per_s * 50e-3 / 8, abs=FRAME_ON_WIRE)


def test_what_a_limited_strict_queue_leaves_goes_to_the_others(star: Lab) -> None:
    lab = incast(star, RateLimit(bits_per_s=2_000_000_000))
    lab.rc(1, 6, tx_depth=4096)
    lab.rc(2, 3, tx_depth=4096)
    lab.run_ms(10)
    before = wire_bytes(lab, 6), wire_bytes(lab, 3)
    lab.run_ms(20)
    assert wire_bytes(lab, 6) - before[0] == pytest.approx(2e9 / 8 * 20e-3, abs=FRAME_ON_WIRE)
    assert wire_bytes(lab, 3) - before[1] == pytest.approx(8e9 / 8 * 20e-3, abs=2 * FRAME_ON_WIRE)


def test_a_rested_bucket_lets_a_burst_through_at_line_rate(star: Lab) -> None:
    lab = incast(star, RateLimit(bits_per_s=10_000_000, burst_bytes=40 * FRAME_ON_WIRE))
    for _ in range(2):  # 40 frames at once, twice, a long rest between
        before = lab.switch.queue_counters("p0")[6].forwarded_packets
        flow = lab.rc(1, 6, tx_depth=64, message_bytes=1024, messages=48)
        lab.run_ms(0.2)
        assert lab.switch.queue_counters("p0")[6].forwarded_packets - before == 40
        lab.run_ms(60)
        assert flow.done


def test_a_limit_above_the_line_rate_changes_no_counter(star: Lab) -> None:
    figures = []
    for limit in (None, RateLimit(bits_per_s=11_000_000_000)):
        lab = star().without_dcqcn().lossless()
        lab.switch.set_rate_limit("p0", 3, limit)
        assert lab.switch.rate_limits("p0")[3] == limit
        lab.rc(1, 3)
        lab.rc(2, 3)
        lab.run_ms(10)
        figures.append([lab.switch.queue_counters(f"p{i}") for i in range(3)])
    assert figures[0] == figures[1]


def test_a_limit_taken_away_wakes_the_port(star: Lab) -> None:
    lab = incast(star, RateLimit(bits_per_s=1000, burst_bytes=FRAME_ON_WIRE))
    flow = lab.rc(1, 6)
    lab.run_ms(5)
    assert flow.delivered_bytes == 1024
    lab.switch.set_rate_limit("p0", 6, None)
    assert lab.goodput(flow, 5) == pytest.approx(10 * 1024 / FRAME_ON_WIRE, rel=0.05)


@pytest.mark.parametrize("wrong", [{"bits_per_s": 0}, {"bits_per_s": 10**9, "burst_bytes": 0}])
def test_limits_that_cannot_be_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="is not"):
        RateLimit(**wrong)
