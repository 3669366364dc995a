"""The PFC watchdog (pfcwd): PFC_WD has its times at a port, `pfcwd_sw_enable` which priorities are
watched there. Its ranges and counters: pfcwd of sonic-utilities, pfcwdorch of sonic-swss.
"""

import re
from dataclasses import replace

from labtests.capabilities import settings as s
from labtests.capabilities.records import PortWatchdog, WatchdogTimes
from labtests.drivers.sonic.database import Db, DbSetting, Entry
from labtests.drivers.sonic.session import database, set_fields

POLL_MS = 100
DETECTION_MS, RESTORATION_MS = range(100, 5_001), range(100, 60_001)


OFF = WatchdogTimes.of_ms(POLL_MS, 0, on=False)
_NO_HISTORY = {"pfc_stat_history": "disable"}
"""As `pfcwd start` writes it, and as it is where it is not told."""
_OURS = {"detection_time", "restoration_time", "action"}


class SonicWatchdogTimes(DbSetting[WatchdogTimes]):
    """The entry of a port in PFC_WD: there is a watchdog where there is one."""

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
        action = self.word(where, entry, "action", "drop", "forward", "alert")
        return replace(WatchdogTimes.of_ms(detection, restoration), action=action)

    def same(self, one: WatchdogTimes, other: WatchdogTimes) -> bool:
        """By the products. One that is off has no times."""
        told = [(each.shut_after_ms, each.quiet_ms, each.fixed_ms, each.action) if each.on else ()
                for each in (one, other)]  # fmt: skip
        return told[0] == told[1]

    def _made(self, db: Db, port: str, wanted: WatchdogTimes) -> Db:
        where, entry = f"PFC_WD|{port}", db.entry("PFC_WD", port)
        if self.same(wanted, self.value(db, port)):
            return db
        others = {name: entry[name] for name in entry if name not in _OURS}
        if not wanted.on and others not in ({}, _NO_HISTORY):
            problem = "it keeps a history, or more, which would be lost on the way"
            raise self.reject(where, problem, f"`pfcwd stop {port}`, and start it again afterwards")
        if entry and "detection_time" not in entry:
            problem = "it has no detection_time, so that nothing is watched"
            raise self.reject(where, problem, f"`pfcwd stop {port}`")
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
        if not entry or _action(entry) != wanted.action:  # one without drops, and stays so
            told["action"] = wanted.action
        return db.holding("PFC_WD", port, **told)

    def _change(self, port: str, before: Db, after: Db) -> s.Commands:
        """An entry keeps the action that it was made with, whatever is written into it
        (`m_entryMap.emplace` of pfcwdorch): as `pfcwd start` does, it is made anew."""
        old, new = (db.entry("PFC_WD", port) for db in (before, after))
        if old and new and _action(old) != _action(new):
            return (database("DEL", "PFC_WD", port), set_fields("PFC_WD", port, new))
        return super()._change(port, before, after)


def _action(entry: Entry) -> str:
    return entry.get("action", "drop")


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
