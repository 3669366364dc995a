"""/sys and /proc of an emulated host: reading and writing reach into the network.

DCQCN files: MLNX_OFED's `ecn` folder (documents of NVIDIA, "Explicit Congestion Notification"). A
value that is no number, or out of its range, is EINVAL, as a sysfs store function returns it.
"""

import errno
import posixpath
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from labtests.network import Nic
from labtests.simlab.linux import rdma_counters
from labtests.simlab.linux.commands.system import KERNEL, KERNEL_BUILD
from labtests.simlab.linux.machine import Machine
from labtests.simlab.linux.ports import NicPort, gid_interface, gids, guid
from labtests.simlab.tree import File, failure

MAX_VALUES = {
    "clamp_tgt_rate": 1,
    "clamp_tgt_rate_after_time_inc": 1,
    "rpg_threshold": 31,
    "rpg_gd": 15,
    "rpg_min_dec_fac": 100,
    "dce_tcp_g": 1023,
    "initial_alpha_value": 1023,
    "cnp_802p_prio": 7,
    "cnp_dscp": 63,
    "rpg_byte_reset": 32767,
    "rpg_time_reset": 131071,
    "dce_tcp_rtt": 131071,
    "rpg_max_rate": 200_000,
    "rpg_ai_rate": 200_000,
    "rpg_hai_rate": 200_000,
    "rpg_min_rate": 200_000,
    "rate_to_set_on_first_cnp": 200_000,
    "rate_reduce_monitor_period": 0xFFFFFFFF,
    "min_time_between_cnps": 4095,
}
"""Largest values of `mstconfig show_confs`; where it names none, the width of the firmware's field
(the latter from memory)."""


def populate(host: Machine) -> None:
    """The host's tree has everything below /sys, /proc and /etc."""
    populate_system(host)
    for port in host.ports:
        _add_interface(host, port)
        _add_vlan_interface(host, port)
        _add_rdma_device(host, port)
        _add_dcqcn(host, port)


def populate_system(host: Machine) -> None:
    """What does not belong to a port."""
    constants = {
        "etc/hostname": host.name,
        "etc/passwd": "root:x:0:0:root:/root:/bin/bash",
        "etc/os-release": 'NAME="Ubuntu"\nVERSION_ID="22.04"',
        "proc/version": f"Linux version {KERNEL} {KERNEL_BUILD}",
        "proc/sys/net/core/rmem_max": "212992",
    }
    _add_constants(host, "", constants)
    _add(host, "/dev/null", str)
    _add(host, "/proc/uptime", lambda: f"{host.uptime_s():.2f} 0.00\n")
    _add(host, "/proc/sys/kernel/random/boot_id", lambda: f"{host.boot_id}\n")
    host.tree.add("/proc/sys/net/ipv4/tcp_ecn", _tcp_ecn(host))
    _add(host, "/proc/net/snmp", lambda: snmp(host))
    _add(host, "/proc/net/netstat", lambda: _netstat(host))
    _add(host, "/proc/net/dev", lambda: _proc_net_dev(host))


def _netstat(host: Machine) -> str:
    """/proc/net/netstat, some of its columns. The emulated stack drops nothing of this kind."""
    counted = [counters for port in host.ports if (counters := port.counted()) is not None]
    ecn = (sum(each.ip_in_ect0 for each in counted), sum(each.ip_in_ce for each in counted))
    return (
        "TcpExt: TCPBacklogDrop TCPRcvQDrop\nTcpExt: 0 0\n"
        "IpExt: InNoRoutes InTruncatedPkts InCsumErrors InECT0Pkts InCEPkts\n"
        f"IpExt: 0 0 0 {ecn[0]} {ecn[1]}\n"
    )


def _tcp_ecn(host: Machine) -> File:
    def write(text: str) -> None:
        if text.strip() not in ("0", "1", "2"):
            raise failure(errno.EINVAL)
        host.sockets.tcp_ecn = int(text)

    return File(read=lambda: f"{host.sockets.tcp_ecn}\n", write=write)


def snmp(host: Machine) -> str:
    """/proc/net/snmp: a header line and a value line for each protocol."""
    return "".join(
        f"{group}: {' '.join(values)}\n{group}: {' '.join(map(str, values.values()))}\n"
        for group, values in _protocols(host).items()
    )


def snmp_counters(host: Machine) -> frozenset[str]:
    """All that are in it, as nstat calls them."""
    return frozenset(group + name for group, names in _protocols(host).items() for name in names)


_SNMP = {
    "Ip": "Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams InUnknownProtos "
    "InDiscards InDelivers OutRequests OutDiscards OutNoRoutes ReasmTimeout ReasmReqds ReasmOKs "
    "ReasmFails FragOKs FragFails FragCreates",
    "Icmp": "InMsgs InErrors InCsumErrors InDestUnreachs InTimeExcds InParmProbs InSrcQuenchs "
    "InRedirects InEchos InEchoReps InTimestamps InTimestampReps InAddrMasks InAddrMaskReps "
    "OutMsgs OutErrors OutDestUnreachs OutTimeExcds OutParmProbs OutSrcQuenchs OutRedirects "
    "OutEchos OutEchoReps OutTimestamps OutTimestampReps OutAddrMasks OutAddrMaskReps",
    "Tcp": "InSegs RetransSegs InErrs InCsumErrors",
    "Udp": "InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors "
    "IgnoredMulti MemErrors",
}


def _protocols(host: Machine) -> dict[str, dict[str, int]]:
    """Ip, Icmp, Tcp and Udp from the NICs' counters; what is not counted is 0. A NIC that is reset
    takes nothing from what the kernel has counted."""
    found = [(port, port.counted()) for port in host.ports]

    def total(name: str) -> int:
        return sum(
            port.reading(name, lambda counters=counters: int(getattr(counters, name)))  # type: ignore[misc]
            for port, counters in found
            if counters is not None
        )

    live = _counted(host, total)
    grown = host.faults.losses.grown
    return {
        group: {name: live.get(group + name, 0) + grown("", group + name) for name in names.split()}
        for group, names in _SNMP.items()
    }


def _counted(host: Machine, total: Callable[[str], int]) -> dict[str, int]:
    received, sent = total("ip_in_receives"), total("udp_out_datagrams")
    icmp, out = _icmp(host), sum(port.echoes.tx_packets for port in host.ports)
    pings = sum(flow.received_datagrams for flow in host.sockets.pings_in)
    lost = sum(socket.lost(host.kernel.now_ns) for socket in host.sockets.narrow)
    refused = sum(socket.refused for socket in host.sockets.closed)
    asked, done, failed = (total(f"ip_reasm_{name}") for name in ("reqds", "oks", "fails"))
    delivered = received - asked + done
    of_udp = total("udp_in_datagrams") + total("udp_in_errors")
    tunnelled = total("tunnel_in")  # the outer packet of each
    return {
        "IpForwarding": 2,
        "IpDefaultTTL": 64,
        "IpInReceives": received + tunnelled,
        "IpInDelivers": delivered + tunnelled,
        "IpOutRequests": sent + out + total("tunnel_out"),
        "IpReasmTimeout": failed,
        "IpReasmReqds": asked,
        "IpReasmOKs": done,
        "IpReasmFails": failed,
        **icmp,
        "TcpInSegs": max(delivered - of_udp - (icmp["IcmpInMsgs"] - pings), 0),
        "TcpRetransSegs": sum(flow.retransmits for flow in host.sockets.tcp),
        "UdpInDatagrams": total("udp_in_datagrams") + tunnelled - lost - pings - refused,
        "UdpNoPorts": refused,
        "UdpInErrors": total("udp_in_errors") + lost,
        "UdpOutDatagrams": sent - sum(flow.sent_datagrams for flow in host.sockets.pings_out),
        "UdpRcvbufErrors": total("udp_rcvbuf_errors") + lost,
    }


def _icmp(host: Machine) -> dict[str, int]:
    """Echo requests and answers: packets of the network, and those that it does not know."""
    at = host.sockets
    asked = sum(flow.sent_datagrams for flow in at.pings_out) + at.requests_out
    came = sum(flow.received_datagrams for flow in at.pings_in) + at.requests_in
    return {
        "IcmpInMsgs": came + at.answers_in,
        "IcmpInEchos": came,
        "IcmpInEchoReps": at.answers_in,
        "IcmpOutMsgs": asked + at.requests_in,
        "IcmpOutEchos": asked,
        "IcmpOutEchoReps": at.requests_in,
    }


def _add(host: Machine, path: str, read: Callable[[], str]) -> None:
    host.tree.add(path, File(read=read))


def _add_constants(host: Machine, folder: str, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        _add(host, f"{folder}/{name}", partial(str, f"{text}\n"))


def _add_interface(host: Machine, port: NicPort) -> None:
    constants = {
        "speed": str(port.speed_mbit_per_s),
        "dev_port": "0",
        "device/vendor": "0x15b3",
        "device/device": "0x1013",
        "device/numa_node": "0",
    }
    add_interface(host, port, constants, partial(_statistic, port))
    host.tree.add_folder(f"/sys/class/net/{port.interface}/device/infiniband/{port.rdma}")


def _add_vlan_interface(host: Machine, port: NicPort) -> None:
    """What a VLAN interface has: no device of a bus, and all packets of the port's address."""
    if port.vlan is None:
        return
    base = f"/sys/class/net/{port.vlan.name}"
    constants = {
        "address": port.mac,
        "ifindex": str(port.vlan.index),
        "iflink": str(port.interface_index),
        "type": "1",
        "uevent": f"DEVTYPE=vlan\nINTERFACE={port.vlan.name}\nIFINDEX={port.vlan.index}",
    }
    _add_constants(host, base, constants)
    _add_state(host, base, port)
    for name in STATISTICS:
        _add(host, f"{base}/statistics/{name}", _statistic(port, name))
    for name in CARRIER:
        _add(host, f"{base}/{name}", _carrier_count(port, name))


def add_interface(
    host: Machine,
    port: NicPort,
    constants: dict[str, str],
    statistic: Callable[[str], Callable[[], str]],
) -> None:
    """What any net device has in sysfs, and these constants."""
    base = f"/sys/class/net/{port.interface}"
    constants |= {
        "address": port.mac,
        "duplex": "full",
        "ifindex": str(port.interface_index),
        "type": "1",
    }
    _add_constants(host, base, constants)
    _add_state(host, base, port)
    for name in STATISTICS:
        _add(host, f"{base}/statistics/{name}", statistic(name))
    for name in CARRIER:
        _add(host, f"{base}/{name}", _carrier_count(port, name))


def _add_state(host: Machine, base: str, port: NicPort) -> None:
    _add(host, f"{base}/mtu", lambda: f"{port.mtu_bytes}\n")
    _add(host, f"{base}/operstate", lambda: "up\n" if port.up else "down\n")
    _add(host, f"{base}/carrier", lambda: f"{int(port.up)}\n")


CARRIER = ("carrier_changes", "carrier_up_count", "carrier_down_count")
STATISTICS = (
    *("collisions", "multicast", "rx_bytes", "rx_compressed", "rx_crc_errors", "rx_dropped"),
    *("rx_errors", "rx_fifo_errors", "rx_frame_errors", "rx_length_errors", "rx_missed_errors"),
    *("rx_nohandler", "rx_over_errors", "rx_packets", "tx_aborted_errors", "tx_bytes"),
    *("tx_carrier_errors", "tx_compressed", "tx_dropped", "tx_errors", "tx_fifo_errors"),
    *("tx_heartbeat_errors", "tx_packets", "tx_window_errors"),
)


def _carrier_count(port: NicPort, name: str) -> Callable[[], str]:
    """A link here came up once, and stayed, unless a fault took it down."""
    first = 0 if name == "carrier_down_count" else int(port.nic is not None)
    return lambda: f"{port.reading(name, lambda: first)}\n"


def _statistic(port: NicPort, name: str) -> Callable[[], str]:
    """What the kernel's stack saw: not RDMA, which bypasses it; and what mlx5 adds of the wire."""

    def read() -> str:
        counters = port.counters()
        if counters is None:
            return "0\n"
        live = {"rx_packets": counters.ip_in_receives, "tx_packets": counters.ip_out_packets}
        live |= {"rx_bytes": counters.ip_in_bytes, "tx_bytes": counters.ip_out_bytes}
        broken = port.faults.defects.broken_frames(port.interface, port.now_ns())
        live |= dict.fromkeys(("rx_crc_errors", "rx_errors"), counters.rx_crc_errors + broken)
        return f"{port.reading(name, lambda: live.get(name, 0))}\n"

    return read


_NET_DEV = {
    "receive": "bytes packets errs drop fifo frame compressed multicast",
    "transmit": "bytes packets errs drop fifo colls carrier compressed",
}
_WIDTHS = (7, 7, 4, 4, 4, 5, 10, 9, 8, 7, 4, 4, 4, 5, 7, 10)
_IN_STATISTICS = {"errs": "errors", "drop": "dropped", "fifo": "fifo_errors"}
_IN_STATISTICS |= {"frame": "frame_errors", "carrier": "carrier_errors"}


def _proc_net_dev(host: Machine) -> str:
    """Columns and widths as net/core/net-procfs.c prints them."""
    lines = [
        "Inter-|   Receive                                                |  Transmit\n",
        " face |bytes    packets errs drop fifo frame compressed multicast|"
        "bytes    packets errs drop fifo colls carrier compressed\n",
    ]
    rows = {port.interface: _reader(port) for port in host.ports}
    for name, read in {"lo": lambda _: 0, **rows}.items():
        counts = map(read, _columns())
        shown = " ".join(f"{count:>{wide}}" for count, wide in zip(counts, _WIDTHS, strict=True))
        lines.append(f"{name:>6}: {shown}\n")
    return "".join(lines)


def _columns() -> Iterator[str]:
    """Names in statistics/, in the order of /proc/net/dev."""
    for way, columns in _NET_DEV.items():
        for column in columns.split():
            if column in ("multicast", "colls"):
                yield {"colls": "collisions"}.get(column, column)
            else:
                yield f"{way[0]}x_{_IN_STATISTICS.get(column, column)}"


def _reader(port: NicPort) -> Callable[[str], int]:
    return lambda counter: int(_statistic(port, counter)())


def _add_rdma_device(host: Machine, port: NicPort) -> None:
    device = f"/sys/class/infiniband/{port.rdma}"
    host.tree.add_folder(f"{device}/device/net/{port.interface}")
    below = f"{device}/ports/1"
    digits = guid(port)
    constants = {
        "node_guid": ":".join(digits[at : at + 4] for at in range(0, 16, 4)),
        "node_type": "1: CA",
        "hca_type": "MT4115",
        "ports/1/link_layer": "Ethernet",
        "ports/1/rate": f"{max(port.speed_mbit_per_s, 0) // 1000} Gb/sec",
    }
    for index, (gid, kind) in enumerate(gids(port)):
        constants[f"ports/1/gids/{index}"] = gid
        constants[f"ports/1/gid_attrs/types/{index}"] = kind
        constants[f"ports/1/gid_attrs/ndevs/{index}"] = gid_interface(port, gid)
    _add_constants(host, device, constants)
    _add(host, f"{device}/fw_ver", lambda: f"{port.firmware}\n")
    _add(host, f"{below}/state", lambda: "4: ACTIVE\n" if port.up else "1: DOWN\n")
    _add(host, f"{below}/phys_state", lambda: "5: LinkUp\n" if port.up else "3: Disabled\n")
    for name in rdma_counters.OF_THE_PORT:
        _add(host, f"{below}/counters/{name}", _port_counter(port, name))
    for name in rdma_counters.NAMES:
        host.tree.add(f"{below}/hw_counters/{name}", _hw_counter(port, name))


def _port_counter(port: NicPort, name: str) -> Callable[[], str]:
    return lambda: f"{rdma_counters.of_the_port(port, name)}\n"


def _hw_counter(port: NicPort, name: str) -> File:
    return File(
        read=lambda: f"{rdma_counters.value(port, name)}\n", hidden=lambda: port.missing(name)
    )


def _add_dcqcn(host: Machine, port: NicPort) -> None:
    nic = port.nic
    if nic is None:
        return
    for side, names in (("roce_rp", nic.dcqcn_rp), ("roce_np", nic.dcqcn_np)):
        base = f"/sys/class/net/{port.interface}/ecn/{side}"
        for folder in (posixpath.dirname(base), base):
            host.tree.add_folder(folder, lambda: host.faults.no_ecn_folder)
        for name in names:
            host.tree.add(f"{base}/{name}", _parameter(host, nic, side, name))
        for priority in range(8):
            host.tree.add(f"{base}/enable/{priority}", _switch(host, nic, side, priority))


def _parameter(host: Machine, nic: Nic, side: str, name: str) -> File:
    def read() -> int:
        return (nic.dcqcn_rp if side == "roce_rp" else nic.dcqcn_np)[name]

    return _setting(host, read, partial(nic.set_dcqcn, side, name), MAX_VALUES[name])


def _switch(host: Machine, nic: Nic, side: str, priority: int) -> File:
    def read() -> int:
        return int(priority in (nic.rp_enabled if side == "roce_rp" else nic.np_enabled))

    def write(value: int) -> None:
        (nic.set_rp if side == "roce_rp" else nic.set_np)(priority, bool(value))

    return _setting(host, read, write, 1)


def _setting(
    host: Machine, read: Callable[[], int], write: Callable[[int], None], largest: int
) -> File:
    def written(text: str) -> None:
        value = _number(text, largest)
        if not host.faults.lies:
            write(value)

    return File(read=lambda: f"{read()}\n", write=written, hidden=lambda: host.faults.no_ecn_folder)


def _number(text: str, largest: int) -> int:
    try:
        value = int(text.strip(), 0)
    except ValueError:
        raise failure(errno.EINVAL) from None
    if not 0 <= value <= largest:
        raise failure(errno.EINVAL)
    return value
