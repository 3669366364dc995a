"""How the egress queues of a port are served: `display qos queue sp|wrr|wfq interface`, `qos wrr`.

Each command answers for ports that use its discipline. Software queues of routers (urgent,
protocol, FIFO, PQ, CQ, flow-based WFQ) and guaranteed minimum bandwidth (GMB) have no group and
weight; they are refused.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from labtests.capabilities.device import QueueShares, Shares
from labtests.capabilities.records import QueueSchedule, SchedulingSetting
from labtests.capabilities.settings import SCHEDULING
from labtests.drivers.comware.session import PortSetting, line
from labtests.drivers.comware.values import COMWARE, many, maybe, record
from labtests.drivers.displays import PortDisplay, Unfit
from labtests.drivers.parsing import whole_lines
from labtests.drivers.sharing import round_robin
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

_DISCIPLINES: dict[str, Any] = {
    "strict priority": "sp",
    "weighted round robin": "wrr",
    "hardware weighted fair": "wfq",
}
_LARGEST_WEIGHT = 127


def _port(
    interface: str, kind: str, queues: tuple[QueueSchedule, ...] = (), unit: Any = ""
) -> tuple[str, SchedulingSetting]:
    unit, discipline = unit.lower().replace(" ", "-"), _DISCIPLINES[kind.lower()]
    if (discipline == "sp") == bool(queues):
        raise Unfit(f"should have no queues or all of them, not {len(queues)}")
    return interface, SchedulingSetting(discipline=discipline, unit=unit, queues=queues)


_INTERFACE = COMWARE.shape("Interface: <interface:port>")
_PORT = record(
    _INTERFACE.text,
    COMWARE.line(f"Output queue: <kind:(?i:{'|'.join(_DISCIPLINES)})> (?i:queuing)"),
    many("Output queue: <kind:text>", refused="{above} has {kind}, which has no weights"),
    many(
        r"Output queue - <kind:\w+>.*",
        refused="{kind} is a router's software queue",
        remedy="use a switch port",
    ),
    maybe(
        "(?i:Queue ID Queue name Group <unit:weight|byte[ -]count>( Min[ -]bandwidth)?)",
        record(
            "<queue:0-7> [a-z]+[0-9]? (<group:1|2> <weight:number>|sp <:none>)( <:>)?",
            make=partial(QueueSchedule, group="sp", weight=None),
            into="queues",
            times=(8, 8),
            order="from 0",
        ),
    ),
    make=_port,
    order="unique",
)
SCHEDULERS = tuple(
    PortDisplay(command=f"display qos queue {discipline} interface <port>", shows=_PORT)
    for discipline in ("wrr", "sp", "wfq")
)


class ComwareScheduling(PortSetting[SchedulingSetting], QueueShares):
    """Strict priority, or WRR with every queue's group and weight."""

    kind = SCHEDULING

    def read(self, port: str) -> Asking[SchedulingSetting]:
        """Asked by discipline: WRR, strict priority, WFQ. The first that answers is in force."""
        for display in SCHEDULERS:
            reply = yield from ask(self.question(display, port))
            if not self.cli.refusals.is_refusal(reply) and not _shows_no_scheduler(reply):
                return self.of(display, reply, port)
        raise self.reject(
            f"display qos queue wrr|sp|wfq interface {self.port(port)}",
            "the switch shows no scheduler for this port",
            "a queue scheduling profile (`qos apply qmprofile`) may be in force: take it off",
        )

    def lines(
        self, port: str, earlier: SchedulingSetting, wanted: SchedulingSetting
    ) -> Iterator[CliLine]:
        """WFQ is read but not set: its minimum bandwidths would be lost."""
        if {earlier.discipline, wanted.discipline} - {"sp", "wrr"}:
            raise self.reject(
                f"interface {port}",
                f"labtests does not change {earlier.discipline} to {wanted.discipline}",
                "set the port to `qos wrr` or `qos sp` by hand first",
            )
        if wanted.discipline == "sp":
            yield line("qos", "sp")
            return
        yield line("qos", "wrr", wanted.unit)
        same = (earlier.discipline, earlier.unit) == (wanted.discipline, wanted.unit)
        for queue in wanted.queues:
            if not same or queue not in earlier.queues:
                yield line("qos", "wrr", queue.queue, "group", *_group(queue, wanted.unit))

    def scheduling_for(self, shares: Shares) -> SchedulingSetting:
        """Weighted round robin by bytes, with strict queues in the group `sp`."""
        return round_robin(shares, lambda share: min(share, _LARGEST_WEIGHT))


def _shows_no_scheduler(reply: Reply) -> bool:
    """Whether this answer names at most the port: the port does not use this discipline."""
    texts = [line.strip() for line in whole_lines(reply) if line.strip()]
    return all(_INTERFACE.pattern.fullmatch(text) for text in texts) and len(texts) <= 1


def _group(q: QueueSchedule, unit: str) -> tuple[str, ...]:
    return ("sp",) if q.group == "sp" else (q.group, unit, str(q.weight))
