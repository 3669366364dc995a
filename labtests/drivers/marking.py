"""RED with ECN at the queues of a switch that takes their length in bytes."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import ClassVar

from labtests.capabilities.device import EcnCurves, EcnMarking
from labtests.capabilities.records import EcnSetting, MarkingCurve, WredQueue
from labtests.capabilities.settings import ECN, Setting
from labtests.drivers.parts import PlatformPart


class MarkingInBytes(PlatformPart, Setting[EcnSetting], EcnMarking, EcnCurves):
    """Curves as they are given, by queue: two settings with the same ones are one."""

    kind = ECN
    usual: ClassVar[tuple[int, int, int, int]]
    """Of `ecn_on`: Kmin and Kmax in bytes, Pmax in percent, the exponent of the average."""
    ours: ClassVar[str] = "labtests"
    """The profile of a setting that is not read from a device."""
    no_average: ClassVar[str] = ""
    """Why a curve can have no exponent; "" where it can."""

    def same(self, one: EcnSetting, other: EcnSetting) -> bool:
        """By queue."""
        return set(one.queues) == set(other.queues)

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
        self.expect_known_average(curves)
        found = tuple(each.in_units() for each in sorted(curves, key=lambda each: each.queue))
        return EcnSetting(profile=self.ours, queues=found) if found else EcnSetting()

    def expect_known_average(self, curves: Iterable[MarkingCurve | WredQueue]) -> None:
        """Raises CommandRejected for an exponent where the queue of the moment counts."""
        averaged = [each.queue for each in curves if each.weighting_exponent]
        if averaged and self.no_average:
            where, remedy = f"ecn of queue {averaged[0]}", "use weighting_exponent: 0"
            raise self.reject(where, self.no_average, remedy)
