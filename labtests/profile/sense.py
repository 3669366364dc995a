"""Whether a profile makes sense: what cannot work is an error, what an expert would ask about is a
warning. Every rule is a function that yields what it finds; the docs list them (docs/profiles.md).
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, cast

from labtests.core.headroom import headroom_for
from labtests.inventory.mistakes import Path
from labtests.profile import derived
from labtests.profile.form import STRICT, ProfileFile

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something about one place of the file."""

    severity: Severity
    rule: str
    path: Path
    problem: str


Found = Iterator[tuple[Path, str]]
_RULES: list[tuple[Severity, str, Callable[[ProfileFile], Found]]] = []


def remarks(profile: ProfileFile, unknown: frozenset[str] = frozenset()) -> list[Remark]:
    """Everything that the rules find. The values of `unknown` keys are wrong by themselves: a rule
    finds what it can without them."""
    known = cast(ProfileFile, _KnownPart(profile, unknown)) if unknown else profile
    return [
        Remark(severity=severity, rule=name, path=path, problem=problem)
        for severity, name, rule in _RULES
        for path, problem in _until_unknown(rule(known))
    ]


class _UnknownValueError(Exception):
    """A rule has asked for it."""


class _KnownPart:
    """A profile of which some keys are not known."""

    def __init__(self, profile: ProfileFile, unknown: frozenset[str]) -> None:
        self._profile, self._unknown = profile, unknown

    @property
    def model_fields_set(self) -> set[str]:
        """The file has the unknown ones, too."""
        return self._profile.model_fields_set | self._unknown

    def __getattr__(self, name: str) -> Any:
        if name in self._unknown:
            raise _UnknownValueError
        return getattr(self._profile, name)


def _until_unknown(found: Found) -> Found:
    with suppress(_UnknownValueError):
        yield from found


def rules() -> list[tuple[Severity, str, str]]:
    """Severity, name and meaning of every rule."""
    return [(severity, name, (rule.__doc__ or "").strip()) for severity, name, rule in _RULES]


def _rule(
    severity: Severity,
) -> Callable[[Callable[[ProfileFile], Found]], Callable[[ProfileFile], Found]]:
    def add(rule: Callable[[ProfileFile], Found]) -> Callable[[ProfileFile], Found]:
        _RULES.append((severity, rule.__name__.strip("_").replace("_", "-"), rule))
        return rule

    return add


# -- errors ------------------------------------------------------------------------------------

_NEEDS = {
    "lossless": ("rate_gbit_per_s", "mtu_bytes", "trust"),
    "asymmetric_pfc": ("lossless",),
    "buffer": ("rate_gbit_per_s",),
    "cnp": ("trust",),
    "maps": ("trust",),
}


@_rule("error")
def _needs(profile: ProfileFile) -> Found:
    """A required key is missing: lossless needs rate, MTU and trust; buffer needs the rate; cnp and
    maps need trust; asymmetric_pfc and buffer.lossless_memory_percent need lossless."""
    given = profile.model_fields_set
    for key, needed in _NEEDS.items():
        lacking = [each for each in needed if not getattr(profile, each)]
        if key in given and lacking:
            yield (key,), f"needs {' and '.join(lacking)} beside it"
    if profile.buffer and profile.buffer.lossless_memory_percent and not profile.lossless:
        yield ("buffer", "lossless_memory_percent"), "needs lossless beside it"
    if not given - {"name", "description"}:
        yield ("name",), "the profile sets nothing"


@_rule("error")
def _ecn_order(profile: ProfileFile) -> Found:
    """kmin_bytes is not below kmax_bytes."""
    for number, part in enumerate(profile.ecn):
        if part.kmin_bytes >= part.kmax_bytes:
            problem = f"must be below kmax_bytes ({part.kmax_bytes}): the curve has to rise"
            yield ("ecn", number, "kmin_bytes"), problem


@_rule("error")
def _shares(profile: ProfileFile) -> Found:
    """The shares of the queues that are not strict do not add up to 100 percent."""
    shares = [share for share in profile.scheduling or () if share != STRICT]
    if shares and sum(shares) != 100:
        yield ("scheduling",), f"the shares add up to {sum(shares)} percent, not to 100"


@_rule("error")
def _egress_too_small(profile: ProfileFile) -> Found:
    """S22: (group share + guarantee + headroom) * ports > queue share + guarantee."""
    buffer = profile.buffer
    needed = None if buffer is None else derived.egress_needed(profile, buffer)
    if buffer is None or buffer.egress is None or needed is None:
        return
    allowed = buffer.egress.share_cells + buffer.egress.guaranteed_cells
    if needed > allowed:
        yield (
            ("buffer", "egress", "share_cells"),
            f"a lossless queue may hold {allowed} cells, but {buffer.ingress_ports} paused ports "
            f"can bring {needed:.0f}: it would drop before PFC holds (S22); "
            f"give it at least {needed - buffer.egress.guaranteed_cells:.0f}",
        )


@_rule("error")
def _headroom_too_small(profile: ProfileFile) -> Found:
    """S23: headroom_cells is less than what arrives after a pause."""
    buffer = profile.buffer
    if buffer is None or buffer.headroom_cells is None or profile.rate_gbit_per_s is None:
        return
    needed = derived.headroom_by_rule(profile, buffer)
    if buffer.headroom_cells < needed:
        yield (
            ("buffer", "headroom_cells"),
            f"must be at least {needed} cells at {profile.rate_gbit_per_s:g} Gbit/s and "
            f"{buffer.cable_m:g} m (S23): so much arrives after a pause",
        )


@_rule("error")
def _cnp_elsewhere(profile: ProfileFile) -> Found:
    """The DSCP of CNPs leads to another priority than cnp.priority."""
    if profile.cnp is None or profile.trust != "dscp":
        return
    leads_to = derived.dscp_map(profile)[profile.cnp.dscp]
    if leads_to != profile.cnp.priority:
        yield (
            ("cnp", "dscp"),
            f"DSCP {profile.cnp.dscp} leads to priority {leads_to}, not to {profile.cnp.priority}: "
            "add it to maps.dscp",
        )


def _lists(profile: ProfileFile) -> Iterator[tuple[Path, list[int], str]]:
    yield ("lossless",), list(profile.lossless), "priority"
    yield ("maps", "dscp"), [d for part in profile.maps.dscp for d in part.dscp], "DSCP"
    yield ("ecn",), [p for part in profile.ecn for p in part.priorities], "priority"


@_rule("error")
def _twice(profile: ProfileFile) -> Found:
    """A priority or DSCP is listed twice where it can have one meaning only."""
    for path, values, what in _lists(profile):
        for value, count in Counter(values).items():
            if count > 1:
                yield path, f"{what} {value} is listed {count} times"


@_rule("error")
def _curves_collide(profile: ProfileFile) -> Found:
    """Two priorities with different ECN curves share a queue, which has one curve only."""
    queue_of, owner = derived.queue_map(profile), dict[int, int]()
    for number, part in enumerate(profile.ecn):
        for queue in {queue_of[priority] for priority in part.priorities}:
            first = owner.setdefault(queue, number)
            if first != number:
                problem = f"queue {queue} has the curve of ecn[{first}] already"
                yield ("ecn", number, "priorities"), problem


# -- warnings ----------------------------------------------------------------------------------


@_rule("warning")
def _cnp_lossless(profile: ProfileFile) -> Found:
    """CNPs travel in a lossless priority: a pause would hold back what is to end the congestion."""
    if profile.cnp is not None and profile.cnp.priority in profile.lossless:
        yield (
            ("cnp", "priority"),
            f"priority {profile.cnp.priority} is lossless: a pause would hold back the CNPs that "
            "are to end it",
        )


@_rule("warning")
def _ecn_above_pfc(profile: ProfileFile) -> Found:
    """kmin_bytes is not below the level at which PFC fires: senders are paused before a mark."""
    level = None if profile.buffer is None else derived.pause_level_bytes(profile.buffer)
    if level is None:
        return
    for number, part in enumerate(profile.ecn):
        if part.kmin_bytes >= level and set(part.priorities) & set(profile.lossless):
            yield (
                ("ecn", number, "kmin_bytes"),
                f"PFC fires at {level:.0f} bytes of one ingress port when all are congested: "
                "it would pause before anything is marked",
            )


@_rule("warning")
def _lossless_without_ecn(profile: ProfileFile) -> Found:
    """A lossless priority is never marked: only pauses, which spread, hold its senders."""
    for number, priority in enumerate(profile.lossless):
        if priority not in derived.marked(profile):
            yield (
                ("lossless", number),
                f"priority {priority} has no ECN: only PFC would slow its senders, and pauses "
                "spread to flows that cause no congestion",
            )


@_rule("warning")
def _all_lossless(profile: ProfileFile) -> Found:
    """Every priority is lossless: ordinary traffic pauses the network, and headroom is needed
    eight times."""
    if len(set(profile.lossless)) == 8:
        yield (
            ("lossless",),
            "PFC on all priorities: ordinary traffic would pause the network, and every port "
            "needs headroom eight times",
        )


@_rule("warning")
def _control_lossless(profile: ProfileFile) -> Found:
    """Priority 7 is lossless, in which switches send their own protocols; or 0, in which everybody
    is who marks nothing."""
    for number, priority in enumerate(profile.lossless):
        if priority in (0, 7) and len(set(profile.lossless)) < 8:
            whose = "traffic that nobody marked" if priority == 0 else "the network's own protocols"
            yield ("lossless", number), f"priority {priority} carries {whose}: it could be paused"


@_rule("warning")
def _nothing_leads_there(profile: ProfileFile) -> Found:
    """No DSCP leads to a lossless priority."""
    if profile.trust == "dscp":
        reached = set(derived.dscp_map(profile))
        for number, priority in enumerate(profile.lossless):
            if priority not in reached:
                yield ("lossless", number), f"no DSCP leads to priority {priority}"


@_rule("warning")
def _queue_is_shared(profile: ProfileFile) -> Found:
    """A lossless and a lossy priority share a queue: each suffers the other's congestion."""
    queue_of, lossless = derived.queue_map(profile), set(profile.lossless)
    for priority in range(8):
        others = [p for p in lossless if queue_of[p] == queue_of[priority]]
        if priority not in lossless and others:
            yield (
                ("maps", "queue_of_priority"),
                f"priority {priority} is lossy and shares queue {queue_of[priority]} with lossless "
                f"priority {others[0]}",
            )


@_rule("warning")
def _cnp_waits(profile: ProfileFile) -> Found:
    """The queue of CNPs is not strict, or it is a data queue: they must get through within
    microseconds."""
    if profile.cnp is None:
        return
    queue_of = derived.queue_map(profile)
    queue = queue_of[profile.cnp.priority]
    if profile.scheduling is not None and queue not in derived.strict_queues(profile):
        yield ("cnp", "priority"), f"queue {queue} is not strict: CNPs would wait behind data"
    behind = [p for p in profile.lossless if queue_of[p] == queue and p != profile.cnp.priority]
    if behind:
        yield ("cnp", "priority"), f"CNPs share queue {queue} with lossless priority {behind[0]}"


@_rule("warning")
def _data_is_strict(profile: ProfileFile) -> Found:
    """The queue of a lossless priority is strict: it can starve every queue below."""
    for priority in profile.lossless:
        queue = derived.queue_map(profile)[priority]
        if queue in derived.strict_queues(profile):
            yield ("scheduling", queue), f"lossless priority {priority} could starve the others"


@_rule("warning")
def _kmin_below_frames(profile: ProfileFile) -> Found:
    """kmin_bytes is less than two frames: a single burst of one sender is marked."""
    frames = 2 * derived.frame_bytes(profile)
    for number, part in enumerate(profile.ecn):
        if part.kmin_bytes < frames:
            yield ("ecn", number, "kmin_bytes"), f"is less than two frames ({frames} bytes)"


@_rule("warning")
def _kmax_above_queue(profile: ProfileFile) -> Found:
    """kmax_bytes is more than the queue may hold: it drops before everything is marked."""
    buffer = profile.buffer
    if buffer is None or buffer.egress is None:
        return
    holds = (buffer.egress.share_cells + buffer.egress.guaranteed_cells) * buffer.cell_bytes
    for number, part in enumerate(profile.ecn):
        if part.kmax_bytes > holds:
            yield ("ecn", number, "kmax_bytes"), f"a queue may hold {holds} bytes only"


@_rule("warning")
def _jumbo_headroom(profile: ProfileFile) -> Found:
    """S23 counts two frames of 1518 B; with a larger MTU headroom_cells is too small by the same
    rule."""
    buffer = profile.buffer
    if buffer is None or profile.rate_gbit_per_s is None or derived.frame_bytes(profile) <= 1522:
        return
    rule = derived.headroom_by_rule(profile, buffer)
    longer = 2 * 8 * (derived.frame_bytes(profile) - 1518)
    more_m = longer / derived.rate_bits_per_s(profile) * 2e8 / 2  # as if the cable were longer
    rate = derived.rate_bits_per_s(profile)
    needed = headroom_for(rate, buffer.cable_m + more_m, buffer.cell_bytes)
    if rule <= derived.headroom_cells(profile, buffer) < needed:
        yield (
            ("buffer", "headroom_cells"),
            f"S23 counts frames of 1518 bytes; with two of {derived.frame_bytes(profile)} it would "
            f"be {needed} cells",
        )


@_rule("warning")
def _alpha_decays_between_cnps(profile: ProfileFile) -> Found:
    """alpha_timer_us is not longer than cnp_interval_us: alpha decays although CNPs keep coming."""
    if profile.dcqcn is None:
        return
    timer = profile.dcqcn.reaction_point.alpha_timer_us
    interval = profile.dcqcn.notification_point.cnp_interval_us
    if timer is not None and interval is not None and timer <= interval:
        yield (
            ("dcqcn", "reaction_point", "alpha_timer_us"),
            f"must be longer than cnp_interval_us ({interval}), or alpha decays although CNPs come",
        )


@_rule("warning")
def _marked_but_not_heard(profile: ProfileFile) -> Found:
    """A priority has ECN, and no reaction or no notification point."""
    if profile.dcqcn is None:
        return
    for side, name in (
        (profile.dcqcn.reaction_point, "reaction_point"),
        (profile.dcqcn.notification_point, "notification_point"),
    ):
        deaf = derived.marked(profile) - set(side.priorities or derived.marked(profile))
        if deaf:
            yield (
                ("dcqcn", name, "priorities"),
                f"priority {min(deaf)} has ECN but no {name.replace('_', ' ')}",
            )
