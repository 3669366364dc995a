"""What a third outside reader made green although it was wrong, or red although nothing was."""

from dataclasses import replace

import pytest
from handmade import good_evidence
from handmade_loads import load
from test_counters_of_the_end import notified
from test_sound import R_NIC, with_counter

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import Outcome, cnps, no_loss, out_of_balance, sound, witnesses
from labtests.verdicts.outcome import worst

A_NIC, B_NIC, A_PORT, OUT = ("a", "eth0"), ("b", "eth0"), ("sw", "p1"), ("sw", "p3")


@pytest.fixture
def whole() -> Evidence:
    """Sound, with acknowledgements that go back from the receiver to both senders."""
    seen = good_evidence()
    for nic in (A_NIC, B_NIC, R_NIC):
        seen = with_counter(seen, nic, c.NIC_RX_DISCARDED_PACKETS, 0)
    seen = with_counter(seen, R_NIC, c.TX_PACKETS, 4000, "priority", 3)
    seen = with_counter(seen, OUT, c.RX_PACKETS, 4000)
    for nic, port in ((A_NIC, A_PORT), (B_NIC, ("sw", "p2"))):
        seen = with_counter(seen, port, c.QUEUE_FORWARDED_PACKETS, 2000, "queue", 3)
        seen = with_counter(seen, nic, c.RX_PACKETS, 2000, "priority", 3)
    return seen


def fewer(seen: Evidence, lost: int, *key) -> Evidence:
    after = tuple(replace(r, value=r.value - lost) if r.key == key else r for r in seen.after)
    assert after != seen.after
    return replace(seen, after=after)


@pytest.mark.parametrize(
    ("key", "cable"),
    [
        ((*OUT, "port", -1, c.RX_PACKETS), "left r eth0 and 3980 came to sw p3"),
        ((*A_NIC, "priority", 3, c.RX_PACKETS), "left sw p1 and 1980 came to a eth0"),
    ],
)
def test_what_is_lost_on_the_way_back_names_its_cable(whole, key, cable):
    assert sound(whole).outcome is Outcome.PASS, sound(whole).because
    verdict = sound(fewer(whole, 20, *key))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert cable in verdict.because


def test_what_others_send_back_meanwhile_is_no_loss(whole):
    """Between the reads of two devices passes what passed in the quiet window, at most."""
    busy = tuple(
        replace(r, value=r.value - 400) if r.key == (*R_NIC, "priority", 3, c.TX_PACKETS) else r
        for r in whole.quiet_before
    )
    assert busy != whole.quiet_before
    late = replace(fewer(whole, 20, *OUT, "port", -1, c.RX_PACKETS), quiet_before=busy)
    assert sound(late).outcome is Outcome.PASS, sound(late).because


def test_counters_that_may_be_late_are_named(whole):
    assert out_of_balance(whole) == ()
    (said,) = out_of_balance(fewer(whole, 4000, *OUT, "port", -1, c.RX_PACKETS))
    assert "left r eth0 and 0 came to sw p3" in said
    port = with_counter(whole, OUT, c.BUFFER_DROPPED_OUT_PACKETS, 812_990)
    assert any("buffer_dropped_out" in sentence for sentence in out_of_balance(port))


def test_cnps_that_are_lost_on_the_way_back_have_no_other_dscp():
    seen = notified(good_evidence(), sent=14_809, came=14_607)
    found = list(cnps.in_their_class(seen))
    assert worst(finding.outcome for finding in found) is Outcome.INCONCLUSIVE
    assert any("202 of them were lost on the way back" in finding.because for finding in found)


def test_checksums_of_another_protocol_accuse_no_memory(whole):
    management = with_counter(whole, ("r", ""), c.TCP_IN_CSUM_ERRORS, 1, "host")
    assert sound(management).outcome is Outcome.PASS
    ours = with_counter(whole, ("r", ""), c.UDP_IN_CSUM_ERRORS, 1, "host")
    assert sound(ours).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("account", "says"),
    [
        ({"sent_datagrams": None, "lost_datagrams": 1000}, "did not report how many datagrams it"),
        ({"sent_datagrams": 50}, "got 100 datagrams and misses 0, and a sent 50"),
    ],
)
def test_a_tool_whose_account_does_not_add_up_proves_nothing(whole, account, says):
    first, *others = whole.flows
    odd = replace(whole, flows=(replace(first, **account), *others))
    found = list(witnesses.datagrams_accounted(odd))
    assert worst(finding.outcome for finding in found) is Outcome.INCONCLUSIVE
    assert any(says in finding.because for finding in found)


def test_counters_that_went_on_are_named(whole):
    moving = replace(whole, settled=False, restless="sw p1 queue 3 forwarded_packets")
    said = sound(moving).because
    assert "had not settled when they were read: sw p1 queue 3 forwarded_packets" in said


def test_a_drop_is_a_drop_unless_the_load_was_another_one():
    dropped = load(dropped=(40, 0))
    assert no_loss(dropped).outcome is Outcome.FAIL
    assert no_loss(replace(dropped, settled=False)).outcome is Outcome.FAIL
    early, late = dropped.flows
    burst = replace(early, offered_bits_per_s=2 * early.offered_bits_per_s)
    verdict = no_loss(replace(dropped, flows=(burst, late)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "not at this load, since a sender did not send steadily" in verdict.because
