"""Queues overloaded one by one: drops are exactly there, and every packet is accounted for.

Two senders offer one queue more than the line together, and one of them another queue far less
than its share, so that only the scheduler stands between the two. A socket that is too small loses
datagrams too: in the host.
"""

import pytest

from labtests.verdicts import drops_exactly_in, every_packet, lost_at_the_socket

DSCPS = 24, 40  # or others, where these have no queues of their own
OVER, UNDER, CALM = 0.75, 0.15, 0.2  # of line rate, each sender
SMALL_BYTES = 4096


def over(traffic):
    """Two senders, one class: 150 % of line rate."""
    return (traffic.offering(OVER),) * 2


@pytest.mark.requires("queue_counters", "scheduling_for")
@pytest.mark.covers("A8")
def test_drops_are_in_the_overloaded_queue_only(incast):
    """An overloaded queue drops, the others do not; every packet is accounted for."""
    incast.trust_dscp()
    incast.plain_queues()
    incast.serve_equally()
    first, second = incast.classes(*DSCPS)
    early, late = incast.queue_of(first), incast.queue_of(second)

    incast.control(
        f"queue {late} overloaded",
        incast.loads(*over(second), first.offering(UNDER)),
        red=lambda seen: (drops_exactly_in(seen, {early}, controls=(seen,)),),
        because=(f"queue {late} dropped_packets grew by",),
    )

    traffic = incast.loads(*over(first), second.offering(UNDER))
    seen = incast.run(f"queue {early} overloaded", traffic)
    incast.judge(
        drops_exactly_in(seen, {early}, controls=incast.controls),
        every_packet(seen),
    )


@pytest.mark.requires("queue_counters", "host_counters")
def test_a_small_socket_loses_in_the_host_not_in_the_switch(incast):
    """What a host loses at its socket is the host's loss, by its own counter."""
    incast.trust_dscp()
    incast.plain_queues()
    classes = incast.classes(*DSCPS)
    incast.serve_alike({incast.queue_of(each) for each in classes})
    calm = incast.loads(*(each.offering(CALM, window_bytes=SMALL_BYTES) for each in classes))
    incast.control(
        "both queues overloaded",
        incast.loads(*(each.offering(OVER) for each in classes)),
        red=lambda seen: (lost_at_the_socket(seen, controls=(seen,)),),
        because=("dropped_packets grew by",),
    )

    seen = incast.run(f"sockets of {SMALL_BYTES} bytes", calm)
    incast.judge(lost_at_the_socket(seen, controls=incast.controls), every_packet(seen))
