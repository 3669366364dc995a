"""S1 of document 000: priority flow control holds an incast of two UDP classes without loss.

sender 1 (early) --.
sender 2 (late)  --+-- switch -- receiver
...              --'
"""

import pytest

from labtests.experiment import Class
from labtests.records import PfcSetting
from labtests.verdicts import lossless, paused, throttled

EARLY = Class(tos=0x60, offered_share=0.78)  # DSCP 24: priority 3; 7.8 Gb/s on a 10G line
LATE = Class(tos=0xA0, offered_share=0.515)  # DSCP 40: priority 5; 5.15 Gb/s together
CLASSES = {3, 5}

PFC_ON = PfcSetting(mode="on", priorities=frozenset(range(8)))
PFC_OFF = PfcSetting(mode="off", priorities=frozenset())


@pytest.mark.requires(
    hosts=("pfc", "trust"), switches=("pfc", "trust", "pfc_counters", "queue_counters")
)
def test_pfc_holds_a_udp_incast_without_loss(incast):
    """PFC: the faster of two UDP classes is paused, and nothing is lost."""
    traffic = incast.udp(EARLY, LATE)
    ceiling = incast.udp_ceiling_bits_per_s
    incast.trust_dscp()
    for number, sender in enumerate(incast.senders):
        own = {5} if number else {3}
        incast.set(sender.nic, "pfc", PfcSetting(mode="on", priorities=frozenset(own)))

    incast.pfc_at_switch(PFC_OFF)
    incast.control(
        "PFC off at the switch",
        traffic,
        red=lambda seen: (
            lossless(seen, CLASSES, alive_in=(seen,)),
            throttled(seen, ceiling_bits_per_s=ceiling),
        ),
    )

    incast.pfc_at_switch(PFC_ON)
    seen = incast.run("PFC on", traffic)
    incast.judge(
        lossless(seen, CLASSES, alive_in=incast.controls),
        paused(seen),
        throttled(seen, ceiling_bits_per_s=ceiling),
    )
