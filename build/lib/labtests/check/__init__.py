"""Is this lab fit for a run? Read only, one line for each finding (docs/check.md)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from labtests.check import cables, hosts, quiet
from labtests.check.deadlock import deadlock
from labtests.check.finding import CheckFinding, Subject, judged
from labtests.check.gathering import Known, Watching, gather
from labtests.check.memory import memory
from labtests.check.rights import notes
from labtests.inventory import Testbed
from labtests.lab.lab import Lab
from labtests.measure.evidence import Difference

CHECKS = (
    "reachable",
    "obstacles",
    "leftovers",
    "versions",
    "rdma",
    "gid",
    "vlan",
    "cabling",
    "speed",
    "fec",
    "mtu",
    "trust",
    "dscp map",
    "queue map",
    "pfc",
    "memory",
    "deadlock",
    "dcbx",
    "clock",
    "errors",
    "noise",
)
"""The names that --tolerate takes."""

__all__ = ["CHECKS", "CheckFinding", "Checked", "check", "judged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Everything that was found, check by check; and every counter that grew in the idle lab, which
    verdicts take into account (verdicts/idle.py)."""

    findings: tuple[CheckFinding, ...]
    noise: tuple[Difference, ...] = ()


def check(lab: Lab, *, idle_s: float, progress: Callable[[str], None] = lambda _: None) -> Checked:
    """Ask every device of an open lab everything. Counters are read twice, at least `idle_s` of the
    lab's clock apart, with the other questions in between; 0 leaves errors and noise out.
    `progress` hears what is waited for."""
    progress(f"asking {len(lab.testbed.devices)} devices")
    watching = Watching(lab, idle_s) if idle_s > 0 else None
    known = gather(lab)
    findings = list(_asked(lab.testbed, known, lab.backend))
    if watching is None:
        return Checked(findings=tuple(findings))
    grown = watching.ended(progress)
    findings += [*quiet.errors(grown), *quiet.noise(grown)]
    return Checked(findings=tuple(findings), noise=quiet.grown(grown))


def _asked(testbed: Testbed, known: Mapping[str, Known], backend: str) -> Iterator[CheckFinding]:
    for name in known:
        yield Subject("reachable", name).ok("logged in")
    yield from hosts.obstacles(known)
    if backend != "simulated":  # an emulated host has nobody to keep from anything
        yield from notes({name: device.rights for name, device in known.items()})
    yield from hosts.left_behind(known)
    yield from hosts.versions(known)
    yield from hosts.rdma(testbed, known)
    yield from hosts.vlans(testbed, known)
    lab = cables.CheckedLab(testbed, known)
    for of_cables in (
        cables.cabling,
        cables.speed,
        cables.fec,
        cables.mtu,
        cables.trust,
        cables.queue_map,
        cables.pfc,
        cables.dcbx,
        memory,
        deadlock,
    ):
        yield from of_cables(lab)
    yield from hosts.clocks(known, backend=backend)
