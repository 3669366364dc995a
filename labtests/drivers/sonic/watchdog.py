"""The PFC watchdog (pfcwd): PFC_WD has its times at a port, `pfcwd_sw_enable` which priorities are
watched there. Its ranges and counters: pfcwd of sonic-utilities, pfcwdorch of sonic-swss.
"""

import math
import re

from labtests.capabilities import counters as c
from labtests.capabilities import settings as s
from labtests.capabilities.device import WatchdogTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PortWatchdog, WatchdogTimes
from labtests.drivers.answers import expect_success
from labtests.drivers.displays import Table, ValueKind, read_table
from labtests.drivers.parts import PlatformPart
from labtests.drivers.readings import unit_of
from labtests.drivers.sonic.database import Db, DbSetting
from labtests.drivers.sonic.session import NOTATION, SONIC, Counts, counted_by
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import program
from labtests.transport.protocol import Reply

POLL_MS = 100
DETECTION_MS, RESTORATION_MS = range(100, 5_001), range(100, 60_001)
OFF = WatchdogTimes(
    on=False,
    interval_ms=POLL_MS,
    shutdown_multiplier=1,
    auto_restore_multiplier=0,
    fixed_restore_multiplier=0,
)
_OURS = {"detection_time", "restoration_time", "action"}


class SonicWatchdogTimes(DbSetting[WatchdogTimes]):
    """The entry of a port in PFC_WD: there is a watchdog where there is one. Detection is interval
    x shutdown multiplier, restoration interval x auto-restore multiplier."""

    kind = s.WATCHDOG_TIMES
    tables = ("PFC_WD",)

    def value(self, db: Db, port: str) -> WatchdogTimes:
        """As configured."""
        where, entry = f"PFC_WD|{port}", db.entry("PFC_WD", port)
        if "detection_time" not in entry:
            return OFF
        detection = self.number(where, entry, "detection_time")
        restoration = self.number(where, entry, "restoration_time", 0)
        if detection not in DETECTION_MS or restoration not in (0, *RESTORATION_MS):
            problem = f"{detection} and {restoration} ms are not in 100..5000 and 100..60000"
            raise self.reject(where, problem, f"`pfcwd stop {port}`")
        unit = math.gcd(detection, restoration)
        return WatchdogTimes(
            on=True,
            interval_ms=unit,
            shutdown_multiplier=detection // unit,
            auto_restore_multiplier=restoration // unit,
            fixed_restore_multiplier=0,
        )

    def same(self, one: WatchdogTimes, other: WatchdogTimes) -> bool:
        """One that is off has no times."""
        return one.on == other.on and (not one.on or _in_ms(one) == _in_ms(other))

    def _made(self, db: Db, port: str, wanted: WatchdogTimes) -> Db:
        where, entry = f"PFC_WD|{port}", db.entry("PFC_WD", port)
        if self.same(wanted, self.value(db, port)):
            return db
        if entry.keys() - _OURS or entry.get("action", "drop") != "drop":
            problem = "its action is another one than drop, or it keeps a history"
            raise self.reject(where, problem, f"`pfcwd stop {port}`, and start it again afterwards")
        if entry and "detection_time" not in entry:
            problem = "it has no detection_time, so that nothing is watched"
            raise self.reject(where, problem, f"`pfcwd stop {port}`")
        if not wanted.on:
            return db.having("PFC_WD", {port: None})
        detection, restoration, fixed = _in_ms(wanted)
        if detection not in DETECTION_MS or restoration not in RESTORATION_MS or fixed:
            problem = f"{detection} ms until it is shut, {restoration} until it is served again"
            remedy = "choose 100..5000 ms and 100..60000 ms, and no fixed time"
            raise self.reject(where, problem, remedy)
        poll = self.number("PFC_WD|GLOBAL", db.entry("PFC_WD", "GLOBAL"), "POLL_INTERVAL", POLL_MS)
        if poll > POLL_MS:
            problem = f"POLL_INTERVAL is {poll} ms, so a queue is shut that much later"
            raise self.reject("PFC_WD|GLOBAL", problem, f"`pfcwd interval {POLL_MS}`")
        times = {"detection_time": str(detection), "restoration_time": str(restoration)}
        usual = {} if entry else {"action": "drop"}  # one without an action drops, and stays so
        return db.holding("PFC_WD", port, **usual, **times)


def _in_ms(times: WatchdogTimes) -> tuple[int, int, int]:
    """Until a queue is shut, without a pause until it is served again, shut at most."""
    return (
        times.interval_ms * times.shutdown_multiplier,
        times.interval_ms * (times.auto_restore_multiplier or 0),
        times.interval_ms * (times.fixed_restore_multiplier or 0),
    )


class SonicWatchdog(DbSetting[PortWatchdog]):
    """`pfcwd_sw_enable`: on where it has the lossless priorities, `of 3,4` where it has others."""

    kind = s.PFC_WATCHDOG
    tables = ("PORT_QOS_MAP",)

    def value(self, db: Db, port: str) -> PortWatchdog:
        """As configured."""
        entry = db.entry("PORT_QOS_MAP", port)
        told = entry.get("pfcwd_sw_enable")
        if not told:
            return "unset" if told is None else "off"
        if re.fullmatch(r"[0-7](,[0-7]){0,7}", told) is None:
            problem = f"pfcwd_sw_enable is {told!r}"
            raise self.reject(f"PORT_QOS_MAP|{port}", problem, "write `3,4`")
        return "on" if told == entry.get("pfc_enable") else f"of {told}"

    def _made(self, db: Db, port: str, wanted: PortWatchdog) -> Db:
        lossless = db.entry("PORT_QOS_MAP", port).get("pfc_enable")
        if wanted == "on" and not lossless:
            problem = "it has no lossless priority that could be watched"
            raise self.reject(f"PORT_QOS_MAP|{port}", problem, "switch PFC on first")
        told = {"on": lossless, "off": "", "unset": None}.get(wanted, wanted.removeprefix("of "))
        return db.holding("PORT_QOS_MAP", port, pfcwd_sw_enable=told)


# -- what it did -----------------------------------------------------------------------------------

_PAIR = ValueKind("[0-9]{1,20}/[0-9]{1,20}", lambda text: tuple(map(int, text.split("/"))))
_COUNTED = {
    "STORM DETECTED": c.WATCHDOG_SHUTDOWNS,
    "RESTORED": c.WATCHDOG_RESTORED,
    "TX DROP": c.WATCHDOG_DROPPED_OUT_PACKETS,
    "RX DROP": c.WATCHDOG_DROPPED_IN_PACKETS,
    "TX LAST DROP": c.WATCHDOG_LAST_DROPPED_PACKETS,
    "RX LAST DROP": c.WATCHDOG_LAST_DROPPED_IN_PACKETS,
}


_WAYS = {"tx": "TX", "rx": "RX", "tx_last": "TX LAST", "rx_last": "RX LAST"}
Pair = tuple[int, int]


def _queue(
    queue: str, status: str, storms: Pair, **passed_dropped: Pair
) -> tuple[str, str, dict[str, int | None]]:
    port, _, number = queue.rpartition(":")
    counts = dict(zip(("STORM DETECTED", "RESTORED"), storms, strict=True))
    counts |= {f"{word} DROP": passed_dropped[way][1] for way, word in _WAYS.items()}
    watched = status != "N/A"
    return port, number, {word: n if watched else None for word, n in counts.items()}


STATS = Table(
    about=NOTATION.also(
        pair=_PAIR, queue=ValueKind(r"[A-Za-z][A-Za-z0-9_./|-]*:(?:0|[1-9][0-9]?)")
    ).columns(
        {"QUEUE": "queue:queue", "STATUS": "status:operational|stormed|N/A"}
        | {"STORM DETECTED/RESTORED": "storms:pair", "TX OK/DROP": "tx:pair"}
        | {"RX OK/DROP": "rx:pair", "TX LAST OK/DROP": "tx_last:pair"}
        | {"RX LAST OK/DROP": "rx_last:pair"}
    ),
    make=_queue,
)
"""`pfcwd show stats`. A queue of status N/A is not watched: its zeros are not counted."""


def parse_stats(reply: Reply) -> dict[str, Counts]:
    """By port; of each queue what it counted."""
    found: dict[str, Counts] = {}
    for port, queue, counts in read_table(reply, STATS):
        found.setdefault(port, {})[queue] = counts
    return found


class SonicWatchdogCounters(PlatformPart, WatchdogTelemetry):
    """What it did to the queues of a port."""

    def watchdog_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """See WatchdogTelemetry."""
        queues = tuple(f"{port}:{queue}" for queue in range(8))
        reply = yield from ask(program("pfcwd", "show", "stats", "-e", *queues))
        expect_success(reply, SONIC)
        shown = counted_by(reply, port, parse_stats)
        return tuple(
            shown.of(str(queue), word, (counter, unit_of(counter)), ("priority", queue))
            for queue in range(8)
            for word, counter in _COUNTED.items()
        )
