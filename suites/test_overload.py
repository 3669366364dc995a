"""Queues overloaded one by one: drops are exactly there, and every packet is accounted for.

Two senders offer one queue more than the line together, and one of them another queue far less
than its share, so that only the scheduler stands between the two. A socket that is too small loses
datagrams too: in the host.
"""

import pytest

from labtests.experiment import Class
from labtests.verdicts import drops_exactly_in, every_packet, lost_at_the_socket

EARLY, LATE = 0x60, 0xA0  # DSCP 24 and 40
OVER, UNDER, CALM = 0.75, 0.15, 0.2  # of line rate, each sender
SMALL_BYTES = 4096


def over(tos):
    """Two senders, one class: half as much again as the line."""
    return (Class(tos=tos, offered_share=OVER),) * 2


@pytest.mark.requires("queue_counters", "scheduling_for")
def test_drops_are_in_the_overloaded_queue_only(incast):
    """An overloaded queue drops, the others do not; every packet is accounted for."""
    incast.trust_dscp()
    incast.serve_equally()
    early, late = (incast.queue_of(tos) for tos in (EARLY, LATE))

    incast.control(
        f"queue {late} overloaded",
        incast.loads(*over(LATE), Class(tos=EARLY, offered_share=UNDER)),
        red=lambda seen: (drops_exactly_in(seen, {early}, alive_in=(seen,)),),
    )

    traffic = incast.loads(*over(EARLY), Class(tos=LATE, offered_share=UNDER))
    seen = incast.run(f"queue {early} overloaded", traffic)
    incast.judge(
        drops_exactly_in(seen, {early}, alive_in=incast.controls),
        every_packet(seen),
    )


@pytest.mark.requires("queue_counters", "host_counters")
def test_a_small_socket_loses_in_the_host_not_in_the_switch(incast):
    """What a host loses at its socket is the host's loss, by its own counter."""
    incast.trust_dscp()
    incast.control(
        "both queues overloaded",
        incast.loads(*(Class(tos=tos, offered_share=OVER) for tos in (EARLY, LATE))),
        red=lambda seen: (lost_at_the_socket(seen, alive_in=(seen,)),),
    )

    traffic = incast.loads(
        *(Class(tos=tos, offered_share=CALM, window_bytes=SMALL_BYTES) for tos in (EARLY, LATE))
    )
    seen = incast.run(f"sockets of {SMALL_BYTES} bytes", traffic)
    incast.judge(lost_at_the_socket(seen, alive_in=incast.controls), every_packet(seen))
