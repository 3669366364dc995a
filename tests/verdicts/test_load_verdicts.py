"""Loads of known rates: green on good evidence, red in the control, never green with a hole."""

from dataclasses import replace

import pytest
from handmade import with_a_hole
from handmade_loads import SENT, load
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sound import with_counter

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowStatus
from labtests.verdicts import (
    Outcome,
    drops_exactly_in,
    every_packet,
    goodput,
    lossless,
    lost_at_the_socket,
    no_loss,
)

HOSTS = pytest.mark.parametrize("classes", [True, False], ids=["priorities", "plain"])
OVER = {classes: load(dropped=(40_000, 20_000), classes=classes) for classes in (True, False)}


def grown(evidence, where, by, side="after"):
    """One counter grew by so much more."""
    found = getattr(evidence, side)
    assert any(r.key == where for r in found)
    return replace(
        evidence,
        **{side: tuple(replace(r, value=r.value + by) if r.key == where else r for r in found)},
    )


def queue(number, counter):
    return ("sw", "p3", "queue", number, counter)


def host(device, counter):
    return (device, "", "host", -1, counter)


@HOSTS
def test_below_the_bottleneck_nothing_is_lost_and_lossless_stays_unproven(classes):
    calm = load(classes=classes)
    verdict = no_loss(calm, controls=(OVER[classes],))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert f"0 of {sum(SENT.values())} packets" in verdict.because
    claim = lossless(calm, calm.queues, controls=(OVER[classes],))
    assert claim.outcome is Outcome.INCONCLUSIVE
    assert "congestion not proven" in claim.because


@HOSTS
def test_the_overload_is_the_control_of_no_loss(classes):
    assert no_loss(OVER[classes], controls=(OVER[classes],)).outcome is Outcome.FAIL


def test_one_drop_in_a_queue_without_load_fails():
    one = grown(load(), queue(6, c.QUEUE_DROPPED_PACKETS), 1)
    assert no_loss(one, controls=(OVER[True],)).outcome is Outcome.FAIL
    over = grown(load(dropped=(500, 0)), queue(6, c.QUEUE_DROPPED_PACKETS), 1)
    verdict = drops_exactly_in(over, {3}, controls=(OVER[True],))
    assert verdict.outcome is Outcome.FAIL
    assert "queue 6" in verdict.because


def test_without_the_control_no_counter_is_alive():
    verdict = no_loss(load())
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "drop counter is unproven" in verdict.because


@HOSTS
def test_drops_in_exactly_the_loaded_queue(classes):
    over = load(dropped=(500, 0), classes=classes)
    alive = (OVER[classes],)
    assert drops_exactly_in(over, {3}, controls=alive).outcome is Outcome.PASS
    assert drops_exactly_in(over, {5}, controls=alive).outcome is Outcome.FAIL
    assert drops_exactly_in(OVER[classes], {3}, controls=alive).outcome is Outcome.FAIL
    assert drops_exactly_in(over, {3}).outcome is Outcome.INCONCLUSIVE
    assert drops_exactly_in(over, set(), controls=alive).outcome is not Outcome.PASS


@HOSTS
def test_every_packet_is_accounted_for_under_overload(classes):
    verdict = every_packet(OVER[classes])
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "queue 3: sent 90000 = forwarded 50000 + dropped 40000" in verdict.because


@HOSTS
@given(by=st.integers(min_value=1, max_value=10**6), data=st.data())
@settings(max_examples=20)
def test_a_single_packet_that_no_witness_has_is_named(classes, by, data):
    """The queue counts more than anybody sent, or less than anybody sent."""
    counter = data.draw(st.sampled_from([c.QUEUE_DROPPED_PACKETS, c.QUEUE_FORWARDED_PACKETS]))
    at = queue(data.draw(st.sampled_from([3, 5])), counter)
    side = data.draw(st.sampled_from(["after", "before"]))
    seen = grown(OVER[classes], at, by, side)
    if side == "before":  # and the quiet window is as quiet as ever
        seen = grown(seen, at, by, "quiet_before")
    verdict = every_packet(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    if side == "after":
        assert any("counters disagree" in said for said in verdict.disagreements)


@pytest.mark.parametrize(
    ("where", "by", "said"),
    [
        (host("a", c.UDP_OUT_DATAGRAMS), -2, "the IP stack counted 89999"),
        (host("r", c.UDP_IN_DATAGRAMS), -99_950, "the IP stack of r handed out 50"),
        (("a", "eth0", "port", -1, c.TX_PACKETS), -31, "its port counted 89999"),
        (("r", "eth0", "port", -1, c.RX_PACKETS), -1, "received by the NIC"),
    ],
)
def test_each_witness_can_disagree(where, by, said):
    verdict = every_packet(grown(OVER[False], where, by))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert said in verdict.disagreements[0]


def test_losses_that_no_counter_has_are_named():
    calm = load()
    early, late = calm.flows
    verdict = every_packet(replace(calm, flows=(replace(early, lost_datagrams=1), late)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no counter accounts for the rest" in verdict.because


@HOSTS
def test_a_full_socket_is_the_hosts_loss_and_named_so(classes):
    lost = load(in_socket=6000, classes=classes)
    verdict = lost_at_the_socket(lost, controls=(OVER[classes],))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "6000 datagrams lost at a full socket of r (RcvbufErrors)" in verdict.because
    assert no_loss(lost, controls=(OVER[classes],)).outcome is Outcome.PASS  # not the switch's


@HOSTS
def test_a_switch_is_innocent_only_by_counters_that_count(classes):
    verdict = lost_at_the_socket(load(in_socket=6000, classes=classes))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "drop counter is unproven" in verdict.because


@HOSTS
def test_loss_in_the_switch_is_not_the_hosts(classes):
    assert lost_at_the_socket(OVER[classes]).outcome is Outcome.FAIL
    assert lost_at_the_socket(load(classes=classes)).outcome is Outcome.INCONCLUSIVE
    both = load(dropped=(10, 0), in_socket=500, classes=classes)
    assert lost_at_the_socket(both).outcome is Outcome.FAIL


QUESTIONS = {
    "no loss": lambda seen, over: no_loss(seen, controls=(over,)),
    "drops": lambda seen, over: drops_exactly_in(seen, {3}, controls=(over,)),
    "packets": lambda seen, over: every_packet(seen),
    "socket": lambda seen, over: lost_at_the_socket(seen, controls=(over,)),
}
QUEUES = {c.QUEUE_DROPPED_PACKETS, c.QUEUE_FORWARDED_PACKETS}
COUNTED = QUEUES | {c.TX_PACKETS, c.RX_PACKETS, c.UDP_OUT_DATAGRAMS, c.UDP_IN_DATAGRAMS,
                    c.UDP_IN_ERRORS}  # fmt: skip
NEEDED = {
    "no loss": COUNTED,
    "drops": QUEUES,
    "packets": COUNTED,
    "socket": QUEUES | {c.UDP_RCVBUF_ERRORS, c.UDP_IN_ERRORS},
}


def good(question, classes):
    if question == "socket":
        return load(in_socket=6000, classes=classes)
    return load(dropped=(500, 0) if question == "drops" else (0, 0), classes=classes)


def in_need(question, reading):
    """Queues without load are asked for drops; one that is to drop need not forward."""
    if reading.counter not in NEEDED[question]:
        return False
    if reading.scope != "queue" or (question, reading.index) == ("socket", 3):
        return True
    if reading.counter == c.QUEUE_DROPPED_PACKETS:
        return question in ("no loss", "drops") or reading.index in SENT
    return reading.index in set(SENT) - ({3} if question == "drops" else set())


@pytest.mark.parametrize("question", QUESTIONS)
@HOSTS
@given(data=st.data())
@settings(max_examples=25)
def test_evidence_with_a_hole_is_never_green(question, classes, data):
    whole = good(question, classes)
    keys = sorted({r.key for r in whole.after if in_need(question, r)})
    verdict = QUESTIONS[question](with_a_hole(whole, keys, data.draw), OVER[classes])
    assert verdict.outcome is not Outcome.PASS


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_evidence_and_traffic_that_did_not_run_are_inconclusive(question):
    whole = good(question, True)
    empty = replace(whole, flows=(), before=(), after=(), quiet_before=(), settled=False)
    assert QUESTIONS[question](empty, OVER[True]).outcome is Outcome.INCONCLUSIVE
    early, late = whole.flows
    died = replace(early, status=FlowStatus.FAILED, because="killed")
    verdict = QUESTIONS[question](replace(whole, flows=(died, late)), OVER[True])
    assert verdict.outcome is Outcome.INCONCLUSIVE
    uncounted = replace(early, sent_datagrams=None, lost_datagrams=None)
    if question != "drops":
        seen = replace(whole, flows=(uncounted, late))
        assert QUESTIONS[question](seen, OVER[True]).outcome is Outcome.INCONCLUSIVE


def test_what_is_summed_over_all_queues_has_one_name():
    # eight queues, twice, were eighteen names in one sentence
    astray = grown(load(classes=False), ("r", "eth0", "port", -1, c.RX_PACKETS), -20)
    said = no_loss(astray, controls=(OVER[False],)).because
    assert "sw p3 queues 0 to 7 forwarded_packets = " in said
    assert "queue 1 " not in said


@pytest.mark.parametrize("share", [2.0, 0.5, 0.0], ids=["doubled", "halved", "frozen"])
def test_bytes_that_contradict_the_tools_are_no_load(share):
    """`0 packets dropped at 160 % of line rate` was a pass."""
    seen, at = load(), ("sw", "p3")
    told = round(goodput.of_all(seen) * 5 / 8)
    right = with_counter(seen, at, c.QUEUE_FORWARDED_BYTES, told, "queue", 3)
    assert no_loss(right, controls=(OVER[True],)).outcome is Outcome.PASS
    wrong = with_counter(seen, at, c.QUEUE_FORWARDED_BYTES, round(share * told), "queue", 3)
    verdict = no_loss(wrong, controls=(OVER[True],))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "of its line rate by its counters of bytes, and the tools report" in verdict.because
