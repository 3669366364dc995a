"""Several equally short ways between switches: does a hash spread flows over all of them, and is
each as fast as its cables? A way at a tenth of its speed is fast enough for its part of an incast:
that is asked of hosts that send to one other each, all together what one way carries.

senders -- leaf --+-- spine --+-- leaf -- receiver
                  `-- spine --'
"""

import pytest

from labtests.experiment import patterns
from labtests.verdicts import full_speed, spread_over
from labtests.workloads import Perftest

DSCP = 24  # or another one, where this has no queue of its own
ONE_FLOW = 0.6  # of line rate, where one process sends as much
QUEUE_PAIRS = 8  # of each sender, each with a UDP source port of its own


@pytest.mark.requires(
    hosts=("rdma_links", "pfc", "trust", "nic_counters"),
    switches=("pfc", "trust", "pfc_counters", "queue_counters"),
)
def test_flows_take_all_equally_short_ways(incast):
    """Paths: flows of many UDP source ports take all equally short ways, which are fast enough."""
    ways = incast.equal_ways()
    incast.trust_dscp()
    incast.plain_queues()
    (held,) = incast.classes(DSCP, paused=True, rdma=True)
    incast.lossless_on_the_way(incast.priority_of(held))
    flows = incast.senders_behind(ways, times=QUEUE_PAIRS)

    incast.control(
        "one flow",
        incast.one_flow(ways, held.offering(ONE_FLOW)),
        red=lambda seen: (spread_over(seen, ways, flows=flows),),
        because=("is polarised",),
    )

    many = Perftest(tos=held.tos, queue_pairs=QUEUE_PAIRS)
    seen = incast.run("many queue pairs", incast.flows(patterns.incast, many))
    incast.judge(spread_over(seen, ways, flows=flows))
    incast.unproven(full_speed(seen, ways), because="goodput / its links, the least of")

    apart = incast.run("hosts to one other each", incast.apart(many))
    incast.judge(full_speed(apart, ways))
