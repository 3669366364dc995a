"""From a case file to a CaseFile, or to the list of everything that is wrong with the file."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from labtests.core.errors import InventoryError
from labtests.inventory.document import Readable, read_file
from labtests.inventory.form import checked, exactly
from labtests.inventory.mistakes import Mistakes, nearest, quoted
from labtests.inventory.mistakes import Path as Where
from labtests.network.cases.building import GBIT, reserved_bytes, switch_part
from labtests.network.cases.device_form import GroupPart, MemoryPart, NicPart
from labtests.network.cases.flow_files import FlowTable, read_flows
from labtests.network.cases.form import (
    CaseFile,
    FlowPart,
    LinkPart,
    port_parts,
    switch_parts,
)
from labtests.network.cases.guards import check_guards
from labtests.network.cases.happenings import check_events
from labtests.network.cases.pathways import check_known, check_routes, parts, ports_of
from labtests.network.cases.pause_checks import check_pauses
from labtests.network.cases.workload_checks import check_workloads
from labtests.network.settings import NP_DEFAULTS, RP_DEFAULTS, check_dcqcn

MOST_BINS = 100_000
MOST_SAMPLES = 100_000_000
MOST_BYTES = 2**26
"""Of a case file: some 500 000 flows. More are read from a table (`flows_from`)."""


def load(path: Path | str) -> CaseFile:
    """The case that a file describes. Raises InventoryError with every mistake of the file."""
    file = Path(path)
    document = read_file(Readable(file), most_bytes=MOST_BYTES)
    mistakes = document.mistakes
    case = None
    if document.tree is not None or not mistakes.lines():
        case = checked(document.tree, CaseFile, "a case file", mistakes)
    lines: tuple[str, ...] = ()
    if case is not None:
        table = read_flows(file.parent / case.flows_from) if case.flows_from else None
        own = len(case.flows)
        if table is not None:
            case = case.model_copy(update={"flows": [*case.flows, *table.flows]})
        check_references(case, mistakes, own, table)
        lines = table.mistakes.lines() if table is not None else ()
    lines = (*mistakes.lines(), *lines)
    if lines or case is None:
        raise InventoryError(lines)
    return case


def check_references(case: CaseFile, mistakes: Mistakes, own: int, table: FlowTable | None) -> None:
    """Notes what names nothing, is used twice, or cannot be. Flows from number `own` on are those
    of the table."""

    def note(number: int, key: str, problem: str) -> None:
        if number < own or table is None:
            mistakes.add(("flows", number, key), problem)
        else:
            table.note(number - own, key, problem)

    if not case.flows and table is None and not case.workloads:
        mistakes.add(("flows",), "there are none: give flows, flows_from or workloads")
    check_workloads(case, mistakes)
    check_flows(case, note)
    for name in set(case.hosts) & set(case.switches):
        mistakes.add(("switches", name), f"{name} is a host too", key=True)
    _check_links(case, mistakes)
    for check in (_check_sampling, _check_switches, check_routes, check_guards):
        check(case, mistakes)
    for check in (check_events, _check_parameters, check_pauses):
        check(case, mistakes)
    if case.warmup_ms >= case.duration_ms:
        mistakes.add(("warmup_ms",), f"must be less than duration_ms ({exactly(case.duration_ms)})")
    _check_memories(case, mistakes)


def _check_links(case: CaseFile, mistakes: Mistakes) -> None:
    ends = Counter(name for link in case.links for name in link.between)
    for number, link in enumerate(case.links):
        for end, name in enumerate(link.between):
            check_known(
                name, {*case.hosts, *case.switches}, ("links", number, "between", end), mistakes
            )
            if name in case.hosts and ends[name] > 1:
                mistakes.add(("links", number, "between", end), f"port {name} has two links")
        _check_link(number, link, mistakes)
    for name in case.hosts:
        if ends[name] == 0:
            mistakes.add(("hosts", name), f"host {name} has no link", key=True)


def _check_link(number: int, link: LinkPart, mistakes: Mistakes) -> None:
    if link.between[0] == link.between[1]:
        mistakes.add(("links", number, "between"), "both ends are the same device")
    if (link.delay_us is None) == (link.length_m is None):
        mistakes.add(("links", number), "must have delay_us or length_m, one of them")
    if not (link.rate_gbit_per_s * GBIT).is_integer():
        mistakes.add(("links", number, "rate_gbit_per_s"), "must be whole bits per second")


def check_flows(case: CaseFile, note: Callable[[int, str, str], None]) -> None:
    """Notes flows that cannot be; `note` is told a flow's number, the key and the problem."""
    part_of = parts(case)
    seen: dict[str, FlowPart] = {}
    for number, flow in enumerate(case.flows):
        for key, problem in _of_order(flow, seen):
            note(number, key, problem)
        if flow.name:
            seen[flow.name] = flow
        for key, name in (("source", flow.source), ("target", flow.target)):
            if name not in case.hosts:
                note(number, key, f"{quoted(name)} is not there: {nearest(name, case.hosts)}")
        for key, problem in _of_flow(case, flow):
            note(number, key, problem)
        ends = {part_of[name] for name in (flow.source, flow.target) if name in part_of}
        if len(ends) == 2:
            problem = f"no path from {flow.source} to {flow.target}: add the links between them"
            note(number, "target", problem)


def _of_order(flow: FlowPart, seen: Mapping[str, FlowPart]) -> Iterator[tuple[str, str]]:
    """What is wrong with the flows that it waits for; `seen` are those above it."""
    if flow.after and flow.kind != "rc":
        yield "after", "only rc flows wait for others"
    for name in flow.after or ():
        other = seen.get(name)
        if other is None:
            yield "after", f"no flow above this one has the name {quoted(name)}"
        elif other.kind != "rc" or other.size_bytes is None:
            yield "after", f"{name} has no size_bytes: it is never delivered"


def _of_flow(case: CaseFile, flow: FlowPart) -> Iterator[tuple[str, str]]:
    """Its keys that cannot be as they are."""
    if flow.source == flow.target:
        yield "target", "source and target are the same host"
    if (flow.rate_gbit_per_s is None) == (flow.kind == "udp"):
        needed = flow.kind == "udp"
        yield "rate_gbit_per_s", "a udp flow needs it" if needed else "only a udp flow has a rate"
    if flow.size_bytes is not None and flow.kind != "rc":
        yield "size_bytes", "only an rc flow ends by size: use stop_us"
    if flow.ack_every_packets is not None and flow.go_back == "message":
        yield "ack_every_packets", "go_back: message acknowledges whole messages"
    if flow.recovery == "selective" and (flow.verb == "read" or flow.go_back == "message"):
        yield "recovery", "selective repeat is for send and write, and never goes back"
    if flow.stop_us is not None and flow.stop_us <= flow.start_us:
        yield "stop_us", "must be later than start_us"
    if flow.start_us >= case.duration_ms * 1000:
        yield "start_us", "is not before the end of the case"


def above(bound: float) -> str:
    """A bound in few digits that keeps it: rounded up."""
    digits = 5 - math.floor(math.log10(bound))
    return f"{math.ceil(bound * 10**digits - 1e-6) / 10**digits:g}"


def _check_sampling(case: CaseFile, mistakes: Mistakes) -> None:
    bin_ms, period_us = case.sampling.bin_ms, case.sampling.queue_period_us
    if bin_ms is not None and case.duration_ms / bin_ms > MOST_BINS:
        least = case.duration_ms / MOST_BINS
        mistakes.add(("sampling", "bin_ms"), f"more than {MOST_BINS} bins: at least {above(least)}")
    if period_us is not None and case.duration_ms * 1000 / period_us > MOST_SAMPLES:
        least = case.duration_ms * 1000 / MOST_SAMPLES
        problem = f"more than {MOST_SAMPLES} samples: at least {above(least)}"
        mistakes.add(("sampling", "queue_period_us"), problem)
    for number, queue in enumerate(case.sampling.queues or ()):
        path = ("sampling", "queues", number)
        check_known(queue.switch, set(case.switches), (*path, "switch"), mistakes)
        if queue.switch in case.switches:
            check_known(queue.port, set(ports_of(case, queue.switch)), (*path, "port"), mistakes)


def _check_switches(case: CaseFile, mistakes: Mistakes) -> None:
    """What is said about single ports, and curves that cannot be."""
    for path, switch in switch_parts(case):
        owners = list(case.switches) if path == ("switch",) else [str(path[1])]
        known = set().union(*(ports_of(case, owner) for owner in owners))
        for port in switch.ports or ():
            check_known(port, known, (*path, "ports", port), mistakes, key=True)
    for path, part in port_parts(case):
        for number, curve in enumerate(part.ecn or ()):
            if curve.high_bytes < curve.low_bytes:
                where = (*path, "ecn", number, "high_bytes")
                mistakes.add(where, f"is less than low_bytes ({curve.low_bytes})")
            if curve.poll_period_us is not None and curve.mark == "leaving":
                problem = "a polled queue marks arriving packets, not leaving ones"
                mistakes.add((*path, "ecn", number, "poll_period_us"), problem)


def _check_memories(case: CaseFile, mistakes: Mistakes) -> None:
    """Memory settings that say nothing or contradict, and memories with nothing left to share."""
    for path, part in switch_parts(case):
        if part.memory:
            _check_memory(part.memory, (*path, "memory"), mistakes)
    if mistakes.lines():
        return
    for name, own in case.switches.items():
        total = (switch_part(case, name).memory or MemoryPart()).total_bytes
        reserved = reserved_bytes(case, name)
        if reserved >= total:
            given = ("switch", "memory") if case.switch.memory else ("switches", name)
            mistakes.add(
                ("switches", name, "memory") if own and own.memory else given,
                f"{name}: guaranteed cells and headroom take {reserved} of {total} bytes: nothing "
                "is left to share; raise total_bytes or lower guaranteed_bytes or headroom",
                key=True,
            )


def _check_memory(memory: MemoryPart, path: Where, mistakes: Mistakes) -> None:
    needs = {
        "egress_shared_bytes": memory.egress_alpha is not None,
        "egress_guaranteed_bytes": memory.egress_alpha is not None,
        "headroom_pool_limit_bytes": memory.headroom_pool_bytes > 0,
    }
    for name, there in needs.items():
        if name in memory.model_fields_set and not there:
            other = "egress_alpha" if name.startswith("egress") else "headroom_pool_bytes"
            mistakes.add((*path, name), f"says nothing without {other}", key=True)
    _check_offset(memory.xoff_bytes, memory.xon_offset_bytes, memory, path, mistakes)
    seen: set[int] = set()
    for number, group in enumerate(memory.groups or ()):
        where = (*path, "groups", number)
        if group.alpha is not None and group.xoff_bytes is not None:
            mistakes.add(where, "has alpha (dynamic) and xoff_bytes (static): one of them")
        offset = group.xon_offset_bytes
        offset = memory.xon_offset_bytes if offset is None else offset
        given = memory if group.xon_offset_bytes is None else group
        _check_offset(group.xoff_bytes, offset, given, where, mistakes)
        for priority in group.priorities:
            if priority in seen:
                mistakes.add((*where, "priorities"), f"priority {priority} is given twice")
            seen.add(priority)


def _check_offset(
    xoff_bytes: int | None,
    offset_bytes: int,
    given: MemoryPart | GroupPart,
    path: Where,
    mistakes: Mistakes,
) -> None:
    told = "xon_offset_bytes" in given.model_fields_set
    if xoff_bytes is not None and told and offset_bytes > xoff_bytes:
        problem = f"is above xoff_bytes ({xoff_bytes}): pauses would last until nothing is left"
        mistakes.add((*path, "xon_offset_bytes"), problem)


def _check_parameters(case: CaseFile, mistakes: Mistakes) -> None:
    parts: list[tuple[Where, NicPart]] = [(("nic",), case.nic)]
    parts += [(("hosts", name), part) for name, part in case.hosts.items() if part is not None]
    for path, part in parts:
        if part.dcqcn and part.dcqcn.cnp_polled and part.dcqcn.cnp_pacing != "flow":
            problem = "cnp_polled keeps its interval for each flow"
            mistakes.add((*path, "dcqcn", "cnp_pacing"), problem)
        if part.dcqcn and part.dcqcn.form == "off" and part.dcqcn.rp_priorities:
            mistakes.add((*path, "dcqcn", "rp_priorities"), "form off obeys none")
        for name, value in (part.dcqcn.parameters if part.dcqcn else {}).items():
            place = (*path, "dcqcn", "parameters", name)
            if name not in {**RP_DEFAULTS, **NP_DEFAULTS}:
                hint = nearest(name, {**RP_DEFAULTS, **NP_DEFAULTS})
                mistakes.add(place, f"no DCQCN parameter: {hint}", key=True)
                continue
            try:
                check_dcqcn(name, value)
            except ValueError as error:
                mistakes.add(place, str(error))
