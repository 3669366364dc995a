"""The network as its NICs, switches and flows see it: what they are handed by network.py."""

from typing import Protocol

from labtests.network.memory_settings import SwitchMemory
from labtests.network.tables import State, Tables
from labtests.network.wiring import Wiring


class NetworkModel(Protocol):
    """Its tables, and what compiled functions take to change them."""

    tables: Tables
    wiring: Wiring
    flow_rows: int
    handed_out: int

    @property
    def state(self) -> State:
        """What compiled functions take: who asks for it may change anything."""
        ...


class HostModel(NetworkModel, Protocol):
    """With what a host's NIC has changed for its flows."""

    def choose_lanes(self, host: int) -> None:
        """What a host's NIC makes of DSCPs has changed: its flows follow."""
        ...

    def unlimit(self, host: int, priority: int) -> None:
        """Flows of this host and priority run without a DCQCN limiter."""
        ...


class SwitchModel(NetworkModel, Protocol):
    """With the buffers of switches."""

    memory: dict[str, SwitchMemory]
