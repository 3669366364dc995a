"""The `display` and `reset` commands."""

from collections.abc import Callable

from labtests.simlab.comware import displays, neighbours, reports
from labtests.simlab.comware.configuration import DEFAULT_TABLE
from labtests.simlab.comware.displays import PfcRows, lines
from labtests.simlab.comware.grammar import Call, Command, Grammar
from labtests.simlab.comware.reports import Brief, Interface
from labtests.simlab.comware.views import Context

NOMINAL_BITS_PER_S = 25_000_000_000  # of a port without a cable
MAPS = ("dot1p-lp", "dscp-dot1p", "dscp-lp")


def add_displays(grammar: Grammar) -> None:
    """The view knows every display command: they work in any view."""
    port = "[ <port> ]"
    for pattern, handler in {
        "display version": _version,
        "display clock": _clock,
        "display lldp neighbor-information verbose": _neighbours,
        f"display interface {port}": _interface,
        f"display interface {port} brief": _brief,
        "display this": _this,
        "display current-configuration": _current_configuration,
        f"display current-configuration interface {port}": _current_interface,
        f"display priority-flow-control interface {port}": _pfc,
        f"display qos queue-statistics interface {port} outbound": _queue_statistics,
        "display packet-drop summary": _packet_drop_summary,
        f"display packet-drop interface {port}": _packet_drop,
        f"display qos trust interface {port}": _trust,
        f"display qos wred interface {port}": _wred_interface,
        "display qos wred table [ name <table> ]": _wred_table,
        f"display qos map-table [ {' | '.join(MAPS)} ]": _map_table,
        f"display qos queue {{ sp | wrr | wfq }} interface {port}": _schedule,
    }.items():
        grammar.add(pattern, Command(handler))


def add_resets(grammar: Grammar) -> None:
    """User view: counters start from zero."""
    grammar.add("reset counters interface [ <port> ]", Command(_reset))
    grammar.add("reset packet-drop interface [ <port> ]", Command(_reset))


def _ports(context: Context, call: Call) -> tuple[str, ...]:
    """The port named, or all."""
    return (
        (call.values["port"],) if "port" in call.values else tuple(context.box.configuration.ports)
    )


def _blocks(context: Context, call: Call, block: Callable[[str], str]) -> str:
    """One block per port that has something to say, a blank line between them."""
    shown = [block(port) for port in _ports(context, call)]
    return "\n".join(text for text in shown if text)


def _hidden(context: Context, port: str) -> frozenset[str]:
    return frozenset(
        counter for where, counter in context.box.faults.missing_counters if where == port
    )


# -- counters ------------------------------------------------------------------------------------


def _queue_statistics(context: Context, call: Call) -> str:
    box = context.box
    return _blocks(
        context,
        call,
        lambda port: displays.queue_statistics(
            port, box.statistics.queues(port), _hidden(context, port)
        ),
    )


def _pfc(context: Context, call: Call) -> str:
    rows = [_pfc_rows(context, port) for port in _ports(context, call)]
    return displays.PFC_FORMS[context.box.pfc_columns](rows)


def _pfc_rows(context: Context, port: str) -> PfcRows:
    box = context.box
    settings, counts = box.configuration.ports[port], box.statistics.pfc(port)
    counted = {} if box.faults.missing(port, "pfc") else dict(enumerate(counts))
    return PfcRows(
        port=port,
        mode=settings.pfc,
        operational=port in box.network.ports and box.network.pfc_operational(port),
        priorities=settings.no_drop,
        counts={p: pfc for p, pfc in counted.items() if pfc.received or pfc.sent},
    )


def _packet_drop(context: Context, call: Call) -> str:
    statistics = context.box.statistics
    return _blocks(
        context,
        call,
        lambda port: displays.packet_drop(port, statistics.drops(port), _hidden(context, port)),
    )


def _packet_drop_summary(context: Context, call: Call) -> str:
    return displays.packet_drop_summary(context.box.statistics.all_drops())


def _reset(context: Context, call: Call) -> str:
    context.box.statistics.reset(_ports(context, call))
    return ""


# -- settings ------------------------------------------------------------------------------------


def _trust(context: Context, call: Call) -> str:
    ports = context.box.configuration.ports
    return _blocks(
        context,
        call,
        lambda port: displays.qos_trust(port, ports[port].trust, ports[port].override),
    )


def _wred_interface(context: Context, call: Call) -> str:
    """Only ports that apply a table are shown: the others drop at the tail."""
    ports = context.box.configuration.ports

    def block(port: str) -> str:
        table = ports[port].wred
        return "" if table is None else displays.wred_interface(port, table)

    return _blocks(context, call, block)


def _wred_table(context: Context, call: Call) -> str:
    configuration = context.box.configuration
    if "table" in call.values:
        return displays.wred_table(configuration.table(call.values["table"]))
    return "\n".join(displays.wred_table(table) for table in configuration.tables.values())


def _map_table(context: Context, call: Call) -> str:
    names = [name for name in MAPS if name in call.keywords] or list(MAPS)
    configuration = context.box.configuration
    return "\n".join(displays.map_table(name, configuration.map(name)) for name in names)


def _schedule(context: Context, call: Call) -> str:
    """Only ports that are served this way are shown."""
    ports = context.box.configuration.ports

    def block(port: str) -> str:
        current = ports[port].schedule
        return displays.schedule(port, current) if current.discipline in call.keywords else ""

    return _blocks(context, call, block)


# -- the running configuration -------------------------------------------------------------------


def _this(context: Context, call: Call) -> str:
    view, configuration = context.view, context.box.configuration
    if view.kind == "interface":
        return _sections(_port_section(context, view.ports[0]))
    if view.kind == "wred":
        return _sections(_table_section(context, view.name))
    if view.kind in ("dscp-dot1p", "dot1p-lp"):
        return _sections([f"qos map-table {view.kind}", *configuration.map_lines(view.kind)])
    return _sections([f" sysname {configuration.sysname}"] if view.kind == "system" else [])


def _current_interface(context: Context, call: Call) -> str:
    return _sections(*(_port_section(context, port) for port in _ports(context, call)))


def _current_configuration(context: Context, call: Call) -> str:
    configuration = context.box.configuration
    sections = [[" version 7.1.070, Release SIMULATED"], [f" sysname {configuration.sysname}"]]
    if configuration.globals:
        sections.append([f" {line}" for line in sorted(configuration.globals)])
    for name in ("dscp-dot1p", "dot1p-lp"):
        if configuration.map_lines(name):
            sections.append([f"qos map-table {name}", *configuration.map_lines(name)])
    sections += [
        _table_section(context, name) for name in configuration.tables if name != DEFAULT_TABLE
    ]
    sections += [_port_section(context, port) for port in configuration.ports]
    return _sections(*sections)


def _port_section(context: Context, port: str) -> list[str]:
    return [f"interface {port}", *context.box.configuration.port_lines(port)]


def _table_section(context: Context, name: str) -> list[str]:
    return [f"qos wred queue table {name}", *context.box.configuration.table(name).lines()]


def _sections(*sections: list[str]) -> str:
    """Each between `#` lines, its body indented by a blank."""
    shown: list[str] = []
    for section in sections:
        if section:
            shown += ["#", section[0], *(f" {line}" for line in section[1:])]
    return lines(*shown, "#", "return")


# -- the box -------------------------------------------------------------------------------------


def _version(context: Context, call: Call) -> str:
    return reports.version(context.box.uptime_s())


def _clock(context: Context, call: Call) -> str:
    box = context.box
    return reports.clock(reports.moment(box.now_s() + box.faults.defects.clock_ahead_s))


def _neighbours(context: Context, call: Call) -> str:
    box = context.box
    heard = (
        (number, port, box.hears(port)) for number, port in enumerate(_ports(context, call), 1)
    )
    return neighbours.verbose([(n, port, each) for n, port, each in heard if each is not None])


def _brief(context: Context, call: Call) -> str:
    return reports.brief([_brief_row(context, port) for port in _ports(context, call)])


def _brief_row(context: Context, port: str) -> Brief:
    settings, rate = context.box.configuration.ports[port], context.box.rate_bits_per_s(port)
    up = rate is not None and not settings.shutdown
    return Brief(
        port=port,
        link="ADM" if settings.shutdown else "UP" if up else "DOWN",
        speed=f"{reports.short_speed(rate)}(a)" if up and rate is not None else "auto",
        duplex="F(a)" if up else "A",
        description=settings.description or "",
    )


def _interface(context: Context, call: Call) -> str:
    return _blocks(context, call, lambda port: _interface_block(context, port))


def _state(rate_bits_per_s: int | None, *, shutdown: bool) -> str:
    if shutdown:
        return "Administratively DOWN"
    return "DOWN" if rate_bits_per_s is None else "UP"


def _interface_block(context: Context, port: str) -> str:
    box = context.box
    settings, rate = box.configuration.ports[port], box.rate_bits_per_s(port)
    number = list(box.configuration.ports).index(port)
    defects = box.faults.defects
    return reports.interface(
        Interface(
            port=port,
            state=_state(rate, shutdown=settings.shutdown),
            hardware_address=f"0200-0000-{number:04x}",  # locally administered
            description=settings.description or f"{port} Interface",
            rate_bits_per_s=rate or NOMINAL_BITS_PER_S,
            traffic=box.statistics.traffic(port),
            per_s=box.statistics.traffic_per_s(port),
            crc_errors=box.statistics.drops(port).crc_errors
            + defects.broken_frames(port, round(box.now_s() * 1e9)),
            frame_bytes=defects.mtus.get(port, _frame_bytes(settings.jumbo)),
        )
    )


def _frame_bytes(jumbo: int | None) -> int:
    """The default is that of the recording; what a port without jumbo frames says is ours."""
    return {None: 10_000, 0: 1518}.get(jumbo, jumbo or 0)
