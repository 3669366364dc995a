"""Datagrams that came when the tool had stopped to read: bounded by what its socket can hold, and
by the receiver's own count of those for which nobody listened any more.

Seen with iperf3 3.12 on Linux 6 behind a queue of 1 MB at 150 % of its rate: 47 and 174 datagrams
of 1472 B after the end, NoPorts +20 and +143; sockets of 212992 and 800000 B held the rest. With
65 500 B: 3 after the end, NoPorts +3.
"""

from dataclasses import replace

import pytest
from handmade_loads import TAIL, load
from test_controls_and_filters import delivered
from test_mutations import S1, with_bytes
from test_pauses_and_cnps import grown
from test_sound import with_counter

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import Outcome, datagrams, every_packet, lossless, sound

DATAGRAM_BYTES = 1472


def ended_early(by: int, *, socket_bytes: int | None = None, no_ports: int | None = 0) -> Evidence:
    """The tools of one queue got so many datagrams less than came, all of them at the end."""
    seen = load()
    early, late = seen.flows
    late = replace(
        late,
        received_datagrams=late.sent_datagrams - by,
        sent_bytes=DATAGRAM_BYTES * late.sent_datagrams,
        receive_buffer_bytes=socket_bytes,
    )
    read = {r.key: r.value - by + TAIL for r in seen.after if r.counter == c.UDP_IN_DATAGRAMS}
    after = tuple(replace(r, value=read.get(r.key, r.value)) for r in seen.after)
    seen = replace(seen, flows=(early, late), after=after)
    if no_ports is None:
        return seen
    return with_counter(seen, ("r", ""), c.UDP_NO_PORTS, no_ports, "host")


@pytest.mark.parametrize(
    ("by", "socket_bytes", "no_ports", "outcome"),
    [
        (47, 212_992, 20, Outcome.PASS),
        (174, 800_000, 143, Outcome.PASS),
        (3_400, 212_992, 3_300, Outcome.PASS),
        (3_400, 212_992, 0, Outcome.INCONCLUSIVE),  # less than 5 % of 70 000
        (104, 212_992, 0, Outcome.PASS),
        (105, 212_992, 0, Outcome.INCONCLUSIVE),  # 2048 bytes of a socket each
        (10, None, None, Outcome.PASS),
        (11, None, None, Outcome.INCONCLUSIVE),
    ],
)
def test_the_end_of_a_flow_is_found_in_number(by, socket_bytes, no_ports, outcome):
    seen = ended_early(by, socket_bytes=socket_bytes, no_ports=no_ports)
    assert every_packet(seen).outcome is outcome
    found = list(datagrams.datagrams_accounted(seen))
    assert all(f.outcome is Outcome.PASS for f in found) == (outcome is Outcome.PASS)


def test_what_is_gone_of_two_flows_is_not_excused_twice():
    seen = ended_early(1000, no_ports=1000)
    early, late = seen.flows
    both = replace(early, received_datagrams=early.sent_datagrams - 1000)
    (said,) = (
        f.because
        for f in datagrams.datagrams_accounted(replace(seen, flows=(both, late)))
        if f.because
    )
    assert "1980 datagrams were lost on the way to r, 1980 of them after the last one" in said
    assert "no counter says where 980 of them were (udp_no_ports +1000)" in said


def test_the_tail_of_long_datagrams_is_as_few_as_a_socket_holds(good: Evidence, control):
    def judged(by: int) -> Outcome:
        early, late = (
            replace(
                flow,
                sent_datagrams=40_000,
                received_datagrams=40_000 - by,
                sent_bytes=40_000 * 65_500,
                receive_buffer_bytes=4_194_304,
                offered_bits_per_s=None,
            )
            for flow in good.flows
        )
        return lossless(replace(good, flows=(early, late)), {3, 5}, controls=(control,)).outcome

    assert judged(64) is Outcome.PASS
    assert judged(65) is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("received", [-2_900, None], ids=["fewer", "unknown"])
def test_what_one_class_lost_at_its_socket_is_no_excuse_for_another(received):
    """Both lost 60 000 at their sockets, by one counter for the host; one of them misses more."""
    seen = load(in_socket=120_000)
    assert every_packet(seen).outcome is Outcome.PASS
    early, late = seen.flows
    got = None if received is None else early.received_datagrams + received
    fewer = replace(seen, flows=(replace(early, received_datagrams=got), late))
    assert every_packet(fewer).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("told", [True, False], ids=["told", "the tail"])
@pytest.mark.parametrize("counter", [c.IP_REASM_FAILS, c.IP_IN_DISCARDS])
def test_what_was_delivered_to_udp_was_not_lost_below_it(counter, told):
    """450 datagrams of one packet are gone between UDP and the tool, and the host counts as many of
    somebody else's that could not be put together, or were discarded."""
    seen = delivered(with_bytes(load()), 0)
    assert every_packet(seen).outcome is Outcome.PASS, every_packet(seen).because
    early, late = seen.flows
    late = replace(late, received_datagrams=late.received_datagrams - 450)
    late = replace(late, lost_datagrams=late.lost_datagrams + 450 * told)
    verdict = every_packet(
        grown(replace(seen, flows=(early, late)), ("r", ""), counter, 450, "host")
    )
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because


@pytest.mark.parametrize("counter", [c.IP_IN_DISCARDS, c.UDP_IN_ERRORS, c.UDP_NO_PORTS])
def test_what_the_receiver_lost_of_datagrams_of_one_packet_is_excused(counter):
    below = counter == c.IP_IN_DISCARDS
    seen = delivered(with_bytes(load()), 450 * below)
    early, late = seen.flows
    lost = late.lost_datagrams + 450
    late = replace(late, received_datagrams=late.received_datagrams - 450, lost_datagrams=lost)
    seen = grown(replace(seen, flows=(early, late)), ("r", ""), counter, 450, "host")
    assert every_packet(seen).outcome is Outcome.PASS, every_packet(seen).because


LONG, OF_PACKETS = 40_000, 45  # datagrams of 65 500 bytes at an MTU of 1500


def of_long_datagrams(*, less: int = 0, refused: int = 0, mtu_bytes: int = 1500) -> Evidence:
    """S1; the NIC of a sent so many packets less than its tool handed over."""
    seen = grown(S1, ("a", ""), c.UDP_SNDBUF_ERRORS, refused, "host")
    each = OF_PACKETS if mtu_bytes == 1500 else 8
    for nic, priority in (("a", 3), ("b", 5)):
        gone = less if nic == "a" else 0
        sent = each * LONG - gone
        seen = grown(seen, (nic, "eth0"), c.TX_PACKETS, sent, "priority", priority)
        seen = grown(seen, ("r", "eth0"), c.RX_PACKETS, sent, "priority", priority)
        seen = grown(seen, ("sw", "p3"), c.QUEUE_FORWARDED_PACKETS, sent, "queue", priority)
    flows = tuple(
        replace(
            flow,
            sent_datagrams=LONG,
            received_datagrams=LONG - (less // each if flow.sender == "a" else 0),
            sent_bytes=LONG * 65_500,
            receive_buffer_bytes=4_194_304,
            offered_bits_per_s=None,
        )
        for flow in seen.flows
    )
    return replace(seen, flows=flows, mtu_bytes=1500)


@pytest.mark.parametrize("lost", [1, 10])
def test_the_end_of_a_flow_is_no_place_for_a_sender_to_lose_anything(lost):
    verdict = sound(of_long_datagrams(less=OF_PACKETS * lost))
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert f"a report {LONG} datagrams sent, of {OF_PACKETS} packets each" in verdict.because
    assert f"{OF_PACKETS * lost} packets were lost inside a" in verdict.because


@pytest.mark.parametrize(
    "seen",
    [
        of_long_datagrams(),
        of_long_datagrams(less=450, refused=10),
        of_long_datagrams(mtu_bytes=9000),
    ],
    ids=["all sent", "refused and counted", "a larger MTU of its own"],
)
def test_what_a_sender_sent_or_counted_as_lost_is_no_loss_of_its_nic(seen):
    assert sound(seen).outcome is Outcome.PASS, sound(seen).because
