"""The ledger of the way: every station that a packet passes, and what each of them says it lost.

sender's stack -> its NIC -> cable -> switch port -> ... -> bottleneck -> cable -> NIC -> stack. A
station has counters that can mean nothing but a loss there. Each is a witness, or is named as not
available on this device. Pure: made from the evidence of one phase.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Scope
from labtests.measure.evidence import Difference, Evidence, Key

Part = Literal["sending stack", "NIC", "cable", "switch port", "receiving stack"]
Where = tuple[str, str]
"""Device and port."""

_LOSSES: Mapping[Part, tuple[tuple[Scope, str], ...]] = {
    "sending stack": (
        ("host", c.UDP_SNDBUF_ERRORS),
        ("host", c.IP_OUT_DISCARDS),
        ("host", c.IP_OUT_NO_ROUTES),
        ("host", c.IP_FRAGMENT_FAILS),
        ("port", c.QDISC_DROPPED_PACKETS),
    ),
    "NIC": (
        ("port", c.NIC_TX_DISCARDED_PACKETS),
        ("port", c.NET_TX_DROPPED),
        ("port", c.TX_FIFO_ERRORS),
        ("port", c.TX_ABORTED_ERRORS),
        ("port", c.NIC_RX_DISCARDED_PACKETS),
        ("port", c.NIC_OUT_OF_BUFFER_PACKETS),
        ("port", c.RX_MISSED_ERRORS),
        ("port", c.RX_OVERRUNS),
        ("port", c.RX_FIFO_ERRORS),
        ("port", c.PAUSE_STORM_ERRORS),
        ("port", c.TX_ERRORS),
        ("port", c.RDMA_OUT_OF_BUFFER),
        ("port", c.RX_ICRC_ERRORS),
        ("port", c.NIC_RX_ALLOCATION_ERRORS),
        ("port", c.NIC_RX_DESCRIPTOR_ERRORS),
        ("port", c.NIC_TX_QUEUE_DROPPED),
    ),
    "cable": (
        ("port", c.RX_ERRORS),
        ("port", c.RX_CRC_ERRORS),
        ("port", c.RX_FRAME_ERRORS),
        ("port", c.RX_LENGTH_ERRORS),
        ("port", c.RX_OVERSIZE_PACKETS),
        ("port", c.RX_UNDERSIZE_PACKETS),
        ("port", c.RX_FRAGMENTS),
        ("port", c.RX_JABBERS),
        ("port", c.RX_SYMBOL_ERRORS),
        ("port", c.PCS_SYMBOL_ERRORS),
        ("port", c.TX_CARRIER_ERRORS),
        ("port", c.LINK_DOWNS),
        ("port", c.CARRIER_CHANGES),
    ),
    "switch port": (
        ("port", c.BUFFER_DROPPED_IN_PACKETS),
        ("port", c.BUFFER_DROPPED_OUT_PACKETS),
        ("port", c.WRED_DROPPED_PACKETS),
        ("port", c.RX_MISSED_ERRORS),
        ("port", c.RX_OVERRUNS),
        ("port", c.RX_FIFO_ERRORS),
        ("port", c.NET_RX_DROPPED),
        ("port", c.NET_TX_DROPPED),
        ("port", c.TX_ERRORS),
        ("port", c.TX_FIFO_ERRORS),
        ("port", c.TX_ABORTED_ERRORS),
    ),
    "receiving stack": (
        ("host", c.UDP_IN_ERRORS),
        ("host", c.UDP_NO_PORTS),
        ("host", c.IP_REASM_FAILS),
        ("host", c.IP_IN_DISCARDS),
        ("host", c.IP_IN_HDR_ERRORS),
        ("host", c.IP_IN_ADDR_ERRORS),
        ("host", c.IP_IN_NO_ROUTES),
        ("host", c.IP_IN_TRUNCATED),
        ("host", c.IP_IN_CSUM_ERRORS),
        ("host", c.TCP_IN_ERRORS),
        ("host", c.TCP_BACKLOG_DROPS),
        ("host", c.TCP_RECEIVE_QUEUE_DROPS),
    ),
}
STRAYS = 10
"""Packets of a phase that are not ours: LLDP, STP, ARP, and what passes between two reads."""
BY_CLASS = (c.BUFFER_DROPPED_IN_PACKETS, c.BUFFER_DROPPED_OUT_PACKETS, c.WRED_DROPPED_PACKETS)
"""Losses of a switch port that its queues tell apart: some of them are meant to be."""
DAMAGED = (c.UDP_IN_CSUM_ERRORS, c.IP_IN_CSUM_ERRORS, c.TCP_IN_CSUM_ERRORS)
"""Of a receiving stack: what came with a wrong checksum was damaged on the way."""
_OF_A_PRIORITY = (
    c.RX_DISCARDED_PACKETS,
    c.RX_BUFFER_DISCARDED_PACKETS,
    c.RX_CONGESTION_DISCARDED_PACKETS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """One part of the way. `losses` are its counters that this device has shown a number of, with
    their differences; `absent` are the names of the others."""

    name: str
    part: Part
    ends: tuple[Where, ...]  # a cable has two
    losses: tuple[Difference, ...]
    absent: tuple[str, ...]
    restless: frozenset[Key] = frozenset()  # counters that grew in the quiet window, too
    damaged: int = 0  # datagrams that a receiving stack refused for their checksum

    @property
    def lost(self) -> tuple[Difference, ...]:
        """The counters that grew."""
        return tuple(each for each in self.losses if each.increase)

    @property
    def events(self) -> int:
        """How many losses of ours they may tell of. In a receiving stack each counter has its own;
        elsewhere one may have what another one has, too, so that only the largest is sure. What
        grew while nothing of ours ran tells of somebody else's, and what was damaged on the way was
        not lost by the host."""
        ours = [each for each in self.losses if each.key not in self.restless]
        if self.part != "receiving stack":
            return max((each.increase or 0 for each in ours), default=0)
        whole = sum(each.increase or 0 for each in ours if each.key[-1] not in DAMAGED)
        return max(whole - self.damaged, 0)


def stations(evidence: Evidence) -> tuple[Station, ...]:
    """In the order in which a packet passes them; each once, however many senders share it."""
    found: tuple[Station, ...] | None = evidence.derived.get("stations")
    if found is None:
        found = evidence.derived["stations"] = _stations(evidence)
    return found


def _stations(evidence: Evidence) -> tuple[Station, ...]:
    receiver = evidence.receiver
    found: list[Station] = []
    for place in evidence.senders:
        nic, port = (place.device, place.port), (place.switch, place.switch_port)
        found += [
            _station(evidence, f"IP stack of {place.device}", "sending stack", nic),
            _station(evidence, f"NIC {place.device} {place.port}", "NIC", nic),
            _cable(evidence, nic, port),
            _station(evidence, " ".join(port), "switch port", port),
        ]
    for place in evidence.receivers:
        nic, port = (place.device, place.port), (place.switch, place.switch_port)
        found += [
            _station(evidence, f"NIC {place.device} {place.port}", "NIC", nic),
            _cable(evidence, nic, port),
            _station(evidence, " ".join(port), "switch port", port),
        ]
    for a, b in between_switches(evidence):
        found += [
            _station(evidence, " ".join(a), "switch port", a),
            _cable(evidence, a, b),
            _station(evidence, " ".join(b), "switch port", b),
        ]
    nic = (receiver.device, receiver.port)
    last = evidence.last
    found += [
        _station(evidence, " ".join(last), "switch port", last),
        _cable(evidence, last, nic),
        _station(evidence, f"NIC {receiver.device} {receiver.port}", "NIC", nic),
        _station(evidence, f"IP stack of {receiver.device}", "receiving stack", nic),
    ]
    return tuple({station.name: station for station in found}.values())


def between_switches(evidence: Evidence) -> Iterator[tuple[Where, Where]]:
    """The two ends of each cable between switches on the senders' way."""
    return zip(evidence.transit[::2], evidence.transit[1::2], strict=False)


def of_part(evidence: Evidence, *parts: Part) -> tuple[Station, ...]:
    """The stations of these kinds."""
    return tuple(station for station in stations(evidence) if station.part in parts)


def of_device(evidence: Evidence, device: str, *parts: Part) -> tuple[Station, ...]:
    """Those of one device."""
    return tuple(s for s in of_part(evidence, *parts) if device in {end[0] for end in s.ends})


def in_words(station: Station) -> str:
    """What grew there, counter by counter; which end of a cable, and which priority, it is of."""
    return ", ".join(_grown(each, len(station.ends) > 1) for each in station.lost)


def _grown(difference: Difference, of_two_ends: bool) -> str:
    device, _, scope, index, name = difference.key
    end = f"{device} " if of_two_ends else ""
    which = f"{scope} {index} " if index >= 0 else ""
    return f"{end}{which}{name} +{difference.increase}"


def _cable(evidence: Evidence, a: Where, b: Where) -> Station:
    return _station(evidence, f"cable {' '.join(a)} - {' '.join(b)}", "cable", a, b)


def _station(evidence: Evidence, name: str, part: Part, *ends: Where) -> Station:
    found = list(chain.from_iterable(_counters(evidence, part, end) for end in ends))
    there = [d for d in found if d.key in evidence.numbers]
    names = {d.key[-1] for d in there}
    absent = dict.fromkeys(d.key[-1] for d in found if d.key[-1] not in names)
    noise = evidence.noise
    return Station(
        name=name,
        part=part,
        ends=ends,
        losses=tuple(there),
        absent=tuple(absent),
        restless=frozenset(d.key for d in there if d.key in noise and noise[d.key].increase),
        damaged=damaged_udp(evidence, ends[0][0]) if part == "receiving stack" else 0,
    )


def sent_by_nic(evidence: Evidence, device: str, port: str) -> tuple[Difference, ...]:
    """Packets that left a NIC: of each of its classes where it counts those, else of the port."""
    return _of_each(evidence, (device, port), "priority", c.TX_PACKETS) or (
        evidence.change((device, port), "port", None, c.TX_PACKETS),
    )


def received_by_nic(evidence: Evidence, device: str, port: str) -> tuple[Difference, ...]:
    """Packets that came to a NIC: of each of its classes where it counts those, else of the
    port."""
    return _of_each(evidence, (device, port), "priority", c.RX_PACKETS) or (
        evidence.change((device, port), "port", None, c.RX_PACKETS),
    )


def of_queues(evidence: Evidence, where: Where, counter: str) -> tuple[Difference, ...]:
    """A counter of each queue of a switch port; empty where they do not count it."""
    return _of_each(evidence, where, "queue", counter)


def of_classes(evidence: Evidence, where: Where, counter: str) -> tuple[Difference, ...]:
    """A counter of each class of a NIC; empty where it does not count them."""
    return _of_each(evidence, where, "priority", counter)


def _of_each(
    evidence: Evidence, where: Where, scope: Scope, counter: str
) -> tuple[Difference, ...]:
    """One counter of every priority, or queue, that was ever read there."""
    return tuple(
        evidence.change(where, scope, key[3], counter)
        for key in evidence.keys_of.get((*where, scope), ())
        if key[-1] == counter
    )


def damaged_udp(evidence: Evidence, host: str) -> int:
    """Datagrams that came to a host with a wrong checksum; they are in its UDP InErrors, too."""
    return evidence.change((host, ""), "host", None, c.UDP_IN_CSUM_ERRORS).increase or 0


def by_filters(difference: Difference) -> bool:
    """Whether a counter of a switch port tells of packets that were dropped for what they are: by
    filters, STP, storm control, for want of a taker. They may be anybody's."""
    name = difference.key[-1]
    return name.startswith(c.DROPPED_FOR) or name == c.NET_RX_DROPPED


def _counters(evidence: Evidence, part: Part, where: Where) -> Iterator[Difference]:
    if part == "switch port":
        yield from _of_filters(evidence, where)
    for scope, counter in _LOSSES[part]:
        at = (where[0], "") if scope == "host" else where
        yield evidence.change(at, scope, None, counter)
    if part == "NIC":
        for priority in priorities(evidence):
            for counter in _OF_A_PRIORITY:
                yield evidence.change(where, "priority", priority, counter)


def _of_filters(evidence: Evidence, where: Where) -> tuple[Difference, ...]:
    """Those that have the device's own words; one that was never read where there is none."""
    names = dict.fromkeys(
        key[-1]
        for key in evidence.keys_of.get((*where, "port"), ())
        if key[3] == -1 and key[-1].startswith(c.DROPPED_FOR)
    )
    told = names or (f"{c.DROPPED_FOR}by_filters",)
    return tuple(evidence.change(where, "port", None, name) for name in told)


def priorities(evidence: Evidence) -> tuple[int, ...]:
    """Those of the senders' classes, at their NICs."""
    return tuple(sorted({p.priority for p in evidence.senders if p.priority is not None}))


def opposite(evidence: Evidence) -> tuple[Where, ...]:
    """The switch ports that senders are plugged into, those between switches, and what is behind
    the bottleneck."""
    ends: Iterable[Where] = ((p.switch, p.switch_port) for p in evidence.senders)
    return tuple(dict.fromkeys((*ends, *evidence.transit, *evidence.behind)))
