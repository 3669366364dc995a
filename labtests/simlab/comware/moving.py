"""Commands that lead from view to view, and the grammar of each view.

A view below system view also knows the commands of system view, as on the real switch: `interface
…` may follow `interface …` without `quit`.
"""

from labtests.simlab.comware import setting, showing
from labtests.simlab.comware.configuration import Refused
from labtests.simlab.comware.displays import lines
from labtests.simlab.comware.grammar import Call, Command, Grammar, Parameter
from labtests.simlab.comware.interfaces import Ports
from labtests.simlab.comware.parameters import (
    ImportList,
    Name,
    Number,
    Port,
    PriorityList,
    Queue,
    Text,
)
from labtests.simlab.comware.scheduling import SCHEDULE_SETTINGS
from labtests.simlab.comware.views import SYSTEM, USER, Context, Kind, View


def _parameters(ports: Ports) -> dict[str, Parameter]:
    """Ranges: HPE 5130 HI and 5900 command references, where they give one."""
    return {
        "port": Port(ports),
        "last": Port(ports),
        "sysname": Name(64),
        "table": Name(32),
        "text": Text(255),
        "priorities": PriorityList(),
        "priority": Number(0, 7),
        "dscps": ImportList(63),
        "dot1ps": ImportList(7),
        "queue": Queue(),
        "level": Number(0, 2),
        "low": Number(0, 16000),
        "high": Number(0, 16000),
        "percent": Number(0, 100),
        "exponent": Number(0, 15),  # not given by the references at hand
        "frame": Number(1518, 12288),  # differs by model
        "cells": Number(0, 16000),  # differs by model; 9000 is in public configurations
        "weight": Number(1, 127),  # differs by model; 96 is in public configurations
    }


def grammars(names: tuple[str, ...]) -> dict[Kind, Grammar]:
    """What each view understands on a switch with these ports."""
    parameters = _parameters(Ports(names))
    bodies: dict[Kind, setting.Commands] = {
        "system": {},
        "interface": setting.PORT_SETTINGS | setting.PFC_SETTINGS | SCHEDULE_SETTINGS,
        "wred": setting.TABLE_SETTINGS,
        "dscp-dot1p": setting.map_settings("dscps"),
        "dot1p-lp": setting.map_settings("dot1ps"),
    }
    known: dict[Kind, Grammar] = {"user": _user_view(Grammar(parameters))}
    for kind, body in bodies.items():
        known[kind] = grammar = Grammar(parameters)
        showing.add_displays(grammar)
        setting.add_settings(grammar, setting.SYSTEM_SETTINGS | setting.PFC_SETTINGS | body)
        for pattern, handler in _MOVES.items():
            grammar.add(pattern, Command(handler))
    return known


def _user_view(grammar: Grammar) -> Grammar:
    showing.add_displays(grammar)
    showing.add_resets(grammar)
    for pattern, handler in {
        "system-view": _system_view,
        "quit": _close,
        "screen-length disable": _screen_length,
        "undo screen-length disable": _screen_length,
        "save [ force ]": _save,
    }.items():
        grammar.add(pattern, Command(handler))
    return grammar


def _system_view(context: Context, call: Call) -> str:
    context.view = SYSTEM
    return lines("System View: return to User View with Ctrl+Z.")


def _close(context: Context, call: Call) -> str:
    context.closing = True
    return ""


def _quit(context: Context, call: Call) -> str:
    context.view = USER if context.view.kind == "system" else SYSTEM
    return ""


def _return(context: Context, call: Call) -> str:
    context.view = USER
    return ""


def _screen_length(context: Context, call: Call) -> str:
    context.paging = "undo" in call.keywords
    return ""


def _enter_interface(context: Context, call: Call) -> str:
    context.view = View(kind="interface", ports=(call.values["port"],))
    return ""


def _enter_range(context: Context, call: Call) -> str:
    names = list(context.box.configuration.ports)
    first, last = names.index(call.values["port"]), names.index(call.values["last"])
    if last < first:
        raise Refused("The last interface must not stand before the first.")  # our words
    context.view = View(kind="interface", ports=tuple(names[first : last + 1]))
    return ""


def _enter_table(context: Context, call: Call) -> str:
    if not context.box.faults.lies:
        context.box.configuration.create_table(call.values["table"])
    context.view = View(kind="wred", name=call.values["table"])
    return ""


def _enter_map(context: Context, call: Call) -> str:
    context.view = View(kind="dscp-dot1p" if "dscp-dot1p" in call.keywords else "dot1p-lp")
    return ""


_SAVED = lines(  # the dialogue is from memory
    "Validating file. Please wait...",
    "Saved the current configuration to mainboard device successfully.",
)


def _saved(context: Context) -> str:
    context.box.save()
    return _SAVED


def _save(context: Context, call: Call) -> str:
    if "force" in call.keywords:
        return _saved(context)
    context.question = lambda answer: _ask_for_file(context, answer)
    return "The current configuration will be written to the device. Are you sure? [Y/N]:"


def _ask_for_file(context: Context, answer: str) -> str:
    if answer.strip().lower() != "y":
        return ""
    context.question = lambda name: _saved(context)
    return (
        "Please input the file name(*.cfg)[flash:/startup.cfg]\n"
        "(To leave the existing filename unchanged, press the enter key):"
    )


_MOVES = {
    "quit": _quit,
    "return": _return,
    "save [ force ]": _save,
    "interface <port>": _enter_interface,
    "interface range <port> to <last>": _enter_range,
    "qos wred queue table <table>": _enter_table,
    "qos map-table { dscp-dot1p | dot1p-lp }": _enter_map,
}
