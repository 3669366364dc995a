"""rdma, ibdev2netdev, show_gids, ibv_devices, ibv_devinfo, ibstat and cma_roce_tos."""

import json
from collections.abc import Sequence
from typing import Any

from labtests.simlab.linux import rdma_counters
from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import BadOption, read_options
from labtests.simlab.linux.ports import NicPort, gids, guid
from labtests.simlab.linux.rdma_resources import cm_ids, queue_pairs

Row = dict[str, Any]
_USAGE = (
    "Usage: rdma [ OPTIONS ] OBJECT { COMMAND | help }\n"
    "       rdma [ -f[orce] ] -b[atch] filename\n"
    "where  OBJECT := { dev | link | resource | monitor | system | statistic | help }\n"
    "       OPTIONS := { -V[ersion] | -d[etails] | -j[son] | -p[retty] | -r[aw]}\n"
)


def _rdma(call: Call) -> int:
    words = list(call.arguments)
    flags = ""
    while words and words[0].startswith("-"):
        flags += words.pop(0).lstrip("-")[:1]
    if not words or "help".startswith(words[0]):
        call.out(_USAGE)
        return 0
    kind, rest = words[0], [word for word in words[1:] if not word.startswith("-")]
    if "-j" in words:
        flags += "j"
    handler = next((h for name, h in _OBJECTS.items() if name.startswith(kind)), None)
    if handler is None:
        call.err(f'Unknown object "{kind}", try "rdma help".\n')
        return 1
    return handler(call, flags, rest)


def _link(call: Call, flags: str, words: list[str]) -> int:
    return _answer(call, flags, words, "link")


def _statistic(call: Call, flags: str, words: list[str]) -> int:
    if words[:1] == ["mode"]:
        return 0
    return _answer(call, flags, words, "statistic")


def _answer(call: Call, flags: str, words: list[str], what: str) -> int:
    while words and words[0] in ("show", "list", "link"):
        words.pop(0)
    ports = _chosen(call, words)
    if ports is None:
        call.out("[]\n" if "j" in flags else "")
        call.err("Wrong device name\n")
        return 1
    if what == "link":
        rows = [_link_row(port) for port in ports]
        lines = [
            f"link {port.rdma}/1 state {row['state']} physical_state {row['physical_state']} "
            f"netdev {port.interface} \n"
            for port, row in zip(ports, rows, strict=True)
        ]
    else:
        rows = [
            {"ifname": port.rdma, "port": 1, **dict(rdma_counters.shown(port))} for port in ports
        ]
        lines = [
            f"link {port.rdma}/1 "
            + "".join(f"{name} {value} " for name, value in rdma_counters.shown(port))
            + "\n"
            for port in ports
        ]
    call.out(_json(rows, flags) if "j" in flags else "".join(lines))
    return 0


def _chosen(call: Call, words: list[str]) -> list[NicPort] | None:
    if not words:
        return list(call.host.ports)
    name, _, number = words[0].partition("/")
    port = call.host.rdma_port(name)
    return None if port is None or number not in ("", "1") else [port]


def _link_row(port: NicPort) -> Row:
    return {
        "ifindex": port.index,
        "ifname": port.rdma,
        "port": 1,
        "state": "ACTIVE" if port.rdma_up else "DOWN",
        "physical_state": "LINK_UP" if port.rdma_up else "DISABLED",
        "netdev": port.interface,
        "netdev_index": port.interface_index,
    }


def _json(rows: Sequence[Row], flags: str) -> str:
    """iproute2's layout: one object a line, or pretty with -p."""
    if not rows:
        return "[]\n" if "p" not in flags else "[ ]\n"
    if "p" in flags:
        bodies = []
        for row in rows:
            fields = (f'        "{name}": {json.dumps(value)}' for name, value in row.items())
            bodies.append("{\n" + ",\n".join(fields) + "\n    }")
        return "[ " + ",".join(bodies) + "\n ]\n"
    bodies = [json.dumps(row, separators=(",", ":")) for row in rows]
    return "[" + "\n,".join(bodies) + "\n]\n"


def _dev(call: Call, flags: str, words: list[str]) -> int:
    rows = [
        {
            "ifindex": port.index,
            "ifname": port.rdma,
            "node_type": "ca",
            "protocol": "roce",
            "fw": port.firmware,
            "node_guid": _colons(guid(port)),
            "sys_image_guid": _colons(guid(call.host.ports[0])),
        }
        for port in call.host.ports
    ]
    if "j" in flags:
        call.out(_json(rows, flags))
        return 0
    for row in rows:
        fields = " ".join(f"{name} {value}" for name, value in list(row.items())[2:])
        call.out(f"{row['ifindex']}: {row['ifname']}: {fields} \n")
    return 0


def _colons(digits: str) -> str:
    return ":".join(digits[at : at + 4] for at in range(0, 16, 4))


def _resource(call: Call, flags: str, words: list[str]) -> int:
    if words[:1] == ["show"]:
        words.pop(0)
    if words[:1] == ["cm_id"]:
        rows = cm_ids(call.host)
    elif words[:1] == ["qp"]:
        rows = queue_pairs(call.host)
    else:
        for port in call.host.ports:
            owned = [row for row in queue_pairs(call.host) if row["ifname"] == port.rdma]
            ids = [row for row in cm_ids(call.host) if row["ifname"] == port.rdma]
            call.out(
                f"{port.index}: {port.rdma}: pd {len(owned)} cq {len(owned)} qp {len(owned)} "
                f"cm_id {len(ids)} mr 0 ctx 0 srq 0 \n"
            )
        return 0
    if len(words) > 1:
        name, _, _ = words[1].partition("/")
        if words[1:2] == ["link"] and len(words) > 2:
            name = words[2].partition("/")[0]
        rows = [row for row in rows if row["ifname"] == name]
    call.out(_json(rows, flags) if "j" in flags else "".join(map(_resource_line, rows)))
    return 0


def _resource_line(row: Row) -> str:
    """`link mlx5_0/1 lqpn 1 type GSI …`; a kernel owner in brackets."""
    port = f"/{row['port']}" if "port" in row else ""
    words = [f"link {row['ifname']}{port}"]
    for name, value in row.items():
        if name not in ("ifindex", "ifname", "port"):
            owner = name == "comm" and "pid" not in row
            words.append(f"{name} [{value}]" if owner else f"{name} {value}")
    return " ".join(words) + " \n"


def _system(call: Call, flags: str, words: list[str]) -> int:
    call.out("netns shared copy-on-fork on\n")
    return 0


_OBJECTS = {
    "dev": _dev,
    "link": _link,
    "resource": _resource,
    "statistic": _statistic,
    "system": _system,
}


def _ibdev2netdev(call: Call) -> int:
    for port in call.host.ports:
        call.out(f"{port.rdma} port 1 ==> {port.interface} ({'Up' if port.up else 'Down'})\n")
    return 0


def _show_gids(call: Call) -> int:
    """Column widths as in the recording of MLNX_OFED."""
    call.out("DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n")
    call.out("---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n")
    count = 0
    for port in call.host.ports:
        for index, (gid, kind) in enumerate(gids(port)):
            version = "v2" if kind.endswith("v2") else "v1"
            address = f"{port.address}  " if gid.startswith("0000") else "\t"
            call.out(f"{port.rdma}\t1\t{index}\t{gid}\t{address}\t{version}\t{port.interface}\n")
            count += 1
    call.out(f"n_gids_found={count}\n")
    return 0


def _ibv_devices(call: Call) -> int:
    call.out("    device          \t   node GUID\n    ------          \t----------------\n")
    for port in call.host.ports:
        call.out(f"    {port.rdma:<16}\t{guid(port)}\n")
    return 0


def _ibv_devinfo(call: Call) -> int:
    try:
        options, _ = read_options(call.arguments, "lv", "di", long={"ib-dev": "d"})
    except BadOption as error:
        return call.fail(str(error))
    if "l" in options:
        ports = call.host.ports
        call.out(
            f"{len(ports)} HCAs found:\n" + "".join(f"\t{port.rdma}\n" for port in ports) + "\n"
        )
        return 0
    wanted = [port for port in call.host.ports if options.get("d", port.rdma) == port.rdma]
    if not wanted:
        call.err(
            f"IB device '{options['d']}' wasn't found\n"
            if "d" in options
            else "No IB devices found\n"
        )
        return 255
    for port in wanted:
        call.out(_devinfo(port))
    return 0


def _devinfo(port: NicPort) -> str:
    state = "PORT_ACTIVE (4)" if port.rdma_up else "PORT_DOWN (1)"
    return (
        f"hca_id:\t{port.rdma}\n"
        "\ttransport:\t\t\tInfiniBand (0)\n"
        f"\tfw_ver:\t\t\t\t{port.firmware}\n"
        f"\tnode_guid:\t\t\t{_colons(guid(port))}\n"
        f"\tsys_image_guid:\t\t\t{_colons(guid(port))}\n"
        "\tvendor_id:\t\t\t0x02c9\n"
        "\tvendor_part_id:\t\t\t4115\n"
        "\thw_ver:\t\t\t\t0x0\n"
        "\tboard_id:\t\t\tMT_2190110032\n"
        "\tphys_port_cnt:\t\t\t1\n"
        "\t\tport:\t1\n"
        f"\t\t\tstate:\t\t\t{state}\n"
        "\t\t\tmax_mtu:\t\t4096 (5)\n"
        f"\t\t\tactive_mtu:\t\t{port.roce_mtu_bytes} ({port.roce_mtu_bytes.bit_length() - 8})\n"
        "\t\t\tsm_lid:\t\t\t0\n"
        "\t\t\tport_lid:\t\t0\n"
        "\t\t\tport_lmc:\t\t0x00\n"
        "\t\t\tlink_layer:\t\tEthernet\n\n"
    )


def _ibstat(call: Call) -> int:
    for port in call.host.ports:
        if call.arguments[:1] in ((), (port.rdma,)):
            call.out(_stat(port))
    if call.arguments and call.host.rdma_port(call.arguments[0]) is None:
        call.err(
            f"ibpanic: [{call.process.pid}] main: '{call.arguments[0]}' IB device can't be found:"
            " (No such file or directory)\n"
        )
        return 255
    return 0


def _stat(port: NicPort) -> str:
    state, physical = ("Active", "LinkUp") if port.up else ("Down", "Disabled")
    number = guid(port)
    return (
        f"CA '{port.rdma}'\n"
        "\tCA type: MT4115\n"
        "\tNumber of ports: 1\n"
        f"\tFirmware version: {port.firmware}\n"
        "\tHardware version: 0\n"
        f"\tNode GUID: 0x{number}\n"
        f"\tSystem image GUID: 0x{number}\n"
        "\tPort 1:\n"
        f"\t\tState: {state}\n"
        f"\t\tPhysical state: {physical}\n"
        f"\t\tRate: {max(port.speed_mbit_per_s, 0) // 1000}\n"
        "\t\tBase lid: 0\n"
        "\t\tLMC: 0\n"
        "\t\tSM lid: 0\n"
        "\t\tCapability mask: 0x00010000\n"
        f"\t\tPort GUID: 0x{number}\n"
        "\t\tLink layer: Ethernet\n"
    )


def _cma_roce_tos(call: Call) -> int:
    """Prints only the number: the one set now, or at present."""
    try:
        options, _ = read_options(call.arguments, "h", "dtp")
        port = call.host.rdma_port(options["d"])
        tos = int(options["t"], 0) if "t" in options else None
    except (BadOption, KeyError, ValueError):
        call.out(
            "Set/Show RoCE default TOS of RDMA_CM applications\nUsage:\n\tcma_roce_tos OPTIONS\n"
        )
        return 1
    if port is None or (tos is not None and not 0 <= tos <= 255):
        call.err(f"{call.name}: cannot open {options['d']}\n")
        return 1
    if tos is not None and not call.host.faults.lies:
        port.default_roce_tos = tos
    call.out(f"{port.default_roce_tos if tos is None else tos}\n")
    return 0


TOOLS: Tools = {
    "rdma": _rdma,
    "ibdev2netdev": _ibdev2netdev,
    "show_gids": _show_gids,
    "ibv_devices": _ibv_devices,
    "ibv_devinfo": _ibv_devinfo,
    "ibstat": _ibstat,
    "cma_roce_tos": _cma_roce_tos,
}
