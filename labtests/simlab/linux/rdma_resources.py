"""Connections by RDMA of the programs on a host, as the kernel tracks them."""

from dataclasses import dataclass


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
