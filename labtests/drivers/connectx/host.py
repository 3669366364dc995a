"""What a host runs, and what on it would undo or prevent a setting."""

from labtests.core.errors import CommandRejected, ToolMissing
from labtests.drivers.connectx.dcqcn import DcqcnSettings
from labtests.drivers.connectx.qos import QosSettings
from labtests.drivers.connectx.telemetry import NicCounters
from labtests.drivers.linux.host import (
    IPERF3,
    KERNEL,
    PERFTEST,
    RIGHTS,
    parse_version,
    without_rights,
)
from labtests.drivers.linux.host import HostState as LinuxState
from labtests.drivers.parsing import refuse, whole
from labtests.transport.commands import program
from labtests.transport.protocol import Reply

_FIRMWARE_DCBX = "Firmware controlled"
_RUNNING = frozenset({"active", "activating", "reloading"})
_NOT_RUNNING = frozenset({"inactive", "failed", "deactivating", "unknown", "maintenance"})
LLDPAD_STATE = program("systemctl", "is-active", "lldpad")
_LLDPAD = (
    "lldpad is running and may overwrite PFC, trust and buffer settings: "
    "stop it (`systemctl stop lldpad`)"
)

_VERSION_OF = {
    "perftest": PERFTEST,
    "iperf3": IPERF3,
    "mlnx_qos": (program("mlnx_qos", "--version"), r"^mlnx_qos (\S+)\s*$"),
    "ofed": (program("ofed_info", "-s"), r"^((?:MLNX_OFED|OFED|DOCA)\S*?):?\s*$"),
    "kernel": KERNEL,
}
VERSION_COMMANDS = tuple(command for command, _ in _VERSION_OF.values())


def parse_service_state(reply: Reply) -> bool | None:
    """`systemctl is-active NAME`: whether it runs; None on a host without systemd."""
    word = whole(reply).strip()
    if word in _RUNNING or word in _NOT_RUNNING:
        return word in _RUNNING
    if word or not reply.errors.strip():
        refuse(reply, f"{word!r} is not a state of a service")
    return None  # systemctl is not there, or does not run this host


class HostState(QosSettings, DcqcnSettings, NicCounters, LinuxState):
    """Versions of everything that takes part, and what stands in the way of a setting."""

    def versions(self) -> dict[str, str]:
        """Tools, kernel, and driver and firmware of the RDMA ports; "" for what is not there."""
        found = {
            name: parse_version(self._run(command), pattern)
            for name, (command, pattern) in _VERSION_OF.items()
        }
        return found | self._cards(self._rdma_interfaces())

    def obstacles(self) -> tuple[str, ...]:
        """One sentence for each: no rights, lldpad, DCBX in firmware, mlnx_qos missing.

        Ports that are down do not count. A missing ecn/ folder hinders only who uses it.
        """
        sentences = [*without_rights(self._run(RIGHTS))]
        if parse_service_state(self._run(LLDPAD_STATE)):
            sentences.append(_LLDPAD)
        if not self._rdma_interfaces():
            sentences.append("no RDMA device has an interface: nothing can be set or counted")
        for port in self._rdma_interfaces(state="ACTIVE"):
            sentences += self._qos_obstacles(port)
        return tuple(dict.fromkeys(sentences))  # lldpad is said by both, once is enough

    def _qos_obstacles(self, port: str) -> list[str]:
        try:
            qos = self.nic_qos(port)
        except (CommandRejected, ToolMissing) as error:
            return [f"PFC and trust of {port} cannot be set: {error.problem}; {error.remedy}"]
        sentences = [_LLDPAD] if qos.lldpad_warning else []
        if qos.dcbx_mode == _FIRMWARE_DCBX:
            sentences.append(
                f"DCBX of {port} is in firmware, which may overwrite what the OS sets: "
                f"`mlnx_qos -i {self._interface(port)} -d os` gives it to the OS"
            )
        return sentences

    def _rdma_interfaces(self, *, state: str = "") -> list[str]:
        try:
            links = self.rdma_links()
        except ToolMissing:
            return []
        return [link.interface for link in links if link.interface and link.state.startswith(state)]
