"""The exact configuration lines that lead from one setting to another. Pure.

Syntax: H3C and HPE command references for Comware 7 (Layer 2 - LAN switching: PFC; ACL and QoS:
priority mapping, congestion management, congestion avoidance) and document 000. The lines start in
system view and carry the `interface ...` and `quit` that enter and leave other views.
"""

from labtests.capabilities.device import Commands
from labtests.capabilities.records import (
    EcnSetting,
    PfcSetting,
    QueueSchedule,
    SchedulingSetting,
    TrustSetting,
    WredQueue,
)
from labtests.drivers.comware.configuration import priority_list
from labtests.drivers.comware.session import line
from labtests.transport.commands import CliLine

OURS = "labtests"
"""WRED tables whose names start so are ours to change and remove."""

DEFAULT_LOW_LIMIT = 100
DEFAULT_HIGH_LIMIT = 1000
DEFAULT_PROBABILITY_PERCENT = 10
DEFAULT_EXPONENT = 9
"""A WRED table as created (HPE 5900, 5130 HI, 6125XLG, 11900 references; H3C's sample table)."""

QUEUES = range(8)


QUIT = line("quit")


def in_interface(port: str, *commands: CliLine) -> Commands:
    """These lines in the view of a port (full name); nothing when there are none."""
    return (line("interface", port), *commands, QUIT) if commands else ()


# -- PFC ---------------------------------------------------------------------------------------


_NO_DROP = ("priority-flow-control", "no-drop", "dot1p")
_MODES = {
    "on": line("priority-flow-control", "enable"),
    "auto": line("priority-flow-control", "auto"),
    "off": line("undo", "priority-flow-control"),
}


def pfc_commands(port: str, earlier: PfcSetting, wanted: PfcSetting) -> Commands:
    """The no-drop list first, so that PFC never works with the list of somebody else."""
    commands: list[CliLine] = []
    if wanted.priorities != earlier.priorities:
        if not wanted.priorities >= earlier.priorities:
            # whether a shorter list replaces a longer one is not written anywhere
            commands.append(line("undo", *_NO_DROP))
        if wanted.priorities:
            listed = priority_list(wanted.priorities)
            commands.append(line(*_NO_DROP, listed))
    if wanted.mode != earlier.mode:
        commands.append(_MODES[wanted.mode])
    return in_interface(port, *commands)


# -- trust -------------------------------------------------------------------------------------


def trust_commands(port: str, earlier: TrustSetting, wanted: TrustSetting) -> Commands:
    """`undo qos trust` is the model's default, which is no trust on the models known here."""
    if earlier == wanted:
        return ()
    if wanted.source == "none":
        return in_interface(port, line("undo", "qos", "trust"))
    override = ("override",) if wanted.override else ()
    return in_interface(port, line("qos", "trust", wanted.source, *override))


# -- ECN ---------------------------------------------------------------------------------------


_TABLE = ("qos", "wred", "queue", "table")


def default_curve(queue: int, *, ecn: bool) -> WredQueue:
    """A queue of a new WRED table."""
    return WredQueue(
        queue=queue,
        low_limit=DEFAULT_LOW_LIMIT,
        high_limit=DEFAULT_HIGH_LIMIT,
        drop_probability_percent=DEFAULT_PROBABILITY_PERCENT,
        weighting_exponent=DEFAULT_EXPONENT,
        ecn=ecn,
    )


def is_ours(table: str | None) -> bool:
    """Whether a WRED table was made by labtests."""
    return table is not None and table.startswith(OURS)


def ecn_commands(port: str, earlier: EcnSetting, wanted: EcnSetting) -> Commands:
    """Make our table, apply it, and remove the one of ours that this port leaves.

    Tables of other people are applied, never changed. The last line, `undo qos wred queue table`,
    is sent only when no other port applies that table (the switch refuses it otherwise).
    """
    if earlier == wanted or (earlier.profile == wanted.profile and is_as_wanted(earlier, wanted)):
        return ()
    table: Commands = ()
    if wanted.profile is not None and is_ours(wanted.profile):
        lines = _table_lines(earlier, wanted)
        table = (line(*_TABLE, wanted.profile), *lines, QUIT)
    applied: list[CliLine] = []
    if earlier.profile not in (None, wanted.profile):
        applied.append(line("undo", "qos", "wred", "apply"))
    if wanted.profile is not None and wanted.profile != earlier.profile:
        name = (wanted.profile,) if wanted.profile else ()
        applied.append(line("qos", "wred", "apply", *name))
    return (*table, *in_interface(port, *applied), *removal(earlier, wanted))


def undo_table(table: str) -> CliLine:
    """Remove it."""
    return line("undo", *_TABLE, table)


def removal(earlier: EcnSetting, wanted: EcnSetting) -> Commands:
    """Remove the table that `earlier` applied, if it is ours and not wanted any more."""
    table = earlier.profile
    if table is not None and is_ours(table) and table != wanted.profile:
        return (undo_table(table),)
    return ()


def _table_lines(earlier: EcnSetting, wanted: EcnSetting) -> list[CliLine]:
    same = earlier.profile == wanted.profile
    before = {q.queue: q for q in earlier.queues} if same else {}
    lines: list[CliLine] = []
    for q in wanted.queues:
        lines.extend(_queue_lines(before.get(q.queue), q))
    return lines


def _queue_lines(before: WredQueue | None, q: WredQueue) -> list[CliLine]:
    lines: list[CliLine] = []
    known = before or default_curve(q.queue, ecn=False)
    # the curve of a marking queue is written even where it is the documented default: models differ
    if _limits(q) != _limits(known) or (q.ecn and before is None):
        lines.append(
            line(
                *("queue", q.queue, "drop-level", 0, "low-limit", q.low_limit),
                *("high-limit", q.high_limit, "discard-probability", q.drop_probability_percent),
            )
        )
    if q.weighting_exponent != known.weighting_exponent:
        lines.append(line("queue", q.queue, "weighting-constant", q.weighting_exponent))
    if q.ecn != known.ecn:
        lines.append(line(*(() if q.ecn else ("undo",)), "queue", q.queue, "ecn"))
    return lines


def _limits(q: WredQueue) -> tuple[int, int, int]:
    return (q.low_limit, q.high_limit, q.drop_probability_percent)


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


# -- scheduling ----------------------------------------------------------------------------------


def scheduling_commands(
    port: str, earlier: SchedulingSetting, wanted: SchedulingSetting
) -> Commands:
    """Strict priority, or WRR with every queue whose group or weight is to change."""
    if earlier == wanted:
        return ()
    if wanted.discipline == "sp":
        return in_interface(port, line("qos", "sp"))
    kept = earlier if _same_scheduler(earlier, wanted) else None
    before = {q.queue: q for q in kept.queues} if kept else {}
    changed = [q for q in wanted.queues if before.get(q.queue) != q]
    lines = [line("qos", "wrr", q.queue, "group", *_group(q, wanted.unit)) for q in changed]
    return in_interface(port, line("qos", "wrr", wanted.unit), *lines)


def _same_scheduler(one: SchedulingSetting, other: SchedulingSetting) -> bool:
    return (one.discipline, one.unit) == (other.discipline, other.unit)


def _group(q: QueueSchedule, unit: str) -> tuple[str, ...]:
    return ("sp",) if q.group == "sp" else (q.group, unit, str(q.weight))


# -- maps ----------------------------------------------------------------------------------------


def map_commands(table: str, earlier: tuple[int, ...], wanted: tuple[int, ...]) -> Commands:
    """Every entry of this map that changes; the map is the whole switch's."""
    changed = [
        line("import", entry, "export", after)
        for entry, (before, after) in enumerate(zip(earlier, wanted, strict=True))
        if before != after
    ]
    return (line("qos", "map-table", table), *changed, QUIT) if changed else ()
