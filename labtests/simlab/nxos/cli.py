"""The modes of NX-OS, and the definition of its command line."""

from collections.abc import Mapping
from pathlib import Path

from labtests.simlab import switch_cli as kit
from labtests.simlab.nxos import fcoe, policies, ports, watchdog, words
from labtests.simlab.nxos.objects import DISPLAYS
from labtests.simlab.switch_cli.arguments import (
    AnyName,
    InterfaceList,
    InterfaceName,
    Number,
    RangeList,
    RestOfLine,
)
from labtests.simlab.switch_cli.grammar import Argument

ROOT = (kit.setting("hostname <name>"), *watchdog.IN_ROOT, *fcoe.IN_ROOT)


ARGUMENTS: Mapping[str, Argument] = {
    "name": AnyName(63),
    "policy": AnyName(40),
    "text": RestOfLine(254),
    "dscps": RangeList(63),
    "cos": RangeList(7),
    "queue": Number(0, 7),
    "priority": Number(0, 7),
    "percent": Number(0, 100),
    "level": Number(1, 7),
    "weight": Number(0, 15),
    "mtu": Number(1500, 9216),
    "width": Number(24, 511),
    "interval": Number(100, 1000),
    "timeout": Number(100, 500),  # in steps of 100, which are not looked at
    "number": Number(1, 8192),
    "shutdown": Number(1, 10),
    **dict.fromkeys(("auto", "fixed"), Number(0, 100)),
    **dict.fromkeys(("low", "high", "size", "pause", "resume"), Number(0, 1_000_000_000)),
}
"""Ranges: the guides where they give one; a name of a policy has 40 characters at most."""


def _arguments(names: tuple[str, ...]) -> Mapping[str, Argument]:
    port = InterfaceName(names, words.TYPES)
    return {**ARGUMENTS, "port": port, "ports": InterfaceList(port)}


IN_EXEC = {
    "configure terminal": kit.to_view("config", words.CONFIGURING),
    "configure": kit.to_view("config", words.CONFIGURING),
    "clear counters interface [ <port> ]": kit.reset,
    "clear queuing interface [ <port> ]": kit.reset,
    "terminal length 0": kit.paging(False),
    "terminal width <width>": kit.CliCommand(lambda session, call: ""),
    "copy running-config startup-config": kit.save(words.SAVED),
    "exit": kit.close,
}
IN_CONFIG = {
    **DISPLAYS,
    **policies.IN_CONFIG,
    **kit.settings("", "no", ROOT),
    "interface <ports>": kit.enter_ports,
    "interface vfc <number>": kit.enter(fcoe.VFC, create=True),
    "no interface vfc <number>": kit.remove(fcoe.VFC),
    "exit": kit.leave,
    "end": kit.to_top,
}


def _view(prompt: str, up: str, *more: Mapping[str, kit.CliCommand]) -> kit.View:
    commands = dict(IN_CONFIG)
    for each in more:
        commands |= each
    shown = f"{{host}}({prompt})# "
    return kit.View(
        prompt=shown, several=shown.replace("if)", "if-range)"), up=up, commands=commands
    )


# the words of queuing and network-qos are in guides, those of qos and of class-maps in captures
_PROMPTS = {"qos": ("qos", "qos"), "network-qos": ("nqos", "nqos-c"), "queuing": ("que", "c-que")}
VIEWS = {
    "exec": kit.View(prompt="{host}# ", commands=DISPLAYS | IN_EXEC),
    "config": _view("config", "exec"),
    "interface": _view("config-if", "config", kit.settings("interface", "no", ports.SETTINGS)),
    fcoe.VFC: _view("config-if", "config", kit.settings(fcoe.VFC, "no", fcoe.SETTINGS)),
    "system": _view("config-sys-qos", "config", kit.settings("system", "no", policies.IN_SYSTEM)),
    "class-map": _view(
        "config-cmap-qos", "config", kit.settings("class-map", "no", policies.MATCHES)
    ),
    **{
        kind: _view(f"config-pmap-{_PROMPTS[kind][0]}", "config", policies.IN_POLICY[kind])
        for kind in policies.IN_CLASS
    },
    **{
        f"{kind}-class": _view(
            f"config-pmap-{'c-qos' if kind == 'qos' else _PROMPTS[kind][1]}",
            kind,
            policies.IN_POLICY[kind],
            kit.settings(f"{kind}-class", "no", lines),
        )
        for kind, lines in policies.IN_CLASS.items()
    },
}

NXOS = kit.SwitchCli(
    words=words.WORDS,
    pager=words.PAGER,
    arguments=_arguments,
    views=VIEWS,
    kinds={
        "": kit.SectionKind(settings=ROOT, changed=kit.apply_ports),
        "interface": ports.KIND,
        fcoe.VFC: fcoe.KIND,
        **policies.KINDS,
    },
    screens=Path(__file__).parent / "screens",
    types=words.TYPES,
    hostname="hostname",
    initial_sections=(policies.SYSTEM,),
    counting=words.COUNTING,
    delivered=fcoe.delivered,
    map_lines=ports.lines_for,
)
