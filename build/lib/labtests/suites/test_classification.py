"""DSCP -> queue: all 64 values, told by exact counts at the bottleneck and at the ports before it.

Each round of the first sender has eight DSCPs in 1, 2, 4, ... 128 packets, so that what a queue
counts says which of them it got. Every other sender has one round of all 64, each in another
number. The map is the one that the switch says it has.
"""

import pytest

from labtests.verdicts import classified


@pytest.mark.requires("queue_counters", "dscp_map")
@pytest.mark.covers("D1")
def test_each_dscp_gets_the_queue_that_the_map_says(incast):
    """All 64 DSCPs: every packet in the queue that the map says, none in another."""
    incast.trust_dscp()
    queues = incast.queues
    rounds = incast.every_dscp()
    wrong = tuple((queue + 1) % 8 for queue in queues)  # a map that it is not
    incast.must_be_red(classified(rounds, wrong))
    incast.judge(classified(rounds, queues))
