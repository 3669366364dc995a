"""Interface view: what is configured on a port, and what the port does then."""

from collections.abc import Mapping
from typing import Any

from labtests.network import GroupMemory
from labtests.simlab import switch_cli as kit
from labtests.simlab.comware import dcbx, deadlock, edge, scheduling, wred
from labtests.simlab.dcbx import DcbxTlvs
from labtests.simlab.switch_cli.chassis import PfcMode, TrustSource

_BUFFER = "priority-flow-control dot1p <priority>"
_THRESHOLDS = {
    "headroom": "cells",
    "ingress-buffer dynamic": "percent",
    "ingress-buffer static": "cells",
    "ingress-threshold-offset": "cells",
    "reserved-buffer": "cells",
}
_EARLY = "priority-flow-control early-warning dot1p"


def _each_priority(call: kit.CliCall) -> list[Mapping[str, Any]]:
    """One line for each of a list (from memory)."""
    way = next(word for word in ("inpps", "outpps") if word in call.keywords)
    return [{**call.values, "one": each, "way": way} for each in call.values["priorities"]]


EARLY_WARNING = tuple(
    kit.setting(
        f"{_EARLY} <priorities> {way} <frames>",
        key=f"{_EARLY} <one> {way}",
        undo=(f"{_EARLY} <priorities> {way}",),
        line=f"{_EARLY} <one> {way} <frames>",
        expand=_each_priority,
    )
    for way in ("inpps", "outpps")
)

VERSIONS = "{ rev100 | rev101 | standard }"

PFC = (
    # Also in system view, for all ports (H3C PFC commands). A list replaces the one before: the
    # manuals do not say so, but of similar commands.
    kit.setting("priority-flow-control { enable | auto }"),
    kit.setting("priority-flow-control no-drop dot1p <priorities>"),
)
SETTINGS = (
    kit.setting("description <text>"),
    kit.setting("shutdown"),
    *PFC,
    *(
        kit.setting(f"{_BUFFER} {words} <{kind}>", key=f"{_BUFFER} {words}")
        for words, kind in _THRESHOLDS.items()
    ),
    *deadlock.AT_A_PORT,
    *EARLY_WARNING,
    # without a size it is the default again (from memory)
    kit.setting("jumboframe enable [ <frame> ]", default="jumboframe enable", default_on=True),
    kit.setting(f"dcbx version {VERSIONS}", undo=(f"dcbx version {VERSIONS}",)),
    kit.setting("lldp enable"),
    kit.setting("lldp tlv-enable dot1-tlv dcbx"),
    kit.setting("qos trust { dscp | dot1p } [ override ]"),
    *scheduling.SETTINGS,
    wred.APPLY,
    edge.APPLY,
)

_MODES: Mapping[str, PfcMode] = {"": "off", "enable": "on", "auto": "auto"}
_SOURCES: Mapping[str, TrustSource] = {"": "none", "dscp": "dscp", "dot1p": "dot1p"}


def pfc_mode(port: kit.CliSection) -> PfcMode:
    """As the port is told to, whatever its peer says."""
    return _MODES[port.rest("priority-flow-control")]


def no_drop(port: kit.CliSection) -> frozenset[int]:
    """The priorities that lose nothing."""
    listed: frozenset[int] = port.value(
        "priority-flow-control no-drop dot1p", "priorities", frozenset()
    )
    return listed


def dcbx_told(switch: kit.EmulatedSwitch, port: kit.CliSection) -> DcbxTlvs | None:
    """What the port tells its peer."""
    return dcbx.told(switch, port, no_drop(port), pfc=pfc_mode(port) != "off")


def trust(port: kit.CliSection) -> tuple[TrustSource, bool]:
    """What the port trusts, and whether that overrides."""
    source, _, override = port.rest("qos trust").partition(" ")
    return _SOURCES[source], bool(override)


def frame_bytes(port: kit.CliSection) -> int:
    """The default is that of the recording; what a port without jumbo frames says is ours."""
    if "jumboframe enable" not in port.lines:
        return 10_000
    longest: int = port.value("jumboframe enable", "frame", 1518)
    return longest


def _headroom(port: kit.CliSection) -> int | None:
    """The network has one headroom for all lossless groups of a port: the largest counts."""
    lines = port.under("priority-flow-control dot1p")
    cells = [line.values["cells"] for line in lines if "headroom" in line.template]
    return max(cells, default=None)


def _thresholds(port: kit.CliSection) -> dict[int, GroupMemory]:
    """By priority. A static threshold counts where both are told (chosen)."""
    lines = port.under("priority-flow-control dot1p")
    return {
        priority: _group(port, priority) for priority in {each.values["priority"] for each in lines}
    }


def _group(port: kit.CliSection, priority: int) -> GroupMemory:
    begin = f"priority-flow-control dot1p {priority}"
    percent = port.value(f"{begin} ingress-buffer dynamic", "percent", None)
    return GroupMemory(
        alpha=percent / 100 if percent else None,
        xoff_cells=port.value(f"{begin} ingress-buffer static", "cells", None),
        xon_offset_cells=port.value(f"{begin} ingress-threshold-offset", "cells", None),
        guaranteed_cells=port.value(f"{begin} reserved-buffer", "cells", None),
    )


def _changed(switch: kit.EmulatedSwitch, port: kit.CliSection) -> None:
    scheduling.settle(port)
    switch.apply(
        port.name,
        kit.PortBehaviour(
            shutdown="shutdown" in port.lines,
            pfc=pfc_mode(port),
            no_drop=no_drop(port),
            headroom_cells=_headroom(port),
            thresholds=_thresholds(port),
            trust=trust(port)[0],
            edge=edge.classes(switch, port),
            schedule=scheduling.schedule(port),
            curves=wred.curves(switch, port),
            guard=deadlock.guard(switch, port),
            dcbx=dcbx_told(switch, port),
        ),
    )


KIND = kit.SectionKind(
    header="interface {name}",
    prompt="[{host}-{name}]",
    several="[{host}-if-range]",
    settings=SETTINGS,
    fixed=("port link-mode bridge",),
    changed=_changed,
    more=deadlock.RECOVER,
)
