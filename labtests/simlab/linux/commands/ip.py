"""ip: addresses, links and routes, in the usual and the brief form. It changes only MTUs."""

from functools import partial

from labtests.simlab.linux.calls import Call, Tools, screen
from labtests.simlab.linux.options import NotEmulated, Refused, only
from labtests.simlab.linux.ports import LARGEST_MTU_BYTES, LEAST_MTU_BYTES, NicPort

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
    shown = {"ports": ports, "lo": names in ([], ["lo"]), "addresses": not of_link}
    if flags & {"s", "stats", "statistics"}:
        only([*flags & {"br", "brief"}, *([] if of_link else ["-s of addresses"])])
        return screen("ip", **shown, counted=partial(_counted, call))
    return screen("ip-brief", **shown) if flags else screen("ip", **shown, counted=lambda name: "")


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


def _routes(ports: list[NicPort]) -> str:
    return "".join(
        f"{port.network} dev {port.interface} proto kernel scope link src {port.address} \n"
        for port in ports
        if port.address
    )


TOOLS: Tools = {"ip": _ip}
