"""Where packets were lost while a link was down: by the switch that it failed at, or elsewhere.

What takes the way that fails is lost by the switch that has no way left for it, or on the cut
cable. All else is held as in any phase: other cables carry what is put into them, no NIC, no cable
and no other port counts a loss, no queue of another switch drops, and hosts miss no more packets
than that switch has lost.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import path, port_drops, sound
from labtests.verdicts.bounds import between
from labtests.verdicts.outcome import Finding, disagreement, held_to, missing, passed

Cable = tuple[path.Where, tuple[Difference, ...], path.Where, tuple[Difference, ...]]
"""Its ends, each with the counters of what came in there."""


def nothing_lost_elsewhere(evidence: Evidence) -> Iterator[Finding]:
    """No packet of the flows but by the switches of the ports that failed."""
    failed = frozenset(evidence.failure.ports if evidence.failure else ())
    yield from sound.cables_carried(evidence, but=failed)
    yield from _nothing_counted(evidence, failed)
    yield from _others_kept(evidence, {device for device, _ in failed})
    yield from _none_else_missing(evidence, {device for device, _ in failed})


def out_of_balance(evidence: Evidence) -> tuple[str, ...]:
    """What does not add up in it, a sentence each."""
    return tuple(f.because for f in nothing_lost_elsewhere(evidence) if f.disagreement)


def _nothing_counted(evidence: Evidence, failed: frozenset[path.Where]) -> Iterator[Finding]:
    """By NICs, cables and ports, but for the cables that failed and the ports at both their
    ends."""
    cut = {end for each in path.of_part(evidence, "cable") for end in each.ends
           if not failed.isdisjoint(each.ends)}  # fmt: skip
    for station in path.of_part(evidence, "NIC", "cable", "switch port"):
        if (failed | cut).isdisjoint(station.ends):
            yield from sound.kept(station)


def _others_kept(evidence: Evidence, failed: Iterable[str]) -> Iterator[Finding]:
    """Queues under load of other switches, and their ports on the way in, where they count that."""
    for where in dict.fromkeys((*path.opposite(evidence), evidence.bottleneck)):
        drops = [
            evidence.change(where, "port", None, c.BUFFER_DROPPED_IN_PACKETS),
            *(
                evidence.change(where, "queue", queue, c.QUEUE_DROPPED_PACKETS)
                for queue in evidence.queues
            ),
        ]
        for each in drops if where[0] not in failed else ():
            if evidence.has(each):
                yield from port_drops.exactly_zero(evidence, each)


def _none_else_missing(evidence: Evidence, failed: set[str]) -> Iterator[Finding]:
    """Sent by all hosts - received = what came to the switches that failed - what left them."""
    cables = list(_cables(evidence))
    hosts = {place.device for place in (*evidence.senders, evidence.receiver)}
    kept = [_kept(cables, devices) for devices in (hosts, failed)]
    counted = list(dict.fromkeys(chain(*kept[0], *kept[1])))
    if unread := [each for each in counted if each.increase is None]:
        yield from (missing(each, "known", "packets") for each in unread)
        return
    back, out, into, on = (sum(d.increase or 0 for d in side) for side in chain(*kept))
    gone, lost = out - back, into - on
    noise = (evidence.noise.get(each.key) for each in counted)
    most = path.STRAYS * len(cables) + sum(d.increase or 0 for d in noise if d is not None)
    named = ", ".join(sorted(failed))
    fact = held_to(
        f"packets that did not come - lost at {named}", gone - lost, between(-most, most), "packets"
    )
    if abs(gone - lost) <= most:
        yield passed(fact)
        return
    where = "elsewhere, where no link failed" if gone > lost else "of others, or miscounted"
    yield disagreement(
        f"{gone} packets of the flows did not come, and {named} lost {lost} of what came to it: "
        f"{abs(gone - lost)} were lost {where}",
        fact,
    )


def _kept(
    cables: Iterable[Cable], devices: Iterable[str]
) -> tuple[list[Difference], list[Difference]]:
    """What came to these devices, and what came from them to the other ends of their cables."""
    into, out = list[Difference](), list[Difference]()
    for a, came_to_a, b, came_to_b in cables:
        into += [*(came_to_a if a[0] in devices else ()), *(came_to_b if b[0] in devices else ())]
        out += [*(came_to_b if a[0] in devices else ()), *(came_to_a if b[0] in devices else ())]
    return into, out


def _cables(evidence: Evidence) -> Iterator[Cable]:
    """Of hosts, and between switches on the way."""
    places = (*evidence.senders, evidence.receiver)
    for place in {(p.device, p.port): p for p in places}.values():
        nic, port = (place.device, place.port), (place.switch, place.switch_port)
        yield nic, path.received_by_nic(evidence, *nic), port, (_came(evidence, port),)
    for a, b in path.between_switches(evidence):
        yield a, (_came(evidence, a),), b, (_came(evidence, b),)


def _came(evidence: Evidence, port: path.Where) -> Difference:
    return evidence.change(port, "port", None, c.RX_PACKETS)
