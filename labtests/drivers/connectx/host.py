"""What a host runs, and what on it would undo or prevent a setting."""

from labtests.capabilities.device import RdmaDevices
from labtests.capabilities.facts import DcbxState
from labtests.capabilities.nic import RdmaLink
from labtests.core.errors import CommandRejected, ToolMissing
from labtests.drivers.connectx.dcbx import ConnectxDcbx
from labtests.drivers.connectx.qos import FIRMWARE_DCBX
from labtests.drivers.linux.host import (
    IPERF3,
    KERNEL,
    PERFTEST,
    RIGHTS,
    HostState,
    versions_of,
    without_rights,
)
from labtests.drivers.parsing import refuse, whole
from labtests.transport.asking import Asking, ask_each, both, side_by_side
from labtests.transport.commands import program
from labtests.transport.protocol import Reply

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


def parse_service_state(reply: Reply) -> bool | None:
    """`systemctl is-active NAME`: whether it runs; None on a host without systemd."""
    word = whole(reply).strip()
    if word in _RUNNING or word in _NOT_RUNNING:
        return word in _RUNNING
    if word or not reply.errors.strip():
        refuse(reply, f"{word!r} is not a state of a service")
    return None  # systemctl is not there, or does not run this host


class ConnectxState(HostState):
    """Versions of everything that takes part, and what stands in the way of a setting."""

    def __init__(self, device: str, ports: tuple[str, ...], rdma: RdmaDevices) -> None:
        super().__init__(device, ports)
        self._rdma, self._qos = rdma, ConnectxDcbx(device, ports)

    def versions(self) -> Asking[dict[str, str]]:
        """Tools, kernel, and driver and firmware of the RDMA ports; "" for what is not there."""
        asked, found = yield from both(
            both(self._rdma_interfaces(), self._cards(self.ports)), versions_of(_VERSION_OF)
        )
        return found | (yield from self._cards(asked[0]))  # as a rule, those of the testbed file

    def obstacles(self) -> Asking[tuple[str, ...]]:
        """One sentence for each: no rights, lldpad, DCBX in firmware, mlnx_qos missing.

        Ports that are down do not count. A missing ecn/ folder hinders only who uses it.
        """
        (user, lldpad), links = yield from both(ask_each(RIGHTS, LLDPAD_STATE), self._links())
        sentences = [*without_rights(user)]
        if parse_service_state(lldpad):
            sentences.append(_LLDPAD)
        if not _interfaces(links):
            sentences.append("no RDMA device has an interface: nothing can be set or counted")
        active = _interfaces(links, state="ACTIVE")
        for told in (yield from side_by_side(map(self._qos_obstacles, active))):
            sentences += told
        return tuple(dict.fromkeys(sentences))  # lldpad is said by both, once is enough

    def _qos_obstacles(self, port: str) -> Asking[list[str]]:
        try:
            qos = yield from self._qos.nic_qos(port)
        except (CommandRejected, ToolMissing) as error:
            return [f"PFC and trust of {port} cannot be set: {error.problem}; {error.remedy}"]
        sentences = [_LLDPAD] if qos.lldpad_warning else []
        if qos.dcbx_mode == FIRMWARE_DCBX:
            dcbx = yield from self._qos.dcbx_state(port)
            if dcbx.willing is not False:  # else a caveat
                sentences.append(self._given_away(port, dcbx))
        return sentences

    def caveats(self) -> Asking[tuple[str, ...]]:
        """Those of any host, and ports that the firmware has and does nothing with now."""
        others, links = yield from both(super().caveats(), self._links())
        active = _interfaces(links, state="ACTIVE")
        states = yield from side_by_side([self._silent_firmware(port) for port in active])
        return (*others, *filter(None, states))

    def _silent_firmware(self, port: str) -> Asking[str]:
        try:
            dcbx = yield from self._qos.dcbx_state(port)
        except (CommandRejected, ToolMissing):
            return ""  # an obstacle
        given = dcbx.control == "firmware" and dcbx.willing is False
        return self._given_away(port, dcbx) if given else ""

    def _given_away(self, port: str, dcbx: DcbxState) -> str:
        because = f" ({dcbx.unknown})" if dcbx.unknown else ", and takes what its peer tells"
        return (
            f"DCBX of {port} is in firmware{because}, which may overwrite what the OS sets: "
            f"`mlnx_qos -i {self._interface(port)} -d os` gives it to the OS"
        )

    def _rdma_interfaces(self) -> Asking[list[str]]:
        return _interfaces((yield from self._links()))

    def _links(self) -> Asking[tuple[RdmaLink, ...]]:
        try:
            return (yield from self._rdma.rdma_links())
        except ToolMissing:
            return ()


def _interfaces(links: tuple[RdmaLink, ...], *, state: str = "") -> list[str]:
    return [link.interface for link in links if link.interface and link.state.startswith(state)]
