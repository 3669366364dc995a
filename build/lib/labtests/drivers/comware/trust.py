"""Which field of a packet decides its priority: `display qos trust interface`, `qos trust`."""

from collections.abc import Iterator
from typing import Any

from labtests.capabilities.records import TrustSetting
from labtests.capabilities.settings import TRUST
from labtests.drivers.comware.session import PortSetting, line
from labtests.drivers.comware.values import many, maybe, record
from labtests.drivers.displays import PortDisplay, Unfit
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine


def _setting(interface: str, source: Any = "", override: str = "") -> tuple[str, TrustSetting]:
    if not source:
        raise Unfit("has no line `Port priority trust type`")
    # what a port without trust prints was not seen: both words of H3C's manuals are read
    word: Any = "none" if source.startswith("untrust") else source
    return interface, TrustSetting(source=word, override=override == "enable")


TRUSTED = PortDisplay(
    command="display qos trust interface <port>",
    shows=record(
        "Interface: <interface:port>",
        many("Port priority (trust )?information"),
        many(r"Port (\w+ )?priority: ([0-9]+|-+)"),
        maybe(
            "Port priority trust type: "
            "<source:dscp|dot1p|none|auto|exp|ip-precedence|untrust(?:ed)?>"
            "(, Override: <override:enable|disable>d?)?"
        ),
        make=_setting,
        order="unique",
    ),
)


class ComwareTrust(PortSetting[TrustSetting]):
    """`qos trust`."""

    kind = TRUST

    def read(self, port: str) -> Asking[TrustSetting]:
        """What the port trusts now, defaults included."""
        _, setting = yield from self.shown(TRUSTED, port)
        return setting

    def lines(self, port: str, earlier: TrustSetting, wanted: TrustSetting) -> Iterator[CliLine]:
        """`undo qos trust` is the model's default: no trust, on the models known here."""
        if wanted.source == "none":
            yield line("undo", "qos", "trust")
        else:
            yield line("qos", "trust", wanted.source, *["override"] * wanted.override)
