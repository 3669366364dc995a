"""One emulated SONiC box: a Linux shell in front of CONFIG_DB, which says what its ports do.

A program is a table of commands, which are functions of the words behind them, or a function.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from labtests.inventory import Device
from labtests.simlab.boxes import SwitchBox
from labtests.simlab.data import beside
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.clicking import called, chosen, expect_root
from labtests.simlab.linux.options import NotEmulated
from labtests.simlab.sonic import configuring, showing, watchdog
from labtests.simlab.sonic.chassis import SonicChassis

_OTHERS = beside(__file__, "others")
"""What else programs have that take abbreviations (their command reference)."""
_OF_ROOT = ("config", "sonic-clear", *(f"pfcwd {verb}" for verb in watchdog.CHANGES))


def _run(box: SonicChassis, call: Call, *, commands: Mapping[str, Callable[..., Any]]) -> Any:
    """The command that is meant."""
    act, given = chosen(call, commands, _OTHERS.get(call.name))
    path = " ".join([call.name, *call.arguments[: len(call.arguments) - len(given)]])
    if path.startswith(_OF_ROOT):
        expect_root(call)
    if call.name == "show" and any(each.startswith("-") and each != "--json" for each in given):
        raise NotEmulated(" ".join([call.name, *call.arguments]))
    if act is configuring.save:
        return act(box, call, given)
    return called(path, act, box, *given)


_PROGRAMS: Mapping[str, Callable[[SonicChassis, Call], Any]] = {
    "config": partial(_run, commands=configuring.CONFIG),
    "counterpoll": partial(_run, commands=configuring.COUNTERPOLL),
    "ecnconfig": lambda box, call: configuring.ecn(box, *call.arguments),
    "pfcwd": partial(_run, commands=watchdog.COMMANDS),
    "show": partial(_run, commands=showing.SHOW),
    "sonic-cfggen": configuring.cfggen,
    "sonic-clear": partial(_run, commands=showing.CLEAR),
    "sonic-db-cli": configuring.db_cli,
    "watermarkstat": showing.watermarkstat,
}


class SonicBox(SwitchBox[SonicChassis]):
    """See face.Face."""

    account = "admin"

    def make_chassis(self, lab: SimulatedLab, device: Device) -> SonicChassis:
        """See SwitchBox."""
        return SonicChassis(lab, device)

    def programs(self) -> Tools:
        """See SwitchBox."""
        return {name: partial(program, self.chassis) for name, program in _PROGRAMS.items()}

    def description(self, interface: str) -> str:
        """See SwitchBox."""
        return self.chassis.db.entry("PORT", interface).get("description", interface)

    def set_map(self, classes: tuple[int, ...]) -> None:
        """See LinuxHost: all ports refer to this map from the start."""
        tables = self.chassis.db.tables
        told = {str(dscp): str(each) for dscp, each in enumerate(classes)}
        tables["DSCP_TO_TC_MAP"]["AS_DELIVERED"] = told
        for port in self.chassis.ports:
            tables["PORT_QOS_MAP"].setdefault(port, {})["dscp_to_tc_map"] = "AS_DELIVERED"
        self.chassis.save()
        self.chassis.apply_all()
