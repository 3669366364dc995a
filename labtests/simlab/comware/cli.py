"""Comware's views, and the definition of its command line."""

from collections.abc import Mapping
from pathlib import Path

from labtests.simlab import switch_cli as kit
from labtests.simlab.comware import deadlock, edge, maps, ports, telemetry, words, wred
from labtests.simlab.comware.displays import DISPLAYS
from labtests.simlab.switch_cli import arguments as of
from labtests.simlab.switch_cli.grammar import Argument

UNDO = "undo"
SYSTEM = (
    kit.setting("sysname <sysname>", undo=()),
    kit.setting("lldp global enable"),
    *deadlock.IN_SYSTEM_VIEW,
    *telemetry.IN_SYSTEM_VIEW,
)


ARGUMENTS: Mapping[str, Argument] = {
    "sysname": of.AnyName(64),
    "table": of.AnyName(32),
    "acl": of.AnyName(63),
    **dict.fromkeys(("class", "behavior", "policy", "group"), of.AnyName(31)),
    "host": of.AnyName(253),
    "text": of.RestOfLine(255),
    "dscp": of.OneWord(edge.dscp),
    "path": telemetry.SENSOR_PATH,
    "address": of.OneWord(telemetry.ipv4_address),
    "priorities": of.RangeList(7),
    "dscps": of.NumberList(63, until="export"),
    "dot1ps": of.NumberList(7, until="export"),
    "queue": of.Number(0, 7, words.QUEUE_NAMES),
    **dict.fromkeys(("priority", "cos"), of.Number(0, 7)),
    **dict.fromkeys(("low", "high"), of.Number(0, 16000)),
    "rule": of.Number(0, 65534),
    "udp": of.Number(0, 65535),
    "tcp": of.Number(1, 65535),
    "level": of.Number(0, 2),
    "percent": of.Number(0, 100),
    "interval": of.Number(1, 86400),
    "frames": of.Number(1, 10_000_000),  # not given by the references at hand, nor is the next one
    "exponent": of.Number(0, 15),
    "ticks": of.Number(1, 15),  # of Broadcom's timers
    "count": of.Number(1, 1000),  # as far as this one counts
    "frame": of.Number(1518, 12288),  # this and the others differ by model
    "cells": of.Number(0, 16000),  # 9000 is in public configurations
    "weight": of.Number(1, 127),  # 96 is
}
"""Ranges: HPE 5130 HI and 5900 command references, where they give one."""


def _arguments(names: tuple[str, ...]) -> Mapping[str, Argument]:
    port = of.InterfaceName(names, words.TYPES)
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
