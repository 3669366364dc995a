"""Comware's views, and the definition of its command line."""

from collections.abc import Mapping
from pathlib import Path

from labtests.simlab import switch_cli as kit
from labtests.simlab.comware import deadlock, edge, maps, ports, telemetry, words, wred
from labtests.simlab.comware.displays import DISPLAYS
from labtests.simlab.comware.edge import Dscp
from labtests.simlab.switch_cli.arguments import (
    AnyName,
    InterfaceName,
    Number,
    NumberList,
    RangeList,
    RestOfLine,
)
from labtests.simlab.switch_cli.grammar import Argument

UNDO = "undo"
SYSTEM = (
    kit.setting("sysname <sysname>", undo=()),
    kit.setting("lldp global enable"),
    *deadlock.IN_SYSTEM_VIEW,
    *telemetry.IN_SYSTEM_VIEW,
)


ARGUMENTS: Mapping[str, Argument] = {
    "sysname": AnyName(64),
    "table": AnyName(32),
    "acl": AnyName(63),
    "class": AnyName(31),
    "behavior": AnyName(31),
    "policy": AnyName(31),
    "rule": Number(0, 65534),
    "dscp": Dscp(),
    "udp": Number(0, 65535),
    "text": RestOfLine(255),
    "priorities": RangeList(7),
    "priority": Number(0, 7),
    "cos": Number(0, 7),
    "frames": Number(1, 10_000_000),  # not given by the references at hand
    "ticks": Number(1, 15),  # of Broadcom's timers
    "dscps": NumberList(63, until="export"),
    "dot1ps": NumberList(7, until="export"),
    "queue": Number(0, 7, words.QUEUE_NAMES),
    "level": Number(0, 2),
    "low": Number(0, 16000),
    "high": Number(0, 16000),
    "percent": Number(0, 100),
    "exponent": Number(0, 15),  # not given by the references at hand
    "frame": Number(1518, 12288),  # differs by model
    "cells": Number(0, 16000),  # differs by model; 9000 is in public configurations
    "host": AnyName(253),
    "count": Number(1, 1000),  # as far as this one counts
    "group": AnyName(31),
    "path": telemetry.SensorPath(),
    "address": telemetry.Ipv4Address(),
    "tcp": Number(1, 65535),
    "interval": Number(1, 86400),
    "weight": Number(1, 127),  # differs by model; 96 is in public configurations
}
"""Ranges: HPE 5130 HI and 5900 command references, where they give one."""


def _arguments(names: tuple[str, ...]) -> Mapping[str, Argument]:
    port = InterfaceName(names, words.TYPES)
    return {**ARGUMENTS, "port": port, "last": port}


def _save(session: kit.CliSession, call: kit.CliCall) -> str:
    session.question = lambda answer: _ask_for_file(session, answer)
    return words.SAVE


def _ask_for_file(session: kit.CliSession, answer: str) -> str:
    if answer.strip().lower() != "y":
        return ""
    session.question = lambda name: session.obey("save force")
    return words.SAVE_TO


def _enter_range(session: kit.CliSession, call: kit.CliCall) -> str:
    names = session.switch.ports
    first, last = names.index(call.values["port"]), names.index(call.values["last"])
    if last < first:
        raise kit.CommandRefused("The last interface must not stand before the first.")  # our words
    session.go("interface", *(kit.top("interface", name) for name in names[first : last + 1]))
    return ""


def _apply_system(switch: kit.EmulatedSwitch, root: kit.CliSection) -> None:
    kit.apply_ports(switch, root)
    telemetry.follow(switch, root)


SAVE = {"save": kit.CliCommand(_save), "save force": kit.save(words.SAVED)}
IN_USER_VIEW = {
    "system-view": kit.to_view("system", words.SYSTEM_VIEW),
    "quit": kit.close,
    "screen-length disable": kit.paging(False),
    "undo screen-length disable": kit.paging(True),
    "terminal monitor": kit.CliCommand(lambda session, call: words.LOGS.format("enabled")),
    "undo terminal monitor": kit.CliCommand(lambda session, call: words.LOGS.format("disabled")),
    "reset counters interface [ <port> ]": kit.reset,
    "reset packet-drop interface [ <port> ]": kit.reset,
}
KINDS = {
    "": kit.SectionKind(settings=SYSTEM, changed=_apply_system),
    "interface": ports.KIND,
    wred.TABLE: wred.KIND,
    **edge.KINDS,
    **maps.KINDS,
    **telemetry.KINDS,
}
IN_SYSTEM_VIEW = {
    **kit.settings("", UNDO, SYSTEM),
    **kit.settings("interface", UNDO, ports.PFC),
    **kit.objects(KINDS, UNDO),
    "quit": kit.leave,
    "return": kit.to_top,
    "interface <port>": kit.enter("interface"),
    "interface range <port> to <last>": kit.CliCommand(_enter_range),
    **telemetry.OF_SYSTEM_VIEW,
}
BELOW = DISPLAYS | SAVE | IN_SYSTEM_VIEW
"""A view below system view also knows the commands of system view, as on the real switch:
`interface …` may follow `interface …` without `quit`."""

VIEWS = {
    "user": kit.View(prompt="<{host}>", commands=DISPLAYS | SAVE | IN_USER_VIEW),
    "system": kit.View(prompt="[{host}]", up="user", commands=BELOW),
    **kit.object_views(KINDS, UNDO, "system", BELOW),
}

COMWARE = kit.SwitchCli(
    words=words.WORDS,
    pager=words.PAGER,
    arguments=_arguments,
    views=VIEWS,
    kinds=KINDS,
    screens=Path(__file__).parent / "screens",
    types=words.TYPES,
    hostname="sysname",
    initial_sections=(
        kit.top(wred.TABLE, wred.DEFAULT_TABLE),
        *(kit.top(name, name) for name in maps.KINDS),
    ),
    counting=words.COUNTING,
    map_lines=maps.lines_for,
)
