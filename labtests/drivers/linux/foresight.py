"""What a host will be asked, so that it can be asked in one exchange."""

from labtests.capabilities.facts import Foresight
from labtests.drivers.linux.host import IPROUTE2, RIGHTS, VERSION_COMMANDS
from labtests.drivers.linux.link import mtu_command
from labtests.drivers.linux.links import DATE_COMMAND, PHYSICAL, link_commands
from labtests.drivers.linux.proc import HOST_COMMANDS
from labtests.drivers.linux.qdisc import qdisc_command
from labtests.drivers.linux.rdma import RDMA_LINKS
from labtests.drivers.linux.session import HostSession
from labtests.drivers.linux.statistics import driver_command, statistics_command
from labtests.transport.commands import Shell


class Ahead(HostSession, Foresight):
    """The commands of all settings, facts and counters; a command missing here costs an exchange
    of its own, nothing else."""

    def state_commands(self, ports: tuple[str, ...]) -> tuple[Shell, ...]:
        """See Foresight."""
        found: list[Shell] = [*VERSION_COMMANDS, PHYSICAL, *self.setting_commands(ports)]
        for port in ports:
            found += link_commands(self, port)
        return tuple(dict.fromkeys(found))

    def setting_commands(self, ports: tuple[str, ...]) -> tuple[Shell, ...]:
        """See Foresight."""
        return tuple(mtu_command(self._interface(port)) for port in ports)

    def obstacle_commands(self) -> tuple[Shell, ...]:
        """See Foresight."""
        return (RIGHTS, IPROUTE2[0])

    def counter_commands(self, ports: tuple[str, ...]) -> tuple[Shell, ...]:
        """See Foresight. RDMA counters are asked by themselves: their folder is found first."""
        found: list[Shell] = []
        for port in ports:
            name = self._interface(port)
            found += [statistics_command(name), driver_command(name), qdisc_command(name)]
        return (*found, RDMA_LINKS, *HOST_COMMANDS, DATE_COMMAND)
