"""The modes of NX-OS, and the definition of its command line."""

from collections.abc import Mapping
from pathlib import Path

from labtests.simlab.nxos import policies, ports, watchdog, words
from labtests.simlab.nxos.displays import DISPLAYS
from labtests.simlab.switch_cli import (
    CliCommand,
    SectionKind,
    SwitchCli,
    View,
    apply_ports,
    close,
    enter,
    leave,
    paging,
    reset,
    save,
    setting,
    settings,
    to_top,
    to_view,
)
from labtests.simlab.switch_cli.arguments import (
    AnyName,
    InterfaceName,
    Number,
    RangeList,
    RestOfLine,
)
from labtests.simlab.switch_cli.grammar import Argument

ROOT = (setting("hostname <name>"), *watchdog.IN_ROOT)


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
    "shutdown": Number(1, 10),
    **dict.fromkeys(("auto", "fixed"), Number(0, 100)),
    **dict.fromkeys(("low", "high", "size", "pause", "resume"), Number(0, 1_000_000_000)),
}
"""Ranges: the guides where they give one; a name of a policy has 40 characters at most."""


def _arguments(names: tuple[str, ...]) -> Mapping[str, Argument]:
    return {**ARGUMENTS, "port": InterfaceName(names, words.TYPES)}


IN_EXEC = {
    "configure terminal": to_view("config", words.CONFIGURING),
    "configure": to_view("config", words.CONFIGURING),
    "clear counters interface [ <port> ]": reset,
    "clear queuing interface [ <port> ]": reset,
    "terminal length 0": paging(False),
    "terminal width <width>": CliCommand(lambda session, call: ""),
    "copy running-config startup-config": save(words.SAVED),
    "exit": close,
}
IN_CONFIG = {
    **DISPLAYS,
    **policies.IN_CONFIG,
    **settings("", "no", ROOT),
    "interface <port>": enter("interface"),
    "exit": leave,
    "end": to_top,
}


def _view(prompt: str, up: str, *more: Mapping[str, CliCommand]) -> View:
    commands = dict(IN_CONFIG)
    for each in more:
        commands |= each
    return View(prompt=f"{{host}}({prompt})# ", up=up, commands=commands)


# the words of queuing and network-qos are in guides, those of qos and of class-maps in captures
_PROMPTS = {"qos": ("qos", "qos"), "network-qos": ("nqos", "nqos-c"), "queuing": ("que", "c-que")}
VIEWS = {
    "exec": View(prompt="{host}# ", commands=DISPLAYS | IN_EXEC),
    "config": _view("config", "exec"),
    "interface": _view("config-if", "config", settings("interface", "no", ports.SETTINGS)),
    "system": _view("config-sys-qos", "config", settings("system", "no", policies.IN_SYSTEM)),
    "class-map": _view("config-cmap-qos", "config", settings("class-map", "no", policies.MATCHES)),
    **{
        kind: _view(f"config-pmap-{_PROMPTS[kind][0]}", "config", policies.IN_POLICY[kind])
        for kind in policies.IN_CLASS
    },
    **{
        f"{kind}-class": _view(
            f"config-pmap-{'c-qos' if kind == 'qos' else _PROMPTS[kind][1]}",
            kind,
            policies.IN_POLICY[kind],
            settings(f"{kind}-class", "no", lines),
        )
        for kind, lines in policies.IN_CLASS.items()
    },
}

NXOS = SwitchCli(
    words=words.WORDS,
    pager=words.PAGER,
    arguments=_arguments,
    views=VIEWS,
    kinds={
        "": SectionKind(settings=ROOT, changed=apply_ports),
        "interface": ports.KIND,
        **policies.KINDS,
    },
    screens=Path(__file__).parent / "screens",
    types=words.TYPES,
    hostname="hostname",
    initial_sections=(policies.SYSTEM,),
    counting=words.COUNTING,
    map_lines=ports.lines_for,
)
