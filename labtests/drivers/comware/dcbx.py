"""DCBX of a port: whether it tells its peer by LLDP, and which version (white paper, 3.4 and 4).

It works where LLDP is on for the switch (`lldp global enable`) and at the port; both stay as they
are. A port without a version agrees on one with its peer. `undo` is from memory.
"""

from collections.abc import Iterator
from typing import Any

from labtests.capabilities.records import DcbxSetting
from labtests.capabilities.settings import DCBX
from labtests.drivers.comware.session import PortSetting, line
from labtests.drivers.comware.values import COMWARE
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine

_TELLS = COMWARE.shape("lldp tlv-enable dot1-tlv dcbx")
_VERSION = COMWARE.shape("dcbx version <version:rev100|rev101|standard>")


class Dcbx(PortSetting[DcbxSetting]):
    """`lldp tlv-enable dot1-tlv dcbx`, `dcbx version`."""

    kind = DCBX

    def read(self, port: str) -> Asking[DcbxSetting]:
        """From the port's configuration."""
        reply, section = yield from self.configured(port)
        version: Any = (section.said(reply, _VERSION) or {"version": "auto"})["version"]
        return DcbxSetting(tells=section.said(reply, _TELLS) is not None, version=version)

    def lines(self, port: str, earlier: DcbxSetting, wanted: DcbxSetting) -> Iterator[CliLine]:
        """The version first: what is told from the start is the wanted one."""
        if earlier.version != wanted.version:
            if wanted.version == "auto":
                yield line("undo", "dcbx", "version", earlier.version)
            else:
                yield line("dcbx", "version", wanted.version)
        if earlier.tells != wanted.tells:
            undo = () if wanted.tells else ("undo",)
            yield line(*undo, "lldp", "tlv-enable", "dot1-tlv", "dcbx")
