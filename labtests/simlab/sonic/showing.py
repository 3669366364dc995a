"""`show`: what it prints of ports, queues, pauses, neighbours and the box."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.clicking import chosen, tabulated, usage
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.sonic import configuring, watchdog
from labtests.simlab.sonic.chassis import SonicChassis

QUEUES = range(8)
NA = "N/A"
FRAME_BYTES = 1518
"""Of marked and RED-dropped packets the network counts no bytes: those of as many full frames."""
_QUEUE_FIELDS = ("totalpacket", "totalbytes", "droppacket", "dropbytes")
_VERSION = """
SONiC Software Version: SONiC.202411.SIMULATED
Distribution: Debian 12.6

Platform: x86_64-simulated-r0
HwSKU: Simulated-SN2700
ASIC: simulated
ASIC Count: 1
Uptime: {now:%H:%M:%S} up {minutes} min,  1 user,  load average: 0.00, 0.00, 0.00
Date: {now:%a %d %b %Y %H:%M:%S}

Docker images:
REPOSITORY       TAG          IMAGE ID       SIZE
docker-database  latest       27ddcd0018fe   314MB

"""
Given = tuple[str, ...]


def _commas(numbers: Iterable[int]) -> list[str]:
    return [f"{number:,}" for number in numbers]


def _ports(box: SonicChassis, given: Given) -> Given:
    if given and given[0] not in box.ports:
        raise Refused(status=1, printed=f"Port doesn't exist! {given[0]}\n")
    return given[:1] or box.ports


# -- queues ----------------------------------------------------------------------------------------


def _counted(box: SonicChassis, port: str) -> Iterator[tuple[str, ...]]:
    """Unicast queues count; nothing is multicast here."""
    hidden = box.hidden(port)
    for queue, each in enumerate(box.statistics.queues(port)):
        counts = [each.forwarded_packets, each.forwarded_bytes]
        lost = [each.dropped_packets, each.dropped_bytes]
        told = [NA] * 4 if f"queue-{queue}" in hidden else list(map(str, counts + lost))
        yield f"UC{queue}", *told[:2], *([NA] * 2 if "queue-drops" in hidden else told[2:])
    for queue in QUEUES:
        yield f"MC{8 + queue}", *["0"] * 4


def _queue_counters(box: SonicChassis, given: Given) -> str:
    ports = _ports(box, tuple(word for word in given if word != "--json"))
    if "--json" not in given:
        heads = ("Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes")
        tables = (tabulated(heads, [(port, *row) for row in _counted(box, port)]) for port in ports)
        return "".join(f"For namespace :\n{table}\n" for table in tables)
    shown = {}
    for port in ports:
        counted = {
            row[0]: dict(zip(_QUEUE_FIELDS, row[1:], strict=True)) for row in _counted(box, port)
        }
        shown[port] = counted | {"time": f"{box.now:%Y-%m-%dT%H:%M:%S.%f}"}
    return json.dumps(shown, indent=2, sort_keys=True) + "\n"


def _wred_counters(box: SonicChassis, given: Given) -> str:
    polled = box.db.entry("FLEX_COUNTER_TABLE", "WRED_ECN_QUEUE").get("FLEX_COUNTER_STATUS")
    heads = ("Port", "TxQ", "WredDrp/pkts", "WredDrp/bytes", "EcnMarked/pkts", "EcnMarked/bytes")
    tables = []
    for port in _ports(box, given):
        rows = []
        for queue, each in enumerate(box.statistics.queues(port)):
            cells = [n * size for n in (each.wred_dropped_packets, each.marked_packets)
                     for size in (1, FRAME_BYTES)]  # fmt: skip
            told = _commas(cells) if polled == "enable" else [NA] * 4
            rows.append((port, f"UC{queue}", *told))
        tables.append(tabulated(heads, rows) + "\n")
    return "".join(tables)


def _group_drops(box: SonicChassis, _: Given) -> str:
    """The network tells ports apart, and not groups: all that a port refused stands at PG0."""
    rows = [(port, box.refused(port), *[0] * 7) for port in box.ports]
    table = tabulated(("Port", *(f"PG{n}" for n in QUEUES)), rows)
    return f"Ingress PG dropped packets:\n{table}"


# -- pauses ----------------------------------------------------------------------------------------


def _pfc_counters(box: SonicChassis, _: Given) -> str:
    tables = []
    for side, name in (("Rx", "received"), ("Tx", "sent")):
        rows = []
        for port in box.ports:
            told = _commas(getattr(each, name) for each in box.statistics.pfc(port))
            rows.append((port, *([NA] * 8 if box.faults.missing(port, "pfc") else told)))
        tables.append(tabulated((f"Port {side}", *(f"PFC{n}" for n in QUEUES)), rows))
    return "\n".join(tables)


def _field(table: str, field: str, title: str) -> Callable[[SonicChassis, Given], str]:
    """Of each port that has an entry in a table."""

    def shown(box: SonicChassis, given: Given) -> str:
        entries = box.db.tables[table]
        if given and given[0] not in entries:
            return f"Cannot find interface {given[0]}\n"
        rows = [(port, entries[port].get(field, NA)) for port in given or entries]
        return f"\n{tabulated(('Interface', title), rows, right=False)}\n"

    return shown


# -- ports -----------------------------------------------------------------------------------------


def _status(box: SonicChassis, given: Given) -> str:
    rows = []
    for port in _ports(box, given):
        entry, mtu = box.db.entry("PORT", port), box.faults.defects.mtus.get(port)
        admin, speed = entry.get("admin_status", "down"), entry["speed"]
        rows.append(
            (
                *(port, entry.get("lanes", NA)),
                f"{speed[:-3]}G" if speed.endswith("000") else f"{speed}M",
                entry.get("mtu", NA) if mtu is None else str(mtu - 22),
                *(entry.get("fec", NA), entry.get("alias", NA), "trunk"),
                "up" if box.rate_bits_per_s(port) and admin == "up" else "down",
                *(admin, "SFP/SFP+/SFP28", entry.get("pfc_asym", "off")),
            )
        )
    heads = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type")
    return tabulated((*heads, "Asym PFC"), rows)


def _rate(bytes_per_s: int) -> str:
    units = ((10**6, "MB/s"), (10**3, "KB/s"))
    size, unit = next((each for each in units if bytes_per_s > 10 * each[0]), (1, "B/s"))
    return f"{bytes_per_s / size:.2f} {unit}"


def _counters(box: SonicChassis, _: Given) -> str:
    words = ("OK", "BPS", "UTIL", "ERR", "DRP", "OVR")
    rows = []
    for port in box.ports:
        frames, lately = box.statistics.traffic(port), box.statistics.traffic_per_s(port)
        lost_out = sum(each.dropped_packets for each in box.statistics.queues(port))
        rate, row = box.rate_bits_per_s(port), [port]
        row.append("U" if rate else "D")
        for packets, per_s, errors, lost in (
            (frames.rx_packets, lately.rx_bytes, box.crc_errors(port), box.refused(port)),
            (frames.tx_packets, lately.tx_bytes, 0, lost_out),
        ):
            share = 100 * 8 * per_s / rate if rate else 0
            row += [f"{packets:,}", _rate(per_s), f"{share:.2f}%", *_commas((errors, lost, 0))]
        rows.append(row)
    return tabulated(("IFACE", "STATE", *(f"{s}_{w}" for s in ("RX", "TX") for w in words)), rows)


# -- the box ---------------------------------------------------------------------------------------


def _lldp_table(box: SonicChassis, _: Given) -> str:
    heard = [(port, box.lldp_neighbour(port)) for port in box.ports]
    rows = [(port, each.name, each.with_colons().port_id, "R", each.description)
            for port, each in heard if each is not None]  # fmt: skip
    heads = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    return (
        "Capability codes: (R) Router, (B) Bridge, (O) Other\n"
        f"{tabulated(heads, rows, right=False)}{'-' * 50}\nTotal entries displayed:  {len(rows)}\n"
    )


def _version(box: SonicChassis, _: Given) -> str:
    return _VERSION.format(now=box.now, minutes=int(box.uptime_s()) // 60)


COMMANDS: dict[str, tuple[Callable[[SonicChassis, Given], str], int]] = {
    "version": (_version, 0),
    "lldp table": (_lldp_table, 0),
    "interfaces status": (_status, 1),
    "interfaces counters": (_counters, 0),
    "pfc counters": (_pfc_counters, 0),
    "pfc priority": (_field("PORT_QOS_MAP", "pfc_enable", "Lossless priorities"), 1),
    "pfc asymmetric": (_field("PORT", "pfc_asym", "Asymmetric"), 1),
    "pfcwd config": (watchdog.COMMANDS["show config"], 1),
    "pfcwd stats": (watchdog.COMMANDS["show stats"], 1),
    "ecn": (lambda box, _: configuring.CONFIG["ecn"](box), 0),
    "runningconfiguration all": (lambda box, _: configuring.whole(box), 0),
    "queue counters": (_queue_counters, 2),
    "queue wredcounters": (_wred_counters, 1),
    "priority-group drop counters": (_group_drops, 0),
}
"""What a `show` prints, and how many words may stand behind it."""


def show(box: SonicChassis, call: Call, *, more: Mapping[str, Callable[[], str]]) -> str:
    """The program; `more` are displays that need no word behind them."""
    own = {name: (lambda *_, say=each: say(), 0) for name, each in more.items()}
    (display, words), rest = chosen(call, {**COMMANDS, **own}, configuring.OTHERS[call.name])
    named = " ".join(call.arguments[: len(call.arguments) - len(rest)])
    if any(word.startswith("-") and word != "--json" for word in rest):
        raise NotEmulated(f"show {' '.join(call.arguments)}")
    if len(rest) > words:
        raise usage(f"show {named}", f"Got unexpected extra argument ({rest[-1]})")
    shown: str = display(box, rest)
    return shown
