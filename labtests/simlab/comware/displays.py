"""The `display` commands: what each shows, for the templates in `screens`."""

from functools import partial
from typing import Any

from labtests.simlab import switch_cli as kit
from labtests.simlab.comware import dcbx, edge, maps, ports, scheduling, wred
from labtests.simlab.comware.words import QUEUE_NAMES

MODEL = "S6550XE-56HF-HI"
OWN_ADDRESS = "0200-0000-ffff"  # locally administered
PING_MS = "0.163"  # made up: no packet of it is in the network
MAPS = ("dot1p-lp", "dscp-dot1p", "dscp-lp")
SHOWN_MAPS = ("dscp-dot1p", "dot1p-lp")
"""In the running configuration, in its order."""

Shown = dict[str, Any]


# -- counters ------------------------------------------------------------------------------------


def _packet_drop(switch: kit.EmulatedSwitch, port: str) -> Shown:
    return {"title": port, "indent": "  ", "drops": switch.statistics.drops(port)}


def _packet_drop_summary(session: kit.CliSession, call: kit.CliCall) -> str:
    drops = session.switch.statistics.all_drops()
    title = "All interfaces"
    return session.show("packet-drop", title=title, indent="   ", drops=drops, hidden=())


def _pfc(switch: kit.EmulatedSwitch, port: str) -> Shown:
    settings, counts = switch.port(port), switch.statistics.pfc(port)
    counted = {} if switch.faults.missing(port, "pfc") else dict(enumerate(counts))
    return {
        "mode": ports.pfc_mode(settings),
        "operational": switch.pfc_works(port),
        "priorities": settings.rest("priority-flow-control no-drop dot1p"),
        "counts": {p: pfc for p, pfc in counted.items() if pfc.received or pfc.sent},
    }


# -- settings ------------------------------------------------------------------------------------


def _trust(switch: kit.EmulatedSwitch, port: str) -> Shown:
    return dict(zip(("source", "override"), ports.trust(switch.port(port)), strict=True))


def _wred_interface(switch: kit.EmulatedSwitch, port: str) -> Shown | None:
    """Only ports that apply a table are shown: the others drop at the tail."""
    table = wred.applied(switch.port(port))
    return None if table is None else {"table": table}


def _wred_table(session: kit.CliSession, call: kit.CliCall) -> str:
    configuration = session.switch.configuration
    if "table" in call.values:
        tables = [configuration.find(kit.top(wred.TABLE, call.values["table"]))]
    else:
        tables = list(configuration.of(wred.TABLE).values())
    shown = (session.show("wred-table", name=t.name, queues=wred.queues(t)) for t in tables)
    return "\n".join(shown)


def _map_table(session: kit.CliSession, call: kit.CliCall) -> str:
    names = [name for name in MAPS if name in call.keywords] or MAPS
    shown = ((name, maps.map_of(session.switch, name)) for name in names)
    return "\n".join(session.show("map-table", name=name, values=map) for name, map in shown)


def _schedule(switch: kit.EmulatedSwitch, port: str, discipline: str) -> Shown | None:
    """Only ports that are served this way are shown."""
    current = scheduling.schedule(switch.port(port))
    shown = current.discipline == discipline
    return {"schedule": current, "names": QUEUE_NAMES} if shown else None


# -- the running configuration -------------------------------------------------------------------

SectionTexts = list[tuple[str, list[str]]]
"""Headers and bodies."""


def _sections(session: kit.CliSession, *sections: tuple[str, list[str]]) -> str:
    return session.show("configuration", sections=sections)


def _this(session: kit.CliSession, call: kit.CliCall) -> str:
    if session.section.path:
        return _sections(session, session.switch.configuration.shown(session.section))
    in_system_view = session.view != session.cli.first_view
    return _sections(session, *_whole(session.switch)[:in_system_view])


def _current_interface(session: kit.CliSession, call: kit.CliCall) -> str:
    switch = session.switch
    ports = (switch.port(port) for port in session.ports(call))
    return _sections(session, *map(switch.configuration.shown, ports))


def _current_configuration(session: kit.CliSession, call: kit.CliCall) -> str:
    switch, configuration = session.switch, session.switch.configuration
    shown = [section for name in SHOWN_MAPS for section in configuration.of(name).values()]
    shown = [section for section in shown if section.lines]
    tables = configuration.of(wred.TABLE)
    shown += [table for name, table in tables.items() if name != wred.DEFAULT_TABLE]
    shown += [each for kind in edge.KINDS for each in configuration.of(kind).values()]
    shown += [*configuration.of("interface").values(), *configuration.of("telemetry").values()]
    version = (" version 7.1.070, Release SIMULATED", list[str]())
    return _sections(session, version, *_whole(switch), *map(configuration.shown, shown))


def _whole(switch: kit.EmulatedSwitch) -> SectionTexts:
    """What is configured for the whole switch: its name first."""
    lines = [f" {line}" for line in switch.configuration.body(switch.configuration.root)]
    others = [(line, list[str]()) for line in lines if not line.startswith(" sysname")]
    return [(f" sysname {switch.hostname}", []), *others]


# -- the box -------------------------------------------------------------------------------------


def _version(session: kit.CliSession, call: kit.CliCall) -> str:
    return session.show("version", model=MODEL, uptime_s=int(session.switch.uptime_s()))


def _log(session: kit.CliSession, call: kit.CliCall) -> str:
    """Of which no message was ever lost; `reverse`: the newest first."""
    log = kit.log_of(session)
    entries = log[::-1] if "reverse" in call.keywords else log
    return session.show("logbuffer", entries=entries)


def _manufacture(session: kit.CliSession, call: kit.CliCall) -> str:
    """What is not known of a box that is emulated says so, or NONE."""
    named = {"serial": "SIMULATED", "vendor": "SIMULATED", "made": "NONE"}
    return session.show(
        "device-manuinfo", model=MODEL, hardware_address=OWN_ADDRESS.upper(), **named
    )


def _neighbour(switch: kit.EmulatedSwitch, port: str) -> Shown | None:
    heard = switch.lldp_neighbour(port)
    if heard is None:
        return None
    told = dcbx.of_neighbour(switch, port)
    return {"number": switch.ports.index(port) + 1, "heard": heard, "dcbx": told}


def _announced(switch: kit.EmulatedSwitch, port: str) -> Shown:
    """What it tells by LLDP on this port."""
    told = ports.dcbx_told(switch, switch.port(port))
    description = switch.announces(port).description
    number = switch.ports.index(port) + 1
    return {"number": number, "description": description, "dcbx": dcbx.shown(told)}


def _brief(switch: kit.EmulatedSwitch, port: str) -> Shown:
    told = switch.port_facts(port)
    speed = f"{_short_speed(told['rate_bits_per_s'])}(a)"
    link = "ADM" if told["shut"] else "UP" if told["linked"] else "DOWN"
    return told | {"link": link, "speed": speed if told["linked"] else "auto"}


def _short_speed(bits_per_s: int) -> str:
    """As tables abbreviate a rate: 10G, 100M."""
    megabits = bits_per_s // 1_000_000
    return f"{megabits // 1000}G" if megabits % 1000 == 0 else f"{megabits}M"


def _interface(switch: kit.EmulatedSwitch, port: str) -> Shown:
    told = switch.port_facts(port) | switch.port_counts(port)
    if told["frame_bytes"] is None:
        told["frame_bytes"] = ports.frame_bytes(switch.port(port))
    return told


def _counters(switch: kit.EmulatedSwitch, port: str, way: str) -> Shown:
    """Frames of one direction. Those of the network go to one receiver each."""
    packets = getattr(switch.statistics.traffic(port), f"{way}_packets")
    errors = switch.crc_errors(port) if way == "rx" else 0
    return {"packets": packets, "broadcasts": 0, "multicasts": 0, "errors": errors}


def _rate(switch: kit.EmulatedSwitch, port: str, way: str) -> Shown:
    """Of the last seconds; use as a share of the link, with preamble and gap."""
    per_s, rate = switch.statistics.traffic_per_s(port), switch.rate_bits_per_s(port)
    packets = getattr(per_s, f"{way}_packets")
    bits = 8 * (getattr(per_s, f"{way}_bytes") + switch.cli.counting.overhead_bytes * packets)
    return {"packets": packets, "usage": round(100 * bits / rate) if rate else 0}


def _transceiver(switch: kit.EmulatedSwitch, port: str) -> Shown:
    return {"present": switch.rate_bits_per_s(port) is not None}


def _ping(session: kit.CliSession, call: kit.CliCall) -> str:
    host, count = call.values["host"], call.values.get("count", 5)
    own = host == "localhost" or host.startswith("127.")
    return session.show("ping", host=host, count=count, answered=own, ms=PING_MS)


_WAYS = {"inbound": "rx", "outbound": "tx"}
_COUNTED = {"counters": _counters, "counters rate": _rate}
PORT, AT_PORT = "[ <port> ]", "[ interface <port> ]"
DISPLAYS = {
    "display version": kit.CliCommand(_version),
    "display clock": kit.clock(),
    "display logbuffer [ reverse ]": kit.CliCommand(_log),
    f"display lldp neighbor-information {AT_PORT}": kit.per_port("lldp-neighbor-brief", _neighbour),
    "display device manuinfo": kit.CliCommand(_manufacture),
    f"display transceiver diagnosis interface {PORT}": kit.per_port(
        "transceiver-diagnosis", _transceiver
    ),
    f"display lldp neighbor-information {AT_PORT} verbose": kit.per_port(
        "lldp-neighbor", _neighbour
    ),
    "display lldp local-information interface <port>": kit.per_port("lldp-local", _announced),
    "display lldp neighbor-information list": kit.rows("lldp-list", _neighbour),
    "display device": kit.CliCommand(lambda session, call: session.show("device", model=MODEL)),
    f"display transceiver interface {PORT}": kit.per_port("transceiver", _transceiver),
    **{
        f"display {what} {way} interface {PORT}": kit.rows(
            what.replace(" ", "-"), partial(counted, way=word)
        )
        for what, counted in _COUNTED.items()
        for way, word in _WAYS.items()
    },
    "ping [ -c <count> ] <host>": kit.CliCommand(_ping),
    f"display interface {PORT}": kit.per_port("interface", _interface),
    f"display interface {PORT} brief": kit.rows("interface-brief", _brief),
    "display this": kit.CliCommand(_this),
    "display current-configuration": kit.CliCommand(_current_configuration),
    f"display current-configuration interface {PORT}": kit.CliCommand(_current_interface),
    f"display priority-flow-control interface {PORT}": kit.rows("pfc", _pfc),
    f"display qos queue-statistics interface {PORT} outbound": kit.per_port(
        "queue-statistics", lambda switch, port: {"queues": switch.statistics.queues(port)}
    ),
    "display packet-drop summary": kit.CliCommand(_packet_drop_summary),
    f"display packet-drop interface {PORT}": kit.per_port("packet-drop", _packet_drop),
    f"display qos trust interface {PORT}": kit.per_port("qos-trust", _trust),
    f"display qos wred interface {PORT}": kit.per_port("wred-interface", _wred_interface),
    "display qos wred table [ name <table> ]": kit.CliCommand(_wred_table),
    f"display qos map-table [ {' | '.join(MAPS)} ]": kit.CliCommand(_map_table),
    **{
        f"display qos queue {each} interface {PORT}": kit.per_port(
            f"queue-{each}", partial(_schedule, discipline=each)
        )
        for each in ("sp", "wrr", "wfq")
    },
}
