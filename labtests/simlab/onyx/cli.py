"""The modes of Onyx, and the definition of its command line.

What is configured of ports may be typed in their own view, or behind `interface ethernet 1/1` in
one line.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from labtests.simlab import switch_cli as kit
from labtests.simlab.onyx import pools, ports, words
from labtests.simlab.onyx.displays import DISPLAYS
from labtests.simlab.switch_cli.arguments import AnyName, Number, OneWord, RestOfLine, one_of
from labtests.simlab.switch_cli.grammar import Argument

ARGUMENTS: Mapping[str, Argument] = {
    "name": AnyName(63),
    "text": RestOfLine(254),
    "queue": Number(0, 7),
    "priority": Number(0, 7),
    "dscp": Number(0, 63),
    "weight": Number(0, 100),
    "mtu": Number(1500, 9216),
    "trust": one_of("L2", "L3", "both", "port"),
    "mode": one_of("ecn", "red"),
    "pool": AnyName(20),
    "pool-type": one_of("lossless", "lossy", "lossy-mc"),
    "percent": OneWord(pools.percent),
    "priorities": pools.PriorityList(),
    **dict.fromkeys(("low", "high"), Number(0, 100_000)),
    **dict.fromkeys(("low%", "high%"), Number(0, 100)),
}
"""Ranges of thresholds, weights and MTU: chosen."""
_AT = "interface ethernet <ports>"


def _arguments(names: tuple[str, ...]) -> Mapping[str, Argument]:
    return {**ARGUMENTS, "ports": words.PortNumbers(names)}


def _to_ports(session: kit.CliSession, call: kit.CliCall) -> str:
    session.go("interface", *(kit.top("interface", port) for port in call.values["ports"]))
    return ""


def _in_one_line(command: kit.CliCommand) -> kit.CliCommand:
    """What is typed in the view of a port, behind its name."""

    def change(session: kit.CliSession, call: kit.CliCall) -> str:
        view, paths = session.view, session.paths
        _to_ports(session, call)
        try:
            inner = replace(call, words=call.words[3:], keywords=call.keywords[2:])
            return command.handler(session, inner)
        finally:
            session.go(view, *paths)

    return kit.CliCommand(change, changes=command.changes)


PAGING = {
    "cli session paging enable": kit.paging(True),
    "no cli session paging enable": kit.paging(False),
}
AT_A_PORT = kit.settings("interface", "no", ports.SETTINGS)
IN_CONFIG = {
    **DISPLAYS,
    **PAGING,
    **kit.settings("", "no", ports.ROOT),
    **pools.COMMANDS,
    **{f"{_AT} {pattern}": _in_one_line(command) for pattern, command in AT_A_PORT.items()},
    _AT: kit.CliCommand(_to_ports),
    "configuration write": kit.save(""),
    "exit": kit.leave,
}
_PROMPT = "{host} [standalone: master] "
VIEWS = {
    "exec": kit.View(
        prompt=f"{_PROMPT}> ",
        commands={**DISPLAYS, **PAGING, "enable": kit.to_view("enable"), "exit": kit.close},
    ),
    "enable": kit.View(
        prompt=f"{_PROMPT}# ",
        commands={
            **DISPLAYS,
            **PAGING,
            "configure terminal": kit.to_view("config"),
            "disable": kit.to_view("exec"),
            "exit": kit.close,
        },
    ),
    "config": kit.View(prompt=f"{_PROMPT}(config) # ", up="enable", commands=IN_CONFIG),
    "interface": kit.View(
        prompt=f"{_PROMPT}(config interface ethernet {{number}}) # ",
        up="config",
        commands={**AT_A_PORT, **DISPLAYS, **PAGING, "exit": kit.leave},
    ),
}

ONYX = kit.SwitchCli(
    words=words.WORDS,
    pager=words.PAGER,
    arguments=_arguments,
    views=VIEWS,
    kinds=ports.KINDS,
    screens=Path(__file__).parent / "screens",
    types={},
    hostname="hostname",
    counting=words.COUNTING,
    map_lines=ports.lines_for,
)
