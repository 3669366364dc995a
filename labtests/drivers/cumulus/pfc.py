"""PFC of a port: a profile with switch priorities, in both directions, and with the length of the
cable, by which (and by speed) the switch works out how much headroom a priority gets: two settings
look at it.

The memory for lossless traffic is the whole switch's (`traffic-pool default-lossless`), and has to
be there before.
"""

from labtests.capabilities import settings as s
from labtests.capabilities.records import PfcSetting
from labtests.drivers.cumulus import profiles as p
from labtests.drivers.pauses import PausesByPriority, expect_mode, lossless

_POOL_REMEDY = (
    "`nv set qos traffic-pool default-lossless memory-percent 50`, the same of default-lossy, and "
    "`nv config apply`: in one revision, for together they have 100"
)
_ROCE_REMEDY = "use the priority that RoCE mode is lossless for, or `nv unset qos roce`"


def pausing(leaves: p.Leaves) -> frozenset[int]:
    """Its priorities. Raises Unclear for a profile that only sends pauses, or only obeys."""
    p.expect_shapes("pfc", leaves)
    priorities = frozenset(p.members(leaves, "switch-priority", 8))
    sends, obeys = (p.switched(leaves, (way,), "enable") for way in ("tx", "rx"))
    if priorities and sends != obeys:
        way = "sends pauses and obeys none" if sends else "obeys pauses and sends none"
        raise p.Unclear(f"it {way}", "enable both, tx and rx, or none of them")
    return priorities if sends and obeys else frozenset()


_CABLE = ("cable-length",)
USUAL_M = int(p.USUAL_CABLE_M)
LENGTHS_M = range(1, 100_001)
Pausing = tuple[frozenset[int], int]
"""The priorities, and the length of the cable in metres."""


class _Pausing(p.ProfileSetting[s.T, Pausing]):
    feature = "pfc"

    def _meaning(self, leaves: p.Leaves) -> Pausing:
        return pausing(leaves), p.number(leaves, _CABLE, USUAL_M, LENGTHS_M[-1])

    def pausing(self, applied: p.Applied, port: str, wanted: Pausing) -> p.Applied:
        """The port applies a profile that says this."""
        priorities, cable_m = wanted
        own = {path: text for path, text in applied.leaves.items() if path[0] != "switch-priority"}
        own |= {("switch-priority", str(n)): "" for n in priorities}
        own |= dict.fromkeys([("tx",), ("rx",)], "enable" if priorities else "disable")
        if _CABLE in own or cable_m != USUAL_M:
            own[_CABLE] = str(cable_m)
        return self.meant(applied, port, wanted, dict(sorted(own.items())))


class CumulusPfc(_Pausing[PfcSetting], PausesByPriority):
    """A profile with these priorities."""

    def value(self, applied: p.Applied, port: str) -> PfcSetting:
        """As applied."""
        found, _ = self.in_force(applied, port)
        return PfcSetting.of(found)

    def _made(self, applied: p.Applied, port: str, wanted: PfcSetting) -> p.Applied:
        expect_mode(self, self.where(port), wanted, "Cumulus Linux")
        priorities = lossless(wanted)
        if lacking := priorities - applied.roomy:
            which = ", ".join(map(str, sorted(lacking)))
            problem = f"no memory is for lossless traffic of priority {which}"
            remedy = _ROCE_REMEDY if applied.roce else _POOL_REMEDY
            raise self.reject("qos traffic-pool", problem, remedy)
        return self.pausing(applied, port, (priorities, self.in_force(applied, port)[1]))


class CumulusCable(_Pausing[int]):
    """A profile with this length. It tells the headroom of what is lossless."""

    kind = s.CABLE_LENGTH

    def value(self, applied: p.Applied, port: str) -> int:
        """As applied."""
        return self.in_force(applied, port)[1]

    def _made(self, applied: p.Applied, port: str, wanted: int) -> p.Applied:
        if wanted not in LENGTHS_M:
            where = f"{self.where(port)} {_CABLE[0]}"
            raise self.reject(where, f"{wanted} is not in 1..{LENGTHS_M[-1]}", "choose another one")
        return self.pausing(applied, port, (self.in_force(applied, port)[0], wanted))
