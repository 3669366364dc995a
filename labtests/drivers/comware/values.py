"""How Comware prints values: interface names (`Twenty-FiveGigE1/0/14` in headers, `WGE1/0/14` in
tables), numbers, and the words that stand where it has none.
"""

import re

from labtests.drivers.displays import Names, Notation, ValueKind, numbers_in

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
    file="labtests/drivers/comware/values.py",
)
full_name, printed_port, wrong_port = NAMES.full, NAMES.printed, NAMES.wrong


NOT_A_NUMBER = re.compile(r"N/A|--?|Overflow|overflow")
"""`--` not supported, `Overflow` more than 14 digits (legend of `display counters rate`), `N/A`."""
COUNTER = rf"(?:[0-9]{{1,40}}|{NOT_A_NUMBER.pattern})"
"""A counter inside a regular expression: digits, or a word that says there is no number."""
NO_NUMBER = "the switch printed no number"


def counted(text: str) -> int | None:
    """A counter's value; None where the switch says that it has none. Never 0 for that."""
    return None if NOT_A_NUMBER.fullmatch(text) else int(text)


def priorities(text: str) -> frozenset[int]:
    """A list of priorities, as the CLI writes it: `0-7`, `5`, `0,2-3,5-6`, `3 5`."""
    return numbers_in(text, r",\s*|\s+", last=7)


COMWARE = Notation().also(
    count=ValueKind(COUNTER, counted),
    none=ValueKind(NOT_A_NUMBER.pattern),
    port=ValueKind(r"\S(?:.*?\S)??", printed_port),
    priorities=ValueKind(r"\S+(?: \S+)*", priorities),
    yes=ValueKind("[YN]", lambda text: text == "Y"),
)
"""How the displays of this switch are declared."""
maybe, many, record = COMWARE.maybe, COMWARE.many, COMWARE.record
