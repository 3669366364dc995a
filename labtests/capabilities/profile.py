"""What a profile asks of devices beyond device.py, one protocol per ability.

Settings are triples, as there. A `..._for` turns what is meant, in the field's units, into the
device's own setting; it sends nothing and raises CommandRejected for what the device cannot hold.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Literal, Protocol, runtime_checkable

from labtests.capabilities import device
from labtests.capabilities.device import Commands
from labtests.capabilities.records import (
    DcqcnSetting,
    EcnSetting,
    EtsSetting,
    MarkingCurve,
    SchedulingSetting,
)

Shares = tuple[int | None, ...]
"""Queues 0 to 7: percent, or None for strict priority."""


@runtime_checkable
class EcnCurves(Protocol):
    """A congestion point whose RED curves can be given in bytes."""

    @abstractmethod
    def ecn_for(self, curves: tuple[MarkingCurve, ...], cell_bytes: int) -> EcnSetting:
        """Marks in these queues. `cell_bytes` is what one unit of a limit stands for."""


@runtime_checkable
class QueueShares(Protocol):
    """An egress port whose queues can be given shares or strict priority."""

    @abstractmethod
    def scheduling_for(self, shares: Shares) -> SchedulingSetting:
        """The port's own scheduler with these shares."""


@runtime_checkable
class TrafficClasses(Protocol):
    """A NIC port with traffic classes (ETS)."""

    @abstractmethod
    def ets(self, port: str) -> EtsSetting:
        """Classes of the priorities, and how the classes are served now."""

    @abstractmethod
    def ets_commands(self, port: str, earlier: EtsSetting, wanted: EtsSetting) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_ets(self, port: str, wanted: EtsSetting) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class QueueMap(Protocol):
    """A device whose map from 802.1p priority to queue can be set."""

    @abstractmethod
    def queue_map(self, port: str) -> tuple[int, ...]:
        """The queue of each priority, eight of them."""

    @abstractmethod
    def queue_map_commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...]
    ) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_queue_map(self, port: str, wanted: tuple[int, ...]) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class Mtu(Protocol):
    """A host port with an MTU, in bytes of an IP packet."""

    @abstractmethod
    def mtu(self, port: str) -> int:
        """The MTU now."""

    @abstractmethod
    def mtu_commands(self, port: str, earlier: int, wanted: int) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_mtu(self, port: str, wanted: int) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class FrameLimit(Protocol):
    """A switch port that passes frames up to a length, FCS included."""

    @abstractmethod
    def frame_limit(self, port: str) -> int | None:
        """Bytes; 0 when long frames are refused, None for the model's own (large) default."""

    @abstractmethod
    def passes(self, limit: int | None, frame_bytes: int) -> bool:
        """Whether frames of this length pass when `frame_limit` is so."""

    @abstractmethod
    def frame_limit_commands(self, port: str, earlier: int | None, wanted: int | None) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_frame_limit(self, port: str, wanted: int | None) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class CableLength(Protocol):
    """A host port that sizes its buffers by the cable's length, in m."""

    @abstractmethod
    def cable_length(self, port: str) -> int:
        """What it counts with now."""

    @abstractmethod
    def cable_length_commands(self, port: str, earlier: int, wanted: int) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_cable_length(self, port: str, wanted: int) -> None:
        """Apply it, and verify by read-back."""


Headrooms = tuple[tuple[int, int], ...]
"""(priority, cells), ascending; priorities with the model's own default are not in it."""


@runtime_checkable
class Headroom(Protocol):
    """A switch port whose headroom can be set per priority, in memory cells."""

    @abstractmethod
    def headroom(self, port: str) -> Headrooms:
        """What is configured."""

    @abstractmethod
    def headroom_commands(self, port: str, earlier: Headrooms, wanted: Headrooms) -> Commands:
        """The commands that lead from one to the other."""

    @abstractmethod
    def set_headroom(self, port: str, wanted: Headrooms) -> None:
        """Apply it, and verify by read-back."""


@runtime_checkable
class DcqcnWords(Protocol):
    """A NIC that knows the field's names of DCQCN parameters (keys of a profile's `dcqcn`)."""

    @abstractmethod
    def dcqcn_for(
        self, side: Literal["roce_rp", "roce_np"], values: Mapping[str, int]
    ) -> DcqcnSetting:
        """Its own names and units."""


@runtime_checkable
class DeviceWide(Protocol):
    """A device on which some settings hold for all ports at once."""

    @abstractmethod
    def device_wide(self) -> frozenset[str]:
        """Their names; they are read and set with port "" ."""


SETTINGS = (*device.SETTINGS, *device.settings_in(globals(), __name__))
"""Every setting that an ability has, here and in device.py, in an order in which they can be
made."""
