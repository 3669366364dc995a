"""The `show` commands: in JSON (`| json-print`) as recorded, the others by the templates in
`screens`."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from labtests.simlab.onyx import pools, ports
from labtests.simlab.onyx.ports import QUEUES
from labtests.simlab.onyx.words import PortSpan, number
from labtests.simlab.switch_cli import CliCall, CliCommand, CliSession, EmulatedSwitch, clock

MODEL, VERSION = "x86onie", "3.10.SIMULATED"
HEADER_BYTES = 22

Shown = dict[str, Any]
Handler = Callable[[CliSession, CliCall], Any]
_ENABLED = {True: "Enabled", False: "Disabled"}


def _json(shown: Handler) -> CliCommand:
    return CliCommand(lambda session, call: json.dumps(shown(session, call), indent=4) + "\n")


def _named(session: CliSession, call: CliCall) -> PortSpan:
    """The ports named in the command, or all."""
    return call.values.get("ports", PortSpan(session.switch.ports))  # type: ignore[no-any-return]


def _of_each(shown: Callable[[EmulatedSwitch, str], list[Shown]]) -> CliCommand:
    """`[{"Eth1/1": [...]}]`."""

    def whole(session: CliSession, call: CliCall) -> list[Shown]:
        return [{port: shown(session.switch, port) for port in _named(session, call)}]

    return _json(whole)


# -- PFC -------------------------------------------------------------------------------------------


def _pfc_rows(session: CliSession, call: CliCall) -> dict[str, str]:
    """Whether it works, by port: `Auto` stands there also by force (user guide)."""
    switch = session.switch
    named = _named(session, call)
    return {port: _ENABLED[ports.pfc_on(switch, switch.port(port))] for port in named}


def _pfc_lists(switch: EmulatedSwitch) -> Shown:
    on = ports.priorities(switch)
    return {
        "PFC": _ENABLED[ports.pfc_enabled(switch)].lower(),
        "Priority Enabled List": " ".join(str(n) for n in range(8) if n in on),
        "Priority Disabled List": " ".join(str(n) for n in range(8) if n not in on),
    }


def _pfc_json(session: CliSession, call: CliCall) -> list[Shown]:
    rows = _pfc_rows(session, call)
    told = {port: [{"PFC admin": "Auto", "PFC oper": oper}] for port, oper in rows.items()}
    return [_pfc_lists(session.switch), told]


def _pfc_text(session: CliSession, call: CliCall) -> str:
    rows = _pfc_rows(session, call)
    return session.show("priority-flow-control", rows=rows, lists=_pfc_lists(session.switch))


# -- QoS -------------------------------------------------------------------------------------------


def _qos(switch: EmulatedSwitch, port: str) -> list[Shown]:
    section = switch.port(port)
    mapped = ports.dscp_map(section)
    told: Shown = {}
    for priority in QUEUES:
        dscps = " ".join(str(dscp) for dscp, each in enumerate(mapped) if each == priority)
        row = {"switch-priority": str(priority), "DSCP": dscps}
        told[f"{priority}(0) {priority}(1)"] = [row]
    rewritten = {
        str(n): [{"PCP(DEI)": f"{n}(0)", "TC": str(n), "DSCP": str(8 * n)}] for n in QUEUES
    }
    return [
        {
            "PCP,DEI rewrite": "disabled",
            "Default switch-priority": "0",
            "IP PCP;DEI rewrite": "disable",
            "Default DEI": "0",
            "Default PCP": "0",
            "Trust mode": ports.trust(section),
            "DSCP rewrite": "disabled",
        },
        {"PCP(DEI); DSCP to switch-priority mapping": [told]},
        {
            "PCP(DEI); DSCP rewrite mapping (switch-priority to PCP(DEI); DSCP; traffic-class)": [
                {"Egress Interface": port},
                rewritten,
            ]
        },
    ]


def _ets(switch: EmulatedSwitch, port: str) -> list[Shown]:
    weights = [ports.weight(switch.port(port), queue) for queue in QUEUES]
    whole = sum(weight or 0 for weight in weights) or 1
    flags = {
        "S.Mode": "Scheduling Mode [Strict/WRR]",
        "Bw.Sh": "Bandwidth Shaper",
        "D": "-",
        "W": "Weight",
        "Bw.Gr": "Bandwidth Guaranteed",
    }
    of_each = {
        str(queue): [
            {
                "S.Mode": "Strict" if weight is None else "WRR",
                "BW Sh.(Mbps)": "N/A",
                "W(%)": str(100 * (weight or 0) // whole),
                "BW Gr.(Mbps)": "0",
                "W": str(weight or 0),
            }
        ]
        for queue, weight in enumerate(weights)
    }
    return [
        {"Multicast unaware mapping": "disabled", "Interface Bandwidth Shape [Mbps]": "N/A"},
        {"Flags": [flags]},
        {"ETS per TC": [of_each]},
    ]


def _congestion(session: CliSession, call: CliCall) -> list[Shown]:
    switch, port = session.switch, _named(session, call)[0]
    queues = switch.statistics.queues(port)
    marks = str(sum(each.marked_packets for each in queues))
    first = {"Interface ethernet": number(port), "ECN marked packets": marks}
    return [first, *(_curve(switch, port, n, each) for n, each in enumerate(queues))]


def _curve(switch: EmulatedSwitch, port: str, queue: int, counted: Any) -> Shown:
    found = ports.curve(switch.port(port), queue)
    if found is None:
        return {"header": f"TC-{queue}", "Mode": "none"}
    mode, unit, low, high = found
    end = " KB" if unit == "absolute" else "%"
    return {
        "Threshold mode": unit,
        "RED dropped packets": str(counted.wred_dropped_packets),
        "header": f"TC-{queue}",
        "Mode": mode,
        "Maximum threshold": f"{high}{end}",
        "Minimum threshold": f"{low}{end}",
    }


# -- ports -----------------------------------------------------------------------------------------


def _interface(switch: EmulatedSwitch, port: str) -> list[Shown]:
    section, facts = switch.port(port), switch.port_facts(port)
    usual = section.value("mtu", "mtu", ports.MTU) + HEADER_BYTES
    longest = facts["frame_bytes"] or usual
    sides = ((side, section.rest(f"flowcontrol {side}").split()) for side in ("receive", "send"))
    flow = " ".join(f"{side} {words[0] if words else 'off'}" for side, words in sides)
    return [
        {
            "Admin state": _ENABLED[not facts["shut"]],
            "Operational state": "Up" if facts["linked"] else "Down",
            "Description": facts["description"] or "N\\A",
            "Mac address": ":".join(re.findall("..", facts["address"])),
            "MTU": f"{longest - HEADER_BYTES} bytes(Maximum packet size {longest} bytes)",
            "Fec": "auto",
            "Flow-control": flow,
            "Actual speed": f"{facts['rate_bits_per_s'] // 10**9} Gbps",
        }
    ]


def _interface_text(session: CliSession, call: CliCall) -> str:
    told = {port: _interface(session.switch, port)[0] for port in _named(session, call)}
    return session.show("interface", ports=told)


def _counters(switch: EmulatedSwitch, port: str) -> list[Shown]:
    frames, lost = switch.statistics.traffic(port), switch.statistics.drops(port).input_drops
    broken = switch.crc_errors(port)
    tail = switch.dropped_out(port)
    received = {
        "packets": frames.rx_packets,
        "bytes": frames.rx_bytes,
        "error packets": broken,
        "fcs errors": broken,
        "discard packets": lost,
    }
    sent = {
        "packets": frames.tx_packets,
        "bytes": frames.tx_bytes,
        "error packets": 0,
        "discard packets": tail,
    }
    sides = {"Rx": received, "Tx": sent}
    return [{side: [{w: str(n) for w, n in told.items()}]} for side, told in sides.items()]


def _counted(
    screen: str, numbers: Callable[[EmulatedSwitch, str, int], Iterator[tuple[str, int]]]
) -> CliCommand:
    """A block for each port, of one class or priority."""

    def blocks(session: CliSession, call: CliCall) -> str:
        switch, one = session.switch, call.values["queue"]
        found = {port: list(numbers(switch, port, one)) for port in _named(session, call)}
        return session.show(screen, ports=found, number=one)

    return CliCommand(blocks)


def _class_counts(switch: EmulatedSwitch, port: str, queue: int) -> Iterator[tuple[str, int]]:
    hidden, counted = switch.hidden(port), switch.statistics.queues(port)[queue]
    if f"queue-{queue}" in hidden:
        return
    tail = counted.dropped_packets - counted.wred_dropped_packets
    yield "packets", counted.forwarded_packets
    yield "bytes", counted.forwarded_bytes
    yield "queue depth", counted.length_cells
    if "queue-drops" not in hidden:
        yield "unicast no buffer discard", tail
        yield "WRED discard", counted.wred_dropped_packets


def _pauses(switch: EmulatedSwitch, port: str, priority: int) -> Iterator[tuple[str, int]]:
    if not switch.faults.missing(port, "pfc"):
        counted = switch.statistics.pfc(port)[priority]
        yield "Rx", counted.received
        yield "Tx", counted.sent


# -- the box ---------------------------------------------------------------------------------------


def _version(session: CliSession, call: CliCall) -> Shown:
    return {
        "Product name": "Onyx",
        "Product release": VERSION,
        "Product model": MODEL,
        "Uptime": f"{session.switch.uptime_s():.3f}s",
    }


def _version_text(session: CliSession, call: CliCall) -> str:
    return session.show("version", told=_version(session, call))


_SUBTYPES = {"Interface name": "Interface Name (5)", "MAC address": "Mac Address (3)"}
"""The latter from memory, with the number of IEEE 802.1AB."""


def _neighbours(session: CliSession, call: CliCall) -> list[Shown]:
    heard = ((port, session.switch.lldp_neighbour(port)) for port in session.switch.ports)
    found = [
        {
            port: [
                {
                    "port id subtype": _SUBTYPES[each.port_id_type],
                    "Remote chassis id": each.chassis,
                    "Remote system description": "Not Advertised",
                    "Remote port-id": each.port_id,
                    "Remote port description": each.description,
                    "Remote system name": each.name,
                }
            ]
        }
        for port, told in heard
        if told is not None and (each := told.with_colons())
    ]
    return found or [{"Lines": ["", "No lldp remote information.", ""]}]


def _running(session: CliSession, call: CliCall) -> str:
    switch, configuration = session.switch, session.switch.configuration
    of_ports = [
        f"interface ethernet {number(name)} {line}"
        for name, port in configuration.of("interface").items()
        for line in configuration.body(port)
    ]
    pfc = "dcb priority-flow-control"
    on = [f"{pfc} enable force"] if ports.pfc_enabled(switch) else []
    root = configuration.body(configuration.root)
    return session.show(
        "running-config",
        now=switch.now,
        host=switch.hostname,
        pools=pools.lines(switch),
        of_ports=[text for text in of_ports if pfc not in text],
        pfc=[*on, *(text for text in (*root, *of_ports) if pfc in text)],
    )


_PORT = "show interfaces ethernet [ <ports> ]"
DISPLAYS = {
    "show version": CliCommand(_version_text),
    "show version | json-print": _json(_version),
    "show clock": clock(),
    "show lldp interfaces ethernet remote | json-print": _json(_neighbours),
    "show dcb priority-flow-control [ interface ethernet <ports> ]": CliCommand(_pfc_text),
    "show dcb priority-flow-control [ interface ethernet <ports> ] | json-print": _json(_pfc_json),
    "show dcb ets interface ethernet <ports> | json-print": _of_each(_ets),
    "show qos interface ethernet <ports> | json-print": _of_each(_qos),
    "show interfaces ethernet <ports> congestion-control | json-print": _json(_congestion),
    _PORT: CliCommand(_interface_text),
    f"{_PORT} | json-print": _of_each(_interface),
    f"{_PORT} counters | json-print": _of_each(_counters),
    f"{_PORT} counters tc <queue>": _counted("counters-tc", _class_counts),
    f"{_PORT} counters pfc prio <queue>": _counted("counters-pfc", _pauses),
    "show traffic pool <pool> | json-print": _json(pools.shown),
    "show running-config": CliCommand(_running),
}
