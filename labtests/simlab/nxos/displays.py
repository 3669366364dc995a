"""The `show` commands: what each shows, for the templates in `screens`."""

import re
from typing import Any

from labtests.simlab.nxos import policies, ports, watchdog
from labtests.simlab.switch_cli import (
    CliCall,
    CliCommand,
    CliSection,
    CliSession,
    EmulatedSwitch,
    clock,
    per_port,
    rows,
)
from labtests.simlab.switch_cli.counters import RATE_WINDOW_S

MODEL, VERSION = "Nexus9000 C93180YC-EX", "9.3(SIMULATED)"
NOMINAL_BITS_PER_S = 25_000_000_000  # of a port without a cable
CONFIGURED = ("class-map", "qos", "network-qos", "queuing", "system")
"""Sections of `show running-config ipqos`, in its order."""

Shown = dict[str, Any]
_NO_LINK = {True: "Administratively down", False: "Link not connected"}


# -- queues and pauses -----------------------------------------------------------------------------


def _queuing(switch: EmulatedSwitch, port: str) -> Shown:
    section = switch.port(port)
    lossless = policies.no_drop(switch) if _pfc_works(switch, port) else frozenset()
    buffers = {queue: policies.PauseBuffer() for queue in lossless}
    return {
        "own": policies.applied(switch, section, "queuing output") is not None,
        "served": list(enumerate(policies.served(switch, section))),
        "queues": switch.statistics.queues(port),
        "shut_drops": [each.aggregate_dropped for each in watchdog.counters(switch, port)],
        "buffers": buffers | policies.pause_buffers(switch, section),
        "drops": switch.statistics.drops(port),
        "lossless": lossless,
        "pauses": switch.statistics.pfc(port),
    }


def _pfc_works(switch: EmulatedSwitch, port: str) -> bool:
    return port in switch.network.ports and switch.network.pfc_operational(port)


def _pfc(switch: EmulatedSwitch, port: str) -> Shown:
    """`bitmap` is hexadecimal, as in recordings: 20 is CoS 5."""
    counts = switch.statistics.pfc(port)
    lossless = policies.no_drop(switch)
    works = _pfc_works(switch, port) and bool(lossless)
    return {
        "port": port,
        "mode": ports.pfc_mode(switch.port(port)).capitalize(),
        "works": works,
        "bitmap": f"{sum(1 << priority for priority in lossless if works):x}",
        "counted": not switch.faults.missing(port, "pfc"),
        "received": [each.received for each in counts],
        "sent": [each.sent for each in counts],
    }


def _watchdog(session: CliSession, call: CliCall) -> str:
    switch = session.switch
    return session.show(
        "pfc-queue",
        on=watchdog.is_on(switch.configuration.root),
        times=watchdog.times(switch),
        rows=[watchdog.row(switch, port) for port in switch.ports],
    )


# -- the running configuration ---------------------------------------------------------------------


def _shown(switch: EmulatedSwitch, section: CliSection) -> tuple[str, list[str]]:
    configuration = switch.configuration
    return configuration.header(section), configuration.body(section, "  ")


def _policies(switch: EmulatedSwitch) -> list[CliSection]:
    found = [each for kind in CONFIGURED for each in switch.configuration.of(kind).values()]
    return [each for each in found if each.kind != "system" or each.lines]


def _configuration(session: CliSession, call: CliCall, *sections: tuple[str, list[str]]) -> str:
    return session.show(
        "running-config",
        command=call.text,
        now=session.switch.now,
        changed_at=session.switch.changed_at,
        version=VERSION,
        sections=sections,
    )


def _running_ipqos(session: CliSession, call: CliCall) -> str:
    switch = session.switch
    return _configuration(session, call, *(_shown(switch, each) for each in _policies(switch)))


def _running_interface(session: CliSession, call: CliCall) -> str:
    switch = session.switch
    each = (_shown(switch, switch.port(port)) for port in session.ports(call))
    return _configuration(session, call, *each)


def _running(session: CliSession, call: CliCall) -> str:
    switch = session.switch
    sections = [*_policies(switch), *switch.configuration.of("interface").values()]
    root = switch.configuration.body(switch.configuration.root)
    lines = [f"hostname {switch.hostname}", *(t for t in root if not t.startswith("hostname "))]
    whole = ((text, list[str]()) for text in lines)
    return _configuration(session, call, *whole, *(_shown(switch, each) for each in sections))


# -- the box ---------------------------------------------------------------------------------------


def _version(session: CliSession, call: CliCall) -> str:
    switch = session.switch
    told: Shown = {"model": MODEL, "version": VERSION, "name": switch.hostname}
    return session.show("version", uptime_s=int(switch.uptime_s()), **told)


def _neighbours(session: CliSession, call: CliCall) -> str:
    switch = session.switch
    heard = ((switch.short(port), switch.lldp_neighbour(port)) for port in switch.ports)
    shown = [
        (port, _dotted(each.chassis), _dotted(each.port_id), each)
        for port, each in heard
        if each is not None
    ]
    return session.show("lldp-neighbors", heard=shown)


def _dotted(text: str) -> str:
    """A MAC address as the switch prints it; anything else as it is."""
    digits = re.sub("[-:.]", "", text)
    if re.fullmatch("[0-9a-fA-F]{12}", digits) is None:
        return text
    return ".".join(digits[n : n + 4].lower() for n in (0, 4, 8))


def _interface(switch: EmulatedSwitch, port: str) -> Shown:
    section, rate = switch.port(port), switch.rate_bits_per_s(port)
    shut = "shutdown" in section.lines
    digits = f"02000000{switch.ports.index(port):04x}"  # locally administered
    mtus = switch.faults.defects.mtus  # the fault has frames: header, VLAN tag and check sequence
    return {
        "state": "up" if rate and not shut else f"down ({_NO_LINK[shut]})",
        "admin": "down" if shut else "up",
        "address": f"{digits[:4]}.{digits[4:8]}.{digits[8:]}",
        "description": section.rest("description"),
        "mtu": mtus[port] - 22 if port in mtus else ports.mtu_bytes(section),
        "rate_bits_per_s": rate or NOMINAL_BITS_PER_S,
        "linked": rate is not None and not shut,
        "window_s": RATE_WINDOW_S,
        "traffic": switch.statistics.traffic(port),
        "per_s": switch.statistics.traffic_per_s(port),
        "crc_errors": switch.crc_errors(port),
    }  # fmt: skip


DISPLAYS = {
    "show version": CliCommand(_version),
    "show clock": clock(),
    "show lldp neighbors detail": CliCommand(_neighbours),
    "show interface [ <port> ]": per_port("interface", _interface),
    "show interface [ <port> ] priority-flow-control": rows("pfc", _pfc),
    "show interface [ <port> ] priority-flow-control detail": rows("pfc-detail", _pfc),
    "show queuing interface [ <port> ]": per_port("queuing", _queuing),
    "show queuing pfc-queue": CliCommand(_watchdog),
    "show queuing pfc-queue interface <port> detail": per_port("pfc-queue-detail", watchdog.detail),
    "show running-config": CliCommand(_running),
    "show running-config ipqos": CliCommand(_running_ipqos),
    "show running-config interface [ <port> ]": CliCommand(_running_interface),
}
