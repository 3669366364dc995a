"""The PFC watchdog (pfcwd): PFC_WD has its times at a port, `pfcwd_sw_enable` which priorities are
watched there. Its ranges and counters: pfcwd of sonic-utilities, pfcwdorch of sonic-swss.
"""

import math
import re

from labtests.capabilities import settings as s
from labtests.capabilities.records import PortWatchdog, WatchdogTimes
from labtests.drivers.sonic.database import Db, DbSetting

POLL_MS = 100
DETECTION_MS, RESTORATION_MS = range(100, 5_001), range(100, 60_001)


def _times(detection_ms: int, restoration_ms: int, *, on: bool = True) -> WatchdogTimes:
    unit = math.gcd(detection_ms, restoration_ms)
    return WatchdogTimes(
        on=on,
        interval_ms=unit,
        shutdown_multiplier=detection_ms // unit,
        auto_restore_multiplier=restoration_ms // unit,
        fixed_restore_multiplier=0,
    )


OFF = _times(POLL_MS, 0, on=False)
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
        return _times(detection, restoration)

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


def _in_ms(of: WatchdogTimes) -> tuple[int, ...]:
    """Until a queue is shut, without a pause until it is served again, shut at most."""
    times = (of.shutdown_multiplier, of.auto_restore_multiplier, of.fixed_restore_multiplier)
    return tuple(of.interval_ms * (each or 0) for each in times)


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
            where = f"PORT_QOS_MAP|{port}"
            raise self.reject(where, f"pfcwd_sw_enable is {told!r}", "write `3,4`")
        return "on" if told == entry.get("pfc_enable") else f"of {told}"

    def _made(self, db: Db, port: str, wanted: PortWatchdog) -> Db:
        lossless = db.entry("PORT_QOS_MAP", port).get("pfc_enable")
        if wanted == "on" and not lossless:
            problem = "it has no lossless priority that could be watched"
            raise self.reject(f"PORT_QOS_MAP|{port}", problem, "switch PFC on first")
        told = {"on": lossless, "off": "", "unset": None}.get(wanted, wanted.removeprefix("of "))
        return db.holding("PORT_QOS_MAP", port, pfcwd_sw_enable=told)
