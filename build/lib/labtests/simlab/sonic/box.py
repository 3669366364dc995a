"""One emulated SONiC box: a Linux shell in front of CONFIG_DB, which says what its ports do."""

from functools import partial

from labtests.inventory import Device
from labtests.simlab.boxes import SwitchBox
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux.calls import Tools
from labtests.simlab.sonic import configuring, showing, watchdog, watermarks
from labtests.simlab.sonic.chassis import SonicChassis


class SonicBox(SwitchBox[SonicChassis]):
    """See face.Face."""

    account = "admin"

    def make_chassis(self, lab: SimulatedLab, device: Device) -> SonicChassis:
        """See SwitchBox."""
        return SonicChassis(lab, device)

    def programs(self) -> Tools:
        """See SwitchBox."""
        held = self.watermarks = watermarks.PolledWatermarks(self.chassis)
        more = watermarks.shows(held)
        own = {name: partial(tool, self.chassis) for name, tool in configuring.TOOLS.items()}
        return own | {
            "show": partial(showing.show, self.chassis, more=more),
            "pfcwd": partial(watchdog.pfcwd, self.chassis),
            "sonic-clear": partial(watermarks.sonic_clear, held),
            "watermarkstat": partial(watermarks.watermarkstat, held),
        }

    def description(self, interface: str) -> str:
        """See SwitchBox."""
        return self.chassis.db.entry("PORT", interface).get("description", interface)

    def set_map(self, classes: tuple[int, ...]) -> None:
        """See LinuxHost: all ports refer to this map from the start."""
        told = {str(dscp): str(each) for dscp, each in enumerate(classes)}
        self.chassis.db.tables["DSCP_TO_TC_MAP"]["AS_DELIVERED"] = told
        for port in self.chassis.ports:
            entry = self.chassis.db.tables["PORT_QOS_MAP"].setdefault(port, {})
            entry["dscp_to_tc_map"] = "AS_DELIVERED"
        self.chassis.save()
        self.chassis.apply_all()
