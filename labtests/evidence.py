"""Differences of counters: computed here, once, purely. Nothing else subtracts counters.

A difference is an integer or it is not there. Missing before or after, a counter that ran backwards
(wrapped, reset or cleared), two reads at the same moment, a changed source: `increase is None` and
`unusable` says which. That is never 0.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from labtests.counters import GAUGES
from labtests.records import Reading

Key = tuple[str, str, str, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much one counter grew between two reads, with both reads."""

    key: Key
    before: Reading | None
    after: Reading | None
    increase: int | None
    unusable: str = ""


def differences(
    before: Iterable[Reading], after: Iterable[Reading]
) -> dict[Key, Difference]:
    """Every counter that either snapshot has, except gauges."""
    first = {r.key: r for r in before if r.counter not in GAUGES}
    second = {r.key: r for r in after if r.counter not in GAUGES}
    return {key: _difference(key, first.get(key), second.get(key)) for key in first | second}


def _difference(key: Key, before: Reading | None, after: Reading | None) -> Difference:
    unusable = _why_unusable(before, after)
    increase = None
    if not unusable and before and after and before.value is not None and after.value is not None:
        increase = after.value - before.value
    return Difference(key=key, before=before, after=after, increase=increase, unusable=unusable)


def _why_unusable(before: Reading | None, after: Reading | None) -> str:
    if before is None or after is None:
        when = "before" if before is None else "after"
        return f"the counter was not there {when} the run"
    for when, reading in (("before", before), ("after", after)):
        if reading.value is None:
            return f"no value {when} the run: {reading.missing or 'the device gave none'}"
    return _why_not_comparable(before, after)


def _why_not_comparable(before: Reading, after: Reading) -> str:
    if before.source != after.source:
        return f"read from {before.source!r} before and from {after.source!r} after"
    if after.time_s <= before.time_s:
        return "both reads are of the same moment (stale)"
    assert before.value is not None
    assert after.value is not None
    if after.value < before.value:
        return (
            f"ran backwards from {before.value} to {after.value}: wrapped, reset or cleared"
        )
    return ""
