"""The lease's place on a device: a register that only one of several writers can set next.

A folder with files `g.000000000001`, `g.000000000002`, ...: the generations. The one with the
highest number is what holds. Who wants to write reads generation n, writes its record to a file of
its own and gives that the second name n + 1 by link(2), which is atomic, and fails when the name is
taken: so of all who have read n exactly one writes n + 1, and a record is whole from its first
moment. A heartbeat, a takeover and a release are all such steps. Numbers are not used again, and
the highest file is removed by force only; so who read long ago, froze, and writes now is not heard:
his number is below the highest.

The host may have users who mean harm. The folder is root's or the login's, with the sticky bit
(folder.py); each write makes a new file of a name that nobody can foresee, which only its writer
can change; a record is read only when it is a regular file, and only so much as a record has.

Time is the device's own: its uptime, which no clock setting moves, and its boot id. After a reboot
at least the new uptime has passed. A host without /proc/uptime counts by its date.
"""

import re
import secrets
from dataclasses import dataclass, replace
from itertools import count

from labtests.core.errors import LeaseUnusable, LeaseUnwritable
from labtests.core.output import last_line
from labtests.lease.folder import facts_script, why_not_made, why_not_safe
from labtests.lease.record import MOST_BYTES, Garbage, Holder, as_line, holder_of, shown
from labtests.transport.commands import script
from labtests.transport.protocol import Reply, Transport

KEPT = 8  # generations: a reader that lists the folder meanwhile finds one of them
LAST = 999_999_999
"""No lease gets there in 400 years of heartbeats: this number is somebody's mischief, and no
lease, so that nothing but force ever begins anew."""
MANY = 999  # files
TRIES = 5
TIMEOUT_S = 20.0
_NAME = re.compile(r"g\.000[0-9]{9}")
_SHELL_NAME = "g.000" + "[0-9]" * 9
_STRANGE, _WHOLE = "strange", "whole"
_OURS, _THEIRS = "ours", "theirs"  # whose the newest file is
_CLOCK = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) (?:[0-9.]{1,30}|(wall))")
_NONE = "none"
_EARLY_S = 1.0  # two looks at a clock that steps by 10 ms, one on each side of a record

_STAMP = script("""{ cat /proc/uptime 2>/dev/null || echo "$(date +%s) wall"; } &&
{ cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo none; } &&
date -u +%Y-%m-%dT%H:%M:%SZ && echo end""")

_READ = script(f"""{{ if [ -h "./$last" ]; then echo odd
elif [ -e "./$last" ] && [ ! -f "./$last" ]; then echo odd
elif dd if=/dev/null iflag=nofollow,nonblock count=0 2>/dev/null
then dd if="./$last" iflag=nofollow,nonblock bs={MOST_BYTES} count=1 2>/dev/null
else head -c {MOST_BYTES} "./$last"; fi; }} && echo && echo {_WHOLE}""")
"""A pipe put there just now is not waited for, and a link not followed, where `dd` is GNU's. Behind
what the file says there is a line that it cannot take away: who reads knows that all was read."""

_LOOK = f"""FACTS
echo names
if [ -d FOLDER ]; then cd FOLDER && [ -r . ] || exit 11
elif [ -e FOLDER ]; then echo 'it is not a folder' >&2; exit 11; fi
last= count=0 strange=
if [ -d FOLDER ]; then
for f in g.*; do if [ -e "$f" ] || [ -h "$f" ]; then
if [ -n "${{f##{_SHELL_NAME}}}" ]; then strange=1; else last=$f
if [ "$count" -le {MANY} ]; then echo "name $f"; fi
count=$((count+1)); fi; fi; done
if [ -n "$strange" ]; then echo 'name {_STRANGE}'; fi
fi
echo now
STAMP
if [ -n "$last" ]; then
if [ -O "./$last" ]; then echo OURS; else echo THEIRS; fi
READ
fi"""

_APPEND = f"""umask 022
set -C
MAKE
cd FOLDER || exit 12
BASE
{{ printf '%s\\n' RECORD &&
STAMP
}} > OWN || {{ rm -f OWN; exit 12; }}
if [ -e OWN ] && [ ! -O OWN ]; then rm -f OWN
echo 'what this login writes there is not its own (NFS with root_squash?)' >&2; exit 12; fi
link OWN NEXT
status=$?
[ -e OWN ] || status=gone
rm -f OWN 2>/dev/null
[ "$status" != 0 ] || rm -f OLD 2>/dev/null
SWEEP
CLEAN
for f in {_SHELL_NAME}; do echo "name $f"; done
if [ "$status" = 0 ]; then exit 0; fi
if [ "$status" = gone ] || [ -e NEXT ] || [ -h NEXT ]; then exit 13; fi
exit 12"""
_MAKE = "mkdir -m 1777 FOLDER || { [ -d FOLDER ] && exit 13; exit 12; }"
"""Somebody else may have made it meanwhile: then it is looked at first."""
_CLEAN = f"""n=0 stays=
for f in g.*; do if [ -n "${{f##{_SHELL_NAME}}}" ] || [ -d "./$f" ]; then
n=$((n+1))
[ ! -e "./$f" ] && [ ! -h "./$f" ] || rm -f "./$f" || mv "./$f" ASIDE."$n" || stays=1
fi; done 2>/dev/null
if [ -n "$stays" ]; then exit 14; fi"""
"""Only by force: what is not a generation goes. A folder with something in it gets another name:
what is in it is another user's, and is not gone through."""
_BASE = "[ -e SEEN ] || exit 13"
_NOTHING = script(":")
OWN_DIGITS = 32  # hexadecimal
_OWN_NAME = "t." + "[0-9a-f]" * OWN_DIGITS
_SWEEP = script(
    f"find . ! -name . -prune -type f -name '{_OWN_NAME}' -mtime +0 "
    "-exec rm -f '{}' + 2>/dev/null"
)
"""Files of writers that were killed before they could remove them, a day old or more (POSIX find).
A writer that slept so long finds its file gone, and has lost."""
_UNREADABLE, _UNWRITABLE, _LOST, _STAYS = 11, 12, 13, 14


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTime:
    """A moment on the device's own clock."""

    clock_s: float
    wall: bool
    boot: str
    date: str

    def since(self, earlier: "DeviceTime") -> float:
        """Seconds that have passed, at the least."""
        same_clock = (self.wall, self.boot) == (earlier.wall, earlier.boot)
        if same_clock and (self.wall or self.boot != _NONE or self.clock_s >= earlier.clock_s):
            return max(self.clock_s - earlier.clock_s, 0.0)
        return 0.0 if self.wall else self.clock_s


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterReading:
    """What the register held at a look. `age_s` is since its last heartbeat.

    `garbage` says why that is not a record; then `holder` is None, as when nothing is there.
    `made`: the folder is there. `by_login`: the newest file is this login's own, so no other user
    has put it there.
    """

    generation: int
    names: tuple[str, ...]
    now: DeviceTime
    made: bool = True
    by_login: bool = False
    holder: Holder | None = None
    age_s: float = 0.0
    garbage: str = ""

    @property
    def left_s(self) -> float | None:
        """Seconds until it runs out; 0 or less when it has; None for ever."""
        after_s = None if self.holder is None else self.holder.expires_after_s
        return None if after_s is None else after_s - self.age_s


class Register:
    """See above. `place` is `device:folder`, for messages."""

    def __init__(self, transport: Transport, folder: str) -> None:
        self._transport, self._folder = transport, folder
        self.device = transport.device
        self.place = f"{transport.device}:{folder}"

    def look(self) -> RegisterReading:
        """What holds now. Raises LeaseUnusable for a folder that cannot be read, or an answer that
        is none; DeviceError when the device does not answer."""
        unread = set()
        for _ in range(TRIES):
            seen = self._looked()
            if seen.generation == 0 or seen.holder is not None or seen.garbage:
                return seen
            unread.add(seen.generation)
        if len(unread) == 1:  # it has not vanished
            last = f"{self.place}/{_file(seen.generation)}"
            return replace(seen, garbage=f"{last} is not a lease record: it cannot be read")
        raise LeaseUnusable(
            self.device,
            f"look at {self._folder}",
            "the newest record vanished again and again while it was read",
            f"find out what else removes files from {self.place}, then run again",
        )

    def append(self, seen: RegisterReading, holder: Holder) -> bool:
        """The record comes after what was seen; False when somebody else was quicker.

        Raises LeaseUnwritable when it cannot be written though nothing of anybody else is in the
        way, else LeaseUnusable."""
        if not seen.made and (problem := why_not_made(self._folder)):
            remedy = f"if it is meant: sudo install -d -m 1777 {self._folder} on {self.device}"
            raise LeaseUnwritable(self.device, f"lease in {self._folder}", problem, remedy)
        following = number_after(seen)
        old = [n for n in seen.names if _is_old(_number(n), following)]
        base = script(_BASE, SEEN=_file(seen.generation)) if seen.generation else script("")
        own = f"t.{secrets.token_hex(OWN_DIGITS // 2)}"
        command = script(
            _APPEND,
            MAKE=_NOTHING if seen.made else script(_MAKE, FOLDER=self._folder),
            FOLDER=self._folder,
            BASE=base,
            STAMP=_STAMP,
            RECORD=as_line(holder),
            OWN=own,
            NEXT=_file(following),
            SWEEP=_SWEEP if following % KEPT == 1 else _NOTHING,
            CLEAN=script(_CLEAN, ASIDE=f"x.{own}") if seen.garbage else _NOTHING,
            OLD=[_file(_number(name)) for name in old],
        )
        reply = self._transport.run(command, timeout_s=TIMEOUT_S)
        if reply.status == _LOST:
            return False
        names = tuple(filter(_NAME.fullmatch, _names(reply.text)))
        beyond = {name for name in old if _number(name) > following}
        if reply.status == _STAYS or beyond & set(names):
            raise self._stuck()
        if reply.status != 0:
            if self._looked().generation != seen.generation:
                return False
            raise self._unusable(reply, "written", "make it writable, or make room there")
        if not names:
            raise self._unusable(reply, "read: it names no record", "look at that host")
        return max(map(_number, names)) == following

    def _looked(self) -> RegisterReading:
        facts = facts_script(self._folder)
        look = script(
            _LOOK,
            FOLDER=self._folder,
            STAMP=_STAMP,
            READ=_READ,
            FACTS=facts,
            OURS=_OURS,
            THEIRS=_THEIRS,
        )
        reply = self._transport.run(look, timeout_s=TIMEOUT_S)
        told, _, rest = reply.text.partition("names\n")
        self._expect_safe(told)
        self._expect_few(rest)
        if reply.status == _UNREADABLE:
            raise self._unusable(reply, "read", "let everybody who uses the lab read and write it")
        names, _, rest = rest.partition("now\n")
        stamp, found = rest.split("\n")[:4], rest.split("\n")[4:]
        now = _moment(stamp)
        if reply.status != 0 and now is None:
            raise self._unusable(reply, "read", "look at that host")
        if now is None:
            raise self._unusable(reply, "read: it gives no time", "look at its `cat /proc/uptime`")
        seen = _seen(_names(names), now, found, self.place)
        return replace(seen, made=f" {self._folder}\n" in told)

    def _expect_safe(self, facts: str) -> None:
        if problem := why_not_safe(facts.splitlines(), self._folder):
            raise LeaseUnusable(
                self.device,
                f"lease in {self._folder}",
                f"other users of {self.device} could misuse the lease: {shown(problem)}",
                "fix that; or another place in the testbed file (`lease:`), or `lease: ~` for none",
            )

    def _expect_few(self, names: str) -> None:
        if names.partition("now\n")[0].count("\n") > MANY:
            raise LeaseUnusable(
                self.device,
                f"lease in {self._folder}",
                f"it has more than {MANY} files",
                f"remove the files that are not a lease's from {self.place}",
            )

    def _stuck(self) -> LeaseUnusable:
        return LeaseUnusable(
            self.device,
            f"lease in {self._folder}",
            "other users have put files there that this login may not remove",
            f"as root on {self.device}: rm -r {self._folder}/g.*; or another place in the testbed "
            "file (`lease:`)",
        )

    def _unusable(self, reply: Reply, verb: str, remedy: str) -> LeaseUnusable:
        said = shown(last_line(reply.errors or reply.text, f"status {reply.status}"))
        kind = LeaseUnwritable if verb == "written" else LeaseUnusable
        return kind(
            self.device,
            f"lease in {self._folder}",
            f"the lease cannot be {verb}: {said}",
            f"{remedy}; or another place in the testbed file (`lease:`), or `lease: ~` for none",
        )


def number_after(seen: RegisterReading) -> int:
    """The generation that comes next. After the last number of all, which only force follows, it
    goes on where the others were, so that no number of theirs is above it; else with a free one."""
    if seen.generation < LAST:
        return seen.generation + 1
    taken = {_number(name) for name in seen.names}
    behind = max(taken - {LAST}, default=0) + 1
    return behind if behind < LAST else next(n for n in count(1) if n not in taken)


def _file(generation: int) -> str:
    return f"g.{generation:012}"


def _number(name: str) -> int:
    return int(name.partition(".")[2])


def _is_old(number: int, following: int) -> bool:
    return number <= following - KEPT or number > following


def _names(text: str) -> tuple[str, ...]:
    """The generations, and what is none as "strange"."""
    names = (line.removeprefix("name ") for line in text.splitlines() if line.startswith("name "))
    return tuple(names)


def _moment(lines: list[str]) -> DeviceTime | None:
    clock = _CLOCK.fullmatch(lines[0].strip()) if len(lines) == 4 and lines[3] == "end" else None
    if clock is None:
        return None
    return DeviceTime(
        clock_s=float(clock[1]), wall=clock[2] is not None, boot=lines[1].strip(), date=lines[2]
    )


def _seen(names: tuple[str, ...], now: DeviceTime, found: list[str], place: str) -> RegisterReading:
    known = tuple(sorted(filter(_NAME.fullmatch, names)))
    generation = _number(known[-1]) if known else 0
    record = found[1:]
    owner = found[:1]
    if not known or owner not in ([_OURS], [_THEIRS]) or record[-2:] != [_WHOLE, ""]:  # removed
        seen = RegisterReading(generation=generation, names=known, now=now)
    else:
        seen = replace(_read(known, now, record[:-2], place), by_login=owner == [_OURS])
    if len(known) < len(names):
        strange = f"{place} has a file `g.`... which is not a generation of a lease"
        seen = replace(seen, holder=None, garbage=strange)
    return seen


def _read(
    known: tuple[str, ...], now: DeviceTime, record: list[str], place: str
) -> RegisterReading:
    generation = _number(known[-1])
    try:
        if generation >= LAST:
            raise Garbage("its number is the highest possible, which no lease reaches")
        holder, written = _record(record)
        _expect_past(written, now)
    except Garbage as error:  # what it says instead is not repeated: it may be a link to anything
        garbage = f"{place}/{known[-1]} is not a lease record: {error}"
        return RegisterReading(generation=generation, names=known, now=now, garbage=garbage)
    seen = RegisterReading(generation=generation, names=known, now=now, holder=holder)
    return replace(seen, age_s=now.since(written))


def _expect_past(written: DeviceTime, now: DeviceTime) -> None:
    """A record from the future would have the age 0 for as long as the host runs."""
    same = (written.wall, written.boot) == (now.wall, now.boot) and not written.wall
    if same and written.boot != _NONE and written.clock_s > now.clock_s + _EARLY_S:
        raise Garbage("its timestamp is in the future by this host's clock")


def _record(lines: list[str]) -> tuple[Holder, DeviceTime]:
    if lines[:1] == ["odd"]:
        raise Garbage("it is not a regular file")
    written = _moment(lines[1:5])
    if written is None or lines[5:] != [""]:
        raise Garbage("it does not have the five lines of one")
    return holder_of(lines[0]), written
