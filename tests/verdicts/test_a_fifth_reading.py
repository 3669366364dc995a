"""What a fifth reader of the verdicts found: a control whose counter counts half, is somebody
else's, or that repeats segments for nothing."""

from dataclasses import replace

import pytest
from handmade import control_of, good_evidence
from handmade_loads import load
from test_a_fourth_reading import grown
from test_ecn_verdict import GOOD, WITHOUT

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import Outcome, checks, lossless, marked_not_dropped, no_loss, sound

OVER = load(dropped=(40_000, 20_000))


def counting(control: Evidence, share: float) -> Evidence:
    """The same, with drop counters of queues that count a share only."""
    started = {r.key: r.value for r in control.before}

    def less(r):
        if r.counter != c.QUEUE_DROPPED_PACKETS:
            return r
        return replace(r, value=started[r.key] + round(share * (r.value - started[r.key])))

    return replace(control, after=tuple(less(r) for r in control.after))


def with_ports(seen: Evidence) -> Evidence:
    """The same of hosts whose NICs count no classes, and neither tell datagrams."""
    left = {"a": 60_000, "b": 30_000}
    dropped = checks.queue_drops(seen, 3).increase or 0
    places = tuple(replace(place, priority=None) for place in seen.senders)
    for place in places:
        more = dropped if place.device == "a" else 0
        seen = grown(seen, (place.device, "eth0"), c.TX_PACKETS, left[place.device] + more)
    return replace(
        grown(seen, ("r", "eth0"), c.RX_PACKETS, 90_000), senders=places, kind="experiment"
    )


@pytest.mark.parametrize("share", [0.0001, 0.55, 0.9, 0.9999])
def test_a_drop_counter_that_counts_a_part_is_not_proven(share):
    verdict = no_loss(load(), controls=(counting(OVER, share),))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 3 drop counter is unproven" in verdict.because


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("by_class", [True, False])
def test_a_drop_counter_that_counts_a_part_of_what_tcp_lost_is_not_proven(share, by_class):
    seen, without = (each if by_class else with_ports(each) for each in (GOOD, WITHOUT))
    assert marked_not_dropped(seen, without=(without,)).outcome is Outcome.PASS
    verdict = marked_not_dropped(seen, without=(counting(without, share),))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 3 drop counter is unproven" in verdict.because


def test_what_the_host_lost_itself_the_queue_need_not_count():
    lost = load(dropped=(40_000, 20_000), in_socket=30_000)
    verdict = no_loss(load(), controls=(lost,))
    assert verdict.outcome is Outcome.PASS, verdict.because


def dropping_before(control: Evidence) -> Evidence:
    """Its queues dropped before anything of it ran, too."""
    earlier = tuple(
        replace(r, value=r.value - 10) if r.counter == c.QUEUE_DROPPED_PACKETS else r
        for r in control.quiet_before
    )
    return replace(control, quiet_before=earlier)


def test_a_control_that_dropped_before_it_began_proves_no_counter():
    control = dropping_before(control_of(good_evidence()))
    verdict = lossless(good_evidence(), {3, 5}, controls=(control,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "queue 3 drop counter is unproven" in verdict.because
    assert "grew by 10 in 0.5 s (in the quiet window before the phase)" in sound(control).because


def test_needless_repetitions_are_no_proof_of_a_loss():
    again = grown(GOOD, ("a", ""), c.TCP_RETRANSMITTED_SEGMENTS, 500, "host")
    flows = (replace(again.flows[0], retransmits=500), *again.flows[1:])
    verdict = marked_not_dropped(replace(again, flows=flows), without=(WITHOUT,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "or sent again needlessly" in verdict.because
