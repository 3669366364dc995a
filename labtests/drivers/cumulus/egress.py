"""The egress queues (traffic classes) of a port: ECN and RED, and who is served how."""

import re
from contextlib import suppress

from labtests.capabilities import records as r
from labtests.capabilities import settings as s
from labtests.capabilities.device import QueueShares, Shares
from labtests.drivers.cumulus import profiles as p
from labtests.drivers.marking import MarkingInBytes, red_curve
from labtests.drivers.sharing import round_robin

QUEUES = range(8)
_CLASS = "traffic-class"
_USUAL = (150_000, 1_500_000, 100)
"""The default of the switch itself (guide)."""
_MOST_BYTES = 2**32 - 1
_ALSO_DROPS = re.compile(r"; RED in ([0-7](?:, [0-7])*)")
Marked = tuple[frozenset[r.WredQueue], frozenset[int]]
"""Curves, and in which of them packets that cannot be marked are dropped by RED, too."""


def curves_of(leaves: p.Leaves) -> Marked:
    """Of each class that marks or drops. Raises Unclear."""
    p.expect_shapes("congestion-control", leaves)
    found, drops = set(), set()
    for queue in p.members(leaves, _CLASS, 8):
        at = (_CLASS, str(queue))
        ecn = p.switched(leaves, (*at, "ecn"), "enable")
        red = p.switched(leaves, (*at, "red"), "disable")
        low, high, most = (
            p.number(leaves, (*at, name), usual, _MOST_BYTES)
            for name, usual in zip(("min-threshold", "max-threshold", "probability"), _USUAL,
                                   strict=True)
        )  # fmt: skip
        if not (ecn or red):
            continue
        if most > 100 or low > high:
            raise p.Unclear(f"{' '.join(at)}: {low} to {high} bytes, {most} %: no curve")
        found.add(red_curve(queue, (low, high), most, ecn=ecn))
        if ecn and red:
            drops.add(queue)
    return frozenset(found), frozenset(drops)


def _told(curve: r.WredQueue, red: bool) -> dict[tuple[str, str, str], str]:
    words = {
        "ecn": "enable" if curve.ecn else "disable",
        "max-threshold": str(curve.high_limit),
        "min-threshold": str(curve.low_limit),
        "probability": str(curve.drop_probability_percent),
        "red": "enable" if red or not curve.ecn else "disable",
    }
    return {(_CLASS, str(curve.queue), name): word for name, word in words.items()}


class CumulusEcn(p.ProfileSetting[r.EcnSetting, Marked], MarkingInBytes):
    """ECN of each queue. One that is not in the setting drops at the tail. The profile of a setting
    is its name, and in which queues RED drops what cannot be marked: `lossy; RED in 3, 4`."""

    feature = "congestion-control"
    usual = (*_USUAL, 0)
    no_average = "labtests knows of no average there: it looks at the queue of the moment"

    def _meaning(self, leaves: p.Leaves) -> Marked:
        return curves_of(leaves)

    def value(self, applied: p.Applied, port: str) -> r.EcnSetting:
        """As applied."""
        curves, drops = self.in_force(applied, port)
        name = applied.profile or p.DEFAULT
        told = f"; RED in {', '.join(map(str, sorted(drops)))}" if drops else ""
        queues = tuple(sorted(curves, key=lambda each: each.queue))
        return r.EcnSetting(profile=f"{name}{told}", queues=queues) if queues else r.EcnSetting()

    def same(self, one: r.EcnSetting, other: r.EcnSetting) -> bool:
        """By queue."""
        return _meant(one) == _meant(other)

    def _made(self, applied: p.Applied, port: str, wanted: r.EcnSetting) -> p.Applied:
        curves, drops = _meant(wanted)
        self.expect_possible(curves)
        classes = {path[1] for path in applied.leaves if path[0] == _CLASS} or {"0"}
        own = {(_CLASS, each, name): "disable" for each in classes for name in ("ecn", "red")}
        for curve in curves:
            own |= _told(curve, curve.queue in drops)
        return self.meant(applied, port, (curves, drops), dict(sorted(own.items())))


def _meant(setting: r.EcnSetting) -> Marked:
    told = _ALSO_DROPS.search(setting.profile or "")
    drops = frozenset(map(int, told[1].split(", "))) if told else frozenset()
    return frozenset(setting.queues), drops & setting.marking_queues


# -- scheduling ------------------------------------------------------------------------------------

Served = tuple[int | None, ...]
"""Percent of each queue, None for strict priority."""


def shares_of(leaves: p.Leaves) -> Served:
    """A class that the profile says nothing of gets what others leave (guide): 0. Raises
    p.Unclear."""
    p.expect_shapes("egress-scheduler", leaves)
    p.members(leaves, _CLASS, 8)
    if not leaves:
        raise p.Unclear("it is not there, or empty", "give the port a profile: mode, bw-percent")
    found: list[int | None] = []
    for queue in map(str, QUEUES):
        mode = leaves.get((_CLASS, queue, "mode"), "dwrr")
        if mode not in ("dwrr", "strict"):
            raise p.Unclear(f"{_CLASS} {queue}: labtests does not know the mode {mode!r}")
        share = p.number(leaves, (_CLASS, queue, "bw-percent"), 0, 100)
        found.append(None if mode == "strict" else share)
    if (whole := sum(share or 0 for share in found)) > 100:
        raise p.Unclear(f"its classes have {whole} percent together")
    return tuple(found)


class CumulusScheduling(p.ProfileSetting[r.SchedulingSetting, Served], QueueShares):
    """Strict priority (the highest queue first), or a percentage (DWRR)."""

    kind = s.SCHEDULING
    feature = "egress-scheduler"

    def _meaning(self, leaves: p.Leaves) -> Served:
        return shares_of(leaves)

    def value(self, applied: p.Applied, port: str) -> r.SchedulingSetting:
        """As applied."""
        return self.scheduling_for(self.in_force(applied, port))

    def _made(self, applied: p.Applied, port: str, wanted: r.SchedulingSetting) -> p.Applied:
        where = self.where(port)
        now: dict[int, int | None] = dict.fromkeys(QUEUES, 0)
        with suppress(p.Unclear):  # of a setting that is about some queues only
            now |= dict(enumerate(shares_of(applied.leaves)))
        for each in wanted.queues:
            if each.level is not None or each.group == "2" or (each.weight or 0) > 100:
                remedy = "make it strict, or give it a percentage"
                raise self.reject(where, f"a queue cannot be served so: {each}", remedy)
            now[each.queue] = None if each.group == "sp" else each.weight or 0
        shares = tuple(now[queue] for queue in QUEUES)
        if sum(share or 0 for share in shares) > 100:
            raise self.reject(where, f"{shares} are more than 100 percent", "give smaller weights")
        return self.meant(applied, port, shares, _scheduler(shares))

    def scheduling_for(self, shares: Shares) -> r.SchedulingSetting:
        """Percentages."""
        return round_robin(shares)


def _scheduler(shares: Served) -> p.Leaves:
    told: dict[tuple[str, ...], str] = {}
    for queue, share in enumerate(shares):
        at = (_CLASS, str(queue))
        if share is None:
            told[(*at, "mode")] = "strict"
        elif share:
            told |= {(*at, "bw-percent"): str(share), (*at, "mode"): "dwrr"}
    return told
