"""The modes of NX-OS, and the definition of its command line."""

from collections.abc import Mapping
from pathlib import Path

from labtests.simlab import switch_cli as kit
from labtests.simlab.nxos import fcoe, policies, ports, watchdog, words
from labtests.simlab.nxos.objects import DISPLAYS
from labtests.simlab.switch_cli import arguments as a
from labtests.simlab.switch_cli.grammar import Argument

ROOT = (kit.setting("hostname <name>"), *watchdog.IN_ROOT, *fcoe.IN_ROOT)


ARGUMENTS: Mapping[str, Argument] = {
    "name": a.AnyName(63),
    "policy": a.AnyName(40),
    "text": a.RestOfLine(254),
    "dscps": a.RangeList(63, a.DSCP_NAMES),  # that names are printed as numbers: memory
    "cos": a.RangeList(7),
    **dict.fromkeys(("queue", "priority"), a.Number(0, 7)),
    "percent": a.Number(0, 100),
    "level": a.Number(1, 7),
    "weight": a.Number(0, 15),
    "lines": a.Number(1, 9999),
    "mtu": a.Number(1500, 9216),
    "width": a.Number(24, 511),
    "interval": a.Number(100, 1000),
    "timeout": a.Number(100, 500),  # in steps of 100, which are not looked at
    "number": a.Number(1, 8192),
    "shutdown": a.Number(1, 10),
    **dict.fromkeys(("auto", "fixed"), a.Number(0, 100)),
    **dict.fromkeys(("low", "high", "size", "pause", "resume"), a.Number(0, 1_000_000_000)),
}
"""Ranges: the guides where they give one; a name of a policy has 40 characters at most."""


def _arguments(names: tuple[str, ...]) -> Mapping[str, Argument]:
    port = a.InterfaceName(names, words.TYPES)
    return {**ARGUMENTS, "port": port, "ports": a.InterfaceList(port)}


IN_EXEC = {
    "configure [ terminal ]": kit.to_view("config", words.CONFIGURING),
    "clear { counters | queuing } interface [ <port> ]": kit.reset,
    "clear logging logfile": kit.clear_log,
    "terminal length 0": kit.paging(False),
    "terminal width <width>": kit.CliCommand(lambda session, call: ""),
    "copy running-config startup-config": kit.save(words.SAVED),
    "exit": kit.close,
}
KINDS = {
    "": kit.SectionKind(settings=ROOT),
    "interface": ports.KIND,
    fcoe.VFC: fcoe.KIND,
    **policies.KINDS,
}
IN_CONFIG = {
    **DISPLAYS,
    **kit.objects(KINDS, "no"),
    **kit.settings("", "no", ROOT),
    "interface <ports>": kit.enter_ports,
    "exit": kit.leave,
    "end": kit.to_top,
}
VIEWS = {
    "exec": kit.View(prompt="{host}# ", commands=DISPLAYS | IN_EXEC),
    "config": kit.View(prompt="{host}(config)# ", up="exec", commands=IN_CONFIG),
    **kit.object_views(KINDS, "no", "config", IN_CONFIG, beside=True),
}

NXOS = kit.SwitchCli(
    words=words.WORDS,
    pager=words.PAGER,
    arguments=_arguments,
    views=VIEWS,
    kinds=KINDS,
    screens=Path(__file__).parent / "screens",
    types=words.TYPES,
    hostname="hostname",
    initial_sections=(policies.SYSTEM,),
    counting=words.COUNTING,
    delivered=fcoe.delivered,
    map_lines=ports.lines_for,
)
