"""What a suite may ask of a device: one protocol per ability, never per vendor.

Settings are in settings.py. What asks a device something returns an `Asking` (transport/asking.py),
which the lab runs: `lab.ask(device, part.queue_counters(port))`. `port` is always the port's name
in the testbed file (the interface name).

An asking raises a DeviceError (errors.py): CommandRejected for an answer that is an error,
ToolMissing, UnreadableOutput, Unreachable.
"""

from abc import abstractmethod
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from functools import cache
from typing import Literal, Protocol, runtime_checkable

from labtests.capabilities.nic import NicQos, RdmaLink
from labtests.capabilities.readings import DeviceLog, PfcWarning, Reading, WatchdogMessage
from labtests.capabilities.records import (
    DcqcnSetting,
    DeadlockTimes,
    EcnSetting,
    EdgeRule,
    EdgeSetting,
    MarkingCurve,
    PfcSetting,
    PortMemory,
    SchedulingSetting,
)
from labtests.capabilities.settings import KINDS, Commands
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

Shares = tuple[int | None, ...]
"""Queues 0 to 7: percent, or None for strict priority."""


# -- settings in the field's units ---------------------------------------------------------------


@runtime_checkable
class EcnMarking(Protocol):
    """An egress port that marks by RED (a congestion point, CP)."""

    @abstractmethod
    def ecn_on(self, queues: AbstractSet[int]) -> EcnSetting:
        """A setting that marks in exactly these queues, with the device's own default curve."""


@runtime_checkable
class EdgeClasses(Protocol):
    """A switch port that classifies what comes in by UDP port and DSCP."""

    @abstractmethod
    def edge_for(
        self, rules: tuple[EdgeRule, ...], rest: int, rest_dscp: int | None = None
    ) -> EdgeSetting:
        """A setting with these rules, in this order; all else gets the queue `rest`, and this
        DSCP if one is given."""


@runtime_checkable
class EcnCurves(Protocol):
    """A congestion point whose RED curves can be given in bytes."""

    @abstractmethod
    def ecn_for(self, curves: tuple[MarkingCurve, ...], cell_bytes: int) -> EcnSetting:
        """Marks in these queues. `cell_bytes` is what one unit of a limit stands for. Raises
        CommandRejected for what the device cannot hold."""


@runtime_checkable
class EcnInBytes(Protocol):
    """A congestion point that marks packets as they arrive, by the bytes that the queue has at the
    moment."""

    @abstractmethod
    def ecn_in_bytes(self, curve: MarkingCurve) -> EcnSetting:
        """Marks in this curve's queue alone. Raises CommandRejected as `ecn_for`."""


@runtime_checkable
class QueueShares(Protocol):
    """An egress port whose queues can be given shares or strict priority."""

    @abstractmethod
    def scheduling_for(self, shares: Shares) -> SchedulingSetting:
        """The port's own scheduler with these shares."""


@runtime_checkable
class RateLimitedQueues(Protocol):
    """An egress port whose queues can be held to a rate, strict ones too."""

    @abstractmethod
    def rate_limited(
        self, scheduling: SchedulingSetting, queue: int, most_bits_per_s: int
    ) -> SchedulingSetting:
        """This scheduling, its queue held to at most this rate, as near to it as the port can."""


@runtime_checkable
class DeadlockDetecting(Protocol):
    """A switch that detects PFC deadlocks after a time, and lets PFC work again after another."""

    @abstractmethod
    def deadlock_times_for(
        self, priorities: AbstractSet[int], *, detect_ms: int, release_ms: int
    ) -> DeadlockTimes:
        """Its own ticks that come next to this, for these priorities; packets are forwarded
        meanwhile. Raises CommandRejected for what it cannot hold."""


@runtime_checkable
class FrameLengths(Protocol):
    """A switch port that passes frames up to a length, FCS included."""

    @abstractmethod
    def passes(self, limit: int | None, frame_bytes: int) -> bool:
        """Whether frames of this length pass when `frame_limit` is so."""


@runtime_checkable
class AsymmetricPfc(Protocol):
    """A switch whose ports can obey pauses of all priorities, and send those of some."""

    @abstractmethod
    def obeying_all(self, setting: PfcSetting) -> PfcSetting:
        """The same, of a port that obeys all."""


@runtime_checkable
class DcqcnWords(Protocol):
    """A NIC that knows the field's names of DCQCN parameters (keys of a profile's `dcqcn`)."""

    @abstractmethod
    def dcqcn_for(
        self, side: Literal["roce_rp", "roce_np"], values: Mapping[str, int]
    ) -> DcqcnSetting:
        """Its own names and units. Raises CommandRejected for a name that it does not have."""


# -- views and counters ------------------------------------------------------------------------


@runtime_checkable
class DscpClasses(Protocol):
    """A device that tells into which class (priority of a NIC, egress queue of a switch) each DSCP
    goes, at a port; where the map is global, every port gives the same."""

    @abstractmethod
    def dscp_map(self, port: str) -> Asking[tuple[int, ...]]:
        """The class of each DSCP, 64 of them."""


@runtime_checkable
class NicQosView(Protocol):
    """A NIC that shows its whole QoS state (trust, PFC, buffers, ETS) at once."""

    @abstractmethod
    def nic_qos(self, port: str) -> Asking[NicQos]:
        """As its tool prints it."""


@runtime_checkable
class RdmaDevices(Protocol):
    """A host that knows which RDMA device belongs to which net device."""

    @abstractmethod
    def rdma_links(self) -> Asking[tuple[RdmaLink, ...]]:
        """Every RDMA link of the host."""


@runtime_checkable
class QueueTelemetry(Protocol):
    """A switch that counts per egress queue what it forwarded and dropped."""

    @abstractmethod
    def queue_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Scope "queue": QUEUE_* of counters.py, for all queues of the port."""


@runtime_checkable
class PfcTelemetry(Protocol):
    """A device that counts pause frames per priority."""

    @abstractmethod
    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        """Scope "priority": PFC_*; for every priority 0..7 of every port, value or None + why.

        A priority whose counter the device does not show is `None`, never 0."""


@runtime_checkable
class WatchdogTelemetry(Protocol):
    """A switch that counts what its PFC watchdog did to the queues of a port."""

    @abstractmethod
    def watchdog_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Scope "priority": WATCHDOG_*; for every priority 0..7, value or None + why."""


@runtime_checkable
class RoceTelemetry(Protocol):
    """A switch that counts RoCE apart at a port, while it is in RoCE mode."""

    @abstractmethod
    def roce_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Scope "port": ROCE_*, value or None + why. Raises UnreadableOutput, CommandRejected."""


@runtime_checkable
class Watermarks(Protocol):
    """A switch that keeps the most that queues, priorities and their pools held."""

    @abstractmethod
    def watermark_age_s(self) -> Asking[float]:
        """What is longer ago than that is in them. Raises CommandRejected where nothing ever is."""

    @abstractmethod
    def forget_watermarks(self) -> Asking[None]:
        """They are 0 now; what is not in them yet, comes all the same. Raises CommandRejected."""

    @abstractmethod
    def watermarks(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Scopes "queue" and "priority": the *_PEAK_BYTES since then, value or None + why."""


@runtime_checkable
class MemoryLimits(Protocol):
    """A switch port that tells in bytes what its lossless priorities may hold."""

    @abstractmethod
    def memory_limits(self, port: str) -> Asking[PortMemory]:
        """As configured."""


@runtime_checkable
class PfcWarnings(Protocol):
    """A switch that logs that a port has more pause frames a second than it was told to."""

    @abstractmethod
    def pfc_warnings(self) -> Asking[DeviceLog[PfcWarning]]:
        """What its log has of that now."""


@runtime_checkable
class WatchdogMessages(Protocol):
    """A switch that logs what its PFC watchdog does."""

    @abstractmethod
    def watchdog_log(self) -> Asking[DeviceLog[WatchdogMessage]]:
        """What its log has of that now, with the clock of its time stamps."""


@runtime_checkable
class DropTelemetry(Protocol):
    """A switch that counts why packets were dropped, and marks, per port."""

    @abstractmethod
    def drop_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Scope "port": ECN_MARKED, WRED_DROPPED, BUFFER_DROPPED_*, and whatever else it shows."""


@runtime_checkable
class NicTelemetry(Protocol):
    """A host that counts on its NIC ports, its RDMA devices and its own IP stack."""

    @abstractmethod
    def nic_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Scopes "priority" (RX/TX_*, PFC_*) and "port" of the net device."""

    @abstractmethod
    def rdma_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Scope "port": the hw_counters of the RDMA device behind this port."""

    @abstractmethod
    def host_counters(self) -> Asking[tuple[Reading, ...]]:
        """Scope "host": UDP_* and IP_* of /proc/net/snmp."""


@runtime_checkable
class Versions(Protocol):
    """A device that tells what it runs."""

    @abstractmethod
    def versions(self) -> Asking[dict[str, str]]:
        """Name -> version, e.g. {"perftest": "6.24", "firmware": "14.23.1020"}; "" when unknown."""


@runtime_checkable
class Obstacles(Protocol):
    """A device that can tell what would undo or prevent a setting."""

    @abstractmethod
    def obstacles(self) -> Asking[tuple[str, ...]]:
        """One sentence each, e.g. that lldpad runs and may overwrite PFC settings."""


@runtime_checkable
class Entitled(Protocol):
    """A device that shows what its account may do only when that is tried. A plan, which sends
    nothing but questions, does not."""

    @abstractmethod
    def trial(self) -> Asking[Commands]:
        """Configuration lines that change nothing, and that only who may configure may send."""

    @abstractmethod
    def expect_entitled(self, lines: Commands, reply: Reply) -> None:
        """By the answer to those. Raises CommandRejected for what the account may not do."""


def meaning_of(name: str) -> str:
    """What a device has that has a setting, or an ability with a method, of this name; "" for a
    name that there is not."""
    return _meanings().get(name, "")


def abilities_like(name: str) -> list[str]:
    """The name that is most like this one, if any is."""
    return get_close_matches(name, _meanings(), n=1)


@cache
def _meanings() -> dict[str, str]:
    """Of abilities' methods, and of settings."""
    from labtests.capabilities import facts  # which are abilities, too

    found: dict[str, str] = {}
    for ability in (*globals().values(), *vars(facts).values()):
        if isinstance(ability, type) and ability.__module__ in (__name__, facts.__name__):
            first = " ".join((ability.__doc__ or "").split()).partition(". ")[0].removesuffix(".")
            for method in (each for each in vars(ability) if not each.startswith("_")):
                found.setdefault(method, first[:1].lower() + first[1:])
    return found | {kind.name: kind.has for kind in KINDS}
