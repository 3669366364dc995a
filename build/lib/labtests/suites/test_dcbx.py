"""S17: hosts take over, by DCBX, the lossless priorities that their switch ports tell.

The incast of S1, with PFC set at the switch alone: what the hosts have is what it tells them.
"""

from itertools import combinations

import pytest

from labtests.capabilities.records import PfcSetting
from labtests.verdicts import agreed_by_dcbx, lossless, paused

DSCPS = 24, 40  # or others, where these have no queues of their own
EARLY, LATE = 0.78, 0.515  # of line rate, as in S1
LIGHT = 0.3  # of line rate, each of two


@pytest.mark.requires(
    hosts=("pfc", "trust", "dcbx_control", "dcbx_state"),
    switches=("pfc", "trust", "dcbx", "dcbx_state", "pfc_counters", "queue_counters"),
)
def test_willing_hosts_take_over_what_their_switch_tells(incast):
    """DCBX: hosts obey pauses of the priorities that the switch tells, and a mismatch is named."""
    incast.trust_dscp()
    early, late = incast.classes(*DSCPS, paused=True)
    queues = {incast.queue_of(early), incast.queue_of(late)}
    incast.serve_alike(queues)
    incast.no_red_anywhere()
    traffic = incast.udp(early.offering(EARLY), late.offering(LATE))
    wanted = frozenset({incast.priority_of(early), incast.priority_of(late)})
    others = next(
        frozenset(pair)
        for pair in combinations(sorted(set(range(8)) - wanted), 2)
        if set(pair) != incast.lossless_at_hosts()
    )

    incast.pfc_at_switch(PfcSetting(mode="on", priorities=others))
    incast.tell_by_dcbx("standard")
    incast.watch_dcbx()
    light = incast.loads(early.offering(LIGHT), late.offering(LIGHT))
    unwilling = incast.run("told to hosts whose OS sets PFC", light)
    incast.must_be_red(agreed_by_dcbx(unwilling, others), because="is in force at")

    incast.give_to_firmware()
    incast.let_dcbx_settle()
    incast.control(
        "the switch tells other priorities",
        traffic,
        red=lambda seen: (
            *(lossless(seen, {q}, controls=(seen,)) for q in sorted(queues)),
            agreed_by_dcbx(seen, wanted),
        ),
        because=(*(f"queue {q} dropped_packets grew by" for q in sorted(queues)), "was asked for"),
    )

    incast.pfc_at_switch(PfcSetting(mode="on", priorities=wanted))
    incast.let_dcbx_settle()
    seen = incast.run("the switch tells theirs", traffic)
    incast.judge(
        lossless(seen, queues, controls=incast.controls),
        agreed_by_dcbx(seen, wanted),
        paused(seen),
    )
