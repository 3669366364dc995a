"""Datagrams that came when the tool had stopped to read: bounded by what its socket can hold, and
by the receiver's own count of those for which nobody listened any more.

Seen with iperf3 3.12 on Linux 6 behind a queue of 1 MB at 150 % of its rate: 47 and 174 datagrams
of 1472 B after the end, NoPorts +20 and +143; sockets of 212992 and 800000 B held the rest. With
65 500 B: 3 after the end, NoPorts +3.
"""

from dataclasses import replace

import pytest
from handmade_loads import TAIL, load
from test_sound import with_counter

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import Outcome, every_packet, lossless, witnesses

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
    found = list(witnesses.datagrams_accounted(seen))
    assert all(f.outcome is Outcome.PASS for f in found) == (outcome is Outcome.PASS)


def test_what_is_gone_of_two_flows_is_not_excused_twice():
    seen = ended_early(1000, no_ports=1000)
    early, late = seen.flows
    both = replace(early, received_datagrams=early.sent_datagrams - 1000)
    (said,) = (
        f.because
        for f in witnesses.datagrams_accounted(replace(seen, flows=(both, late)))
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
