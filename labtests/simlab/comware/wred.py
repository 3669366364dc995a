"""WRED tables: their settings, and what they do to the queues of ports that apply them.

Defaults and ranges: HPE 5130 HI and FlexFabric 11900 ACL and QoS command references. Sentences that
no manual words are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labtests.network import WredCurve
from labtests.simlab import switch_cli as kit

TABLE = "wred"
DEFAULT_TABLE = "Default"  # our name; that there is one, unchangeable, is in the command reference
LOW, HIGH, PERCENT, EXPONENT = 100, 1000, 10, 9


def _levels(call: kit.CliCall) -> list[Mapping[str, Any]]:
    """Without a level, the limits are those of green, yellow and red packets."""
    levels = [call.values["level"]] if "level" in call.values else range(3)
    return [{"percent": PERCENT, **call.values, "level": level} for level in levels]


def _high_is_higher(switch: kit.EmulatedSwitch, table: kit.CliSection, call: kit.CliCall) -> None:
    if call.values["high"] <= call.values["low"]:
        # "must be greater than the low-limit argument" (HPE 5130 HI reference); our words
        raise kit.CommandRefused("The high limit must be greater than the low limit.")


_LEVEL = "queue <queue> drop-level <level>"
SETTINGS = (
    kit.setting(
        "queue <queue> [ drop-level <level> ] low-limit <low> high-limit <high> "
        "[ discard-probability <percent> ]",
        key=_LEVEL,
        undo=(),
        expand=_levels,
        before=_high_is_higher,
        line=f"{_LEVEL} low-limit <low> high-limit <high> discard-probability <percent>",
        default=f"{_LEVEL} low-limit {LOW} high-limit {HIGH} discard-probability {PERCENT}",
    ),
    kit.setting(
        "queue <queue> weighting-constant <exponent>",
        key="queue <queue> weighting-constant",
        default=f"queue <queue> weighting-constant {EXPONENT}",
    ),
    kit.setting("queue <queue> ecn", key="queue <queue> ecn"),
)


@dataclass(frozen=True, slots=True)
class TableQueue:
    """One queue of a table: (low, high, percent) for green, yellow and red packets."""

    colours: tuple[tuple[int, int, int], ...] = ((LOW, HIGH, PERCENT),) * 3
    exponent: int = EXPONENT
    ecn: bool = False

    def curve(self) -> WredCurve:
        """What the network does with it. Nothing here colours packets, so all are green."""
        low, high, percent = self.colours[0]
        return WredCurve(
            low_limit=low,
            high_limit=high,
            probability_percent=percent,
            weighting_exponent=self.exponent,
            ecn=self.ecn,
        )


def queues(table: kit.CliSection) -> tuple[TableQueue, ...]:
    """The eight of a table."""
    return tuple(_queue(table, f"queue {number}") for number in range(8))


def _queue(table: kit.CliSection, key: str) -> TableQueue:
    return TableQueue(
        tuple(_colour(table, f"{key} drop-level {level}") for level in range(3)),
        table.value(f"{key} weighting-constant", "exponent", EXPONENT),
        f"{key} ecn" in table.lines,
    )


def _colour(table: kit.CliSection, key: str) -> tuple[int, int, int]:
    return (
        table.value(key, "low", LOW),
        table.value(key, "high", HIGH),
        table.value(key, "percent", PERCENT),
    )


# -- of a port -----------------------------------------------------------------------------------


def applied(port: kit.CliSection) -> str | None:
    """The table that the port applies."""
    if "qos wred apply" not in port.lines:
        return None
    return port.rest("qos wred apply") or DEFAULT_TABLE


def curves(switch: kit.EmulatedSwitch, port: kit.CliSection) -> tuple[WredCurve | None, ...]:
    """What the port's queues do."""
    table = applied(port)
    if table is None:
        return (None,) * 8
    return tuple(
        queue.curve() for queue in queues(switch.configuration.find(kit.top(TABLE, table)))
    )


def _unnamed_default(call: kit.CliCall) -> list[Mapping[str, Any]]:
    table = call.values.get("table", DEFAULT_TABLE)
    return [{"table": "" if table == DEFAULT_TABLE else table}]


APPLY = kit.setting(
    "qos wred apply [ <table> ]",
    line="qos wred apply <table>",
    expand=_unnamed_default,
    before=kit.refers(TABLE, "table"),
)


# -- the tables ----------------------------------------------------------------------------------


def _own(switch: kit.EmulatedSwitch, name: str) -> None:
    if name == DEFAULT_TABLE:
        raise kit.CommandRefused("The default WRED table cannot be modified.")


_in_use = kit.kept_by(
    "The WRED table is in use and cannot be deleted.", line="qos wred apply", argument="table"
)


def _kept(switch: kit.EmulatedSwitch, name: str) -> str:
    """One that a port applies cannot be deleted (command reference)."""
    if name == DEFAULT_TABLE:
        return "The default WRED table cannot be deleted."
    return _in_use(switch, name)


def _undo_queue(session: kit.CliSession, call: kit.CliCall) -> str:
    """Everything that is set for the queue, or for all, is as in a new table."""
    table = session.section
    table.clear(" ".join(call.words[1:]).removesuffix(" all"))
    session.switch.changed(table)
    return ""


KIND = kit.SectionKind(
    header="qos wred queue table {name}",
    typed="qos wred queue table <table>",
    prompt="[{host}-wred-table-{name}]",
    settings=SETTINGS,
    grouped=True,
    missing="The WRED table does not exist.",
    entering=_own,
    kept=_kept,
    more={"undo queue { <queue> | all }": kit.CliCommand(_undo_queue, changes=True)},
)
