"""Interface names of NX-OS: `Ethernet1/13` in headers, `Eth1/13` in tables."""

from labtests.drivers.displays import Names

NAMES = Names(
    cli="NX-OS",
    abbreviations={"Ethernet": "Eth", "port-channel": "Po", "mgmt": "mgmt"},
    listing="show interface brief",
    example="Ethernet1/13",
    file="labtests/drivers/nxos/names.py",
)
full_name, printed_port = NAMES.full, NAMES.printed
