"""RED with ECN at the queues of a switch that takes their length in bytes, or so many of them."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import ClassVar

from labtests.capabilities.device import EcnCurves, EcnInBytes, EcnMarking
from labtests.capabilities.records import EcnSetting, MarkingCurve, WredQueue
from labtests.capabilities.settings import ECN, Setting
from labtests.drivers.parts import PlatformPart


def red_curve(
    queue: int, limits: tuple[int, int], percent: int, *, ecn: bool, exponent: int = 0
) -> WredQueue:
    """The curve of a queue; without an exponent where the queue of the moment counts."""
    return WredQueue(
        queue=queue,
        low_limit=limits[0],
        high_limit=limits[1],
        drop_probability_percent=percent,
        weighting_exponent=exponent,
        ecn=ecn,
    )


class MarkingInBytes(PlatformPart, Setting[EcnSetting], EcnMarking, EcnCurves):
    """Curves as they are given, by queue: two settings with the same ones are one."""

    kind = ECN
    usual: ClassVar[tuple[int, int, int, int]]
    """Of `ecn_on`: Kmin and Kmax in bytes, Pmax in percent, the exponent of the average."""
    ours: ClassVar[str] = "labtests"
    """The profile of a setting that is not read from a device."""
    no_average: ClassVar[str] = ""
    """Why a curve can have no exponent; "" where it can."""
    certain: ClassVar[bool] = False
    """Whether curves can only grow to 100 %."""
    unit_bytes: ClassVar[int] = 1
    marked_at: ClassVar[str] = "ecn of queue {}"

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
        """In units of bytes, so whatever a cell is."""
        by_queue = sorted(curves, key=lambda each: each.queue)
        found = tuple(each.in_units(self.unit_bytes) for each in by_queue)
        self.expect_possible(found)
        return EcnSetting(profile=self.ours, queues=found) if found else EcnSetting()

    def expect_possible(self, curves: Iterable[WredQueue]) -> None:
        """Raises CommandRejected for an exponent where the queue of the moment counts, and for a
        probability where there is none."""
        for each in curves:
            where, percent = self.marked_at.format(each.queue), each.drop_probability_percent
            if each.weighting_exponent and self.no_average:
                raise self.reject(where, self.no_average, "use weighting_exponent: 0")
            if self.certain and percent != 100:
                problem = f"no probability can be set there, such as {percent} %"
                raise self.reject(where, problem, "use pmax_percent: 100")


class MarkingOnArrival(MarkingInBytes, EcnInBytes):
    """A switch that marks packets as they arrive. (Others mark them as they leave.)"""

    def ecn_in_bytes(self, curve: MarkingCurve) -> EcnSetting:
        """See EcnInBytes."""
        return self.ecn_for((curve,), cell_bytes=1)
