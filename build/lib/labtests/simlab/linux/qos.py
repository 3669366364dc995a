"""What mlnx_qos sets on one port, beyond what the network itself keeps.

Of it all, PFC, trust and the DSCP map change what packets do; cable length and traffic classes are
only remembered.
"""

from labtests.simlab.linux.ports import NicPort

LOSSY_BYTES = (262_016, 0, 0, 0, 0, 0, 0, 0)  # one for all (a fresh ConnectX-4, from memory)
LOSSLESS_BYTES = (130_944, 130_944, 0, 0, 0, 0, 0, 0)  # document 000, with PFC on one priority
VENDOR_TC = (1, 0, 2, 3, 4, 5, 6, 7)  # the driver's default: priority 0 -> TC 1, 1 -> TC 0
DEFAULT_CABLE_M = 7
VENDOR, STRICT, ETS = "vendor", "strict", "ets"


class QosState:
    """The QoS settings of one port."""

    def __init__(self, port: NicPort) -> None:
        self._port = port
        self.dcbx = "os"
        self.cable_length_m = DEFAULT_CABLE_M
        self.algorithms = [VENDOR] * 8
        self.bandwidth_percent = [0] * 8
        self.tc_of_priority = list(VENDOR_TC)
        self._order = list(range(63, -1, -1))

    @property
    def pfc(self) -> frozenset[int]:
        """Priorities with PFC."""
        return self._port.nic.pfc if self._port.nic is not None else frozenset()

    def set_pfc(self, priorities: frozenset[int]) -> None:
        """Exactly these have PFC; the driver then arranges its buffers anew."""
        if self._port.nic is not None:
            self._port.nic.set_pfc(priorities)

    @property
    def trust(self) -> str:
        """ "pcp" or "dscp"."""
        return self._port.nic.trust if self._port.nic is not None else "pcp"

    def set_trust(self, trust: str) -> None:
        """A change brings the default map: the tool writes or deletes the whole DSCP table."""
        nic = self._port.nic
        if nic is None or nic.trust == trust:
            return
        nic.set_trust(trust)
        for dscp in range(64):
            nic.set_dscp(dscp, dscp >> 3)
        self._order = list(range(63, -1, -1))

    def dscps(self) -> list[tuple[int, int]]:
        """(DSCP, priority), the latest entry first: the order of the kernel's table."""
        if self._port.nic is None:
            return []
        priorities = self._port.nic.dscp_map
        return [(dscp, priorities[dscp]) for dscp in self._order]

    def set_dscp(self, dscp: int, priority: int) -> None:
        """The entry is new in the table. The first one makes DSCP trusted."""
        nic = self._port.nic
        if nic is None:
            return
        self.set_trust("dscp")
        nic.set_dscp(dscp, priority)
        self._order.remove(dscp)
        self._order.insert(0, dscp)

    def delete_dscp(self, dscp: int, priority: int) -> None:
        """Back to priority 0, as the tool's help says. Raises KeyError when the map differs."""
        if self._port.nic is None or self._port.nic.dscp_map[dscp] != priority:
            raise KeyError(dscp)
        self.set_dscp(dscp, 0)

    @property
    def buffer_of(self) -> list[int]:
        """The receive buffer of each priority."""
        return [int(priority in self.pfc) for priority in range(8)]

    @property
    def buffer_bytes(self) -> list[int]:
        """The size of each receive buffer."""
        return list(LOSSLESS_BYTES if self.pfc else LOSSY_BYTES)
