"""The configuration commands, view by view, each with its `undo`."""

from labtests.simlab.comware.configuration import DEFAULT_TABLE, QueueCurves, Refused
from labtests.simlab.comware.grammar import Call, Command, Grammar, Handler
from labtests.simlab.comware.views import Context, View

Commands = dict[str, Handler]


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


def _pfc(context: Context, call: Call) -> str:
    for port in context.settings():
        port.pfc = "on" if "enable" in call.keywords else "auto"
    return context.apply()


def _undo_pfc(context: Context, call: Call) -> str:
    for port in context.settings():
        port.pfc = "off"
    return context.apply()


def _no_drop(context: Context, call: Call) -> str:
    """The list replaces the one before. The manuals do not say; they say so of similar commands."""
    for port in context.settings():
        port.no_drop = call.values["priorities"]
    return context.apply()


def _undo_no_drop(context: Context, call: Call) -> str:
    for port in context.settings():
        port.no_drop = frozenset()
    return context.apply()


PFC_SETTINGS: Commands = {
    "priority-flow-control { enable | auto }": _pfc,
    "undo priority-flow-control": _undo_pfc,
    "priority-flow-control no-drop dot1p <priorities>": _no_drop,
    "undo priority-flow-control no-drop dot1p": _undo_no_drop,
}


# -- interface view ------------------------------------------------------------------------------


def _description(context: Context, call: Call) -> str:
    for port in context.settings():
        port.description = call.values["text"]
    return ""


def _undo_description(context: Context, call: Call) -> str:
    for port in context.settings():
        port.description = None
    return ""


def _shutdown(context: Context, call: Call) -> str:
    for name, port in zip(context.ports(), context.settings(), strict=True):
        port.shutdown = "undo" not in call.keywords
        context.box.set_link(name, up=not port.shutdown)
    return ""


def _trust(context: Context, call: Call) -> str:
    for port in context.settings():
        port.trust = "dscp" if "dscp" in call.keywords else "dot1p"
        port.override = "override" in call.keywords
    return context.apply()


def _undo_trust(context: Context, call: Call) -> str:
    for port in context.settings():
        port.trust, port.override = "none", False
    return context.apply()


def _apply_wred(context: Context, call: Call) -> str:
    table = context.box.configuration.table(call.values["table"]).name
    for port in context.settings():
        port.wred = table
    return context.apply()


def _apply_default_wred(context: Context, call: Call) -> str:
    for port in context.settings():
        port.wred = DEFAULT_TABLE
    return context.apply()


def _undo_wred(context: Context, call: Call) -> str:
    for port in context.settings():
        port.wred = None
    return context.apply()


def _lldp(context: Context, call: Call) -> str:
    for port in context.settings():
        port.lldp.add(" ".join(call.keywords))
    return ""


def _undo_lldp(context: Context, call: Call) -> str:
    for port in context.settings():
        port.lldp.discard(" ".join(call.keywords[1:]))
    return ""


def _jumbo(context: Context, call: Call) -> str:
    """Without a size it is the default again (from memory)."""
    for port in context.settings():
        port.jumbo = 0 if "undo" in call.keywords else call.values.get("frame")
    return ""


def _headroom(context: Context, call: Call) -> str:
    for port in context.settings():
        port.headroom[call.values["priority"]] = call.values["cells"]
    return context.apply()


def _undo_headroom(context: Context, call: Call) -> str:
    for port in context.settings():
        port.headroom.pop(call.values["priority"], None)
    return context.apply()


PORT_SETTINGS: Commands = {
    "jumboframe enable [ <frame> ]": _jumbo,
    "undo jumboframe enable": _jumbo,
    "priority-flow-control dot1p <priority> headroom <cells>": _headroom,
    "undo priority-flow-control dot1p <priority> headroom": _undo_headroom,
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
    "undo dcbx version { rev100 | rev101 | standard }": _undo_lldp,
    "dcbx version { rev100 | rev101 | standard }": _lldp,
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
