"""What a verdict is, and how findings become one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from labtests.measure.evidence import Backend, Difference, Evidence
from labtests.verdicts.bounds import MORE_THAN_NONE, Bound


class Outcome(StrEnum):
    """FAIL: a loss or a wrong behaviour is proven. INCONCLUSIVE: not enough evidence to judge.
    ERROR: the lab broke."""

    PASS = "pass"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    FAIL = "fail"


_SEVERITY = (Outcome.PASS, Outcome.INCONCLUSIVE, Outcome.ERROR, Outcome.FAIL)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """A proven loss outweighs missing evidence; nothing at all is inconclusive."""
    return max(outcomes, key=_SEVERITY.index, default=Outcome.INCONCLUSIVE)


def reddest(verdicts: Iterable["Verdict"]) -> "Verdict":
    """The verdict with the worst outcome, the first of them."""
    return max(verdicts, key=lambda verdict: _SEVERITY.index(verdict.outcome))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One number a verdict rests on: measured, the bound it is held to, and what is left of it.

    `measured is None` means there is no number; `note` then says why. `margin` is in `unit`,
    negative when the bound is broken, None when the bound is exact or the number is missing.
    """

    name: str
    measured: int | float | None
    bound: str
    unit: str
    margin: int | float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check's result: what it means for the verdict, and the sentence if it is not a pass."""

    outcome: Outcome
    because: str = ""
    facts: tuple[Fact, ...] = ()
    disagreement: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One answered question, with the sentence the report prints and the numbers behind it."""

    question: str
    outcome: Outcome
    because: str
    backend: Backend
    phase: str
    facts: tuple[Fact, ...] = ()
    disagreements: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        stamp = "" if self.backend == "hardware" else f" [{self.backend.upper()}]"
        return f"{self.outcome.upper()}{stamp}: {self.question} {self.because}"


def conclude(
    question: str,
    evidence: Evidence,
    findings: Iterable[Finding],
    *,
    passing: str,
    remedy: str = "",
) -> Verdict:
    """The worst finding decides. `passing` is the sentence when all of them pass; a failure, but
    for one on purpose, ends with the `remedy`. Nothing fails in a phase whose settings somebody
    else has changed."""
    findings = tuple(findings)
    if evidence.changed:
        findings = tuple(
            replace(f, outcome=Outcome.INCONCLUSIVE) if f.outcome is Outcome.FAIL else f
            for f in findings
        )
    outcome = worst(finding.outcome for finding in findings)
    said = dict.fromkeys(f.because for f in findings if f.outcome is outcome and f.because)
    if remedy and outcome is Outcome.FAIL and evidence.kind == "experiment":
        said[remedy] = None
    disagreements = tuple(f.because for f in findings if f.disagreement)
    return Verdict(
        question=question,
        outcome=outcome,
        because=passing if outcome is Outcome.PASS else "; ".join(said) or "no evidence",
        backend=evidence.backend,
        phase=evidence.name,
        facts=tuple(fact for finding in findings for fact in finding.facts),
        disagreements=disagreements,
    )


def numbered(queues: Sequence[int]) -> str:
    """Queues in a sentence: "queue 3", "queues 3, 4 and 5"."""
    if len(queues) < 2:
        return f"queue {queues[0]}" if queues else "queues of no number"
    *first, last = queues
    return f"queues {', '.join(map(str, first))} and {last}"


def passed(*facts: Fact) -> Finding:
    """The check holds."""
    return Finding(outcome=Outcome.PASS, facts=facts)


def failed(because: str, *facts: Fact) -> Finding:
    """Something did what it must not."""
    return Finding(outcome=Outcome.FAIL, because=because, facts=facts)


def unproven(because: str, *facts: Fact) -> Finding:
    """Not enough evidence to judge."""
    return Finding(outcome=Outcome.INCONCLUSIVE, because=because, facts=facts)


def disagreement(because: str, *facts: Fact) -> Finding:
    """Two witnesses say different things: named, never averaged."""
    return Finding(outcome=Outcome.INCONCLUSIVE, because=because, facts=facts, disagreement=True)


def unequal(fact: Fact) -> Finding:
    """Two sums that have to be the same, and are not: what the fact's name says is not so."""
    what = fact.name.replace(" = ", " is not ")
    return disagreement(f"counters disagree: {what}: {fact.note}", fact)


def unless_contradicted(finding: Finding, balances: Iterable[Finding]) -> Finding:
    """A FAIL over a counter that grew too little is a proof only where the balances that it is in
    add up; else it is held against them, and both are named."""
    if finding.outcome is not Outcome.FAIL:
        return finding
    otherwise = dict.fromkeys(each.because for each in balances if each.disagreement)
    if not otherwise:
        return finding
    return disagreement(f"{finding.because}, but {'; '.join(otherwise)}", *finding.facts)


def name_of(difference: Difference) -> str:
    """How the report names a counter: device, port, priority or queue, counter."""
    device, port, scope, index, counter = difference.key
    where = f"{device} {port}".strip()
    return f"{where} {scope} {index} {counter}" if index >= 0 else f"{where} {counter}"


def names_of(differences: Iterable[Difference]) -> list[str]:
    """The same of several: one name for all queues that a counter is summed over."""
    indexes: dict[tuple[str, str, str, str], list[int]] = {}
    for device, port, scope, index, counter in (d.key for d in differences):
        indexes.setdefault((device, port, scope, counter), []).append(index)
    return [
        f"{f'{device} {port}'.strip()} {_which(scope, numbers)}{counter}"
        for (device, port, scope, counter), numbers in indexes.items()
    ]


def _which(scope: str, indexes: list[int]) -> str:
    if indexes[0] < 0:
        return ""
    if len(indexes) == 1:
        return f"{scope} {indexes[0]} "
    plural = {"queue": "queues", "priority": "priorities"}.get(scope, scope)
    first, last = indexes[0], indexes[-1]
    if len(indexes) > 2 and indexes == list(range(first, last + 1)):
        return f"{plural} {first} to {last} "
    return f"{plural} {', '.join(map(str, indexes[:-1]))} and {last} "


def fact_of(
    difference: Difference, bound: Bound | str, unit: str, margin: float | None = None
) -> Fact:
    """What one counter grew by; where that is not known, the reason. `margin`: of a bound in words
    that is for more than this counter."""
    name, grown = name_of(difference), difference.increase
    note = difference.unusable if grown is None else ""
    if isinstance(bound, Bound):
        return held_to(name, grown, bound, unit, note)
    return Fact(name=name, measured=grown, bound=bound, unit=unit, margin=margin, note=note)


def held_to(name: str, measured: float | None, bound: Bound, unit: str, note: str = "") -> Fact:
    """A number and what is left of its bound."""
    told, margin = (
        (None, None) if measured is None else (bound.told(measured), bound.margin(measured))
    )
    return Fact(name=name, measured=told, bound=bound.said, unit=unit, margin=margin, note=note)


def missing(difference: Difference, bound: str, unit: str) -> Finding:
    """A counter that was needed gave no difference."""
    fact = fact_of(difference, bound, unit)
    return unproven(f"{name_of(difference)}: {difference.unusable}", fact)


def because_of(finding: Finding, why: str) -> Finding:
    """A bound that is not kept says why, too."""
    if finding.outcome is Outcome.PASS:
        return finding
    return replace(finding, because=f"{finding.because}: {why}")


def or_unproven(finding: Finding, why: str = "", *, joined_by: str = ": ") -> Finding:
    """A bound that is not kept says, with `why`, that the evidence is not enough to judge."""
    if finding.outcome is not Outcome.FAIL:
        return finding
    said = f"{finding.because}{joined_by}{why}" if why else finding.because
    return replace(finding, outcome=Outcome.INCONCLUSIVE, because=said)


def unless_stalled(findings: Iterable[Finding], said: str) -> Iterator[Finding]:
    """Who stands still (`said`: who does) leaves the line to the others: what they had of it then
    proves nothing."""
    return (or_unproven(each, said) if said else each for each in findings)


def grew(difference: Difference, unit: str) -> Finding:
    """A counter has to have grown."""
    if difference.increase is None:
        return missing(difference, "> 0", unit)
    fact = fact_of(difference, MORE_THAN_NONE, unit)
    return passed(fact) if difference.increase else failed(f"{name_of(difference)} stayed 0", fact)
