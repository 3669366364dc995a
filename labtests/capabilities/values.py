"""What a value of each setting can be: its type and its range, in one place.

Values come from files (a change journal, a snapshot, a profile) and from devices; all of them
become commands. So each is looked at here before anything is made of it (Devices.commands), and
what comes from a file when the file is read: a number is a number within what any device can have,
a text is short and has no character that ends a line or a word's quotes.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from labtests.capabilities.records import (
    MOST,
    TEXT,
    BufferThresholds,
    Count,
    DcbxControl,
    DcbxSetting,
    DcqcnSetting,
    DeadlockTimes,
    EcnSetting,
    EdgeSetting,
    EtsSetting,
    LossSetting,
    PfcAlarm,
    PfcSetting,
    PollsMs,
    PortDeadlockDetection,
    PortPauseTimeout,
    PortState,
    PortWatchdog,
    Priority,
    QueueLimitSetting,
    RoceMode,
    SchedulingSetting,
    StreamSetting,
    TrafficPools,
    TrustSetting,
    VxlanTunnel,
    WatchdogTimes,
    pools_conflict,
)
from labtests.core.errors import LabError
from labtests.core.output import excerpt

Rule = Callable[[Any], bool]

MOST_ENTRIES = 1024
LEAST_MTU_BYTES = 68  # of IPv4 (RFC 791)
LEAST_FRAME_BYTES = LEAST_MTU_BYTES + 22  # header, VLAN tag and check sequence


class NoSuchValue(LabError):
    """A value that the setting cannot have; nothing was made of it."""


def _is(form: Any, value: Any) -> bool:
    """Whether a value is of exactly this type: a record field by field, a tuple entry by entry,
    an Annotated number, text or tuple also within its range, pattern or length (one of
    DcqcnSetting: of this side)."""
    kind, parts = get_origin(form), get_args(form)
    if kind is Annotated:
        return _is(parts[0], value) and _within(parts[1], value)
    if kind is Literal:
        return any(type(value) is type(word) and value == word for word in parts)
    if kind in (Union, UnionType):
        return any(_is(part, value) for part in parts)
    if type(value) is not (kind or getattr(form, "__supertype__", form)):
        return False
    if is_dataclass(form):
        hints = get_type_hints(form, include_extras=True)
        return all(_is(part, getattr(value, name)) for name, part in hints.items())
    return kind is None or (len(value) <= MOST_ENTRIES and _are(parts, tuple(value)))


def _within(limit: Any, value: Any) -> bool:
    if isinstance(limit, range):
        return value in limit
    if isinstance(limit, int):
        return len(value) == limit
    if isinstance(limit, str):
        return bool(value.side == limit)
    return limit.fullmatch(value) is not None


def _are(forms: tuple[Any, ...], values: tuple[Any, ...]) -> bool:
    if len(forms) == 1 or forms[-1] is ...:
        forms = forms[:1] * len(values)
    return len(forms) == len(values) and all(map(_is, forms, values))


_FORMS: Mapping[str, Any] = {
    "pfc": PfcSetting,
    "trust": TrustSetting,
    "edge": EdgeSetting,
    "ecn": EcnSetting,
    "scheduling": SchedulingSetting,
    "queue_limits": QueueLimitSetting,
    "packet_loss": LossSetting,
    "tunnel": VxlanTunnel | None,
    "dscp_map": Annotated[tuple[Priority, ...], 64],
    "queue_map": Annotated[tuple[Priority, ...], 8],
    "reaction_point": frozenset[Priority],
    "notification_point": frozenset[Priority],
    "dcqcn_rp": Annotated[DcqcnSetting, "roce_rp"],
    "dcqcn_np": Annotated[DcqcnSetting, "roce_np"],
    "ets": EtsSetting,
    "mtu": Annotated[int, range(LEAST_MTU_BYTES, 65_536)],
    "frame_limit": Literal[0] | Annotated[int, range(LEAST_FRAME_BYTES, 65_536)] | None,
    "cable_length": Annotated[int, range(100_001)],
    "headroom": tuple[tuple[Priority, Count], ...],
    "pfc_watchdog": PortWatchdog,
    "watchdog_times": WatchdogTimes,
    "pause_timeout": PortPauseTimeout,
    "deadlock_detection": PortDeadlockDetection,
    "deadlock_times": DeadlockTimes,
    "pfc_alarm": PfcAlarm,
    "dcbx": DcbxSetting,
    "dcbx_control": DcbxControl,
    "buffer_thresholds": tuple[BufferThresholds, ...],
    "port_state": PortState,
    "roce_mode": RoceMode,
    "stream": StreamSetting,
    "watermark_polls": PollsMs,
}


def _pools(value: Any) -> bool:
    return _is(TrafficPools, value) and not pools_conflict(value)


FORMS: Mapping[str, Rule] = {
    **{name: partial(_is, form) for name, form in _FORMS.items()},
    "traffic_pools": _pools,
}
"""Every kind of setting (settings.KINDS)."""


def _plain(value: Any) -> bool:
    """Of a setting that no ability here has: nothing but numbers and such texts, however nested."""
    if value is None or type(value) is bool:
        return True
    if type(value) in (int, float):
        return bool(-MOST <= value <= MOST)
    if type(value) is str:
        return value == "" or TEXT.fullmatch(value) is not None
    if type(value) in (tuple, frozenset):
        return len(value) <= MOST_ENTRIES and all(map(_plain, value))
    if is_dataclass(value) and not isinstance(value, type):
        return all(_plain(getattr(value, field.name)) for field in fields(value))
    return False


def expect_value(setting: str, value: object) -> None:
    """The setting can have this value. Raises NoSuchValue, which shows no more than its start."""
    if not FORMS.get(setting, _plain)(value):
        whole = repr(value)
        shown = whole if len(whole) <= 120 else f"{excerpt(whole, 120)}..."
        raise NoSuchValue(
            f"{setting} cannot be {shown}: that is not a value of this setting, so no command is "
            "made from it"
        )
