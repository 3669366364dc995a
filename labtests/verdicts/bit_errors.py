"""Bits that FEC corrected: no loss, as long as they are not more than it is made for.

What it could not correct (`rx_pcs_symbol_err_phy`) is a loss, and counted with those of its cable
(path.py). The bound is the most that any FEC of Ethernet is meant for: a bit error ratio of 2.4e-4
before RS(544,514) of IEEE 802.3, for 50 Gb/s a lane (from memory). Slower lanes have less room, and
nothing is said of what is between.
"""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence, Place
from labtests.verdicts.bounds import at_most
from labtests.verdicts.outcome import Finding, held_to, missing, name_of, passed, unproven

MOST = 2.4e-4
"""Of all bits that the line carries, busy or not."""


def within_fec(evidence: Evidence) -> Iterator[Finding]:
    """Each cable into a host that counts such bits."""
    places = {(each.device, each.port): each for each in _hosts(evidence)}
    for place in places.values():
        yield from _of(evidence, place)


def _hosts(evidence: Evidence) -> tuple[Place, ...]:
    return (*evidence.senders, *evidence.receivers, evidence.receiver)


def _of(evidence: Evidence, place: Place) -> Iterator[Finding]:
    told = evidence.change((place.device, place.port), "port", None, c.FEC_CORRECTED_BITS)
    if told.increase is None:
        yield from [missing(told, "known", "bits")] if told.key in evidence.numbers else []
        return
    assert told.before is not None
    assert told.after is not None
    seconds = told.after.time_s - told.before.time_s
    if seconds <= 0:
        yield unproven(f"{name_of(told)}: not known in what time: read in {seconds:g} s")
        return
    share = told.increase / ((place.link_bits_per_s or evidence.line_bits_per_s) * seconds)
    cable = f"cable {place.switch} {place.switch_port} - {place.device} {place.port}"
    fact = held_to(
        f"{cable}: bits that FEC corrected / bits of the line", share, at_most(MOST), "ratio"
    )
    often = (
        f"{cable}: FEC corrected {told.increase} bits, {share:.2g} of what came: more than any FEC "
        "is made for; clean or replace the cable and its optics"
    )
    yield passed(fact) if share <= MOST else unproven(often, fact)
