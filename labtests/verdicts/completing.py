"""Many senders to one receiver, each with as much to send: do all of them end in their time?

The slowdown of a transfer is the time that it took by the time that it takes alone at line rate. Of
n alike that share a line fairly, each has n.
"""

import math
from collections.abc import Iterator, Sequence

from labtests.capabilities.flows import FlowResult
from labtests.measure.evidence import Evidence
from labtests.verdicts import checks, outcome
from labtests.verdicts.marks_first import FAIR_INDEX, held_by_links, jain
from labtests.verdicts.outcome import Fact, Finding, Verdict, conclude, passed, unproven

WORST_SLOWDOWN = 1.35
"""Of what a fair share of the line leaves each: the last has three quarters of its share.
1.0 is the best there is; healthy simulated labs have at most the figure in docs/verdicts.md."""
ALIKE = 0.9
"""Of the mean, what the slowest one has where all are slow: it is not the cause."""
TOOK_MORE = 2.0
"""Of the mean of all others: who has so much has not slowed down, or is not made to."""


def completed_alike(evidence: Evidence, *, ceiling_bits_per_s: float) -> Verdict:
    """Every transfer was done, none much later than a fair share of the line allows.
    `ceiling_bits_per_s`: the most goodput that the line carries."""
    return conclude(
        "Did all transfers end in their time?",
        evidence,
        _completed_alike(evidence, ceiling_bits_per_s),
        passing=_said(evidence, ceiling_bits_per_s),
        remedy="look at ECN and reaction points of all senders, and at the ports by which they "
        "come in",
    )


def _completed_alike(evidence: Evidence, ceiling: float) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    slow = held_by_links(evidence)
    each = zip(evidence.senders, evidence.flows, strict=False)
    flows = [flow for place, flow in each if place.device not in slow]
    rates = [flow.goodput_bits_per_s or 0.0 for flow in flows]
    if len(rates) < 2 or not all(rates):
        yield unproven("not every transfer has told how long it took, or links hold all but one")
        return
    slowdowns = sorted(ceiling / rate for rate in rates)
    yield passed(
        *(
            Fact(name=f"slowdown, {name}", measured=round(value, 3), bound="told", unit="ratio")
            for name, value in (
                ("mean", sum(slowdowns) / len(slowdowns)),
                ("50 % of transfers at most", percentile(slowdowns, 0.5)),
                ("99 % of transfers at most", percentile(slowdowns, 0.99)),
            )
        )
    )
    port = " ".join(evidence.bottleneck)
    yield from _alike(port, flows, rates, slowdowns[-1] / len(evidence.flows))


def _alike(
    port: str, flows: Sequence[FlowResult], rates: Sequence[float], worst: float
) -> Iterator[Finding]:
    """Who has much more than all others is named; who has less may be slow by itself."""
    most, least = max(rates), min(rates)
    greedy, slow = flows[rates.index(most)].sender, flows[rates.index(least)].sender
    others = (sum(rates) - most) / (len(rates) - 1)
    took = f"{greedy} had {most / others:.1f} times what the others had, as a mean"
    limit = f"{slow} had {least / 1e9:.3g} Gb/s: its own limit, or rates that come back too slowly"
    if least * len(rates) >= ALIKE * sum(rates):
        limit = (
            f"all had {least / 1e9:.3g} Gb/s and more: marks hold them below the line, or {port} "
        )
        limit += "is slower than its link"
    for finding in (
        checks.bounded("Jain's index of the senders", jain(tuple(rates)), at_least=FAIR_INDEX),
        checks.bounded("worst slowdown / that of a fair share", worst, at_most=WORST_SLOWDOWN),
    ):
        blamed = most / others >= TOOK_MORE
        yield outcome.because_of(finding, took) if blamed else outcome.or_unproven(finding, limit)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The least of these numbers, in order, that so large a share of them does not exceed."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def _said(evidence: Evidence, ceiling: float) -> str:
    rates = [flow.goodput_bits_per_s or 0.0 for flow in evidence.flows]
    if not rates or not all(rates):
        return "no transfer"
    slowdowns = sorted(ceiling / rate for rate in rates)
    told = ", ".join(f"{percentile(slowdowns, each):.2f}" for each in (0.5, 0.99, 1.0))
    return (
        f"{len(rates)} transfers: {sum(rates) / len(rates) / 1e9:.3g} Gb/s as a mean, "
        f"{min(rates) / 1e9:.3g} the slowest, Jain's index {jain(tuple(rates)):.3f}; slowdown "
        f"{told} (50 %, 99 %, all)"
    )
