"""The counters of a host: its ports, its RDMA devices where it has some, its IP stack."""

from typing import NoReturn

from labtests.capabilities.device import NicTelemetry, RdmaDevices
from labtests.capabilities.nic import RdmaLink
from labtests.capabilities.readings import Reading
from labtests.core.errors import CommandRejected, ToolMissing, UnreadableOutput
from labtests.drivers.linux.ethtool import parse_ethtool_statistics
from labtests.drivers.linux.proc import HOST_COMMANDS, host_readings
from labtests.drivers.linux.qdisc import qdisc_command, qdisc_readings
from labtests.drivers.linux.rdma import (
    RDMA_LINKS,
    no_rdma_in_the_kernel,
    parse_rdma_links,
    parse_rdma_statistic,
    rdma_readings,
    rdma_statistic_command,
)
from labtests.drivers.linux.roce import LINKS_IN_SYSFS, parse_sysfs_links
from labtests.drivers.linux.statistics import PortStatistics, driver_command, net_readings
from labtests.drivers.linux.sysfs import files_are_missing, parse_hw_counters
from labtests.transport.asking import Asking, ask, ask_each, both
from labtests.transport.commands import Shell, script
from labtests.transport.protocol import Reply


class HostCounters(PortStatistics, RdmaDevices, NicTelemetry):
    """What a host counts. A counter it does not show is None with the reason, never 0."""

    def rdma_links(self) -> Asking[tuple[RdmaLink, ...]]:
        """Every RDMA link of the host, none where its kernel has no RDMA: by `rdma -j link`, or
        sysfs where that program is missing or too old."""
        reply = yield from ask(RDMA_LINKS)
        if no_rdma_in_the_kernel(reply):
            return ()
        try:
            return parse_rdma_links(reply)
        except (CommandRejected, ToolMissing):  # no rdma, or one without JSON
            return parse_sysfs_links((yield from ask(LINKS_IN_SYSFS)))

    def nic_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Every counter of the net device and of its queue (root qdisc)."""
        kernel, beside = yield from both(self._net_statistics(port), self._asked_beside(port))
        (reply, own), (driver, queue) = kernel, beside
        counted = net_readings(reply, port, own, _of_the_driver(driver))
        return (*counted, *qdisc_readings(queue, port))

    def rdma_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Every counter of the RDMA device behind this port, by sysfs or else by `rdma`; none
        where no RDMA device belongs to it."""
        link = yield from self._rdma_link(port)
        if link is None:
            return ()
        reply = yield from ask(_hw_counters(link))
        if not files_are_missing(reply):
            return rdma_readings(reply, port, "hw_counters", parse_hw_counters(reply))
        return (yield from self._by_rdma(port, link))

    def host_counters(self) -> Asking[tuple[Reading, ...]]:
        """IP, UDP and TCP counters of the whole host."""
        snmp, netstat = yield from ask_each(*HOST_COMMANDS)
        return host_readings(snmp, netstat)

    def _asked_beside(self, port: str) -> Asking[tuple[Reply, ...]]:
        """What its driver counts, and its queue."""
        name = self._interface(port)
        return (yield from ask_each(driver_command(name), qdisc_command(name)))

    def _by_rdma(self, port: str, link: RdmaLink) -> Asking[tuple[Reading, ...]]:
        """A device that counts nothing (siw) has every known counter as None, with the reason."""
        reply = yield from ask(rdma_statistic_command(link))
        try:
            counters = parse_rdma_statistic(reply).get((link.rdma, link.rdma_port), {})
        except (CommandRejected, ToolMissing):
            counters = {}
        return rdma_readings(reply, port, "rdma statistic", counters)

    def _rdma_link(self, port: str) -> Asking[RdmaLink | None]:
        """The one of this port; None when it has none. Raises CommandRejected when it has two."""
        links = yield from self.rdma_links()
        mine = [link for link in links if link.interface == port]
        if len(mine) > 1:
            self._not_one(port, links)
        return mine[0] if mine else None

    def _not_one(self, port: str, links: tuple[RdmaLink, ...]) -> NoReturn:
        count = sum(link.interface == port for link in links)
        shown = ", ".join(f"{link.rdma}={link.interface or 'no interface'}" for link in links)
        self._reject(
            RDMA_LINKS,
            f"{count or 'no'} RDMA devices belong to {port} (there are: {shown or 'none'})",
            "check the interface in the testbed file and that its RDMA driver is loaded; "
            "the ports of a bond share the RDMA device of the bond",
        )


def _hw_counters(link: RdmaLink) -> Shell:
    folder = f"/sys/class/infiniband/{link.rdma}/ports/{link.rdma_port}/hw_counters"
    return script("grep -H . FOLDER/*", FOLDER=folder)


def _of_the_driver(reply: Reply) -> tuple[Reply, dict[str, int]] | None:
    """None without ethtool, and where a driver has nothing to add or prints it oddly: the kernel's
    own counters are there all the same."""
    try:
        return reply, parse_ethtool_statistics(reply)
    except (CommandRejected, ToolMissing, UnreadableOutput):
        return None
