"""Patterns of traffic as flows. Same case, same seed: same flows.

poisson        each host starts flows at random times (exponential gaps) to random others
incast         every period, so many hosts send to one at the same moment
permutation    each host sends to one other, each receives from one other
ring-all-reduce    2 (n - 1) steps, in each of which every host sends 1/n of the data to the next; a
                   step's flow starts when the part that it passes on has been received
tree-all-reduce    up a binary tree, and down again; a host sends when all is there that it waits
                   for
all-to-all     n - 1 steps: 1/n of each host's data to the next but k; one step behind the other
background-tcp a permutation of TCP connections without end
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from labtests.network.cases.form import CaseFile, FlowPart
from labtests.network.cases.host_ports import is_first
from labtests.network.cases.sizes import SizeDistribution, constant, mean_wire_bytes, published
from labtests.network.cases.workload_form import WorkloadPart
from labtests.network.tables import OVERHEAD_BYTES

Ends = tuple[str, str]
Keys = dict[str, Any]


def expanded(case: CaseFile, seed: int) -> CaseFile:
    """The same case with the flows of its workloads behind its own."""
    if not case.workloads:
        return case
    flows = list(case.flows)
    for part in case.workloads:
        random = Random(f"{seed} {part.name}")
        base = FlowPart.model_validate({"source": "a", "target": "b", **part.flow})
        given = {name: getattr(base, name) for name in base.model_fields_set}
        flows += [
            FlowPart.model_construct(**{**given, **keys})
            for keys in PATTERNS[part.pattern](case, part, random)
        ]
    return case.model_copy(update={"flows": flows, "workloads": []})


def hosts_of(case: CaseFile, part: WorkloadPart) -> list[str]:
    """Its hosts; unless they are given all, each by its first link."""
    return list(filter(is_first, case.hosts)) if part.hosts is None else part.hosts


def stop_us_of(case: CaseFile, part: WorkloadPart) -> float:
    """When its last flow may start."""
    end_us = case.duration_ms * 1000
    return end_us if part.stop_us is None else min(part.stop_us, end_us)


def distribution(part: WorkloadPart) -> SizeDistribution:
    """The sizes of a workload's flows."""
    return published()[part.sizes] if part.sizes else constant(part.size_bytes or 1)


def gap_us(case: CaseFile, part: WorkloadPart, host: str) -> float:
    """The mean time between two flows of this host at the load."""
    flow = FlowPart.model_validate({"source": "a", "target": "b", **part.flow})
    rate = next(link.rate_gbit_per_s for link in case.links if host in link.between)
    around = flow.header_bytes + OVERHEAD_BYTES
    wire = mean_wire_bytes(distribution(part), flow.mtu_bytes, around)
    return wire * 8 / (rate * 1000 * (part.load or 1.0))


def _poisson(case: CaseFile, part: WorkloadPart, random: Random) -> Iterator[Keys]:
    hosts, sizes = hosts_of(case, part), distribution(part)
    stop_us, made = stop_us_of(case, part), []
    for host in hosts:
        mean_us, others = gap_us(case, part, host), [name for name in hosts if name != host]
        time_us = part.start_us + random.expovariate(1 / mean_us)
        while time_us < stop_us:
            made.append((time_us, host, random.choice(others), sizes.quantile(random.random())))
            time_us += random.expovariate(1 / mean_us)
    for number, (time_us, source, target, size) in enumerate(sorted(made)):
        yield _keys(part, f"{number}", (source, target), start_us=time_us, size_bytes=size)


def _incast(case: CaseFile, part: WorkloadPart, random: Random) -> Iterator[Keys]:
    others = [name for name in hosts_of(case, part) if name != part.target]
    time_us, burst = part.start_us, 0
    while time_us < stop_us_of(case, part):
        for source in random.sample(others, min(part.senders or len(others), len(others))):
            ends = (source, str(part.target))
            name = f"{burst}.{source}"
            yield _keys(part, name, ends, start_us=time_us, size_bytes=part.size_bytes)
        if part.period_us is None:
            return
        burst += 1
        time_us = part.start_us + burst * part.period_us


def _pairs(hosts: Sequence[str], random: Random) -> Iterator[Ends]:
    order = random.sample(list(hosts), len(hosts))
    yield from zip(order, [*order[1:], order[0]], strict=True)


def _permutation(case: CaseFile, part: WorkloadPart, random: Random) -> Iterator[Keys]:
    for ends in _pairs(hosts_of(case, part), random):
        name = f"{ends[0]}-{ends[1]}"
        yield _keys(part, name, ends, start_us=part.start_us, size_bytes=part.size_bytes)


def _background_tcp(case: CaseFile, part: WorkloadPart, random: Random) -> Iterator[Keys]:
    for ends in _pairs(hosts_of(case, part), random):
        name, stop_us = f"{ends[0]}-{ends[1]}", part.stop_us
        yield _keys(part, name, ends, start_us=part.start_us, kind="tcp", stop_us=stop_us)


def _share(part: WorkloadPart, number: int, of: int) -> int:
    """The size in bytes of one of so many parts of the data."""
    size = part.size_bytes or 1
    return max(1, size * (number + 1) // of - size * number // of)


def _ring(case: CaseFile, part: WorkloadPart, _: Random) -> Iterator[Keys]:
    hosts = hosts_of(case, part)
    count = len(hosts)
    steps = 2 * (count - 1)
    for step in range(part.repeat * steps):
        for number, host in enumerate(hosts):
            within = step % steps
            name, before = f"{step}.{number}", f"{step - 1}.{(number - 1) % count}"
            yield _keys(
                part,
                name,
                (host, hosts[(number + 1) % count]),
                size_bytes=_share(part, (number - within) % count, count),
                **_behind(part, [before] if step else []),
            )


def _tree(case: CaseFile, part: WorkloadPart, _: Random) -> Iterator[Keys]:
    hosts = hosts_of(case, part)
    ended: list[str] = []
    for turn in range(part.repeat):
        for child in range(len(hosts) - 1, 0, -1):  # up: the leaves first
            below = [f"{turn}.up{n}" for n in (2 * child + 1, 2 * child + 2) if n < len(hosts)]
            ends = (hosts[child], hosts[(child - 1) // 2])
            behind = _behind(part, below or ended)
            yield _keys(part, f"{turn}.up{child}", ends, size_bytes=part.size_bytes, **behind)
        top = [f"{turn}.up{n}" for n in (1, 2) if n < len(hosts)]
        for child in range(1, len(hosts)):
            parent = (child - 1) // 2
            ends = (hosts[parent], hosts[child])
            behind = _behind(part, [f"{turn}.down{parent}"] if parent else top)
            yield _keys(part, f"{turn}.down{child}", ends, size_bytes=part.size_bytes, **behind)
        ended = [f"{turn}.down{n}" for n in range(1, len(hosts))]


def _all_to_all(case: CaseFile, part: WorkloadPart, _: Random) -> Iterator[Keys]:
    hosts = hosts_of(case, part)
    count = len(hosts)
    for step in range(part.repeat * (count - 1)):
        for number, host in enumerate(hosts):
            to = (number + 1 + step % (count - 1)) % count
            yield _keys(
                part,
                f"{step}.{number}",
                (host, hosts[to]),
                size_bytes=_share(part, to, count),
                **_behind(part, [f"{step - 1}.{number}"] if step else []),
            )


def _behind(part: WorkloadPart, names: Sequence[str]) -> Keys:
    """Starts with the workload, or when those flows of it are delivered."""
    if not names:
        return {"start_us": part.start_us}
    return {"start_us": 0.0, "after": [f"{part.name}.{name}" for name in names]}


def _keys(part: WorkloadPart, name: str, ends: Ends, **more: Any) -> Keys:
    return {"name": f"{part.name}.{name}", "source": ends[0], "target": ends[1], **more}


PATTERNS: dict[str, Callable[[CaseFile, WorkloadPart, Random], Iterator[Keys]]] = {
    "poisson": _poisson,
    "incast": _incast,
    "permutation": _permutation,
    "ring-all-reduce": _ring,
    "tree-all-reduce": _tree,
    "all-to-all": _all_to_all,
    "background-tcp": _background_tcp,
}
