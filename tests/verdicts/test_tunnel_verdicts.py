"""Do DSCP and ECN survive VXLAN: what proves it, and what each loss looks like."""

from dataclasses import replace

import pytest
from handmade_rdma import evidence, flow, place

from labtests.capabilities import counters as c
from labtests.verdicts import Outcome, came_out_marked, kept_its_class

SENT = 5000
OUT, HOST = ("sw", "p3"), ("r", "", "host", -1)
TOS = {98: 3, 162: 5}
ECT, CE = (*HOST, c.IP_IN_ECT0_PACKETS), (*HOST, c.IP_IN_CE_PACKETS)
MARKED = (*OUT, "port", -1, c.ECN_MARKED_PACKETS)


def left_by(queue, counter=c.QUEUE_FORWARDED_PACKETS):
    return (*OUT, "queue", queue, counter)


def tunnelled(grown=(), tos=(98, 162)):
    """Two flows of 5000 datagrams each, and TCP of which 900 packets were marked."""
    counters = {left_by(3): SENT, left_by(5): SENT, left_by(0): 40}
    counters |= {left_by(queue, c.QUEUE_DROPPED_PACKETS): 0 for queue in (0, 3, 5)}
    counters |= {ECT: 4 * SENT + 2, CE: 1800, MARKED: 900} | dict(grown)
    seen = evidence(
        {key: number for key, number in counters.items() if number is not None},
        (place("a"), place("b", 5)),
        tuple(
            replace(flow(name, tool="iperf3"), tos=each)
            for name, each in zip("ab", tos, strict=True)
        ),
    )
    told = {"sent_datagrams": SENT, "received_datagrams": SENT, "iterations": None}
    return replace(seen, flows=tuple(replace(each, **told) for each in seen.flows))


def test_each_class_in_its_queue_and_capable_on_both_sides():
    verdict = kept_its_class(tunnelled(), TOS)
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "10000 datagrams in tunnels went through queues 3 and 5" in verdict.because


def test_outer_headers_without_dscp_are_a_fail_that_names_the_queue_they_took():
    lost = {left_by(3): 0, left_by(5): 0, left_by(0): 2 * SENT + 40}
    verdict = kept_its_class(tunnelled(lost), TOS)
    assert verdict.outcome is Outcome.FAIL
    assert "sw p3 queue 0 forwarded_packets grew by 10040" in verdict.because
    assert verdict.because.startswith("a eth0: outer headers have another DSCP: sw p3 queue 3")
    assert "; b eth0: outer headers have another DSCP: sw p3 queue 5" in verdict.because


def test_of_several_senders_the_one_whose_nic_sent_less_of_the_class_is_named():
    lost = {left_by(3): SENT, left_by(5): SENT, left_by(0): SENT + 40, ECT: 6 * SENT}
    nics = {("a", "eth0", "priority", 3, c.TX_PACKETS): 0}
    nics[("b", "eth0", "priority", 3, c.TX_PACKETS)] = SENT
    seen = tunnelled(lost | nics, tos=(98, 98))
    third = replace(seen.flows[0], sender="c", tos=162)
    seen = replace(seen, senders=(*seen.senders, replace(place("b", 5), device="c")))
    verdict = kept_its_class(replace(seen, flows=(*seen.flows, third)), TOS)
    assert verdict.outcome is Outcome.FAIL, verdict.because
    assert verdict.because.startswith("a eth0: outer headers have another DSCP: sw p3 queue 3")


@pytest.mark.parametrize("got", [SENT - 11, SENT + 1, 0])
def test_datagrams_that_do_not_come_out_leave_it_open(got):
    seen = tunnelled()
    one, other = seen.flows
    seen = replace(seen, flows=(replace(one, received_datagrams=got), other))
    assert kept_its_class(seen, TOS).outcome is Outcome.INCONCLUSIVE


def test_what_a_socket_held_unread_when_its_tool_closed_it_leaves_nothing_open():
    seen = tunnelled()
    one, other = seen.flows
    unread = {"received_datagrams": SENT - 12, "receive_buffer_bytes": 212_992}
    seen = replace(seen, flows=(replace(one, sent_bytes=SENT * 1400, **unread), other))
    assert kept_its_class(seen, TOS).outcome is Outcome.PASS


def test_a_drop_below_the_line_is_no_pass():
    dropped = {left_by(3): SENT - 1, left_by(3, c.QUEUE_DROPPED_PACKETS): 1}
    assert kept_its_class(tunnelled(dropped), TOS).outcome is Outcome.INCONCLUSIVE


def test_two_classes_swapped_are_no_pass():
    """Each queue has as many packets; told apart by their number."""
    seen = tunnelled({left_by(3): 2 * SENT, left_by(5): 0})
    assert kept_its_class(seen, TOS).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("ect", [2 * SENT, 1, 4 * SENT - 11])
def test_datagrams_that_are_not_capable_outside_and_inside_are_a_fail(ect):
    verdict = kept_its_class(tunnelled({ECT: ect}), TOS)
    assert verdict.outcome is Outcome.FAIL
    assert f"r ip_in_ect0_packets grew by {ect} where 10000 ECN-capable" in verdict.because


@pytest.mark.parametrize("key", [left_by(3), left_by(5, c.QUEUE_DROPPED_PACKETS), ECT])
def test_a_counter_of_tunnels_that_is_missing_is_no_zero(key):
    assert kept_its_class(tunnelled({key: None}), TOS).outcome is Outcome.INCONCLUSIVE


def test_some_packets_missing_that_no_other_queue_has_are_not_blamed_on_tunnels():
    assert kept_its_class(tunnelled({left_by(3): 4000}), TOS).outcome is Outcome.INCONCLUSIVE


def test_no_datagram_of_a_class_proves_nothing_of_it():
    assert kept_its_class(tunnelled(tos=(98, 98)), TOS).outcome is Outcome.INCONCLUSIVE
    assert kept_its_class(tunnelled(tos=(0, 0)), TOS).outcome is Outcome.INCONCLUSIVE


def test_marks_that_come_out_are_counted_twice():
    verdict = came_out_marked(tunnelled())
    assert verdict.outcome is Outcome.PASS
    assert "900 packets were marked outside, and as many were inside" in verdict.because


@pytest.mark.parametrize("seen", [900, 1])
def test_marks_that_are_lost_on_the_way_out_are_a_fail_of_the_receiver(seen):
    verdict = came_out_marked(tunnelled({CE: seen}))
    assert verdict.outcome is Outcome.FAIL
    assert f"r ip_in_ce_packets grew by {seen} where 900 packets were marked" in verdict.because


def test_a_counter_of_headers_that_stands_still_blames_nobody():
    for verdict in (kept_its_class(tunnelled({ECT: 0}), TOS), came_out_marked(tunnelled({CE: 0}))):
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert "or the counter stands still" in verdict.because


@pytest.mark.parametrize("grown", [{MARKED: 50}, {MARKED: None}, {CE: None}, {CE: 3000}])
def test_few_marks_or_more_than_there_can_be_prove_nothing(grown):
    assert came_out_marked(tunnelled(grown)).outcome is Outcome.INCONCLUSIVE
