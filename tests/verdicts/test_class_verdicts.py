"""DSCP -> queue by counts: every wrong queue is seen, and nothing is said of what was disturbed."""

from dataclasses import replace

import pytest
from handmade import A, R, flow, reading
from handmade_rdma import evidence, place
from handmade_rdma import flow as queue_pair
from hypothesis import given, settings
from hypothesis import strategies as st

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowStatus
from labtests.experiment.classes import EVERY
from labtests.measure.evidence import Crossing, Evidence
from labtests.verdicts import Outcome, classified, in_their_queues, undisturbed

BY_THREE = tuple(dscp >> 3 for dscp in range(64))
maps = st.lists(st.integers(min_value=0, max_value=7), min_size=64, max_size=64).map(tuple)


def sent(queues, *, stray=None, spacing=1):
    """Eight rounds through a switch that has this map; `stray` is (queue, packets) of others."""
    return tuple(
        one_round(number, queues, stray if number == 2 else None, spacing) for number in range(8)
    )


def one_round(number, queues, stray, spacing=1):
    flows = tuple(
        replace(flow("a", (), None), tool="ping", tos=(number + 8 * n) << 2,
                sent_datagrams=spacing << n, goodput_bits_per_s=None)
        for n in range(8)
    )  # fmt: skip
    counts = dict.fromkeys(range(8), 0)
    for each in flows:
        counts[queues[each.tos >> 2]] += each.sent_datagrams
    if stray:
        counts[stray[0]] += stray[1]

    def counters(time_s, grown):
        return tuple(
            reading(("sw", "p3", "queue", queue, c.QUEUE_FORWARDED_PACKETS),
                    500 + (count if grown else 0), time_s)
            for queue, count in counts.items()
        )  # fmt: skip

    return Evidence(
        name=f"round {number}", kind="experiment", backend="simulated", start_s=1.0, end_s=2.0,
        line_bits_per_s=10e9, senders=(A,), receiver=R, flows=flows, before=counters(1.0, False),
        after=counters(2.0, True), settled=True,
    )  # fmt: skip


@given(queues=maps)
@settings(max_examples=30)
def test_any_map_is_recognised(queues):
    assert classified(sent(queues), queues).outcome is Outcome.PASS


@given(queues=maps, dscp=st.integers(0, 63), data=st.data())
@settings(max_examples=60)
def test_one_dscp_in_a_wrong_queue_is_named(queues, dscp, data):
    other = data.draw(st.integers(0, 7).filter(lambda q: q != queues[dscp]))
    claimed = (*queues[:dscp], other, *queues[dscp + 1 :])
    verdict = classified(sent(queues), claimed)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.because == f"DSCP {dscp} of a reached queue {queues[dscp]}, expected {other}"


SPINE, NIC = ("spine", "s1"), (R.device, R.port)


def through_a_spine(seen, mapped, lost=0, port=SPINE):
    """The same round, and what the queues of a port before the bottleneck counted, or the classes
    of the NIC behind it; it ought to map as the bottleneck does."""
    each_of = ("priority", c.RX_PACKETS) if port == NIC else ("queue", c.QUEUE_FORWARDED_PACKETS)
    counts = dict.fromkeys(range(8), -lost)
    for each in seen.flows:
        counts[mapped[each.tos >> 2]] += each.sent_datagrams

    def counters(time_s, grown):
        return tuple(
            reading((*port, each_of[0], queue, each_of[1]),
                    700 + (count if grown else 0), time_s)
            for queue, count in counts.items()
        )  # fmt: skip

    due = {number: BY_THREE[flow.tos >> 2] for number, flow in enumerate(seen.flows)}
    return replace(
        seen,
        crossings=(Crossing(port=port, queues=due),),
        before=(*seen.before, *counters(1.0, False)),
        after=(*seen.after, *counters(2.0, True)),
    )


def test_a_dscp_in_a_wrong_queue_between_the_switches_is_named():
    """A spine that ignored DSCP was green: at the bottleneck all was right again."""
    rounds = sent(BY_THREE)
    right = tuple(through_a_spine(each, BY_THREE) for each in rounds)
    assert classified(right, BY_THREE).outcome is Outcome.PASS
    swapped = (*BY_THREE[:26], 5, *BY_THREE[27:])
    verdict = classified(tuple(through_a_spine(each, swapped) for each in rounds), BY_THREE)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.because == "DSCP 26 of a reached queue 5 of spine s1, expected 3"


def test_a_class_that_comes_to_the_nic_by_another_dscp_is_named():
    """In its queue at every switch, and with a DSCP that takes it into another class behind."""
    right = tuple(through_a_spine(each, BY_THREE, port=NIC) for each in sent(BY_THREE))
    assert classified(right, BY_THREE).outcome is Outcome.PASS
    swapped = (*BY_THREE[:26], 5, *BY_THREE[27:])
    wrong = tuple(through_a_spine(each, swapped, port=NIC) for each in sent(BY_THREE))
    verdict = classified(wrong, BY_THREE)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.because == f"DSCP 26 of a reached priority 5 of {' '.join(NIC)}, expected 3"


def test_packets_that_the_nic_did_not_count_leave_it_open():
    rounds = tuple(through_a_spine(each, BY_THREE, lost=1, port=NIC) for each in sent(BY_THREE))
    verdict = classified(rounds, BY_THREE)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"the priorities of {' '.join(NIC)} counted" in verdict.because
    broken = [f for f in verdict.facts if f.bound == "= 255" and f.measured != 255]
    assert [f.margin for f in broken] == [f.measured - 255 for f in broken] != []


def test_a_nic_that_does_not_count_classes_leaves_it_open():
    rounds = tuple(through_a_spine(each, BY_THREE, port=NIC) for each in sent(BY_THREE))
    silent = tuple(
        replace(
            each,
            before=tuple(r for r in each.before if r.scope != "priority"),
            after=tuple(r for r in each.after if r.scope != "priority"),
        )
        for each in rounds
    )
    verdict = classified(silent, BY_THREE)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "does not tell how many packets of each class it got" in verdict.because


def test_packets_that_a_port_between_did_not_count_leave_it_open():
    rounds = tuple(through_a_spine(each, BY_THREE, lost=1) for each in sent(BY_THREE))
    assert not undisturbed(rounds[0])
    verdict = classified(rounds, BY_THREE)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the queues of spine s1 counted" in verdict.because


def test_queues_between_that_show_no_numbers_leave_it_open():
    def unread(reads):
        return tuple(
            replace(r, value=None, missing="N/A") if r.device == "spine" else r for r in reads
        )

    rounds = tuple(through_a_spine(each, BY_THREE) for each in sent(BY_THREE))
    blind = tuple(replace(r, before=unread(r.before), after=unread(r.after)) for r in rounds)
    verdict = classified(blind, BY_THREE)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the queues of spine s1 counted 0" in verdict.because


@given(queue=st.integers(0, 7), count=st.integers(1, 300))
@settings(max_examples=30)
def test_packets_of_others_leave_it_open(queue, count):
    rounds = sent(BY_THREE, stray=(queue, count))
    assert [undisturbed(seen) for seen in rounds].count(False) == 1
    verdict = classified(rounds, BY_THREE)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"the queues counted {255 + count}" in verdict.because


def test_the_map_of_the_next_class_is_red():
    verdict = classified(sent(BY_THREE), BY_THREE[8:] + BY_THREE[:8])
    assert verdict.outcome is Outcome.FAIL
    assert verdict.because.endswith("and 60 more")


@given(data=st.data())
@settings(max_examples=40)
def test_a_hole_is_never_green(data):
    rounds = list(sent(BY_THREE))
    number = data.draw(st.integers(0, 7))
    seen = rounds[number]
    key = data.draw(st.sampled_from([r.key for r in seen.before]))
    side = data.draw(st.sampled_from(["before", "after"]))
    fields = data.draw(st.sampled_from([None, {"value": None}, {"source": "another"}]))
    holed = tuple(
        replace(r, **fields) if r.key == key else r
        for r in getattr(seen, side)
        if fields is not None or r.key != key
    )
    rounds[number] = replace(seen, **{side: holed})
    assert classified(rounds, BY_THREE).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "broken", ["missing round", "failed ping", "unsettled", "equal counts", "out of reach"]
)
def test_rounds_that_are_not_whole_prove_nothing(broken):
    rounds = list(sent(BY_THREE))
    flows = rounds[0].flows
    if broken == "missing round":
        del rounds[0]
    elif broken == "failed ping":
        died = replace(flows[0], status=FlowStatus.FAILED, because="Network is unreachable")
        rounds[0] = replace(rounds[0], flows=(died, *flows[1:]))
    elif broken == "out of reach":
        rounds[0] = replace(rounds[0], unreachable=("a cannot reach r",))
    elif broken == "unsettled":
        rounds[0] = replace(rounds[0], settled=False)
    else:
        same = replace(flows[1], sent_datagrams=1)
        rounds[0] = replace(rounds[0], flows=(flows[0], same, *flows[2:]))
    assert classified(rounds, BY_THREE).outcome is Outcome.INCONCLUSIVE


@given(queues=maps, at=st.integers(0, 7), stray=st.integers(1, 3))
@settings(max_examples=30)
def test_a_stray_packet_is_told_apart_where_each_is_sent_several_times(queues, at, stray):
    assert classified(sent(queues, stray=(at, stray)), queues).outcome is Outcome.INCONCLUSIVE
    rounds = sent(queues, stray=(at, stray), spacing=4)
    verdict = classified(rounds, queues)
    assert verdict.outcome is Outcome.PASS
    assert [f"and {stray} of others"] == [fact.note for fact in verdict.facts if fact.note]
    wrong = tuple((queue + 1) % 8 for queue in queues)
    assert classified(rounds, wrong).outcome is Outcome.FAIL


@given(queues=maps, dscp=st.integers(0, 63), lost=st.integers(1, 3))
@settings(max_examples=30)
def test_a_stray_packet_excuses_no_loss(queues, dscp, lost):
    rounds = sent(queues, stray=(queues[2], -lost), spacing=4)
    assert classified(rounds, queues).outcome is Outcome.INCONCLUSIVE
    assert not undisturbed(rounds[2])


NUMBERS = [count for _, count in EVERY]


def all_at_once(queues):
    """A round of all DSCPs, each in another number, through a switch that has this map."""
    seen = one_round(0, queues, None)
    flows = tuple(
        replace(seen.flows[0], sender="b", tos=dscp << 2, sent_datagrams=n)
        for dscp, n in enumerate(NUMBERS)
    )
    counts = [sum(n for d, n in enumerate(NUMBERS) if queues[d] == queue) for queue in range(8)]

    def counters(time_s, grown):
        return tuple(
            reading(("sw", "p3", "queue", queue, c.QUEUE_FORWARDED_PACKETS),
                    500 + (count if grown else 0), time_s)
            for queue, count in enumerate(counts)
        )  # fmt: skip

    return replace(seen, flows=flows, before=counters(1.0, False), after=counters(2.0, True))


@given(queues=maps)
@settings(max_examples=30)
def test_a_round_of_all_dscps_passes_by_its_sums(queues):
    rounds = (*sent(queues), all_at_once(queues))
    assert classified(rounds, queues).outcome is Outcome.PASS


@given(dscp=st.integers(0, 63), other=st.integers(0, 7))
@settings(max_examples=60)
def test_one_dscp_of_another_sender_in_a_wrong_queue_is_named(dscp, other):
    """Eight DSCPs of it were sent: the other 56 were green whatever its port did."""
    if other == BY_THREE[dscp]:
        return
    wrong = (*BY_THREE[:dscp], other, *BY_THREE[dscp + 1 :])
    verdict = classified((*sent(BY_THREE), all_at_once(wrong)), BY_THREE)
    assert verdict.outcome is Outcome.FAIL
    assert f"b: queue {min(other, BY_THREE[dscp])} got " in verdict.because
    assert f"as DSCP {dscp} in queue {other} would be" in verdict.because


@pytest.mark.parametrize("wrong", [{24: 2, 26: 2, 23: 3}, {0: 1, 1: 1}, {24: 5, 40: 3}])
def test_dscps_of_another_sender_that_change_places_have_other_sums(wrong):
    """By the numbers 1 to 64, a {24, 26} for {23, 27} was right, and 0 and 1 were called 2."""
    mapped = tuple(wrong.get(dscp, queue) for dscp, queue in enumerate(BY_THREE))
    verdict = classified((*sent(BY_THREE), all_at_once(mapped)), BY_THREE)
    assert verdict.outcome is Outcome.FAIL
    assert "would be" not in verdict.because


def test_a_port_that_ignores_dscp_gives_its_sums():
    verdict = classified((*sent(BY_THREE), all_at_once((0,) * 64)), BY_THREE)
    assert verdict.outcome is Outcome.FAIL
    own = sum(NUMBERS[:8]), sum(NUMBERS[8:16])
    said = f"b: queue 0 got {sum(NUMBERS)} of {own[0]} packets, queue 1 got 0 of {own[1]} packets"
    assert said in verdict.because


BY_TOS = {184: 5, 96: 3}
SENT = {"a": 9000, "b": 5000}


def roce(came, **grown):
    """Of a, in the class of queue 5, and of b, in that of 3. `came`: what each queue got."""
    counters = {("sw", "p3", "queue", queue, c.QUEUE_DROPPED_PACKETS): 0 for queue in (0, 3, 5)}
    for queue in (0, 3, 5):
        counters["sw", "p3", "queue", queue, c.QUEUE_FORWARDED_PACKETS] = came.get(queue, 0)
    for host, priority in (("a", 5), ("b", 3)):
        counters[host, "eth0", "priority", priority, c.TX_PACKETS] = SENT[host]
        counters["r", "eth0", "priority", priority, c.RX_PACKETS] = SENT[host]
    counters |= grown
    own = {key: number for key, number in counters.items() if number is not None}
    flows = (replace(queue_pair("a"), tos=184), replace(queue_pair("b"), tos=96))
    return evidence(own, (replace(place("a"), priority=5, queue=5), place("b")), flows)


def test_each_class_of_roce_through_its_queue():
    verdict = in_their_queues(roce({5: 9000, 3: 5000, 0: 12}), BY_TOS)
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "14000 packets went through queues 3 and 5, each class in its own" in verdict.because


@pytest.mark.parametrize(
    ("came", "whose", "where"),
    [
        (
            {3: 9000, 5: 5000},
            "queue 5 of sw p3 got 4000 packets fewer than a (at",
            "queue 3 got 4000",
        ),
        ({3: 14000}, "got 9000 packets fewer than a (at sw p1) sent", "queue 3 got 9000 more"),
        (
            {5: 9000, 0: 5012},
            "queue 3 of sw p3 got 5000 packets fewer than b (at",
            "queue 0 got 5012",
        ),
    ],
)
def test_a_class_that_goes_through_another_queue_is_named_with_its_port(came, whose, where):
    verdict = in_their_queues(roce(came), BY_TOS)
    assert verdict.outcome is Outcome.FAIL, verdict.because
    assert whose in verdict.because
    assert where in verdict.because


@pytest.mark.parametrize("came", [{5: 8999, 3: 5000}, {5: 9000, 3: 5001}, {5: 9000}])
def test_packets_in_no_queue_or_too_many_leave_it_open(came):
    assert in_their_queues(roce(came), BY_TOS).outcome is Outcome.INCONCLUSIVE


def test_nothing_is_said_of_classes_that_nobody_counts():
    seen = roce({5: 9000, 3: 5000})
    untold = tuple(r for r in seen.after if r.key[-1] != c.TX_PACKETS)
    assert in_their_queues(replace(seen, after=untold), BY_TOS).outcome is Outcome.INCONCLUSIVE
    assert in_their_queues(seen, {184: 5}).outcome is Outcome.INCONCLUSIVE
