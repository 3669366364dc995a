"""How a port that is offered half as much again as its rate serves its queues: four settings.

Each setting is judged by what it owes (labtests/verdicts/sharing.py). The control: the same packets
judged by the other settings, one of which at least has to go red for certain.
"""

import pytest

from labtests.verdicts import reddest, shared

DSCPS = 24, 40  # or others, where these have no queues of their own
THREE = 24, 40, 16  # the same
REFRESHES = 3  # of the counters while they send: two samples that differ need two
OFFERED = 0.75  # of line rate, each of two: they have time to make up for what they missed
BESIDE, URGENT = 0.6, 0.35  # of line rate, two by weight and a strict one: more than a third


@pytest.mark.requires("queue_counters", "scheduling_for")
@pytest.mark.covers("D6", "D8", "D9", "D10", "D13")
def test_each_queue_gets_the_share_that_the_scheduler_owes_it(incast):
    """Equal, weighted 2 to 3, strict: every queue gets its share of an overloaded port."""
    incast.trust_dscp()
    incast.plain_queues()
    classes = incast.classes(*DSCPS)
    low, high = sorted(incast.queue_of(each) for each in classes)
    weighted = [10] * 8
    weighted[high] = 15
    settings = {"equal": (12,) * 8, "2 to 3": tuple(weighted), "strict": (None,) * 8}
    traffic = incast.loads(*(each.offering(OFFERED) for each in classes), refreshes=REFRESHES)

    seen, set_to = {}, {}
    for name, shares in settings.items():
        incast.serve(shares)
        set_to[name] = incast.served
        seen[name] = incast.run(f"queues {low} and {high}: {name}", traffic)
    for name in seen:
        others = [shared(seen[name], set_to[other]) for other in settings if other != name]
        incast.must_be_red(reddest(others))
    incast.judge(*(shared(seen[name], set_to[name]) for name in seen))


@pytest.mark.requires("queue_counters", "scheduling_for")
@pytest.mark.covers("D13")
def test_weights_hold_beside_a_strict_queue(incast):
    """S21: two classes share by weight, 2 to 3, what a strict one before them leaves."""
    incast.trust_dscp()
    incast.plain_queues()
    classes = sorted(incast.classes(*THREE), key=incast.queue_of)
    low, high, first = (incast.queue_of(each) for each in classes)
    offered = zip(classes, (BESIDE, BESIDE, URGENT), strict=True)
    traffic = incast.loads(*(each.offering(of) for each, of in offered), refreshes=REFRESHES)

    incast.serve((12,) * 8)
    equal = incast.served
    weights = {low: 10, high: 15, first: None}
    incast.serve(tuple(weights.get(queue, 10) for queue in range(8)))
    seen = incast.run(f"queues {low} and {high} 2 to 3, queue {first} strict", traffic)
    incast.must_be_red(shared(seen, equal))
    incast.judge(shared(seen, incast.served))
