"""What a NIC shows of itself, beside the settings that suites write."""

from dataclasses import dataclass
from typing import Literal

from labtests.capabilities.records import TrustSetting
from labtests.core.units import BitsPerSecond, Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficClass:
    """One ETS traffic class of a NIC."""

    number: int
    ratelimit_bits_per_s: BitsPerSecond | None
    algorithm: Literal["ets", "strict", "vendor", "unknown"]
    bandwidth_percent: int | None
    priorities: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NicQos:
    """Everything `mlnx_qos -i` says of one port. None = the tool did not print that section."""

    dcbx_mode: str | None
    trust: TrustSetting | None
    dscp_to_priority: tuple[tuple[int, int], ...] | None  # (dscp, priority), ascending dscp
    receive_buffer_bytes: tuple[Bytes, ...] | None
    max_buffer_bytes: Bytes | None
    cable_length_m: int | None
    pfc_enabled: tuple[bool, ...]
    priority_to_buffer: tuple[int, ...] | None
    traffic_classes: tuple[TrafficClass, ...] | None
    lldpad_warning: bool = False
    default_priorities: tuple[int, ...] | None = None  # of packets without DSCP or tag


@dataclass(frozen=True, slots=True, kw_only=True)
class RdmaLink:
    """One RDMA device port and the net device it belongs to."""

    rdma: str
    rdma_port: int
    interface: str
    state: str
