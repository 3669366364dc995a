"""What a lab can carry: shares of the bottleneck's line rate, spread over senders' links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from unittest import SkipTest

from labtests.core.units import IP_BYTES, UDP_BYTES, packets_of
from labtests.experiment.roles import Role, Roles, Trunk

FULL = 0.95
"""Of its link, what a sender is asked at most: more, it could not offer steadily."""
LEAST = 0.01
"""Of the bottleneck: a smaller rest is not worth a stream of its own."""
NOTHING = 1e-9
CONGESTED = 1.05
"""Senders' links together, by line rate: less keeps no queue full."""
OVERLOADS = 0.6
"""Of line rate, what is clearly more than half."""
GIVES_WAY = 2 / 3
"""Of what the first sender has alone, its fair share at most, or nothing can be seen to slow it."""

ETHERNET_BYTES, GAP_BYTES = 14 + 4, 20
"""Ethernet's header with the check sequence; preamble and gap."""
ROCE_SIZES, ROCE_BYTES = (256, 512, 1024, 2048, 4096), 96
"""Payloads of RoCE frames, and their headers as the kernel counts them (iboe_get_mtu)."""
ROCE_FRAME_BYTES = 14 + 20 + 8 + 12 + 4 + 4
"""Around the payload: Ethernet, IPv4, UDP, base transport header, and both check sequences."""
NEAR = 4
"""Times the bottleneck's rate: healthy labs have 40 Gb/s into 10, which DCQCN holds; 10 into 1
lost packets, and left a third of the line free."""
HELD = 16
"""Senders that DCQCN alone holds: of 25 Gb/s each into 25, 16 lost nothing, and 32 lost packets
(what each has to slow down to is near what its RP adds at a time)."""
PMAX, SPEEDS_UP_S = 0.1, 300e-6
"""The curve's default (Comware, DCQCN's paper), and mlx5's rpg_time_reset by default."""
LONG_DATAGRAM_BYTES = 65500  # iperf3's longest, in fragments


class NotHere(SkipTest):
    """This lab cannot show what a suite asks about: a skip, with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """A traffic class: the TOS byte, and for paced tools the share of line rate it offers."""

    tos: int
    offered_share: float | None = None
    window_bytes: int | None = None  # of the sockets; None: as much as every host grants

    def offering(self, share: float, *, window_bytes: int | None = None) -> "Class":
        """The same class at this share of line rate."""
        return replace(self, offered_share=share, window_bytes=window_bytes)


Part = tuple[Role, Class]


def payload_share(mtu_bytes: int, datagram_bytes: int) -> float:
    """UDP goodput per line rate. 65 500 B at an MTU of 1500 B: 45 packets, 0.9616; at 9000: 8
    packets, 0.9928."""
    headers = packets_of(datagram_bytes, mtu_bytes) * (IP_BYTES + ETHERNET_BYTES + GAP_BYTES)
    return datagram_bytes / (datagram_bytes + UDP_BYTES + headers)


def roce_payload_bytes(mtu_bytes: int) -> int:
    """Of a full RoCE packet, at this MTU of the hosts."""
    return max((size for size in ROCE_SIZES if size + ROCE_BYTES <= mtu_bytes), default=256)


def roce_share(mtu_bytes: int, *, tagged: bool) -> float:
    """Goodput of RDMA per line rate: 1024 B payload are 1106 B on the wire (document 000 has 9.26
    of 10 Gb/s)."""
    payload, tag_bytes = roce_payload_bytes(mtu_bytes), 4 if tagged else 0
    return payload / (payload + ROCE_FRAME_BYTES + tag_bytes + GAP_BYTES)


def one_packet_bytes(mtu_bytes: int) -> int:
    """The longest datagram in one packet, so that datagrams can be counted as packets."""
    return mtu_bytes - IP_BYTES - UDP_BYTES


def spread(classes: Sequence[Class], senders: Sequence[Role], line: float) -> list[Part]:
    """Sender by sender one class, and round again. What is more than a sender's link carries goes
    to those with room, most room first. Raises NotHere when it does not fit."""
    left = [FULL * role.link_bits_per_s / line for role in senders]
    found: list[Part] = []
    for number, traffic in enumerate(classes):
        share, first = traffic.offered_share or 1.0, number % len(left)
        parts = _parts(share, first, left)
        if sum(parts.values()) < share - NOTHING:
            asked = sum(each.offered_share or 1.0 for each in classes)
            raise NotHere(_too_much(asked, senders, line))
        for sender, part in parts.items():
            left[sender] -= part
            each = traffic.offering(part, window_bytes=traffic.window_bytes)
            found.append((senders[sender], each))
    return found


def _parts(share: float, first: int, left: Sequence[float]) -> dict[int, float]:
    """How much of a share each sender takes: the first one all, as far as there is room."""
    others = sorted(set(range(len(left))) - {first}, key=lambda sender: -left[sender])
    found: dict[int, float] = {}
    for sender in (first, *others):
        part = min(share, left[sender])
        if part >= min(LEAST, share) > NOTHING:
            found[sender] = part
            share -= part
    return found


def early_and_late(
    shares: tuple[float, float], senders: Sequence[Role], line: float
) -> tuple[float, ...]:
    """What each sender offers: the first one its share, the others theirs together, alike as far as
    their links go. Raises NotHere when it does not fit."""
    room = [FULL * role.link_bits_per_s / line for role in senders]
    found, (first, rest) = dict[int, float](), shares
    waiting = sorted(range(1, len(room)), key=lambda sender: room[sender])
    for number, sender in enumerate(waiting):
        found[sender] = min(rest / (len(waiting) - number), room[sender])
        rest -= found[sender]
    if rest > NOTHING or first > room[0]:
        raise NotHere(_too_much(sum(shares), senders, line))
    return (first, *(found[sender] for sender in sorted(found)))


def fastest_at_the_ends(senders: Sequence[Role]) -> tuple[Role, ...]:
    """The fastest link starts, the next one is last, the others keep their order between them."""
    by_speed = sorted(senders, key=lambda role: -role.link_bits_per_s)
    slowest_of_two = by_speed[1].link_bits_per_s
    if senders[0].link_bits_per_s >= slowest_of_two <= senders[-1].link_bits_per_s:
        return tuple(senders)
    first, last = by_speed[:2]
    return (first, *(role for role in senders if role not in (first, last)), last)


def held_alone(senders: Sequence[Role]) -> tuple[Role, ...]:
    """As many of them as DCQCN holds without PFC, the first and the last among them."""
    return tuple(senders if len(senders) <= HELD else (*islice(senders, HELD - 1), senders[-1]))


def fastest_without_a_queue(senders: Sequence[Role], line: float) -> Role:
    """Of those whose link is no faster than the receiver's: alone, their bursts make no queue, and
    nothing is marked. Raises NotHere where all are faster."""
    slow = [role for role in senders if role.link_bits_per_s <= line]
    if not slow:
        raise NotHere("each sender's link is faster than the receiver's: its bursts queue up")
    return max(slow, key=lambda role: role.link_bits_per_s)


def expect_congestion(senders: Sequence[Role], line: float) -> None:
    """All of them together, as fast as they can, fill the bottleneck, and the first has to give
    way. Raises NotHere."""
    links = [min(role.link_bits_per_s, line) for role in senders]
    if sum(links) < CONGESTED * line:
        raise NotHere(_too_much(CONGESTED, senders, line))
    fair = _fair_share(links, line)
    if fair > GIVES_WAY * links[0]:
        raise NotHere(
            f"{senders[0].name} can send at most {links[0] / 1e9:g} Gb/s and its fair share is "
            f"{fair / 1e9:g} Gb/s: a slowdown would not show"
        )


def expect_marks_in_time(senders: int, line: float, mtu_bytes: int) -> None:
    """A sender's packets are marked more often than its RP speeds up again by itself: at Pmax each
    has one marked in so many packets of all of them. Raises NotHere."""
    roce_bytes = roce_payload_bytes(mtu_bytes)
    packet_s = 8 * (roce_bytes + ROCE_BYTES) / line
    apart_s = senders * packet_s / PMAX
    if apart_s > SPEEDS_UP_S:
        raise NotHere(
            f"at {line / 1e9:g} Gb/s a packet of {roce_bytes} B takes {packet_s * 1e6:.3g} us: "
            f"each of {senders} senders gets one mark per {apart_s * 1e3:.2g} ms at Pmax "
            f"{PMAX:.0%}, and its RP speeds up every {SPEEDS_UP_S * 1e3:g} ms (rpg_time_reset): "
            "marks are too rare to slow it down; a smaller MTU would help"
        )


def expect_near_rates(senders: Sequence[Role], line: float) -> None:
    """DCQCN alone holds senders whose links are not many times as fast as the bottleneck. A queue
    pair starts at its link's rate, a CNP halves that at most, and what was cut comes back slowly:
    buffers lose the first, and the line has room in the second. Raises NotHere."""
    for sender in senders:
        if sender.link_bits_per_s > NEAR * line:
            raise NotHere(
                f"{sender.name} can send {sender.link_bits_per_s / line:.3g} times as fast as the "
                f"bottleneck's {line / 1e9:g} Gb/s: DCQCN alone does not hold its first packets, "
                "nor fills its share"
            )


def expect_overload(sender: Role, line: float) -> None:
    """One sender by itself keeps a queue full that has half of the bottleneck. Raises NotHere."""
    if sender.link_bits_per_s < OVERLOADS * line:
        raise NotHere(
            f"{sender.name} can send at most {sender.link_bits_per_s / 1e9:g} Gb/s and its class "
            f"is due half of {line / 1e9:g} Gb/s: it cannot overload a queue by itself"
        )


def expect_room(asked: Mapping[str, float], trunks: Sequence[Trunk]) -> None:
    """No cable between switches is asked for more than it carries (bits/s by sender): else the
    queue is there, and not where the suite looks. Raises NotHere."""
    for trunk in trunks:
        load = sum(rate for name, rate in asked.items() if name in trunk.senders)
        if load > trunk.bits_per_s:
            raise NotHere(
                f"{trunk.ends[0]} - {trunk.ends[1]} carries {trunk.bits_per_s / 1e9:g} Gb/s but "
                f"the suite sends {load / 1e9:.4g} Gb/s through it: that cable would be "
                "the bottleneck"
            )


def expect_one_bottleneck(senders: Sequence[Role], roles: Roles) -> None:
    """The same for senders that are as fast as they can: a cable that is faster than the
    bottleneck has no queue that stays. Raises NotHere."""
    trunks = other_trunks(roles)
    slow = [each for each in trunks if each.bits_per_s < CONGESTED * roles.line_bits_per_s]
    expect_room({role.name: role.link_bits_per_s for role in senders}, slow)


def other_trunks(roles: Roles) -> list[Trunk]:
    """Those that are not the bottleneck."""
    return [trunk for trunk in roles.trunks if roles.bottleneck not in trunk.ends]


def at_the_trunk(roles: Roles) -> Roles:
    """The same incast, for a suite that looks at the cable between switches that all senders share
    and that is full first: its port towards the receiver is the bottleneck. Raises NotHere."""
    everybody = frozenset(role.name for role in roles.senders)
    shared = [trunk for trunk in roles.trunks if trunk.senders == everybody]
    if len(shared) != 1 or len(roles.transit) != len(shared[0].ends):
        raise NotHere(
            f"the suite looks at one cable between two switches that all senders share, and there "
            f"are {len(shared)} (of {len(roles.transit) // 2} between switches on their way)"
        )
    (trunk,) = shared
    offered = sum(role.link_bits_per_s for role in roles.senders)
    if not CONGESTED * trunk.bits_per_s <= offered or trunk.bits_per_s > roles.line_bits_per_s:
        raise NotHere(
            f"{trunk.ends[0]} - {trunk.ends[1]} carries {trunk.bits_per_s / 1e9:g} Gb/s, the "
            f"senders {offered / 1e9:g} and the receiver {roles.line_bits_per_s / 1e9:g}: it is "
            "not full before all else"
        )
    return replace(roles, congested=trunk.ends[0], line_bits_per_s=trunk.bits_per_s)


def _fair_share(links: Sequence[float], line: float) -> float:
    """Of the first, by max-min fairness."""
    left, fair = line, 0.0
    for number, link in enumerate(sorted(links)):
        fair = left / (len(links) - number)
        if link >= fair:
            break
        left -= link
    return min(fair, links[0])


def _too_much(asked: float, senders: Sequence[Role], line: float) -> str:
    links = "+".join(f"{role.link_bits_per_s / 1e9:g}" for role in senders)
    return (
        f"the suite asks the senders for {asked * line / 1e9:.4g} Gb/s, and their links "
        f"({links} Gb/s) do not carry as much"
    )
