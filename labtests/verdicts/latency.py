"""How long small messages of a class took beside a load, as probes of both kinds tell.

A probe tells half of there and back (perftest's ping-pong). What waits, waits on the way there: the
way back is free. So of two medians or percentiles, the way there took twice their difference.
"""

from collections.abc import Iterator

from labtests.capabilities.flows import FlowStatus, Latency
from labtests.core.units import dscp_of_tos
from labtests.measure.evidence import Evidence
from labtests.verdicts import checks, outcome, packets, port_drops
from labtests.verdicts.bounds import Bound
from labtests.verdicts.outcome import (
    Finding,
    Outcome,
    Verdict,
    conclude,
    failed,
    held_to,
    passed,
    unproven,
)

AT_ONCE_US = 3.0
"""What a CNP may take to its source (row S21 of docs/sources.md), of waiting alone. A frame that is
being sent when the message comes is added to it, at each port."""
AT_REST_US = 100.0
"""What nobody's small message takes at the least in a lab at rest: two NICs, some switches and
300 m of cable make 10."""
MESSAGES_AT_LEAST = 1000
"""So that a percentile of 99 rests on ten messages."""
SCHEDULER = "look at the scheduler of the bottleneck, and at the queue of this DSCP"
PFC = "look at PFC of the load's priority at both ends of each cable, and at xoff and headroom"


def passed_at_once(evidence: Evidence, calm: Evidence, *, tos: int) -> Verdict:
    """Probes of this class waited no longer than for the frames that were on the wire already,
    although the bottleneck was full of a load that PFC holds, which lost nothing. `calm` is a phase
    without congestion."""
    before = (outcome.because_of(each, f"in {calm.name!r}") for each in _load_lost(calm))
    lost = (*_load_lost(evidence), *before)
    of_the_load = any(each.outcome is Outcome.FAIL for each in lost)
    return conclude(
        f"Did DSCP {dscp_of_tos(tos)} pass the full port at once?",
        evidence,
        (*_passed_at_once(evidence, calm, tos), *lost),
        passing="; ".join(_said(evidence, calm, tos)),
        remedy=PFC if of_the_load else SCHEDULER,
    )


def _passed_at_once(evidence: Evidence, calm: Evidence, tos: int) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from checks.ran(calm)
    yield checks.congestion_proven(evidence)
    if checks.congestion_proven(calm).outcome is Outcome.PASS:
        yield unproven(
            f"the bottleneck was congested in {calm.name!r}, too: nothing to compare with"
        )
    for seen in (evidence, calm):
        yield from packets.none_dropped(seen, set(seen.read_queues) - set(seen.queues))
    for probe in (*evidence.probes, *calm.probes):
        untold = probe.latency is None or probe.iterations == 0
        if probe.tos == tos and probe.status is FlowStatus.COMPLETE and untold:
            yield unproven(f"{probe.sender} -> {probe.receiver} ({probe.tool}) told no latency")
    probes = _latencies(evidence, tos)
    if not probes:
        yield unproven(f"no probe of DSCP {dscp_of_tos(tos)} told its latencies")
    for way, loaded in probes.items():
        yield from _waited(evidence, way, loaded, _latencies(calm, tos).get(way))


def _load_lost(evidence: Evidence) -> Iterator[Finding]:
    """In its own queues of the bottleneck, and at the ports before it: where PFC does not hold it,
    the port is as full, and a strict class as early."""
    yield from packets.none_dropped(evidence, evidence.queues)
    yield from port_drops.switch_ports_kept(evidence)


def _waited(
    evidence: Evidence, way: tuple[str, str], loaded: Latency, idle: Latency | None
) -> Iterator[Finding]:
    said, most = " -> ".join(way), _bound_us(evidence)
    if idle is None:
        yield unproven(f"{said}: no latency without congestion to compare with")
        return
    if idle.least_us > AT_REST_US:
        yield unproven(
            f"{said}: without congestion its messages took {idle.least_us} µs at the least: "
            "something else holds them"
        )
    if 2 * (idle.p99_us - idle.least_us) > most:
        yield unproven(
            f"{said}: without congestion its messages took {idle.least_us} to {idle.p99_us} µs, "
            "too unlike each other to compare with"
        )
    # one that was lost and repeated is no percentile, and lasts until the load is over
    yield _within(f"{said}: mean wait", _us(loaded.mean_us, idle), most)
    yield _within(f"{said}: wait of 99 %", _us(loaded.p99_us, idle), most)
    if loaded.messages < MESSAGES_AT_LEAST:
        yield unproven(f"{said}: a percentile of {loaded.messages} messages")


def _within(name: str, waited_us: float, most_us: float) -> Finding:
    fact = held_to(name, waited_us, Bound(said=f"<= {most_us:.2f}", most=most_us, digits=2), "µs")
    if waited_us <= most_us:
        return passed(fact)
    explained = f"{most_us:.1f} µs, which frames on the wire explain"
    return failed(f"{name} was {waited_us:.1f} µs, more than {explained}", fact)


def _us(loaded_us: float, idle: Latency) -> float:
    """What messages waited on the way there, that took so long."""
    return max(2 * (loaded_us - idle.typical_us), 0.0)


def _bound_us(evidence: Evidence) -> float:
    """A frame of the largest MTU at each port that sends the load, too (the sender's NIC, those
    between switches, the bottleneck), and what a CNP may take."""
    frame_bits = 8 * max(evidence.own_mtu_bytes.values(), default=evidence.mtu_bytes or 9216)
    return AT_ONCE_US + (2 + len(evidence.transit)) * frame_bits / evidence.line_bits_per_s * 1e6


def _latencies(evidence: Evidence, tos: int) -> dict[tuple[str, str], Latency]:
    return {
        (probe.sender, probe.receiver): probe.latency
        for probe in evidence.probes
        if probe.tos == tos and probe.status is FlowStatus.COMPLETE and probe.latency is not None
    }


def _said(evidence: Evidence, calm: Evidence, tos: int) -> Iterator[str]:
    idle = _latencies(calm, tos)
    for way, loaded in _latencies(evidence, tos).items():
        if way in idle:
            yield f"{' -> '.join(way)}: 99 % waited at most {_us(loaded.p99_us, idle[way]):.1f} µs"
