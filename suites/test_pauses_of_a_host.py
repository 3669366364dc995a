"""Pause frames of a host: obeyed where PFC works for their priority, and nowhere else; and those of
other kinds, which nobody may obey.

The receiver pauses one of two classes, by pause frames of its own, as a slow host does. Where its
port obeys and the senders are not told, the queue overflows: that is the control of all.
"""

from dataclasses import replace

import pytest

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.verdicts import held_by_its_receiver, lossless, not_stopped

DSCPS = 24, 40  # or others, where these have no queues of their own
PAUSED, FREE = 0.45, 0.3  # of line rate
LASTING_MS, TIMES, APART_S = 250, 2, 0.3

by_pauses = pytest.mark.requires(
    hosts=("pfc", "trust"),
    switches=("pfc", "trust", "pfc_counters", "queue_counters", "scheduling_for"),
)


def two_classes(incast):
    """One that is paused and one that is not, with the storm that pauses it; and the control, in
    which only the port to the receiver has PFC, and of that one only."""
    incast.trust_dscp()
    incast.plain_queues()
    incast.serve_equally()
    held, free = incast.classes(*DSCPS, paused=True)
    priority = incast.priority_of(held)
    storm = incast.storm(priority, LASTING_MS, times=TIMES, apart_s=APART_S)
    traffic = incast.steady(storm, held.offering(PAUSED), free.offering(FREE))
    own = PfcSetting(mode="on", priorities=frozenset({priority}))
    incast.set(incast.bottleneck, PFC, own)
    incast.control(
        "PFC at the receiver's port alone",
        traffic,
        storm=storm,
        red=lambda seen: (held_by_its_receiver(seen, controls=(seen,)),),
        because=("dropped_packets grew by",),
    )
    return held, free, storm, traffic


@by_pauses
@pytest.mark.covers("B1", "B4", "B11", "B13", "B15", "C20")
def test_a_slow_receiver_holds_its_senders_and_is_named(incast):
    """A slow receiver: its pauses go back to the senders, nothing is lost, and it is named."""
    held, _, storm, traffic = two_classes(incast)
    incast.lossless_on_the_way(incast.priority_of(held))
    seen = incast.run("PFC on the whole way", traffic, storm=storm)
    queues = {incast.queue_of(held)}
    incast.unproven(
        lossless(seen, queues, controls=incast.controls), because="the receiver paused its port"
    )
    incast.judge(held_by_its_receiver(seen, controls=incast.controls))


@by_pauses
@pytest.mark.covers("B5", "B13")
def test_pauses_of_a_lossy_class_stop_nothing(incast):
    """Pauses of a lossy class: where PFC works for another priority, they stop nothing."""
    _, free, storm, traffic = two_classes(incast)
    incast.lossless_on_the_way(incast.priority_of(free), instead=True)
    seen = incast.run("PFC of the other priority", traffic, storm=storm)
    incast.judge(not_stopped(seen, controls=incast.controls))


@by_pauses
@pytest.mark.covers("B6", "B7")
def test_pauses_of_the_whole_link_and_of_no_class_stop_nothing(incast):
    """802.3x pauses, and pauses for no class: a port in PFC mode is held by neither."""
    held, _, storm, traffic = two_classes(incast)
    incast.lossless_on_the_way(incast.priority_of(held))
    of_link = incast.run("802.3x", traffic, storm=replace(storm, form="link"))
    of_none = incast.run("for no class", traffic, storm=replace(storm, form="no class"))
    incast.judge(
        not_stopped(of_link, controls=incast.controls),
        not_stopped(of_none, controls=incast.controls),
    )


@by_pauses
@pytest.mark.covers("B8")
def test_pauses_without_a_source_address_hold_like_others(incast):
    """Pauses from the address 0: they go back to the senders like others, and nothing is lost."""
    held, _, storm, traffic = two_classes(incast)
    incast.lossless_on_the_way(incast.priority_of(held))
    seen = incast.run("from the address 0", traffic, storm=replace(storm, form="no source"))
    incast.judge(held_by_its_receiver(seen, controls=incast.controls))
