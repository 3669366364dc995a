"""Latency beside a load: a strict class passes a full port, and the class of the load waits.

each sender --+-- switch -- receiver     a load of one class, 150 % of the line; small messages of
...         --'                          that class, and of one that is served first (S21: CNPs)
"""

import pytest

from labtests.experiment import patterns
from labtests.verdicts import passed_at_once
from labtests.workloads import LatencyProbe

DSCPS = 24, 40  # or others, where these have no queues of their own
BELOW, ABOVE = 0.1, 0.75  # of line rate, each of two senders
FEW = 10  # messages: behind a load each may take many milliseconds


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

    def beside(share):
        load = incast.loads(*(held.offering(share),) * 2)
        probes = LatencyProbe(tos=first.tos), LatencyProbe(tos=held.tos, messages=FEW)
        return incast.flows(patterns.two_to_one, *probes, beside=load)

    calm = incast.run("20 % of line rate", beside(BELOW))
    full = incast.run("150 % of line rate", beside(ABOVE))
    incast.must_be_red(passed_at_once(full, calm, tos=held.tos), because="mean wait was")
    incast.judge(passed_at_once(full, calm, tos=first.tos))
