"""What a suite may ask of a device: one protocol per ability, never per vendor.

A setting is a triple. `pfc(port)` reads; `set_pfc(port, wanted)` makes and reads back, and accepts
exactly what `pfc(port)` returns, so putting a lab back is `set_pfc(port, earlier)`;
`pfc_commands(port, earlier, wanted)` is pure and says which commands that takes, so `--plan` prints
what a run would send. `port` is always the port's name in the testbed file (the interface name).

Every method raises a DeviceError (errors.py): CommandRejected for an answer that is an error or for
a read-back that differs, ToolMissing, UnreadableOutput, Unreachable.
"""

from abc import abstractmethod
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Protocol, runtime_checkable

from labtests.capabilities.records import (
    DcqcnSetting,
    EcnSetting,
    NicQos,
    PfcSetting,
    QueueLimitSetting,
    RdmaLink,
    Reading,
    SchedulingSetting,
    TrustSetting,
)
from labtests.transport.commands import Command

Commands = tuple[Command, ...]


# -- settings ----------------------------------------------------------------------------------


@runtime_checkable
class PriorityFlowControl(Protocol):
    """A port that can pause single priorities."""

    @abstractmethod
    def pfc(self, port: str) -> PfcSetting:
        """Mode and no-drop priorities of this port now."""

    @abstractmethod
    def pfc_commands(self, port: str, earlier: PfcSetting, wanted: PfcSetting) -> Commands:
        """The commands that lead from one to the other; empty when they are equal."""

    @abstractmethod
    def set_pfc(self, port: str, wanted: PfcSetting) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class Trust(Protocol):
    """A port that classifies by DSCP or by 802.1p."""

    @abstractmethod
    def trust(self, port: str) -> TrustSetting:
        """What the port trusts now."""

    @abstractmethod
    def trust_commands(self, port: str, earlier: TrustSetting, wanted: TrustSetting) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_trust(self, port: str, wanted: TrustSetting) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class EcnMarking(Protocol):
    """An egress port that marks by RED (a congestion point, CP)."""

    @abstractmethod
    def ecn(self, port: str) -> EcnSetting:
        """What is applied on this port now."""

    @abstractmethod
    def ecn_on(self, queues: AbstractSet[int]) -> EcnSetting:
        """A setting that marks in exactly these queues, with the device's own default curve."""

    @abstractmethod
    def ecn_commands(self, port: str, earlier: EcnSetting, wanted: EcnSetting) -> Commands:
        """The commands that lead from one to the other. Profiles of other people stay untouched."""

    @abstractmethod
    def set_ecn(self, port: str, wanted: EcnSetting) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class Scheduling(Protocol):
    """An egress port whose scheduler can be read and set."""

    @abstractmethod
    def scheduling(self, port: str) -> SchedulingSetting:
        """How the queues are served now."""

    @abstractmethod
    def scheduling_commands(
        self, port: str, earlier: SchedulingSetting, wanted: SchedulingSetting
    ) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_scheduling(self, port: str, wanted: SchedulingSetting) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class QueueLimits(Protocol):
    """An egress port whose queues have lengths that can be read and set (tail drop above)."""

    @abstractmethod
    def queue_limits(self, port: str) -> QueueLimitSetting:
        """The limit of every queue now."""

    @abstractmethod
    def queue_limits_commands(
        self, port: str, earlier: QueueLimitSetting, wanted: QueueLimitSetting
    ) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_queue_limits(self, port: str, wanted: QueueLimitSetting) -> None:
        """Apply it, and verify by read-back. What a queue holds at that moment may be lost."""


@runtime_checkable
class DscpClasses(Protocol):
    """A device that tells into which class (priority of a NIC, egress queue of a switch) each DSCP
    goes, at a port; where the map is global, every port gives the same."""

    @abstractmethod
    def dscp_map(self, port: str) -> tuple[int, ...]:
        """The class of each DSCP, 64 of them."""


@runtime_checkable
class DscpMap(DscpClasses, Protocol):
    """A device whose DSCP -> priority map can be set too (`port` is "" where it is global)."""

    @abstractmethod
    def dscp_map_commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...]
    ) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_dscp_map(self, port: str, wanted: tuple[int, ...]) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class ReactionPoint(Protocol):
    """A sender that slows down on CNPs (RP), per priority."""

    @abstractmethod
    def reaction_point(self, port: str) -> frozenset[int]:
        """Priorities on which the RP is enabled."""

    @abstractmethod
    def reaction_point_commands(
        self, port: str, earlier: frozenset[int], wanted: frozenset[int]
    ) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_reaction_point(self, port: str, wanted: frozenset[int]) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class NotificationPoint(Protocol):
    """A receiver that answers CE marks with CNPs (NP), per priority."""

    @abstractmethod
    def notification_point(self, port: str) -> frozenset[int]:
        """Priorities on which the NP is enabled."""

    @abstractmethod
    def notification_point_commands(
        self, port: str, earlier: frozenset[int], wanted: frozenset[int]
    ) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_notification_point(self, port: str, wanted: frozenset[int]) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class DcqcnParameters(Protocol):
    """A NIC whose DCQCN parameters can be read and set. `roce_np` includes cnp_dscp."""

    @abstractmethod
    def dcqcn_rp(self, port: str) -> DcqcnSetting:
        """The RP's parameters."""

    @abstractmethod
    def dcqcn_rp_commands(self, port: str, earlier: DcqcnSetting, wanted: DcqcnSetting) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_dcqcn_rp(self, port: str, wanted: DcqcnSetting) -> None:
        """Apply it, and verify by read-back. Names that `wanted` leaves out stay as they are."""

    @abstractmethod
    def dcqcn_np(self, port: str) -> DcqcnSetting:
        """The NP's parameters."""

    @abstractmethod
    def dcqcn_np_commands(self, port: str, earlier: DcqcnSetting, wanted: DcqcnSetting) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_dcqcn_np(self, port: str, wanted: DcqcnSetting) -> None:
        """Apply it, and verify by read-back. Names that `wanted` leaves out stay as they are."""


# -- views and counters ------------------------------------------------------------------------


@runtime_checkable
class NicQosView(Protocol):
    """A NIC that shows its whole QoS state (trust, PFC, buffers, ETS) at once."""

    @abstractmethod
    def nic_qos(self, port: str) -> NicQos:
        """As its tool prints it."""


@runtime_checkable
class RdmaDevices(Protocol):
    """A host that knows which RDMA device belongs to which net device."""

    @abstractmethod
    def rdma_links(self) -> tuple[RdmaLink, ...]:
        """Every RDMA link of the host."""


@runtime_checkable
class QueueTelemetry(Protocol):
    """A switch that counts per egress queue what it forwarded and dropped."""

    @abstractmethod
    def queue_counters(self, port: str) -> tuple[Reading, ...]:
        """Scope "queue": QUEUE_* of counters.py, for all queues of the port."""


@runtime_checkable
class PfcTelemetry(Protocol):
    """A device that counts pause frames per priority."""

    @abstractmethod
    def pfc_counters(self, ports: tuple[str, ...]) -> tuple[Reading, ...]:
        """Scope "priority": PFC_*; for every priority 0..7 of every port, value or None + why.

        A priority whose counter the device does not show is `None`, never 0."""


@runtime_checkable
class DropTelemetry(Protocol):
    """A switch that counts why packets were dropped, and marks, per port."""

    @abstractmethod
    def drop_counters(self, port: str) -> tuple[Reading, ...]:
        """Scope "port": ECN_MARKED, WRED_DROPPED, BUFFER_DROPPED_*, and whatever else it shows."""


@runtime_checkable
class NicTelemetry(Protocol):
    """A host that counts on its NIC ports, its RDMA devices and its own IP stack."""

    @abstractmethod
    def nic_counters(self, port: str) -> tuple[Reading, ...]:
        """Scopes "priority" (RX/TX_*, PFC_*) and "port" of the net device."""

    @abstractmethod
    def rdma_counters(self, port: str) -> tuple[Reading, ...]:
        """Scope "port": the hw_counters of the RDMA device behind this port."""

    @abstractmethod
    def host_counters(self) -> tuple[Reading, ...]:
        """Scope "host": UDP_* and IP_* of /proc/net/snmp."""


@runtime_checkable
class Versions(Protocol):
    """A device that tells what it runs."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Name -> version, e.g. {"perftest": "6.24", "firmware": "14.23.1020"}; "" when unknown."""


@runtime_checkable
class Obstacles(Protocol):
    """A device that can tell what would undo or prevent a setting."""

    @abstractmethod
    def obstacles(self) -> tuple[str, ...]:
        """One sentence each, e.g. that lldpad runs and may overwrite PFC settings."""


@runtime_checkable
class Entitled(Protocol):
    """A device that shows what its account may do only when that is tried; the try changes nothing.
    A plan, which sends nothing but questions, does not."""

    @abstractmethod
    def refusals(self) -> tuple[str, ...]:
        """One sentence for each thing that the account may not do."""


@runtime_checkable
class Resuming(Protocol):
    """A device on which a change that was cut off may leave more than its setting shows."""

    @abstractmethod
    def resume(self, setting: str, values: tuple[object, ...]) -> None:
        """An earlier session was cut off while this setting went through these values. The next
        `set_...` of it also removes what that session may have left. Sends nothing."""


def meaning_of(name: str) -> str:
    """What a device has whose ability has a method of this name, in the words of its docstring; ""
    for a name that no ability has."""
    for ability in tuple(globals().values()):
        if isinstance(ability, type) and ability.__module__ == __name__ and name in vars(ability):
            first = " ".join((ability.__doc__ or "").split()).partition(". ")[0].removesuffix(".")
            return first[:1].lower() + first[1:]
    return ""


def settings_in(names: Mapping[str, object], module: str) -> tuple[str, ...]:
    """The x of every `set_x` of the abilities of a module, in their order."""
    return tuple(
        name.removeprefix("set_")
        for ability in tuple(names.values())
        if isinstance(ability, type) and ability.__module__ == module
        for name in vars(ability)
        if name.startswith("set_")
    )


SETTINGS = settings_in(globals(), __name__)
"""Every setting that an ability of this module has; with those of a profile: intents.SETTINGS.
Trust comes before the DSCP map, which a change of trust may rebuild."""
