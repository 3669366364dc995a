"""RED with ECN at the queues of a switch that takes their length in bytes."""

from collections.abc import Set as AbstractSet
from typing import ClassVar

from labtests.capabilities.device import EcnCurves, EcnMarking
from labtests.capabilities.records import EcnSetting, MarkingCurve


class MarkingInBytes(EcnMarking, EcnCurves):
    """Curves as they are given, by queue."""

    usual: ClassVar[tuple[int, int, int, int]]
    """Of `ecn_on`: Kmin and Kmax in bytes, Pmax in percent, the exponent of the average."""
    ours: ClassVar[str] = "labtests"
    """The profile of a setting that is not read from a device."""

    def ecn_on(self, queues: AbstractSet[int]) -> EcnSetting:
        """The usual curve in these queues, none in the others."""
        low, high, percent, exponent = self.usual
        curves = (
            MarkingCurve(
                queue=queue,
                kmin_bytes=low,
                kmax_bytes=high,
                pmax_percent=percent,
                weighting_exponent=exponent,
            )
            for queue in queues
        )
        return self.ecn_for(tuple(curves), cell_bytes=1)

    def ecn_for(self, curves: tuple[MarkingCurve, ...], cell_bytes: int) -> EcnSetting:
        """In bytes, so whatever a cell is."""
        found = tuple(each.in_units() for each in sorted(curves, key=lambda each: each.queue))
        return EcnSetting(profile=self.ours, queues=found) if found else EcnSetting()
