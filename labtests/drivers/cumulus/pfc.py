"""PFC of a port: a profile with switch priorities, in both directions.

The memory for lossless traffic is the whole switch's (`traffic-pool default-lossless`), and has to
be there before; how much headroom a priority gets is the switch's own, by speed and cable-length.
"""

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


def _own(base: p.Leaves, priorities: frozenset[int]) -> p.Leaves:
    kept = {path: value for path, value in base.items() if path[0] != "switch-priority"}
    word = "enable" if priorities else "disable"
    kept |= {("switch-priority", str(n)): "" for n in priorities}
    return dict(sorted({**kept, ("tx",): word, ("rx",): word}.items()))


class CumulusPfc(p.ProfileSetting[PfcSetting, frozenset[int]], PausesByPriority):
    """A profile with these priorities."""

    feature = "pfc"

    def _meaning(self, leaves: p.Leaves) -> frozenset[int]:
        return pausing(leaves)

    def value(self, applied: p.Applied, port: str) -> PfcSetting:
        """As applied."""
        found = self.in_force(applied, port)
        return PfcSetting(mode="on" if found else "off", priorities=found)

    def _made(self, applied: p.Applied, port: str, wanted: PfcSetting) -> p.Applied:
        expect_mode(self, self.where(port), wanted, "Cumulus Linux")
        priorities = lossless(wanted)
        if lacking := priorities - applied.roomy:
            which = ", ".join(map(str, sorted(lacking)))
            problem = f"no memory is for lossless traffic of priority {which}"
            remedy = _ROCE_REMEDY if applied.roce else _POOL_REMEDY
            raise self.reject("qos traffic-pool", problem, remedy)
        return self.meant(applied, port, priorities, _own(applied.leaves, priorities))
