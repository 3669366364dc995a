"""A run's parts in the order and grouping in which the page shows them."""

import shlex
from pathlib import Path
from typing import Any

from labtests.capabilities.counters import QUEUE_DROPPED_PACKETS
from labtests.report.runs import Json, entries, lab_of, number
from labtests.transport.chronicle import Chronicle
from labtests.verdicts import wrong_control

FOLDER = "RUN_FOLDER"
NAMESPACES = "namespaces"
UNJUDGED = "unjudged"
"""A test that passed without a verdict: nothing was asked of the lab's counters."""

OUTCOMES = ("fail", "error", "inconclusive", UNJUDGED, "pass", "skipped")
"""The order on the page: worst first, and last what this lab was not asked."""

LABELS = {
    "pass": "PASS",
    "fail": "FAIL",
    "inconclusive": "INCONCLUSIVE",
    "error": "ERROR",
    "skipped": "SKIPPED",
    UNJUDGED: "NO VERDICT",
}


def outcome_of(value: object) -> str:
    """A known outcome; anything else is an error, never a pass."""
    known = isinstance(value, str) and value in LABELS and value != UNJUDGED
    return str(value) if known else "error"


def standing_of(test: Json) -> str:
    """A test's outcome; a pass without any verdict is none of the lab."""
    outcome = outcome_of(test.get("outcome"))
    return UNJUDGED if outcome == "pass" and not entries(test.get("verdicts")) else outcome


def outcome_class(value: object) -> str:
    """An outcome as the style sheet names it: only its own words get there."""
    return str(value) if isinstance(value, str) and value in OUTCOMES else "error"


def label_of(value: object) -> str:
    """How an outcome is written."""
    return LABELS.get(value, "UNKNOWN OUTCOME") if isinstance(value, str) else "UNKNOWN OUTCOME"


def counts_of(run: Json) -> list[tuple[str, int]]:
    """How many tests ended how, worst first, without the outcomes nobody had."""
    outcomes = [standing_of(test) for test in entries(run.get("tests"))]
    return [(outcome, outcomes.count(outcome)) for outcome in OUTCOMES if outcome in outcomes]


def verdicts_of(test: Json, role: str) -> list[Json]:
    """The main verdicts, or the controls. A verdict of no known role counts as a main one."""
    control = role == "control"
    return [v for v in entries(test.get("verdicts")) if (v.get("role") == "control") is control]


def kept_its_word(verdict: Json) -> bool:
    """Whether a verdict is what was expected, by its own figures and not only by its own claim."""
    expected = verdict.get("expected")
    allowed: tuple[str, ...] = ("pass", "fail")
    if verdict.get("role") == "control":
        allowed += ("inconclusive",)
    return (
        verdict.get("as_expected") is True
        and expected in allowed
        and verdict.get("outcome") == expected
    )


def wrong_of(verdict: Json) -> str:
    """Of a control that is not what it had to be. A claim that is none is the wrong reason."""
    expected = str(verdict.get("expected", ""))
    return wrong_control(str(verdict.get("outcome", "")), expected)


def contradicts_itself(test: Json) -> bool:
    """Whether a test claims to have passed although a verdict is not what was expected."""
    return test.get("outcome") == "pass" and not all(
        kept_its_word(verdict) for verdict in entries(test.get("verdicts"))
    )


def simulated(part: Json) -> bool:
    """Whether it came from a simulated lab. What does not say `hardware` never counts as that."""
    return part.get("backend") not in ("hardware", NAMESPACES)


def one_machine(part: Json) -> bool:
    """Whether real programs and queues answered, all of them on one machine."""
    return part.get("backend") == NAMESPACES


def counters_of(phase: Json) -> dict[str, list[Json]]:
    """Counters that changed (largest first within their port), that are unusable, that stood
    still. Every counter is in exactly one group."""
    groups: dict[str, list[Json]] = {"changed": [], "unusable": [], "still": []}
    for row in entries(phase.get("counters")):
        increase = number(row.get("increase"))
        if increase is None or row.get("unusable"):
            groups["unusable"].append(row)
        else:
            groups["changed" if increase else "still"].append(row)
    for rows in groups.values():
        rows.sort(key=_order)
    return groups


def _order(row: Json) -> tuple[Any, ...]:
    where = tuple(str(row.get(key) or "") for key in ("device", "port", "scope"))
    index = number(row.get("index"))
    return (*where, str(row.get("counter") or ""), -1 if index is None else index)


def still_of(rows: list[Json]) -> list[Json]:
    """Counters that stood still, one row for all numbers of a port's counter; `groups` are numbers
    ("0-2, 5") with their common value. Rows come in the order of `counters_of`."""
    found: dict[tuple[str, ...], Json] = {}
    for row in rows:
        key = tuple(str(row.get(k) or "") for k in ("device", "port", "scope", "counter", "unit"))
        entry = found.setdefault(key, {**row, "values": {}})
        entry["values"].setdefault(number(row.get("after")), []).append(number(row.get("index")))
    for entry in found.values():
        values = entry["values"].items()
        entry["groups"] = [(_ranges(indices), value) for value, indices in values]
    return list(found.values())


def _ranges(numbers: list[int | float | None]) -> str:
    """0, 1, 2, 5 as "0-2, 5"; empty for a counter without number."""
    spans: list[list[int]] = []
    for n in sorted(int(n) for n in numbers if n is not None):
        if spans and n - spans[-1][1] <= 1:
            spans[-1][1] = n
        else:
            spans.append([n, n])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def versions_of(device: Json) -> list[tuple[str, str]]:
    """What a device runs, by name."""
    versions = device.get("versions")
    if not isinstance(versions, dict):
        return []
    return [(str(name), str(version or "")) for name, version in versions.items()]


def error_of(test: Json) -> str:
    """What was raised, without what its verdicts say in their rows."""
    said = [str(v.get("because") or "") for v in entries(test.get("verdicts"))]
    error = test.get("error")
    lines = error.splitlines() if isinstance(error, str) else []
    return "\n".join(line for line in lines if not any(each and each in line for each in said))


def tells(fact: Json) -> bool:
    """Whether a fact has a row: one that is 0 as it must be has none, and is counted."""
    return not (number(fact.get("measured")) == 0 and fact.get("bound") == "= 0")


def losses_of(phases: list[Json]) -> list[tuple[Json, Json]]:
    """Stations of the way on which a counter of losses grew, cannot be used, or is not there; and
    ports whose queues dropped."""
    return [
        (phase, station)
        for phase in phases
        for station in (*entries(phase.get("way")), *_dropping(phase))
        if station.get("lost") or station.get("unusable") or not station.get("counted")
    ]


def _dropping(phase: Json) -> list[Json]:
    lost: dict[str, dict[str, int | float]] = {}
    for row in entries(phase.get("counters")):
        grew = number(row.get("increase"))
        if row.get("counter") == QUEUE_DROPPED_PACKETS and grew and not row.get("unusable"):
            queue = f"queue {row.get('index')} {QUEUE_DROPPED_PACKETS}"
            lost.setdefault(f"{row.get('device')} {row.get('port')}", {})[queue] = grew
    way = entries(phase.get("way"))
    told = {station.get("name"): station.get("lost") for station in way}
    return [
        {"name": port, "lost": each}
        for port, each in lost.items()
        if not _same(told.get(port), sum(each.values()))
    ]


def _same(lost: object, count: float) -> bool:
    """Whether the port's own counters have told of all that its queues dropped."""
    return isinstance(lost, dict) and count == sum(number(grew) or 0 for grew in lost.values())


def alarms_of(phase: Json) -> list[tuple[str, list[str]]]:
    """What switches pushed, each thing once, with its times since the phase began."""
    start_s = number(phase.get("start_s")) or 0.0
    found: dict[str, list[str]] = {}
    for each in entries(phase.get("alarms")):
        index = number(each.get("index"))
        queue = "" if index is None else f" queue {int(index)}"
        said = f"{each.get('device')} {each.get('port')}{queue} said {each.get('kind')}"
        text = f" ({each['text']})" if each.get("text") else ""
        time_s = number(each.get("time_s"))
        when = "?" if time_s is None else f"{time_s - start_s:.1f}"
        found.setdefault(said + text, []).append(when)
    return list(found.items())


def noise_of(phases: list[Json]) -> list[Json]:
    """Counters that grew while nothing of labtests ran."""
    return [row for phase in phases for row in entries(phase.get("noise"))]


def login_of(run: Json, device: str) -> str:
    """How one logs in there; "" when the run does not say."""
    for entry in entries(lab_of(run).get("devices")):
        if entry.get("name") == device:
            return str(entry.get("login") or "")
    return ""


def journal_named(run: Json, journal: Chronicle) -> str:
    """The run as `labtests journal` finds it: by its id in reports/, else by its folder, which is
    called otherwise where --run-dir, or a night, has named it."""
    name, folder = str(run.get("id") or ""), Path(journal.folder)
    kept = folder.name == name and "reports" in (folder.parent.name, folder.parent.parent.name)
    return name if name and (kept or not journal.folder) else shlex.quote(journal.folder or FOLDER)


def served(run: Json) -> str:
    """What serves a lab like that of a dry run, whose boxes have ended with it; "" where people
    can log in to those of the run itself."""
    file = str(lab_of(run).get("file") or "")
    dry = simulated(run) and number(run.get("seed")) is not None
    return shlex.join(["labtests", "simlab", "serve", file]) if dry and file else ""
