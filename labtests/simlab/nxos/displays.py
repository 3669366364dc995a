"""The `show` commands: what each shows, for the templates in `screens`."""

import re
from typing import Any

from labtests.simlab import switch_cli as kit
from labtests.simlab.nxos import fcoe, policies, ports, watchdog
from labtests.simlab.switch_cli.counters import RATE_WINDOW_S

MODEL, VERSION = "Nexus9000 C93180YC-EX", "9.3(SIMULATED)"
INVENTORY = {"model": MODEL.partition(" C")[2], "serial": "SIMULATED"}
NOMINAL_BITS_PER_S = 25_000_000_000  # of a port without a cable
CONFIGURED = ("class-map", "qos", "network-qos", "queuing", "system")
"""Sections of `show running-config ipqos`, in its order."""

Shown = dict[str, Any]
KINDS = ("qos", "queuing", "network-qos")
_NO_LINK = {True: "Administratively down", False: "Link not connected"}


# -- queues and pauses -----------------------------------------------------------------------------


def queuing_shown(switch: kit.EmulatedSwitch, port: str) -> Shown:
    """How queues are served, and what they and the port count."""
    section = switch.port(port)
    lossless = policies.no_drop(switch) if switch.pfc_works(port) else frozenset()
    buffers = {queue: policies.usual_buffer(switch, port, queue) for queue in lossless}
    return {
        "own": policies.applied(switch, section, "queuing output") is not None,
        "served": list(enumerate(policies.served(switch, section))),
        "queues": switch.statistics.queues(port),
        "shut_drops": [each.aggregate_dropped for each in switch.guard_counters(port)],
        "buffers": buffers | policies.pause_buffers(switch, section),
        "drops": switch.statistics.drops(port),
        "lossless": lossless,
        "pauses": switch.statistics.pfc(port),
    }


def _pfc(switch: kit.EmulatedSwitch, port: str) -> Shown:
    """`bitmap` is hexadecimal, as in recordings: 20 is CoS 5."""
    counts = switch.statistics.pfc(port)
    lossless = policies.no_drop(switch)
    works = switch.pfc_works(port) and bool(lossless)
    return {
        "port": port,
        "mode": ports.pfc_mode(switch.port(port)).capitalize(),
        "works": works,
        "bitmap": f"{sum(1 << priority for priority in lossless if works):x}",
        "counted": not switch.faults.missing(port, "pfc"),
        "received": [each.received for each in counts],
        "sent": [each.sent for each in counts],
    }


def _watchdog(session: kit.CliSession, call: kit.CliCall) -> str:
    rows = [watchdog.row(session.switch, port) for port in session.ports(call)]
    return session.show("pfc-queue", rows=rows, **watchdog.of_switch(session.switch))


# -- the running configuration ---------------------------------------------------------------------


def _shown(switch: kit.EmulatedSwitch, section: kit.CliSection) -> tuple[str, list[str]]:
    configuration = switch.configuration
    return configuration.header(section), configuration.body(section, "  ")


def _running(session: kit.CliSession, call: kit.CliCall) -> str:
    """All of it, or what is about policies (`ipqos`) or interfaces alone."""
    switch, of = session.switch, session.switch.configuration.of
    some = {"ipqos", "interface"} & set(call.keywords)
    sections = [] if "interface" in some else [each for k in CONFIGURED for each in of(k).values()]
    sections = [each for each in sections if each.kind != "system" or each.lines]
    if "ipqos" not in some:
        sections += [switch.port(port) for port in session.ports(call)]
        sections += [] if "port" in call.values else of(fcoe.VFC).values()
    root = switch.configuration.body(switch.configuration.root)
    lines = [f"hostname {switch.hostname}", *(t for t in root if not t.startswith("hostname "))]
    whole = ((text, list[str]()) for text in lines if not some)
    return session.show(
        "running-config",
        command=call.text,
        now=switch.now,
        changed_at=switch.changed_at,
        version=VERSION,
        sections=[*whole, *(_shown(switch, each) for each in sections)],
    )


# -- the box ---------------------------------------------------------------------------------------


def box_told(switch: kit.EmulatedSwitch) -> Shown:
    """What it is, and for how long."""
    told: Shown = {"model": MODEL, "version": VERSION, "name": switch.hostname}
    return told | {"uptime_s": int(switch.uptime_s())}


def _neighbour(switch: kit.EmulatedSwitch, port: str) -> Shown | None:
    heard = switch.lldp_neighbour(port)
    if heard is None:
        return None
    return {"chassis": _dotted(heard.chassis), "port_id": _dotted(heard.port_id), "heard": heard}


def _dotted(text: str) -> str:
    """A MAC address as the switch prints it; anything else as it is."""
    digits = re.sub("[-:.]", "", text)
    if re.fullmatch("[0-9a-fA-F]{12}", digits) is None:
        return text
    return ".".join(digits[n : n + 4].lower() for n in (0, 4, 8))


def interface_shown(switch: kit.EmulatedSwitch, port: str) -> Shown:
    """What is told of a port."""
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


def _brief(switch: kit.EmulatedSwitch, port: str) -> Shown:
    told = interface_shown(switch, port)
    up, rate = told["linked"], f"{told['rate_bits_per_s'] // 10**9}G"
    down = {"up": "notconnec", "down": "disabled"}[told["admin"]]
    return {
        "status": "up" if up else "down",
        "reason": "none" if up else _NO_LINK[told["admin"] == "down"],
        "speed": f"{rate if up else 'auto'}(D)",
        "connected": "connected" if up else down,
        "duplex": "full" if up else "auto",
        "short": rate if up else "auto",
        "description": told["description"],
    }


def _errors(switch: kit.EmulatedSwitch, port: str) -> Shown:
    """What was dropped on the way out, and in; frames that came broken."""
    return {
        "crc": switch.crc_errors(port),
        "out_discards": sum(each.dropped_packets for each in switch.statistics.queues(port)),
        "in_discards": switch.refused(port),
    }


def _policy_maps(*kinds: str, system: bool = False) -> kit.CliCommand:
    """Policy-maps of these types; `system`: those that are applied to the whole switch."""

    def show(session: kit.CliSession, call: kit.CliCall) -> str:
        switch, name = session.switch, call.values.get("policy")
        applied = [policies.applied(switch, switch.configuration.find(policies.SYSTEM), kind)
                   for kind in ("network-qos", "queuing input", "queuing output")]  # fmt: skip
        types = []
        for kind in kinds:
            found = switch.configuration.of(kind).values()
            meant = [switch.configuration.find(kit.top(kind, name))] if name else found
            meant = [each for each in meant if not system or each in applied]
            types.append((kind, [_shown(switch, each) for each in meant]))
        return session.show("policies", types=types)

    return kit.CliCommand(show)


_PFC_QUEUE = "show queuing pfc-queue"
DISPLAYS = {
    "show lldp neighbors": kit.rows("lldp-list", _neighbour),
    "show interface brief": kit.rows("interface-brief", _brief),
    "show interface [ <port> ] status": kit.rows("interface-status", _brief),
    "show interface [ <port> ] counters": kit.rows(
        "counters", lambda switch, port: {"traffic": switch.statistics.traffic(port)._asdict()}
    ),
    "show interface [ <port> ] counters errors": kit.rows("counters-errors", _errors),
    "show policy-map": _policy_maps(*KINDS),
    **{f"show policy-map type {kind} [ <policy> ]": _policy_maps(kind) for kind in KINDS},
    "show policy-map system type network-qos": _policy_maps("network-qos", system=True),
    "show policy-map system type queuing": _policy_maps("queuing", system=True),
    "show version": kit.CliCommand(lambda s, _: s.show("version", **box_told(s.switch))),
    "show inventory": kit.CliCommand(lambda s, _: s.show("inventory", **INVENTORY)),
    "show clock": kit.clock(),
    "show lldp neighbors detail": kit.rows("lldp-neighbors", _neighbour),
    "show interface [ <port> ]": kit.per_port("interface", interface_shown),
    "show interface [ <port> ] priority-flow-control": kit.rows("pfc", _pfc),
    "show interface [ <port> ] priority-flow-control detail": kit.rows("pfc-detail", _pfc),
    "show queuing interface [ <port> ]": kit.per_port("queuing", queuing_shown),
    f"{_PFC_QUEUE} [ interface <port> ]": kit.CliCommand(_watchdog),
    f"{_PFC_QUEUE} interface <port> detail": kit.per_port("pfc-queue-detail", watchdog.detail),
    **{
        f"show running-config{some}": kit.CliCommand(_running)
        for some in ("", " ipqos", " interface [ <port> ]")
    },
}
