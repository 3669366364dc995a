"""What `rdma res show` lists: connection ids and queue pairs of the programs on this host."""

from dataclasses import dataclass
from typing import Any, Protocol

from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux.ports import NicPort

Row = dict[str, Any]
FIRST_CM_ID = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePair:
    """One end of a connection."""

    number: int
    psn: int
    remote_key: int
    address: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """One queue pair of a program that is connected, as resource tracking sees it."""

    device: str
    device_index: int
    process_id: int
    process_name: str
    local: QueuePair
    remote: QueuePair
    source: str  # address:port
    destination: str
    by_rdma_cm: bool


class HasConnections(Protocol):
    """The host whose resources are tracked."""

    name: str
    lab: SimulatedLab
    ports: tuple[NicPort, ...]
    connected: list[Connected]


def cm_ids(host: HasConnections) -> list[Row]:
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
    for connected in host.connected:
        if connected.by_rdma_cm:
            rows.append(_connected_id(connected, FIRST_CM_ID + len(rows)))
    return rows


def _connected_id(connected: Connected, number: int) -> Row:
    return {
        "ifindex": connected.device_index,
        "ifname": connected.device,
        "port": 1,
        "cm-idn": number,
        "lqpn": connected.local.number,
        "qp-type": "RC",
        "state": "CONNECT",
        "ps": "TCP",
        "pid": connected.process_id,
        "comm": connected.process_name,
        "src-addr": connected.source,
        "dst-addr": connected.destination,
    }


def queue_pairs(host: HasConnections) -> list[Row]:
    """Queue pairs: those of programs, then the kernel's own of each device."""
    rows: list[Row] = [
        {
            "ifindex": connected.device_index,
            "ifname": connected.device,
            "port": 1,
            "lqpn": connected.local.number,
            "rqpn": connected.remote.number,
            "type": "RC",
            "state": "RTS",
            "rq-psn": connected.remote.psn,
            "sq-psn": connected.local.psn,
            "path-mig-state": "MIGRATED",
            "pdn": 102,
            "pid": connected.process_id,
            "comm": connected.process_name,
        }
        for connected in host.connected
    ]
    rows += [
        {
            "ifindex": port.index,
            "ifname": port.rdma,
            "port": 1,
            "lqpn": 1,
            "type": "GSI",
            "state": "RTS",
            "sq-psn": 0,
            "comm": "ib_core",
        }
        for port in host.ports
    ]
    return rows
