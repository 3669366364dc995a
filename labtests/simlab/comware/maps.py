"""Map views: `qos map-table dscp-dot1p` and `dot1p-lp`, for the whole switch."""

from collections.abc import Callable, Mapping
from typing import Any

from labtests.simlab import switch_cli as kit

DELIVERED = {"dscp-dot1p": tuple(dscp // 8 for dscp in range(64)), "dot1p-lp": tuple(range(8))}
IMPORTED = {"dscp-dot1p": "dscps", "dot1p-lp": "dot1ps"}
"""The argument with the values that a map takes."""


def map_of(switch: kit.EmulatedSwitch, name: str) -> tuple[int, ...]:
    """A map as it is now. dscp-lp is the way through both others."""
    if name == "dscp-lp":
        queues = map_of(switch, "dot1p-lp")
        return tuple(queues[dot1p] for dot1p in map_of(switch, "dscp-dot1p"))
    section = switch.configuration.find(kit.top(name, name))
    return tuple(
        section.value(f"import {value}", "priority", usual)
        for value, usual in enumerate(DELIVERED[name])
    )


def _setting(name: str) -> kit.CliSetting:
    imported = IMPORTED[name]
    return kit.setting(
        f"import <{imported}> export <priority>",
        key="import <value>",
        undo=(f"import {{ <{imported}> | all }}",),
        line="import <value> export <priority>",
        default="import <value> export <usual>",
        expand=_entries(name),
    )


def _entries(name: str) -> Callable[[kit.CliCall], list[Mapping[str, Any]]]:
    def entries(call: kit.CliCall) -> list[Mapping[str, Any]]:
        """One line for each value of the list; of all, without a list."""
        values = call.values.get(IMPORTED[name], range(len(DELIVERED[name])))
        return [{**call.values, "value": each, "usual": DELIVERED[name][each]} for each in values]

    return entries


def _changed(switch: kit.EmulatedSwitch, section: kit.CliSection) -> None:
    network = switch.network
    now = {"dscp-dot1p": network.dscp_dot1p, "dot1p-lp": network.dot1p_lp}[section.kind]
    put = {"dscp-dot1p": network.set_dscp_dot1p, "dot1p-lp": network.set_dot1p_lp}[section.kind]
    for value, export in enumerate(map_of(switch, section.kind)):
        if now[value] != export:
            put(value, export)
    kit.apply_ports(switch, section)  # which tell their peers of the map


KINDS = {
    name: kit.SectionKind(
        header=f"qos map-table {name}",
        typed=f"qos map-table {name}",
        removable=False,
        prompt=f"[{{host}}-maptbl-{name}]",
        settings=(_setting(name),),
        changed=_changed,
    )
    for name in DELIVERED
}


def lines_for(classes: tuple[int, ...], ports: tuple[str, ...]) -> list[str]:
    """What is typed so that each DSCP has this class, and the ports trust DSCP."""
    entries = [f"import {dscp} export {dot1p}" for dscp, dot1p in enumerate(classes)]
    trusting = [line for port in ports for line in (f"interface {port}", "qos trust dscp")]
    return ["system-view", "qos map-table dscp-dot1p", *entries, *trusting]
