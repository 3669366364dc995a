"""mlxconfig: the NIC firmware's parameters of DCBX, asked for by name or all, and set for the next
boot. The layout is that of two recordings; the other parameters of a NIC are not emulated."""

import re

from labtests.simlab.linux.calls import Call, Tools, screen
from labtests.simlab.linux.dcbx import ON
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux.ports import NicPort

_ADDRESS = re.compile(r"(?:0000:)?03:00\.([0-9])")
_WORDS = {"TRUE": "True(1)", "1": "True(1)", "FALSE": "False(0)", "0": "False(0)"}
_MODES = {"0": "OFF(0)", "2": "ALL(2)"}


def _mlxconfig(call: Call) -> int:
    words = [word for word in call.arguments if word != "-y"]
    if len(words) < 3 or words[0] != "-d" or words[2] not in ("q", "query", "s", "set"):
        raise NotEmulated(" ".join(call.arguments))
    if call.process.user != "root" or (port := _port(call, words[1])) is None:
        raise Refused("-E- Failed to open the device\n", 3)
    number, names = port.index + 1, words[3:]
    own = {f"{name}_P{number}": name for name in ON}
    parameters = call.host.dcbx[port.interface].next_boot
    if strange := [name for name in names if name.partition("=")[0] not in own]:
        raise NotEmulated(f"the parameter {strange[0]}")
    if words[2] in ("s", "set"):
        if "-y" not in call.arguments:
            raise NotEmulated("a question: use -y")
        for name, _, value in (each.partition("=") for each in names):
            told = _MODES if "MODE" in name else _WORDS
            parameters[own[name]] = told.get(value.upper(), value)
        call.out("Applying... Done!\n-I- Please reboot machine to load new configurations.\n")
        return 0
    shown = {name: parameters[own[name]] for name in names or own}
    call.out(screen("mlxconfig", device=words[1], rows=shown))
    return 0


def _port(call: Call, device: str) -> NicPort | None:
    found = _ADDRESS.fullmatch(device)
    return next((p for p in call.host.ports if found and p.index == int(found[1])), None)


TOOLS: Tools = {"mlxconfig": _mlxconfig}
