"""S13: a switch warns of many pause frames while nothing is lost yet.

The incast of S1. How many pause frames a second its ports send is measured; a quarter of that is
what they are then told to warn of.
"""

import pytest

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.verdicts import lossless, silent, warned

DSCPS = 24, 40  # or others, where these have no queues of their own
EARLY, LATE = 0.78, 0.515  # of line rate, as in S1
LIGHT = 0.3  # of line rate, each of two

PFC_ON = PfcSetting(mode="on", priorities=frozenset(range(8)))
PFC_OFF = PfcSetting(mode="off", priorities=frozenset())


@pytest.mark.requires(
    hosts=("pfc", "trust"), switches=("pfc", "trust", "pfc_counters", "queue_counters")
)
@pytest.mark.requires(switches=("pfc_alarm", "pfc_warnings"))
def test_a_switch_warns_before_it_loses(incast):
    """Early warning: many pause frames are logged while nothing is lost, and few are not."""
    incast.trust_dscp()
    early, late = incast.classes(*DSCPS, paused=True)
    queues = {incast.queue_of(early), incast.queue_of(late)}
    incast.serve_alike(queues)
    traffic = incast.udp(early.offering(EARLY), late.offering(LATE))
    for number, sending in enumerate(traffic):
        own = frozenset({incast.priority_of(late if number else early)})
        incast.set(sending.role.nic, PFC, PfcSetting(mode="on", priorities=own))

    incast.pfc_at_switch(PFC_OFF)
    incast.prove_counters("PFC off at the switch", traffic, queues)

    incast.pfc_at_switch(PFC_ON)
    unwarned = incast.run("no early warning", traffic, warnings=True)
    thresholds = incast.thresholds_below(unwarned)
    incast.must_be_red(warned(unwarned, thresholds), because="did not warn")

    incast.warn_of_pauses(thresholds)
    seen = incast.run("early warning", traffic, warnings=True)
    light = incast.loads(early.offering(LIGHT), late.offering(LIGHT))
    calm = incast.run("early warning, few packets", light, warnings=True)
    incast.judge(
        lossless(seen, queues, controls=incast.controls),
        warned(seen, thresholds),
        silent(calm, thresholds),
    )
