"""ECN on a TCP incast: marks and few drops pass; each missing part of it does not."""

from dataclasses import replace

import pytest
from handmade import A, B, R, flow, reading, rows
from hypothesis import given, settings
from hypothesis import strategies as st

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import Outcome, marked_not_dropped


def tcp(*, marks, drops, again, by_queue=False, told=None):
    """Two senders in queue 3. `again`: segments that each kernel sent again; the tool's `told`."""
    places = (A, replace(B, queue=3, priority=3))
    mark = (
        ("sw", "p3", "queue", 3, c.QUEUE_MARKED_PACKETS)
        if by_queue
        else ("sw", "p3", "port", None, c.ECN_MARKED_PACKETS)
    )

    def counters(time_s, grown):
        def at(increase, *key):
            return reading(key, 400 + (increase if grown else 0), time_s)

        return (
            at(90_000, "sw", "p3", "queue", 3, c.QUEUE_FORWARDED_PACKETS),
            at(drops, "sw", "p3", "queue", 3, c.QUEUE_DROPPED_PACKETS),
            at(60_000 + drops, "a", "eth0", "priority", 3, c.TX_PACKETS),
            at(30_000, "b", "eth0", "priority", 3, c.TX_PACKETS),
            at(90_000, "r", "eth0", "priority", 3, c.RX_PACKETS),
            at(marks, *mark),
            at(again, "a", "", "host", None, c.TCP_RETRANSMITTED_SEGMENTS),
            at(again, "b", "", "host", None, c.TCP_RETRANSMITTED_SEGMENTS),
        )

    flows = tuple(
        replace(flow(name, rows(10, (4,) * 5), None), retransmits=again if told is None else told,
                sent_datagrams=None, lost_datagrams=None, received_datagrams=None)
        for name in ("a", "b")
    )  # fmt: skip
    return Evidence(
        name="tcp", kind="experiment", backend="simulated", start_s=10.0, end_s=15.0,
        line_bits_per_s=10e9, senders=places, receiver=R, flows=flows,
        quiet_before=counters(9.0, False), before=counters(9.5, False),
        after=counters(16.0, True), settled=True,
    )  # fmt: skip


WITHOUT = tcp(marks=0, drops=400, again=200)
GOOD = tcp(marks=5000, drops=3, again=2)


@pytest.mark.parametrize("by_queue", [True, False])
def test_marks_instead_of_drops_pass(by_queue):
    good = tcp(marks=5000, drops=3, again=2, by_queue=by_queue)
    verdict = marked_not_dropped(good, without=(WITHOUT,))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because == (
        "5000 packets marked and 3 dropped, 4 segments retransmitted; without ECN 400 dropped"
    )


@pytest.mark.parametrize(
    ("came", "outcome"),
    [(4890, "PASS"), (5110, "PASS"), (10_110, "PASS"), (4889, "INCONCLUSIVE"), (0, "INCONCLUSIVE"),
     (50_000, "INCONCLUSIVE")],
)  # fmt: skip
def test_the_receiver_gets_as_many_marked_packets_as_were_marked_or_twice_as_many(came, outcome):
    key = ("r", "", "host", None, c.IP_IN_CE_PACKETS)
    seen = replace(
        GOOD,
        before=(*GOOD.before, reading(key, 7, 9.5)),
        after=(*GOOD.after, reading(key, 7 + came, 16.0)),
    )
    verdict = marked_not_dropped(seen, without=(WITHOUT,))
    assert verdict.outcome is Outcome[outcome], verdict.because
    told = f"r ip_in_ce_packets grew by {came}, and sw p3 counted 5000 marks"
    assert verdict.because.startswith(told) is (outcome != "PASS")


@pytest.mark.parametrize("last", [None, 6], ids=["no longer told", "reset"])
def test_a_receiver_whose_count_of_marks_is_lost_meanwhile_proves_nothing(last):
    key = ("r", "", "host", None, c.IP_IN_CE_PACKETS)
    seen = replace(
        GOOD,
        before=(*GOOD.before, reading(key, 7, 9.5)),
        after=(*GOOD.after, *([] if last is None else [reading(key, last, 16.0)])),
    )
    verdict = marked_not_dropped(seen, without=(WITHOUT,))
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert "r ip_in_ce_packets" in verdict.because


def test_the_incast_without_ecn_is_its_red_control():
    verdict = marked_not_dropped(WITHOUT, without=(WITHOUT,))
    assert verdict.outcome is Outcome.FAIL
    assert "ecn_marked_packets stayed 0" in verdict.because


def test_no_mark_of_traffic_that_did_not_run_proves_nothing():
    """Nor is it a control's own reason. Seen with ib_send_bw over soft-RoCE that gave up."""
    short = tcp(marks=0, drops=14, again=0)
    dead = tuple(replace(each, status="failed", intervals=()) for each in short.flows)
    phase = replace(short, flows=dead)

    verdict = marked_not_dropped(phase, without=(WITHOUT,))
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert "packets stayed 0" not in marked_not_dropped(phase, without=(phase,)).because


def test_marks_beside_as_many_drops_fail():
    assert marked_not_dropped(tcp(marks=900, drops=350, again=170), without=(WITHOUT,)).outcome is (
        Outcome.FAIL
    )


def test_drops_are_told_beside_those_of_the_run_without_ecn_or_as_that_run():
    bad = tcp(marks=900, drops=350, again=170)
    beside = marked_not_dropped(bad, without=(WITHOUT,)).because
    assert "350 packets were dropped; 400 in the run without ECN" in beside
    itself = marked_not_dropped(bad, without=(bad,)).because
    assert "350 packets were dropped; this is the run without ECN" in itself


def test_where_nothing_dropped_without_ecn_nothing_was_spared():
    calm = tcp(marks=0, drops=0, again=0)
    for controls in ((), (calm,)):
        verdict = marked_not_dropped(GOOD, without=controls)
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert "nothing for ECN to prevent" in verdict.because


def test_a_tool_that_sent_more_again_than_the_kernel_is_a_disagreement():
    verdict = marked_not_dropped(tcp(marks=5000, drops=3, again=2, told=9), without=(WITHOUT,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the kernels 4" in verdict.disagreements[0]


NEEDED = {c.QUEUE_DROPPED_PACKETS, c.ECN_MARKED_PACKETS, c.TCP_RETRANSMITTED_SEGMENTS}


@given(data=st.data())
@settings(max_examples=40)
def test_a_hole_is_never_green(data):
    key = data.draw(st.sampled_from(sorted({r.key for r in GOOD.after if r.counter in NEEDED})))
    side = data.draw(st.sampled_from(["before", "after"]))
    fields = data.draw(st.sampled_from([None, {"value": None}, {"source": "another"}]))
    holed = tuple(
        replace(r, **fields) if r.key == key else r
        for r in getattr(GOOD, side)
        if fields is not None or r.key != key
    )
    seen = replace(GOOD, **{side: holed})
    assert marked_not_dropped(seen, without=(WITHOUT,)).outcome is not Outcome.PASS


def test_no_evidence_is_inconclusive():
    empty = replace(GOOD, flows=(), before=(), after=(), settled=False)
    assert marked_not_dropped(empty, without=(WITHOUT,)).outcome is not Outcome.PASS
    untold = tuple(replace(f, retransmits=None) for f in GOOD.flows)
    seen = replace(GOOD, flows=untold)
    assert marked_not_dropped(seen, without=(WITHOUT,)).outcome is Outcome.INCONCLUSIVE
