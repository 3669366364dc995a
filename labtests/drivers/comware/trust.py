"""`display qos trust interface`: which field of a packet decides its priority."""

from typing import Any

from labtests.capabilities.records import TrustSetting
from labtests.drivers.comware.values import many, maybe, record
from labtests.drivers.displays import Unfit, read
from labtests.transport.protocol import Reply


def _setting(interface: str, source: Any = "", override: str = "") -> tuple[str, TrustSetting]:
    if not source:
        raise Unfit("has no line `Port priority trust type`")
    # what a port without trust prints was not seen: both words of H3C's manuals are read
    word: Any = "none" if source.startswith("untrust") else source
    return interface, TrustSetting(source=word, override=override == "enable")


_PORT = record(
    "Interface: <interface:port>",
    many("Port priority (trust )?information"),
    many(r"Port (\w+ )?priority: ([0-9]+|-+)"),
    maybe(
        "Port priority trust type: <source:dscp|dot1p|none|auto|exp|ip-precedence|untrust(?:ed)?>"
        "(, Override: <override:enable|disable>d?)?"
    ),
    make=_setting,
    order="unique",
)


def parse_qos_trust(reply: Reply) -> dict[str, TrustSetting]:
    """Port (full name) -> what it trusts. A port without its trust line was cut off: refused."""
    return dict(read(reply, _PORT))
