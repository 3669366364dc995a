"""What a value of each setting can be: its type and its range, in one place.

Values come from files (a change journal, a snapshot, a profile) and from devices; all of them
become commands. So each is looked at here before anything is made of it (Devices.commands), and
what comes from a file when the file is read: a number is a number within what any device can have,
a text is short and has no character that ends a line or a word's quotes.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from labtests.capabilities.records import (
    DcqcnSetting,
    EcnSetting,
    EtsSetting,
    PfcSetting,
    QueueLimitSetting,
    QueueSchedule,
    SchedulingSetting,
    TrustSetting,
    WredQueue,
)
from labtests.core.errors import LabError

Rule = Callable[[Any], bool]

MOST_ENTRIES = 1024
MOST = 2**63
_TEXT = re.compile(r"(?!-)[A-Za-z0-9 _.:;,+@#%=/()\[\]{}~^*!-]{1,4000}")
_PARAMETER = re.compile(r"[a-z][a-z0-9_]{0,63}")


class NoSuchValue(LabError):
    """A value that the setting cannot have; nothing was made of it."""


# -- rules ---------------------------------------------------------------------------------------


def _whole(least: int, most: int) -> Rule:
    return lambda value: type(value) is int and least <= value <= most


def _one_of(*words: object) -> Rule:
    return lambda value: any(type(value) is type(word) and value == word for word in words)


def _maybe(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


def _text(pattern: re.Pattern[str]) -> Rule:
    return lambda value: type(value) is str and pattern.fullmatch(value) is not None


def _set_of(rule: Rule) -> Rule:
    return lambda value: type(value) is frozenset and all(map(rule, value))


def _each(rule: Rule, count: int | None = None) -> Rule:
    def fits(value: Any) -> bool:
        if type(value) is not tuple or len(value) > MOST_ENTRIES:
            return False
        return count in (None, len(value)) and all(rule(each) for each in value)

    return fits


def _both(first: Rule, second: Rule) -> Rule:
    return lambda v: type(v) is tuple and len(v) == 2 and first(v[0]) and second(v[1])


def _record(kind: type, **rules: Rule) -> Rule:
    assert {field.name for field in fields(kind)} == set(rules)

    def fits(value: Any) -> bool:
        return type(value) is kind and all(rules[name](getattr(value, name)) for name in rules)

    return fits


_flag = _one_of(True, False)
_priority = _whole(0, 7)
_count = _whole(0, MOST)
_percent = _whole(0, 100)

_wred = _record(
    WredQueue,
    queue=_priority,
    low_limit=_count,
    high_limit=_count,
    drop_probability_percent=_percent,
    weighting_exponent=_whole(0, 31),
    ecn=_flag,
)
_schedule = _record(
    QueueSchedule,
    queue=_priority,
    group=_one_of("sp", "1", "2"),
    weight=_maybe(_count),
    level=_maybe(_whole(0, 15)),
)


def _parameters(side: str) -> Rule:
    pairs = _each(_both(_text(_PARAMETER), _count))
    return _record(DcqcnSetting, side=_one_of(side), values=pairs)


FORMS: Mapping[str, Rule] = {
    "pfc": _record(PfcSetting, mode=_one_of("off", "on", "auto"), priorities=_set_of(_priority)),
    "trust": _record(
        TrustSetting,
        source=_one_of("dscp", "dot1p", "none", "auto", "exp", "ip-precedence"),
        override=_flag,
    ),
    "ecn": _record(EcnSetting, profile=_maybe(_text(_TEXT)), queues=_each(_wred)),
    "scheduling": _record(
        SchedulingSetting,
        discipline=_one_of("sp", "wrr", "wfq", "gmb"),
        unit=_one_of("weight", "byte-count", ""),
        queues=_each(_schedule),
    ),
    "queue_limits": _record(QueueLimitSetting, limits=_each(_both(_priority, _count))),
    "dscp_map": _each(_whole(0, 63), 64),
    "queue_map": _each(_priority, 8),
    "reaction_point": _set_of(_priority),
    "notification_point": _set_of(_priority),
    "dcqcn_rp": _parameters("roce_rp"),
    "dcqcn_np": _parameters("roce_np"),
    "ets": _record(
        EtsSetting,
        class_of_priority=_each(_priority, 8),
        algorithms=_each(_one_of("ets", "strict", "vendor"), 8),
        percent=_each(_percent, 8),
    ),
    "mtu": _whole(68, 65_535),
    "frame_limit": _maybe(_whole(0, 65_535)),
    "cable_length": _whole(0, 100_000),
    "headroom": _each(_both(_priority, _count)),
}
"""Every kind of setting (settings.KINDS)."""


def _plain(value: Any) -> bool:
    """Of a setting that no ability here has: nothing but numbers and such texts, however nested."""
    if value is None or type(value) is bool:
        return True
    if type(value) in (int, float):
        return bool(-MOST <= value <= MOST)
    if type(value) is str:
        return value == "" or _TEXT.fullmatch(value) is not None
    if type(value) in (tuple, frozenset):
        return len(value) <= MOST_ENTRIES and all(map(_plain, value))
    if is_dataclass(value) and not isinstance(value, type):
        return all(_plain(getattr(value, field.name)) for field in fields(value))
    return False


def expect_value(setting: str, value: object) -> None:
    """The setting can have this value. Raises NoSuchValue, which shows no more than its start."""
    if not FORMS.get(setting, _plain)(value):
        shown = repr(value)
        shown = shown if len(shown) <= 120 else f"{shown[:120]}..."
        raise NoSuchValue(
            f"{setting} cannot be {shown}: that is no value of this setting, so nothing is made of "
            "it"
        )
