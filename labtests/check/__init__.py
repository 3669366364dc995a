"""Is this lab fit for a run? Read only, one line for each finding (docs/check.md)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from labtests.check import cables, hosts, quiet
from labtests.check.finding import LEVELS, Finding, judged
from labtests.check.gathering import Known, Watching, gather
from labtests.evidence import Difference
from labtests.inventory import Testbed
from labtests.snapshot import Reader
from labtests.transport import Clock

CHECKS = (
    "reachable",
    "obstacles",
    "leftovers",
    "versions",
    "rdma",
    "gid",
    "cabling",
    "speed",
    "fec",
    "mtu",
    "trust",
    "dscp map",
    "pfc",
    "clock",
    "errors",
    "noise",
)
"""The names that --tolerate takes."""

__all__ = ["CHECKS", "LEVELS", "Checked", "Finding", "check", "judged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Everything that was found, check by check; and every counter that grew in the idle lab, which
    verdicts take into account (verdicts/idle.py)."""

    findings: tuple[Finding, ...]
    noise: tuple[Difference, ...] = ()


def check(
    testbed: Testbed, readers: Sequence[Reader], clock: Clock, *, backend: str, idle_s: float
) -> Checked:
    """Ask every device everything. Counters are read twice, at least `idle_s` of the lab's clock
    apart, with the other questions in between; 0 leaves errors and noise out."""
    watching = Watching(readers, clock, idle_s) if idle_s > 0 else None
    known = gather(readers, clock)
    findings = list(_asked(testbed, known, backend))
    if watching is None:
        return Checked(findings=tuple(findings))
    grown = watching.ended()
    findings += [*quiet.errors(grown), *quiet.noise(grown)]
    return Checked(findings=tuple(findings), noise=quiet.grown(grown))


def _asked(testbed: Testbed, known: Mapping[str, Known], backend: str) -> Iterator[Finding]:
    for name in known:
        yield Finding(check="reachable", level="ok", device=name, finding="logged in")
    yield from hosts.obstacles(known)
    yield from hosts.left_behind(known)
    yield from hosts.versions(known)
    yield from hosts.rdma(testbed, known)
    lab = cables.Lab(testbed, known)
    for of_cables in (
        cables.cabling,
        cables.speed,
        cables.fec,
        cables.mtu,
        cables.trust,
        cables.pfc,
    ):
        yield from of_cables(lab)
    yield from hosts.clocks(known, backend=backend)
