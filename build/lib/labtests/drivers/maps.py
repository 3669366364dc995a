"""The classes of DSCPs where the map that decides them is itself a setting."""

from abc import abstractmethod
from typing import Any, ClassVar

from labtests.capabilities.device import DscpClasses
from labtests.capabilities.settings import DSCP_MAP, DscpPriorities, Kind
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
