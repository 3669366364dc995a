"""ip: addresses, links and routes, in the usual and the brief form. It changes only MTUs."""

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import NotEmulated, Refused, only
from labtests.simlab.linux.ports import LARGEST_MTU_BYTES, LEAST_MTU_BYTES, NicPort, network_of

VERSION = "ip utility, iproute2-6.1.0, libbpf 1.1.2\n"
_CHANGES = {"set", "add", "del", "delete", "change", "replace", "append", "flush"}


def _ip(call: Call) -> str:
    words = list(call.arguments)
    flags = _leading_options(words)
    if flags & {"V", "Version"}:
        return VERSION
    only(flags, "br", "brief", "s", "stats", "statistics")
    if not words or not any(name.startswith(words[0]) for name in ("address", "link", "route")):
        raise NotEmulated(" ".join(call.argv))
    kind = words.pop(0)
    if words and words[0] in {*_CHANGES, "get"}:
        return _unusual(call, kind, words)
    names = [word for word in words if word not in ("show", "list", "dev", "up")]
    only(names[1:])
    ports = [port for port in call.host.ports if not names or port.interface in names]
    if names and not ports and names != ["lo"]:
        raise Refused(f'Device "{names[0]}" does not exist.\n')
    if "route".startswith(kind):
        only(flags)
        return _routes(ports)
    of_link = "link".startswith(kind)
    if flags & {"s", "stats", "statistics"}:
        only([*flags & {"br", "brief"}, *([] if of_link else ["-s of addresses"])])
        return _with_counts(call, ports, names)
    shown = _brief if flags else _long
    return shown(ports, names, with_address=not of_link)


def _leading_options(words: list[str]) -> set[str]:
    """The options before the object, which are taken off."""
    flags: set[str] = set()
    while words and words[0].startswith("-"):
        flags.add(words.pop(0).lstrip("-"))
    return flags


def _set_mtu(call: Call, words: list[str]) -> str:
    """`ip link set [dev] IF mtu N`. Texts of iproute2 and the kernel (from memory)."""
    port = call.host.port(words[0])
    if port is None:
        raise Refused(f'Cannot find device "{words[0]}"\n')
    text = words[2] if len(words) == 3 and words[1] == "mtu" else ""
    if not text.isdigit():
        raise Refused(f'Error: argument "{text}" is wrong: Invalid "mtu" value\n', 255)
    if call.process.user != "root":
        raise Refused("RTNETLINK answers: Operation not permitted\n", 2)
    if not LEAST_MTU_BYTES <= int(text) <= LARGEST_MTU_BYTES:
        less = int(text) < LEAST_MTU_BYTES
        how = "less than device minimum" if less else "greater than device maximum"
        raise Refused(f"Error: mtu {how}.\n", 2)
    if not call.host.faults.lies:
        call.host.lab.set_mtu(port, int(text))
    return ""


def _unusual(call: Call, kind: str, words: list[str]) -> str:
    """`ip route get ADDRESS`, MTUs; other changes are refused rather than not made."""
    if "link".startswith(kind) and words[0] == "set" and "mtu" in words:
        return _set_mtu(call, [word for word in words[1:] if word != "dev"])
    if words[0] in _CHANGES:
        raise Refused("RTNETLINK answers: Operation not supported\n", 2)
    only(words[2:])
    port = call.host.route(words[1]) if len(words) > 1 else None
    if port is None:
        raise Refused("RTNETLINK answers: Network is unreachable\n", 2)
    return f"{words[1]} dev {port.interface} src {port.address} uid 0 \n    cache \n"


def _brief(ports: list[NicPort], names: list[str], *, with_address: bool) -> str:
    of_lo = "127.0.0.1/8 ::1/128" if with_address else "00:00:00:00:00:00 <LOOPBACK,UP,LOWER_UP>"
    lines = [] if names else [f"{'lo':<16} {'UNKNOWN':<14} {of_lo} "]
    for port in ports:
        address = f"{port.address}/{port.prefix_length} " if port.address else ""
        tail = address if with_address else f"{port.mac} {_flags(port)} "
        lines.append(f"{port.interface:<16} {_state(port):<14} {tail}")
    return "".join(line + "\n" for line in lines)


def _state(port: NicPort) -> str:
    return "UP" if port.up else "DOWN"


def _flags(port: NicPort) -> str:
    return "<BROADCAST,MULTICAST,UP,LOWER_UP>" if port.up else "<NO-CARRIER,BROADCAST,MULTICAST,UP>"


_FOR_EVER = "       valid_lft forever preferred_lft forever"


def _long(ports: list[NicPort], names: list[str], *, with_address: bool) -> str:
    mode = "" if with_address else "mode DEFAULT "
    lines: list[str] = []
    if not names or names == ["lo"]:
        lines += [
            "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN "
            f"{mode}group default qlen 1000",
            "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00",
        ]
        lines += ["    inet 127.0.0.1/8 scope host lo", _FOR_EVER] if with_address else []
    for port in ports:
        lines += [
            f"{port.interface_index}: {port.interface}: {_flags(port)} mtu {port.mtu_bytes} "
            f"{port.attached} state {_state(port)} {mode}group default qlen 1000",
            f"    link/ether {port.mac} brd ff:ff:ff:ff:ff:ff",
        ]
        network = network_of(port)
        if with_address and network is not None:
            lines += [
                f"    inet {port.address}/{port.prefix_length} brd {network.broadcast_address} "
                f"scope global {port.interface}",
                _FOR_EVER,
            ]
    return "".join(line + "\n" for line in lines)


_LEAST_WIDTHS = (10, 7, 6, 7, 7, 7)
_HEADS = {
    "RX": ["bytes", "packets", "errors", "dropped", "missed", "mcast"],
    "TX": ["bytes", "packets", "errors", "dropped", "carrier", "collsns"],
}
_COUNTED = {
    "RX": ["rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_missed_errors", "multicast"],
    "TX": ["tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_carrier_errors", "collisions"],
}


def _counts(call: Call, name: str) -> dict[str, list[str]]:
    """What `-s` shows, as it stands in sysfs; nothing here goes over lo."""
    folder, read = f"/sys/class/net/{name}/statistics", call.host.tree.read
    return {
        way: ["0" if name == "lo" else read(f"{folder}/{file}").strip() for file in files]
        for way, files in _COUNTED.items()
    }


def _counted(call: Call, name: str) -> str:
    """The lines of `-s`; widths as recorded with iproute2 6.1."""
    both = _counts(call, name)
    widths = [
        max(least, *map(len, values))
        for least, *values in zip(_LEAST_WIDTHS, *both.values(), strict=True)
    ]
    text = ""
    for way, values in both.items():
        heads = [head.rjust(width) for head, width in zip(_HEADS[way], widths, strict=True)]
        cells = [value.rjust(width) for value, width in zip(values, widths, strict=True)]
        text += f"    {way}:{' '.join(heads)[3:]}{' ' * 11}\n    {' '.join(cells)} \n"
    return text


def _with_counts(call: Call, ports: list[NicPort], names: list[str]) -> str:
    """Links, each with its counters."""
    links: dict[str, list[NicPort]] = {} if ports and names else {"lo": []}
    links |= {port.interface: [port] for port in ports}
    return "".join(
        _long(of, [name], with_address=False) + _counted(call, name) for name, of in links.items()
    )


def _routes(ports: list[NicPort]) -> str:
    return "".join(
        f"{network_of(port)} dev {port.interface} proto kernel scope link src {port.address} \n"
        for port in ports
        if port.address
    )


TOOLS: Tools = {"ip": _ip}
