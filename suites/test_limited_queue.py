"""A strict queue that is held to a rate, as that of CNPs has to be (S21, document 004): it goes
first up to its rate, and whoever floods it starves nobody.

The control: what the same packets do to the other queue without the rate.
"""

import pytest

from labtests.verdicts import shared

DSCPS = 24, 40  # or others, where these have no queues of their own
REFRESHES = 3  # of the counters while they send: two samples that differ need two
OFFERED = 0.75  # of line rate, each of two
MOST = 0.4  # of line rate: both queues stay overloaded, and the port full


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
