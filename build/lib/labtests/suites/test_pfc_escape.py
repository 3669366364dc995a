"""S12: PFC off everywhere at once sets free what it has locked, and on again it works as before.

The ring of the deadlock suite, without detection. Manuals leave it to the model how one command
does this on a switch; here all its ports are changed, while the ring is locked and full.
"""

import pytest

from labtests.capabilities.records import PfcSetting
from labtests.verdicts import set_free, went_on

DSCP = 24  # or another one, where this has no queue of its own
SHARE = 0.9  # of line rate, each: a cable has two of them to carry

PFC_OFF = PfcSetting(mode="off", priorities=frozenset())


@pytest.mark.requires(
    hosts=("pfc", "trust"), switches=("pfc", "trust", "pfc_counters", "queue_counters")
)
def test_pfc_off_everywhere_sets_a_locked_ring_free(ring):
    """PFC escape: off everywhere, a locked cycle of switches goes on; on again, it locks again."""
    ring.trust_dscp()
    ring.look_for_no_deadlocks()
    (held,) = ring.classes(DSCP, paused=True)
    lossless = PfcSetting(mode="on", priorities=frozenset({ring.priority_of(held)}))
    traffic = ring.loads(held.offering(SHARE))

    def locks(name):
        ring.pfc_everywhere(lossless)
        ring.control(
            name,
            traffic,
            red=lambda seen: (went_on(seen),),
            because=("stood still",),
        )
        ring.pfc_everywhere(PFC_OFF)

    locks("PFC on")
    free = set_free(ring.run("PFC off everywhere", traffic), controls=ring.controls)
    locks("PFC on again")
    ring.judge(free)
