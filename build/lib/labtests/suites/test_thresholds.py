"""S10: thresholds of pauses and headroom are what the switch says, by its own watermarks.

In the incast of S1: each priority is paused when it holds as much of the pool as its threshold
allows, and its headroom takes all that comes then.
"""

import pytest

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.verdicts import held_within, with_thresholds

DSCPS = 24, 40  # or others, where these have no queues of their own
EARLY, LATE = 0.78, 0.515  # of line rate, as in S1
SCANT = 256  # of headroom, in bytes or cells as the switch counts: less than a frame, or far less
OTHERS = 4  # times the threshold that is configured


@pytest.mark.requires(
    hosts=("pfc", "trust"), switches=("pfc", "trust", "pfc_counters", "queue_counters")
)
@pytest.mark.requires(switches=("buffer_thresholds", "watermarks", "memory_limits"))
@pytest.mark.covers("C1", "C8", "C13", "C14", "C16", "C17")
def test_pauses_begin_at_their_threshold_and_headroom_takes_the_rest(incast):
    """Thresholds: by watermarks, pauses begin where they should, and headroom suffices."""
    incast.trust_dscp()
    early, late = incast.classes(*DSCPS, paused=True)
    incast.serve_alike({incast.queue_of(early), incast.queue_of(late)})
    incast.no_red_anywhere()
    traffic = incast.udp(early.offering(EARLY), late.offering(LATE))
    for number, sending in enumerate(traffic):
        own = frozenset({incast.priority_of(late if number else early)})
        incast.set(sending.role.nic, PFC, PfcSetting(mode="on", priorities=own))
    both = frozenset({incast.priority_of(early), incast.priority_of(late)})
    incast.pfc_at_switch(PfcSetting(mode="on", priorities=both))
    incast.read_watermarks()

    with incast.headroom_at_switch(SCANT):
        scant = incast.limits()
        incast.control(
            f"headroom of {SCANT}",
            traffic,
            red=lambda seen: (held_within(seen, scant, controls=(seen,)),),
            because=("buffer_dropped_in_packets grew by",),
        )

    limits = incast.limits()
    seen = incast.run("thresholds as they are", traffic)
    for share, because in ((OTHERS, "paused below its threshold"), (1 / OTHERS, "should pause at")):
        other = with_thresholds(limits, share)
        incast.must_be_red(held_within(seen, other, controls=incast.controls), because=because)
    incast.judge(held_within(seen, limits, controls=incast.controls))
