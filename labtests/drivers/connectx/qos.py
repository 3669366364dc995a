"""PFC, trust and the DSCP map of a ConnectX port, set with mlnx_qos and read back with it."""

from functools import lru_cache
from typing import Any

from labtests.capabilities.device import Commands, DscpMap, NicQosView, PriorityFlowControl, Trust
from labtests.capabilities.records import NicQos, PfcSetting, TrustSetting
from labtests.drivers.answers import expect_success
from labtests.drivers.connectx.mlnx_qos import MLNX_QOS, parse_mlnx_qos
from labtests.drivers.connectx.sysfs import PRIORITIES
from labtests.drivers.linux.session import HostSession
from labtests.transport.commands import Shell, Word, program, root

_read_once = lru_cache(maxsize=256)(parse_mlnx_qos)
"""Five settings are in one answer, which an exchange may keep (exchanges.py)."""

_DSCPS = 64
_WORDS = {"dscp": "dscp", "dot1p": "pcp"}  # TrustSetting's word -> mlnx_qos's


def mlnx_qos_command(interface: str) -> Shell:
    """Reads all of it."""
    return program("mlnx_qos", "-i", interface)


class QosSettings(HostSession, PriorityFlowControl, Trust, DscpMap, NicQosView):
    """What mlnx_qos can set.

    A change of trust rebuilds the DSCP map on kernels without qos/trust in sysfs (from pcp to dscp:
    the default map; from dscp to pcp: none). So put trust back before the map.
    """

    def nic_qos(self, port: str) -> NicQos:
        """Everything `mlnx_qos -i` says of this port."""
        return _read_once(self._run(mlnx_qos_command(self._interface(port))))

    # -- priority flow control -----------------------------------------------------------

    def pfc(self, port: str) -> PfcSetting:
        """The priorities PFC is enabled on. Mode is "on" when there is one, else "off"."""
        enabled = self.nic_qos(port).pfc_enabled
        priorities = frozenset(p for p, flag in enumerate(enabled) if flag)
        return PfcSetting(mode="on" if priorities else "off", priorities=priorities)

    def pfc_commands(self, port: str, earlier: PfcSetting, wanted: PfcSetting) -> Commands:
        """One `mlnx_qos -f`. Raises CommandRejected for what a NIC cannot hold."""
        self._expect_holdable(port, wanted)
        if earlier == wanted:
            return ()
        flags = ",".join("1" if p in wanted.priorities else "0" for p in sorted(PRIORITIES))
        return (self._mlnx_qos(port, "-f", flags),)

    def set_pfc(self, port: str, wanted: PfcSetting) -> None:
        """Apply it, and verify by read-back."""
        self._expect_holdable(port, wanted)
        commands = self.pfc_commands(port, self.pfc(port), wanted)
        self._send(commands)
        if commands:
            self._expect_same(commands[-1], f"PFC of {port}", wanted, self.pfc(port))

    def _expect_holdable(self, port: str, wanted: PfcSetting) -> None:
        fits = wanted.mode == ("on" if wanted.priorities else "off")
        if not fits or not wanted.priorities <= PRIORITIES:
            self._reject(
                f"mlnx_qos -i {self._interface(port)} -f",
                f"a NIC port cannot hold PFC {wanted.mode!r} with priorities "
                f"{sorted(wanted.priorities)}",
                'use mode "on" with priorities of 0 to 7, or "off" with none; '
                "a ConnectX negotiates (auto) only in firmware DCBX mode",
            )

    # -- trust ---------------------------------------------------------------------------

    def trust(self, port: str) -> TrustSetting:
        """dscp, dot1p (mlnx_qos says pcp), or none when the kernel cannot tell."""
        trust = self.nic_qos(port).trust
        if trust is None:
            self._reject(
                f"mlnx_qos -i {self._interface(port)}",
                "this mlnx_qos does not show a trust state",
                MLNX_QOS.install,
            )
        return trust

    def trust_commands(self, port: str, earlier: TrustSetting, wanted: TrustSetting) -> Commands:
        """One `mlnx_qos --trust`. Raises CommandRejected for what a NIC cannot hold."""
        if earlier == wanted:
            return ()
        self._expect_trustable(port, wanted)
        return (self._mlnx_qos(port, "--trust", _WORDS[wanted.source]),)

    def set_trust(self, port: str, wanted: TrustSetting) -> None:
        """Apply it, and verify by read-back."""
        earlier = self.trust(port)
        commands = self.trust_commands(port, earlier, wanted)
        self._send(commands)
        if commands:
            self._expect_same(commands[-1], f"trust of {port}", wanted, self.trust(port))

    def _expect_trustable(self, port: str, wanted: TrustSetting) -> None:
        if wanted.source not in _WORDS or wanted.override:
            override = " with override" if wanted.override else ""
            self._reject(
                f"mlnx_qos -i {self._interface(port)} --trust",
                f"a NIC port cannot trust {wanted.source!r}{override}",
                'use "dscp" or "dot1p" without override',
            )

    # -- DSCP map ------------------------------------------------------------------------

    def dscp_map(self, port: str) -> tuple[int, ...]:
        """The priority of each DSCP. Raises CommandRejected when the port does not show all 64."""
        qos = self.nic_qos(port)
        command = f"mlnx_qos -i {self._interface(port)}"
        if qos.dscp_to_priority is None:
            self._reject(
                command,
                "the port has no DSCP map, because it does not trust DSCP",
                f"set the trust first: {command} --trust dscp",
            )
        priorities = dict(qos.dscp_to_priority)
        lacking = [dscp for dscp in range(_DSCPS) if dscp not in priorities]
        if lacking:
            self._reject(
                command,
                f"no priority is shown for DSCP {', '.join(map(str, lacking))}",
                f"give each one: {command} --dscp2prio set,{lacking[0]},0",
            )
        return tuple(priorities[dscp] for dscp in range(_DSCPS))

    def dscp_map_commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...]
    ) -> Commands:
        """One `--dscp2prio set` for each DSCP that differs (old versions take one at a time)."""
        self._expect_map(port, wanted)
        return tuple(
            self._mlnx_qos(port, "--dscp2prio", f"set,{dscp},{priority}")
            for dscp, (before, priority) in enumerate(zip(earlier, wanted, strict=True))
            if before != priority
        )

    def set_dscp_map(self, port: str, wanted: tuple[int, ...]) -> None:
        """Apply it, and verify by read-back."""
        self._expect_map(port, wanted)
        commands = self.dscp_map_commands(port, self.dscp_map(port), wanted)
        self._send(commands)
        if commands:
            self._expect_same(commands[-1], f"DSCP map of {port}", wanted, self.dscp_map(port))

    def _expect_map(self, port: str, wanted: tuple[int, ...]) -> None:
        if len(wanted) != _DSCPS or not PRIORITIES.issuperset(wanted):
            self._reject(
                f"mlnx_qos -i {self._interface(port)} --dscp2prio",
                f"a DSCP map has 64 priorities of 0 to 7, not {wanted}",
                "give the priority of every DSCP from 0 to 63",
            )

    # -- how -----------------------------------------------------------------------------

    def _mlnx_qos(self, port: str, *words: Word) -> Shell:
        """Changes something of this port."""
        return root("mlnx_qos", "-i", self._interface(port), *words)

    def _send(self, commands: Commands) -> None:
        for reply in self._change(commands):
            expect_success(reply, MLNX_QOS)

    def _expect_same(self, command: str, what: str, wanted: Any, found: Any) -> None:
        if found != wanted:
            self._reject(
                command,
                f"accepted, but the {what} is {found} and not {wanted}",
                "look for what overwrites it: lldpad, or DCBX in firmware "
                "(`mlnx_qos -i IF -d os` gives the setting to the OS)",
            )
