"""A small emulated switch with a CLI like NX-OS: three settings of a port, six counters.

Built from labtests.simlab.switch_cli and these tables alone; docs/new-platform.md walks through it.
"""

from pathlib import Path
from typing import Any

from labtests.inventory import Device
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli import (
    CliCall,
    CliCommand,
    CliSection,
    CliSession,
    CliSwitch,
    CliWords,
    EmulatedSwitch,
    Pager,
    PortBehaviour,
    Problem,
    SectionKind,
    SwitchCli,
    View,
    close,
    enter,
    leave,
    paging,
    reset,
    rows,
    save,
    setting,
    settings,
    to_top,
    to_view,
)
from labtests.simlab.switch_cli.arguments import AnyName, InterfaceName, RestOfLine

KIND = "switch"
TYPES = {"Ethernet": "Eth"}
INVALID = "% Invalid command at '^' marker."
WORDS = CliWords(
    problems={
        Problem.UNRECOGNIZED: INVALID,
        Problem.WRONG: INVALID,
        Problem.TOO_MANY: INVALID,
        Problem.INCOMPLETE: "% Incomplete command at '^' marker.",
        Problem.AMBIGUOUS: "% Ambiguous command at '^' marker.",
    },
    show="show",
    comment="!",
    denied="% Permission denied for the role",
    operators_may=frozenset({"show", "terminal", "exit", "end"}),
)
PAGER = Pager(more="\x1b[7m--More--\x1b[27m", erase="\r\x1b[K", lines=0)

# -- settings --------------------------------------------------------------------------------------

PORT = (
    setting("description <text>"),
    setting("priority-flow-control mode { auto | on | off }"),
    setting("shutdown"),
)
SYSTEM = (setting("hostname <name>"),)


def _mode(port: CliSection) -> Any:
    return port.rest("priority-flow-control mode") or "auto"


def _changed(switch: EmulatedSwitch, port: CliSection) -> None:
    """Priority 3 is the no-drop class, and DSCP is trusted, as in the default QoS policies."""
    switch.apply(
        port.name,
        PortBehaviour(
            pfc=_mode(port),
            no_drop=frozenset({3}),
            trust="dscp",
            shutdown="shutdown" in port.lines,
        ),
    )


# -- displays --------------------------------------------------------------------------------------


def _pfc(switch: EmulatedSwitch, port: str) -> dict[str, Any]:
    counts = switch.statistics.pfc(port)
    working = port in switch.network.ports and switch.network.pfc_operational(port)
    return {
        "port": port,
        "mode": _mode(switch.port(port)).capitalize(),
        "oper": "On  (8)" if working else "Off",
        "received": sum(each.received for each in counts),
        "sent": sum(each.sent for each in counts),
    }


def _traffic(switch: EmulatedSwitch, port: str) -> dict[str, Any]:
    return switch.statistics.traffic(port)._asdict()


def _running(session: CliSession, call: CliCall) -> str:
    configuration = session.switch.configuration
    shown = [configuration.shown(session.switch.port(port)) for port in session.ports(call)]
    if "interface" not in call.keywords:
        shown.insert(0, (f"hostname {session.switch.hostname}", []))
    return session.show("running-config", sections=shown)


DISPLAYS = {
    "show interface [ <port> ] priority-flow-control": rows("priority-flow-control", _pfc),
    "show interface [ <port> ] counters": rows("counters", _traffic),
    "show running-config": CliCommand(_running),
    "show running-config interface [ <port> ]": CliCommand(_running),
}

# -- views -----------------------------------------------------------------------------------------

IN_EXEC = {
    "configure terminal": to_view("config"),
    "clear counters interface [ <port> ]": reset,
    "terminal length 0": paging(False),
    "copy running-config startup-config": save("Copy complete.\n"),
    "exit": close,
}
IN_CONFIG = {
    "exit": leave,
    "end": to_top,
    "interface <port>": enter("interface"),
    **settings("", "no", SYSTEM),
}

NEXUS = SwitchCli(
    words=WORDS,
    pager=PAGER,
    arguments=lambda ports: {
        "port": InterfaceName(ports, TYPES),
        "text": RestOfLine(254),
        "name": AnyName(63),
    },
    views={
        "exec": View(prompt="{host}# ", commands=DISPLAYS | IN_EXEC),
        "config": View(prompt="{host}(config)# ", up="exec", commands=DISPLAYS | IN_CONFIG),
        "interface": View(
            prompt="{host}(config-if)# ",
            up="config",
            commands=DISPLAYS | IN_CONFIG | settings("interface", "no", PORT),
        ),
    },
    kinds={
        "": SectionKind(settings=SYSTEM),
        "interface": SectionKind(header="interface {name}", settings=PORT, changed=_changed),
    },
    screens=Path(__file__).parent / "nexus_screens",
    types=TYPES,
    hostname="hostname",
)


def face(lab: SimulatedLab, device: Device) -> CliSwitch:
    """See labtests.simlab.faces."""
    return CliSwitch(lab, device, NEXUS)
