"""The configuration commands, view by view, each with its `undo`."""

from dataclasses import replace
from typing import Literal

from labtests.simlab.comware.configuration import (
    DEFAULT_TABLE,
    PortConfiguration,
    QueueCurves,
    Refused,
)
from labtests.simlab.comware.grammar import Call, Command, Grammar, Handler
from labtests.simlab.comware.views import Context, View
from labtests.simlab.network import Schedule

Commands = dict[str, Handler]
_DEFAULT_QUEUE = ("1", 1)


def add_settings(grammar: Grammar, commands: Commands) -> None:
    """These lines change the configuration."""
    for pattern, handler in commands.items():
        grammar.add(pattern, Command(handler, changes=True))


# -- system view ---------------------------------------------------------------------------------


def _sysname(context: Context, call: Call) -> str:
    context.box.configuration.sysname = call.values["sysname"]
    return ""


def _remove_table(context: Context, call: Call) -> str:
    context.box.configuration.remove_table(call.values["table"])
    return ""


def _global_line(context: Context, call: Call) -> str:
    context.box.configuration.globals.add(" ".join(call.keywords))
    return ""


def _undo_global_line(context: Context, call: Call) -> str:
    context.box.configuration.globals.discard(" ".join(call.keywords[1:]))
    return ""


SYSTEM_SETTINGS: Commands = {
    "sysname <sysname>": _sysname,
    "undo qos wred queue table <table>": _remove_table,
    "lldp global enable": _global_line,
    "undo lldp global enable": _undo_global_line,
}


# -- PFC, in system view for all ports (H3C PFC commands) ----------------------------------------


def _ports(context: Context) -> tuple[str, ...]:
    """Those of the interface view; all in system view."""
    return context.view.ports or tuple(context.box.configuration.ports)


def _each(context: Context) -> list[PortConfiguration]:
    return [context.box.configuration.ports[port] for port in _ports(context)]


def _apply(context: Context) -> str:
    for port in _ports(context):
        context.box.configuration.apply(port)
    return ""


def _pfc(context: Context, call: Call) -> str:
    for port in _each(context):
        port.pfc = "on" if "enable" in call.keywords else "auto"
    return _apply(context)


def _undo_pfc(context: Context, call: Call) -> str:
    for port in _each(context):
        port.pfc = "off"
    return _apply(context)


def _no_drop(context: Context, call: Call) -> str:
    """The list replaces the one before. The manuals do not say; they say so of similar commands."""
    for port in _each(context):
        port.no_drop = call.values["priorities"]
    return _apply(context)


def _undo_no_drop(context: Context, call: Call) -> str:
    for port in _each(context):
        port.no_drop = frozenset()
    return _apply(context)


PFC_SETTINGS: Commands = {
    "priority-flow-control { enable | auto }": _pfc,
    "undo priority-flow-control": _undo_pfc,
    "priority-flow-control no-drop dot1p <priorities>": _no_drop,
    "undo priority-flow-control no-drop dot1p": _undo_no_drop,
}


# -- interface view ------------------------------------------------------------------------------


def _description(context: Context, call: Call) -> str:
    for port in _each(context):
        port.description = call.values["text"]
    return ""


def _undo_description(context: Context, call: Call) -> str:
    for port in _each(context):
        port.description = None
    return ""


def _shutdown(context: Context, call: Call) -> str:
    for name, port in zip(_ports(context), _each(context), strict=True):
        port.shutdown = "undo" not in call.keywords
        context.box.set_link(name, up=not port.shutdown)
    return ""


def _trust(context: Context, call: Call) -> str:
    for port in _each(context):
        port.trust = "dscp" if "dscp" in call.keywords else "dot1p"
        port.override = "override" in call.keywords
    return _apply(context)


def _undo_trust(context: Context, call: Call) -> str:
    for port in _each(context):
        port.trust, port.override = "none", False
    return _apply(context)


def _apply_wred(context: Context, call: Call) -> str:
    table = context.box.configuration.table(call.values["table"]).name
    for port in _each(context):
        port.wred = table
    return _apply(context)


def _apply_default_wred(context: Context, call: Call) -> str:
    for port in _each(context):
        port.wred = DEFAULT_TABLE
    return _apply(context)


def _undo_wred(context: Context, call: Call) -> str:
    for port in _each(context):
        port.wred = None
    return _apply(context)


def _lldp(context: Context, call: Call) -> str:
    for port in _each(context):
        port.lldp.add(" ".join(call.keywords))
    return ""


def _undo_lldp(context: Context, call: Call) -> str:
    for port in _each(context):
        port.lldp.discard(" ".join(call.keywords[1:]))
    return ""


PORT_SETTINGS: Commands = {
    "description <text>": _description,
    "undo description": _undo_description,
    "shutdown": _shutdown,
    "undo shutdown": _shutdown,
    "qos trust { dscp | dot1p } [ override ]": _trust,
    "undo qos trust": _undo_trust,
    "qos wred apply": _apply_default_wred,
    "qos wred apply <table>": _apply_wred,
    "undo qos wred apply": _undo_wred,
    "lldp enable": _lldp,
    "undo lldp enable": _undo_lldp,
    "lldp tlv-enable dot1-tlv dcbx": _lldp,
    "undo lldp tlv-enable dot1-tlv dcbx": _undo_lldp,
    "dcbx version { rev100 | rev101 | standard }": _lldp,
}


# -- scheduling ----------------------------------------------------------------------------------


def _discipline(call: Call) -> Literal["wrr", "wfq"]:
    return "wrr" if "wrr" in call.keywords else "wfq"


def _unit(call: Call) -> Literal["weight", "byte-count"]:
    return "weight" if "weight" in call.keywords else "byte-count"


def _schedule(context: Context, call: Call) -> str:
    """`qos wrr weight`: queues keep their groups and weights only if nothing else changes."""
    kind, unit = _discipline(call), _unit(call)
    for port in _each(context):
        if (port.schedule.discipline, port.schedule.unit) != (kind, unit):
            port.schedule = Schedule(discipline=kind, unit=unit, queues=(_DEFAULT_QUEUE,) * 8)
    return _apply(context)


def _strict_priority(context: Context, call: Call) -> str:
    for port in _each(context):
        port.schedule = Schedule(discipline="sp", unit="weight", queues=(("sp", 1),) * 8)
    return _apply(context)


def _undo_schedule(context: Context, call: Call) -> str:
    for port in _each(context):
        port.schedule = context.box.configuration.default_schedule
    return _apply(context)


def _queue(context: Context, call: Call) -> str:
    if "sp" in call.keywords:
        return _set_queue(context, call, ("sp", 1), unit=None)
    group = "2" if "2" in call.keywords else "1"
    return _set_queue(context, call, (group, call.values["weight"]), unit=_unit(call))


def _undo_queue(context: Context, call: Call) -> str:
    return _set_queue(context, call, _DEFAULT_QUEUE, unit=None)


def _set_queue(context: Context, call: Call, setting: tuple[str, int], *, unit: str | None) -> str:
    """Needs `qos wrr` (or `wfq`) in force on the port, in the same unit (command reference)."""
    kind = _discipline(call)
    for port in _each(context):
        if port.schedule.discipline != kind:
            raise Refused(f"Please enable {kind.upper()} queuing on the interface first.")  # ours
        if unit not in (None, port.schedule.unit):
            raise Refused(f"The queue weight is counted by {port.schedule.unit}.")  # our words
        queues = list(port.schedule.queues)
        queues[call.values["queue"]] = setting
        port.schedule = replace(port.schedule, queues=tuple(queues))
    return _apply(context)


def _scheduling(kind: str) -> Commands:
    units = "{ byte-count | weight }"
    return {
        f"qos {kind} {units}": _schedule,
        f"undo qos {kind} [ {units} ]": _undo_schedule,
        f"qos {kind} <queue> [ group {{ 1 | 2 }} ] {units} <weight>": _queue,
        f"qos {kind} <queue> group sp": _queue,
        f"undo qos {kind} <queue>": _undo_queue,
    }


SCHEDULE_SETTINGS: Commands = {
    **_scheduling("wrr"),
    **_scheduling("wfq"),
    "qos sp": _strict_priority,
    "undo qos sp": _undo_schedule,
}


# -- WRED table view -----------------------------------------------------------------------------


def _curves(context: Context, call: Call) -> QueueCurves:
    queue: int = call.values["queue"]
    return context.box.configuration.table(context.view.name).queues[queue]


def _table_changed(context: Context) -> str:
    context.box.configuration.table_changed(context.view.name)
    return ""


def _limits(context: Context, call: Call) -> str:
    low, high = call.values["low"], call.values["high"]
    if high <= low:
        # "must be greater than the low-limit argument" (HPE 5130 HI reference); our words
        raise Refused("The high limit must be greater than the low limit.")
    curves, percent = _curves(context, call), call.values.get("percent", 10)
    levels = [call.values["level"]] if "level" in call.values else range(3)
    for level in levels:
        curves.colours[level] = (low, high, percent)
    return _table_changed(context)


def _exponent(context: Context, call: Call) -> str:
    _curves(context, call).exponent = call.values["exponent"]
    return _table_changed(context)


def _undo_exponent(context: Context, call: Call) -> str:
    _curves(context, call).exponent = QueueCurves().exponent
    return _table_changed(context)


def _ecn(context: Context, call: Call) -> str:
    _curves(context, call).ecn = "undo" not in call.keywords
    return _table_changed(context)


def _undo_limits(context: Context, call: Call) -> str:
    queues = context.box.configuration.table(context.view.name).queues
    for number in [call.values["queue"]] if "queue" in call.values else range(len(queues)):
        queues[number] = QueueCurves()
    return _table_changed(context)


TABLE_SETTINGS: Commands = {
    "queue <queue> [ drop-level <level> ] low-limit <low> high-limit <high> "
    "[ discard-probability <percent> ]": _limits,
    "queue <queue> weighting-constant <exponent>": _exponent,
    "undo queue <queue> weighting-constant": _undo_exponent,
    "queue <queue> ecn": _ecn,
    "undo queue <queue> ecn": _ecn,
    "undo queue { <queue> | all }": _undo_limits,
}


# -- map view ------------------------------------------------------------------------------------


def _import(context: Context, call: Call) -> str:
    for value in call.values[_imported(context.view)]:
        context.box.configuration.set_map(context.view.kind, value, call.values["priority"])
    return ""


def _undo_import(context: Context, call: Call) -> str:
    default = context.box.configuration.default_map(context.view.kind)
    for value in call.values.get(_imported(context.view), range(len(default))):
        context.box.configuration.set_map(context.view.kind, value, default[value])
    return ""


def _imported(view: View) -> str:
    return "dscps" if view.kind == "dscp-dot1p" else "dot1ps"


def map_settings(imported: str) -> Commands:
    """Those of one map's view; `imported` names the parameter of its input values."""
    return {
        f"import <{imported}> export <priority>": _import,
        f"undo import {{ <{imported}> | all }}": _undo_import,
    }
