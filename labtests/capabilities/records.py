"""Settings, frozen and typed: each is what one ability reads and writes (see device.py), so
equality is how a read-back is judged.

What devices count is in readings.py, what a workload saw in flows.py, what a NIC shows in nic.py.
"""

import math
import re
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from labtests.core.units import Bytes

# -- what a value can be: values.py looks at it ---------------------------------------------------

MOST = 2**63
TEXT = re.compile(r"(?!-)[A-Za-z0-9 _.:;,+@#%=/()\[\]{}~^*!-]{1,4000}")
Priority = Annotated[int, range(8)]
"""A priority, class or queue."""
Percent = Annotated[int, range(101)]
Count = Annotated[int, range(MOST + 1)]

# -- settings ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PfcSetting:
    """Priority flow control of one port (IEEE 802.1Qbb): the mode and the no-drop priorities.

    `asymmetric`: on where the port obeys pauses of all eight priorities, whatever it sends; None
    where nothing is told, which means off.
    """

    mode: Literal["off", "on", "auto"]
    priorities: frozenset[Priority]
    asymmetric: Literal["off", "on"] | None = None

    @classmethod
    def of(
        cls, priorities: frozenset[Priority], asymmetric: Literal["off", "on"] | None = None
    ) -> "PfcSetting":
        """Of a port that has no mode: on for these, off where there are none."""
        return cls(mode="on" if priorities else "off", priorities=priorities, asymmetric=asymmetric)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustSetting:
    """Which header field of an arriving packet decides its priority."""

    source: Literal["dscp", "dot1p", "none", "auto", "exp", "ip-precedence"]
    override: bool = False


RoceMode = Annotated[str, re.compile("off|[a-z][a-z-]{0,39}")]
"""What a switch is set up for in one word: "lossless" (PFC, ECN), "lossy" (ECN alone), off; another
word is a mode of its own."""

PoolName = Annotated[str, re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,19}")]
MemoryPercent = Annotated[str, re.compile(r"(?!0\.00)(?:100\.00|[1-9]?[0-9]\.[0-9]{2})")]
"""With two digits behind the point, as a switch shows it."""
OWN_POOL = "labtests"
"""The traffic pool of a profile's lossless priorities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficPool:
    """A part of a switch's packet memory, for the packets of some priorities.

    `type`: None where nothing is told, which means lossy. `memory_percent`: None where the switch
    decides.
    """

    name: PoolName
    type: Literal["lossless", "lossy", "lossy-mc"] | None
    memory_percent: MemoryPercent | None
    priorities: frozenset[Priority]

    @property
    def hundredths(self) -> int:
        """Of a percent of the memory, that are told."""
        return int((self.memory_percent or "0").replace(".", ""))


TrafficPools = tuple[TrafficPool, ...]
"""By name."""


def pools_conflict(pools: TrafficPools) -> str:
    """What keeps pools from being those of one switch, "" if nothing does."""
    names, seen = [pool.name for pool in pools], dict[int, str]()
    if names != sorted(set(names)):
        return "not each pool is there once, by name"
    for pool in pools:
        for priority in sorted(pool.priorities):
            if (other := seen.setdefault(priority, pool.name)) != pool.name:
                return f"priority {priority} is in traffic pool {pool.name} and in {other}"
    if (told := sum(pool.hundredths for pool in pools)) > 10_000:
        return f"the traffic pools have {told / 100:g} % of the memory together"
    return ""


PortState = Literal["up", "down"]
"""Whether a port is told to be in use; "down": shut."""

PortWatchdog = Annotated[str, re.compile("on|off|unset|of [0-7](,[0-7]){0,7}")]
"""Whether a port is watched: unset where nothing is configured there, "of 3,4" where it is so for
other priorities than the lossless ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchdogTimes:
    """When a queue that pauses keep from sending is shut, and when it is served again.

    `action` is what becomes of its packets meanwhile: dropped, sent in spite of the pauses
    (forward), or left waiting, and the storm only counted (alert).

    Shut: after interval_ms x shutdown_multiplier. Served again: when no pause came for interval_ms
    x auto_restore_multiplier, or interval_ms x fixed_restore_multiplier after it was shut, whatever
    comes (0: never by that; None: the device has a rule of its own, which cannot be set). NX-OS has
    these four; where a device has the products (SONiC), the interval is their greatest common
    divisor. A driver refuses what its device does not take.
    """

    on: bool
    interval_ms: Annotated[int, range(1, 60_001)]
    shutdown_multiplier: Annotated[int, range(1, 60_001)]
    auto_restore_multiplier: Annotated[int, range(60_001)] | None
    fixed_restore_multiplier: Annotated[int, range(60_001)] | None
    action: Literal["drop", "forward", "alert"] = "drop"

    @classmethod
    def of_ms(cls, *, shut_after_ms: int, quiet_ms: int, on: bool = True) -> "WatchdogTimes":
        """Of a device that is told products, in ms, and neither interval nor multipliers; it shuts
        a queue after more than 0 ms."""
        unit = math.gcd(shut_after_ms, quiet_ms)
        return cls(
            on=on,
            interval_ms=unit,
            shutdown_multiplier=shut_after_ms // unit,
            auto_restore_multiplier=quiet_ms // unit,
            fixed_restore_multiplier=0,
        )

    @property
    def shut_after_ms(self) -> int:
        """How long pauses keep a queue from sending until it is shut."""
        return self.interval_ms * self.shutdown_multiplier

    @property
    def quiet_ms(self) -> int:
        """How long no pause came when it is served again; 0: never by that, or nobody tells."""
        return self.interval_ms * (self.auto_restore_multiplier or 0)

    @property
    def fixed_ms(self) -> int:
        """How long it is shut at most; 0: no limit, or nobody tells."""
        return self.interval_ms * (self.fixed_restore_multiplier or 0)

    def suiting(self, now: "WatchdogTimes") -> "WatchdogTimes":
        """The same, but for what a device with the times of `now` has rules of its own for."""
        auto = None if now.auto_restore_multiplier is None else self.auto_restore_multiplier
        fixed = None if now.fixed_restore_multiplier is None else self.fixed_restore_multiplier
        return replace(self, auto_restore_multiplier=auto, fixed_restore_multiplier=fixed)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortPauseTimeout:
    """After how long a pause a port drops all that it has to send, of every class, as long as the
    pause goes on. What comes in goes on. No watchdog: it shuts no queue, and counts nothing."""

    on: bool
    timeout_ms: Annotated[int, range(1, 60_001)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortDeadlockDetection:
    """Whether a port looks for priorities that pauses hold for ever, and who makes PFC work again
    once it has released one: the switch by itself, or somebody (`manual`)."""

    on: bool
    recovery: Literal["auto", "manual"] = "auto"


Ticks = tuple[tuple[Priority, Count], ...]
"""(priority, ticks), ascending; priorities without any are not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlockTimes:
    """When a priority that pauses hold is taken for deadlocked, and for how long PFC is then off
    for it; `action`: what the port does with its packets meanwhile.

    `detect` and `release` count ticks; how long one is, `precision` says in the device's own words
    (DeadlockDetecting knows). A priority without `detect` is not looked at, one without `release`
    has no automatic recovery.
    """

    precision: Literal["high", "normal", "low"] = "normal"
    action: Literal["forwarding", "discard"] = "forwarding"
    detect: Ticks = ()
    release: Ticks = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DialOut:
    """What a switch streams to labtests, which it dials: sensor paths that are sampled, and those
    that are told when something happens, each in alphabetical order. Only what is called
    `labtests` on it."""

    address: Annotated[str, re.compile(r"[0-9.]{7,15}")]
    port: Annotated[int, range(1, 65536)]
    every_s: Annotated[int, range(1, 86401)]
    sampled: tuple[Annotated[str, TEXT], ...] = ()
    changes: tuple[Annotated[str, TEXT], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSetting:
    """Whether the switch's gRPC is on, what it streams to labtests, if it does, and whether it
    tells of drops when they happen."""

    on: bool
    ours: DialOut | None = None
    drop_alarms: bool = False


PollsMs = tuple[tuple[Annotated[str, TEXT], Annotated[int, range(1, 86_400_001)]], ...]
"""(the device's word for a group of counters, ms between two polls), in alphabetical order."""

FramesPerS = tuple[tuple[Priority, Annotated[int, range(1, MOST + 1)]], ...]
"""(priority, pause frames per second), ascending; priorities without any are not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PfcAlarm:
    """How many pause frames a second a port may receive, and send, before the switch warns."""

    received: FramesPerS = ()
    sent: FramesPerS = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferThresholds:
    """When a port pauses one priority, in the `unit` that the device counts in; None: the model's
    own, or nothing that the device can be told.

    Pauses are sent when the priority holds a share of what is free (`dynamic_percent` of it, or 2
    to the power of `dynamic_exponent` times as much), or `static`, beside what is `reserved` for it
    whatever others hold. They end when it holds `xon_offset` less than that, or `xon`. `headroom`
    takes what arrives between; on Comware and NX-OS it is a setting of its own.
    """

    priority: Priority
    unit: Literal["cells", "bytes"] = "cells"
    dynamic_percent: Percent | None = None
    dynamic_exponent: Annotated[int, range(-8, 9)] | None = None
    static: Count | None = None
    xon_offset: Count | None = None
    xon: Count | None = None
    reserved: Count | None = None
    headroom: Count | None = None

    def memory(self, pool_bytes: int | None) -> "PriorityMemory":
        """What the priority may hold then, in a pool of this size. The unit is bytes."""
        exponent = self.dynamic_exponent
        return PriorityMemory(
            priority=self.priority,
            headroom_bytes=self.headroom,
            reserved_bytes=self.reserved,
            static_bytes=self.static,
            alpha=None if exponent is None else 2.0**exponent,
            pool_bytes=pool_bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityMemory:
    """What a lossless priority of a port may hold, in bytes; None: not told by the device.

    It is paused when it holds `alpha` times what is free of its pool, or `static_bytes`, beside
    what is reserved for it; `headroom_bytes` take what arrives then.
    """

    priority: Priority
    headroom_bytes: Count | None = None
    reserved_bytes: Count | None = None
    static_bytes: Count | None = None
    alpha: float | None = None
    pool_bytes: Count | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortMemory:
    """That of each lossless priority of a port; and by queue the length, in bytes, from which on
    all that passes is marked (Kmax)."""

    priorities: tuple[PriorityMemory, ...]
    kmax_bytes: tuple[tuple[Priority, Count], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DcbxSetting:
    """Whether a port tells its peer of PFC and ETS by DCBX, and in which version: with `auto` they
    agree on one."""

    tells: bool
    version: Literal["auto", "rev100", "rev101", "standard"] = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class WredQueue:
    """The RED curve of one egress queue. Limits are in the device's own unit (cells or packets)."""

    queue: Priority
    low_limit: Count
    high_limit: Count
    drop_probability_percent: Percent
    weighting_exponent: Annotated[int, range(32)]
    ecn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EcnSetting:
    """ECN marking on an egress port: the profile that is applied there, and its queues.

    `profile is None` means nothing is applied: tail drop, no marks.
    """

    profile: Annotated[str, TEXT] | None = None
    queues: tuple[WredQueue, ...] = ()

    @property
    def marking_queues(self) -> frozenset[int]:
        """The queues in which ECN-capable packets are marked instead of dropped."""
        return frozenset(q.queue for q in self.queues if q.ecn)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRule:
    """Packets to this UDP port with this DSCP, and no others, get this queue."""

    udp_port: Annotated[int, range(1, 65_536)]
    dscp: Annotated[int, range(64)]
    queue: Priority


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeSetting:
    """What a port at the edge of a network makes of what comes in, whatever it trusts: the first
    rule that fits, and one queue for the rest. `rest_dscp`: the DSCP that the rest has from there
    on; None: it keeps its own.

    `policy is None` means that nothing is applied there. Of a policy that is not labtests' own the
    name is known, and what is in it is not.
    """

    policy: Annotated[str, TEXT] | None = None
    rules: tuple[EdgeRule, ...] = ()
    rest: Priority | None = None
    rest_dscp: Annotated[int, range(64)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSchedule:
    """How one egress queue is served: strict priority, or a weight inside a group.

    `level` is there where a device lets one choose who is served before whom: 0 is first, equals
    share by weight. None is the device's own order. `most_bits_per_s`: what the queue may send at
    most, however idle the port is; None: as much as the port.
    """

    queue: Priority
    group: Literal["sp", "1", "2"]
    weight: Count | None  # None in the strict-priority group
    level: Annotated[int, range(16)] | None = None
    most_bits_per_s: Annotated[int, range(1, MOST + 1)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingSetting:
    """Egress scheduling of one port. `unit` says what a weight counts."""

    discipline: Literal["sp", "wrr", "wfq", "gmb"]
    unit: Literal["weight", "byte-count", ""]
    queues: tuple[QueueSchedule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimitSetting:
    """How much each egress queue of a port may hold: (queue, bytes), by queue."""

    limits: tuple[tuple[Priority, Annotated[Bytes, range(MOST + 1)]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSetting:
    """What each egress queue of a port loses on purpose, at random: (queue, packets of a million),
    by queue. A queue that loses none is not in it."""

    losses: tuple[tuple[Priority, Annotated[int, range(1, 1_000_001)]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VxlanTunnel:
    """A VXLAN device over a host's port (RFC 7348). `address`: its own inside, with the length of
    the prefix. `remote`: the IPv4 address of the other end; "": whoever has sent something.
    `inherits_tos`: outer headers have the DSCP of the inner ones."""

    vni: Annotated[int, range(1, 2**24)]
    address: Annotated[str, re.compile(r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2})?")]
    remote: Annotated[str, re.compile(r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3})?")] = ""
    inherits_tos: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DcqcnSetting:
    """DCQCN parameters of one side by their sysfs names (units: driver docstring)."""

    side: Literal["roce_rp", "roce_np"]
    values: tuple[tuple[Annotated[str, re.compile("[a-z][a-z0-9_]{0,63}")], Count], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EtsSetting:
    """Traffic classes of a NIC port (IEEE 802.1Qaz): eight entries each, by priority or by class.

    `percent` is the share of an "ets" class, 0 for the others.
    """

    class_of_priority: Annotated[tuple[Priority, ...], 8]
    algorithms: Annotated[tuple[Literal["ets", "strict", "vendor"], ...], 8]
    percent: Annotated[tuple[Percent, ...], 8]


@dataclass(frozen=True, slots=True, kw_only=True)
class DcbxControl:
    """Who sets PFC and ETS of a host's port: the OS, or DCBX in the NIC's firmware. What the OS has
    set goes with it: what firmware takes over from a peer stays when the OS has the port again.
    None: the firmware has it, or (`ets`) the classes are not shown."""

    by: Literal["os", "firmware"]
    pfc: frozenset[Priority] | None = None
    ets: EtsSetting | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkingCurve:
    """The RED curve that a queue is to have, in bytes: what a device turns into its own unit."""

    queue: int
    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int
    weighting_exponent: int

    def in_units(self, unit_bytes: int = 1) -> WredQueue:
        """The same with ECN, in a device's unit of so many bytes."""
        return WredQueue(
            queue=self.queue,
            low_limit=self.kmin_bytes // unit_bytes,
            high_limit=self.kmax_bytes // unit_bytes,
            drop_probability_percent=self.pmax_percent,
            weighting_exponent=self.weighting_exponent,
            ecn=True,
        )
