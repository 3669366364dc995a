"""ECN on a Comware switch: WRED tables, and which of them a port applies.

A port that applies no table drops at the tail and marks nothing. A table has one curve per queue
and packet colour. Without a policer every packet is green, so the green curve is the one read; a
table with other yellow and red curves is read the same, and is never rewritten by labtests.
Limits are in the device's own unit (cells or packets, by model).

Syntax: H3C and HPE command references for Comware 7 (ACL and QoS: congestion avoidance) and
document 000. Tables of other people are applied, never changed. A table of ours is made, shared by
ports that mark alike, and removed when no port applies it any more.
"""

from collections.abc import Container, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from hashlib import sha256

from labtests.capabilities import settings as s
from labtests.capabilities.device import EcnCurves, EcnMarking
from labtests.capabilities.records import EcnSetting, MarkingCurve, WredQueue
from labtests.drivers.comware.session import CLI, QUIT, ConfigSection, Lines, line, show
from labtests.drivers.comware.shared import SharedSetting, Users
from labtests.drivers.comware.values import COMWARE, many, record
from labtests.drivers.displays import PortDisplay, read
from labtests.drivers.marking import red_curve
from labtests.drivers.parsing import refuse, whole_lines
from labtests.transport.asking import Asking, ask
from labtests.transport.protocol import Reply

_BY_PRECEDENCE = "{above} has WRED by IP precedence, which is not a queue table"  # routers
APPLIED: PortDisplay[str] = PortDisplay(
    command="display qos wred interface <port>",
    shows=record(
        "Interface: <interface:port>",
        many("Current WRED configuration:"),
        many("(Exponent: |Pre Low ).*", refused=_BY_PRECEDENCE),
        COMWARE.line("Applied WRED table name: <table>"),
        make=lambda interface, table: (interface, table),
        order="unique",
    ),
)
_NAME = COMWARE.shape("Table name: <name>")
_SHOWN_TABLES = record(
    _NAME.text,
    COMWARE.line("Table type: Queue based WRED"),
    COMWARE.line("QID gmin gmax gprob ymin ymax yprob rmin rmax rprob exponent ECN"),
    record(
        "<queue:0-7> <low_limit:number> <high_limit:number> <drop_probability_percent:number>"
        r"( \S+){6} <weighting_exponent:number> <ecn:yes>",
        make=WredQueue,
        into="queues",
        times=(8, 8),
        order="from 0",
    ),
    make=lambda name, queues: (name, queues),
    order="unique",
)
_APPLY = COMWARE.shape("qos wred apply( <table>)?")
DEFAULT_TABLE = ""
"""What `applied_wred_table` says of `qos wred apply` without a name."""


def parse_qos_wred_table(reply: Reply) -> dict[str, tuple[WredQueue, ...]]:
    """By name, every table: the green curve of each of its eight queues; fewer were cut off and are
    refused."""
    return dict(read(reply, _SHOWN_TABLES))


def shows_wred_table(reply: Reply, name: str) -> bool:
    """Whether this answer has the table. What a switch says when there is none is not recorded."""
    return any(_NAME.first([line.strip()]).get("name") == name for line in whole_lines(reply))


def applied_wred_table(reply: Reply, section: ConfigSection) -> str | None:
    """The WRED table this port applies; DEFAULT_TABLE for the unnamed one, None for none.

    Newer models can hold a port's own curves (`qos wred queue 3 ecn` in interface view). Those are
    refused: they have no name by which they could be put back.
    """
    own = [line for line in section.lines if line.startswith("qos wred queue ")]
    if own:
        refuse(
            reply,
            f"{section.interface} has WRED parameters of its own: {own[0]!r}",
            "move them into a table (`qos wred queue table NAME`) and apply that to the port",
        )
    applied = section.each(reply, _APPLY)
    return applied[-1].get("table", DEFAULT_TABLE) if applied else None


# -- what a port applies ---------------------------------------------------------------------------

_DEFAULT_CURVE = red_curve(0, (100, 1000), 10, ecn=False, exponent=9)
"""A WRED table as created (HPE 5900, 5130 HI, 6125XLG, 11900 references; H3C's sample table)."""

_SHOWN = ("display", "qos", "wred", "table", "name")


class ComwareEcn(SharedSetting[EcnSetting], EcnMarking, EcnCurves):
    """The WRED table that a port applies, and its queues."""

    kind = s.ECN
    named = "profile"
    ours = "labtests"
    made_by = "qos wred queue table"
    applied_by = ("qos wred apply {}", "undo qos wred apply")

    def read(self, port: str) -> Asking[EcnSetting]:
        """As configured, and as displayed."""
        table = applied_wred_table(*(yield from self.configured(port)))
        if table is None:
            return EcnSetting()
        shown, applied = yield from self.shown(APPLIED, port)
        if table not in (DEFAULT_TABLE, applied):
            full = self.port(port)
            refuse(shown, f"{full} is configured with {table!r} and applies {applied!r}")
        return (yield from _table(table, applied))

    def ecn_on(self, queues: AbstractSet[int]) -> EcnSetting:
        """Our table for these queues, named after them: ports that mark alike share one table.

        The curve is the documented default of Comware: from 100 to 1000, up to 10 %, exponent 9.
        The other queues keep the curve that the model gives a new table: WRED drops in them too.
        """
        named = "".join(str(queue) for queue in sorted(queues))
        return EcnSetting(
            profile=f"{self.ours}-ecn-{named or 'none'}",
            queues=tuple(default_curve(q, ecn=q in queues) for q in range(8)),
        )

    def ecn_for(self, curves: tuple[MarkingCurve, ...], cell_bytes: int) -> EcnSetting:
        """A table of ours, named after its content, so that ports that mark alike share it.

        Models count limits in cells or in packets; here a unit stands for `cell_bytes`."""
        marking = {curve.queue: curve for curve in curves}
        queues = tuple(
            _wred(marking[q], cell_bytes) if q in marking else default_curve(q, ecn=False)
            for q in range(8)
        )
        named = sha256(repr(queues).encode()).hexdigest()[:10]
        return EcnSetting(profile=f"{self.ours}-{named}", queues=queues)

    def same(self, one: EcnSetting, other: EcnSetting) -> bool:
        """What is read, and what is wanted: in a table of ours the curves of queues that were left
        as the model creates them may differ from the documented default; nothing else may."""
        if not self.is_ours(other.profile):
            return one == other
        asked = {q for q in other.queues if q != default_curve(q.queue, ecn=False)}
        told = (one.profile, one.marking_queues) == (other.profile, other.marking_queues)
        return told and asked <= set(one.queues)

    def applied(self, reply: Reply, section: ConfigSection) -> str | None:
        """See SharedSetting."""
        return applied_wred_table(reply, section)

    def found(
        self, names: Iterable[str], users: Users, *, but: Container[str]
    ) -> Asking[dict[str, EcnSetting | None]]:
        """By a display for each that has to be looked at."""
        found: dict[str, EcnSetting | None] = {}
        for name in names:
            if name in users:
                found[name] = yield from _table(name, name)
            elif name in but or shows_wred_table((yield from ask(line(*_SHOWN, name))), name):
                found[name] = None
        return found

    def making(self, earlier: EcnSetting, wanted: EcnSetting, *, there: bool) -> Lines:
        """What differs from what the port has, or from a new table."""
        known = earlier.queues if earlier.profile == wanted.profile else ()
        before = {q.queue: q for q in known}
        yield line(*self.made_by.split(), str(wanted.profile))
        for q in wanted.queues:
            yield from _queue_lines(before.get(q.queue), q)
        yield QUIT

    def removing(self, name: str) -> Lines:
        """One line."""
        yield line("undo", *self.made_by.split(), name)


def default_curve(queue: int, *, ecn: bool) -> WredQueue:
    """A queue of a new WRED table."""
    return replace(_DEFAULT_CURVE, queue=queue, ecn=ecn)


def _table(configured: str, name: str) -> Asking[EcnSetting]:
    reply = yield from show(*_SHOWN, name)
    tables = parse_qos_wred_table(reply)
    if list(tables) != [name]:
        refuse(reply, f"asked for table {name!r}, not for {list(tables)}")
    return EcnSetting(profile=configured, queues=tables[name])


def _queue_lines(before: WredQueue | None, q: WredQueue) -> Lines:
    known = before or default_curve(q.queue, ecn=False)
    # the curve of a marking queue is written even where it is the documented default: models differ
    if _limits(q) != _limits(known) or (q.ecn and before is None):
        yield line(
            *("queue", q.queue, "drop-level", 0, "low-limit", q.low_limit),
            *("high-limit", q.high_limit, "discard-probability", q.drop_probability_percent),
        )
    if q.weighting_exponent != known.weighting_exponent:
        yield line("queue", q.queue, "weighting-constant", q.weighting_exponent)
    if q.ecn != known.ecn:
        yield CLI.switched(q.ecn, "queue", q.queue, "ecn")


def _limits(q: WredQueue) -> tuple[int, int, int]:
    return (q.low_limit, q.high_limit, q.drop_probability_percent)


def _wred(curve: MarkingCurve, cell_bytes: int) -> WredQueue:
    found = curve.in_units(cell_bytes)
    return replace(found, high_limit=max(found.high_limit, found.low_limit + 1))
