"""One holding of the lease: taken, kept alive, checked before each change, given back.

What was lost stays lost, even when the lab is free again: somebody else may have changed it. A
lease that ran out unnoticed (a frozen runner, a network that was away) and that nobody has taken
since is not lost: the next heartbeat goes through only if no record came between.
"""

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from shlex import quote

from labtests.core.clock import WallClock
from labtests.core.errors import DeviceError, LabError, LeaseBusy, LeaseLost, LeaseUnusable
from labtests.journal import Runner, this_runner
from labtests.lease.record import Holder, me, shown
from labtests.lease.register import Register, RegisterReading, number_after
from labtests.transport.protocol import Clock

BEATS = 4  # heartbeats in the time after which it runs out
FRESH_SHARE = 0.9  # of that time: so far a look counts here, whatever the two clocks' rates
ROUNDS = 20  # of taking it, before it is said that too many want it

_BOOT_TIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # goes on while suspended


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A run whose runner is known to be dead."""

    run: str
    runner: Runner

    def had(self, holder: Holder) -> bool:
        """Whether the lease is that of this very process, or of ours, which may have begun before
        to put it back. The name of a run is no proof: everybody can read those of others."""
        theirs = [replace(each, since="") for each in (self.runner, this_runner())]
        return holder.run == self.run and replace(holder.runner, since="") in theirs


class Held:
    """See changing.Leased. Any thread may ask it."""

    def __init__(self, register: Register, holder: Holder, *, clock: Clock) -> None:
        self.register, self.holder = register, holder
        self.lost = ""
        self._numbers: set[int] = set()  # of generations that we have written, or may have
        self._wall = isinstance(clock, WallClock)
        self._clock = clock
        self._lock = threading.Lock()
        self._fresh_until_s = 0.0
        self._looked_ns = 0  # when the last look began that found it ours
        self._ended = threading.Event()
        self._adopted = False

    # -- taking it -----------------------------------------------------------------------------

    def take(self, *, instead_of: Gone | None = None, force: bool = False) -> str:
        """The lab is ours; returns what is to be known of who had it before, or "".

        A lease that ran out, that of a run of this machine whose process is gone, and that of the
        run `instead_of` are taken over. Raises LeaseBusy, LeaseUnusable."""
        for _ in range(ROUNDS):
            begun_s = self._local_s()
            seen = self.register.look()
            if not force:
                expect_sense(seen, self.register)
                if not (_is_free(seen) or _given_up(seen, self.holder, instead_of)):
                    raise LeaseBusy(described(seen, self.register))
            fresh = replace(self.holder, since=seen.now.date)
            if self._append(seen, fresh):
                self.holder = fresh
                self._confirm(begun_s, 0.0)
                return _legacy(seen, instead_of)
        raise LeaseBusy(f"too many want the lease in {self.register.place} at this moment")

    def adopt(self) -> None:
        """Work under the lock that this person has taken by hand. Raises LeaseBusy without one."""
        seen = self.register.look()
        expect_sense(seen, self.register)
        if seen.holder is None or seen.holder.kind != "person" or not seen.holder.is_mine:
            why = described(seen, self.register)
            if seen.holder is None and not seen.garbage:
                why = "nobody has it\n  remedy: labtests lock TESTBED, or leave out --under-lock"
            raise LeaseBusy(f"you have no lock on this lab; {why}")
        if not seen.by_login:
            raise LeaseBusy(
                f"the lock in your name in {self.register.place} was written by another login than "
                "this testbed's, so it may be anybody's\n"
                "  remedy: labtests lock with this testbed; if the other is not yours: ask who "
                "wrote it, or labtests unlock TESTBED --force"
            )
        self.holder, self._adopted, self._numbers = seen.holder, True, {seen.generation}
        self.expect_held()

    # -- keeping it ----------------------------------------------------------------------------

    def beat(self) -> None:
        """From now on a thread of its own says that we live. In a simulated lab whose time stands
        still nothing runs out by itself, so there is none."""
        if self._wall and not self._adopted and self.holder.expires_after_s is not None:
            threading.Thread(target=self._beat, name="lease", daemon=True).start()

    def expect_held(self, *, undoing: bool = False) -> None:
        """See changing.Leased. When the device does not answer, a change is not made; undoing goes
        on for as long as nobody else can have taken the lab."""
        begun_s, asked_ns = self._local_s(), time.monotonic_ns()
        try:
            self._renew(at_age=1 / BEATS, since_ns=asked_ns)
        except DeviceError:
            if not (undoing and begun_s < self._fresh_until_s):
                raise

    def expect_fresh(self) -> None:
        """See changing.Leased. Whoever was frozen since the last look asks again; what is
        known to be lost is lost, however fresh the last good look is."""
        self._expect_not_over()
        if self._local_s() >= self._fresh_until_s:
            self.expect_held()

    def give_back(self, *, left: int = 0) -> None:
        """See changing.Leased."""
        if self._ended.is_set():
            return
        self._ended.set()
        if self._adopted:
            return
        with self._lock, suppress(LabError):  # it runs out by itself where this cannot be said
            seen = self.register.look()
            if self._is_mine(seen):
                freed = me("free", run=self.holder.run, since=seen.now.date, left=left)
                self.register.append(seen, freed)

    def _renew(self, *, at_age: float, since_ns: int | None = None) -> None:
        """Look, and append a heartbeat when the last one is that old (as a share of the time). A
        look that another thread has begun after `since_ns` will do: many hosts, few looks."""
        with self._lock:
            for _ in range(ROUNDS):
                looked = since_ns is not None and self._looked_ns > since_ns
                if looked and not self.lost and not self._ended.is_set():
                    return
                begun_s, begun_ns = self._local_s(), time.monotonic_ns()
                seen = self._seen_mine()
                after_s = self.holder.expires_after_s
                whole = self._adopted or after_s is None or seen.age_s < at_age * after_s
                if whole or self._append(seen, self.holder):
                    self._confirm(begun_s, seen.age_s if whole else 0.0)
                    self._looked_ns = begun_ns
                    return
        raise LeaseBusy(f"the lease in {self.register.place} moves faster than it can be renewed")

    def _expect_not_over(self) -> None:
        if self.lost:
            raise LeaseLost(self.lost)
        if self._ended.is_set():
            raise LeaseLost("the lease was given back: nothing is changed any more")

    def _seen_mine(self) -> RegisterReading:
        self._expect_not_over()
        seen = self.register.look()
        if not self._is_mine(seen):
            self.lost = (
                f"the lease was lost; nothing is changed any more: {described(seen, self.register)}"
            )
            raise LeaseLost(self.lost)
        return seen

    def _append(self, seen: RegisterReading, holder: Holder) -> bool:
        number = number_after(seen)
        new = number not in self._numbers
        self._numbers.add(number)  # first: where no answer comes, it may have been written
        written = self.register.append(seen, holder)
        if written:
            self._numbers = {number}
        elif new:
            self._numbers.discard(number)
        return written

    def _is_mine(self, seen: RegisterReading) -> bool:
        """By its token, which everybody can read, by its number, which is of one record only, and
        by its file, which is this login's: a copy that somebody else has made of ours, when it was
        gone, has another owner. So it is with a lock by hand."""
        mine = seen.holder is not None and seen.holder.token == self.holder.token
        mine = mine and seen.generation in self._numbers and seen.by_login
        return mine and not (self._adopted and seen.left_s is not None and seen.left_s <= 0)

    def _confirm(self, begun_s: float, age_s: float) -> None:
        after_s = self.holder.expires_after_s
        left_s = float("inf") if after_s is None else FRESH_SHARE * after_s - age_s
        self._fresh_until_s = begun_s + left_s

    def _beat(self) -> None:
        assert self.holder.expires_after_s is not None
        while not self._ended.wait(self.holder.expires_after_s / BEATS):
            try:
                self._renew(at_age=0)
            except LeaseLost:
                return  # whoever changes something next is told
            except (LabError, OSError):
                continue  # it may answer again before the lease has run out

    def _local_s(self) -> float:
        return time.clock_gettime(_BOOT_TIME) if self._wall else self._clock.now_s()


# -- what is seen --------------------------------------------------------------------------------


def described(seen: RegisterReading, register: Register) -> str:
    """Who has the lab, and the remedy."""
    holder = seen.holder
    if seen.garbage:
        return seen.garbage
    if holder is None:
        return f"{register.place} is gone: somebody removed it"
    if holder.kind == "free" or (seen.left_s is not None and seen.left_s <= 0):
        return f"the lab is free by now, and somebody else may have had it ({register.place})"
    if holder.kind == "person":
        return (
            f"the lab is locked by {holder}{_until(seen)}\n"
            "  remedy: ask, or wait (--wait-for-lease MINUTES); if it was forgotten: "
            "labtests unlock TESTBED --force"
        )
    return (
        f"the lab is in use by {holder}; last heartbeat {seen.age_s:.0f} s ago{_until(seen)}\n"
        "  remedy: wait (--wait-for-lease MINUTES); when that run is dead, its lease runs out"
    )


def _until(seen: RegisterReading) -> str:
    if seen.left_s is None:
        return ", until it is unlocked"
    minutes, seconds = divmod(round(seen.left_s), 60)
    return f", runs out in {f'{minutes} min' if minutes else f'{seconds} s'}"


def _is_free(seen: RegisterReading) -> bool:
    if seen.holder is None or seen.holder.kind == "free":
        return True
    return seen.left_s is not None and seen.left_s <= 0


def _given_up(seen: RegisterReading, wanting: Holder, instead_of: Gone | None) -> bool:
    """Whether its holder cannot mind: dead here, the run that is put back, one's own lock anew."""
    holder = seen.holder
    assert holder is not None
    if holder.kind == "person":
        return wanting.kind == "person" and holder.is_mine
    return holder.is_dead or (instead_of is not None and instead_of.had(holder))


def expect_sense(seen: RegisterReading, register: Register) -> None:
    """What was seen is a lease. Raises LeaseUnusable: garbage is never taken for a free lab."""
    if seen.garbage:
        raise LeaseUnusable(
            register.device,
            f"lease in {register.place}",
            f"it cannot be determined who has the lab: {seen.garbage}",
            "look at that file; if nobody has the lab: labtests unlock TESTBED --force",
        )


def _legacy(seen: RegisterReading, instead_of: Gone | None) -> str:
    """What whoever had the lab before has left of it."""
    before = seen.holder
    if before is None or before.kind == "person":
        return ""
    if instead_of is not None and before.run == instead_of.run:
        return ""
    where = f"(labtests restore {quote(shown(before.run))} on {shown(before.machine)})"
    if before.kind == "run":
        return f"{before}: did not give the lab back, and may have left changes {where}"
    if before.left:
        return f"run {shown(before.run)} has left {before.left} changes on this lab {where}"
    return ""
