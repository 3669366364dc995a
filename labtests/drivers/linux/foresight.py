"""What a host will be asked, so that it can be asked in one exchange."""

from labtests.drivers.linux.host import IPROUTE2, RIGHTS, VERSION_COMMANDS
from labtests.drivers.linux.links import PHYSICAL, link_commands
from labtests.drivers.linux.proc import HOST_COMMANDS
from labtests.drivers.linux.qdisc import qdisc_command
from labtests.drivers.linux.session import HostSession
from labtests.drivers.linux.statistics import statistics_command
from labtests.facts import Foresight


class Ahead(HostSession, Foresight):
    """The commands of all settings, facts and counters; a command missing here costs an exchange
    of its own, nothing else."""

    def state_commands(self, ports: tuple[str, ...]) -> tuple[str, ...]:
        """See Foresight."""
        found = [*VERSION_COMMANDS, PHYSICAL, *self.setting_commands(ports)]
        for port in ports:
            found += link_commands(self, port)
        return tuple(dict.fromkeys(found))

    def setting_commands(self, ports: tuple[str, ...]) -> tuple[str, ...]:
        """See Foresight."""
        return tuple(f"cat /sys/class/net/{self._interface(port)}/mtu" for port in ports)

    def obstacle_commands(self) -> tuple[str, ...]:
        """See Foresight."""
        return (RIGHTS, IPROUTE2[0])

    def counter_commands(self, ports: tuple[str, ...]) -> tuple[str, ...]:
        """See Foresight. RDMA counters are asked by themselves: their folder is found first."""
        found: list[str] = []
        for port in ports:
            name = self._interface(port)
            found += [statistics_command(name), f"ethtool -S {name}", qdisc_command(name)]
        return (*found, "rdma -j link", *HOST_COMMANDS, "date +%s.%N")
