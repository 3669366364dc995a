"""What a NIC's driver sets when a host boots."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labtests.network import Nic


def boots_with(nic: "Nic") -> Callable[[], None]:
    """Gives the port again what tools on the host can change, as it is now."""
    pfc, trust, dscp_map = nic.pfc, nic.trust, nic.dscp_map
    reacting, notifying = nic.rp_enabled, nic.np_enabled
    dcqcn = {"roce_rp": nic.dcqcn_rp, "roce_np": nic.dcqcn_np}

    def boot() -> None:
        nic.set_pfc(pfc)
        nic.set_trust(trust)
        for dscp, priority in enumerate(dscp_map):
            nic.set_dscp(dscp, priority)
        for priority in range(8):
            nic.set_rp(priority, priority in reacting)
            nic.set_np(priority, priority in notifying)
        for side, values in dcqcn.items():
            for name, value in values.items():
                nic.set_dcqcn(side, name, value)

    return boot
