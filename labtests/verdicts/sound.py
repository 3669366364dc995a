"""Did hosts and cables do their part: asked of every phase, whatever else is asked of it.

What a network does with its packets can only be judged when the traffic ran as it was asked to, and
when what is missing was not lost in a NIC or on a cable.
"""

from collections.abc import Iterator

from labtests.evidence import Evidence
from labtests.verdicts import checks, way
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Verdict,
    conclude,
    failed,
    missing,
    name_of,
    passed,
    unproven,
)


def sound(evidence: Evidence) -> Verdict:
    """The traffic ran as it was asked to, no NIC discarded a packet, no cable damaged a frame.

    A control is only asked whether its traffic ran: it loses on purpose.
    """
    return conclude(
        "did hosts and cables do their part",
        evidence,
        _sound(evidence),
        passing="; ".join(_said(evidence)),
    )


def _sound(evidence: Evidence) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    if evidence.kind == "control":
        return
    for station in way.of_part(evidence, "NIC", "cable"):
        yield from _kept(station)


def _kept(station: way.Station) -> Iterator[Finding]:
    if not station.losses and station.part == "NIC":
        yield unproven(f"{station.name}: no counter of this device says whether it discarded any")
    for difference in station.losses:
        if difference.increase is None:
            yield missing(difference, "= 0", "packets")
        elif not difference.increase:
            yield passed(Fact(name=name_of(difference), measured=0, bound="= 0", unit="", margin=0))
    if station.lost:
        yield _lost(station)


def _lost(station: way.Station) -> Finding:
    facts = (
        Fact(name=name_of(d), measured=d.increase, bound="= 0", unit="", margin=-(d.increase or 0))
        for d in station.lost
    )
    what = "damaged or interrupted" if station.part == "cable" else "lost packets itself"
    return failed(f"{station.name} {what}: {way.in_words(station)}", *facts)


def _said(evidence: Evidence) -> Iterator[str]:
    """What passing rests on, and what no device here counts."""
    yield f"{len(evidence.flows)} flows ran as they were asked to"
    if evidence.kind == "control":
        return
    yield "no NIC and no cable lost anything"
    for station in way.of_part(evidence, "cable"):
        if not station.losses:
            yield f"not counted by either end: errors of {station.name}"
