"""Evidence with one thing wrong, by a seed: what it stands for is a loss, or proof that is missing.

Each kind is a function from a phase's evidence and a random generator to a `Mutation`, or None
where the phase has nothing of that kind. None of them knows what a verdict looks at.
"""

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.capabilities.readings import Reading
from labtests.measure.evidence import Evidence, Place
from labtests.verdicts import path

WRAP = 1 << 32
NAMED = frozenset(value for value in vars(c).values() if isinstance(value, str))
LOSSES = ("drop", "discard", "error", "err", "crc", "lost", "missed", "overrun", "out_of_", "rnr",
          "timeout", "duplicate", "retry", "no_port", "fail", "retrans", "fragments",
          "jabber", "size_packets", "link_down", "carrier")  # fmt: skip
"""How the name of a counter says that it counts losses."""


@dataclass(frozen=True)
class Mutation:
    """`what` is for people; `place` and `counter` say where it is, for the list of what is harmless
    (`tests/mutations/harmless.py`)."""

    kind: str
    seen: Evidence
    what: str
    place: str = ""
    counter: str = ""
    load: bool = True  # of a class, queue or host that the flows of the phase use
    data: bool = True  # the same, and of a queue by their data: not by CNPs alone

    @property
    def named(self) -> bool:
        """Whether labtests has a name for the counter, if it is one; else it is a device's word."""
        return not self.counter or self.counter in NAMED or self.place in ("tool", "phase", "probe")


Kind = Callable[[Evidence, random.Random], Mutation | None]


def _starts(seen: Evidence) -> Mapping[object, Reading]:
    if "starts" not in seen.derived:
        seen.derived["starts"] = {r.key: r for r in seen.before}
    found: Mapping[object, Reading] = seen.derived["starts"]
    return found


def _start(seen: Evidence, reading: Reading) -> int | None:
    first = _starts(seen).get(reading.key)
    return first.value if first is not None else None


def place_of(seen: Evidence, device: str, port: str) -> str:
    """What this device or port is to the phase's flows."""
    at = (device, port)
    return _of_host(seen, at) or _of_way(seen, at) or "elsewhere"


def _of_host(seen: Evidence, at: path.Where) -> str:
    hosts = {"sender": seen.senders, "receiver": (*seen.receivers, seen.receiver)}
    for role, places in hosts.items():
        for place in places:
            if at[0] == place.device:
                return f"{role}'s NIC" if at[1] == place.port else f"{role}'s host"
    return ""


def _of_way(seen: Evidence, at: path.Where) -> str:
    known: dict[path.Where, str] = {}
    for role, places in (("receiver", (*seen.receivers, seen.receiver)), ("sender", seen.senders)):
        known |= {(p.switch, p.switch_port): f"{role}'s switch port" for p in places}
    known |= dict.fromkeys(seen.transit, "between switches") | {seen.bottleneck: "bottleneck"}
    known |= dict.fromkeys(_cut(seen), "cut cable")
    return known.get(at, "")


def _cut(seen: Evidence) -> frozenset[path.Where]:
    """The ports at both ends of the cables that failed in the phase."""
    failed = seen.failure.ports if seen.failure and seen.kind == "experiment" else ()
    cables = path.between_switches(seen) if failed else ()
    return frozenset(end for ends in cables if not set(failed).isdisjoint(ends) for end in ends)


def is_loaded(seen: Evidence, reading: Reading) -> bool:
    """Whether flows have to do with this counter: by their queue or priority, where it has one."""
    if reading.scope == "queue":
        return reading.index in _queues(seen, (reading.device, reading.port))
    if reading.scope == "priority":
        return reading.index in _priorities(seen, (reading.device, reading.port))
    return place_of(seen, reading.device, reading.port) != "elsewhere"


def _priorities(seen: Evidence, at: tuple[str, str]) -> set[int]:
    """Of all flows, but at the two ends of a sender's cable only its own."""
    ends = [((p.device, p.port), (p.switch, p.switch_port)) for p in seen.senders]
    own = {_priority(p) for p, both in zip(seen.senders, ends, strict=True) if at in both}
    receives = any(
        at in ((p.device, p.port), (p.switch, p.switch_port))
        for p in (*seen.receivers, seen.receiver)
    )
    return own if own and not receives else {_priority(place) for place in seen.senders}


def _priority(place: Place) -> int:
    return place.queue if place.priority is None else place.priority


def _queues(seen: Evidence, port: tuple[str, str]) -> set[int]:
    cnps = {q for *at, q in seen.cnp.queues if tuple(at) == port} if seen.cnp else set()
    return cnps | _queues_of_data(seen, port)


def _queues_of_data(seen: Evidence, port: tuple[str, str]) -> set[int]:
    here = {n for each in seen.crossings if each.port == port for n in each.queues.values()}
    hops = {hop.queue for hop in seen.cycle if hop.out == port}
    into = {hop.into for hop in seen.cycle}  # what leaves there goes against the cycle
    asked = port == seen.bottleneck or (not here and port not in into)
    return here | hops | set(seen.queues if asked else ())


def _with(seen: Evidence, after: Iterable[Reading]) -> Evidence:
    return replace(seen, after=tuple(after))


def _instead(rows: Iterable[Reading], changed: Mapping[int, Reading | None]) -> tuple[Reading, ...]:
    """These readings by number are others, or gone."""
    found = (changed.get(n, r) for n, r in enumerate(rows))
    return tuple(r for r in found if r is not None)


def _pick(seen: Evidence, rng: random.Random, fits: Callable[[Reading], bool]) -> int | None:
    """A reading of the end: nine times out of ten a counter that labtests has a name for, of what
    flows use."""
    if not seen.after:
        return None
    wanted = rng.random() < 0.9
    for _ in range(400):
        n = rng.randrange(len(seen.after))
        r = seen.after[n]
        ours = r.counter in NAMED and is_loaded(seen, r)
        if r.counter not in c.GAUGES and (ours or not wanted) and fits(r):
            return n
    return None


def _told(kind: str, seen: Evidence, was: Reading, mutated: Evidence, now: str) -> Mutation:
    index = "" if was.index is None else f" {was.scope} {was.index}"
    return Mutation(
        kind,
        mutated,
        f"{seen.name!r}: {was.device} {was.port}{index} {was.counter}: "
        f"{_start(seen, was)} .. {was.value} -> {now}",
        place_of(seen, was.device, was.port),
        was.counter,
        is_loaded(seen, was),
        was.scope != "queue" or was.index in _queues_of_data(seen, (was.device, was.port)),
    )


def _grew(seen: Evidence) -> Callable[[Reading], bool]:
    def grew(r: Reading) -> bool:
        first = _start(seen, r)
        return r.value is not None and first is not None and r.value > first

    return grew


def _known(seen: Evidence) -> Callable[[Reading], bool]:
    return lambda r: r.value is not None and _start(seen, r) is not None


def counts_losses(reading: Reading) -> bool:
    """By its name."""
    name = reading.counter
    return any(word in name for word in LOSSES) and not name.startswith("rx_corrected")


def lost_and_counted(seen: Evidence, rng: random.Random) -> Mutation | None:
    """One more in a counter of losses that stood still."""
    grew, known = _grew(seen), _known(seen)
    n = _pick(seen, rng, lambda r: counts_losses(r) and known(r) and not grew(r))
    if n is None:
        return None
    was = seen.after[n]
    now = replace(was, value=(was.value or 0) + 1)
    mutated = _with(seen, _instead(seen.after, {n: now}))
    return _told("lost and counted", seen, was, mutated, "one more")


def _single(kind: str, change: Callable[[int, int, random.Random], int], *, still: bool = False):
    """A kind that gives one counter another value at the end, by its values at both ends."""

    def mutate(seen: Evidence, rng: random.Random) -> Mutation | None:
        n = _pick(seen, rng, _known(seen) if still else _grew(seen))
        if n is None:
            return None
        was = seen.after[n]
        assert was.value is not None
        value = change(_start(seen, was) or 0, was.value, rng)
        if value == was.value:
            return None
        mutated = _with(seen, _instead(seen.after, {n: replace(was, value=value)}))
        return _told(kind, seen, was, mutated, str(value))

    return mutate


def wrapped(seen: Evidence, rng: random.Random) -> Mutation | None:
    """32 bits were full in the phase: the start is just below, the end what is left."""
    n = _pick(seen, rng, _grew(seen))
    if n is None:
        return None
    was = seen.after[n]
    first = _start(seen, was)
    assert was.value is not None
    assert first is not None
    grown = was.value - first
    start = WRAP - 1 - rng.randrange(grown)
    before = tuple(replace(r, value=start) if r.key == was.key else r for r in seen.before)
    now = replace(was, value=(start + grown) % WRAP)
    mutated = replace(seen, before=before, after=_instead(seen.after, {n: now}))
    return _told("wrapped", seen, was, mutated, f"{start} .. {now.value}")


def missing(seen: Evidence, rng: random.Random) -> Mutation | None:
    """N/A at the end or at the start, or not shown there at all."""
    n = _pick(seen, rng, _known(seen))
    if n is None:
        return None
    was = seen.after[n]
    gone = rng.choice((None, replace(was, value=None, missing="N/A")))
    said = "N/A" if gone else "not shown"
    if rng.random() < 0.5:
        mutated = _with(seen, _instead(seen.after, {n: gone}))
        return _told("missing", seen, was, mutated, f"{said} at the end")
    first = None if gone is None else replace(gone, time_s=_starts(seen)[was.key].time_s)
    rows = (first if r.key == was.key else r for r in seen.before)
    mutated = replace(seen, before=tuple(r for r in rows if r is not None))
    return _told("missing", seen, was, mutated, f"{said} at the start")


def stale(seen: Evidence, rng: random.Random) -> Mutation | None:
    """Read while the traffic ran, or the read of the start shown again."""
    n = _pick(seen, rng, _known(seen))
    if n is None:
        return None
    was, first = seen.after[n], _starts(seen)[seen.after[n].key]
    during = replace(was, time_s=(seen.start_s + seen.end_s) / 2)
    now, said = rng.choice(((during, "read halfway"), (first, "that of the start again")))
    return _told("stale", seen, was, _with(seen, _instead(seen.after, {n: now})), said)


def twice(seen: Evidence, rng: random.Random) -> Mutation | None:
    """The same counter twice at the end, with two values; or a number below 0."""
    n = _pick(seen, rng, _known(seen))
    if n is None:
        return None
    was = seen.after[n]
    if rng.random() < 0.5:
        other = replace(was, value=(was.value or 0) + rng.choice((1, 1000)))
        mutated = _with(seen, (*seen.after, other))
        return _told("twice or negative", seen, was, mutated, f"and {other.value}")
    mutated = _with(seen, _instead(seen.after, {n: replace(was, value=-1)}))
    return _told("twice or negative", seen, was, mutated, "-1")


def swapped_ports(seen: Evidence, rng: random.Random) -> Mutation | None:
    """Two ports' counters of one name and class, each shown as the other's, at both ends."""
    return _swapped(seen, rng, "swapped ports", _other_port)


def swapped_queues(seen: Evidence, rng: random.Random) -> Mutation | None:
    """Two queues, or priorities, of one port."""
    return _swapped(seen, rng, "swapped queues", _other_queue)


def _other_port(was: Reading, r: Reading) -> bool:
    same = (was.scope, was.index, was.counter) == (r.scope, r.index, r.counter)
    return same and (was.device, was.port) != (r.device, r.port)


def _other_queue(was: Reading, r: Reading) -> bool:
    same = (was.device, was.port, was.scope, was.counter) == (r.device, r.port, r.scope, r.counter)
    return same and was.index != r.index


def _swapped(
    seen: Evidence, rng: random.Random, kind: str, fits: Callable[[Reading, Reading], bool]
) -> Mutation | None:
    n = _pick(seen, rng, _grew(seen))
    if n is None:
        return None
    was = seen.after[n]
    grown = (was.value or 0) - (_start(seen, was) or 0)
    known = _known(seen)
    others = [
        m
        for m, r in enumerate(seen.after)
        if fits(was, r) and known(r) and (r.value or 0) - (_start(seen, r) or 0) != grown
    ]
    if not others:
        return None
    m = rng.choice(others)
    other = seen.after[m]
    theirs = (other.value or 0) - (_start(seen, other) or 0)
    now = {
        n: replace(was, value=(_start(seen, was) or 0) + theirs),
        m: replace(other, value=(_start(seen, other) or 0) + grown),
    }
    said = f"that of {other.device} {other.port} {other.index} ({theirs})"
    return _told(kind, seen, was, _with(seen, _instead(seen.after, now)), said)


def swapped_times(seen: Evidence, rng: random.Random) -> Mutation | None:
    """What was shown at the start and at the end, of one counter, or of a device."""
    n = _pick(seen, rng, _grew(seen))
    if n is None:
        return None
    was = seen.after[n]
    whole = rng.random() < 0.3
    starts, ends = _starts(seen), {r.key: r for r in seen.after}

    def turned(rows: tuple[Reading, ...], others: Mapping[object, Reading]) -> tuple[Reading, ...]:
        return tuple(
            replace(r, value=others[r.key].value)
            if (r.device == was.device if whole else r.key == was.key) and r.key in others
            else r
            for r in rows
        )

    mutated = replace(seen, before=turned(seen.before, ends), after=turned(seen.after, starts))
    return _told("swapped times", seen, was, mutated, "turned" + " (whole device)" * whole)


def device_stands_still(seen: Evidence, rng: random.Random) -> Mutation | None:
    """A device, or one port of it, shows at the end what it showed at the start; or nothing."""
    n = _pick(seen, rng, _grew(seen))
    if n is None:
        return None
    was, starts = seen.after[n], _starts(seen)
    whole, how = rng.random() < 0.5, rng.choice(("frozen", "N/A", "gone"))

    def other(r: Reading) -> Reading | None:
        ours = r.device == was.device and (whole or r.port == was.port)
        if not ours or how == "gone":
            return None if ours else r
        value = starts[r.key].value if how == "frozen" and r.key in starts else None
        return replace(r, value=value, missing="" if value is not None else "N/A")

    rows = tuple(r for r in map(other, seen.after) if r is not None)
    said = f"the whole {'device' if whole else 'port'} {how}"
    return _told("device stands still", seen, was, _with(seen, rows), said)


def lost_uncounted(seen: Evidence, rng: random.Random) -> Mutation | None:
    """Some packets of a flow are gone at one place, and no counter behind it has them."""
    if not seen.flows or len(seen.flows) != len(seen.senders):
        return None
    number = rng.randrange(len(seen.flows))
    place, gone = seen.senders[number], rng.choice((1, 2, 11, 1000))
    steps = _steps(seen, number, place)
    at = rng.randrange(len(steps))
    keys = {key for step in steps[at:] for key in step}
    now: dict[int, Reading | None] = {}
    for n, r in enumerate(seen.after):
        if (r.device, r.port, r.scope, r.index, r.counter) in keys and _grew(seen)(r):
            start = _start(seen, r) or 0
            now[n] = replace(r, value=max((r.value or 0) - gone, start))
    mutated = _with(seen, _instead(seen.after, now))
    flow = seen.flows[number]
    if flow.received_datagrams:
        came = replace(flow, received_datagrams=max(flow.received_datagrams - gone, 0),
                       lost_datagrams=(flow.lost_datagrams or 0) + gone)  # fmt: skip
        flows = (*seen.flows[:number], came, *seen.flows[number + 1 :])
        mutated = replace(mutated, flows=flows)
    if not now and mutated.flows == seen.flows:
        return None
    return Mutation(
        "lost uncounted",
        mutated,
        f"{seen.name!r}: {gone} packets of flow {number} ({place.device}) before {STEPS[at]}",
        f"before {STEPS[at]}",
    )


STEPS = "the NIC", "the switch's port", "its queue", "the receiver's NIC", "its IP stack", "UDP"


def _steps(seen: Evidence, number: int, place: Place) -> list[set[tuple[object, ...]]]:
    """Counters that each packet of a flow makes grow, station by station."""
    nic, to = (place.device, place.port), seen.receiver_of(number)
    port, end, host = (place.switch, place.switch_port), (to.device, to.port), (to.device, "")
    last = (to.switch, to.switch_port)
    crossed = {each.port: each.queues[number] for each in seen.crossings if number in each.queues}
    queues = {**crossed, last: crossed.get(last, place.queue)}
    if seen.congested:
        queues[seen.congested] = place.queue
    out = {(*at, "queue", queue, c.QUEUE_FORWARDED_PACKETS) for at, queue in queues.items()}
    between = {(*at, "port", None, c.RX_PACKETS) for at in seen.transit[1::2]}
    sent = {(*at, "port", None, c.TX_PACKETS) for at in queues}
    return [
        {(*nic, "priority", place.priority, c.TX_PACKETS), (*nic, "port", None, c.TX_PACKETS),
         (*nic, "port", None, c.QDISC_SENT_PACKETS)},
        {(*port, "port", None, c.RX_PACKETS)},
        out | between | sent,
        {(*end, "priority", place.priority, c.RX_PACKETS), (*end, "port", None, c.RX_PACKETS)},
        {(*host, "host", None, c.IP_IN_RECEIVES), (*host, "host", None, c.IP_IN_DELIVERS)},
        {(*host, "host", None, c.UDP_IN_DATAGRAMS)},
    ]  # fmt: skip


def tool_says_otherwise(seen: Evidence, rng: random.Random) -> Mutation | None:
    """One figure of one tool is missing, no number, negative, nothing, or less."""
    if not seen.flows:
        return None
    number = rng.randrange(len(seen.flows))
    flow = seen.flows[number]
    name, now = rng.choice(list(_otherwise(flow, rng)))
    flows = (*seen.flows[:number], now, *seen.flows[number + 1 :])
    said = f"{seen.name!r}: flow {number} ({flow.tool} of {flow.sender}): {name}"
    return Mutation("tool", replace(seen, flows=flows), said, "tool", name)


FIGURES = ("sent_datagrams", "received_datagrams", "lost_datagrams", "sent_bytes",
           "received_bytes", "retransmits", "iterations", "goodput_bits_per_s")  # fmt: skip


def _otherwise(flow: FlowResult, rng: random.Random) -> Iterable[tuple[str, FlowResult]]:
    yield "failed", replace(flow, status=FlowStatus.FAILED, because="killed")
    for name in FIGURES:
        value = getattr(flow, name)
        if value is None:
            continue
        yield f"{name} untold", replace(flow, **{name: None})
        if value:
            yield f"{name} halved", replace(flow, **{name: value // 2})
            yield f"{name} 0", replace(flow, **{name: 0 * value})
        yield f"{name} negative", replace(flow, **{name: -1})
    if flow.goodput_bits_per_s is not None:
        yield "goodput_bits_per_s NaN", replace(flow, goodput_bits_per_s=math.nan)
    if flow.received_datagrams:
        yield (
            "one datagram fewer",
            replace(
                flow,
                received_datagrams=flow.received_datagrams - 1,
                lost_datagrams=(flow.lost_datagrams or 0) + 1,
            ),
        )
    if flow.intervals:
        n = rng.randrange(len(flow.intervals))
        for said, share in (
            ("still", 0.0),
            ("a tenth", 0.1),
            ("negative", -1.0),
            ("NaN", math.nan),
        ):
            row = flow.intervals[n]
            held = replace(row, goodput_bits_per_s=share * row.goodput_bits_per_s)
            rows = (*flow.intervals[:n], held, *flow.intervals[n + 1 :])
            yield f"a row {said}", replace(flow, intervals=rows)
        yield "no rows", replace(flow, intervals=())
        rows = (*flow.intervals[:n], flow.intervals[n], *flow.intervals[n:])
        yield "a row twice", replace(flow, intervals=rows)


def samples(seen: Evidence, rng: random.Random) -> Mutation | None:
    """Samples in between that stand still, are missing, are halved or of one moment."""
    if not seen.samples:
        return None
    was = rng.choice(seen.samples)
    if was.value is None:
        return None
    ours = [r for r in seen.samples if r.key == was.key]
    first = ours[0].value or 0
    if (ours[-1].value or 0) == first:
        return None
    how = rng.choice(("frozen", "gone", "halved", "N/A"))
    values = {
        "frozen": lambda r: replace(r, value=first),
        "gone": lambda r: None,
        "halved": lambda r: replace(r, value=first + ((r.value or first) - first) // 2),
        "N/A": lambda r: replace(r, value=None, missing="N/A"),
    }
    rows = (values[how](r) if r.key == was.key else r for r in seen.samples)
    mutated = replace(seen, samples=tuple(r for r in rows if r is not None))
    return _told("samples", seen, was, mutated, f"all of its samples {how}")


def phase(seen: Evidence, rng: random.Random) -> Mutation | None:
    """The phase as a whole: unsettled, a setting changed, a device out of reach, a flow missing."""
    ways = {
        "not settled": replace(seen, settled=False),
        "a setting changed": replace(seen, changed=("sw port: pfc was on, is off",)),
        "out of reach": replace(seen, unreachable=(seen.receiver.device,)),
        "refresh unknown": replace(seen, refresh=replace(seen.refresh, seconds=None, because="?")),
        "no flows": replace(seen, flows=()),
        "a flow missing": replace(seen, flows=seen.flows[:-1]),
        "no counters at the end": replace(seen, after=()),
        "no counters at the start": replace(seen, before=()),
        "flows swapped": replace(seen, flows=seen.flows[::-1]),
    }
    if len(seen.flows) < 2 or len({(f.sender, f.tos) for f in seen.flows}) < 2:
        del ways["flows swapped"]
    name = rng.choice(list(ways))
    return Mutation("phase", ways[name], f"{seen.name!r}: {name}", "phase", name)


def latencies(seen: Evidence, rng: random.Random) -> Mutation | None:
    """A probe that has failed, or tells no latency."""
    if not seen.probes:
        return None
    n = rng.randrange(len(seen.probes))
    probe = seen.probes[n]
    name, now = rng.choice(
        (
            ("no latency", replace(probe, latency=None)),
            ("failed", replace(probe, status=FlowStatus.FAILED, because="killed")),
            ("no messages", replace(probe, iterations=0)),
        )
    )
    probes = (*seen.probes[:n], now, *seen.probes[n + 1 :])
    mutated = replace(seen, probes=probes)
    return Mutation("probe", mutated, f"{seen.name!r}: probe {n}: {name}", "probe", name)


def peaks(seen: Evidence, rng: random.Random) -> Mutation | None:
    """A watermark that is missing, or was as high when it had just been forgotten."""
    first, last = seen.peaks
    if not last:
        return None
    n = rng.randrange(len(last))
    was = last[n]
    if was.value is None or not was.value:
        return None
    if rng.random() < 0.5:
        gone = replace(was, value=None, missing="N/A")
        mutated = replace(seen, peaks=(first, _instead(last, {n: gone})))
        return _told("watermarks", seen, was, mutated, "N/A")
    early = tuple(replace(r, value=was.value) if r.key == was.key else r for r in first)
    return _told("watermarks", seen, was, replace(seen, peaks=(early, last)), "as high before")


KINDS: Mapping[str, Kind] = {
    "lost and counted": lost_and_counted,
    "lost uncounted": lost_uncounted,
    "one less": _single("one less", lambda start, end, _: end - 1),
    "more": _single("more", lambda start, end, rng: end + rng.choice((11, 1000))),
    "frozen": _single("frozen", lambda start, end, _: start),
    "halved": _single("halved", lambda start, end, _: start + (end - start) // 2),
    "reset": _single("reset", lambda start, end, rng: rng.randrange(start) if start else end),
    "wrapped": wrapped,
    "missing": missing,
    "stale": stale,
    "twice or negative": twice,
    "swapped ports": swapped_ports,
    "swapped queues": swapped_queues,
    "swapped times": swapped_times,
    "device stands still": device_stands_still,
    "tool": tool_says_otherwise,
    "samples": samples,
    "phase": phase,
    "probe": latencies,
    "watermarks": peaks,
}
