"""S13: a switch warns of many pause frames while nothing is lost yet.

Of those that it sends: in the incast of S1. Of those that it receives: from a host that pauses it
by frames of its own, as a broken one does.
"""

import pytest

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.verdicts import lossless, silent, warned

DSCPS = 24, 40  # or others, where these have no queues of their own
EARLY, LATE = 0.78, 0.515  # of line rate, as in S1
LIGHT = 0.3  # of line rate, each of two
STORM_MS, TIMES, APART_S = 250, 3, 0.5
ALLOWED_PER_S = 5  # what a network at rest has at most (document 004, S25)

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
    incast.no_red_anywhere()
    traffic = incast.udp(early.offering(EARLY), late.offering(LATE))
    allowed = {}
    for number, sending in enumerate(traffic):
        priority, at = incast.priority_of(late if number else early), sending.role.switch
        own = PfcSetting(mode="on", priorities=frozenset({priority}))
        incast.set(sending.role.nic, PFC, own)
        allowed[at.device, at.interface, priority] = ALLOWED_PER_S

    incast.pfc_at_switch(PFC_OFF)
    incast.prove_counters("PFC off at the switch", traffic, queues)

    incast.pfc_at_switch(PFC_ON)
    unwarned = incast.run("no early warning", traffic, warnings=True)
    incast.must_be_red(warned(unwarned, allowed), because="did not warn")

    incast.warn_of_pauses(allowed)
    seen = incast.run("early warning", traffic, warnings=True)
    light = incast.loads(early.offering(LIGHT), late.offering(LIGHT))
    calm = incast.run("early warning, few packets", light, warnings=True)
    incast.judge(
        lossless(seen, queues, controls=incast.controls),
        warned(seen, allowed),
        silent(calm, allowed),
    )


@pytest.mark.requires(
    hosts=("pfc", "trust"),
    switches=("pfc", "trust", "pfc_counters", "queue_counters", "scheduling_for"),
)
@pytest.mark.requires(switches=("pfc_alarm", "pfc_warnings"))
@pytest.mark.covers("B15")
def test_a_switch_warns_of_a_host_that_pauses_it(incast):
    """Early warning: a host that sends pause frames without end is logged, a quiet one is not."""
    incast.trust_dscp()
    incast.serve_equally()
    incast.no_red_anywhere()
    held, free = incast.classes(*DSCPS, paused=True)
    priority = incast.priority_of(held)
    incast.lossless_on_the_way(priority)
    storm = incast.storm(priority, STORM_MS, times=TIMES, apart_s=APART_S)
    traffic = incast.steady(storm, held.offering(LIGHT), free.offering(LIGHT))
    at = incast.bottleneck
    few = {(at.device, at.interface, priority): ALLOWED_PER_S}

    unwarned = incast.run("storms, no early warning", traffic, storm=storm, warnings=True)
    incast.must_be_red(warned(unwarned, few, "received"), because="did not warn")

    incast.warn_of_pauses(few, "received")
    seen = incast.run("storms, early warning", traffic, storm=storm, warnings=True)
    calm = incast.run("early warning, no storm", traffic, warnings=True)
    incast.judge(warned(seen, few, "received"), silent(calm, few, "received"))
