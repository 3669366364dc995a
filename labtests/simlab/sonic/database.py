"""CONFIG_DB of the emulated box: what is in it as installed and after `config qos reload`, and what
it means.

Both are config_db.json. Entries of the latter are recorded (config_db-qos-json); the lossless
profile is what buffermgrd makes of a port's speed and cable (buffermgr.cpp).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from labtests.network import GroupMemory, PfcWatchdog, RateLimit, Schedule, WredCurve
from labtests.simlab.data import beside
from labtests.simlab.switch_cli import PortBehaviour
from labtests.simlab.switch_cli.arguments import Ranges

CELL_BYTES = 208
Entry = dict[str, str]
Tables = dict[str, dict[str, Entry]]
_CONFIG = beside(__file__, "config_db")
"""Of the lossless profile fields, dynamic_th and xon are as recorded (show-mmu:
pg_lossless_100000_300m_profile); size and xon_offset are those of the packet network
(memory_settings.py). Of the watchdog: what orchagent takes of an entry, as patterns (pfcwdorch)."""
POOL = "ingress_lossless_pool"
_IN_BYTES = ("static_th", "xon", "xon_offset", "size")
_MARKS = ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")


@dataclass(frozen=True, slots=True)
class Cabled:
    """A port as it is cabled: what its buffers are for."""

    name: str
    mbit_per_s: int
    cable_m: int
    headroom_cells: int

    @property
    def profile(self) -> str:
        """The name of its lossless buffer profile."""
        return f"pg_lossless_{self.mbit_per_s}_{self.cable_m}m_profile"


@dataclass(slots=True)
class ConfigDb:
    """Tables of entries of fields."""

    ports: tuple[Cabled, ...]
    tables: Tables = field(default_factory=dict)
    acting: dict[str, tuple[Entry, PfcWatchdog]] = field(default_factory=dict)
    """By port: the entry of PFC_WD that was taken last, and what was made of it."""

    def load(self, section: str) -> None:
        """As installed (no port has a map, a profile or a scheduler), or as after `config qos
        reload`. What is of `<port>` stands there for each."""
        for table, entries in _CONFIG[section].items():
            loaded = {key: dict(entry) for key, entry in entries.items() if "<port>" not in key}
            of_port = json.dumps({key: entry for key, entry in entries.items() if "<port>" in key})
            for index, port in enumerate(self.ports, start=1):
                text = of_port.replace("<port>", port.name).replace("<index>", str(index))
                loaded |= json.loads(text.replace("<speed>", str(port.mbit_per_s)))
            self.tables[table] = loaded

    def enable_groups(self, port: Cabled, priorities: str) -> None:
        """What buffermgrd does when `pfc_enable` changes: it adds, and takes nothing away."""
        profile = _CONFIG["lossless profile"] | {"xoff": str(port.headroom_cells * CELL_BYTES)}
        self.tables["BUFFER_PROFILE"].setdefault(port.profile, profile)
        numbers = Ranges(int(each) for each in priorities.split(",") if each.isdigit())
        for run in filter(None, str(numbers).split(",")):
            self.tables["BUFFER_PG"][f"{port.name}|{run}"] = {"profile": port.profile}

    def put(self, table: str, entries: Mapping[str, Entry]) -> None:
        """Instead of those that are there; one without a field is none."""
        now = {**self.tables.get(table, {}), **entries}
        self.tables[table] = {key: entry for key, entry in now.items() if entry}

    # -- what it means ----------------------------------------------------------------------------

    def entry(self, table: str, key: str) -> Entry:
        """Its fields; none where there is no such entry."""
        return self.tables.get(table, {}).get(key, {})

    def poll_ms(self, group: str, usual: int) -> int:
        """How often a flex counter is read from the chip."""
        told = self.entry("FLEX_COUNTER_TABLE", group).get("POLL_INTERVAL", "")
        return int(told) if told.isdecimal() else usual

    def of(self, table: str, port: str) -> dict[int, Entry]:
        """By queue, or by priority group."""
        found: dict[int, Entry] = {}
        for key, entry in self.tables.get(table, {}).items():
            name, _, numbers = key.partition("|")
            match = re.fullmatch("([0-7])(?:-([0-7]))?", numbers)
            if name == port and match is not None:
                found |= dict.fromkeys(range(int(match[1]), int(match[2] or match[1]) + 1), entry)
        return found

    def map_of(self, port: str, field_: str, table: str, size: int) -> tuple[int, ...] | None:
        """A map that a port refers to."""
        name = self.entry("PORT_QOS_MAP", port).get(field_)
        if name is None:
            return None
        return tuple(int(self.entry(table, name).get(str(n), "0")) for n in range(size))

    def lossless(self, port: str) -> dict[int, Entry]:
        """The buffer profile of each group that pauses: enabled, reached by its TC, lossless."""
        told = self.entry("PORT_QOS_MAP", port).get("pfc_enable", "").split(",")
        reached = self.map_of(port, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", 8) or (0,) * 8
        profiles = self._referred("BUFFER_PG", port, "profile", "BUFFER_PROFILE")
        return {
            n: profile
            for n, profile in enumerate(profiles)
            if str(n) in told and reached[n] == n and "xoff" in profile
        }

    def _referred(self, table: str, port: str, field_: str, pool: str) -> list[Entry]:
        """What each of eight queues or groups refers to; nothing where that is not there."""
        entries = self.of(table, port)
        return [self.entry(pool, entries.get(n, {}).get(field_, "")) for n in range(8)]

    def behaviour(self, port: Cabled) -> PortBehaviour:
        """What the port does to packets. Raises KeyError, ValueError where that is not clear."""
        lossless = self.lossless(port.name)
        cells = [int(each["xoff"]) // CELL_BYTES for each in lossless.values()]
        schedulers = self._referred("QUEUE", port.name, "scheduler", "SCHEDULER")
        profiles = self._referred("QUEUE", port.name, "wred_profile", "WRED_PROFILE")
        return PortBehaviour(
            shutdown=self.entry("PORT", port.name).get("admin_status") == "down",
            pfc="on" if lossless else "off",
            no_drop=frozenset(lossless),
            asymmetric=self.entry("PORT", port.name).get("pfc_asym") == "on",
            headroom_cells=max(cells) if cells else None,
            thresholds={n: _memory(profile) for n, profile in lossless.items()},
            trust="dscp",  # by the port's own map; without one, all is of TC 0
            dscp_map=self.map_of(port.name, "dscp_to_tc_map", "DSCP_TO_TC_MAP", 64) or (0,) * 64,
            schedule=Schedule(queues=tuple(map(_served, schedulers))),
            limits=tuple(map(_limit, schedulers)),
            curves=tuple(map(_curve, profiles)),
            guard=self._guard(port.name),
        )

    def _guard(self, port: str) -> PfcWatchdog | None:
        """What orchagent made of the port's entry of PFC_WD when it was last told, for the
        priorities that `pfcwd_sw_enable` had then: what that says later changes nothing. Its action
        is that of the entry when it was made. One with a field or a value that orchagent does not
        know is passed over (pfcwdorch). Without a time nothing restores a queue."""
        entry, told = self.entry("PFC_WD", port), self.entry("PORT_QOS_MAP", port)
        watched = frozenset(map(int, re.findall("[0-7]", told.get("pfcwd_sw_enable", ""))))
        known, guard = self.acting.get(port, ({}, PfcWatchdog()))
        if not entry:
            self.acting.pop(port, None)
        elif watched and entry != known and _is_taken(entry):
            action: Any = guard.action if known else entry.get("action", "drop")
            now = PfcWatchdog(
                interval_ms=int(entry["detection_time"]),
                restoration_ms=int(entry.get("restoration_time", "0")),
                action=action,
                priorities=watched | (guard.priorities or frozenset()),
            )
            self.acting[port] = (dict(entry), now)
        poll_ms = int(self.entry("PFC_WD", "GLOBAL").get("POLL_INTERVAL", "100"))
        return replace(self.acting[port][1], poll_ms=poll_ms) if port in self.acting else None


def _is_taken(watchdog: Entry) -> bool:
    known = _CONFIG["watchdog"]
    return "detection_time" in watchdog and all(
        re.fullmatch(known.get(name, "(?!)"), watchdog[name]) for name in watchdog
    )


def _served(scheduler: Entry) -> tuple[str, int]:
    strict = scheduler.get("type") == "STRICT"
    return ("sp", 0) if strict else ("1", int(scheduler.get("weight", "1")))


def _limit(scheduler: Entry) -> RateLimit | None:
    """`pir`, bytes a second. What a `pbs` does is not modelled."""
    pir = scheduler.get("pir", "")
    bits_per_s = 8 * int(pir) if pir.isdecimal() else 0
    return RateLimit(bits_per_s=min(max(bits_per_s, 1000), 10**13)) if bits_per_s else None


def _curve(profile: Entry) -> WredCurve | None:
    ecn = profile.get("ecn") in _MARKS
    if not ecn and profile.get("wred_green_enable") != "true":
        return None
    return WredCurve(
        low_limit=int(profile["green_min_threshold"]) // CELL_BYTES,
        high_limit=int(profile["green_max_threshold"]) // CELL_BYTES,
        probability_percent=int(profile["green_drop_probability"]),
        weighting_exponent=0,
        ecn=ecn,
    )


def _memory(profile: Entry) -> GroupMemory:
    """What a profile with headroom means: 2 to the power of dynamic_th of what is free, or
    static_th; a pause ends at xon, or xon_offset below that, whichever is more (SAI)."""
    cells = {name: int(profile.get(name, "0")) // CELL_BYTES for name in _IN_BYTES}
    return GroupMemory(
        alpha=2.0 ** int(profile["dynamic_th"]) if "dynamic_th" in profile else None,
        xoff_cells=cells["static_th"] if "static_th" in profile else None,
        xon_cells=cells["xon"],
        xon_offset_cells=cells["xon_offset"],
        guaranteed_cells=cells["size"],
    )
