"""Evidence put together by hand: an S1-like incast in which everything is as it should be."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult, FlowStatus, Interval
from labtests.capabilities.readings import Reading
from labtests.measure.evidence import Evidence, Place

A = Place(device="a", port="eth0", switch="sw", switch_port="p1", priority=3, queue=3)
B = Place(device="b", port="eth0", switch="sw", switch_port="p2", priority=5, queue=5)
R = Place(device="r", port="eth0", switch="sw", switch_port="p3", priority=0, queue=0)


def reading(key, value, time_s, missing=""):
    device, port, scope, index, counter = key
    return Reading(
        device=device, port=port, scope=scope, index=index, counter=counter, unit="packets",
        value=value, time_s=time_s, source=f"raw {counter}", missing=missing,
    )  # fmt: skip


def counters_at(time_s, grown):
    """Every counter an S1 verdict needs: `grown` says whether traffic has passed."""

    def at(increase, *key):
        start = 1000 + len(key[-1])
        return reading(key, start + (increase if grown else 0), time_s)

    rows = []
    for place, packets, pauses, held_us in (
        (A, 600_000, 900, 3_000_000),
        (B, 500_000, 300, 2_500_000),
    ):
        rows += [
            at(packets, "sw", "p3", "queue", place.queue, c.QUEUE_FORWARDED_PACKETS),
            at(0, "sw", "p3", "queue", place.queue, c.QUEUE_DROPPED_PACKETS),
            at(packets, place.device, "eth0", "priority", place.priority, c.TX_PACKETS),
            at(packets, "r", "eth0", "priority", place.priority, c.RX_PACKETS),
            at(pauses, place.device, "eth0", "priority", place.priority, c.PFC_RX_FRAMES),
            at(held_us, place.device, "eth0", "priority", place.priority, c.PFC_RX_PAUSE_US),
        ]
        for priority in range(8):
            sent = pauses if priority == place.priority else 0
            rows.append(at(sent, "sw", place.switch_port, "priority", priority, c.PFC_TX_FRAMES))
    rows += [
        at(0, "r", "eth0", "port", None, c.PAUSE_TX_FRAMES),
        at(0, "r", "", "host", None, c.UDP_RCVBUF_ERRORS),
        at(0, "r", "", "host", None, c.UDP_IN_ERRORS),
        at(0, "r", "", "host", None, c.IP_REASM_FAILS),
    ]
    return tuple(rows)


def rows(start_s, rates):
    return tuple(
        Interval(start_s=start_s + i, end_s=start_s + i + 1, goodput_bits_per_s=rate * 1e9)
        for i, rate in enumerate(rates)
    )


def flow(sender, intervals, offered):
    return FlowResult(
        sender=sender, receiver="r", tool="iperf3", tos=0, status=FlowStatus.COMPLETE, because="",
        command="iperf3 …", intervals=intervals, goodput_bits_per_s=5e9,
        offered_bits_per_s=offered, sent_datagrams=100, received_datagrams=100, lost_datagrams=0,
    )  # fmt: skip


def control_of(evidence, drops=4711):
    """The same phase with the mechanism off: more was sent, and every queue under test dropped
    that."""
    more = {("queue", c.QUEUE_DROPPED_PACKETS), ("priority", c.TX_PACKETS)}
    after = tuple(
        replace(r, value=r.value + drops) if (r.scope, r.counter) in more else r
        for r in evidence.after
    )
    unheld = tuple(replace(f, sent_bytes=f.offered_bits_per_s, asked_s=8) for f in evidence.flows)
    return replace(evidence, name="off", kind="control", after=after, flows=unheld)


def with_a_hole(evidence: Evidence, keys: list[Any], draw: Callable[[Any], Any]) -> Evidence:
    """One of these counters is taken away, before or after, in one of the ways devices do."""
    key, side = draw(st.sampled_from(keys)), draw(st.sampled_from(["before", "after"]))
    how = draw(st.sampled_from(["gone", "N/A", "moved", "backwards"]))
    changed = {
        "N/A": {"value": None, "missing": "N/A"},
        "moved": {"source": "another command"},
        "backwards": {"value": 10**9 if side == "before" else 0},
    }
    read = getattr(evidence, side)
    if how == "gone":
        return replace(evidence, **{side: tuple(r for r in read if r.key != key)})
    holed = tuple(replace(r, **changed[how]) if r.key == key else r for r in read)
    return replace(evidence, **{side: holed})


def good_evidence() -> Evidence:
    """Everything as it should be."""
    return Evidence(
        name="PFC on", kind="experiment", backend="simulated", start_s=10.0, end_s=15.0,
        line_bits_per_s=10e9, senders=(A, B), receiver=R,
        flows=(flow("a", rows(10, (7.8, 7.8, 4.8, 4.8, 4.8)), 7.8e9),
               flow("b", rows(12, (4.8, 4.8, 4.8)), 5.15e9)),
        quiet_before=counters_at(9.0, grown=False), before=counters_at(9.5, grown=False),
        after=counters_at(16.0, grown=True), settled=True,
    )  # fmt: skip
