"""S11: switches in a cycle that wait for each other stand still for good, unless they detect it.

Each host of a ring of five switches sends to the one two switches on: what comes in by each cable
waits for the next one. The detection lets a switch send in spite of pauses: for a while, or, with
recovery by hand, until somebody has PFC work again. Then it can lock the ring again.
"""

import pytest

from labtests.capabilities.records import PfcSetting
from labtests.verdicts import went_on

DSCP = 24  # or another one, where this has no queue of its own
SHARE = 0.9  # of line rate, each: a cable has two of them to carry
TIMES = {"detect_ms": 100, "release_ms": 100}

PFC_OFF = PfcSetting(mode="off", priorities=frozenset())


@pytest.mark.requires(
    hosts=("pfc", "trust"), switches=("pfc", "trust", "pfc_counters", "queue_counters")
)
@pytest.mark.requires(switches=("deadlock_detection", "deadlock_times", "deadlock_times_for"))
def test_a_deadlock_is_detected_and_released(ring):
    """PFC deadlock: a cycle of switches stands still for good, and goes on where it is detected."""
    ring.trust_dscp()
    (held,) = ring.classes(DSCP, paused=True)
    priority = ring.priority_of(held)
    lossless = PfcSetting(mode="on", priorities=frozenset({priority}))
    traffic = ring.loads(held.offering(SHARE))

    def stands_still(name):
        ring.look_for_no_deadlocks()  # what was released before is recovered, by hand
        ring.pfc_everywhere(lossless)
        ring.control(
            name,
            traffic,
            red=lambda seen: (went_on(seen),),
            because=("stood still",),
        )
        ring.pfc_everywhere(PFC_OFF)  # and goes on again, or is dropped

    def goes_on(name, *, by_hand):
        ring.look_for_deadlocks(priority, **TIMES, by_hand=by_hand)
        ring.pfc_everywhere(lossless)
        return went_on(ring.run(name, traffic), controls=ring.controls)

    stands_still("no detection")
    by_hand = goes_on("detection, recovery by hand", by_hand=True)
    stands_still("recovered, no detection")
    ring.judge(by_hand, goes_on("detection", by_hand=False))
