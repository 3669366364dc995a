"""The counters of a host with ConnectX ports: those of mlx5 by ethtool, PFC too."""

from labtests.capabilities.device import PfcTelemetry
from labtests.capabilities.records import RdmaLink, Reading
from labtests.core.errors import ToolMissing
from labtests.drivers.connectx.ethtool import nic_readings, pfc_readings
from labtests.drivers.connectx.rdma import IBDEV2NETDEV, parse_ibdev2netdev
from labtests.drivers.linux.rdma import (
    RDMA_LINKS,
    parse_rdma_links,
    parse_rdma_statistic,
    rdma_readings,
    rdma_statistic_command,
)
from labtests.drivers.linux.telemetry import NicCounters as HostCounters
from labtests.drivers.parsing import refuse
from labtests.transport.commands import program


class NicCounters(HostCounters, PfcTelemetry):
    """What a host counts. A counter it does not show is None with the reason, never 0."""

    def rdma_links(self) -> tuple[RdmaLink, ...]:
        """Every RDMA link of the host: by `rdma -j link`, or ibdev2netdev where that is missing."""
        try:
            return parse_rdma_links(self._run(RDMA_LINKS))
        except ToolMissing as no_rdma:
            try:
                return parse_ibdev2netdev(self._run(program("ibdev2netdev")))
            except ToolMissing as error:
                problem = f"{no_rdma.problem}; {error.problem}"
                raise ToolMissing(
                    error.device, RDMA_LINKS, problem, IBDEV2NETDEV.install
                ) from error

    def pfc_counters(self, ports: tuple[str, ...]) -> tuple[Reading, ...]:
        """PFC_* of the priorities 0 to 7 of each port; None where PFC is not enabled."""
        return tuple(
            reading for port in ports for reading in pfc_readings(self._statistics(port), port)
        )

    def nic_counters(self, port: str) -> tuple[Reading, ...]:
        """Every counter of the net device but those of single rings; of two that have one name, the
        NIC's own, else the kernel's."""
        found = nic_readings(self._statistics(port), port)
        known = {reading.counter for reading in found if reading.scope == "port"}
        kernel = (r for r in self._kernel_counters(port) if r.counter not in known)
        return (*found, *kernel, *self._queue(port))

    def _by_rdma(self, port: str, link: RdmaLink) -> tuple[Reading, ...]:
        """A ConnectX counts: raises UnreadableOutput when it is not in the answer."""
        reply = self._run(rdma_statistic_command(link))
        counters = parse_rdma_statistic(reply).get((link.rdma, link.rdma_port))
        if counters is None:
            refuse(reply, f"{link.rdma} port {link.rdma_port} is not in it", "check `rdma link`")
        return rdma_readings(reply, port, "rdma statistic", counters)

    def _rdma_link(self, port: str) -> RdmaLink:
        """Every ConnectX port has one. Raises CommandRejected when this one has not."""
        link = super()._rdma_link(port)
        if link is None:
            self._not_one(port, self.rdma_links())
        return link
