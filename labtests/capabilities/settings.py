"""What can be set on a device: a kind of setting has a name and a type, whatever the platform; a
`Setting` is how one platform has it.

A setting sends nothing. It says what to ask and what the answers mean, which commands lead from one
value to another, and whether a device obeyed. The lab alone asks, sends, reads back and undoes
(lab/lab.py), so what is planned and journalled is what is sent.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from labtests.capabilities.records import (
    BufferThresholds,
    DcbxControl,
    DcbxSetting,
    DcqcnSetting,
    DeadlockTimes,
    EcnSetting,
    EdgeSetting,
    EtsSetting,
    LossSetting,
    PfcAlarm,
    PfcSetting,
    PollsMs,
    PortDeadlockDetection,
    PortPauseTimeout,
    PortState,
    PortWatchdog,
    QueueLimitSetting,
    RoceMode,
    SchedulingSetting,
    StreamSetting,
    TrafficPools,
    TrustSetting,
    VxlanTunnel,
    WatchdogTimes,
)
from labtests.transport.asking import Asking, known
from labtests.transport.commands import Command
from labtests.transport.protocol import Reply

T = TypeVar("T")

Commands = tuple[Command, ...]
DscpPriorities = tuple[int, ...]
"""The class of each DSCP, 64 of them: priority of a NIC, egress queue or 802.1p of a switch."""
Headrooms = tuple[tuple[int, int], ...]
"""(priority, cells), ascending; priorities with the model's own default are not in it."""


@dataclass(frozen=True)  # slots and Kind[T](...) do not go together before Python 3.12
class Kind(Generic[T]):
    """One kind of setting. `name` is its word in journals, snapshots and reports; `has` says what a
    device is that has it."""

    name: str
    has: str

    def __str__(self) -> str:
        return self.name


PFC = Kind[PfcSetting]("pfc", "a port that can pause single priorities")
TRUST = Kind[TrustSetting]("trust", "a port that classifies by DSCP or by 802.1p")
EDGE = Kind[EdgeSetting]("edge", "a switch port that classifies what comes in by UDP port and DSCP")
ECN = Kind[EcnSetting]("ecn", "an egress port that marks by RED (a congestion point, CP)")
SCHEDULING = Kind[SchedulingSetting](
    "scheduling", "an egress port whose scheduler can be read and set"
)
QUEUE_LIMITS = Kind[QueueLimitSetting](
    "queue_limits",
    "an egress port whose queues have lengths that can be read and set (tail drop above)",
)
TUNNEL = Kind[VxlanTunnel | None]("tunnel", "a host port over which a VXLAN tunnel can be made")
PACKET_LOSS = Kind[LossSetting](
    "packet_loss",
    "an egress port that can be told to lose packets of a queue at random (netem of a switch whose "
    "kernel forwards)",
)
DSCP_MAP = Kind[DscpPriorities]("dscp_map", "a device whose DSCP -> priority map can be set")
REACTION_POINT = Kind[frozenset[int]](
    "reaction_point", "a sender that slows down on CNPs (RP), per priority"
)
NOTIFICATION_POINT = Kind[frozenset[int]](
    "notification_point", "a receiver that answers CE marks with CNPs (NP), per priority"
)
DCQCN_RP = Kind[DcqcnSetting]("dcqcn_rp", "a NIC whose DCQCN parameters can be read and set")
DCQCN_NP = Kind[DcqcnSetting]("dcqcn_np", "a NIC whose DCQCN parameters can be read and set")
ETS = Kind[EtsSetting]("ets", "a NIC port with traffic classes (ETS)")
QUEUE_MAP = Kind[tuple[int, ...]](
    "queue_map", "a device whose map from 802.1p priority to queue can be set"
)
MTU = Kind[int]("mtu", "a host port with an MTU, in bytes of an IP packet")
FRAME_LIMIT = Kind[int | None](
    "frame_limit", "a switch port that passes frames up to a length, FCS included"
)
CABLE_LENGTH = Kind[int]("cable_length", "a port that sizes its buffers by the cable's length")
HEADROOM = Kind[Headrooms](
    "headroom", "a switch port whose headroom can be set per priority, in memory cells"
)

PFC_WATCHDOG = Kind[PortWatchdog](
    "pfc_watchdog", "a switch port where a queue that pauses keep from sending can be shut"
)
WATCHDOG_TIMES = Kind[WatchdogTimes](
    "watchdog_times", "a switch whose PFC watchdog has times that can be set"
)
PAUSE_TIMEOUT = Kind[PortPauseTimeout](
    "pause_timeout", "a switch that drops all that a port has to send which is paused for too long"
)

DEADLOCK_DETECTION = Kind[PortDeadlockDetection](
    "deadlock_detection", "a switch port that can look for PFC deadlocks and release them"
)
DEADLOCK_TIMES = Kind[DeadlockTimes](
    "deadlock_times", "a switch whose detection of PFC deadlocks has times that can be set"
)

PFC_ALARM = Kind[PfcAlarm](
    "pfc_alarm", "a switch port that warns of too many pause frames a second"
)

BUFFER_THRESHOLDS = Kind[tuple[BufferThresholds, ...]](
    "buffer_thresholds",
    "a switch port whose thresholds of pauses can be set per priority",
)

STREAM = Kind[StreamSetting]("stream", "a switch that can be told to stream what it counts")
WATERMARK_POLLS = Kind[PollsMs](
    "watermark_polls", "a switch that can be told how often it reads the chip's watermarks"
)

DCBX = Kind[DcbxSetting]("dcbx", "a switch port that can tell its peer of PFC and ETS by DCBX")

DCBX_CONTROL = Kind[DcbxControl](
    "dcbx_control", "a NIC port whose PFC and ETS the OS or DCBX in its firmware can set"
)

ROCE_MODE = Kind[RoceMode](
    "roce_mode", "a switch that one word sets up for RoCE, lossless or lossy, at all its ports"
)

TRAFFIC_POOLS = Kind[TrafficPools](
    "traffic_pools", "a switch whose packet memory can be divided into pools of priorities"
)

PORT_STATE = Kind[PortState]("port_state", "a switch port that can be shut and opened again")

KINDS: tuple[Kind[Any], ...] = (
    DCBX_CONTROL,  # first: firmware overwrites what the OS sets
    ROCE_MODE,  # before all whose defaults it sets
    TRAFFIC_POOLS,  # before PFC, which a lossless one may switch on
    *(PFC, TRUST, EDGE, ECN, SCHEDULING, QUEUE_LIMITS),
    *(DSCP_MAP, REACTION_POINT, NOTIFICATION_POINT),
    *(DCQCN_RP, DCQCN_NP, ETS, QUEUE_MAP, MTU, FRAME_LIMIT, CABLE_LENGTH, HEADROOM),
    *(WATCHDOG_TIMES, PFC_WATCHDOG, PAUSE_TIMEOUT, DEADLOCK_TIMES, DEADLOCK_DETECTION),
    TUNNEL,  # behind the MTU of its port
    PACKET_LOSS,  # behind what else changes a queue
    *(PFC_ALARM, BUFFER_THRESHOLDS, DCBX, STREAM, WATERMARK_POLLS),
    PORT_STATE,  # last: a port that is opened has all its settings
)
"""Every kind, in an order in which they can be made: trust comes before the DSCP map, which a
change of trust may rebuild."""

SETTINGS = tuple(kind.name for kind in KINDS)
_BY_NAME = {kind.name: kind for kind in KINDS}


def kind_of(name: str) -> Kind[Any]:
    """The kind of a name in a journal, or one that no driver has."""
    return _BY_NAME.get(name) or Kind(name, f"a device with {name}")


class Setting(ABC, Generic[T]):
    """A setting of one platform. `port` is a port's name in the testbed file, "" where the setting
    is the whole device's (`wide`).

    Methods raise a DeviceError (core/errors.py): CommandRejected for what the device cannot hold or
    for an answer that is an error, ToolMissing, UnreadableOutput.
    """

    kind: ClassVar[Kind[Any]]
    wide: ClassVar[bool] = False
    within: ClassVar[Kind[Any] | None] = None
    """The setting of the same place that makes, and takes away, what this one is of."""
    remedy: ClassVar[str] = "look for what overwrites it on the device"
    """What to do when a device says yes and shows something else."""

    @abstractmethod
    def read(self, port: str) -> Asking[T]:
        """What is set now."""

    def around(self, port: str, values: tuple[T, ...]) -> Asking[Any]:
        """What else `commands` and `wrong` depend on, of a setting that went or is to go through
        these values: what is now, what is wanted, and any before; none for `wrong` alone."""
        del port, values
        return known(None)

    @abstractmethod
    def commands(self, port: str, earlier: T, wanted: T, around: Any) -> Commands:
        """Pure: what leads from one to the other and takes away what was only for the one; none
        when there is nothing to do."""

    @abstractmethod
    def accept(self, commands: Commands, replies: tuple[Reply, ...]) -> None:
        """The device took the commands: one answer to each on a shell, one to all on a CLI. Raises
        CommandRejected, ToolMissing."""

    def same(self, one: T, other: T) -> bool:
        """Whether two values are one, whatever what they are made of is called on the device."""
        return one == other

    def wrong(self, wanted: T, found: T, before: Any, after: Any) -> str:
        """What is wrong with what is read back, "" when it is as wanted. `before` and `after` are
        what was around."""
        del before, after
        return "" if self.same(found, wanted) else f"reads back as {found} instead of {wanted}"

    def there(self, value: T, now: T) -> T:
        """What of a value can be where it is `now`: all, unless some went with its `within`."""
        del now
        return value

    def is_foreign(self, now: T, ours: Sequence[T], around: Any) -> bool:
        """Whether this is none of the values that labtests has found or made there."""
        return all(now != each and bool(self.wrong(each, now, around, around)) for each in ours)
