"""What a sending host lost itself: like is compared with like.

Seen with iperf3 3.12 on Linux 6 whose port had a tbf of 100 Mbit/s and 30 kB, asked for 150 Mbit/s.
Datagrams of 1472 B: 25465 told, UDP sent 16428 (the first one of a stream is not told), 9038
SndbufErrors, the port 16447 packets, TCP's among them. Of 65500 B: 573 told, all lost
(SndbufErrors, FragFails), though 15102 fragments left.
"""

from dataclasses import replace

import pytest
from handmade_loads import load
from test_losses_of_hosts_and_ports import less
from test_sound import with_counter

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import Outcome, datagrams, every_packet

LOST = 9_038
TCP = 19
"""Packets of the port that are none of UDP: they hide nothing."""


def in_the_stack(lost: int) -> Evidence:
    """A NIC without classes; the first sender's queue refused so many datagrams."""
    seen = load(classes=False)
    early, late = seen.flows
    told = replace(early, lost_datagrams=lost, received_datagrams=early.sent_datagrams - lost)
    seen = less(seen, lost, "a", "", "host", None, c.UDP_OUT_DATAGRAMS)
    seen = less(seen, lost - TCP, "a", "eth0", "port", None, c.TX_PACKETS)
    seen = less(seen, lost, "sw", "p3", "queue", 3, c.QUEUE_FORWARDED_PACKETS)
    seen = less(seen, lost, "r", "eth0", "port", None, c.RX_PACKETS)
    seen = less(seen, lost, "r", "", "host", None, c.UDP_IN_DATAGRAMS)
    seen = with_counter(seen, ("a", ""), c.UDP_SNDBUF_ERRORS, lost, "host")
    return replace(seen, flows=(told, late))


def test_what_udp_did_not_send_was_lost_in_the_host_whatever_else_left_its_port():
    lost = in_the_stack(LOST)
    assert datagrams.lost_by_hosts(lost) == LOST
    said = "; ".join(f.because for f in datagrams.datagrams_accounted(lost))
    assert said == ""
    assert not any("queue 3" in said for said in every_packet(lost).disagreements)


def test_what_udp_sent_was_not_lost_there_whatever_its_counters_say():
    sent = less(load(classes=False), LOST, "sw", "p3", "queue", 3, c.QUEUE_FORWARDED_PACKETS)
    sent = with_counter(sent, ("a", ""), c.UDP_SNDBUF_ERRORS, LOST, "host")
    assert datagrams.kept_inside(sent, "a") == 0
    assert every_packet(sent).outcome is Outcome.INCONCLUSIVE


def test_what_a_port_let_go_and_its_nic_did_not_send_was_lost_in_the_nic():
    seen = load(classes=False)
    started = {r.key: r.value for r in seen.before}
    grown = next(r.value - started[r.key] for r in seen.after if r.key[:3] == ("a", "eth0", "port"))
    queued = with_counter(seen, ("a", "eth0"), c.QDISC_SENT_PACKETS, grown, "port")
    assert datagrams.kept_inside(queued, "a") == 0
    short = less(queued, 500, "a", "eth0", "port", None, c.TX_PACKETS)
    assert 500 <= datagrams.kept_inside(short, "a") <= 510


@pytest.mark.parametrize(("left", "kept"), [(15_102, 10_683), (25_785, 0), (30_000, 0)])
def test_a_long_datagram_is_compared_with_all_of_its_packets(left, kept):
    seen = load()
    early, late = seen.flows
    long = replace(early, sent_datagrams=573, sent_bytes=573 * 65_500)
    key = ("a", "eth0", "priority", 3, c.TX_PACKETS)
    start = next(r.value for r in seen.before if r.key == key)
    after = tuple(replace(r, value=start + left) if r.key == key else r for r in seen.after)
    seen = replace(seen, flows=(long, late), after=after, mtu_bytes=1500)
    assert datagrams.kept_inside(seen, "a") == kept
    events = with_counter(seen, ("a", ""), c.UDP_SNDBUF_ERRORS, 573, "host")
    assert datagrams.lost_by_hosts(events) == min(573, kept)


@pytest.mark.parametrize("counter", [c.IP_FRAGMENT_FAILS, c.IP_OUT_NO_ROUTES])
def test_other_causes_of_a_datagram_that_never_left_are_witnesses_too(counter):
    lost = in_the_stack(LOST)
    after = tuple(r for r in lost.after if r.counter != c.UDP_SNDBUF_ERRORS)
    other = with_counter(replace(lost, after=after), ("a", ""), counter, LOST, "host")
    assert datagrams.lost_by_hosts(other) == LOST
