"""DCBX of a port: what it tells of its configuration, and how both sides are displayed.

The switch is never willing (memory), and tells no APP: those come from QoS policies, which are not
emulated. Pre-standard versions are spoken, and shown by no display here: no manual at hand has one.
"""

from typing import Any

from labtests.simlab.comware import maps, scheduling
from labtests.simlab.dcbx import BEST_FIRST, DcbxTlvs
from labtests.simlab.switch_cli import CliSection, EmulatedSwitch

Shown = dict[str, Any]


def told(
    switch: EmulatedSwitch, port: CliSection, no_drop: frozenset[int], *, pfc: bool
) -> DcbxTlvs | None:
    """None: the port does not tell."""
    if "lldp tlv-enable dot1-tlv dcbx" not in port.lines:
        return None
    version: Any = port.rest("dcbx version")
    return DcbxTlvs(
        pfc=no_drop if pfc else frozenset(),
        class_of_priority=maps.map_of(switch, "dot1p-lp"),
        percent=_percent(port),
        versions=(version,) if version else BEST_FIRST,
    )


def _percent(port: CliSection) -> tuple[int | None, ...]:
    """Of each queue, 100 together: those that do not divide go to the first queues, as in the
    manual's example."""
    queues = scheduling.schedule(port).queues
    whole = sum(weight for group, weight in queues if group != "sp")
    shares = [None if group == "sp" else 100 * weight // whole for group, weight in queues]
    left = 100 - sum(share or 0 for share in shares) if whole else 0
    for queue, share in enumerate(shares):
        if share is not None and left > 0:
            shares[queue], left = share + 1, left - 1
    return tuple(shares)


def shown(told: DcbxTlvs | None) -> Shown | None:
    """The part of a display that is about DCBX."""
    if told is None or "standard" not in told.versions:
        return None
    rows = [
        (cos, queue, told.percent[queue] or 0, "SP" if told.percent[queue] is None else "ETS")
        for cos, queue in enumerate(told.class_of_priority)
    ]
    return {"rows": rows, "pfc": [f"P{cos}-{int(cos in told.pfc)}" for cos in range(8)]}


def of_neighbour(switch: EmulatedSwitch, port: str) -> Shown | None:
    """What the peer tells in the standard version."""
    version, heard = switch.dcbx_heard(port)
    return shown(heard) if version == "standard" else None
