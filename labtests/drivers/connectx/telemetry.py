"""The counters of a host with ConnectX ports: those of mlx5 by ethtool, PFC too."""

from labtests.capabilities.device import PfcTelemetry
from labtests.capabilities.nic import RdmaLink
from labtests.capabilities.readings import Reading
from labtests.core.errors import ToolMissing
from labtests.drivers.connectx.ethtool import nic_readings, pfc_readings
from labtests.drivers.connectx.rdma import IBDEV2NETDEV, parse_ibdev2netdev
from labtests.drivers.linux.qdisc import qdisc_readings
from labtests.drivers.linux.rdma import (
    RDMA_LINKS,
    parse_rdma_links,
    parse_rdma_statistic,
    rdma_readings,
    rdma_statistic_command,
)
from labtests.drivers.linux.statistics import driver_command
from labtests.drivers.linux.telemetry import HostCounters
from labtests.drivers.parsing import refuse
from labtests.transport.asking import Asking, ask, ask_each, both
from labtests.transport.commands import program


class ConnectxCounters(HostCounters, PfcTelemetry):
    """What a host counts. A counter it does not show is None with the reason, never 0."""

    def rdma_links(self) -> Asking[tuple[RdmaLink, ...]]:
        """Every RDMA link of the host: by `rdma -j link`, or ibdev2netdev where that is missing."""
        try:
            return parse_rdma_links((yield from ask(RDMA_LINKS)))
        except ToolMissing as no_rdma:
            try:
                return parse_ibdev2netdev((yield from ask(program("ibdev2netdev"))))
            except ToolMissing as error:
                problem = f"{no_rdma.problem}; {error.problem}"
                raise ToolMissing(
                    error.device, RDMA_LINKS, problem, IBDEV2NETDEV.install
                ) from error

    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        """PFC_* of the priorities 0 to 7 of each port; None where PFC is not enabled."""
        commands = (driver_command(self._interface(port)) for port in ports)
        replies = yield from ask_each(*commands)
        each = map(pfc_readings, replies, ports)
        return tuple(reading for readings in each for reading in readings)

    def nic_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Every counter of the net device but those of single rings; of two that have one name, the
        NIC's own, else the kernel's."""
        beside, kernel = yield from both(self._asked_beside(port), self._kernel_counters(port))
        driver, queue = beside
        found = nic_readings(driver, port)
        known = {reading.counter for reading in found if reading.scope == "port"}
        more = (reading for reading in kernel if reading.counter not in known)
        return (*found, *more, *qdisc_readings(queue, port))

    def _by_rdma(self, port: str, link: RdmaLink) -> Asking[tuple[Reading, ...]]:
        """A ConnectX counts: raises UnreadableOutput when it is not in the answer."""
        reply = yield from ask(rdma_statistic_command(link))
        counters = parse_rdma_statistic(reply).get((link.rdma, link.rdma_port))
        if counters is None:
            refuse(reply, f"{link.rdma} port {link.rdma_port} is not in it", "check `rdma link`")
        return rdma_readings(reply, port, "rdma statistic", counters)

    def _rdma_link(self, port: str) -> Asking[RdmaLink]:
        """Every ConnectX port has one. Raises CommandRejected when this one has not."""
        link = yield from super()._rdma_link(port)
        if link is None:
            self._not_one(port, (yield from self.rdma_links()))
        return link
