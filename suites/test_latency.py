"""Latency beside a load: a strict class passes a full port, and the class of the load waits.

each sender --+-- switch -- receiver     a load of one class, 150 % of the line; small messages of
...         --'                          that class, and of one that is served first (S21: CNPs)
"""

import pytest

from labtests.verdicts import passed_at_once

DSCPS = 24, 40  # or others, where these have no queues of their own
BELOW, ABOVE = 0.1, 0.75  # of line rate, each of two senders


@pytest.mark.requires(
    hosts=("rdma_links", "pfc", "trust"),
    switches=("pfc", "trust", "pfc_counters", "queue_counters", "scheduling_for"),
)
def test_a_strict_class_passes_a_full_port(incast):
    """Latency: messages of a strict class pass a full port at once; those of its load wait."""
    incast.trust_dscp()
    incast.plain_queues()
    held, first = incast.classes(*DSCPS, paused=True, rdma=True)
    incast.serve_first(incast.queue_of(first))
    incast.lossless_on_the_way(incast.priority_of(held))

    calm = incast.run("20 % of line rate", incast.probed(BELOW, held, first))
    full = incast.run("150 % of line rate", incast.probed(ABOVE, held, first))
    incast.must_be_red(passed_at_once(full, calm, tos=held.tos), because="mean wait was")
    incast.judge(passed_at_once(full, calm, tos=first.tos))
