"""The counters of a host: its ports (ethtool), its RDMA devices (hw_counters), its IP stack."""

from shlex import quote

from labtests.capabilities import NicTelemetry, PfcTelemetry, RdmaDevices
from labtests.drivers.connectx.ethtool import nic_readings, pfc_readings
from labtests.drivers.connectx.proc import PROC_NET_SNMP, host_readings
from labtests.drivers.connectx.rdma import (
    IBDEV2NETDEV,
    parse_ibdev2netdev,
    parse_rdma_links,
    parse_rdma_statistic,
    rdma_readings,
)
from labtests.drivers.connectx.session import HostSession
from labtests.drivers.connectx.sysfs import files_are_missing, parse_hw_counters
from labtests.errors import ToolMissing
from labtests.reading import refuse
from labtests.records import RdmaLink, Reading
from labtests.transport import Reply


class NicCounters(HostSession, RdmaDevices, PfcTelemetry, NicTelemetry):
    """What a host counts. A counter it does not show is None with the reason, never 0."""

    def rdma_links(self) -> tuple[RdmaLink, ...]:
        """Every RDMA link of the host: by `rdma -j link`, or ibdev2netdev where that is missing."""
        try:
            return parse_rdma_links(self._run("rdma -j link"))
        except ToolMissing as no_rdma:
            try:
                return parse_ibdev2netdev(self._run("ibdev2netdev"))
            except ToolMissing as error:
                problem = f"{no_rdma.problem}; {error.problem}"
                raise ToolMissing(
                    error.device, "rdma -j link", problem, IBDEV2NETDEV.install
                ) from error

    def pfc_counters(self, ports: tuple[str, ...]) -> tuple[Reading, ...]:
        """PFC_* of the priorities 0 to 7 of each port; None where PFC is not enabled."""
        return tuple(
            reading for port in ports for reading in pfc_readings(self._statistics(port), port)
        )

    def nic_counters(self, port: str) -> tuple[Reading, ...]:
        """Every counter of the net device but those of single rings."""
        return nic_readings(self._statistics(port), port)

    def rdma_counters(self, port: str) -> tuple[Reading, ...]:
        """Every counter of the RDMA device behind this port, by sysfs or else by `rdma`."""
        link = self._rdma_link(port)
        folder = f"/sys/class/infiniband/{quote(link.rdma)}/ports/{link.rdma_port}/hw_counters"
        reply = self._run(f"grep -H . {folder}/*")
        if not files_are_missing(reply):
            return rdma_readings(reply, port, "hw_counters", parse_hw_counters(reply))
        name = quote(f"{link.rdma}/{link.rdma_port}")
        reply = self._run(f"rdma -j statistic show link {name}")
        counters = parse_rdma_statistic(reply).get((link.rdma, link.rdma_port))
        if counters is None:
            refuse(reply, f"{link.rdma} port {link.rdma_port} is not in it", "check `rdma link`")
        return rdma_readings(reply, port, "rdma statistic", counters)

    def host_counters(self) -> tuple[Reading, ...]:
        """IP and UDP counters of the whole host."""
        return host_readings(self._run(f"cat {PROC_NET_SNMP}"))

    def _statistics(self, port: str) -> Reply:
        return self._run(f"ethtool -S {self._interface(port)}")

    def _rdma_link(self, port: str) -> RdmaLink:
        links = self.rdma_links()
        mine = [link for link in links if link.interface == port]
        if len(mine) != 1:
            shown = ", ".join(f"{link.rdma}={link.interface or 'no interface'}" for link in links)
            self._reject(
                "rdma -j link",
                f"{len(mine) or 'no'} RDMA devices belong to {port} (there are: {shown or 'none'})",
                "check the interface in the testbed file and that mlx5_ib is loaded; "
                "the ports of a bond share the RDMA device of the bond",
            )
        return mine[0]
