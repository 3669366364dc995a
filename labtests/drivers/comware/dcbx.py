"""DCBX of a port: whether it tells its peer by LLDP, and which version (white paper, 3.4 and 4);
and what both sides tell and is in force.

It works where LLDP is on for the switch (`lldp global enable`) and at the port; both stay as they
are. A port without a version agrees on one with its peer. `undo` is from memory. What is told is in
two displays of LLDP, of which the manuals have the standard version only: another one is refused.
"""

import re
from collections.abc import Iterator
from typing import Any

from labtests.capabilities.facts import DcbxState, DcbxTold, DcbxView
from labtests.capabilities.records import DcbxSetting
from labtests.capabilities.settings import DCBX
from labtests.drivers.comware.pfc import PORTS
from labtests.drivers.comware.session import ComwarePart, PortSetting, line, show
from labtests.drivers.comware.values import COMWARE, many, maybe, record
from labtests.drivers.displays import ANY, MAYBE, ValueKind, read
from labtests.drivers.parsing import refuse
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

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
            yield self.cli.switched(wanted.tells, "lldp", "tlv-enable", "dot1-tlv", "dcbx")


# -- what is told, and heard -----------------------------------------------------------------------

_shapes = COMWARE.also(
    version=ValueKind("Standard", str.lower),
    flags=ValueKind(
        r"\s+".join(f"P{priority}-[01]" for priority in range(8)),
        lambda text: frozenset(
            int(p) for p, on in re.findall("P([0-7])-([01])", text) if on == "1"
        ),
    ),
)
_line = _shapes.line


def _shares(into: str) -> tuple[Any, ...]:
    """The rows of ETS: priority, class, percent, algorithm."""
    row = record(
        "<cos:0-7> <:0-7> <percent:number> <:word>",
        make=lambda cos, percent: (cos, percent),
        into=into,
        times=(8, 8),
        order="from 0",
    )
    return (_line("CoS Local [Pp]riority Percentage TSA"), row)


_DCBX = record(
    "DCBX [Cc]ontrol info:",
    _line("Oper version : <version:version>"),
    _line(
        "DCBX ETS configuration info:",
        _line("CBS : (True|False)"),
        _line("Max TCs : <:number>"),
        *_shares("ets"),
        stage=1,
    ),
    _line("DCBX ETS recommendation info:", *_shares("recommended"), stage=2),
    _line(
        "DCBX PFC info:",
        _line("<pfc:flags>"),
        _line("Number of traffic classes supported : <:number>"),
        _line("Value of MBC : [01]"),
        stage=3,
    ),
    maybe(
        "DCBX APP info:",
        _line("Selected Field Protocol ID Priority"),
        many(r"(UDP/\s*DCCP|TCP/SCTP|Ethertype) (0x)?[0-9a-f]+ 0x[0-7]", stage=1),
        stage=4,
    ),
    make=lambda version, pfc, **_: DcbxTold(version=version, pfc=pfc),
    into="told",
    times=MAYBE,
    stage=1,
)
_OF_A_PORT = r"LLDP {}-information of port <:number>\[<port:port>:?\]:?"
_UNREAD = r"(?!DCBX |Oper version |(LLDP|CDP) \w+-information of port ).*"
"""All else that is told of a port, or of none."""


def parse_dcbx_told(reply: Reply) -> dict[str, DcbxTold]:
    """`display lldp local-information`: what each port tells, if anything."""
    return _told(reply, "local")


def parse_dcbx_heard(reply: Reply) -> dict[str, DcbxTold]:
    """`display lldp neighbor-information verbose`: what each port hears, if anybody."""
    return _told(reply, "neighbor")


def _told(reply: Reply, way: str) -> dict[str, DcbxTold]:
    port = record(
        _OF_A_PORT.format(way),
        many(_UNREAD),
        _DCBX,
        many(_UNREAD, stage=2),
        make=lambda port, told: [(port, each) for each in told],
        times=ANY,
    )
    other = many(r"CDP \w+-information of port .*", many(_UNREAD))
    ports = read(reply, port, other, many(_UNREAD))
    if not ports and (way == "local" or reply.text.strip()):
        refuse(reply, f"no port is shown with LLDP {way}-information", _LLDP_ON)
    found = [each for told in ports for each in told]
    if len(dict(found)) != len(found):
        refuse(reply, "DCBX is told twice of a port")
    return dict(found)


_LLDP_ON = "see that LLDP is on at both ends: lldp global enable"
_NOT_TOLD = "the port is not told to tell by DCBX: `lldp tlv-enable dot1-tlv dcbx`"


class ComwareDcbxState(ComwarePart, DcbxView):
    """By two displays of LLDP and one of PFC. The switch takes nothing over (memory): of a port
    with PFC in mode auto, the peer only says whether its own list works."""

    def dcbx_state(self, port: str) -> Asking[DcbxState]:
        """Nothing is asked of LLDP where the port does not tell."""
        full = self.port(port)
        reply, section = yield from self.configured(port)
        row = PORTS.read((yield from self.asked(PORTS, port))).get(full)
        told: dict[str, DcbxTold] = {}
        heard: dict[str, DcbxTold] = {}
        tells = section.said(reply, _TELLS) is not None
        if tells:
            told = parse_dcbx_told(
                (yield from show("display", "lldp", "local-information", "interface", full))
            )
            words = ("display", "lldp", "neighbor-information", "interface", full, "verbose")
            heard = parse_dcbx_heard((yield from show(*words)))
        shown = "DCBX is in no display of LLDP of this port" if full not in told else ""
        return DcbxState(
            device=self.device,
            port=port,
            control="switch",
            willing=False,
            told=told.get(full),
            heard=heard.get(full),
            in_force=None if row is None else row.priorities if row.operational else frozenset(),
            unknown=shown if tells else _NOT_TOLD,
        )
