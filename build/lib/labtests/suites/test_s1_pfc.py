"""S1 of document 000: priority flow control holds an incast of two UDP classes without loss.

one sender (early) --.
another (late)     --+-- switch -- receiver
...                --'
"""

from functools import partial

import pytest

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.verdicts import lossless, paused, throttled

DSCPS = 24, 40  # or others, where these have no queues of their own
EARLY, LATE = 0.78, 0.515  # of line rate: 7.8 and (all others together) 5.15 Gb/s on a 10G line

PFC_ON = PfcSetting(mode="on", priorities=frozenset(range(8)))
PFC_OFF = PfcSetting(mode="off", priorities=frozenset())


@pytest.mark.requires(
    hosts=("pfc", "trust"), switches=("pfc", "trust", "pfc_counters", "queue_counters")
)
@pytest.mark.covers("A1", "A7", "A11", "A12", "A13", "A15")
def test_pfc_holds_a_udp_incast_without_loss(incast):
    """PFC: the faster of two UDP classes is paused, and nothing is lost."""
    incast.trust_dscp()
    early, late = incast.classes(*DSCPS, paused=True)
    queues = {incast.queue_of(early), incast.queue_of(late)}
    incast.serve_alike(queues)
    incast.no_red_anywhere()
    traffic = incast.udp(early.offering(EARLY), late.offering(LATE))
    for number, sending in enumerate(traffic):
        own = frozenset({incast.priority_of(late if number else early)})
        incast.set(sending.role.nic, PFC, PfcSetting(mode="on", priorities=own))

    held = partial(
        throttled,
        ceiling_bits_per_s=incast.traffic.ceiling_bits_per_s,
        buffers_bytes=incast.traffic.buffers_bytes,
    )
    incast.pfc_at_switch(PFC_OFF)
    incast.control(
        "PFC off at the switch",
        traffic,
        red=lambda seen: (
            lossless(seen, queues, controls=(seen,)),
            held(seen),
        ),
        because=("dropped_packets grew by", "goodput"),
    )

    incast.pfc_at_switch(PFC_ON)
    seen = incast.run("PFC on", traffic)
    incast.judge(
        lossless(seen, queues, controls=incast.controls),
        paused(seen),
        held(seen),
    )
