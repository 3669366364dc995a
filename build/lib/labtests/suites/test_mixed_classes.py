"""A lossless class beside a lossy one, both congested at once: who shares a switch's memory.

each sender --+-- switch -- receiver     each sends both classes, together more than the line
...         --'

What the lossy class queues up must not take the memory that holds the lossless one (S22).
"""

import pytest

from labtests.verdicts import drops_exactly_in, lossless

DSCPS = 24, 40  # or others, where these have no queues of their own
SHARE = 0.45  # of line rate, each class of two senders: 180 % in all


@pytest.mark.requires(
    hosts=("pfc", "trust"),
    switches=("pfc", "trust", "pfc_counters", "queue_counters", "scheduling_for"),
)
@pytest.mark.covers("A9")
def test_a_lossy_class_takes_no_memory_from_a_lossless_one(incast):
    """A lossless class beside a lossy one, both congested: only the lossy one drops."""
    incast.trust_dscp()
    incast.plain_queues()
    incast.serve_equally()
    held, lossy = incast.classes(*DSCPS, paused=True)
    held_queue, lossy_queue = incast.queue_of(held), incast.queue_of(lossy)
    traffic = incast.loads(*(held.offering(SHARE),) * 2, *(lossy.offering(SHARE),) * 2)

    incast.control(
        "PFC off",
        traffic,
        red=lambda seen: (
            lossless(seen, {held_queue}, controls=(seen,)),
            drops_exactly_in(seen, {lossy_queue}, controls=(seen,)),
        ),
        because=(f"queue {held_queue} dropped_packets grew by",) * 2,
    )

    incast.lossless_on_the_way(incast.priority_of(held))
    seen = incast.run("PFC of the lossless class", traffic)
    incast.judge(
        lossless(seen, {held_queue}, controls=incast.controls),
        drops_exactly_in(seen, {lossy_queue}, controls=incast.controls),
    )
