"""`display clock`: local time, and how far that is from UTC."""

from datetime import UTC, datetime, timedelta
from typing import Any

from labtests.capabilities.facts import ClockReading, OwnClock
from labtests.drivers.comware.session import ComwarePart, show
from labtests.drivers.comware.values import COMWARE
from labtests.drivers.displays import MAYBE, ONCE, Unfit, ValueKind, read
from labtests.drivers.parsing import BLANK
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply


def _span(text: str) -> timedelta:
    hours, minutes, seconds = (int(part) for part in text.split(":"))
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _utc_s(
    time: str, shown: str, date: str, *, ahead: timedelta = timedelta(), **told: Any
) -> dict[str, float]:
    """Whether summer time counts is said by the zone's name, and must agree with its dates."""
    if told.get("sign") == "minus":
        ahead = -ahead
    if shown == told.get("summer"):
        ahead += told["summer_ahead"]
    elif shown != told.get("zone", "UTC") or _in_summer(date[:5], **told):
        raise Unfit(f"does not say how far {shown} is from UTC")
    try:
        local = datetime.strptime(f"{time} {date}", "%H:%M:%S %m/%d/%Y").replace(tzinfo=UTC)
        return {"utc_s": (local - ahead).timestamp()}
    except (ValueError, OverflowError):
        raise Unfit(f"with {date} is not a time and date") from None


def _in_summer(day: str, begin: str = "", end: str = "", **_: Any) -> bool:
    """Whether the date, to the day, is inside what may also begin late in a year."""
    return begin < day < end if begin < end else bool(begin) and (day > begin or day < end)


_DAY = "[0-9]{2}/[0-9]{2}"
_SPAN = "[0-9]{2}:[0-9]{2}:[0-9]{2}"
_notation = COMWARE.also(span=ValueKind(_SPAN, _span))
_CLOCK = _notation.record(
    rf"<time:{_SPAN}>(\.[0-9]+)? <shown> [A-Z][a-z]{{2}} <date:{_DAY}/[0-9]{{4}}>",
    _notation.maybe("Time Zone : <zone> <sign:add|minus> <ahead:span>"),
    _notation.line(
        f"Summer Time : <summer> <:{_SPAN}> <begin:{_DAY}> <:{_SPAN}> <end:{_DAY}>"
        " <summer_ahead:span>",
        times=MAYBE,
    ),
    make=_utc_s,
    times=ONCE,
)


def parse_clock(reply: Reply) -> dict[str, float]:
    """`utc_s`, seconds since 1970."""
    return read(reply, _CLOCK, skip=BLANK)[0]


class SwitchClock(ComwarePart, OwnClock):
    """The switch's own clock."""

    def own_clock(self) -> Asking[ClockReading]:
        """By `display clock`, which shows whole seconds."""
        reply = yield from show("display", "clock")
        device_s = parse_clock(reply)["utc_s"]
        return ClockReading(device_s=device_s, lab_s=reply.time_s, resolution_s=1.0)
