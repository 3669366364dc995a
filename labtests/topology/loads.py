"""Loads for the packet network: what makes a cycle lock, and random ones. As cases.

Each sender and each receiver is a host of its own, plugged into the switch that the network's hosts
are plugged into, as fast as the cable behind it; explicit routes say which of several equal ways
its packets take, as the hash of a switch may.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labtests.network.cases import CaseFile
from labtests.topology.convergence import Transition
from labtests.topology.dependencies import Cycle, Routed, Turn
from labtests.topology.fabric import LINK, NONE_DEAD, Dead, Fabric
from labtests.topology.routing import Target, hops_to, path, sources_of

BITS_OF_A_LOAD = 120e6
"""At the slowest cable: 12 ms at 10 Gbit/s, enough to fill what a switch shares by default."""
DRAINS = 3
"""So many times as long the network is left alone then."""
BEGINS, ENDS = 0.1, 0.8
"""Of a load: when routes begin to change, and when all have."""
MOST_SINKS = 12
"""Of a random load."""
DATAGRAM_BYTES = 1400
GIGA = 1e9
NOT_OF_A_LOAD = (
    "watchdog",
    "deadlock",
    "pause_timeout",
    "link_pause",
    "ports",
    "routes",
    "hash_seed",
)
"""Guards would release what locks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Somebody plugged into a switch sends at line rate to somebody at another one, on one way.
    Demands of the same `sink` have the same receiver. `at`: the switch that takes them for
    `priority`; others may have other maps."""

    source: int
    target: Target
    channels: tuple[int, ...]
    priority: int
    sink: int = 0
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Demands, the channel by which each switch sends on to each sink, and what changes when."""

    fabric: Fabric
    demands: tuple[Demand, ...]
    routes: Mapping[tuple[int, int], int | None]
    dead: Dead = NONE_DEAD
    events: tuple[tuple[float, dict[str, Any]], ...] = ()


def demands(network: Routed, cycle: Cycle) -> tuple[Demand, ...]:
    """For each turn of a cycle somebody who takes it; none where that is not known of a turn (into
    a tunnel)."""
    made = [
        _through(network, turn, priority)
        for turn, priority in zip(cycle.turns, _sent(network.fabric, cycle), strict=True)
    ]
    known = [each for each in made if each is not None]
    whole = len(known) == len(made)
    return tuple(replace(each, sink=number) for number, each in enumerate(known)) if whole else ()


def _sent(fabric: Fabric, cycle: Cycle) -> list[int]:
    """With what priority packets take each turn. What a link pause holds is that of the next
    channel, or any."""
    held = cycle.held or cycle.priorities[:1] * len(cycle.channels)
    lossless = sorted(fabric.everywhere - {LINK}) or [3]
    return [
        next((each for each in (one, other) if each != LINK), lossless[0])
        for one, other in zip(held, (*held[1:], held[0]), strict=True)
    ]


def _through(network: Routed, turn: Turn, priority: int) -> Demand | None:
    fabric, way = network.fabric, network.way(turn)
    if way is None:
        return None
    target, start, channels = way
    return Demand(
        source=start,
        target=target,
        channels=channels,
        priority=priority,
        at=fabric.heads[turn[0]],
    )


def again(network: Routed, wanted: Iterable[Demand]) -> tuple[Demand, ...]:
    """The same demands by the routes of another network."""
    by_name = {target.name: hops for target, hops in network.hops}
    return tuple(
        replace(
            each,
            channels=tuple(
                path(network.fabric, by_name[each.target.name], each.source, each.channels)
            ),
        )
        for each in wanted
    )


def steady(fabric: Fabric, wanted: Sequence[Demand], dead: Dead) -> Load:
    """Nothing changes. Who is at the same switch needs no channel, and is left out."""
    wanted = [each for each in wanted if each.channels]
    routes = {(each.sink, fabric.tail(c)): c for each in wanted for c in each.channels}
    return Load(fabric=fabric, demands=tuple(wanted), routes=routes, dead=dead)


def changing(
    transition: Transition, wanted: Sequence[Demand], rounds: Sequence[Iterable[int]]
) -> Load:
    """An element fails or comes back, then switches update their routes in these rounds."""
    fabric, change = transition.fabric, transition.change
    hops = {target.name: (old, new) for target, old, new in transition.hops}
    names, begins = port_names(fabric, NONE_DEAD), dict[tuple[int, int], int | None]()
    events = list[tuple[float, dict[str, Any]]]()
    for channel in fabric.dead(change.element):
        at = {"device": fabric.switches[fabric.tail(channel)], "port": names[channel]}
        events.append((0.0 if change.repair else BEGINS / 2, {"do": "down", **at}))
        events += [(BEGINS / 2, {"do": "up", **at})] if change.repair else []
    for each in wanted:
        old, new = hops[each.target.name]
        before = hops_to(
            fabric, each.target, fabric.dead(change.element) if change.repair else NONE_DEAD
        )
        for v in {*before, *new}:
            outs = old.get(v) or before.get(v) or new.get(v, ())
            begins[each.sink, v] = _chosen(each, outs)
        for number, switches in enumerate(rounds):
            when = BEGINS + (ENDS - BEGINS) * number / max(1, len(rounds) - 1)
            for v in switches:
                out = _chosen(each, new.get(v, ()))
                via = [] if out is None else [names[out]]
                what = {"do": "route", "device": fabric.switches[v], "to": f"sink{each.sink}"}
                events.append((when, {**what, "via": via}))
    return Load(fabric=fabric, demands=tuple(wanted), routes=begins, events=tuple(events))


def _chosen(demand: Demand, outs: Sequence[int]) -> int | None:
    return next((out for out in outs if out in demand.channels), outs[0] if outs else None)


def random_load(network: Routed, seed: int) -> Load | None:
    """Some senders, each at a switch with hosts, to some receivers; which of equal ways, which
    priority and how many, all at random. None where nobody has anybody to send to."""
    drawn, fabric = random.Random(seed), network.fabric
    priorities = sorted({each for some, _ in fabric.planes for each in some} - {LINK}) or [3]
    sinks = [drawn.choice(network.hops) for _ in range(drawn.randint(1, MOST_SINKS))]
    wanted = list[Demand]()
    for sink, (target, hops) in enumerate(sinks):
        one = {switch: (drawn.choice(outs),) for switch, outs in hops.items() if outs}
        sources = [each for each in sources_of(fabric, target) if one.get(each)]
        for source in drawn.choices(sources, k=drawn.choice((1, 1, 2, 3))) if sources else ():
            wanted.append(
                Demand(
                    source=source,
                    target=target,
                    channels=tuple(path(fabric, one, source)),
                    priority=drawn.choice(priorities),
                    sink=sink,
                )
            )
    return steady(fabric, wanted, NONE_DEAD) if wanted else None


def case_of(load: Load, base: Mapping[str, Any] | None = None) -> CaseFile:
    """A load as a case. `base`: settings of a case, which hold here too."""
    fabric = load.fabric
    alive = [each for n, each in enumerate(fabric.cables) if 2 * n not in load.dead]
    links = [(each.switches, each.bits_per_s) for each in alive]
    hosts = dict[str, None]()
    for number, each in enumerate(load.demands):
        rate = fabric.cables[each.channels[0] >> 1].bits_per_s
        for name, switch in (
            (f"load{number}", each.source),
            (f"sink{each.sink}", each.target.switch),
        ):
            if name not in hosts:
                hosts[name] = None
                links.append(((name, fabric.switches[switch]), rate))
    slowest = min(rate for _, rate in links)
    load_us = BITS_OF_A_LOAD / slowest * 1e6
    events = [
        {"at_us": share * load_us, **what}
        for share, what in load.events
        if what.get("to", "sink0") in hosts
    ]
    return CaseFile.model_validate(
        {
            **_settings(load, base or {}),
            "duration_ms": load_us * (1 + DRAINS) / 1000,
            "hosts": hosts,
            "links": [
                {"between": list(ends), "rate_gbit_per_s": rate / GIGA, "length_m": 2.0}
                for ends, rate in links
            ],
            "flows": [
                {
                    "source": f"load{number}",
                    "target": f"sink{each.sink}",
                    "kind": "udp",
                    "priority": each.priority,
                    "dscp": _dscp(load, each, base or {}),
                    "rate_gbit_per_s": fabric.cables[each.channels[0] >> 1].bits_per_s / GIGA,
                    "datagram_bytes": DATAGRAM_BYTES,
                    "stop_us": load_us,
                }
                for number, each in enumerate(load.demands)
            ],
            "events": events,
            "sampling": _sampling(load, load_us),
        }
    )


def port_names(fabric: Fabric, dead: Dead) -> dict[int, str]:
    """The name of each channel's port in a case without what is dead: whom it leads to."""
    used: Counter[tuple[str, str]] = Counter()
    found = {}
    for channel in (c for c in range(len(fabric.heads)) if c not in dead):
        tail, head = (fabric.switches[n] for n in (fabric.tail(channel), fabric.heads[channel]))
        used[tail, head] += 1
        found[channel] = head if used[tail, head] == 1 else f"{head}#{used[tail, head]}"
    return found


def _settings(load: Load, base: Mapping[str, Any]) -> dict[str, Any]:
    """What switches and NICs are set to: as in the base, and lossless in what is sent."""
    lossless = sorted({*load.fabric.everywhere, *(each.priority for each in load.demands)})
    names, own = port_names(load.fabric, load.dead), base.get("switches") or {}
    routes: dict[str, list[dict[str, Any]]] = {}
    for (sink, switch), channel in load.routes.items():
        via = [] if channel is None else [names[channel]]
        entry = {"to": f"sink{sink}", "via": via}
        routes.setdefault(load.fabric.switches[switch], []).append(entry)
    return {
        "name": "load",
        "seed": base.get("seed", 1),
        "nic": {"pfc": lossless},
        "switch": {**_unguarded(base.get("switch")), "pfc": lossless},
        "switches": {
            name: {
                **_unguarded(own.get(name)),
                "pfc": lossless,
                "ports": _ports(load, name, names),
                "routes": routes.get(name, []),
            }
            for name in load.fabric.switches
        },
    }


def _ports(load: Load, switch: str, names: Mapping[int, str]) -> dict[str, dict[str, Any]]:
    """PFC of ports that have their own, and what a remedy adds to it; link pauses."""
    fabric = load.fabric
    known = fabric.everywhere.union(*fabric.lossless.values())
    added = {each.priority for each in load.demands} - known
    found = dict[str, dict[str, Any]]()
    for channel in fabric.leads[fabric.number[switch]]:
        end = (switch, fabric.port_out(channel))
        own, link = fabric.lossless.get(end), fabric.link_pause.get(end)
        if link is not None and channel in names:
            found[names[channel]] = {
                "pfc": [],
                "link_pause": {"send": link[0], "obey": link[1]},
            }
        elif own is not None and channel in names:
            found[names[channel]] = {"pfc": sorted(own | added)}
    return found


def _dscp(load: Load, demand: Demand, base: Mapping[str, Any]) -> int:
    """What a switch takes for the priority, by the map that it has in the base."""
    if demand.at is None:
        return 8 * demand.priority
    own = (base.get("switches") or {}).get(load.fabric.switches[demand.at]) or {}
    told = own.get("dscp_dot1p") or (base.get("switch") or {}).get("dscp_dot1p") or {}
    plain = 8 * demand.priority
    dscps = (plain, *range(64))
    return next((d for d in dscps if told.get(d, d // 8) == demand.priority), plain)


def _unguarded(part: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        key: each
        for key, each in (part or {}).items()
        if key not in NOT_OF_A_LOAD and each is not None
    }


def _sampling(load: Load, load_us: float) -> dict[str, Any]:
    """The queues between switches that packets take, a few times."""
    fabric, names = load.fabric, port_names(load.fabric, load.dead)
    mapped = fabric.queues or fabric.arriving
    queues = {
        (fabric.switches[fabric.tail(channel)], names[channel], queue)
        for each in load.demands
        for channel in each.channels
        for queue in (range(8) if mapped else (each.priority,))
    }
    named = [{"switch": s, "port": port, "queue": queue} for s, port, queue in sorted(queues)]
    return {"queue_period_us": load_us / 4, "bin_ms": load_us / 2000, "queues": named}
