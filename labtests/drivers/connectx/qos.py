"""What mlnx_qos sets on a ConnectX port: PFC, trust, the DSCP map, traffic classes, cable length.

Options as in the tool's own help. A change of trust rebuilds the DSCP map on kernels without
qos/trust in sysfs (from pcp to dscp: the default map; from dscp to pcp: none), so trust is made and
put back before the map.
"""

from functools import lru_cache
from typing import Literal

from labtests.capabilities import settings as s
from labtests.capabilities.device import NicQosView
from labtests.capabilities.nic import NicQos
from labtests.capabilities.records import DcbxControl, EtsSetting, PfcSetting, TrustSetting
from labtests.capabilities.settings import Commands
from labtests.drivers.connectx.mlnx_qos import MLNX_QOS, parse_mlnx_qos
from labtests.drivers.connectx.sysfs import PRIORITIES
from labtests.drivers.linux.session import HostPart, ShellSetting
from labtests.drivers.maps import DscpMapSetting
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, Word, program, root

_read_once = lru_cache(maxsize=256)(parse_mlnx_qos)
"""Five settings are in one answer."""

_DSCPS = 64
_CLASSES = range(8)
FIRMWARE_DCBX = "Firmware controlled"
_WORDS = {"dscp": "dscp", "dot1p": "pcp"}  # TrustSetting's word -> mlnx_qos's


class NicQosShown(HostPart, NicQosView):
    """What `mlnx_qos -i` shows."""

    def nic_qos(self, port: str) -> Asking[NicQos]:
        """Everything it says of this port."""
        return _read_once((yield from ask(program("mlnx_qos", "-i", self._interface(port)))))


class QosSetting(NicQosShown, ShellSetting[s.T]):
    """A setting that mlnx_qos makes and shows."""

    tool = MLNX_QOS
    remedy = (
        "look for what overwrites it: lldpad, or DCBX in firmware "
        "(`mlnx_qos -i IF -d os` gives the setting to the OS)"
    )

    def _mlnx_qos(self, port: str, *words: Word) -> Shell:
        """Changes something of this port."""
        return root("mlnx_qos", "-i", self._interface(port), *words)

    def _shown_by(self, port: str) -> str:
        return f"mlnx_qos -i {self._interface(port)}"


class MlnxPfc(QosSetting[PfcSetting]):
    """`-f`: the priorities that PFC is enabled on."""

    kind = s.PFC

    def read(self, port: str) -> Asking[PfcSetting]:
        """Mode is "on" when there is one, else "off"."""
        priorities = with_pfc((yield from self.nic_qos(port)))
        return PfcSetting.of(priorities)

    def commands(
        self, port: str, earlier: PfcSetting, wanted: PfcSetting, around: None = None
    ) -> Commands:
        """One `mlnx_qos -f`. Raises CommandRejected for what a NIC cannot hold."""
        fits = wanted.mode == ("on" if wanted.priorities else "off")
        if not fits or not wanted.priorities <= PRIORITIES:
            self._reject(
                f"{self._shown_by(port)} -f",
                f"a NIC port cannot hold PFC {wanted.mode!r} with priorities "
                f"{sorted(wanted.priorities)}",
                'use mode "on" with priorities of 0 to 7, or "off" with none; '
                "a ConnectX negotiates (auto) only in firmware DCBX mode",
            )
        if earlier == wanted:
            return ()
        return (self._mlnx_qos(port, "-f", pfc_flags(wanted.priorities)),)


class MlnxTrust(QosSetting[TrustSetting]):
    """`--trust`."""

    kind = s.TRUST

    def read(self, port: str) -> Asking[TrustSetting]:
        """dscp, dot1p (mlnx_qos says pcp), or none when the kernel cannot tell."""
        trust = (yield from self.nic_qos(port)).trust
        if trust is None:
            problem = "this mlnx_qos does not show a trust state"
            self._reject(self._shown_by(port), problem, MLNX_QOS.install)
        return trust

    def commands(
        self, port: str, earlier: TrustSetting, wanted: TrustSetting, around: None = None
    ) -> Commands:
        """One command. Raises CommandRejected for what a NIC cannot hold."""
        if earlier == wanted:
            return ()
        if wanted.source not in _WORDS or wanted.override:
            override = " with override" if wanted.override else ""
            self._reject(
                f"{self._shown_by(port)} --trust",
                f"a NIC port cannot trust {wanted.source!r}{override}",
                'use "dscp" or "dot1p" without override',
            )
        return (self._mlnx_qos(port, "--trust", _WORDS[wanted.source]),)


class MlnxDscpMap(QosSetting[tuple[int, ...]], DscpMapSetting):
    """`--dscp2prio`: the priority of each DSCP."""

    def read(self, port: str) -> Asking[tuple[int, ...]]:
        """Raises CommandRejected when the port does not show all 64."""
        qos, command = (yield from self.nic_qos(port)), self._shown_by(port)
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

    def commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...], around: None = None
    ) -> Commands:
        """One `set` for each DSCP that differs (old versions take one at a time)."""
        if len(wanted) != _DSCPS or not PRIORITIES.issuperset(wanted):
            self._reject(
                f"{self._shown_by(port)} --dscp2prio",
                f"a DSCP map has 64 priorities of 0 to 7, not {wanted}",
                "give the priority of every DSCP from 0 to 63",
            )
        return tuple(
            self._mlnx_qos(port, "--dscp2prio", f"set,{dscp},{priority}")
            for dscp, (before, priority) in enumerate(zip(earlier, wanted, strict=True))
            if before != priority
        )


class TrafficClasses(QosSetting[EtsSetting]):
    """`-p`, `-s`, `-t`: ETS."""

    kind = s.ETS

    def read(self, port: str) -> Asking[EtsSetting]:
        """Raises CommandRejected when a class is not shown: the tool leaves out those that no
        priority uses, and then what would be put back is not known."""
        qos = yield from self.nic_qos(port)
        ets = ets_of(qos)
        if ets is None:
            shown = sorted(tc.number for tc in qos.traffic_classes or ())
            self._reject(
                self._shown_by(port),
                f"it shows the traffic classes {shown}, not all of 0 to 7",
                "give each priority a class of its own first, e.g. -p 0,1,2,3,4,5,6,7",
            )
        return ets

    def commands(
        self, port: str, earlier: EtsSetting, wanted: EtsSetting, around: None = None
    ) -> Commands:
        """One command: the tool checks that the shares add up."""
        if earlier == wanted:
            return ()
        if sorted(wanted.class_of_priority) != list(_CLASSES):
            self._reject(
                f"{self._shown_by(port)} -p",
                "priorities that share a class leave classes that the tool does not show again",
                "give each priority a class of its own",
            )
        return (self._mlnx_qos(port, *ets_words(wanted)),)


class DcbxOwner(QosSetting[DcbxControl]):
    """`--dcbx`: whether the OS or DCBX in the firmware sets PFC and ETS of the port."""

    kind = s.DCBX_CONTROL

    def read(self, port: str) -> Asking[DcbxControl]:
        """Raises CommandRejected where the tool does not tell."""
        qos = yield from self.nic_qos(port)
        if qos.dcbx_mode is None:
            self._reject(
                self._shown_by(port),
                "this mlnx_qos does not show who controls DCBX",
                "update mlnx-tools (part of MLNX_OFED and DOCA-OFED) on this host",
            )
        if qos.dcbx_mode == FIRMWARE_DCBX:
            return DcbxControl(by="firmware")
        return DcbxControl(by="os", pfc=with_pfc(qos), ets=ets_of(qos))

    def commands(
        self, port: str, earlier: DcbxControl, wanted: DcbxControl, around: None = None
    ) -> Commands:
        """To the OS with all that it had set; what it sets while it has the port is for the other
        settings. Raises CommandRejected where that could not be put back."""
        if earlier.by == wanted.by:
            return ()
        if (earlier.ets or wanted.ets) is None:
            self._reject(
                f"{self._shown_by(port)} --dcbx",
                "not all traffic classes are shown, so what firmware changes could not be put back",
                "give each priority a class of its own first, e.g. -p 0,1,2,3,4,5,6,7",
            )
        if wanted.by == "firmware":
            return (self._mlnx_qos(port, "--dcbx", "fw"),)
        back: list[tuple[str, ...]] = [("--dcbx", "os")]
        back.append(("-f", pfc_flags(wanted.pfc or frozenset())))
        if wanted.ets is not None:
            back.append(ets_words(wanted.ets))
        return tuple(self._mlnx_qos(port, *words) for words in back)


class CableLength(QosSetting[int]):
    """`--cable_len`, in m."""

    kind = s.CABLE_LENGTH

    def read(self, port: str) -> Asking[int]:
        """Raises CommandRejected when the tool does not show it."""
        length_m = (yield from self.nic_qos(port)).cable_length_m
        if length_m is None:
            self._reject(
                self._shown_by(port),
                "this mlnx_qos does not show a cable length",
                "update mlnx-tools (part of MLNX_OFED and DOCA-OFED) on this host",
            )
        return length_m

    def commands(self, port: str, earlier: int, wanted: int, around: None = None) -> Commands:
        """One command."""
        return () if earlier == wanted else (self._mlnx_qos(port, "--cable_len", wanted),)


def _known(algorithm: str) -> Literal["ets", "strict", "vendor"]:
    return "ets" if algorithm == "ets" else "strict" if algorithm == "strict" else "vendor"


def with_pfc(qos: NicQos) -> frozenset[int]:
    """The priorities that have PFC."""
    return frozenset(p for p, flag in enumerate(qos.pfc_enabled) if flag)


def pfc_flags(priorities: frozenset[int]) -> str:
    """For `-f`."""
    return ",".join("1" if p in priorities else "0" for p in sorted(PRIORITIES))


def ets_of(qos: NicQos) -> EtsSetting | None:
    """None where not every class is shown."""
    shown = {tc.number: tc for tc in qos.traffic_classes or ()}
    if sorted(shown) != list(_CLASSES):
        return None
    class_of = {p: tc.number for tc in shown.values() for p in tc.priorities}
    return EtsSetting(
        class_of_priority=tuple(class_of[p] for p in range(8)),
        algorithms=tuple(_known(shown[number].algorithm) for number in _CLASSES),
        percent=tuple(shown[number].bandwidth_percent or 0 for number in _CLASSES),
    )


def ets_words(ets: EtsSetting) -> tuple[str, ...]:
    """One command: the tool checks that the shares add up."""
    classes, shares = (",".join(map(str, each)) for each in (ets.class_of_priority, ets.percent))
    return ("-p", classes, "-s", ",".join(ets.algorithms), "-t", shares)
