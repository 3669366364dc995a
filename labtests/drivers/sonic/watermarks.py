"""The most that queues, priority groups and their pool held, in bytes (`watermarkstat`), and how
often that is read from the chip (`counterpoll watermark interval`, which writes the same fields).

A poll reads what the chip held most since the last one, and clears it there (READ_AND_CLEAR of
portsorch.cpp); shown is the most of all polls since somebody cleared that (watermark_pg.lua).
"""

import re
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities.device import Watermarks
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PollsMs
from labtests.capabilities.settings import WATERMARK_POLLS
from labtests.core.output import excerpt
from labtests.drivers.parsing import refuse
from labtests.drivers.parts import PlatformPart
from labtests.drivers.readings import Counted
from labtests.drivers.sonic import session as s
from labtests.drivers.sonic.database import Db, DbSetting, read_tables
from labtests.drivers.sonic.thresholds import PROFILE, pool_of, slots_of
from labtests.transport.asking import Asking, both, side_by_side
from labtests.transport.commands import root
from labtests.transport.protocol import Reply

USUAL_MS = 60_000
TAKEN_MS = range(1_000, 60_001)
LATE = 1.25
"""Times the interval of polls: so far apart, at most, are two of them."""
_FLEX = "FLEX_COUNTER_TABLE"
_POLLED = _QUEUE, _GROUP, _POOL = ("QUEUE_WATERMARK", "PG_WATERMARK", "BUFFER_POOL_WATERMARK")
_TYPES = {
    "q_shared_uni": "queue watermark unicast",
    "pg_headroom": "priority-group watermark headroom",
    "pg_shared": "priority-group watermark shared",
    "buffer_pool": "buffer_pool watermark",
}
"""Of `watermarkstat`, and what `show` calls each."""
_KINDS = {
    "Egress shared pool occupancy per unicast queue:": c.QUEUE_PEAK_BYTES,
    "Ingress headroom per PG:": c.HEADROOM_PEAK_BYTES,
    "Ingress shared pool occupancy per PG:": c.SHARED_PEAK_BYTES,
    "Shared pool maximum occupancy:": c.POOL_PEAK_BYTES,
}
"""What a display is of, by its first line."""
_COLUMN = re.compile("(?:UC|PG)(?:0|[1-9][0-9]?)")
_NO_ENTRY = "this group has no entry in BUFFER_PG, and is shown as 0 all the same"
_NOT_KNOWN = "the switch says N/A: it has not been polled yet, or has none"


def parse_watermarks(reply: Reply) -> dict[str, s.Counts]:
    """By port, of queues (UC0) or groups (PG0): as many as the box has; or of pools. What several
    ASICs show is refused."""
    lines = [line.strip() for line in reply.text.splitlines() if line.strip()]
    kind = _KINDS.get(lines[0]) if lines else None
    if kind is None:
        refuse(reply, "it does not begin as a display of watermarks")
    title = re.compile(re.escape(lines[0]))
    if kind == c.POOL_PEAK_BYTES:
        pools = s.by_port(s.of_numbers("Pool", ["Bytes"], kind, title))(reply)
        return {pool: {pool: told["Bytes"]} for pool, told in pools.items()}
    heads = next((line.split()[1:] for line in lines if line.split()[0] == "Port"), [])
    if not heads or [*dict.fromkeys(heads)] != heads or not all(map(_COLUMN.fullmatch, heads)):
        refuse(reply, f"its columns are {' '.join(heads)}, and not queues or groups")
    return s.by_port(s.of_numbers("Port", heads, kind, title))(reply)


class SonicWatermarks(PlatformPart, Watermarks):
    """What `show ... watermark` shows to everybody; the persistent ones stay as they are."""

    def watermark_age_s(self) -> Asking[float]:
        """Of the slowest of three polls."""
        polls = yield from SonicWatermarkPolls(self.device).read("")
        return LATE * max(ms for _, ms in polls) / 1000

    def forget_watermarks(self) -> Asking[None]:
        """One program for each kind; `sonic-clear` is the same, and has no word for pools."""
        yield from s.asked(*(root("watermarkstat", "-c", "-t", each) for each in _TYPES))

    def watermarks(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Four of each of eight. A group without a buffer profile has none: it is shown as 0."""
        tables = read_tables(_FLEX, "BUFFER_PG", PROFILE)
        asking = side_by_side([s.show(*words.split()) for words in _TYPES.values()])
        db, shown = yield from both(tables, asking)
        why = {group: _not_polled(db, group) for group in _POLLED}
        queues, headroom, shared = (
            _counted(reply, port, s.of_port(reply, port, parse_watermarks), why[group])
            for reply, group in zip(shown, (_QUEUE, _GROUP, _GROUP), strict=False)
        )
        pools = {name: each[name] for name, each in parse_watermarks(shown[3]).items()}
        pool, slots = _counted(shown[3], port, pools, why[_POOL]), slots_of(db, port)
        found = [*queues.of_eight("UC{}", {c.QUEUE_PEAK_BYTES: c.QUEUE_PEAK_BYTES}, "queue")]
        for n in range(8):
            its_pool = pool_of(db, slots[n]) if n in slots else ""
            for told, thing, counter in (
                (headroom, f"PG{n}", c.HEADROOM_PEAK_BYTES),
                (shared, f"PG{n}", c.SHARED_PEAK_BYTES),
                (pool, its_pool, c.POOL_PEAK_BYTES),
            ):
                known = told if n in slots else replace(told, counts={}, missing=_NO_ENTRY)
                found.append(known.of(thing, counter, counter, "priority", n))
        return tuple(found)


class SonicWatermarkPolls(DbSetting[PollsMs]):
    """POLL_INTERVAL of the three groups. One that has none is polled in the usual time, and has
    that written down when it is put back: taking the field away would leave orchagent at ours."""

    kind = WATERMARK_POLLS
    wide = True
    tables = (_FLEX,)

    def value(self, db: Db, port: str) -> PollsMs:
        """As configured. Raises CommandRejected where something is not polled at all."""
        if problems := [why for group in _POLLED if (why := _not_polled(db, group))]:
            raise self.reject(f"{_FLEX}|*_WATERMARK", problems[0], "`counterpoll watermark enable`")
        return tuple(
            (name, self.number(f"{_FLEX}|{name}", db.entry(_FLEX, name), "POLL_INTERVAL", USUAL_MS))
            for name in sorted(_POLLED)
        )

    def _made(self, db: Db, port: str, wanted: PollsMs) -> Db:
        now = dict(self.value(db, port))
        for group, ms in wanted:
            if group not in now or ms not in TAKEN_MS:
                problem = f"{group}: {ms} ms is not in 1000..60000, or it is no watermark"
                raise self.reject(f"{_FLEX}|{group}", problem, "choose 1 to 60 s")
            if now[group] != ms:
                db = db.holding(_FLEX, group, POLL_INTERVAL=str(ms))
        return db


def _counted(reply: Reply, port: str, counts: s.Counts, why: str) -> Counted:
    """What a display says; nothing where it is not polled, and why."""
    known, missing = {} if why else counts, why or _NOT_KNOWN
    return Counted(reply=reply, port=port, counts=known, source=reply.command, missing=missing)


def _not_polled(db: Db, group: str) -> str:
    """Why a watermark is never renewed, "" where it is."""
    status = db.entry(_FLEX, group).get("FLEX_COUNTER_STATUS", "disable")
    return "" if status == "enable" else f"{group} is not polled (it is {excerpt(status, 40)!r})"
