"""A threshold counted from outside: what NIC and queue have counted when nothing moves any more."""

from dataclasses import replace

import pytest
from handmade import A, flow, reading, rows

from labtests.capabilities import counters as c
from labtests.capabilities.flows import StormResult
from labtests.capabilities.records import PortMemory, PriorityMemory
from labtests.measure.evidence import Evidence, Place, Refresh
from labtests.verdicts import (
    Outcome,
    behind_bytes,
    pauses_at,
    took_what_came,
    with_thresholds,
)
from labtests.verdicts.filled import held_packets

PLACE = replace(A, link_bits_per_s=10e9)
OUT = ("sw", "p3", "queue", 3, c.QUEUE_FORWARDED_PACKETS)
SENT = ("a", "eth0", "priority", 3, c.TX_PACKETS)
STORM = StormResult(switch="sw", switch_port="p3", priority=3, lasting_ms=4000, times=1, frames=400)
ALL = 90_000
HELD = 1000  # packets of 1518 bytes: 1.52 MB, or 1.77 MB in cells of 256 bytes more
LIMITS = {
    ("sw", "p1"): PortMemory(priorities=(PriorityMemory(priority=3, static_bytes=1_600_000),))
}


def seen(held=(0, HELD, HELD, HELD, HELD, 0), out=(10, 20, 20, 20, 20, 5000), **more):
    """Samples half a second apart: what is held, and what was forwarded by then."""
    grown = {
        OUT: ALL,
        ("sw", "p3", "queue", 3, c.QUEUE_DROPPED_PACKETS): 0,
        SENT: ALL,
        ("a", "", "host", None, c.UDP_OUT_DATAGRAMS): ALL + 1,
        ("r", "eth0", "priority", 3, c.RX_PACKETS): ALL,
        ("r", "", "host", None, c.UDP_IN_DATAGRAMS): ALL,
        ("r", "", "host", None, c.UDP_IN_ERRORS): 0,
        ("r", "", "host", None, c.IP_REASM_FAILS): 0,
        ("sw", "p3", "priority", 3, c.PFC_RX_FRAMES): 420,
        ("sw", "p1", "priority", 3, c.PFC_TX_FRAMES): 60,
        ("a", "eth0", "priority", 3, c.PFC_RX_FRAMES): 60,
        ("a", "eth0", "priority", 3, c.PFC_RX_PAUSE_US): 2_000_000,
        **more.pop("grown", {}),
    }

    def at(time_s, share):
        pairs = ((key, n) for key, n in grown.items() if n is not None)
        return tuple(reading(key, 7 + share * n, time_s) for key, n in pairs)

    samples = []
    for number, (inside, gone) in enumerate(zip(held, out, strict=True)):
        time_s = 10.5 + number / 2
        for key, value in ((SENT, 7 + inside + gone), (OUT, 7 + gone)):
            samples.append(replace(reading(key, value, time_s), asked_s=time_s - 0.02))
    told = replace(
        flow("a", rows(10, (4,) * 5), 4e9),
        sent_datagrams=ALL, received_datagrams=ALL, lost_datagrams=0,
    )  # fmt: skip
    usual = {
        "name": "held", "kind": "experiment", "backend": "simulated", "start_s": 10.0,
        "end_s": 15.0, "line_bits_per_s": 10e9, "senders": (PLACE,),
        "receiver": Place(device="r", port="eth0", switch="sw", switch_port="p3", priority=0,
                          queue=0),
        "flows": (told,), "quiet_before": at(9.0, 0), "before": at(9.5, 0), "after": at(16.0, 1),
        "settled": True, "samples": tuple(samples), "storm": STORM, "own_mtu_bytes": {"a": 1500},
    }  # fmt: skip
    return Evidence(**{**usual, **more})


def test_a_port_that_holds_what_is_configured_passes():
    assert held_packets(seen()) == HELD
    verdict = pauses_at(seen(), LIMITS)
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because == (
        "sw p1 held 1000 packets when it paused a; its threshold is 898 to 1057 of them"
    )


@pytest.mark.parametrize(("times", "said"), [(1.25, "below its"), (0.8, "should have paused")])
def test_a_threshold_a_quarter_higher_or_a_fifth_lower_is_another_one(times, said):
    verdict = pauses_at(seen(), with_thresholds(LIMITS, times))
    assert verdict.outcome is Outcome.FAIL
    assert f"sw p1 priority 3 held {HELD} packets, not" in verdict.because
    assert said in verdict.because


@pytest.mark.parametrize(("held", "outcome"), [(897, "fail"), (898, "pass"), (1058, "fail")])
def test_the_bounds_are_to_the_packet(held, outcome):
    verdict = pauses_at(seen(held=(0, held, held, held, held, 0)), LIMITS)
    assert verdict.outcome == outcome


def test_alpha_is_of_what_is_free_and_what_is_reserved_comes_first():
    own = PriorityMemory(priority=3, alpha=0.25, pool_bytes=7_500_000, reserved_bytes=100_000)
    limits = {("sw", "p1"): PortMemory(priorities=(own,))}
    assert pauses_at(seen(), limits).outcome is Outcome.PASS
    bare = {("sw", "p1"): PortMemory(priorities=(replace(own, alpha=None),))}
    assert "its threshold is not told" in pauses_at(seen(), bare).because


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"held": (0, 900, 1000, 1001, 1002, 0)}, "in which nothing moved"),
        ({"held": (0, 0, 1000, 1000, 0, 0)}, "in which nothing moved"),
        ({"out": (10, 20, 30, 40, 50, 5000)}, "in which nothing moved"),
        ({"refresh": Refresh(seconds=2.0)}, "in which nothing moved"),
        ({"samples": ()}, "in which nothing moved"),
        ({"storm": None}, "nobody stormed"),
        ({"storm": replace(STORM, frames=500)}, "of the 500 pause frames"),
        ({"grown": {("sw", "p1", "priority", 3, c.PFC_TX_FRAMES): 0}}, "stayed 0"),
        ({"grown": {("sw", "p1", "priority", 3, c.PFC_TX_FRAMES): None}}, "pauses to a"),
        ({"grown": {("a", "eth0", "priority", 3, c.PFC_RX_FRAMES): 10}}, "pause"),
        ({"senders": ()}, "0 senders"),
        ({"senders": (replace(PLACE, switch="leaf"),)}, "from leaf to sw every switch holds"),
        ({"settled": False}, "counters were still changing"),
    ],
)
def test_what_was_not_seen_to_rest_shows_no_threshold(wrong, says):
    verdict = pauses_at(seen(**wrong), LIMITS)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def test_a_packet_that_is_missing_is_no_part_of_what_is_held():
    lost = seen(grown={OUT: ALL - 1, ("r", "eth0", "priority", 3, c.RX_PACKETS): ALL - 1})
    assert pauses_at(lost, LIMITS).outcome is not Outcome.PASS


REFUSED = ("sw", "p1", "port", -1, c.BUFFER_DROPPED_IN_PACKETS)


def refusing(packets):
    return seen(grown={REFUSED: packets, OUT: ALL, SENT: ALL})


def test_headroom_that_suffices_refuses_nothing_by_a_counter_that_counts():
    control = replace(refusing(4), kind="control")
    verdict = took_what_came(refusing(0), controls=(control,))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because == "1000 packets were held, and none was refused"
    verdict = took_what_came(control, controls=(control,))
    assert verdict.outcome is Outcome.FAIL
    assert "sw p1 buffer_dropped_in_packets grew by 4" in verdict.because


@pytest.mark.parametrize(
    ("found", "controls", "says"),
    [
        (refusing(0), (), "no control has shown that it counts"),
        (refusing(0), (refusing(0),), "no control has shown that it counts"),
        (seen(), (refusing(4),), "buffer_dropped_in_packets"),
        (replace(refusing(0), samples=()), (refusing(4),), "nothing was seen to be held"),
        (replace(refusing(0), storm=None), (refusing(4),), "nobody stormed"),
    ],
)
def test_without_a_control_or_a_held_packet_headroom_is_open(found, controls, says):
    verdict = took_what_came(found, controls=controls)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def test_what_comes_behind_a_pause_is_the_difference_in_whole_cells():
    fast = seen(held=(0, HELD + 5, HELD + 5, HELD + 5, HELD + 5, 0))
    assert behind_bytes(seen(), fast) == 6 * 1536
    assert behind_bytes(seen(), fast, frames=2) == 8 * 1536
    assert behind_bytes(fast, seen()) == behind_bytes(seen(samples=()), seen(samples=())) == 1536
