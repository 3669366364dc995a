"""Interface names of Comware: `Twenty-FiveGigE1/0/14` in headers, `WGE1/0/14` in tables."""

from labtests.drivers.displays import Names

# Recorded: GE, XGE, WGE, FGE, HGE, 200GE, BAGG, Vlan, Loop, NULL, M-E. The others are from H3C's
# interface guides, from memory.
NAMES = Names(
    cli="Comware",
    abbreviations={
        "Ethernet": "Eth",
        "GigabitEthernet": "GE",
        "M-Ethernet": "M-E",
        "M-GigabitEthernet": "MGE",
        "Ten-GigabitEthernet": "XGE",
        "TwentyGigE": "TGE",
        "Twenty-FiveGigE": "WGE",
        "FortyGigE": "FGE",
        "FiftyGigE": "50GE",
        "HundredGigE": "HGE",
        "TwoHundredGigE": "200GE",
        "FourHundredGigE": "400GE",
        "EightHundredGigE": "800GE",
        "Bridge-Aggregation": "BAGG",
        "Route-Aggregation": "RAGG",
        "Vlan-interface": "Vlan",
        "LoopBack": "Loop",
        "NULL": "NULL",
    },
    listing="display interface brief",
    example="Twenty-FiveGigE1/0/14",
    file="labtests/drivers/comware/names.py",
)
full_name, printed_port, wrong_port = NAMES.full, NAMES.printed, NAMES.wrong
