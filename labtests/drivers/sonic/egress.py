"""The egress queues of a port: RED with ECN (WRED_PROFILE), and who is served how (SCHEDULER).

Both are fields of the queue's entry in the table QUEUE. Thresholds are bytes, and the curve is that
of green packets: all are, unless something colours them.
"""

import re
from abc import abstractmethod
from typing import ClassVar, Generic, TypeVar

from labtests.capabilities import settings as s
from labtests.capabilities.device import QueueShares, RateLimitedQueues, Shares
from labtests.capabilities.records import EcnSetting, QueueSchedule, SchedulingSetting, WredQueue
from labtests.drivers.marking import MarkingOnArrival, red_curve
from labtests.drivers.sharing import round_robin, with_most
from labtests.drivers.sonic.database import Db, DbSetting, Entry, Slot, numbered

M = TypeVar("M")
QUEUES = range(8)
_MARKS_GREEN = ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")
_MARKS_OTHERS = ("ecn_none", "ecn_yellow", "ecn_red", "ecn_yellow_red")


class _Queues(DbSetting[s.T], Generic[s.T, M]):
    """A setting that is what the entries mean which a port's queues refer to: an M of each."""

    pool: ClassVar[str]

    @abstractmethod
    def means(self, queue: int, name: str, entry: Entry) -> M:
        """What an entry of this name does to a queue. Raises CommandRejected."""

    def slot(self, db: Db, port: str, queue: int) -> Slot:
        """What the queue refers to."""
        keys = [key for key, queues in numbered(db.tables["QUEUE"], port) if queue in queues]
        if len(keys) > 1:
            problem = f"{keys[0]} has queue {queue}, too"
            raise self.reject(f"QUEUE|{keys[1]}", problem, "remove one of them")
        return Slot("QUEUE", keys[0] if keys else f"{port}|{queue}", self.pool)

    def now(self, db: Db, port: str, queue: int) -> M:
        """What is done to the queue."""
        slot = self.slot(db, port, queue)
        return self.means(queue, slot.name(db), self.referred(db, slot) or {})

    def meant(self, db: Db, slot: Slot, wanted: M, own: Entry, named: str = "") -> Db:
        """The queue refers to what means this. An entry of several queues cannot say it of one."""
        if not re.fullmatch(r"[^,]+\|[0-7]", slot.key):
            problem = "this entry is not about one queue of one port"
            remedy = "give each queue of the port an entry of its own"
            raise self.reject(f"QUEUE|{slot.key}", problem, remedy)

        def fits(entry: Entry) -> bool:
            return self.means(int(slot.key[-1]), "", entry) == wanted

        if not slot.base(db) and fits({}):
            return slot.referring(db, "")
        return slot.meaning(db, fits, lambda entry: {**_others(entry, own), **own}, named)


def _others(entry: Entry, own: Entry) -> Entry:
    """Fields of an entry that ours says nothing of. A strict scheduler has no weight, and one that
    holds a queue to no rate has no `pir`."""
    told = {*own, "weight", "pir", "meter_type"}
    return {name: value for name, value in entry.items() if name not in told}


class SonicEcn(_Queues[EcnSetting, WredQueue | None], MarkingOnArrival):
    """RED of each queue. A queue that is not in the setting drops at the tail. The profile of a
    setting says which WRED profile each queue has: `3 AZURE_LOSSLESS, 4 AZURE_LOSSLESS`."""

    tables = ("QUEUE", "WRED_PROFILE")
    pool = "WRED_PROFILE"
    usual = (150_000, 600_000, 7, 0)
    """As labtests marks on a Nexus: it holds three DCQCN senders from 10G on."""
    no_average = "SONiC looks at the queue of the moment, not at an average"

    def value(self, db: Db, port: str) -> EcnSetting:
        """As configured."""
        found = tuple(curve for queue in QUEUES if (curve := self.now(db, port, queue)))
        names = (f"{n.queue} {self.slot(db, port, n.queue).name(db)}" for n in found)
        return EcnSetting(profile=", ".join(names), queues=found) if found else EcnSetting()

    def means(self, queue: int, name: str, entry: Entry) -> WredQueue | None:
        """What a profile does to green packets; None where it neither marks nor drops them."""
        where = f"WRED_PROFILE|{name}"
        marks = self.word(where, entry, "ecn", *_MARKS_OTHERS, *_MARKS_GREEN)
        drops = self.word(where, entry, "wred_green_enable", "false", "true")
        ecn = marks in _MARKS_GREEN
        if not ecn and drops == "false":
            return None
        low, high, percent = (
            self.number(where, entry, f"green_{each}")
            for each in ("min_threshold", "max_threshold", "drop_probability")
        )
        if percent > 100 or low > high:
            raise self.reject(where, f"{low} to {high} bytes, {percent} %: no curve", "correct it")
        return red_curve(queue, (low, high), percent, ecn=ecn)

    def _made(self, db: Db, port: str, wanted: EcnSetting) -> Db:
        named = dict(re.findall(r"([0-7]) ([^ ,]+)", wanted.profile or ""))
        curves = {each.queue: each for each in wanted.queues}
        for queue in QUEUES:
            slot, curve, name = self.slot(db, port, queue), curves.get(queue), named.get(str(queue))
            if self.now(db, port, queue) != curve or name not in (None, slot.name(db)):
                base = db.entry(slot.pool, slot.base(db))  # somebody's own, which is there or was
                if not curve and (not base or self.means(queue, slot.base(db), base)):
                    db = slot.referring(db, "")  # else it does nothing either
                db = self.meant(db, slot, curve, _profile(curve) if curve else {}, name or "")
        return db


def _profile(curve: WredQueue) -> Entry:
    """The same for all colours, as in published configurations."""
    told = {
        "wred_{}_enable": "true",
        "{}_min_threshold": str(curve.low_limit),
        "{}_max_threshold": str(curve.high_limit),
        "{}_drop_probability": str(curve.drop_probability_percent),
    }
    fields = {n.format(c): told[n] for c in ("green", "yellow", "red") for n in told}
    return {"ecn": "ecn_all" if curve.ecn else "ecn_none", **fields}


_BITS = 8
"""Of a byte."""


class SonicScheduling(_Queues[SchedulingSetting, QueueSchedule], QueueShares, RateLimitedQueues):
    """Strict priority (the highest queue first), or a weight by bytes (DWRR), and the most that a
    queue may send (`pir`, in bytes a second: SONiC QoS Scheduler and Shaping HLD, 3.2.1; 0: as much
    as the port). A queue without a scheduler has the weight 1 (SAI)."""

    kind = s.SCHEDULING
    tables = ("QUEUE", "SCHEDULER")
    pool = "SCHEDULER"

    def value(self, db: Db, port: str) -> SchedulingSetting:
        """As configured."""
        queues = tuple(self.now(db, port, queue) for queue in QUEUES)
        return SchedulingSetting(discipline="wrr", unit="byte-count", queues=queues)

    def means(self, queue: int, name: str, entry: Entry) -> QueueSchedule:
        """What a scheduler does. WRR, by packets, is refused."""
        where, kind = f"SCHEDULER|{name}", entry.get("type", "DWRR")
        most = self._most(where, entry)
        if kind == "STRICT":
            return QueueSchedule(queue=queue, group="sp", weight=None, most_bits_per_s=most)
        if kind != "DWRR":
            raise self.reject(where, f"labtests does not know the type {kind}", "use DWRR")
        weight = self.number(where, entry, "weight", 1)
        return QueueSchedule(queue=queue, group="1", weight=weight, most_bits_per_s=most)

    def _most(self, where: str, entry: Entry) -> int | None:
        pir = self.number(where, entry, "pir", 0)
        if pir and entry.get("meter_type", "bytes") != "bytes":
            raise self.reject(where, "its pir counts packets", "let meter_type be bytes")
        return pir * _BITS or None

    def _made(self, db: Db, port: str, wanted: SchedulingSetting) -> Db:
        for each in wanted.queues:
            slot = self.slot(db, port, each.queue)
            if self.now(db, port, each.queue) != each or slot.base(db) != slot.name(db):
                db = self.meant(db, slot, each, self._told(each))
        return db

    def _told(self, each: QueueSchedule) -> Entry:
        most = each.most_bits_per_s
        pir = {"meter_type": "bytes", "pir": str(most // _BITS)} if most else {}
        if each.group == "sp" and each.level is None:
            return {"type": "STRICT", **pir}
        if each.group == "1" and each.level is None and each.weight in range(1, 101):
            return {"type": "DWRR", "weight": str(each.weight), **pir}
        remedy = "make it strict, or give it a weight of 1 to 100"
        raise self.reject("SCHEDULER", f"a queue cannot be served like this: {each}", remedy)

    def scheduling_for(self, shares: Shares) -> SchedulingSetting:
        """Weights are the shares."""
        return round_robin(shares, lambda share: max(share, 1))

    def rate_limited(
        self, scheduling: SchedulingSetting, queue: int, most_bits_per_s: int
    ) -> SchedulingSetting:
        """In whole bytes a second."""
        return with_most(scheduling, queue, most_bits_per_s // _BITS * _BITS)
