"""A strict class passes a full port at once: what probes tell, and what they cannot."""

from dataclasses import replace

import pytest
from handmade import A, reading
from handmade_loads import load

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult, FlowStatus, Latency
from labtests.verdicts import Outcome, passed_at_once

TOS = 40 << 2
SLOW = dict.fromkeys(("least_us", "typical_us", "mean_us", "p99_us", "p999_us"), 2000.0)
IDLE = Latency(
    message_bytes=2,
    messages=1000,
    least_us=1.5,
    typical_us=1.6,
    mean_us=1.7,
    p99_us=2.0,
    p999_us=2.1,
    most_us=9.0,
)


def phase(latency, *, congested=True, because=""):
    """Two loads, and a probe that told this."""
    key = (A.switch, A.switch_port, "priority", A.priority, c.PFC_TX_FRAMES)
    probe = FlowResult(
        sender="a",
        receiver="r",
        tool="ib_send_lat",
        tos=TOS,
        status=FlowStatus.FAILED if because else FlowStatus.COMPLETE,
        because=because,
        command="ib_send_lat",
        latency=latency,
    )
    seen = load()
    return replace(
        seen,
        mtu_bytes=1500,
        probes=(probe,),
        before=(*seen.before, reading(key, 7, 9.5)),
        after=(*seen.after, reading(key, 7 + 9000 * congested, 16.0)),
    )


CALM = phase(IDLE, congested=False)


def judged(loaded, calm=CALM, **how):
    return passed_at_once(phase(loaded, **how), calm, tos=TOS)


@pytest.mark.parametrize(("p99_us", "outcome"), [(4.2, "pass"), (4.4, "fail"), (900.0, "fail")])
def test_a_frame_on_the_wire_may_be_waited_for_and_no_more(p99_us, outcome):
    # at 10 Gb/s 1500 bytes take 1.2 us, at the sender's NIC and at the bottleneck; a CNP may take
    # 3; twice what is told above 1.6
    verdict = judged(replace(IDLE, p99_us=p99_us, p999_us=p99_us, most_us=p99_us))
    assert verdict.outcome == outcome
    if outcome == "fail":
        assert "a -> r: wait of 99 % was" in verdict.because
        assert "scheduler" in verdict.because


def test_a_queue_beside_that_of_the_load_that_drops_is_named():
    """Messages of a class that is dropped are repeated, and their tool is not done in time."""
    key = ("sw", "p3", "queue", 6, c.QUEUE_DROPPED_PACKETS)
    seen = phase(None, because="it had not done 1000 messages")
    after = [r for r in seen.after if r.key != key]
    was = next(r.value for r in seen.before if r.key == key)
    verdict = passed_at_once(
        replace(seen, after=(*after, reading(key, was + 3, 16.0))), CALM, tos=TOS
    )
    assert verdict.outcome is Outcome.FAIL
    assert "sw p3 queue 6 dropped_packets grew by 3" in verdict.because


@pytest.mark.parametrize("in_calm", [False, True], ids=["full", "calm"])
def test_a_load_that_pfc_holds_and_that_is_dropped_is_red_and_has_its_own_remedy(in_calm):
    """Its messages wait as before, and those of the class that is served first are in time."""
    key = ("sw", "p3", "queue", 3, c.QUEUE_DROPPED_PACKETS)
    seen, calm = phase(IDLE), CALM
    lossy = calm if in_calm else seen
    was = next(r.value for r in lossy.before if r.key == key)
    after = [r for r in lossy.after if r.key != key]
    lossy = replace(lossy, after=(*after, reading(key, was + 3, 16.0)))
    verdict = passed_at_once(*((seen, lossy) if in_calm else (lossy, calm)), tos=TOS)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.because.startswith("sw p3 queue 3 dropped_packets grew by 3")
    assert "look at PFC of the load's priority" in verdict.because
    assert "scheduler" not in verdict.because


def test_what_a_port_before_the_bottleneck_refuses_is_lost_too():
    key = (A.switch, A.switch_port, "port", None, c.BUFFER_DROPPED_IN_PACKETS)
    seen = phase(IDLE)
    seen = replace(
        seen,
        before=(*seen.before, reading(key, 0, 9.5)),
        after=(*seen.after, reading(key, 4, 16.0)),
    )
    verdict = passed_at_once(seen, CALM, tos=TOS)
    assert "buffer_dropped_in_packets grew by 4" in verdict.because
    assert verdict.outcome is not Outcome.PASS


def test_one_message_that_was_lost_is_in_no_percentile_and_is_found():
    verdict = judged(replace(IDLE, mean_us=537.0, p999_us=536_871.0, most_us=536_871.0))
    assert verdict.outcome is Outcome.FAIL
    assert "a -> r: mean wait was 1070.8 µs" in verdict.because


@pytest.mark.parametrize(
    ("loaded", "calm", "how", "says"),
    [
        (IDLE, CALM, {"congested": False}, "congestion not proven"),
        (replace(IDLE, messages=999), CALM, {}, "a percentile of 999 messages"),
        (IDLE, phase(replace(IDLE, p99_us=400.0)), {}, "took 1.5 to 400.0 µs, too unlike"),
        (IDLE, replace(CALM, probes=()), {}, "no latency without congestion"),
        (None, CALM, {"because": "exit status 1"}, "exit status 1"),
        (None, CALM, {}, "a -> r (ib_send_lat) told no latency"),
        (IDLE, phase(IDLE), {}, "the bottleneck was congested in 'load', too"),
        (
            replace(IDLE, **SLOW),
            phase(replace(IDLE, **SLOW), congested=False),
            {},
            "2000.0 µs at the least: something else holds them",
        ),
    ],
    ids=[
        *("no congestion", "few messages", "never calm", "no idle", "failed", "no table"),
        *("calm was congested", "both were slow"),
    ],
)
def test_what_proves_nothing_is_inconclusive(loaded, calm, how, says):
    verdict = judged(loaded, calm, **how)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def test_a_probe_of_another_class_says_nothing_of_this_one():
    verdict = passed_at_once(phase(IDLE), CALM, tos=TOS + 4)
    assert verdict.outcome is Outcome.INCONCLUSIVE


def test_a_probe_that_completed_no_message_proves_nothing():
    seen = phase(IDLE)
    idle_probe = replace(seen.probes[0], iterations=0)
    verdict = passed_at_once(replace(seen, probes=(idle_probe,)), CALM, tos=TOS)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "told no latency" in verdict.because
