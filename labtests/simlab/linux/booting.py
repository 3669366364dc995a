"""What a NIC's driver sets when a host boots."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labtests.network import Nic

SIDES = ("roce_rp", "roce_np")


@dataclass(frozen=True, slots=True, kw_only=True)
class BootSettings:
    """All settings of one NIC port that tools on the host can change."""

    pfc: frozenset[int]
    trust: str
    dscp_map: tuple[int, ...]
    reacting: frozenset[int]
    notifying: frozenset[int]
    dcqcn: dict[str, dict[str, int]]

    def load(self, nic: "Nic") -> None:
        """The port has them again."""
        nic.set_pfc(self.pfc)
        nic.set_trust(self.trust)
        for dscp, priority in enumerate(self.dscp_map):
            nic.set_dscp(dscp, priority)
        for priority in range(8):
            nic.set_rp(priority, priority in self.reacting)
            nic.set_np(priority, priority in self.notifying)
        for side in SIDES:
            for name, value in self.dcqcn[side].items():
                nic.set_dcqcn(side, name, value)


def settings_of(nic: "Nic") -> BootSettings:
    """Those that the port has now."""
    return BootSettings(
        pfc=nic.pfc,
        trust=nic.trust,
        dscp_map=nic.dscp_map,
        reacting=nic.rp_enabled,
        notifying=nic.np_enabled,
        dcqcn={"roce_rp": nic.dcqcn_rp, "roce_np": nic.dcqcn_np},
    )
