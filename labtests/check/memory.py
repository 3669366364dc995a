"""What switch ports may hold: is there headroom for what arrives after a pause, and can a queue
that marks ever be as long as its curve?"""

from collections.abc import Iterator

from labtests.capabilities.facts import LinkFacts
from labtests.capabilities.records import PfcSetting, PortMemory, PriorityMemory
from labtests.check.cables import CheckedLab
from labtests.check.finding import CheckFinding, Subject, Unknown
from labtests.core.headroom import (
    FRAMING_BYTES,
    FULL_FRAME_BYTES,
    PROCESSING_S,
    arriving_bytes,
)
from labtests.inventory import Endpoint, Link

_MORE = "give the priority more headroom, or correct speed and length_m in the testbed file"
_REACH = "raise the threshold (alpha) of these ports' priorities, or lower Kmax"


def memory(lab: CheckedLab) -> Iterator[CheckFinding]:
    """Headroom of each port's lossless priorities, and Kmax of its queues."""
    for end, link in lab.ends:
        told = lab.known[end.device].memory.get(end.interface)
        at = Subject("memory", end.device, end.interface)
        if isinstance(told, Unknown):
            yield at.unknown(told.why)
        elif told is not None:
            yield from _headroom(lab, at, told, (end, link))
            yield from _reach(lab, at, told, end)
        yield from _cable(lab, at, end, link)


def _cable(lab: CheckedLab, at: Subject, end: Endpoint, link: Link) -> Iterator[CheckFinding]:
    """A lossless port that sizes its buffers by the length of its cable has to know it."""
    told_m, lossless = lab.setting(end, "cable_length"), _lossless(lab, end)
    if isinstance(lossless, Unknown) or not lossless or not isinstance(told_m, int):
        return
    if told_m < link.length_m:
        problem = f"it is lossless, with buffers for a cable of {told_m} m, and has one of "
        remedy = "`labtests apply` a profile with this buffer.cable_m, or correct length_m"
        yield at.says("warning", f"{problem}{link.length_m:g} m", remedy)


def _lossless(lab: CheckedLab, end: Endpoint) -> frozenset[int] | Unknown:
    found = lab.setting(end, "pfc")
    if not isinstance(found, PfcSetting):
        return found if isinstance(found, Unknown) else Unknown(why="PFC was not read")
    if found.mode == "auto":
        return Unknown(why="PFC is auto: which priorities are lossless is up to its peer (DCBX)")
    return found.priorities if found.mode == "on" else frozenset()


def _frame_bytes(lab: CheckedLab, peer: Endpoint) -> int:
    """The longest that comes from there: of its MTU; from a switch, of that of any host. Of the
    usual MTU where none tells it."""
    own = _mtu_bytes(lab, peer)
    told = [own] if own else [_mtu_bytes(lab, end) for end, _ in lab.ends]
    return max((mtu + FRAMING_BYTES for mtu in told if mtu), default=FULL_FRAME_BYTES)


def _mtu_bytes(lab: CheckedLab, end: Endpoint) -> int | None:
    facts = lab.link(end)
    return facts.mtu_bytes if isinstance(facts, LinkFacts) else None


def _headroom(
    lab: CheckedLab, at: Subject, told: PortMemory, cable: tuple[Endpoint, Link]
) -> Iterator[CheckFinding]:
    end, link = cable
    limits = {each.priority: each for each in told.priorities}
    frame_bytes = _frame_bytes(lab, link.b if end == link.a else link.a)
    least, needed = (
        arriving_bytes(
            link.speed_bits_per_s, link.length_m, processing_s=each, frame_bytes=frame_bytes
        )
        for each in (0.0, PROCESSING_S)
    )
    by = (
        f"at {link.speed_bits_per_s / 1e9:g} Gbit/s and {link.length_m:g} m, in frames of "
        f"{frame_bytes} bytes,"
    )
    lossless = _lossless(lab, end)
    if isinstance(lossless, Unknown):
        yield at.unknown(f"whether there is headroom: {lossless.why}")
        return
    for priority in sorted(lossless):
        room = limits.get(priority, PriorityMemory(priority=priority)).headroom_bytes
        if room is None:
            yield at.unknown(f"how much headroom lossless priority {priority} has is not told")
        elif room < least:
            problem = f"priority {priority} has headroom of {room} bytes: {by} {least} arrive after"
            yield at.says("failure", f"{problem} a pause, however soon the peer stops", _MORE)
        elif room < needed:
            problem = f"priority {priority} has headroom of {room} bytes: {by} {needed} may arrive"
            yield at.says("note", f"{problem} after a pause by the rule of S23", _MORE)
        else:
            yield at.ok(f"priority {priority} has headroom of {room} bytes, {needed} arrive")


def _reach(lab: CheckedLab, at: Subject, told: PortMemory, end: Endpoint) -> Iterator[CheckFinding]:
    """All that the other ports may hold of a queue's lossless priorities is what it may be."""
    queues = lab.setting(Endpoint(device=end.device, interface=""), "queue_map")
    if not isinstance(queues, tuple):
        return
    for queue, kmax in told.kmax_bytes:
        meant = {priority for priority, each in enumerate(queues) if each == queue}
        groups = _groups(lab, end, meant)
        most = None if groups is None else most_bytes(groups)
        if most is None or groups is None:
            continue
        if most < kmax:
            yield at.says(
                "warning",
                f"queue {queue} marks all from {kmax} bytes on (Kmax), and never has so many: the "
                f"{len(groups)} lossless groups before it are paused at {most:.0f} together (S22)",
                _REACH,
            )
        else:
            yield at.ok(f"queue {queue} may hold {most:.0f} bytes, Kmax is {kmax}")


def _groups(lab: CheckedLab, end: Endpoint, meant: set[int]) -> list[PriorityMemory] | None:
    """Those of the device's other ports that lead there; None where any may hold what it likes, or
    that is not known."""
    found = []
    for other in (each for each, _ in lab.ends if each.device == end.device and each != end):
        lossless = _lossless(lab, other)
        told = lab.known[other.device].memory.get(other.interface)
        if isinstance(lossless, Unknown) or not isinstance(told, PortMemory) or meant - lossless:
            return None
        of = {each.priority: each for each in told.priorities}
        found += [of.get(priority, PriorityMemory(priority=priority)) for priority in meant]
    return found or None


def most_bytes(groups: list[PriorityMemory]) -> float | None:
    """What groups of one pool hold at most when all are paused; None where one does not tell.

    Each of N dynamic groups gets alpha B / (1 + the sum of all alphas) (Choudhury and Hahne), and
    beside that what is reserved for it, and its headroom."""
    alphas = [each.alpha for each in groups if each.static_bytes is None]
    pools = {each.pool_bytes for each in groups if each.static_bytes is None}
    rest = [(each.headroom_bytes, each.reserved_bytes or 0) for each in groups]
    if None in alphas or None in pools or len(pools) > 1 or any(room is None for room, _ in rest):
        return None
    together = sum(alpha for alpha in alphas if alpha is not None)
    pool = max((size for size in pools if size is not None), default=0)
    static = sum(each.static_bytes or 0 for each in groups)
    own = sum((room or 0) + reserved for room, reserved in rest)
    return together / (1 + together) * pool + static + own
