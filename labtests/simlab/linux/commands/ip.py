"""ip: addresses, links and routes, in the usual and the brief form; VLAN interfaces with details.
It changes only MTUs, egress maps of VLANs, whether a port is up, and VXLAN devices."""

from functools import partial

from labtests.inventory import Endpoint
from labtests.simlab.linux.calls import Call, Tools, screen
from labtests.simlab.linux.commands.ip_tunnels import change_of_tunnel, tunnel_in_json
from labtests.simlab.linux.options import NotEmulated, Refused, only
from labtests.simlab.linux.ports import LARGEST_MTU_BYTES, LEAST_MTU_BYTES
from labtests.simlab.linux.vlans import ShownInterface, VlanInterface, changed_map

VERSION = "ip utility, iproute2-6.1.0, libbpf 1.1.2\n"
_DETAILS = {"d", "details"}
_CHANGES = {"set", "add", "del", "delete", "change", "replace", "append", "flush"}


def _ip(call: Call) -> str:
    words = list(call.arguments)
    flags = _leading_options(words)
    if flags & {"V", "Version"}:
        return VERSION
    if flags & {"j", "json"}:
        return tunnel_in_json(call, words, flags)
    return _shown_or_changed(call, words, flags)


def _shown_or_changed(call: Call, words: list[str], flags: set[str]) -> str:
    only(flags, "br", "brief", "s", "stats", "statistics", *_DETAILS)
    if not words or not any(name.startswith(words[0]) for name in ("address", "link", "route")):
        raise NotEmulated(" ".join(call.argv))
    kind = words.pop(0)
    if words and words[0] in {*_CHANGES, "get"}:
        return _unusual(call, kind, words)
    names = [word for word in words if word not in ("show", "list", "dev", "up")]
    only(names[1:])
    ports = [each for each in _interfaces(call) if not names or each.interface in names]
    if names and not ports and names != ["lo"]:
        raise Refused(f'Device "{names[0]}" does not exist.\n')
    if "route".startswith(kind):
        only(flags)
        return _routes(ports)
    if flags & _DETAILS:
        return _in_detail(kind, ports, flags)
    shown = {"ports": ports, "lo": names in ([], ["lo"]), "addresses": not "link".startswith(kind)}
    if flags & {"s", "stats", "statistics"}:
        only([*flags & {"br", "brief"}, *(["-s of addresses"] if shown["addresses"] else [])])
        return screen("ip", **shown, counted=partial(_counted, call))
    return screen("ip-brief", **shown) if flags else screen("ip", **shown, counted=lambda name: "")


def _in_detail(kind: str, shown: list[ShownInterface], flags: set[str]) -> str:
    """`-d` of VLAN interfaces only."""
    only([*flags - _DETAILS, *([] if "link".startswith(kind) else ["-d of addresses"])])
    if any(each.vlan is None for each in shown):
        raise NotEmulated("ip -d of anything but a VLAN interface")
    texts = [screen("ip", ports=[each], lo=False, addresses=False, counted=str) for each in shown]
    return "".join(
        text[: text.rindex("\n")] + _detailed(each.vlan)
        for text, each in zip(texts, shown, strict=True)
        if each.vlan is not None
    )


def _leading_options(words: list[str]) -> set[str]:
    """The options before the object, which are taken off."""
    flags: set[str] = set()
    while words and words[0].startswith("-"):
        flags.add(words.pop(0).lstrip("-"))
    return flags


def _interfaces(call: Call) -> list[ShownInterface]:
    """Of all ports, in the order of their numbers."""
    each = [shown for port in call.host.ports for shown in port.shown()]
    return sorted(each, key=lambda shown: shown.interface_index)


def _shown(call: Call, name: str) -> ShownInterface | None:
    return next((each for each in _interfaces(call) if each.interface == name), None)


def _detailed(vlan: VlanInterface) -> str:
    """What `-d` adds to the last line."""
    text = f" promiscuity 0 minmtu 0 maxmtu 65535 \n    vlan protocol 802.1Q id {vlan.id} "
    text += "<REORDER_HDR> "
    if vlan.egress:
        maps = "".join(f"{priority}:{pcp} " for priority, pcp in sorted(vlan.egress.items()))
        text += f"\n      egress-qos-map {{ {maps}}} "
    return f"{text}addrgenmode eui64 numtxqueues 1 numrxqueues 1 {_SEGMENTS}\n"


_SEGMENTS = "gso_max_size 65536 gso_max_segs 65535 "


def _set_egress_map(call: Call, words: list[str]) -> str:
    """`ip link set dev IF.ID type vlan egress-qos-map 4:5 ...`: adds to what is there."""
    shown = _shown(call, words[0])
    if shown is None:
        raise Refused(f'Cannot find device "{words[0]}"\n')
    if shown.vlan is None:
        raise Refused("RTNETLINK answers: Operation not supported\n", 2)
    told = changed_map(
        words[words.index("egress-qos-map") + 1 :],
        lambda word: Refused(f'Error: argument "{word}" is wrong: invalid egress-qos-map\n', 255),
    )
    if call.process.user != "root":
        raise Refused("RTNETLINK answers: Operation not permitted\n", 2)
    if not call.host.faults.lies:
        shown.vlan.egress.update(told)
    return ""


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


def _set_state(call: Call, words: list[str]) -> str:
    """`ip link set [dev] IF up | down`: without a link no packet leaves, and none comes."""
    port = call.host.port(words[0])
    if port is None:
        raise Refused(f'Cannot find device "{words[0]}"\n')
    if call.process.user != "root":
        raise Refused("RTNETLINK answers: Operation not permitted\n", 2)
    enabled = words[1] == "up"
    if port.nic is not None and port.enabled != enabled and not call.host.faults.lies:
        port.enabled = enabled
        call.host.lab.set_link(Endpoint(device=call.host.name, interface=words[0]), enabled)
        for name in ("carrier_changes", *(_COUNTED_UP if enabled else _COUNTED_DOWN)):
            call.host.faults.losses.grow(words[0], name, lambda: 1)
    return ""


_COUNTED_UP, _COUNTED_DOWN = ("carrier_up_count",), ("carrier_down_count", "link_down_events_phy")


def _unusual(call: Call, kind: str, words: list[str]) -> str:
    """`ip route get ADDRESS`, MTUs, up and down; other changes are refused rather than not made."""
    if change_of_tunnel(call, kind, words):
        return ""
    named = [word for word in words[1:] if word != "dev"]
    if "link".startswith(kind) and words[0] == "set":
        if "mtu" in words:
            return _set_mtu(call, named)
        if "egress-qos-map" in words:
            return _set_egress_map(call, named)
        if named[1:] in (["up"], ["down"]):
            return _set_state(call, named)
    if words[0] in _CHANGES:
        raise Refused("RTNETLINK answers: Operation not supported\n", 2)
    only(words[2:])
    port = call.host.route(words[1]) if len(words) > 1 else None
    if port is None:
        raise Refused("RTNETLINK answers: Network is unreachable\n", 2)
    return f"{words[1]} dev {port.data_interface} src {port.address} uid 0 \n    cache \n"


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


def _routes(ports: list[ShownInterface]) -> str:
    return "".join(
        f"{port.network} dev {port.interface} proto kernel scope link src {port.address} \n"
        for port in ports
        if port.address
    )


TOOLS: Tools = {"ip": _ip}
