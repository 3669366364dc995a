"""Interface names. Comware prints them in full in headers and abbreviated in tables.

    Twenty-FiveGigE1/0/14  <->  WGE1/0/14

Everything in this package compares full names. An abbreviation that is not listed is refused, never
guessed: two types may share a number (GE1/0/1 and XGE1/0/1 are different ports).
"""

import re
from typing import NoReturn

from labtests.core.errors import CommandRejected
from labtests.drivers.displays import Unfit
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply

# Recorded: GE, XGE, WGE, FGE, HGE, 200GE, BAGG, Vlan, Loop, NULL, M-E. The others are from H3C's
# interface guides, from memory.
_ABBREVIATIONS = {
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
}

_UNKNOWN_TYPE = "add its type and abbreviation to labtests/drivers/comware/names.py"
_NUMBER = re.compile(r"[0-9]+(?:/[0-9]+)*(?::[0-9]+)?(?:\.[0-9]+)?")


def full_name(name: str) -> str | None:
    """The name in full, without blanks: `wge 1/0/14` -> `Twenty-FiveGigE1/0/14`; None if unknown.

    Any case is read, as the CLI does (`interface gigabitethernet 1/0/1`).
    """
    compact = re.sub(r"\s+", "", name)
    for full, short in _ABBREVIATIONS.items():
        for spelling in (full, short):
            number = compact[len(spelling) :]
            if compact.lower().startswith(spelling.lower()) and _NUMBER.fullmatch(number):
                return full + number
    return None


def short_name(name: str) -> str | None:
    """The abbreviation that tables print: `Twenty-FiveGigE1/0/14` -> `WGE1/0/14`."""
    full = full_name(name)
    if full is None:
        return None
    kind = next(k for k in _ABBREVIATIONS if _NUMBER.fullmatch(full.removeprefix(k)))
    return _ABBREVIATIONS[kind] + full.removeprefix(kind)


def printed_port(name: str) -> str:
    """The full name of a port that the switch printed. Raises Unfit for an unknown type."""
    full = full_name(name)
    if full is None:
        raise Unfit(f"{name!r} is no interface name known here", _UNKNOWN_TYPE)
    return full


def asked_port(device: str, port: str) -> str:
    """The full name of a port of the testbed file. Raises CommandRejected when there is no such
    type of interface: nothing was sent."""
    full = full_name(port)
    if full is None:
        raise CommandRejected(
            device,
            f"interface {port}",
            f"{port!r} is no Comware interface name",
            "write it as the switch does in `display interface brief` or in full, "
            "e.g. Twenty-FiveGigE1/0/14",
        )
    return full


def wrong_port(reply: Reply, asked: str, printed: object) -> NoReturn:
    """Refuse an answer that is about another port."""
    refuse(
        reply,
        f"asked for {asked}, the switch answered for {printed}",
        "check the interface name in the testbed file against `display interface brief`",
    )
