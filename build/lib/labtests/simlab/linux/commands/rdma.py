"""rdma, ibdev2netdev, show_gids, ibv_devinfo and cma_roce_tos."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from labtests.simlab.linux import rdma_counters
from labtests.simlab.linux.calls import Call, Tools, screen
from labtests.simlab.linux.machine import Machine
from labtests.simlab.linux.options import BadOption, NotEmulated, Refused, only, read_options
from labtests.simlab.linux.ports import NicPort, gid_interface, gids, guid
from labtests.simlab.linux.sockets import Connected

FIRST_CM_ID = 70
Row = dict[str, Any]
Shown = tuple[list[Row], Callable[[Row], str]]
"""What is shown, and how a row of it is without -j."""


def _rdma(call: Call) -> str:
    words = [word for word in call.arguments if not word.startswith("-")]
    flags = [word for word in call.arguments if word.startswith("-")]
    only(flags, "-j", "--json")
    if not words or "help".startswith(words[0]):
        return screen("rdma-usage")
    shown = next((h for name, h in _OBJECTS.items() if name.startswith(words[0])), None)
    if shown is None and words[0] in ("dev", "monitor", "system"):
        raise NotEmulated(f"rdma {words[0]}")
    if shown is None:
        raise Refused(f'Unknown object "{words[0]}", try "rdma help".\n')
    try:
        rows, line = shown(call, words[1:])
    except Refused:
        call.out("[]\n" if flags else "")
        raise
    return _json(rows) if flags else "".join(map(line, rows))


def _json(rows: Sequence[Row]) -> str:
    """iproute2's layout: one object a line."""
    bodies = [json.dumps(row, separators=(",", ":")) for row in rows]
    return "[" + "\n,".join(bodies) + "\n]\n" if rows else "[]\n"


def _head(index: int, name: str) -> Row:
    return {"ifindex": index, "ifname": name, "port": 1}


def _link(call: Call, words: list[str]) -> Shown:
    rows = [
        {
            **_head(port.index, port.rdma),
            "state": "ACTIVE" if port.rdma_up else "DOWN",
            "physical_state": "LINK_UP" if port.rdma_up else "DISABLED",
            "netdev": port.interface,
            "netdev_index": port.interface_index,
        }
        for port in _chosen(call, words)
    ]
    return rows, lambda row: _line(row, without=("netdev_index",))


def _statistic(call: Call, words: list[str]) -> Shown:
    ports = [] if words[:1] == ["mode"] else _chosen(call, words)
    rows = [{"ifname": port.rdma, "port": 1, **rdma_counters.shown(port)} for port in ports]
    return rows, _line


def _chosen(call: Call, words: list[str]) -> list[NicPort]:
    """The ports of `[show] [link] [DEV[/PORT]]`. Raises Refused."""
    names = [word for word in words if word not in ("show", "list", "link")]
    if not names:
        return list(call.host.ports)
    only(names[1:])
    name, _, number = names[0].partition("/")
    port = call.host.rdma_port(name)
    if port is None or number not in ("", "1"):
        raise Refused("Wrong device name\n")
    return [port]


def _colons(digits: str) -> str:
    return ":".join(digits[at : at + 4] for at in range(0, 16, 4))


def _resource(call: Call, words: list[str]) -> Shown:
    """Connection ids; other resources are not emulated."""
    if [word for word in words if word != "show"] != ["cm_id"]:
        raise NotEmulated("rdma resource of anything but cm_id")
    return _cm_ids(call.host), _line


def _cm_ids(host: Machine) -> list[Row]:
    """rdma_cm's ids: a listener stands on every device, a connection on its own."""
    rows: list[Row] = []
    for (device, service, number), listener in host.lab.listeners.items():
        if device != host.name or service != "rdma_cm":
            continue
        for port in host.ports:
            rows.append(
                {
                    "ifindex": port.index,
                    "ifname": port.rdma,
                    "cm-idn": FIRST_CM_ID + len(rows),
                    "state": "LISTEN",
                    "ps": "TCP",
                    "pid": listener.process.pid,
                    "comm": listener.process.name,
                    "src-addr": f"0.0.0.0:{number}",
                }
            )
    for connected in host.sockets.connected:
        rows.append(_connected_id(connected, FIRST_CM_ID + len(rows)))
    return rows


def _connected_id(connected: Connected, number: int) -> Row:
    return {
        **_head(connected.port.index, connected.port.rdma),
        "cm-idn": number,
        "lqpn": connected.number,
        "qp-type": "RC",
        "state": "CONNECT",
        "ps": "TCP",
        "pid": connected.process.pid,
        "comm": connected.process.name,
        "src-addr": connected.source,
        "dst-addr": connected.destination,
    }


def _line(row: Row, without: tuple[str, ...] = ()) -> str:
    """`link mlx5_0/1 state ACTIVE physical_state LINK_UP …`."""
    hidden = ("ifindex", "ifname", "port", *without)
    port = f"/{row['port']}" if "port" in row else ""
    words = [f"{name} {value}" for name, value in row.items() if name not in hidden]
    return " ".join([f"link {row['ifname']}{port}", *words]) + " \n"


_OBJECTS = {"link": _link, "resource": _resource, "statistic": _statistic}


def _ibdev2netdev(call: Call) -> str:
    only(call.arguments, "-v")
    return "".join(
        f"{port.rdma} port 1 ==> {port.interface} ({'Up' if port.up else 'Down'})\n"
        for port in call.host.ports
    )


def _show_gids(call: Call) -> str:
    """Column widths as in the recording of MLNX_OFED."""
    only(call.arguments)
    lines = [
        "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n",
        "---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n",
    ]
    for port in call.host.ports:
        for index, (gid, kind) in enumerate(gids(port)):
            version = "v2" if kind.endswith("v2") else "v1"
            address = f"{port.address}  " if gid.startswith("0000") else "\t"
            lines.append(
                f"{port.rdma}\t1\t{index}\t{gid}\t{address}\t{version}\t"
                f"{gid_interface(port, gid)}\n"
            )
    return "".join(lines) + f"n_gids_found={len(lines) - 2}\n"


def _ibv_devinfo(call: Call) -> str:
    options, words = read_options(call.arguments, "-d,--ib-dev=")
    only(words)
    ports = call.host.ports
    wanted = [port for port in ports if options.get("d", port.rdma) == port.rdma]
    if not wanted:
        none = "No IB devices found\n"
        raise Refused(f"IB device '{options['d']}' wasn't found\n" if "d" in options else none, 255)
    return "".join(screen("ibv_devinfo", port=port, guid=_colons(guid(port))) for port in wanted)


_TOS_USAGE = "Set/Show RoCE default TOS of RDMA_CM applications\nUsage:\n\tcma_roce_tos OPTIONS\n"


def _cma_roce_tos(call: Call) -> int | str:
    """Prints only the number: the one set now, or at present."""
    try:
        options, _ = read_options(call.arguments, "-h -dtp=")
        port = call.host.rdma_port(options["d"])
        tos = int(options["t"], 0) if "t" in options else None
    except (BadOption, KeyError, ValueError):
        raise Refused(printed=_TOS_USAGE) from None
    if port is None or (tos is not None and not 0 <= tos <= 255):
        return call.fail(f"cannot open {options['d']}")
    if tos is not None and not call.host.faults.lies:
        port.default_roce_tos = tos
    return f"{port.default_roce_tos if tos is None else tos}\n"


TOOLS: Tools = {
    "rdma": _rdma,
    "ibdev2netdev": _ibdev2netdev,
    "show_gids": _show_gids,
    "ibv_devinfo": _ibv_devinfo,
    "cma_roce_tos": _cma_roce_tos,
}
