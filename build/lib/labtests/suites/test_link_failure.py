"""A link fails under a load of a lossless class, and comes back: where there is another way.

senders -- leaf --+-- spine --X-- leaf -- receiver
                  `-- spine -----'
"""

import pytest

from labtests.verdicts import healed, lossless

DSCP = 24  # or another one, where this has no queue of its own
BELOW, ABOVE = 0.6, 1.5  # of line rate, all senders together


@pytest.mark.requires(
    hosts=("pfc", "trust", "nic_counters"),
    switches=("pfc", "trust", "pfc_counters", "queue_counters", "port_state"),
)
def test_a_lossless_class_goes_on_when_a_link_fails(incast):
    """Link failure: traffic goes on by another way, soon, and PFC loses nothing after."""
    ways = incast.equal_ways()
    incast.trust_dscp()
    incast.plain_queues()
    (held,) = incast.classes(DSCP, paused=True)
    queues = {incast.queue_of(held)}
    overload = incast.loads(held.offering(ABOVE))
    incast.prove_counters("no PFC, 150 %", overload, queues)

    incast.lossless_on_the_way(incast.priority_of(held))
    load = incast.through_failures(ways, held.offering(BELOW))
    incast.control(
        "all ways fail",
        load,
        red=lambda seen: (healed(seen),),
        because=("was away for",),
        failing=incast.failing(every=True),
    )

    seen = incast.run("one way fails", load, failing=incast.failing())
    after = incast.run("after it", overload)
    incast.judge(healed(seen), lossless(after, queues, controls=incast.controls))
