"""The PFC watchdog (pfcwd): PFC_WD has its times at a port, `pfcwd_sw_enable` which priorities are
watched there. Its ranges and counters: pfcwd of sonic-utilities, pfcwdorch of sonic-swss.
"""

import re
from dataclasses import replace

from labtests.capabilities import settings as s
from labtests.capabilities.records import PortWatchdog, WatchdogTimes
from labtests.core.output import excerpt
from labtests.drivers.sonic.database import Db, DbSetting, Entry
from labtests.drivers.sonic.session import database, set_fields

POLL_MS = 100
DETECTION_MS, RESTORATION_MS = range(100, 5_001), range(100, 60_001)


OFF = WatchdogTimes.of_ms(shut_after_ms=POLL_MS, quiet_ms=0, on=False)
_HISTORY = "pfc_stat_history"
_KNOWN = {"detection_time", "restoration_time", "action", _HISTORY}
"""Of an entry with any other field orchagent takes nothing."""


class SonicWatchdogTimes(DbSetting[WatchdogTimes]):
    """The entry of a port in PFC_WD: there is a watchdog where there is one."""

    kind = s.WATCHDOG_TIMES
    tables = ("PFC_WD",)

    def value(self, db: Db, port: str) -> WatchdogTimes:
        """As configured."""
        where, entry = f"PFC_WD|{port}", db.entry("PFC_WD", port)
        if odd := sorted(entry.keys() - _KNOWN):
            problem = f"it has {excerpt(odd[0], 80)!r}, and the switch takes no such entry"
            raise self.reject(where, problem, f"`pfcwd stop {port}`")
        if "detection_time" not in entry:
            return OFF
        detection = self.number(where, entry, "detection_time")
        restoration = self.number(where, entry, "restoration_time", 0)
        infinite = "restoration_time" not in entry
        if detection not in DETECTION_MS or not (infinite or restoration in RESTORATION_MS):
            problem = f"{detection} and {restoration} ms are not in 100..5000 and 100..60000"
            raise self.reject(where, problem, f"`pfcwd stop {port}`")
        action = self.word(where, entry, "action", "drop", "forward", "alert")
        times = WatchdogTimes.of_ms(shut_after_ms=detection, quiet_ms=restoration)
        return replace(times, action=action)

    def same(self, one: WatchdogTimes, other: WatchdogTimes) -> bool:
        """By the products. One that is off has no times."""
        return _meaning(one) == _meaning(other)

    def _made(self, db: Db, port: str, wanted: WatchdogTimes) -> Db:
        where, entry = f"PFC_WD|{port}", db.entry("PFC_WD", port)
        if self.same(wanted, self.value(db, port)):
            return db
        odd = entry.get(_HISTORY, "disable") != "disable" and not wanted.on
        odd |= "action" not in entry and not (wanted.on and wanted.action == "drop")
        if entry and (odd or "detection_time" not in entry):
            problem = "it has a history, no action or no detection_time: it could not be restored"
            raise self.reject(where, problem, f"`pfcwd stop {port}`, and start it again afterwards")
        if not wanted.on:
            return db.having("PFC_WD", {port: None})
        detection, restoration = wanted.shut_after_ms, wanted.quiet_ms
        if detection not in DETECTION_MS or restoration not in RESTORATION_MS or wanted.fixed_ms:
            problem = f"{detection} ms until it is shut, {restoration} until it is served again"
            remedy = "choose 100..5000 ms and 100..60000 ms, and no fixed time"
            raise self.reject(where, problem, remedy)
        poll = self.number("PFC_WD|GLOBAL", db.entry("PFC_WD", "GLOBAL"), "POLL_INTERVAL", POLL_MS)
        if poll > POLL_MS:
            problem = f"POLL_INTERVAL is {poll} ms, so a queue is shut that much later"
            raise self.reject("PFC_WD|GLOBAL", problem, f"`pfcwd interval {POLL_MS}`")
        told = {"detection_time": str(detection), "restoration_time": str(restoration)}
        if not entry or "action" in entry:  # one without drops, and stays so
            told["action"] = wanted.action
        return db.holding("PFC_WD", port, **told)

    def _change(self, port: str, before: Db, after: Db) -> s.Commands:
        """An entry keeps the action that it was made with, whatever is written into it
        (`m_entryMap.emplace` of pfcwdorch): as `pfcwd start` does, it is made anew."""
        old, new = (db.entry("PFC_WD", port) for db in (before, after))
        if old and new and _action(old) != _action(new):
            return _anew(port, new)
        return super()._change(port, before, after)


def _meaning(of: WatchdogTimes) -> tuple[object, ...]:
    return (of.shut_after_ms, of.quiet_ms, of.fixed_ms, of.action) if of.on else ()


def _anew(port: str, entry: Entry) -> s.Commands:
    return (database("DEL", "PFC_WD", port), set_fields("PFC_WD", port, entry))


def _action(entry: Entry) -> str:
    return entry.get("action", "drop")


class SonicWatchdog(DbSetting[PortWatchdog]):
    """`pfcwd_sw_enable`: on where it has the lossless priorities, `of 3,4` where it has others."""

    kind = s.PFC_WATCHDOG
    tables = ("PORT_QOS_MAP", "PFC_WD")

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

    def _change(self, port: str, before: Db, after: Db) -> s.Commands:
        """orchagent looks at it when it is told an entry of PFC_WD, which is made anew, then."""
        lines, entry = super()._change(port, before, after), after.entry("PFC_WD", port)
        return (*lines, *_anew(port, entry)) if lines and entry else lines
