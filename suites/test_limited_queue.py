"""A strict queue that is held to a rate, as that of CNPs has to be (S21, document 004): it goes
first up to its rate, and whoever floods it starves nobody.

The control: what the same packets do to the other queue without the rate. And CNPs' own class, so
served, passes a full port within document 004's 3 µs: counted by messages with the DSCP of CNPs, as
nothing in a lab tells how long a CNP took.
"""

import pytest

from labtests.verdicts import passed_at_once, shared

DSCPS = 24, 40  # or others, where these have no queues of their own
REFRESHES = 3  # of the counters while they send: two samples that differ need two
OFFERED = 0.75  # of line rate, each of two
MOST = 0.4  # of line rate: both queues stay overloaded, and the port full
CNPS_AT_MOST = 0.1  # of line rate: document 004 has some hundred Mb/s at 25G
BELOW, ABOVE = 0.1, 0.75  # of line rate, each of two senders


@pytest.mark.requires("queue_counters", "scheduling_for", switches=("rate_limited",))
def test_a_strict_queue_that_is_held_to_a_rate_starves_nobody(incast):
    """A strict queue with a rate limit gets its rate, first; the other one gets all the rest."""
    incast.trust_dscp()
    incast.plain_queues()
    classes = incast.classes(*DSCPS)
    first = max(incast.queue_of(each) for each in classes)
    traffic = incast.loads(*(each.offering(OFFERED) for each in classes), refreshes=REFRESHES)

    incast.serve((None,) * 8)
    unlimited = incast.run(f"queue {first} is strict", traffic)
    incast.hold_to(first, MOST)
    incast.must_be_red(shared(unlimited, incast.served), because=f"queue {first} got")
    held = incast.run(f"queue {first} is strict, at most {MOST:.0%}", traffic)
    incast.judge(shared(held, incast.served))


@pytest.mark.requires(
    hosts=("rdma_links", "pfc", "trust", "dcqcn_np"),
    switches=("pfc", "trust", "pfc_counters", "queue_counters", "scheduling_for", "rate_limited"),
)
def test_the_class_of_cnps_passes_a_full_port_although_it_is_held_to_a_rate(incast):
    """CNPs: their class, strict and held to a rate, passes a full port within 3 µs."""
    incast.trust_dscp()
    incast.plain_queues()
    (held,), cnps = incast.classes(DSCPS[0], paused=True, rdma=True), incast.class_of_cnps
    incast.serve_first(incast.queue_of(cnps))
    incast.hold_to(incast.queue_of(cnps), CNPS_AT_MOST)
    incast.lossless_on_the_way(incast.priority_of(held))

    calm = incast.run("20 % of line rate", incast.probed(BELOW, held, cnps))
    full = incast.run("150 % of line rate", incast.probed(ABOVE, held, cnps))
    incast.must_be_red(passed_at_once(full, calm, tos=held.tos), because="mean wait was")
    incast.judge(passed_at_once(full, calm, tos=cnps.tos))
