"""Interface names of NX-OS: `Ethernet1/13` in headers, `Eth1/13` in tables."""

from labtests.drivers.displays import Names

_NAMES = Names(
    cli="NX-OS",
    abbreviations={"Ethernet": "Eth", "port-channel": "Po", "mgmt": "mgmt"},
    listing="show interface brief",
    example="Ethernet1/13",
    file="labtests/drivers/nxos/names.py",
)
full_name, printed_port = _NAMES.full, _NAMES.printed
asked_port, wrong_port = _NAMES.asked, _NAMES.wrong
