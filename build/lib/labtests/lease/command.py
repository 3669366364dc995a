"""`labtests lock | unlock | who`: the lease by hand, without the command line around it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from labtests.core.clock import WallClock
from labtests.core.errors import LabError, LeaseBusy, LeaseUnusable, Unreachable
from labtests.inventory import LeasePlace, Readable, Testbed, to_dial
from labtests.lease.held import Held, described, expect_sense
from labtests.lease.holding import lease_host, register_of
from labtests.lease.record import Holder, me, shown
from labtests.lease.register import Register, RegisterReading
from labtests.transport.ssh.connecting import SHELL, connect

DONE, UNUSABLE, HELD = 0, 10, 15
LONGEST_S = 90 * 86400
_UNITS_S = {"m": 60, "h": 3600, "d": 86400}

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRequest:
    """What the command line asks for. `lasting` is like 30m, 2h or 3d; "" until it is unlocked."""

    why: str = ""
    lasting: str = ""
    force: bool = False


def lock(testbed: Testbed, asked: LeaseRequest, say: Say) -> int:
    """Nobody but this person changes the lab until it is unlocked, or the time is over."""
    holder = me("person", why=asked.why, expires_after_s=duration_s(asked.lasting))

    def act(register: Register) -> int:
        held = Held(register, holder, clock=WallClock())
        if before := held.take(force=asked.force):
            say(before)
        say(f"{testbed.name}: locked {_for_how_long(holder)} ({register.place})")
        return DONE

    return _answered(testbed, act, say)


def unlock(testbed: Testbed, asked: LeaseRequest, say: Say) -> int:
    """The lab is free, if it was this person's lock; with `force`, whoever had it."""

    def act(register: Register) -> int:
        seen = register.look()
        holder = seen.holder
        if not seen.garbage and (holder is None or holder.kind == "free"):
            say(f"{testbed.name}: it was free already")
            return DONE
        if not asked.force:
            _expect_mine(seen, register)
        if not register.append(seen, me("free", why=asked.why, since=seen.now.date)):
            raise LeaseBusy("somebody else changed the lease at this very moment: look again")
        say(f"{testbed.name}: free" + (f"; it was held by {holder}" if asked.force else ""))
        return DONE

    return _answered(testbed, act, say)


def who(testbed: Testbed, say: Say) -> int:
    """Who has the lab, since when and why."""

    def act(register: Register) -> int:
        seen = register.look()
        expect_sense(seen, register)
        say(f"{testbed.name}: {_told(seen, register)}")
        return DONE

    return _answered(testbed, act, say)


def only_testbed(folder: Path) -> Readable:
    """The testbed that is meant when none is named: one that no other user has put there. Raises
    LabError unless there is just one."""
    known = sorted(folder.glob("*.yaml"))
    if len(known) != 1:
        names = ", ".join(path.stem for path in known) or "none"
        raise LabError(f"which TESTBED? A file, or a name of one in testbeds/: {names}")
    return to_dial(known[0], named=False)


def duration_s(text: str) -> float | None:
    """30m, 2h or 3d in seconds; None for "". Raises LabError."""
    if not text:
        return None
    match = re.fullmatch(r"([0-9]{1,6})([mhd])", text)
    seconds = int(match[1]) * _UNITS_S[match[2]] if match else 0
    if not 0 < seconds <= LONGEST_S:
        raise LabError(f"--for {text}: give minutes, hours or days, such as 30m, 2h, 3d (to 90d)")
    return float(seconds)


def _answered(testbed: Testbed, act: Callable[[Register], int], say: Say) -> int:
    try:
        with _opened(testbed) as register:
            return act(register)
    except (LeaseBusy, Unreachable) as error:
        say(str(error))
        return HELD
    except LeaseUnusable as error:
        say(str(error))
        return UNUSABLE


@contextmanager
def _opened(testbed: Testbed) -> Iterator[Register]:
    host, place = lease_host(testbed), testbed.lease or LeasePlace()
    if host is None:
        why = "it says `lease: ~`" if testbed.lease is None else "it has no Linux host"
        raise LabError(f"{testbed.file}: this testbed has no lease: {why}")
    transport = connect(host, SHELL, clock=WallClock())
    try:
        yield register_of(place, transport)
    finally:
        transport.close()


def _expect_mine(seen: RegisterReading, register: Register) -> None:
    expect_sense(seen, register)
    holder = seen.holder
    if holder is None or holder.kind != "person" or not holder.is_mine:
        raise LeaseBusy(f"not yours: {described(seen, register)}\n  (or, if need be: --force)")


def _told(seen: RegisterReading, register: Register) -> str:
    holder = seen.holder
    if holder is None:
        return f"free; nobody has had it yet ({register.place})"
    if holder.kind == "free":
        last = f" by run {shown(holder.run)}" if holder.run else ""
        left = f", which left {holder.left} changes: labtests restore" if holder.left else ""
        return f"free since {shown(holder.since)}, given back{last}{left} ({register.place})"
    if seen.left_s is not None and seen.left_s <= 0:
        return f"free; the lease of {holder} has run out ({register.place})"
    return f"{described(seen, register)}\n  kept in {register.place}"


def _for_how_long(holder: Holder) -> str:
    after_s = holder.expires_after_s
    return "until `labtests unlock`" if after_s is None else f"for {after_s / 60:g} min"
