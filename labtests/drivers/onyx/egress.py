"""The traffic classes of a port on the way out: ECN and RED (`congestion-control`), and how each is
served (`dcb ets`).

Thresholds are in kB (taken for 1000 bytes: no document says 1000 or 1024), or in percent of what a
class may hold. There is no probability, neither in lines nor in displays: it is taken to grow to
100 %.
"""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from labtests.capabilities import records as r
from labtests.capabilities import settings as s
from labtests.capabilities.device import QueueShares, Shares
from labtests.capabilities.settings import Commands
from labtests.drivers.displays import PortDisplay
from labtests.drivers.displays.trees import parse_any
from labtests.drivers.marking import MarkingInBytes, red_curve
from labtests.drivers.onyx.session import OnyxSetting, Told
from labtests.drivers.parsing import READ_AGAIN
from labtests.drivers.sharing import round_robin
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

QUEUES = range(8)
_KB = 1000
_UNITS = {"absolute": "([0-9]{1,9}) KB", "relative": "([0-9]{1,3})%"}
_PERCENT = re.compile("percent in ([0-7](?:, [0-7])*)")


@dataclass(frozen=True, slots=True)
class Congestion:
    """What a port has marked; the curves, and what RED dropped, of the classes that have one."""

    marked: int
    curves: tuple[r.WredQueue, ...]
    relative: frozenset[int]
    dropped: tuple[tuple[int, int], ...]


def parse_congestion(reply: Reply) -> dict[str, Congestion]:
    """Of the one port that it is about: it comes first, then each class."""
    whole = parse_any(reply)
    first, *rows = map(Told.by, whole.rows() or (whole,))
    names = [f"TC-{queue}" for queue in QUEUES]
    if [row.text("header") for row in rows] != names:
        whole.refuse(
            f"does not list exactly the classes from {names[0]} to {names[-1]}", READ_AGAIN
        )
    port, marked = first["Interface ethernet"].word(), first["ECN marked packets"].number()
    found = [each for queue, row in enumerate(rows) if (each := _curve(queue, row))]
    return {
        f"Eth{port}": Congestion(
            marked,
            tuple(curve for curve, _, _ in found),
            frozenset(curve.queue for curve, relative, _ in found if relative),
            tuple((curve.queue, dropped) for curve, _, dropped in found),
        )
    }


def _curve(queue: int, told: Told) -> tuple[r.WredQueue, bool, int] | None:
    """The curve, whether it is in percent, and what it dropped."""
    mode = told["Mode"].one_of("none", "ecn", "red")
    if mode == "none":
        return None
    unit = told["Threshold mode"].one_of(*_UNITS)
    low, high = (
        int(told[f"{which} threshold"].like(_UNITS[unit], unit)[1])
        for which in ("Minimum", "Maximum")
    )
    if low > high:
        told.node.refuse(f"has thresholds from {low} to {high}")
    dropped = told["RED dropped packets"].number()
    return red_curve(queue, (low, high), 100, ecn=mode == "ecn"), unit == "relative", dropped


CONGESTION = PortDisplay(
    command="show interfaces <port> congestion-control", shows=parse_congestion
)


class OnyxEcn(OnyxSetting[r.EcnSetting], MarkingInBytes):
    """ECN of each class. One that is not in the setting drops at the tail. The profile of a setting
    is the unit of its thresholds: `kB; percent in 2, 5`."""

    usual = (150_000, 1_500_000, 100, 0)
    """Of the vendor's guides to RoCE."""
    ours, unit_bytes, certain = "kB", _KB, True
    no_average = "labtests knows of no average there: it looks at the queue of the moment"
    marked_at = "traffic-class {} congestion-control"

    def same(self, one: r.EcnSetting, other: r.EcnSetting) -> bool:
        """By class, and the unit of its thresholds."""
        return _meant(one) == _meant(other)

    def read(self, port: str) -> Asking[r.EcnSetting]:
        """As the port shows it."""
        _, found = yield from self.shown(CONGESTION, port)
        return _setting(found.curves, found.relative)

    def commands(
        self, port: str, earlier: r.EcnSetting, wanted: r.EcnSetting, around: None = None
    ) -> Commands:
        """A line for each class that changes."""
        self.expect_possible(wanted.queues)
        before, after = _meant(earlier), _meant(wanted)
        return tuple(
            self._line(port, queue, after.get(queue))
            for queue in QUEUES
            if before.get(queue) != after.get(queue)
        )

    def _line(self, port: str, queue: int, wanted: tuple[r.WredQueue, bool] | None) -> CliLine:
        if wanted is None:
            return self.of_port(port, "no", "traffic-class", queue, "congestion-control")
        curve, relative = wanted
        unit = "relative" if relative else "absolute"
        return self.of_port(
            *(port, "traffic-class", queue, "congestion-control", "ecn" if curve.ecn else "red"),
            *(f"minimum-{unit}", curve.low_limit, f"maximum-{unit}", curve.high_limit),
        )


def _setting(
    curves: Iterable[r.WredQueue], relative: AbstractSet[int] = frozenset()
) -> r.EcnSetting:
    found = tuple(sorted(curves, key=lambda each: each.queue))
    more = f"; percent in {', '.join(map(str, sorted(relative)))}" if relative else ""
    return r.EcnSetting(profile=f"kB{more}", queues=found) if found else r.EcnSetting()


def _meant(setting: r.EcnSetting) -> dict[int, tuple[r.WredQueue, bool]]:
    """The curve of each queue, and whether it is in percent."""
    told = _PERCENT.search(setting.profile or "")
    relative = frozenset(map(int, told[1].split(", "))) if told else frozenset()
    return {each.queue: (each, each.queue in relative) for each in setting.queues}


# -- scheduling ------------------------------------------------------------------------------------

_FREE = ("N/A", "0")
"""Of a rate: not shaped."""


@dataclass(frozen=True, slots=True)
class ClassService:
    """How the classes of a port are served: weight, or None for strict priority; and what is
    slower than the port."""

    weights: tuple[int | None, ...]
    shaped: tuple[str, ...]


def parse_ets(reply: Reply) -> dict[str, ClassService]:
    """Of the one port that it is about."""
    port, told = Told.of_a_port(reply)
    classes = Told.by(told["ETS per TC"]).numbered(8)
    rates = {"the port": told["Interface Bandwidth Shape [Mbps]"]}
    rates |= {f"class {n}": each["BW Sh.(Mbps)"] for n, each in enumerate(classes)}
    shaped = {what: each.like("N/A|[0-9]{1,9}", "a rate")[0] for what, each in rates.items()}
    return {
        port: ClassService(
            tuple(map(_weight, classes)),
            tuple(f"{w} to {rate} Mbit/s" for w, rate in shaped.items() if rate not in _FREE),
        )
    }


def _weight(told: Told) -> int | None:
    strict = told["S.Mode"].one_of("strict", "wrr") == "strict"
    weight = told["W"].number()
    return None if strict else weight


SERVED = PortDisplay(command="show dcb ets interface <port>", shows=parse_ets)


class OnyxScheduling(OnyxSetting[r.SchedulingSetting], QueueShares):
    """Strict priority (the highest class first), or a weight (WRR)."""

    kind = s.SCHEDULING

    def read(self, port: str) -> Asking[r.SchedulingSetting]:
        """As the port shows it."""
        _, found = yield from self.shown(SERVED, port)
        return self.scheduling_for(found.weights)

    def commands(
        self,
        port: str,
        earlier: r.SchedulingSetting,
        wanted: r.SchedulingSetting,
        around: None = None,
    ) -> Commands:
        """A line for each class that changes."""
        before = {each.queue: each for each in earlier.queues}
        changed = (each for each in wanted.queues if before.get(each.queue) != each)
        return tuple(self._line(port, each) for each in changed)

    def _line(self, port: str, each: r.QueueSchedule) -> CliLine:
        at = ("traffic-class", each.queue, "dcb", "ets")
        if each.level is not None or each.group == "2" or not 0 <= (each.weight or 0) <= 100:
            where, problem = f"interface {port} dcb ets", f"a class cannot be served so: {each}"
            raise self.reject(where, problem, "make it strict, or give it a weight up to 100")
        how = ("strict",) if each.group == "sp" else ("wrr", each.weight or 0)
        return self.of_port(port, *at, *how)

    def scheduling_for(self, shares: Shares) -> r.SchedulingSetting:
        """Percentages as weights."""
        return replace(round_robin(shares), unit="weight")
