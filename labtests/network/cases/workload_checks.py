"""What is wrong with the workloads of a case."""

from collections.abc import Iterator

from pydantic import ValidationError

from labtests.inventory.form import sentence_of
from labtests.inventory.mistakes import Mistakes, nearest, quoted
from labtests.network.cases.form import CaseFile, FlowPart
from labtests.network.cases.workload_form import ALLOWED, NEEDED, WorkloadPart
from labtests.network.cases.workloads import gap_us, hosts_of, stop_us_of

MOST_FLOWS = 2_000_000
OWN_KEYS = ("name", "source", "target", "start_us", "size_bytes", "after", "kind")
"""Keys that a workload gives each flow itself."""


def check_workloads(case: CaseFile, mistakes: Mistakes) -> None:
    """Notes workloads that cannot be."""
    names: set[str] = set()
    for number, part in enumerate(case.workloads):
        for key, problem in _problems(case, part):
            mistakes.add(("workloads", number, key), problem)
        if part.name in names:
            mistakes.add(("workloads", number, "name"), "given twice")
        names.add(part.name)


def _problems(case: CaseFile, part: WorkloadPart) -> Iterator[tuple[str, str]]:
    for key, names in (("hosts", part.hosts or []), ("target", [part.target or ""])):
        for name in filter(None, names):
            if name not in case.hosts:
                yield key, f"{quoted(name)} is not there: {nearest(name, case.hosts)}"
    yield from _of_hosts(case, part)
    yield from _of_pattern(part)
    wrong = list(_of_flow_keys(part))
    yield from wrong
    if not wrong:
        yield from _too_many(case, part)


def _of_hosts(case: CaseFile, part: WorkloadPart) -> Iterator[tuple[str, str]]:
    hosts = hosts_of(case, part)
    others = len(set(hosts) - {part.target})
    if len(set(hosts)) < 2:
        yield "hosts", "there must be two or more"
    for name in sorted({name for name in hosts if hosts.count(name) > 1}):
        yield "hosts", f"{quoted(name)} is given twice"
    if part.senders and part.senders > others:
        yield "senders", f"{part.senders}, but there are {others} hosts beside the target"


def _of_pattern(part: WorkloadPart) -> Iterator[tuple[str, str]]:
    for key in NEEDED[part.pattern]:
        if getattr(part, key) is None:
            yield "pattern", f"{part.pattern} needs {key}"
    for key, patterns in ALLOWED.items():
        if key in part.model_fields_set and part.pattern not in patterns:
            yield key, f"goes with {', '.join(patterns)}, not with {part.pattern}"
    if part.pattern == "poisson" and (part.sizes is None) == (part.size_bytes is None):
        yield "pattern", "poisson needs sizes or size_bytes, one of them"


def _of_flow_keys(part: WorkloadPart) -> Iterator[tuple[str, str]]:
    for key in part.flow:
        if key in OWN_KEYS:
            yield "flow", f"{key} is the workload's to say"
    try:
        FlowPart.model_validate({**part.flow, "source": "a", "target": "b"})
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            key = str(detail["loc"][0])
            if detail["type"] == "extra_forbidden":
                yield "flow", f"unknown key {key}: {nearest(key, FlowPart.model_fields)}"
            else:
                yield "flow", f"{key} {sentence_of(detail)}"


def _too_many(case: CaseFile, part: WorkloadPart) -> Iterator[tuple[str, str]]:
    key = next((name for name in ("load", "period_us") if getattr(part, name)), "repeat")
    flows = _flows(case, part)
    if flows > MOST_FLOWS:
        yield key, f"makes some {flows:.0f} flows; more than {MOST_FLOWS} are not made"


def _flows(case: CaseFile, part: WorkloadPart) -> float:
    """About how many flows a workload becomes."""
    hosts, time_us = hosts_of(case, part), stop_us_of(case, part) - part.start_us
    others = len(hosts) - 1
    if part.load:
        linked = {name for link in case.links for name in link.between}
        return sum(time_us / gap_us(case, part, host) for host in hosts if host in linked)
    if part.pattern == "incast":
        bursts = time_us / part.period_us if part.period_us else 1
        return bursts * min(part.senders or others, others)
    each = {
        "ring-all-reduce": 2 * others * len(hosts),
        "tree-all-reduce": 2 * others,
        "all-to-all": others * len(hosts),
    }
    return part.repeat * each.get(part.pattern, len(hosts))
