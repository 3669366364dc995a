"""S2 and S8: the points of DCQCN by themselves. NP: CNPs are as far apart as the receiver's NIC
says. RP: a sender that marks have slowed has the rate that DCQCN's rule of alpha leaves it, and
speeds up again, as fast as its parameters say.

PFC is on the whole way, so that nothing is lost meanwhile.
"""

import pytest

from labtests.capabilities.settings import REACTION_POINT
from labtests.experiment import patterns
from labtests.verdicts import AlphaRule, ahead, follows_alpha, gets_less, recovered, spaced
from labtests.workloads import Iperf3, Perftest

DSCP = 24  # or another one, where this has no queue of its own
ECT = 2  # in the TOS byte: packets of the deaf sender are marked instead of dropped
OFFERED = 0.9  # of line rate
EVERY = frozenset(range(8))
NONE = frozenset[int]()
OFTEN_US, SELDOM_US = 1000, 4000  # between two CNPs of a flow, at least
SLOWER = {"increase_timer_us": 3000, "clamp_target_rate": 1}  # ten times as slow as usual
TWICE_US, OFTEN_UPDATED_US = 2000, 400  # between updates of alpha: it stays 1, or falls by half
RAISED_SHARE = 0.0015  # of the line, by each tick of the timer
STUCK = {**SLOWER, "increase_timer_us": 100_000, "byte_counter_bytes": 0}

by_dcqcn = pytest.mark.requires(
    hosts=(
        *("rdma_links", "pfc", "trust", "nic_counters", "dcqcn_rp", "dcqcn_np"),
        *("reaction_point", "notification_point"),
    ),
    switches=("pfc", "trust", "ecn", "pfc_counters", "queue_counters"),
)


def one_marked_class(incast):
    """A lossless class that the bottleneck marks; every sender slows down."""
    incast.trust_dscp()
    (marked,) = incast.classes(DSCP, paused=True, rdma=True)
    incast.plain_queues()
    incast.ecn_at_bottleneck(incast.marking(frozenset({incast.queue_of(marked)})))
    incast.dcqcn_everywhere(EVERY)
    incast.lossless_on_the_way(incast.priority_of(marked))
    return marked


@by_dcqcn
@pytest.mark.covers("E11")
def test_cnps_are_as_far_apart_as_the_receiver_says(incast):
    """NP: no more CNPs than one an interval and flow, in their own class, though all is marked."""
    marked = one_marked_class(incast)
    for sender in incast.senders:
        incast.set(sender.nic, REACTION_POINT, NONE)  # so that marks do not cease
    # many senders come in turns, each seldom: then CNPs are rare by themselves
    traffic = incast.flows(patterns.two_to_one, Perftest(tos=marked.tos))

    incast.space_cnps(OFTEN_US)
    often = incast.run(f"a CNP each {OFTEN_US} us", traffic)
    incast.must_be_red(spaced(often, interval_us=SELDOM_US), because="more than one each")

    incast.space_cnps(SELDOM_US)
    seldom = incast.run(f"a CNP each {SELDOM_US} us", traffic)
    incast.judge(spaced(often), spaced(seldom))


@by_dcqcn
def test_a_sender_speeds_up_again_when_marks_cease(incast):
    """RP: a sender that marks have slowed has its whole link again some time after the last one."""
    marked = one_marked_class(incast)
    offered = OFFERED * incast.traffic.roles.line_bits_per_s
    deaf = Iperf3(protocol="udp", tos=marked.tos | ECT, offered_bits_per_s=offered)
    traffic = incast.pressed(Perftest(tos=marked.tos), deaf)
    slowed = traffic[0].role

    with incast.lab.restoring():
        incast.reaction_point(slowed, **STUCK)
        incast.control(
            "next to no increase",
            traffic,
            red=lambda seen: (recovered(seen),),
            because=("its rate has not come back",),
        )

    incast.judge(recovered(incast.run("the usual increase", traffic)))


@by_dcqcn
def test_a_sender_that_speeds_up_more_slowly_gets_less(incast):
    """RP: of two senders, the one that had more gets less when its rate comes back more slowly."""
    marked = one_marked_class(incast)
    traffic = incast.flows(patterns.two_to_one, Perftest(tos=marked.tos))

    alike = incast.run("the same parameters", traffic)
    slower = next(each.role for each in traffic if each.role.name == ahead(alike))
    incast.must_be_red(gets_less(alike, slower.name), because="no fifth less")

    incast.reaction_point(slower, **SLOWER)
    incast.judge(gets_less(incast.run("one of them slower", traffic), slower.name))


@by_dcqcn
def test_a_rate_after_cnps_is_what_the_rule_of_alpha_leaves(incast):
    """RP: with a CNP a millisecond, a sender has the rate that the formula of alpha gives."""
    marked = one_marked_class(incast)
    traffic = incast.flows(patterns.two_to_one, Perftest(tos=marked.tos))
    slowed, deaf = (each.role for each in traffic)
    incast.set(deaf.nic, REACTION_POINT, NONE)  # it has the line, so that all is marked
    incast.space_cnps(OFTEN_US)
    raised = max(1, round(RAISED_SHARE * incast.traffic.roles.line_bits_per_s / 1e6))
    often, seldom = (
        AlphaRule(alpha_timer_us=us, increase_timer_us=300, additive_increase_mbit_per_s=raised)
        for us in (TWICE_US, OFTEN_UPDATED_US)
    )

    incast.reaction_point(slowed, **often.values)
    cut = incast.run("alpha is 1 at each CNP", traffic)

    incast.reaction_point(slowed, **seldom.values)
    less = incast.run("alpha falls between CNPs", traffic)
    incast.must_be_red(follows_alpha(less, often), because="it slows down less than its CNPs")
    incast.judge(follows_alpha(cut, often), follows_alpha(less, seldom))
