"""Bits that FEC corrected, and what it could not: blamed on their cable."""

from dataclasses import replace

import pytest
from handmade_rdma import evidence, held_by_marks

from labtests.capabilities import counters as c
from labtests.verdicts import Outcome, held_by_cnps
from labtests.verdicts.bit_errors import within_fec
from labtests.verdicts.sound import sound

LINE_BITS = 10e9 * 3.5  # of 10G, from 9.5 to 13 s
R = ("r", "eth0", "port", -1)


def corrected(bits, counter=c.FEC_CORRECTED_BITS, **more):
    seen = held_by_marks()
    grown = {key: d.increase for key, d in seen.changes.items()} | {(*R, counter): bits}
    return replace(evidence(grown, seen.senders, seen.flows, cnp=seen.cnp), **more)


@pytest.mark.parametrize("bits", [0, 1, round(2e-4 * LINE_BITS)])
def test_bits_that_fec_corrects_are_no_loss(bits):
    (finding,) = within_fec(corrected(bits))
    assert finding.outcome is Outcome.PASS
    assert finding.facts[0].measured == bits / LINE_BITS


def test_more_than_it_is_made_for_is_blamed_on_the_cable():
    seen = corrected(round(3e-4 * LINE_BITS))
    (finding,) = within_fec(seen)
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert finding.because.startswith(
        "cable sw p3 - r eth0: FEC corrected 10500000 bits, 0.0003 of"
    )
    assert finding.because in sound(seen).because
    assert held_by_cnps(corrected(0)).outcome is Outcome.PASS


def test_what_it_could_not_correct_is_a_loss_of_the_cable():
    verdict = sound(corrected(1, c.PCS_SYMBOL_ERRORS))
    assert verdict.outcome is Outcome.FAIL
    assert "cable sw p3 - r eth0 damaged or interrupted: r rx_pcs_symbol_errors" in verdict.because


def test_a_count_that_is_gone_is_missing_and_one_that_never_was_is_not_asked():
    seen = corrected(5)
    after = (r for r in seen.after if r.counter != c.FEC_CORRECTED_BITS)
    (finding,) = within_fec(replace(seen, after=tuple(after)))
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert c.FEC_CORRECTED_BITS in finding.because
    assert not list(within_fec(held_by_marks()))


@pytest.mark.parametrize("later_s", [0.0, -3.0])
def test_bits_in_no_time_are_no_rate(later_s):
    seen = corrected(5)
    at = {r.key: r.time_s for r in seen.before}
    after = tuple(replace(r, time_s=at.get(r.key, r.time_s) + later_s) for r in seen.after)
    (finding,) = within_fec(replace(seen, after=after))
    assert finding.outcome is Outcome.INCONCLUSIVE
