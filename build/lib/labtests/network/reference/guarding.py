"""Closed forms of guards against endless pause: when they act, what they drop, what deadlocks."""

from collections.abc import Iterator, Mapping
from typing import Any

from labtests.network.cases import CaseFile, Figures, run
from labtests.network.cases.building import build, start
from labtests.network.cases.pauses import HOST_INTERFACE
from labtests.network.reference import formulas
from labtests.network.reference.judging import Family, ValidationRow, check
from labtests.network.reference.stars import star

STORM_MS = 5
"""When the receiver's NIC begins to pause priority 3."""
MOMENT_MS = 0.001
"""More than a pause frame needs to arrive, less than a poll's distance from it in these cases."""
EXACT = 1e-9
NS_PER_MS = 1_000_000
DATAGRAM, ON_THE_WIRE = 1000, 1000 + 8 + 20 + 18 + 20


def stormy(
    guard: Mapping[str, Any], *, stop_ms: float | None = None, duration_ms: float
) -> CaseFile:
    """Two senders at 25G into a NIC that pauses every ms from 5 ms on."""
    flows = [{"source": f"h{n}", "priority": 3} for n in (1, 2)]
    storm: dict[str, Any] = {"device": "receiver", "priorities": [3], "period_us": 1000.0}
    storm["start_us"] = STORM_MS * 1000.0
    storm["stop_us"] = None if stop_ms is None else stop_ms * 1000
    return star(25, flows, duration_ms=duration_ms, switch=dict(guard), storms=[storm])


def shutdowns() -> Iterator[ValidationRow]:
    """A watchdog shuts at the first poll behind interval x multiplier of pause: 100..199 ms."""
    for interval, multiplier, phase in (
        *((100, 1, phase) for phase in (0, 4, 5, 6, 50, 99)),
        (200, 1, 30),
        (100, 3, 70),
    ):
        detection = interval * multiplier
        guard = {"interval_ms": interval, "shutdown_multiplier": multiplier, "phase_ms": phase}
        figures = run(stormy({"watchdog": guard}, duration_ms=detection + 110.0))
        blocked = STORM_MS + MOMENT_MS
        expected = formulas.next_poll(blocked + detection, 100, phase) - STORM_MS
        row = check(f"watchdog_shut_{interval}x{multiplier}_phase{phase}", "ms of pause")
        yield row.near(_time(figures, "last_shut_ms") - STORM_MS, expected, EXACT)


def restores() -> Iterator[ValidationRow]:
    """Auto-restore counts from the last pause, fixed-restore from the shutdown."""
    for multiplier, phase in ((1, 30), (3, 80)):
        guard = {"auto_restore_multiplier": multiplier, "phase_ms": phase}
        case = stormy({"watchdog": guard}, stop_ms=220.5, duration_ms=340 + 100.0 * multiplier)
        expected = formulas.next_poll(220 + MOMENT_MS + 100 * multiplier, 100, phase)
        row = check(f"watchdog_auto_restore_x{multiplier}", "ms, restored at")
        yield row.near(_time(run(case), "last_restored_ms"), expected, EXACT)
    for multiplier in (1, 2):
        guard = {"auto_restore_multiplier": 0, "fixed_restore_multiplier": multiplier}
        case = stormy({"watchdog": guard | {"phase_ms": 30}}, duration_ms=145 + 100.0 * multiplier)
        row = check(f"watchdog_fixed_restore_x{multiplier}", "ms, restored at")
        measured = _time(run(case), "last_restored_ms")
        yield row.near(measured, 130 + 100 * multiplier, EXACT)


def detections() -> Iterator[ValidationRow]:
    """A deadlock detection acts at the first tick of its timer behind its interval."""
    for interval, precision in ((15, 1), (50, 10), (300, 100)):
        guard = {"interval_ms": interval, "precision_ms": precision, "delay_ms": 20, "phase_ms": 0}
        case = stormy({"deadlock": guard}, duration_ms=STORM_MS + interval + precision + 21.0)
        figures = run(case)
        expected = formulas.next_poll(STORM_MS + MOMENT_MS + interval, precision, 0)
        row = check(f"deadlock_detected_{interval}ms_by_{precision}ms", "ms, detected at")
        yield row.near(_time(figures, "last_shut_ms"), expected, EXACT)
        if precision <= 20:
            row = check(f"deadlock_recovered_{interval}ms_by_{precision}ms", "ms, recovered at")
            yield row.near(_time(figures, "last_restored_ms"), expected + 20, EXACT)


def _time(figures: Figures, field: str) -> float:
    """When the guard towards the receiver acted; 0 if it did not."""
    times = [getattr(guard, field) for guard in figures.guards if guard.port == "receiver"]
    return float(times[0] or 0) if times else 0.0


def conservation() -> list[ValidationRow]:
    """Every packet sent was delivered, drained or dropped, and is counted so once."""
    guard = {"interval_ms": 10, "poll_ms": 10, "auto_restore_multiplier": 1, "phase_ms": 3}
    flow = {"kind": "udp", "rate_gbit_per_s": 10.0, "priority": 3}
    ends = (("h1", "receiver"), ("h2", "receiver"), ("receiver", "h3"))
    flows = [{**flow, "source": source, "target": target} for source, target in ends]
    case = stormy({"watchdog": guard}, stop_ms=60.5, duration_ms=120.0)
    case = CaseFile.model_validate({**case.model_dump(), "flows": flows})
    network = build(case)
    started = [start(network, case, flow) for flow in case.flows]
    network.advance_to(STORM_MS * NS_PER_MS)
    receiver = network.nic("receiver", HOST_INTERFACE)
    receiver.flow_control.storm(frozenset({3}), stop_ns=60 * NS_PER_MS)
    network.advance_to(100 * NS_PER_MS)
    for each in started:
        each.stop()
    network.advance_to(120 * NS_PER_MS)
    nics = [network.nic(host, HOST_INTERFACE).counters() for host in case.hosts]
    counts = network.switch("s1").guards.counters("receiver")[3]
    dropped = counts.drained + counts.aggregate_dropped + counts.aggregate_ingress_dropped
    received = sum(nic.rx_packets[3] for nic in nics)
    places = [network.switch("s1").drop_counters(port) for port in network.switch("s1").ports]
    row = check("watchdog_conservation", "packets delivered or dropped")
    place = check("watchdog_drops_by_place", "packets dropped")
    return [
        row.near(received + dropped, sum(nic.tx_packets[3] for nic in nics), 0.0),
        place.near(sum(drops.watchdog_drops for drops in places), dropped, 0.0),
        check("watchdog_drops", "kinds of drops that happened, of 3").near(
            sum(count > 0 for count in (counts.drained, counts.dropped, counts.ingress_dropped)),
            3,
            0.0,
        ),
    ]


def deadlocks() -> Iterator[ValidationRow]:
    """A loop of n switches deadlocks if, and only if, the rate on the wire is above n B / TTL."""
    for switches, ttl in ((4, 16), (3, 24), (5, 64)):
        critical = formulas.loop_drain(switches, 100.0, ttl)
        for share in (0.97, 1.03):
            figures = run(loop(switches, ttl, share * critical * DATAGRAM / ON_THE_WIRE))
            standing = sum(queue.series_bytes[-1] for queue in figures.queues) / 1000
            row = check(f"loop_of_{switches}_ttl{ttl}_at_{share:g}", "kB left, sender off")
            full = switches * 100.0 if share > 1 else 0.0
            yield row.between(standing, (full, 3 * full), full)


def loop(switches: int, ttl: int, rate_gbit_per_s: float, **more: Any) -> CaseFile:
    """So many switches in a ring of 100G links send packets round; the sender stops at 6 ms."""

    def link(one: str, other: str) -> dict[str, Any]:
        return {"between": [one, other], "rate_gbit_per_s": 100.0, "length_m": 5.0}

    ring = [(f"s{n + 1}", f"s{(n + 1) % switches + 1}") for n in range(switches)]
    memory = {"xoff_bytes": 100_000, "xon_offset_bytes": 3120}
    flow = {"kind": "udp", "rate_gbit_per_s": rate_gbit_per_s, "datagram_bytes": DATAGRAM}
    flow |= {"source": "sender", "target": "target", "ttl": ttl, "stop_us": 6000.0}
    tree = {
        "name": "loop",
        "duration_ms": 8,
        "hosts": {"sender": None, "target": None},
        "switches": {one: {"routes": [{"to": "target", "via": other}]} for one, other in ring},
        "nic": {"pfc": [3]},
        "switch": {"pfc": [3], "memory": memory, **more},
        "links": [
            link("sender", "s1"),
            link("target", f"s{switches}"),
            *(link(*ends) for ends in ring),
        ],
        "flows": [flow],
        "sampling": {"queues": [{"switch": one, "port": other} for one, other in ring]},
    }
    return CaseFile.model_validate(tree)


QUICK: tuple[Family, ...] = (
    shutdowns,
    restores,
    detections,
    conservation,
    deadlocks,
)
