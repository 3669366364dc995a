"""The `show` commands: what each shows, for the templates in `screens`."""

from typing import Any

from labtests.simlab import switch_cli as kit
from labtests.simlab.nxos import fcoe, policies, ports, watchdog

MODEL, VERSION = "Nexus9000 C93180YC-EX", "9.3(SIMULATED)"
INVENTORY = {"model": MODEL.partition(" C")[2], "serial": "SIMULATED"}
CONFIGURED = ("class-map", "qos", "network-qos", "queuing", "system")
"""Sections of `show running-config ipqos`, in its order."""

Shown = dict[str, Any]
KINDS = ("qos", "queuing", "network-qos")


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
    return {
        "port": port,
        "mode": ports.pfc_mode(switch.port(port)).capitalize(),
        "lossless": policies.no_drop(switch) if switch.pfc_works(port) else (),
        "counted": not switch.faults.missing(port, "pfc"),
        "counts": switch.statistics.pfc(port),
    }


def _watchdog(session: kit.CliSession, call: kit.CliCall) -> str:
    switch = session.switch
    rows = [{"port": port, **watchdog.shown(switch, port)} for port in session.ports(call)]
    return session.show("pfc-queue", rows=rows, **watchdog.of_switch(switch))


# -- the running configuration ---------------------------------------------------------------------


def _running(session: kit.CliSession, call: kit.CliCall) -> str:
    """All of it, or what is about policies (`ipqos`) or interfaces alone; or what is saved."""
    switch, saved = session.switch, "startup-config" in call.keywords
    kept = switch.startup if saved else switch.configuration
    of, some = kept.of, {"ipqos", "interface"} & set(call.keywords)
    sections = [] if "interface" in some else [each for k in CONFIGURED for each in of(k).values()]
    sections = [each for each in sections if each.kind != "system" or each.lines]
    if "ipqos" not in some:
        sections += [of("interface")[port] for port in session.ports(call)]
        sections += [] if "port" in call.values else of(fcoe.VFC).values()
    name, root = kept.root.rest("hostname") or switch.name, kept.body(kept.root)
    lines = [f"hostname {name}", *(t for t in root if not t.startswith("hostname "))]
    whole = ((text, list[str]()) for text in lines if not some)
    return session.show(
        "running-config",
        command=call.text,
        switch=switch,
        saved=saved,
        version=VERSION,
        sections=[*whole, *(kept.shown(each, "  ") for each in sections)],
    )


# -- the box ---------------------------------------------------------------------------------------


def box_told(switch: kit.EmulatedSwitch) -> Shown:
    """What it is, and for how long."""
    whole_s = int(switch.uptime_s())
    return {"model": MODEL, "version": VERSION, "name": switch.hostname, "uptime_s": whole_s}


def _neighbour(switch: kit.EmulatedSwitch, port: str) -> Shown | None:
    heard = switch.lldp_neighbour(port)
    return None if heard is None else {"heard": heard}


def interface_shown(switch: kit.EmulatedSwitch, port: str) -> Shown:
    """What is told of a port."""
    told = switch.port_facts(port) | switch.port_counts(port)
    # the fault has frames: header, VLAN tag and check sequence
    return told | {"mtu": (told["frame_bytes"] or ports.mtu_bytes(switch.port(port)) + 22) - 22}


def _errors(switch: kit.EmulatedSwitch, port: str) -> Shown:
    lost = switch.dropped_out(port)
    return {**switch.port_counts(port), "out_discards": lost}


def _policy_maps(*kinds: str, system: bool = False) -> kit.CliCommand:
    """Policy-maps of these types; `system`: those that are applied to the whole switch."""

    def show(session: kit.CliSession, call: kit.CliCall) -> str:
        of, name = session.switch.configuration, call.values.get("policy")
        here = of.find(policies.SYSTEM)
        applied = [policies.applied(session.switch, here, slot) for slot in policies.SYSTEM_SLOTS]
        types = []
        for kind in kinds:
            found = [of.find(kit.top(kind, name))] if name else of.of(kind).values()
            meant = [each for each in found if not system or each in applied]
            types.append((kind, [of.shown(each, "  ") for each in meant]))
        return session.show("policies", types=types)

    return kit.CliCommand(show)


def _log(session: kit.CliSession, call: kit.CliCall) -> str:
    """All of it, or the last lines; `count`: how many there are."""
    log = kit.log_of(session)
    lines = log[-call.values.get("lines", len(log)) :]
    return f"{len(log)}\n" if "count" in call.keywords else "".join(f"{each}\n" for each in lines)


_PFC_QUEUE = "show queuing pfc-queue"
DISPLAYS = {
    "show lldp neighbors": kit.rows("lldp-list", _neighbour),
    "show interface brief": kit.rows("interface-brief", kit.EmulatedSwitch.port_facts),
    "show interface [ <port> ] status": kit.rows("interface-status", kit.EmulatedSwitch.port_facts),
    "show interface [ <port> ] counters": kit.rows("counters", kit.EmulatedSwitch.port_counts),
    "show interface [ <port> ] counters errors": kit.rows("counters-errors", _errors),
    "show policy-map": _policy_maps(*KINDS),
    **{f"show policy-map type {kind} [ <policy> ]": _policy_maps(kind) for kind in KINDS},
    "show policy-map system type network-qos": _policy_maps("network-qos", system=True),
    "show policy-map system type queuing": _policy_maps("queuing", system=True),
    "show version": kit.CliCommand(lambda s, _: s.show("version", **box_told(s.switch))),
    "show inventory": kit.CliCommand(lambda s, _: s.show("inventory", **INVENTORY)),
    "show clock": kit.clock(),
    **{
        f"show logging {some}": kit.CliCommand(_log)
        for some in ("logfile", "logfile | count", "last <lines>")
    },
    "show lldp neighbors detail": kit.rows("lldp-neighbors", _neighbour),
    "show interface [ <port> ]": kit.per_port("interface", interface_shown),
    "show interface [ <port> ] priority-flow-control": kit.rows("pfc", _pfc),
    "show interface [ <port> ] priority-flow-control detail": kit.rows("pfc-detail", _pfc),
    "show queuing interface [ <port> ]": kit.per_port("queuing", queuing_shown),
    f"{_PFC_QUEUE} [ interface <port> ]": kit.CliCommand(_watchdog),
    f"{_PFC_QUEUE} interface <port> detail": kit.per_port("pfc-queue-detail", watchdog.shown),
    "show running-config [ ipqos | interface [ <port> ] ]": kit.CliCommand(_running),
    "show startup-config": kit.CliCommand(_running),
}
