"""DCBX of a ConnectX port: who controls it, what is in force, and whether the firmware speaks it.

`mlnx_qos` says who sets PFC and ETS, and what is in force. Firmware takes over what a peer tells
where LLDP_NB_DCBX is True and LLDP_NB_RX_MODE is ALL (published guides to DCBX in firmware), and
the port is willing, which the driver makes it with `mlnx_qos -d fw` (en_dcbnl.c). mlxconfig shows
what the next boot brings. What a NIC tells and hears, no tool known here shows: its switch does.
"""

import re

from labtests.capabilities.facts import DcbxState, DcbxView
from labtests.core.errors import DeviceError
from labtests.drivers.answers import Tool, expect_success, reject
from labtests.drivers.connectx.qos import FIRMWARE_DCBX, NicQosShown, with_pfc
from labtests.drivers.displays import ANY, Notation, read_one
from labtests.drivers.linux.ethtool import parse_ethtool_driver
from labtests.drivers.linux.host import card_command
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, root
from labtests.transport.protocol import Reply

MLXCONFIG = Tool(install="install mft (part of MLNX_OFED and DOCA-OFED) on this host")
_SPOKEN = {"LLDP_NB_DCBX": "True(1)", "LLDP_NB_RX_MODE": "ALL(2)", "DCBX_WILLING": "True(1)"}
_CHANGE = "`mlxconfig set` and a reboot change that"
_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.(?P<function>[0-7])")

_line, _record = Notation().line, Notation().record
_DEVICE = _record(
    "Device #1:",
    _line(r"Device type: .*"),
    _line(r"Name: .*", stage=1),
    _line(r"Description: .*", stage=2),
    _line(r"Device: .*", stage=3),
    _line(
        "Configurations: Next Boot",
        _record(
            r"<name:[A-Z][A-Za-z0-9_]*> <value:\S+>",
            make=lambda name, value: (name, value),
            into="parameters",
            order="unique",
            times=ANY,
        ),
        stage=4,
    ),
    make=lambda parameters: dict(parameters),
)


def parse_mlxconfig(reply: Reply) -> dict[str, str]:
    """`mlxconfig -d DEV q NAME ...` (and mstconfig): what the next boot brings, by name."""
    expect_success(reply, MLXCONFIG)
    found = read_one(reply, _record("", _DEVICE, make=lambda records: records))
    return dict(found[0])


def firmware_command(address: str, names: tuple[str, ...]) -> Shell:
    """Reads parameters of the firmware of a PCI device."""
    return root("mlxconfig", "-d", address, "q", *names)


class ConnectxDcbx(NicQosShown, DcbxView):
    """By mlnx_qos; where the firmware has the port, by mlxconfig too."""

    def dcbx_state(self, port: str) -> Asking[DcbxState]:
        """See DcbxView."""
        qos = yield from self.nic_qos(port)
        firmware = qos.dcbx_mode == FIRMWARE_DCBX
        willing, unknown = (yield from self._speaks(port)) if firmware else (False, "")
        return DcbxState(
            device=self.device,
            port=port,
            control="firmware" if firmware else "os",
            willing=willing,
            told=None,
            heard=None,
            in_force=with_pfc(qos),
            unknown=unknown,
        )

    def _speaks(self, port: str) -> Asking[tuple[bool | None, str]]:
        """Whether the firmware takes what a peer tells; and why not, or why that is not known."""
        try:
            told = yield from self._parameters(port)
        except DeviceError as error:
            return None, f"whether its firmware speaks DCBX is not known: {error.problem}"
        for name, on in _SPOKEN.items():
            if (found := told[name]) != on:
                return False, f"{name} of its firmware is {found} and not {on}: {_CHANGE}"
        return True, ""

    def _parameters(self, port: str) -> Asking[dict[str, str]]:
        card = yield from ask(card_command(self._interface(port)))
        address = parse_ethtool_driver(card).get("bus-info", "")
        if (at := _ADDRESS.fullmatch(address)) is None:
            reject(card, f"the bus-info {address!r} is no PCI address", "see `ethtool -i` there")
        number = int(at["function"]) + 1
        names = {f"{name}_P{number}": name for name in _SPOKEN}
        reply = yield from ask(firmware_command(address, tuple(names)))
        found = parse_mlxconfig(reply)
        if lacking := names.keys() - found.keys():
            reject(reply, f"it does not show {min(lacking)}", "update the firmware, or mft")
        return {name: found[shown] for shown, name in names.items()}
