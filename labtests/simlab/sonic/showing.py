"""What `show` prints of ports, queues, pauses, watermarks, neighbours and the box."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.clicking import expect_root, tabulated, usage
from labtests.simlab.linux.options import Refused
from labtests.simlab.screens import render
from labtests.simlab.sonic import configuring, watchdog
from labtests.simlab.sonic.chassis import SonicChassis
from labtests.simlab.sonic.database import POOL
from labtests.simlab.sonic.watermarks import TYPES

_SCREENS = Path(__file__).parent / "screens"
QUEUES = range(8)
NA = "N/A"
FRAME_BYTES = 1518
"""Of marked and RED-dropped packets the network counts no bytes: those of as many full frames."""
_QUEUE_FIELDS = ("totalpacket", "totalbytes", "droppacket", "dropbytes")


def _commas(numbers: Iterable[int]) -> list[str]:
    return [f"{number:,}" for number in numbers]


def _ports(box: SonicChassis, port: str) -> tuple[str, ...]:
    if port not in ("", *box.ports):
        raise Refused(status=1, printed=f"Port doesn't exist! {port}\n")
    return (port,) if port else box.ports


def _of_eight(head: str, column: str, rows: Iterable[tuple[Any, ...]]) -> str:
    """A table of ports, and of their eight queues, groups or priorities."""
    return tabulated((head, *(f"{column}{n}" for n in QUEUES)), [*rows])


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


def _queue_counters(box: SonicChassis, word: str = "", behind: str = "") -> str:
    """`[ PORT ] [ --json ]`."""
    ports = _ports(box, behind if word == "--json" else word)
    if "--json" not in (word, behind):
        heads = ("Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes")
        tables = (tabulated(heads, [(port, *row) for row in _counted(box, port)]) for port in ports)
        return "".join(f"For namespace :\n{table}\n" for table in tables)
    shown: dict[str, dict[str, Any]] = {}
    for port in ports:
        shown[port] = {"time": f"{box.now:%Y-%m-%dT%H:%M:%S.%f}"}
        for queue, *told in _counted(box, port):
            shown[port][queue] = dict(zip(_QUEUE_FIELDS, told, strict=True))
    return json.dumps(shown, indent=2, sort_keys=True) + "\n"


def _wred_counters(box: SonicChassis, port: str = "") -> str:
    polled = box.db.entry("FLEX_COUNTER_TABLE", "WRED_ECN_QUEUE").get("FLEX_COUNTER_STATUS")
    heads = ("Port", "TxQ", "WredDrp/pkts", "WredDrp/bytes", "EcnMarked/pkts", "EcnMarked/bytes")
    shown = ""
    for name in _ports(box, port):
        rows = []
        for queue, each in enumerate(box.statistics.queues(name)):
            dropped, marked = each.wred_dropped_packets, each.marked_packets
            cells = _commas((dropped, dropped * FRAME_BYTES, marked, marked * FRAME_BYTES))
            rows.append((name, f"UC{queue}", *(cells if polled == "enable" else [NA] * 4)))
        shown += f"{tabulated(heads, rows)}\n"
    return shown


def _group_drops(box: SonicChassis) -> str:
    """The network tells ports apart, and not groups: all that a port refused stands at PG0."""
    rows = ((port, box.refused(port), *[0] * 7) for port in box.ports)
    return f"Ingress PG dropped packets:\n{_of_eight('Port', 'PG', rows)}"


# -- watermarks ------------------------------------------------------------------------------------


def watermark(box: SonicChassis, kind: str) -> str:
    """A table of this type. A port without a cable holds nothing."""
    shown, of = box.watermarks.shown, TYPES[kind]
    if not of.column:
        pools = [(POOL, shown.get((kind, POOL, 0), NA))]
        return f"{of.title}\n{tabulated(('Pool', 'Bytes'), pools)}"
    rows = []
    for port in box.ports:
        hidden = box.faults.missing(port, "watermarks")
        rows.append((port, *(NA if hidden else shown.get((kind, port, n), NA) for n in QUEUES)))
    return f"{of.title}\n{_of_eight('Port', of.column, rows)}"


def watermarkstat(box: SonicChassis, call: Call) -> str:
    """The program: `-t TYPE`, and `-c` to clear."""
    words = [word for word in call.arguments if word != "-c"]
    if len(words) != 2 or words[0] != "-t" or words[1] not in TYPES:
        raise usage("watermarkstat", "Invalid value for '-t': choose one of its types.")
    if "-c" not in call.arguments:
        return watermark(box, words[1])
    expect_root(call)
    box.watermarks.clear(words[1])
    return ""


# -- pauses ----------------------------------------------------------------------------------------


def _pfc_counters(box: SonicChassis) -> str:
    tables = []
    for side, name in (("Rx", "received"), ("Tx", "sent")):
        rows = []
        for port in box.ports:
            told = _commas(getattr(each, name) for each in box.statistics.pfc(port))
            rows.append((port, *([NA] * 8 if box.faults.missing(port, "pfc") else told)))
        tables.append(_of_eight(f"Port {side}", "PFC", rows))
    return "\n".join(tables)


def _field(box: SonicChassis, port: str = "", *, table: str, field: str, title: str) -> str:
    """Of each port that has an entry in a table."""
    entries = box.db.tables[table]
    if port and port not in entries:
        return f"Cannot find interface {port}\n"
    rows = [(each, entries[each].get(field, NA)) for each in ([port] if port else entries)]
    return f"\n{tabulated(('Interface', title), rows, right=False)}\n"


# -- ports -----------------------------------------------------------------------------------------


def _status(box: SonicChassis, named: str = "") -> str:
    rows = []
    for port in _ports(box, named):
        entry, mtu = box.db.entry("PORT", port), box.faults.defects.mtus.get(port)
        admin, speed = entry.get("admin_status", "down"), entry["speed"]
        row = [port, entry.get("lanes", NA)]
        row.append(f"{speed[:-3]}G" if speed.endswith("000") else f"{speed}M")
        row.append(entry.get("mtu", NA) if mtu is None else str(mtu - 22))
        row += [entry.get("fec", NA), entry.get("alias", NA), "trunk"]
        row.append("up" if box.rate_bits_per_s(port) and admin == "up" else "down")
        rows.append([*row, admin, "SFP/SFP+/SFP28", entry.get("pfc_asym", "off")])
    heads = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type")
    return tabulated((*heads, "Asym PFC"), rows)


def _rate(bytes_per_s: int) -> str:
    units = ((10**6, "MB/s"), (10**3, "KB/s"))
    size, unit = next((each for each in units if bytes_per_s > 10 * each[0]), (1, "B/s"))
    return f"{bytes_per_s / size:.2f} {unit}"


def _state(box: SonicChassis, port: str) -> str:
    shut = box.db.entry("PORT", port).get("admin_status") == "down"
    return "X" if shut else "U" if box.rate_bits_per_s(port) else "D"


def _drop_counts(box: SonicChassis) -> str:
    """No counter of a reason is configured."""
    heads = ("IFACE", "STATE", "RX_ERR", "RX_DROPS", "TX_ERR", "TX_DROPS")
    rows = [
        (port, _state(box, port), box.crc_errors(port), box.refused(port), 0, box.dropped_out(port))
        for port in box.ports
    ]
    return f"{tabulated(heads, rows)}\n"


def _counters(box: SonicChassis) -> str:
    words = ("OK", "BPS", "UTIL", "ERR", "DRP", "OVR")
    rows = []
    for port in box.ports:
        frames, lately = box.statistics.traffic(port), box.statistics.traffic_per_s(port)
        rate = box.rate_bits_per_s(port)
        row = [port, _state(box, port)]
        for packets, per_s, errors, lost in (
            (frames.rx_packets, lately.rx_bytes, box.crc_errors(port), box.refused(port)),
            (frames.tx_packets, lately.tx_bytes, 0, box.dropped_out(port)),
        ):
            share = 100 * 8 * per_s / rate if rate else 0
            row += [f"{packets:,}", _rate(per_s), f"{share:.2f}%", *_commas((errors, lost, 0))]
        rows.append(row)
    return tabulated(("IFACE", "STATE", *(f"{s}_{w}" for s in ("RX", "TX") for w in words)), rows)


# -- the box ---------------------------------------------------------------------------------------


def _lldp_table(box: SonicChassis) -> str:
    heard = [(port, box.lldp_neighbour(port)) for port in box.ports]
    rows = [(port, each.name, each.with_colons().port_id, "R", each.description)
            for port, each in heard if each is not None]  # fmt: skip
    heads = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    return (
        "Capability codes: (R) Router, (B) Bridge, (O) Other\n"
        f"{tabulated(heads, rows, right=False)}{'-' * 50}\nTotal entries displayed:  {len(rows)}\n"
    )


def _version(box: SonicChassis) -> str:
    return render(_SCREENS, "version", now=box.now, minutes=int(box.uptime_s()) // 60)


SHOW: Mapping[str, Callable[..., str]] = {
    "version": _version,
    "lldp table": _lldp_table,
    "interfaces status": _status,
    "interfaces counters": _counters,
    "dropcounters counts": _drop_counts,
    "pfc counters": _pfc_counters,
    "pfc priority": partial(
        _field, table="PORT_QOS_MAP", field="pfc_enable", title="Lossless priorities"
    ),
    "pfc asymmetric": partial(_field, table="PORT", field="pfc_asym", title="Asymmetric"),
    **{f"pfcwd {name}": act for name, act in watchdog.SHOWN.items()},
    "ecn": lambda box: configuring.ecn(box),
    "runningconfiguration all": configuring.whole,
    "queue counters": _queue_counters,
    "queue wredcounters": _wred_counters,
    "priority-group drop counters": _group_drops,
    **{each.named: partial(watermark, kind=kind) for kind, each in TYPES.items()},
}
CLEAR: Mapping[str, Callable[..., str]] = {
    each.named: lambda box, *, kind=kind: box.watermarks.clear(kind) or "\n"
    for kind, each in TYPES.items()
    if each.column
}
"""`sonic-clear` has no word for pools."""
