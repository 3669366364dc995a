"""ECN on a Comware switch: WRED tables, and which of them a port applies.

A port that applies no table drops at the tail and marks nothing. A table has one curve per queue
and packet colour. Without a policer every packet is green, so the green curve is the one read; a
table with other yellow and red curves is read the same, and is never rewritten by labtests.
Limits are in the device's own unit (cells or packets, by model).

Syntax: H3C and HPE command references for Comware 7 (ACL and QoS: congestion avoidance) and
document 000. Tables of other people are applied, never changed. A table of ours is made, shared by
ports that mark alike, and removed when no port applies it any more.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from hashlib import sha256

from labtests.capabilities import settings as s
from labtests.capabilities.device import EcnCurves, EcnMarking
from labtests.capabilities.records import EcnSetting, MarkingCurve, WredQueue
from labtests.capabilities.settings import Commands
from labtests.drivers.comware.session import (
    CLI,
    QUIT,
    ComwareSetting,
    ConfigSection,
    interfaces,
    line,
    show,
)
from labtests.drivers.comware.values import COMWARE, many, record
from labtests.drivers.displays import PortDisplay, read
from labtests.drivers.marking import red_curve
from labtests.drivers.parsing import refuse, whole_lines
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import CliLine
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


OURS = "labtests"
"""WRED tables whose names start so are ours to change and remove."""

_DEFAULT_CURVE = red_curve(0, (100, 1000), 10, ecn=False, exponent=9)
"""A WRED table as created (HPE 5900, 5130 HI, 6125XLG, 11900 references; H3C's sample table)."""

_SHOWN = ("display", "qos", "wred", "table", "name")
_TABLE = ("qos", "wred", "queue", "table")


@dataclass(frozen=True, slots=True)
class WredTables:
    """Tables around a port: which of them other ports apply, what those of ours hold which others
    apply, and which of ours are there that nobody may need any more."""

    elsewhere: dict[str, frozenset[str]]
    shared: dict[str, EcnSetting]
    left: frozenset[str]


class ComwareEcn(ComwareSetting[EcnSetting], EcnMarking, EcnCurves):
    """The WRED table that a port applies, and its queues."""

    kind = s.ECN

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

    def around(self, port: str, values: tuple[EcnSetting, ...]) -> Asking[WredTables]:
        """Of every table of ours that the setting goes through: who else applies it. Those that an
        interrupted change may have left are looked for; `values` begins with what is now, and what
        is wanted."""
        full = self.port(port)
        ours = [v.profile for v in values if v.profile is not None and is_ours(v.profile)]
        elsewhere: dict[str, frozenset[str]] = {}
        reply, sections = (yield from interfaces()) if ours else (None, ())
        for section in sections:
            assert reply is not None
            table = applied_wred_table(reply, section)
            if table is not None and section.interface not in (None, full):
                elsewhere[table] = elsewhere.get(table, frozenset()) | {str(section.interface)}
        shared, left = {}, set()
        for table in dict.fromkeys(ours):
            if table in elsewhere:
                shared[table] = yield from _table(table, table)
            elif table in {v.profile for v in values[:2]} or (yield from _is_there(table)):
                left.add(table)
        return WredTables(elsewhere, shared, frozenset(left))

    def commands(
        self, port: str, earlier: EcnSetting, wanted: EcnSetting, around: WredTables | None = None
    ) -> Commands:
        """Make our table, apply it, and remove those of ours that nobody applies then. Raises
        CommandRejected for a table that another port applies with other values."""
        full = self.port(port)
        if around is None:
            around = WredTables({}, {}, frozenset(filter(is_ours, [earlier.profile or ""])))
        self._expect_not_shared(port, wanted, around)
        change = () if is_as_wanted(earlier, wanted) else _change(full, earlier, wanted)
        gone = sorted(around.left - {wanted.profile})
        return (*change, *(line("undo", *_TABLE, table) for table in gone))

    def wrong(self, wanted: EcnSetting, found: EcnSetting, before: object, after: object) -> str:
        """See Setting."""
        same = is_as_wanted(found, wanted)
        return "" if same else super().wrong(wanted, found, before, after)

    def ecn_on(self, queues: AbstractSet[int]) -> EcnSetting:
        """Our table for these queues, named after them: ports that mark alike share one table.

        The curve is the documented default of Comware: from 100 to 1000, up to 10 %, exponent 9.
        The other queues keep the curve that the model gives a new table: WRED drops in them too.
        """
        named = "".join(str(queue) for queue in sorted(queues))
        return EcnSetting(
            profile=f"{OURS}-ecn-{named or 'none'}",
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
        return EcnSetting(profile=f"{OURS}-{named}", queues=queues)

    def _expect_not_shared(self, port: str, wanted: EcnSetting, around: WredTables) -> None:
        """A table of ours that another port applies may not be changed under it."""
        there = around.shared.get(wanted.profile or "")
        if there is not None and not is_as_wanted(there, wanted):
            others = around.elsewhere[there.profile or ""]
            raise self.reject(
                f"qos wred queue table {wanted.profile}",
                f"{', '.join(sorted(others))} applies this table with other values",
                f"give the setting of {port} another profile name that starts with {OURS}",
            )


def is_ours(table: str | None) -> bool:
    """Whether a WRED table was made by labtests."""
    return table is not None and table.startswith(OURS)


def default_curve(queue: int, *, ecn: bool) -> WredQueue:
    """A queue of a new WRED table."""
    return replace(_DEFAULT_CURVE, queue=queue, ecn=ecn)


def is_as_wanted(read: EcnSetting, wanted: EcnSetting) -> bool:
    """Whether a port marks as wanted. In a table of ours the curves of queues that were left as
    the model creates them may differ from the documented default; everything else may not."""
    if not is_ours(wanted.profile):
        return read == wanted
    after = {q.queue: q for q in read.queues}
    left = [q for q in wanted.queues if q == default_curve(q.queue, ecn=False)]
    asked = [q for q in wanted.queues if q not in left]
    return (
        read.profile == wanted.profile
        and read.marking_queues == wanted.marking_queues
        and all(after.get(q.queue) == q for q in asked)
    )


def _table(configured: str, name: str) -> Asking[EcnSetting]:
    reply = yield from show(*_SHOWN, name)
    tables = parse_qos_wred_table(reply)
    if list(tables) != [name]:
        refuse(reply, f"asked for table {name!r}, not for {list(tables)}")
    return EcnSetting(profile=configured, queues=tables[name])


def _is_there(table: str) -> Asking[bool]:
    return shows_wred_table((yield from ask(line(*_SHOWN, table))), table)


def _change(port: str, earlier: EcnSetting, wanted: EcnSetting) -> Commands:
    made: Commands = ()
    if wanted.profile is not None and is_ours(wanted.profile):
        there = earlier.queues if earlier.profile == wanted.profile else ()
        before = {q.queue: q for q in there}
        lines = (each for q in wanted.queues for each in _queue_lines(before.get(q.queue), q))
        made = (line(*_TABLE, wanted.profile), *lines, QUIT)
    applied: list[CliLine] = []
    if earlier.profile not in (None, wanted.profile):
        applied.append(line("undo", "qos", "wred", "apply"))
    if wanted.profile is not None and wanted.profile != earlier.profile:
        name = (wanted.profile,) if wanted.profile else ()
        applied.append(line("qos", "wred", "apply", *name))
    return (*made, *CLI.at(port, *applied))


def _queue_lines(before: WredQueue | None, q: WredQueue) -> Iterator[CliLine]:
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
