"""`show clock`. A zone other than UTC is refused: how far it is away is not shown."""

from datetime import UTC, datetime

from labtests.capabilities.facts import ClockReading, OwnClock
from labtests.drivers.displays import ONCE, Unfit, read
from labtests.drivers.nxos.session import NXOS, NxosPart, show
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply


def _utc_s(time: str, fraction: str, zone: str, date: str) -> float:
    if zone not in ("UTC", "GMT"):
        raise Unfit(f"does not say how far {zone} is from UTC", "set `clock timezone UTC 0 0`")
    try:
        told = datetime.strptime(f"{time} {date}", "%H:%M:%S %b %d %Y").replace(tzinfo=UTC)
    except ValueError:
        raise Unfit(f"with {date} is not a time and date") from None
    return told.timestamp() + float(f"0.{fraction}")


SOURCE = r"Time source is \w+"
SHOWN = NXOS.record(
    r"[.*]?<time:[0-9]{2}:[0-9]{2}:[0-9]{2}>\.<fraction:[0-9]{1,6}> <zone> "
    "[A-Z][a-z]{2} <date:[A-Z][a-z]{2} [0-9]{1,2} [0-9]{4}>",
    make=_utc_s,
    times=ONCE,
)


def parse_clock(reply: Reply) -> tuple[float, ...]:
    """Seconds since 1970. What is said of its source is not read (words of a public tool)."""
    return read(reply, SHOWN, NXOS.maybe(SOURCE), NXOS.maybe("Warning: No NTP .*"))


class NxosClock(NxosPart, OwnClock):
    """The switch's own clock."""

    def own_clock(self) -> Asking[ClockReading]:
        """To the millisecond."""
        reply = yield from show("clock")
        return ClockReading(device_s=parse_clock(reply)[0], lab_s=reply.time_s, resolution_s=0.001)
