"""What a host will be asked, so that it can be asked in one exchange."""

from labtests.drivers.connectx.host import LLDPAD_STATE, VERSION_COMMANDS
from labtests.drivers.connectx.links import link_commands
from labtests.drivers.linux.foresight import Ahead as HostAhead
from labtests.drivers.linux.host import RIGHTS

_ECN = ("roce_rp/enable/*", "roce_np/enable/*", "roce_rp/*", "roce_np/*")


class Ahead(HostAhead):
    """The commands of all settings, facts and counters; a command missing here costs an exchange
    of its own, nothing else."""

    def state_commands(self, ports: tuple[str, ...]) -> tuple[str, ...]:
        """See Foresight."""
        found = [*VERSION_COMMANDS, LLDPAD_STATE, *self.setting_commands(ports)]
        for port in ports:
            found += [*link_commands(self, port), f"ethtool -i {self._interface(port)}"]
        return tuple(dict.fromkeys(found))

    def setting_commands(self, ports: tuple[str, ...]) -> tuple[str, ...]:
        """See Foresight."""
        found: list[str] = []
        for port in ports:
            name = self._interface(port)
            found += [f"mlnx_qos -i {name}", f"cat /sys/class/net/{name}/mtu"]
            found += [f"grep -H . /sys/class/net/{name}/ecn/{files}" for files in _ECN]
        return tuple(found)

    def obstacle_commands(self) -> tuple[str, ...]:
        """See Foresight."""
        return (RIGHTS, LLDPAD_STATE, "rdma -j link")
