"""The classes of DSCPs where the map that decides them is itself a setting; and the map from
priority to queue where it is none."""

from abc import abstractmethod
from typing import Any, ClassVar

from labtests.capabilities.device import DscpClasses
from labtests.capabilities.settings import (
    DSCP_MAP,
    QUEUE_MAP,
    Commands,
    DscpPriorities,
    Kind,
    Setting,
)
from labtests.drivers.parts import PlatformPart
from labtests.transport.asking import Asking


class DscpMapSetting(DscpClasses):
    """A map that can be set tells the class of each DSCP."""

    kind: ClassVar[Kind[Any]] = DSCP_MAP

    @abstractmethod
    def read(self, port: str) -> Asking[DscpPriorities]:
        """See Setting."""

    def dscp_map(self, port: str) -> Asking[DscpPriorities]:
        """See DscpClasses."""
        return self.read(port)


class FixedQueueMap(PlatformPart, Setting[tuple[int, ...]]):
    """The queue of each 802.1p priority of the whole switch, which is read and not set."""

    kind = QUEUE_MAP
    wide = True
    fixed: ClassVar[tuple[str, str]]
    """Why, and what to do."""

    def commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...], around: None = None
    ) -> Commands:
        """None. Raises CommandRejected for another map."""
        if wanted != earlier:
            why, remedy = self.fixed
            where = f"a queue for each priority: {wanted}"
            raise self.reject(where, f"they are {earlier}, and {why}", remedy)
        return ()
