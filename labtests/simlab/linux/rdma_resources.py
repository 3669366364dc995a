"""What `rdma res show` lists: connection ids and queue pairs of the programs on this host."""

from typing import Any

from labtests.simlab.linux.machine import Machine
from labtests.simlab.linux.sockets import Connected

Row = dict[str, Any]
FIRST_CM_ID = 70


def cm_ids(host: Machine) -> list[Row]:
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


def queue_pairs(host: Machine) -> list[Row]:
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
        for connected in host.sockets.connected
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
