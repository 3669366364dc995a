"""What a host will be asked, so that it can be asked in one exchange."""

from labtests.drivers.connectx.dcqcn import enabled_command, parameters_command
from labtests.drivers.connectx.host import LLDPAD_STATE, VERSION_COMMANDS
from labtests.drivers.connectx.links import link_commands
from labtests.drivers.connectx.qos import mlnx_qos_command
from labtests.drivers.connectx.sysfs import Side
from labtests.drivers.linux.foresight import Ahead as HostAhead
from labtests.drivers.linux.host import RIGHTS, card_command
from labtests.drivers.linux.link import mtu_command
from labtests.drivers.linux.rdma import RDMA_LINKS
from labtests.transport.commands import Shell

_SIDES: tuple[Side, ...] = ("roce_rp", "roce_np")


class Ahead(HostAhead):
    """The commands of all settings, facts and counters; a command missing here costs an exchange
    of its own, nothing else."""

    def state_commands(self, ports: tuple[str, ...]) -> tuple[Shell, ...]:
        """See Foresight."""
        found: list[Shell] = [*VERSION_COMMANDS, LLDPAD_STATE, *self.setting_commands(ports)]
        for port in ports:
            found += [*link_commands(self, port), card_command(self._interface(port))]
        return tuple(dict.fromkeys(found))

    def setting_commands(self, ports: tuple[str, ...]) -> tuple[Shell, ...]:
        """See Foresight."""
        found: list[Shell] = []
        for port in ports:
            name = self._interface(port)
            found += [mlnx_qos_command(name), mtu_command(name)]
            found += [enabled_command(name, side) for side in _SIDES]
            found += [parameters_command(name, side) for side in _SIDES]
        return tuple(found)

    def obstacle_commands(self) -> tuple[Shell, ...]:
        """See Foresight."""
        return (RIGHTS, LLDPAD_STATE, RDMA_LINKS)
